#include "plan/logical.h"

#include <inttypes.h>

static kith_error *format_exprs(const struct expr *const *exprs, size_t count, struct strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        TRY(strbuf_append_text(out, i == 0 ? "" : ", "));
        TRY(expr_format(exprs[i], out));
    }
    return NULL;
}

static kith_error *format_scan(const struct logical_plan *plan, struct strbuf *out)
{
    TRY(strbuf_printf(out, "TableScan: %s projection=[", plan->scan.name));
    for (size_t i = 0; i < plan->schema->field_count; i++)
        TRY(strbuf_printf(out, "%s%s", i == 0 ? "" : ", ", plan->schema->fields[i].name));
    TRY(strbuf_append_text(out, "]"));
    if (plan->scan.filter == NULL)
        return NULL;
    TRY(strbuf_append_text(out, ", full_filters=["));
    TRY(expr_format(plan->scan.filter, out));
    return strbuf_append_text(out, "]");
}

kith_error *sort_exprs_format(const struct sort_expr *exprs, size_t count, struct strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        TRY(strbuf_append_text(out, i == 0 ? "" : ", "));
        TRY(expr_format(exprs[i].expr, out));
        TRY(strbuf_append_text(out, exprs[i].order.descending ? " DESC" : " ASC"));
        /* As DataFusion prints it: NULLS FIRST goes without saying after DESC, NULLS LAST after ASC is said. */
        if (exprs[i].order.nulls_first != exprs[i].order.descending || !exprs[i].order.descending)
            TRY(strbuf_append_text(out, exprs[i].order.nulls_first ? " NULLS FIRST" : " NULLS LAST"));
    }
    return NULL;
}

static kith_error *format_node(const struct logical_plan *plan, struct strbuf *out)
{
    switch (plan->kind) {
    case LOGICAL_SCAN:
        return format_scan(plan, out);
    case LOGICAL_FILTER:
        TRY(strbuf_append_text(out, "Filter: "));
        return expr_format(plan->filter.predicate, out);
    case LOGICAL_PROJECTION:
        TRY(strbuf_append_text(out, "Projection: "));
        return format_exprs(plan->projection.exprs, plan->schema->field_count, out);
    case LOGICAL_SORT:
        TRY(strbuf_append_text(out, "Sort: "));
        TRY(sort_exprs_format(plan->sort.exprs, plan->sort.count, out));
        return plan->sort.fetch < 0 ? NULL : strbuf_printf(out, ", fetch=%" PRId64, plan->sort.fetch);
    case LOGICAL_LIMIT:
        TRY(strbuf_printf(out, "Limit: skip=%" PRId64, plan->limit.offset));
        return plan->limit.fetch < 0 ? NULL : strbuf_printf(out, ", fetch=%" PRId64, plan->limit.fetch);
    case LOGICAL_UNION:
        return strbuf_append_text(out, "Union");
    case LOGICAL_ONE_ROW:
        return strbuf_append_text(out, "EmptyRelation: rows=1");
    }
    UNREACHABLE();
}

static kith_error *format_tree(const struct logical_plan *plan, size_t depth, struct strbuf *out)
{
    TRY(strbuf_append_fill(out, ' ', 2 * depth));
    TRY(format_node(plan, out));
    TRY(strbuf_append_text(out, "\n"));
    for (size_t i = 0; i < plan->input_count; i++)
        TRY(format_tree(plan->inputs[i], depth + 1, out));
    return NULL;
}

kith_error *logical_plan_format(const struct logical_plan *plan, struct strbuf *out)
{
    return format_tree(plan, 0, out);
}
