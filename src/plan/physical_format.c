#include "plan/physical.h"

#include <inttypes.h>

enum { FILES_SHOWN = 5 };

const char *physical_kind_name(enum physical_kind kind)
{
    static const char *const names[] = {
        [PHYSICAL_PARQUET_SCAN] = "DataSourceExec",
        [PHYSICAL_FILTER] = "FilterExec",
        [PHYSICAL_PROJECTION] = "ProjectionExec",
        [PHYSICAL_SORT] = "SortExec",
        [PHYSICAL_SORT_PRESERVING_MERGE] = "SortPreservingMergeExec",
        [PHYSICAL_COALESCE_PARTITIONS] = "CoalescePartitionsExec",
        [PHYSICAL_GLOBAL_LIMIT] = "GlobalLimitExec",
        [PHYSICAL_UNION] = "UnionExec",
        [PHYSICAL_LOCAL_LIMIT] = "LocalLimitExec",
        [PHYSICAL_PLACEHOLDER_ROW] = "PlaceholderRowExec",
        [PHYSICAL_EMPTY] = "EmptyExec",
        [PHYSICAL_FETCH_COLUMNS] = "FetchColumnsExec",
        [PHYSICAL_NETWORK_COALESCE] = "NetworkCoalesceExec",
    };
    return names[kind];
}

static kith_error *format_files(const struct parquet_scan *scan, struct strbuf *out)
{
    TRY(strbuf_printf(out, ": files=%zu [", scan->file_count));
    for (size_t i = 0; i < MIN(scan->file_count, (size_t)FILES_SHOWN); i++) {
        TRY(strbuf_printf(out, "%s%s", i == 0 ? "" : ", ", scan->files[i].path));
        if (scan->files[i].has_range)
            TRY(strbuf_printf(out, ":%" PRId64 "..%" PRId64, scan->files[i].range_start, scan->files[i].range_end));
    }
    return strbuf_append_text(out, scan->file_count > FILES_SHOWN ? ", …]" : "]");
}

static kith_error *format_scan(const struct physical_plan *node, struct strbuf *out)
{
    const struct parquet_scan *scan = &node->scan;
    TRY(format_files(scan, out));
    TRY(strbuf_append_text(out, ", projection=["));
    for (size_t i = 0; i < node->schema->field_count; i++)
        TRY(strbuf_printf(out, "%s%s", i == 0 ? "" : ", ", node->schema->fields[i].name));
    TRY(strbuf_append_text(out, "], file_type=parquet"));
    if (scan->limit >= 0)
        TRY(strbuf_printf(out, ", limit=%" PRId64, scan->limit));
    if (scan->predicate != NULL) {
        TRY(strbuf_append_text(out, ", predicate="));
        TRY(expr_format(scan->predicate, out));
    }
    for (size_t i = 0; i < scan->dynamic_filter_count; i++) {
        TRY(strbuf_printf(out, ", dynamic_filter=%" PRIu64 " [", scan->dynamic_filters[i].id));
        TRY(sort_exprs_format(scan->dynamic_filters[i].exprs, scan->dynamic_filters[i].count, out));
        TRY(strbuf_append_text(out, "]"));
        if (scan->dynamic_filters[i].planned != NULL) {
            TRY(strbuf_append_text(out, " planned_bound="));
            TRY(scalar_format(scan->dynamic_filters[i].planned, out));
        }
    }
    return NULL;
}

static kith_error *format_sort(const struct physical_plan *node, struct strbuf *out)
{
    if (node->kind == PHYSICAL_SORT_PRESERVING_MERGE)
        TRY(strbuf_append_text(out, ": ["));
    else if (node->sort.fetch >= 0)
        TRY(strbuf_printf(out, ": TopK(fetch=%" PRId64 "), expr=[", node->sort.fetch));
    else
        TRY(strbuf_append_text(out, ": expr=["));
    TRY(sort_exprs_format(node->sort.exprs, node->sort.count, out));
    TRY(strbuf_append_text(out, "]"));
    if (node->kind == PHYSICAL_SORT)
        TRY(strbuf_printf(out, ", preserve_partitioning=[%s]", node->partitions > 1 ? "true" : "false"));
    else if (node->sort.fetch >= 0)
        TRY(strbuf_printf(out, ", fetch=%" PRId64, node->sort.fetch));
    return node->sort.filter_id == 0 ? NULL : strbuf_printf(out, ", dynamic_filter=%" PRIu64, node->sort.filter_id);
}

static kith_error *format_projection(const struct physical_plan *node, struct strbuf *out)
{
    TRY(strbuf_append_text(out, ": expr=["));
    for (size_t i = 0; i < node->schema->field_count; i++) {
        TRY(strbuf_append_text(out, i == 0 ? "" : ", "));
        TRY(expr_format(node->projection.exprs[i], out));
        TRY(strbuf_printf(out, " as %s", node->schema->fields[i].name));
    }
    return strbuf_append_text(out, "]");
}

static kith_error *format_limit(const struct physical_plan *node, struct strbuf *out)
{
    const char *separator = ": ";
    if (node->kind == PHYSICAL_GLOBAL_LIMIT) {
        TRY(strbuf_printf(out, "%sskip=%" PRId64, separator, node->limit.skip));
        separator = ", ";
    }
    return node->limit.fetch < 0 ? NULL : strbuf_printf(out, "%sfetch=%" PRId64, separator, node->limit.fetch);
}

static kith_error *format_fetch(const struct physical_plan *node, struct strbuf *out)
{
    const char *separator = "";
    TRY(strbuf_append_text(out, ": ["));
    for (size_t i = 0; i < node->schema->field_count; i++) {
        if (!node->fetch.columns[i].from_file)
            continue;
        TRY(strbuf_printf(out, "%s%s", separator, node->schema->fields[i].name));
        separator = ", ";
    }
    return strbuf_append_text(out, "]");
}

kith_error *physical_plan_format_node(const struct physical_plan *node, struct strbuf *out)
{
    if (node->kind == PHYSICAL_NETWORK_COALESCE)
        TRY(strbuf_printf(out, "[Stage %" PRIu32 "] => ", node->network.stage));
    TRY(strbuf_append_text(out, physical_kind_name(node->kind)));
    switch (node->kind) {
    case PHYSICAL_PARQUET_SCAN:
        return format_scan(node, out);
    case PHYSICAL_FILTER:
        TRY(strbuf_append_text(out, ": "));
        return expr_format(node->filter.predicate, out);
    case PHYSICAL_PROJECTION:
        return format_projection(node, out);
    case PHYSICAL_SORT:
    case PHYSICAL_SORT_PRESERVING_MERGE:
        return format_sort(node, out);
    case PHYSICAL_COALESCE_PARTITIONS:
    case PHYSICAL_GLOBAL_LIMIT:
    case PHYSICAL_LOCAL_LIMIT:
        return format_limit(node, out);
    case PHYSICAL_UNION:
    case PHYSICAL_PLACEHOLDER_ROW:
    case PHYSICAL_EMPTY:
        return NULL;
    case PHYSICAL_FETCH_COLUMNS:
        return format_fetch(node, out);
    case PHYSICAL_NETWORK_COALESCE:
        return strbuf_printf(out, ": output_partitions=%zu", node->partitions);
    }
    UNREACHABLE();
}

static kith_error *format_tree(const struct physical_plan *node, size_t depth, struct strbuf *out)
{
    TRY(strbuf_append_fill(out, ' ', 2 * depth));
    TRY(physical_plan_format_node(node, out));
    TRY(strbuf_append_text(out, "\n"));
    for (size_t i = 0; i < node->input_count; i++)
        TRY(format_tree(node->inputs[i], depth + 1, out));
    return NULL;
}

kith_error *physical_plan_format(const struct physical_plan *plan, struct strbuf *out)
{
    return format_tree(plan, 0, out);
}
