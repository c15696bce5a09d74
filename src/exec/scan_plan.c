#include "exec/scan.h"

/* Appends the marked table columns that are not in the reading order yet. `position` maps table columns to it. */
static void add_columns(struct scan_plan *plan, const bool *used, size_t *position)
{
    for (size_t i = 0; i < plan->scan->table_schema->field_count; i++) {
        if (!used[i] || position[i] != SIZE_MAX)
            continue;
        position[i] = plan->column_count;
        plan->columns[plan->column_count++] = i;
    }
}

/* Keys first: once a bound is tight they rule out nearly every row. Then what the predicate needs, then the rest. */
static kith_error *order_columns(struct scan_plan *plan, size_t output_count, size_t *position)
{
    const struct parquet_scan *scan = plan->scan;
    size_t total = scan->table_schema->field_count;
    bool *used[STAGE_COUNT];
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        TRY(ARENA_NEW_ARRAY(&plan->arena, &used[stage], total));
    for (size_t i = 0; i < scan->dynamic_filter_count; i++)
        for (size_t j = 0; j < scan->dynamic_filters[i].count; j++)
            expr_columns(scan->dynamic_filters[i].exprs[j].expr, used[STAGE_KEYS]);
    if (scan->predicate != NULL)
        expr_columns(scan->predicate, used[STAGE_PREDICATE]);
    for (size_t i = 0; i < output_count; i++)
        used[STAGE_REST][scan->columns[i]] = true;

    for (size_t i = 0; i < total; i++)
        position[i] = SIZE_MAX;
    TRY(ARENA_NEW_ARRAY(&plan->arena, &plan->columns, total));
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        add_columns(plan, used[stage], position);
        plan->stage_end[stage] = plan->column_count;
        TRY(schema_project(scan->table_schema, plan->columns, plan->column_count, &plan->stage_schemas[stage]));
    }
    TRY(ARENA_NEW_ARRAY(&plan->arena, &plan->in_output, total));
    for (size_t i = 0; i < plan->column_count; i++)
        plan->in_output[i] = used[STAGE_REST][plan->columns[i]];
    return NULL;
}

static kith_error *remap_filters(struct scan_plan *plan, const size_t *position)
{
    const struct parquet_scan *scan = plan->scan;
    if (scan->predicate != NULL)
        TRY(expr_remap(&plan->arena, scan->predicate, position, &plan->predicate));
    TRY(ARENA_NEW_ARRAY(&plan->arena, &plan->filters, scan->dynamic_filter_count));
    TRY(ARENA_NEW_ARRAY(&plan->arena, &plan->filter_stages, scan->dynamic_filter_count));
    for (size_t i = 0; i < scan->dynamic_filter_count; i++) {
        const struct scan_dynamic_filter *filter = &scan->dynamic_filters[i];
        struct sort_expr *exprs;
        TRY(ARENA_NEW_ARRAY(&plan->arena, &exprs, filter->count));
        for (size_t j = 0; j < filter->count; j++) {
            exprs[j].order = filter->exprs[j].order;
            TRY(expr_remap(&plan->arena, filter->exprs[j].expr, position, &exprs[j].expr));
            /* WHERE x <> 0 ORDER BY 1 / x */
            if (scan->predicate != NULL && expr_may_fail(exprs[j].expr))
                plan->filter_stages[i] = STAGE_PREDICATE;
        }
        plan->filters[i] = (struct scan_dynamic_filter){
            .id = filter->id, .exprs = exprs, .count = filter->count, .planned = filter->planned};
    }
    return NULL;
}

kith_error *scan_plan_init(struct scan_plan *plan, const struct parquet_scan *scan, size_t output_count)
{
    size_t *position;
    *plan = (struct scan_plan){.scan = scan};
    TRY(ARENA_NEW_ARRAY(&plan->arena, &position, scan->table_schema->field_count));
    TRY(order_columns(plan, output_count, position));
    TRY(remap_filters(plan, position));
    TRY(ARENA_NEW_ARRAY(&plan->arena, &plan->output, output_count));
    for (size_t i = 0; i < output_count; i++)
        plan->output[i] = position[scan->columns[i]];
    return NULL;
}

void scan_plan_reset(struct scan_plan *plan)
{
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        schema_unref(plan->stage_schemas[stage]);
    arena_reset(&plan->arena);
    *plan = (struct scan_plan){0};
}
