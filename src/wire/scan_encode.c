#include "wire/file_path.h"
#include "wire/plan_parts.h"
#include "wire/protobuf.h"
#include "wire/scalar_codec.h"
#include "wire/type_codec.h"

static kith_error *encode_true(struct arena *arena, Datafusion__PhysicalExprNode **out)
{
    const struct scalar truth = {.type = {.id = TYPE_BOOL}, .boolean = true};
    const struct expr *literal;
    TRY(expr_literal(arena, &truth, &literal));
    return expr_encode(literal, arena, out);
}

static kith_error *encode_order(struct sort_order order, struct arena *arena, Datafusion__SortOrder **out)
{
    TRY(protobuf_new(arena, &datafusion__sort_order__descriptor, out));
    (*out)->maybe_descending_case = DATAFUSION__SORT_ORDER__MAYBE_DESCENDING_DESCENDING;
    (*out)->descending = order.descending;
    (*out)->maybe_nulls_first_case = DATAFUSION__SORT_ORDER__MAYBE_NULLS_FIRST_NULLS_FIRST;
    (*out)->nulls_first = order.nulls_first;
    return NULL;
}

kith_error *dynamic_filter_encode(uint64_t id, const struct sort_expr *exprs, size_t count, struct arena *arena,
                                  Datafusion__PhysicalExprNode **out)
{
    Datafusion__PhysicalDynamicFilterNode *filter;
    TRY(protobuf_new(arena, &datafusion__physical_dynamic_filter_node__descriptor, &filter));
    TRY(ARENA_NEW_ARRAY(arena, &filter->children, count));
    TRY(ARENA_NEW_ARRAY(arena, &filter->orders, count));
    filter->n_children = filter->n_orders = count;
    for (size_t i = 0; i < count; i++) {
        TRY(expr_encode(exprs[i].expr, arena, &filter->children[i]));
        TRY(encode_order(exprs[i].order, arena, &filter->orders[i]));
    }
    filter->generation = 1; /* DataFusion counts from 1 */
    TRY(encode_true(arena, &filter->inner_expr));
    TRY(protobuf_new(arena, &datafusion__physical_expr_node__descriptor, out));
    (*out)->maybe_expr_id_case = DATAFUSION__PHYSICAL_EXPR_NODE__MAYBE_EXPR_ID_EXPR_ID;
    (*out)->expr_id = id;
    (*out)->kind_case = DATAFUSION__PHYSICAL_EXPR_NODE__KIND_DYNAMIC_FILTER;
    (*out)->dynamic_filter = filter;
    return NULL;
}

/* What the rows must satisfy and, beside it, the dynamic filters. */
static kith_error *encode_predicate(const struct parquet_scan *scan, struct arena *arena,
                                    Datafusion__PhysicalExprNode **out)
{
    Datafusion__PhysicalExprNode **conjuncts;
    size_t count = 0;
    TRY(ARENA_NEW_ARRAY(arena, &conjuncts, scan->dynamic_filter_count + 1));
    if (scan->predicate != NULL)
        TRY(expr_encode(scan->predicate, arena, &conjuncts[count++]));
    for (size_t i = 0; i < scan->dynamic_filter_count; i++) {
        const struct scan_dynamic_filter *filter = &scan->dynamic_filters[i];
        TRY(dynamic_filter_encode(filter->id, filter->exprs, filter->count, arena, &conjuncts[count]));
        if (filter->planned != NULL)
            TRY(scalar_encode(filter->planned, arena, &conjuncts[count]->dynamic_filter->planned));
        count++;
    }
    return count == 0 ? NULL : conjunction_encode(conjuncts, count, arena, out);
}

static kith_error *encode_file(const struct scan_file *file, struct arena *arena, Datafusion__PartitionedFile **out)
{
    TRY(protobuf_new(arena, &datafusion__partitioned_file__descriptor, out));
    TRY(file_path_encode(file->path, arena, &(*out)->path));
    (*out)->size = file->size;
    (*out)->last_modified_ns = (uint64_t)file->modified_ns;
    if (!file->has_range)
        return NULL;
    TRY(protobuf_new(arena, &datafusion__file_range__descriptor, &(*out)->range));
    (*out)->range->start = file->range_start;
    (*out)->range->end = file->range_end;
    return NULL;
}

/* A group for each partition, files dealt in turn. Kith's partitions share the scan's row groups whoever they were
 * dealt to; the groups say how many partitions there are, and mean the same to DataFusion. */
static kith_error *encode_file_groups(const struct physical_plan *plan, struct arena *arena,
                                      Datafusion__FileScanExecConf *out)
{
    const struct parquet_scan *scan = &plan->scan;
    size_t most = (scan->file_count + plan->partitions - 1) / plan->partitions;
    TRY(ARENA_NEW_ARRAY(arena, &out->file_groups, plan->partitions));
    out->n_file_groups = plan->partitions;
    for (size_t i = 0; i < plan->partitions; i++) {
        TRY(protobuf_new(arena, &datafusion__file_group__descriptor, &out->file_groups[i]));
        TRY(ARENA_NEW_ARRAY(arena, &out->file_groups[i]->files, most));
    }
    for (size_t i = 0; i < scan->file_count; i++) {
        Datafusion__FileGroup *group = out->file_groups[i % plan->partitions];
        TRY(encode_file(&scan->files[i], arena, &group->files[group->n_files++]));
    }
    return NULL;
}

static kith_error *encode_projection(const struct physical_plan *plan, struct arena *arena,
                                     Datafusion__FileScanExecConf *out)
{
    size_t count = plan->schema->field_count;
    Datafusion__ProjectionExprs *projection;
    TRY(protobuf_new(arena, &datafusion__projection_exprs__descriptor, &projection));
    TRY(ARENA_NEW_ARRAY(arena, &projection->projections, count));
    projection->n_projections = count;
    for (size_t i = 0; i < count; i++) {
        Datafusion__ProjectionExpr *expr;
        const struct expr *column;
        TRY(protobuf_new(arena, &datafusion__projection_expr__descriptor, &expr));
        TRY(expr_column(arena, plan->scan.table_schema, plan->scan.columns[i], &column));
        TRY(expr_encode(column, arena, &expr->expr));
        expr->alias = plan->schema->fields[i].name;
        projection->projections[i] = expr;
    }
    out->projection_exprs = projection;
    return NULL;
}

static kith_error *encode_limit(int64_t limit, struct arena *arena, Datafusion__FileScanExecConf *out)
{
    if (limit < 0)
        return NULL;
    TRY(protobuf_new(arena, &datafusion__scan_limit__descriptor, &out->limit));
    out->limit->limit = (uint32_t)MIN(limit, (int64_t)UINT32_MAX);
    out->limit->maybe_sufficient_rows_case = DATAFUSION__SCAN_LIMIT__MAYBE_SUFFICIENT_ROWS_SUFFICIENT_ROWS;
    out->limit->sufficient_rows = limit;
    return NULL;
}

/* A message that is sent as opaque bytes; in `arena`. */
static kith_error *pack(const ProtobufCMessage *message, struct arena *arena, ProtobufCBinaryData *out)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    char *kept;
    TRY(protobuf_write(message, &bytes));
    TRY(arena_string(arena, bytes.data, bytes.length, &kept));
    *out = (ProtobufCBinaryData){bytes.length, (uint8_t *)kept};
    return NULL;
}

/* DataFusion applies a scan's predicate to rows only when it is told to. */
static kith_error *encode_options(struct arena *arena, ProtobufCBinaryData *out)
{
    static char writer_version[] = "1.0";
    DatafusionCommon__TableParquetOptions table_options;
    DatafusionCommon__ParquetOptions options;
    datafusion_common__table_parquet_options__init(&table_options);
    datafusion_common__parquet_options__init(&options);
    options.enable_page_index = 1;
    options.pruning = 1;
    options.skip_metadata = 1;
    options.pushdown_filters = 1;
    options.writer_version = writer_version;
    table_options.global = &options;
    return pack(&table_options.base, arena, out);
}

/* Nothing is known, of as many columns as DataFusion expects. */
static kith_error *encode_statistics(size_t columns, struct arena *arena, ProtobufCBinaryData *out)
{
    DatafusionCommon__Precision absent;
    DatafusionCommon__ColumnStats column;
    DatafusionCommon__Statistics statistics;
    datafusion_common__precision__init(&absent);
    datafusion_common__column_stats__init(&column);
    datafusion_common__statistics__init(&statistics);
    absent.precision_info = DATAFUSION_COMMON__PRECISION_INFO__ABSENT;
    column.min_value = column.max_value = column.null_count = &absent;
    column.distinct_count = column.sum_value = column.byte_size = &absent;
    statistics.num_rows = statistics.total_byte_size = &absent;
    statistics.n_column_stats = columns;
    TRY(ARENA_NEW_ARRAY(arena, &statistics.column_stats, columns));
    for (size_t i = 0; i < columns; i++)
        statistics.column_stats[i] = &column;
    return pack(&statistics.base, arena, out);
}

kith_error *scan_encode(const struct physical_plan *plan, struct arena *arena, Datafusion__ParquetScanExecNode **out)
{
    static char store_url[] = FILE_STORE_URL;
    Datafusion__FileScanExecConf *config;
    TRY(protobuf_new(arena, &datafusion__file_scan_exec_conf__descriptor, &config));
    TRY(schema_encode(plan->scan.table_schema, arena, &config->schema));
    TRY(encode_file_groups(plan, arena, config));
    TRY(encode_projection(plan, arena, config));
    TRY(encode_limit(plan->scan.limit, arena, config));
    TRY(encode_statistics(plan->scan.table_schema->field_count, arena, &config->statistics));
    config->object_store_url = store_url;
    TRY(protobuf_new(arena, &datafusion__constraints__descriptor, &config->constraints));
    TRY(protobuf_new(arena, &datafusion__parquet_scan_exec_node__descriptor, out));
    (*out)->base_conf = config;
    TRY(encode_options(arena, &(*out)->parquet_options));
    return encode_predicate(&plan->scan, arena, &(*out)->predicate);
}
