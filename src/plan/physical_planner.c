#include "plan/physical.h"

#include "plan/planned_bound.h"

/* Below this a scan takes about as long as waking another thread and handing batches over. */
enum { BYTES_WORTH_A_PARTITION = 1 << 20 };

struct planner {
    struct plan_arena *plans;
    struct arena *arena; /* of `plans` */
    const struct settings *settings;
    size_t processors;
    uint64_t last_filter_id;
};

static kith_error *make_node(struct planner *planner, enum physical_kind kind, struct schema *schema, size_t partitions,
                             struct physical_plan *input, struct physical_plan **out)
{
    TRY(ARENA_NEW(planner->arena, out));
    (*out)->kind = kind;
    (*out)->schema = schema;
    (*out)->partitions = partitions;
    if (input != NULL) {
        TRY(ARENA_NEW_ARRAY(planner->arena, &(*out)->inputs, 1));
        (*out)->inputs[0] = input;
        (*out)->input_count = 1;
    }
    return NULL;
}

static size_t scan_partitions(const struct planner *planner, const struct table *table)
{
    size_t wanted = (size_t)settings_get(planner->settings, SETTING_TARGET_PARTITIONS);
    if (wanted == 0)
        wanted = MIN(planner->processors, (size_t)(table->compressed_bytes / BYTES_WORTH_A_PARTITION + 1));
    size_t row_groups = 0;
    for (size_t i = 0; i < table->file_count; i++)
        row_groups += table->files[i].file->metadata->row_group_count;
    return MAX(MIN(wanted, row_groups), (size_t)1);
}

static kith_error *plan_scan(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out)
{
    struct table *table = logical->scan.table;
    TRY(make_node(planner, PHYSICAL_PARQUET_SCAN, logical->schema, scan_partitions(planner, table), NULL, out));
    struct parquet_scan *scan = &(*out)->scan;
    scan->table = table;
    scan->table_schema = table->schema;
    scan->columns = logical->scan.columns;
    scan->predicate = logical->scan.filter;
    scan->limit = -1;
    scan->file_count = table->file_count;
    TRY(ARENA_NEW_ARRAY(planner->arena, &scan->files, table->file_count));
    for (size_t i = 0; i < table->file_count; i++)
        scan->files[i] = (struct scan_file){
            .path = table->files[i].path,
            .size = table->files[i].file->storage->size,
            .modified_ns = table->files[i].modified_ns,
        };
    return NULL;
}

/* The scan that a Top-K's bound may prune: reached through filters only, which drop rows but change none. */
static struct physical_plan *scan_below(struct physical_plan *plan)
{
    while (plan->kind == PHYSICAL_FILTER)
        plan = plan->inputs[0];
    return plan->kind == PHYSICAL_PARQUET_SCAN ? plan : NULL;
}

static bool keys_may_fail(const struct physical_plan *sort)
{
    for (size_t i = 0; i < sort->sort.count; i++)
        if (expr_may_fail(sort->sort.exprs[i].expr))
            return true;
    return false;
}

static kith_error *attach_dynamic_filter(struct planner *planner, struct physical_plan *sort)
{
    struct physical_plan *scan = scan_below(sort->inputs[0]);
    bool allowed = settings_get(planner->settings, SETTING_DYNAMIC_FILTERS) != 0 &&
                   settings_get(planner->settings, SETTING_TOPK_DYNAMIC_FILTERS) != 0;
    if (scan == NULL || !allowed || sort->sort.fetch <= 0)
        return NULL;
    /* The scan would compute keys of rows that a filter above it is to remove. */
    if (scan != sort->inputs[0] && keys_may_fail(sort))
        return NULL;
    struct sort_expr *exprs;
    struct scan_dynamic_filter *filter;
    TRY(ARENA_NEW_ARRAY(planner->arena, &exprs, sort->sort.count));
    TRY(ARENA_NEW(planner->arena, &filter));
    for (size_t i = 0; i < sort->sort.count; i++) {
        exprs[i].order = sort->sort.exprs[i].order;
        TRY(expr_remap(planner->arena, sort->sort.exprs[i].expr, scan->scan.columns, &exprs[i].expr));
    }
    *filter = (struct scan_dynamic_filter){.id = ++planner->last_filter_id, .exprs = exprs, .count = sort->sort.count};
    if (sort->inputs[0] == scan && settings_get(planner->settings, SETTING_PLANNED_BOUNDS) != 0)
        TRY(planned_bound(planner->arena, &scan->scan, &exprs[0], (uint64_t)sort->sort.fetch, &filter->planned));
    sort->sort.filter_id = filter->id;
    scan->scan.dynamic_filters = filter;
    scan->scan.dynamic_filter_count = 1;
    return NULL;
}

static kith_error *plan_node(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out);

/* Each partition is sorted by itself; a merge makes one order of them. */
static kith_error *plan_sort(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out)
{
    struct physical_plan *input;
    TRY(plan_node(planner, logical->input, &input));
    TRY(make_node(planner, PHYSICAL_SORT, logical->schema, input->partitions, input, out));
    (*out)->sort.exprs = logical->sort.exprs;
    (*out)->sort.count = logical->sort.count;
    (*out)->sort.fetch = logical->sort.fetch;
    TRY(attach_dynamic_filter(planner, *out));
    if (input->partitions == 1)
        return NULL;
    struct physical_plan *sort = *out;
    TRY(make_node(planner, PHYSICAL_SORT_PRESERVING_MERGE, logical->schema, 1, sort, out));
    (*out)->sort = sort->sort;
    (*out)->sort.filter_id = 0;
    return NULL;
}

/* Skip and fetch need one partition; each partition need give no more rows than both together. */
static kith_error *plan_limit(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out)
{
    struct physical_plan *input;
    int64_t rows = -1;
    TRY(plan_node(planner, logical->input, &input));
    if (logical->limit.fetch >= 0 && __builtin_add_overflow(logical->limit.offset, logical->limit.fetch, &rows))
        rows = -1;
    if (input->kind == PHYSICAL_PARQUET_SCAN)
        input->scan.limit = rows;
    else if (rows >= 0 && logical->input->kind != LOGICAL_SORT) {
        TRY(make_node(planner, PHYSICAL_LOCAL_LIMIT, input->schema, input->partitions, input, out));
        (*out)->limit.fetch = rows;
        input = *out;
    }
    if (input->partitions > 1) {
        TRY(make_node(planner, PHYSICAL_COALESCE_PARTITIONS, input->schema, 1, input, out));
        (*out)->limit.fetch = rows;
        input = *out;
    }
    TRY(make_node(planner, PHYSICAL_GLOBAL_LIMIT, logical->schema, 1, input, out));
    (*out)->limit.skip = logical->limit.offset;
    (*out)->limit.fetch = logical->limit.fetch;
    return NULL;
}

static kith_error *plan_projection(struct planner *planner, const struct logical_plan *logical,
                                   struct physical_plan **out)
{
    struct physical_plan *input;
    TRY(plan_node(planner, logical->input, &input));
    TRY(make_node(planner, PHYSICAL_PROJECTION, logical->schema, input->partitions, input, out));
    (*out)->projection.exprs = logical->projection.exprs;
    return NULL;
}

static kith_error *plan_filter(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out)
{
    struct physical_plan *input;
    TRY(plan_node(planner, logical->input, &input));
    TRY(make_node(planner, PHYSICAL_FILTER, logical->schema, input->partitions, input, out));
    (*out)->filter.predicate = logical->filter.predicate;
    return NULL;
}

static kith_error *plan_node(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out)
{
    switch (logical->kind) {
    case LOGICAL_SCAN:
        return plan_scan(planner, logical, out);
    case LOGICAL_FILTER:
        return plan_filter(planner, logical, out);
    case LOGICAL_PROJECTION:
        return plan_projection(planner, logical, out);
    case LOGICAL_SORT:
        return plan_sort(planner, logical, out);
    case LOGICAL_LIMIT:
        return plan_limit(planner, logical, out);
    case LOGICAL_ONE_ROW:
        return make_node(planner, PHYSICAL_PLACEHOLDER_ROW, logical->schema, 1, NULL, out);
    }
    UNREACHABLE();
}

kith_error *physical_plan_create(struct plan_arena *arena, const struct settings *settings, size_t processors,
                                 const struct logical_plan *logical, struct physical_plan **out)
{
    struct planner planner = {
        .plans = arena, .arena = &arena->arena, .settings = settings, .processors = MAX(processors, (size_t)1)};
    struct physical_plan *plan;
    TRY(plan_node(&planner, logical, &plan));
    if (plan->partitions > 1) {
        struct physical_plan *input = plan;
        TRY(make_node(&planner, PHYSICAL_COALESCE_PARTITIONS, input->schema, 1, input, &plan));
        plan->limit.fetch = -1;
    }
    *out = plan;
    return NULL;
}

size_t physical_plan_node_count(const struct physical_plan *plan)
{
    size_t count = 1;
    for (size_t i = 0; i < plan->input_count; i++)
        count += physical_plan_node_count(plan->inputs[i]);
    return count;
}
