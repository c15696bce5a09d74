#include "plan/rules.h"

/* The nodes between a scan and the first projection above it all have the scan's columns; this narrows them together.
 */
struct segment {
    struct logical_plan *projection; /* NULL: the scan's columns are the query's */
    struct logical_plan *scan;
};

static bool find_segment(struct logical_plan *plan, struct segment *out)
{
    *out = (struct segment){0};
    for (; plan != NULL; plan = plan->input) {
        if (plan->kind == LOGICAL_PROJECTION)
            out->projection = plan;
        if (plan->kind == LOGICAL_SCAN)
            out->scan = plan;
    }
    return out->projection != NULL && out->scan != NULL;
}

static void mark_used(const struct segment *segment, bool *used)
{
    for (size_t i = 0; i < segment->projection->schema->field_count; i++)
        expr_columns(segment->projection->projection.exprs[i], used);
    for (const struct logical_plan *node = segment->projection->input; node != segment->scan; node = node->input) {
        if (node->kind == LOGICAL_FILTER)
            expr_columns(node->filter.predicate, used);
        for (size_t i = 0; node->kind == LOGICAL_SORT && i < node->sort.count; i++)
            expr_columns(node->sort.exprs[i].expr, used);
    }
}

static kith_error *remap_sort(struct arena *arena, struct logical_plan *node, const size_t *mapping)
{
    struct sort_expr *exprs;
    TRY(ARENA_NEW_ARRAY(arena, &exprs, node->sort.count));
    for (size_t i = 0; i < node->sort.count; i++) {
        exprs[i].order = node->sort.exprs[i].order;
        TRY(expr_remap(arena, node->sort.exprs[i].expr, mapping, &exprs[i].expr));
    }
    node->sort.exprs = exprs;
    return NULL;
}

static kith_error *remap_segment(struct arena *arena, const struct segment *segment, const size_t *mapping)
{
    struct logical_plan *projection = segment->projection;
    for (size_t i = 0; i < projection->schema->field_count; i++)
        TRY(expr_remap(arena, projection->projection.exprs[i], mapping, &projection->projection.exprs[i]));
    for (struct logical_plan *node = projection->input; node != segment->scan; node = node->input) {
        node->schema = segment->scan->schema;
        if (node->kind == LOGICAL_FILTER)
            TRY(expr_remap(arena, node->filter.predicate, mapping, &node->filter.predicate));
        else if (node->kind == LOGICAL_SORT)
            TRY(remap_sort(arena, node, mapping));
    }
    return NULL;
}

kith_error *rule_prune_columns(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan)
{
    struct segment segment;
    if (!find_segment(*plan, &segment))
        return NULL;
    struct logical_plan *scan = segment.scan;
    size_t total = scan->schema->field_count, kept = 0;
    bool *used;
    size_t *mapping, *columns, *positions;
    TRY(ARENA_NEW_ARRAY(&arena->arena, &used, total));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &mapping, total));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &columns, total));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &positions, total));
    mark_used(&segment, used);
    for (size_t i = 0; i < total; i++) {
        mapping[i] = SIZE_MAX;
        if (!used[i])
            continue;
        positions[kept] = i;
        columns[kept] = scan->scan.columns[i];
        mapping[i] = kept++;
    }
    if (kept == total)
        return NULL;

    struct schema *narrowed = NULL;
    TRY(schema_project(scan->schema, positions, kept, &narrowed));
    TRY(plan_arena_keep_schema(arena, narrowed));
    scan->schema = narrowed;
    scan->scan.columns = columns;
    return remap_segment(&arena->arena, &segment, mapping);
}
