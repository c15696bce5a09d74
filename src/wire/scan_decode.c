#include "base/limits.h"
#include "wire/file_path.h"
#include "wire/plan_parts.h"
#include "wire/protobuf.h"
#include "wire/scalar_codec.h"
#include "wire/type_codec.h"

#include <inttypes.h>

static kith_error *refuse_unsupported(const Datafusion__FileScanExecConf *config)
{
    if (config->n_table_partition_cols > 0)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "partition columns (%s) are not implemented",
                         config->table_partition_cols[0]);
    for (size_t i = 0; i < config->n_output_ordering; i++)
        if (config->output_ordering[i]->n_physical_sort_expr_nodes > 0)
            return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a scan of files in a given order is not implemented");
    if (config->output_partitioning.len > 0)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a scan of files partitioned by value is not implemented");
    if (*config->object_store_url != '\0' && strcmp(config->object_store_url, FILE_STORE_URL) != 0)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "the object store %s is not implemented; local files are",
                         config->object_store_url);
    return NULL;
}

static kith_error *decode_file(struct plan_decoder *decoder, const Datafusion__PartitionedFile *message,
                               struct scan_file *out)
{
    char *path;
    if (*message->path == '\0')
        return error_new(KITH_ERROR_CORRUPT, "a file in the plan has no path");
    if (message->n_partition_values > 0)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "partition values of %s are not implemented", message->path);
    TRY(file_path_decode(message->path, decoder->arena, &path));
    *out = (struct scan_file){.path = path, .size = message->size, .modified_ns = (int64_t)message->last_modified_ns};
    if (message->range == NULL)
        return NULL;
    out->has_range = true;
    out->range_start = message->range->start;
    out->range_end = message->range->end;
    if (out->range_start < 0 || out->range_end < out->range_start)
        return error_new(KITH_ERROR_CORRUPT, "the plan has the bytes %" PRId64 " to %" PRId64 " of %s",
                         out->range_start, out->range_end, path);
    return NULL;
}

/* Files were dealt to the groups in turn; taken in turn, they come in their first order. Each round keeps the groups
 * that have more, so that many empty groups beside a long one cost nothing. */
static kith_error *take_in_turn(struct plan_decoder *decoder, const Datafusion__FileScanExecConf *config,
                                struct parquet_scan *out)
{
    const Datafusion__FileGroup **groups;
    size_t left = config->n_file_groups;
    TRY(ARENA_NEW_ARRAY(decoder->arena, &groups, left));
    for (size_t i = 0; i < left; i++)
        groups[i] = config->file_groups[i];
    for (size_t round = 0; left > 0; round++) {
        size_t kept = 0;
        for (size_t i = 0; i < left; i++) {
            if (round >= groups[i]->n_files)
                continue;
            TRY(decode_file(decoder, groups[i]->files[round], &out->files[out->file_count++]));
            groups[kept++] = groups[i];
        }
        left = kept;
    }
    return NULL;
}

static kith_error *decode_files(struct plan_decoder *decoder, const Datafusion__FileScanExecConf *config,
                                struct physical_plan *out)
{
    size_t count = 0;
    if (config->n_file_groups > LIMIT_PLAN_PARTITIONS)
        return error_new(KITH_ERROR_LIMIT, "a scan of %zu partitions exceeds PLAN_PARTITIONS (%d)",
                         config->n_file_groups, LIMIT_PLAN_PARTITIONS);
    for (size_t i = 0; i < config->n_file_groups; i++)
        count += config->file_groups[i]->n_files;
    if (count > LIMIT_GLOB_FILES)
        return error_new(KITH_ERROR_LIMIT, "a scan of %zu files exceeds GLOB_FILES (%d)", count, LIMIT_GLOB_FILES);
    TRY(ARENA_NEW_ARRAY(decoder->arena, &out->scan.files, count));
    out->partitions = MAX(config->n_file_groups, (size_t)1);
    return take_in_turn(decoder, config, &out->scan);
}

/* The output has the given columns of the table; they are named by the table. */
static kith_error *set_columns(struct plan_decoder *decoder, size_t *columns, size_t count, struct physical_plan *out)
{
    struct schema *schema;
    for (size_t i = 0; i < count; i++)
        if (columns[i] >= out->scan.table_schema->field_count)
            return error_new(KITH_ERROR_CORRUPT, "a scan in the plan has column %zu of %zu", columns[i],
                             out->scan.table_schema->field_count);
    out->scan.columns = columns;
    TRY(schema_project(out->scan.table_schema, columns, count, &schema));
    return plan_decoder_keep_schema(decoder, schema, &out->schema);
}

/* Before DataFusion 52: by number, or all columns. */
static kith_error *project_by_number(struct plan_decoder *decoder, const Datafusion__FileScanExecConf *config,
                                     struct physical_plan *out)
{
    size_t count = config->n_projection > 0 ? config->n_projection : out->scan.table_schema->field_count;
    size_t *columns;
    if (count > LIMIT_COLUMNS)
        return error_new(KITH_ERROR_LIMIT, "a scan of %zu columns exceeds COLUMNS (%d)", count, LIMIT_COLUMNS);
    TRY(ARENA_NEW_ARRAY(decoder->arena, &columns, count));
    for (size_t i = 0; i < count; i++)
        columns[i] = config->n_projection > 0 ? config->projection[i] : i;
    return set_columns(decoder, columns, count, out);
}

/* The columns that expressions read, each once, and where each column of the table is among them. */
static kith_error *columns_read(struct plan_decoder *decoder, const struct expr **exprs, size_t count,
                                size_t field_count, size_t **columns, size_t *column_count, size_t **mapping)
{
    bool *used;
    TRY(ARENA_NEW_ARRAY(decoder->arena, &used, field_count));
    TRY(ARENA_NEW_ARRAY(decoder->arena, columns, field_count));
    TRY(ARENA_NEW_ARRAY(decoder->arena, mapping, field_count));
    *column_count = 0;
    for (size_t i = 0; i < count; i++)
        expr_columns(exprs[i], used);
    for (size_t i = 0; i < field_count; i++) {
        (*mapping)[i] = used[i] ? *column_count : SIZE_MAX;
        if (used[i])
            (*columns)[(*column_count)++] = i;
    }
    return NULL;
}

/* Whether the projection is plain columns under their own names, which a scan does by itself; *columns is them. */
static kith_error *as_columns(struct plan_decoder *decoder, const struct expr **exprs,
                              const Datafusion__ProjectionExprs *message, size_t **columns)
{
    size_t *indices;
    TRY(ARENA_NEW_ARRAY(decoder->arena, &indices, message->n_projections));
    *columns = NULL;
    for (size_t i = 0; i < message->n_projections; i++) {
        if (exprs[i]->kind != EXPR_COLUMN || strcmp(exprs[i]->column.name, message->projections[i]->alias) != 0)
            return NULL;
        indices[i] = exprs[i]->column.index;
    }
    *columns = indices;
    return NULL;
}

/* DataFusion's scan may compute and rename; here a projection above it does. */
static kith_error *project_exprs(struct plan_decoder *decoder, const Datafusion__ProjectionExprs *message,
                                 struct physical_plan *scan, struct physical_plan **out)
{
    const struct expr **exprs;
    size_t *columns, *mapping, column_count, count = message->n_projections;
    const char **names;
    if (count > LIMIT_COLUMNS)
        return error_new(KITH_ERROR_LIMIT, "a scan of %zu columns exceeds COLUMNS (%d)", count, LIMIT_COLUMNS);
    TRY(ARENA_NEW_ARRAY(decoder->arena, &exprs, count));
    TRY(ARENA_NEW_ARRAY(decoder->arena, &names, count));
    for (size_t i = 0; i < count; i++) {
        names[i] = message->projections[i]->alias;
        TRY(expr_decode(&decoder->exprs, scan->scan.table_schema, message->projections[i]->expr, &exprs[i]));
    }
    TRY(as_columns(decoder, exprs, message, &columns));
    if (columns != NULL)
        return set_columns(decoder, columns, count, scan);
    TRY(columns_read(decoder, exprs, count, scan->scan.table_schema->field_count, &columns, &column_count, &mapping));
    TRY(set_columns(decoder, columns, column_count, scan));
    for (size_t i = 0; i < count; i++)
        TRY(expr_remap(decoder->arena, exprs[i], mapping, &exprs[i]));
    return plan_decoder_project(decoder, exprs, names, count, scan, out);
}

static kith_error *decode_order(const Datafusion__SortOrder *message, struct sort_order *out)
{
    if (message->maybe_descending_case == 0 || message->maybe_nulls_first_case == 0)
        return error_new(KITH_ERROR_CORRUPT, "an order in the plan lacks its direction or where NULLs go");
    *out = (struct sort_order){.descending = message->descending != 0, .nulls_first = message->nulls_first != 0};
    return NULL;
}

static kith_error *decode_planned(const DatafusionCommon__ScalarValue *message, const struct data_type *type,
                                  struct arena *arena, const struct scalar **out)
{
    struct scalar *planned;
    TRY(ARENA_NEW(arena, &planned));
    TRY(scalar_decode(message, arena, planned));
    if (!type_equal(&planned->type, type))
        return error_new(KITH_ERROR_CORRUPT, "a planned bound in the plan is not of the type of its key");
    *out = planned;
    return NULL;
}

static kith_error *decode_filter(struct plan_decoder *decoder, const Datafusion__PhysicalExprNode *node,
                                 struct parquet_scan *scan)
{
    const Datafusion__PhysicalDynamicFilterNode *message = node->dynamic_filter;
    bool remapped = message->n_remapped_children > 0;
    size_t count = remapped ? message->n_remapped_children : message->n_children;
    Datafusion__PhysicalExprNode *const *children = remapped ? message->remapped_children : message->children;
    struct scan_filter entry = {scan, scan->dynamic_filter_count, NULL, message->n_orders > 0};
    if (node->maybe_expr_id_case == 0 || node->expr_id == 0 || count == 0 || count > LIMIT_SORT_KEYS)
        return error_new(KITH_ERROR_CORRUPT, "a dynamic filter in the plan has no id or %zu keys", count);
    if (entry.has_orders && message->n_orders != count)
        return error_new(KITH_ERROR_CORRUPT, "a dynamic filter in the plan has %zu keys and %zu orders", count,
                         message->n_orders);
    if (decoder->filters.length >= LIMIT_DYNAMIC_FILTERS)
        return error_new(KITH_ERROR_LIMIT, "the plan has more than DYNAMIC_FILTERS (%d) filters",
                         LIMIT_DYNAMIC_FILTERS);
    TRY(ARENA_NEW_ARRAY(decoder->arena, &entry.exprs, count));
    for (size_t i = 0; i < count; i++) {
        TRY(expr_decode(&decoder->exprs, scan->table_schema, children[i], &entry.exprs[i].expr));
        TRY(sort_key_check_type(&entry.exprs[i].expr->type));
        if (entry.has_orders)
            TRY(decode_order(message->orders[i], &entry.exprs[i].order));
    }
    struct scan_dynamic_filter *filter = &scan->dynamic_filters[scan->dynamic_filter_count++];
    *filter = (struct scan_dynamic_filter){.id = node->expr_id, .exprs = entry.exprs, .count = count};
    if (message->planned != NULL)
        TRY(decode_planned(message->planned, &entry.exprs[0].expr->type, decoder->arena, &filter->planned));
    return vec_push(&decoder->filters, entry);
}

struct conjuncts {
    VEC(const Datafusion__PhysicalExprNode *) nodes;
};

static void conjuncts_reset(struct conjuncts *conjuncts)
{
    vec_reset(&conjuncts->nodes);
}
DEFINE_VALUE_CLEANUP(conjuncts_reset, struct conjuncts)

static bool is_and(const Datafusion__PhysicalExprNode *node)
{
    return node->kind_case == DATAFUSION__PHYSICAL_EXPR_NODE__KIND_BINARY_EXPR &&
           strcmp(node->binary_expr->op, "And") == 0;
}

/* The operands of the ANDs at the root, in their order: an AND is replaced by its operands on a stack. */
static kith_error *split(const Datafusion__PhysicalExprNode *root, struct conjuncts *out)
{
    _cleanup_(conjuncts_reset) struct conjuncts stack = {0};
    TRY(vec_push(&stack.nodes, root));
    while (stack.nodes.length > 0) {
        const Datafusion__PhysicalExprNode *node = vec_pop(&stack.nodes);
        if (node == NULL)
            return error_new(KITH_ERROR_CORRUPT, "the predicate of a scan in the plan lacks an operand");
        if (!is_and(node)) {
            TRY(vec_push(&out->nodes, node));
            continue;
        }
        const Datafusion__PhysicalBinaryExprNode *binary = node->binary_expr;
        if (binary->n_operands == 0) {
            TRY(vec_push(&stack.nodes, binary->r));
            TRY(vec_push(&stack.nodes, binary->l));
        }
        for (size_t i = binary->n_operands; i-- > 0;)
            TRY(vec_push(&stack.nodes, binary->operands[i]));
    }
    return NULL;
}

static kith_error *decode_predicate(struct plan_decoder *decoder, const Datafusion__PhysicalExprNode *root,
                                    struct parquet_scan *scan)
{
    _cleanup_(conjuncts_reset) struct conjuncts conjuncts = {0};
    const struct expr **exprs;
    size_t count = 0;
    TRY(split(root, &conjuncts));
    TRY(ARENA_NEW_ARRAY(decoder->arena, &exprs, conjuncts.nodes.length));
    TRY(ARENA_NEW_ARRAY(decoder->arena, &scan->dynamic_filters, conjuncts.nodes.length));
    for (size_t i = 0; i < conjuncts.nodes.length; i++) {
        const Datafusion__PhysicalExprNode *node = conjuncts.nodes.items[i];
        if (node->kind_case == DATAFUSION__PHYSICAL_EXPR_NODE__KIND_DYNAMIC_FILTER)
            TRY(decode_filter(decoder, node, scan));
        else
            TRY(predicate_decode(&decoder->exprs, scan->table_schema, node, &exprs[count++]));
    }
    return count == 0 ? NULL : expr_logical(decoder->arena, EXPR_AND, exprs, count, &scan->predicate);
}

/* Where no operator above keeps the limit, one is put there. */
static kith_error *decode_limit(struct plan_decoder *decoder, const Datafusion__ScanLimit *message,
                                struct physical_plan *scan, struct physical_plan **out)
{
    scan->scan.limit = -1;
    if (message == NULL)
        return NULL;
    if (message->maybe_sufficient_rows_case != 0) {
        scan->scan.limit = message->sufficient_rows;
        return scan->scan.limit >= 0
                   ? NULL
                   : error_new(KITH_ERROR_CORRUPT, "a scan in the plan has the limit %" PRId64, scan->scan.limit);
    }
    scan->scan.limit = message->limit;
    TRY(plan_decoder_operator(decoder, PHYSICAL_LOCAL_LIMIT, *out, out));
    (*out)->limit.fetch = message->limit;
    return NULL;
}

kith_error *scan_decode(struct plan_decoder *decoder, const Datafusion__ParquetScanExecNode *message,
                        struct physical_plan **in_out)
{
    const Datafusion__FileScanExecConf *config = message->base_conf;
    struct physical_plan *scan = *in_out;
    struct schema *schema;
    if (config == NULL)
        return error_new(KITH_ERROR_CORRUPT, "a scan in the plan says nothing of its files");
    TRY(refuse_unsupported(config));
    TRY(schema_decode(config->schema, "a scan", &schema));
    TRY(plan_decoder_keep_schema(decoder, schema, &scan->scan.table_schema));
    TRY(decode_files(decoder, config, scan));
    if (message->predicate != NULL)
        TRY(decode_predicate(decoder, message->predicate, &scan->scan));
    if (config->projection_exprs == NULL)
        TRY(project_by_number(decoder, config, scan));
    else
        TRY(project_exprs(decoder, config->projection_exprs, scan, in_out));
    return decode_limit(decoder, config->limit, scan, in_out);
}
