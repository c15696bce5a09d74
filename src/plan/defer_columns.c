#include "plan/defer_columns.h"

/* The nodes from the merge or sort down to the scan, which all give the scan's columns. */
struct segment {
    struct plan_arena *plans;
    struct arena *arena;
    struct physical_plan *top;
    struct physical_plan *scan;
    bool *kept;      /* of each column of the scan's output: does something need it before rows are chosen? */
    size_t *mapping; /* its new position, where kept */
    size_t kept_count;
};

static bool find_segment(struct segment *segment, const struct settings *settings, struct physical_plan *plan)
{
    segment->top = plan;
    if (plan->kind == PHYSICAL_SORT_PRESERVING_MERGE)
        plan = plan->inputs[0];
    if (plan->kind != PHYSICAL_SORT || plan->sort.fetch <= 0 ||
        plan->sort.fetch > settings_get(settings, SETTING_TOPK_FETCH_ROWS))
        return false;
    do
        plan = plan->inputs[0];
    while (plan->kind == PHYSICAL_FILTER);
    segment->scan = plan;
    return plan->kind == PHYSICAL_PARQUET_SCAN;
}

static kith_error *choose_columns(struct segment *segment)
{
    size_t count = segment->scan->schema->field_count;
    TRY(ARENA_NEW_ARRAY(segment->arena, &segment->kept, count));
    TRY(ARENA_NEW_ARRAY(segment->arena, &segment->mapping, count));
    for (const struct physical_plan *node = segment->top; node != segment->scan; node = node->inputs[0]) {
        if (node->kind == PHYSICAL_FILTER)
            expr_columns(node->filter.predicate, segment->kept);
        for (size_t i = 0; node->kind == PHYSICAL_SORT && i < node->sort.count; i++)
            expr_columns(node->sort.exprs[i].expr, segment->kept);
    }
    for (size_t i = 0; i < count; i++)
        segment->mapping[i] = segment->kept[i] ? segment->kept_count++ : SIZE_MAX;
    return NULL;
}

/* The columns kept, and the places. */
static kith_error *narrow_schema(struct segment *segment, struct schema **out)
{
    static char place_name[] = "place";
    const struct schema *schema = segment->scan->schema;
    struct field *fields;
    TRY(ARENA_NEW_ARRAY(segment->arena, &fields, segment->kept_count + 1));
    for (size_t i = 0; i < schema->field_count; i++)
        if (segment->kept[i])
            fields[segment->mapping[i]] = schema->fields[i];
    fields[segment->kept_count] = (struct field){.name = place_name, .type = {.id = TYPE_UINT64}};
    TRY(schema_new(fields, segment->kept_count + 1, out));
    return plan_arena_keep_schema(segment->plans, *out);
}

static kith_error *remap_sort(struct segment *segment, struct physical_plan *node)
{
    struct sort_expr *exprs;
    TRY(ARENA_NEW_ARRAY(segment->arena, &exprs, node->sort.count));
    for (size_t i = 0; i < node->sort.count; i++) {
        exprs[i].order = node->sort.exprs[i].order;
        TRY(expr_remap(segment->arena, node->sort.exprs[i].expr, segment->mapping, &exprs[i].expr));
    }
    node->sort.exprs = exprs;
    return NULL;
}

static kith_error *narrow_scan(struct segment *segment)
{
    struct parquet_scan *scan = &segment->scan->scan;
    size_t *columns;
    TRY(ARENA_NEW_ARRAY(segment->arena, &columns, segment->kept_count));
    for (size_t i = 0; i < segment->scan->schema->field_count; i++)
        if (segment->kept[i])
            columns[segment->mapping[i]] = scan->columns[i];
    scan->columns = columns;
    scan->gives_places = true;
    return NULL;
}

static kith_error *make_fetch(struct segment *segment, struct physical_plan **out)
{
    struct physical_plan *fetch;
    struct fetched_column *columns;
    size_t count = segment->scan->schema->field_count;
    TRY(physical_plan_new(segment->arena, PHYSICAL_FETCH_COLUMNS, segment->scan->schema, segment->top->partitions,
                          segment->top, &fetch));
    TRY(ARENA_NEW_ARRAY(segment->arena, &columns, count));
    for (size_t i = 0; i < count; i++)
        columns[i] = segment->kept[i] ? (struct fetched_column){false, segment->mapping[i]}
                                      : (struct fetched_column){true, segment->scan->scan.columns[i]};
    fetch->fetch.columns = columns;
    *out = fetch;
    return NULL;
}

/* Each node below takes the narrow schema, and says by its columns what it said by the wide one's. */
static kith_error *narrow_nodes(struct segment *segment)
{
    struct schema *narrowed;
    TRY(narrow_schema(segment, &narrowed));
    for (struct physical_plan *node = segment->top; node != segment->scan; node = node->inputs[0]) {
        node->schema = narrowed;
        if (node->kind == PHYSICAL_FILTER)
            TRY(expr_remap(segment->arena, node->filter.predicate, segment->mapping, &node->filter.predicate));
        else
            TRY(remap_sort(segment, node));
    }
    TRY(narrow_scan(segment));
    segment->scan->schema = narrowed;
    return NULL;
}

kith_error *plan_defer_columns(struct plan_arena *arena, const struct settings *settings, struct physical_plan **plan)
{
    struct segment segment = {.plans = arena, .arena = &arena->arena};
    if (!find_segment(&segment, settings, *plan)) {
        for (size_t i = 0; i < (*plan)->input_count; i++)
            TRY(plan_defer_columns(arena, settings, &(*plan)->inputs[i]));
        return NULL;
    }
    TRY(choose_columns(&segment));
    if (segment.kept_count == segment.scan->schema->field_count)
        return NULL;
    TRY(make_fetch(&segment, plan));
    return narrow_nodes(&segment);
}
