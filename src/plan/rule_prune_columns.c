#include "plan/rules.h"

/* Narrows a node to the columns that are wanted, and to what its own work needs. mapping[i] becomes the place of column
 * i among those that are left, SIZE_MAX where it is gone. */
static kith_error *prune(struct plan_arena *arena, struct logical_plan **place, const bool *wanted, size_t *mapping);

static kith_error *all_columns(struct arena *arena, const struct schema *schema, bool **out)
{
    TRY(ARENA_NEW_ARRAY(arena, out, schema->field_count));
    for (size_t i = 0; i < schema->field_count; i++)
        (*out)[i] = true;
    return NULL;
}

/* *positions is the columns that are kept. */
static kith_error *keep(struct arena *arena, const struct schema *schema, const bool *wanted, size_t *mapping,
                        size_t **positions, size_t *count)
{
    TRY(ARENA_NEW_ARRAY(arena, positions, schema->field_count));
    *count = 0;
    for (size_t i = 0; i < schema->field_count; i++) {
        mapping[i] = wanted[i] ? *count : SIZE_MAX;
        if (wanted[i])
            (*positions)[(*count)++] = i;
    }
    return NULL;
}

static kith_error *narrow_schema(struct plan_arena *arena, struct logical_plan *node, const size_t *positions,
                                 size_t count)
{
    struct schema *narrowed = NULL;
    TRY(schema_project(node->schema, positions, count, &narrowed));
    TRY(plan_arena_keep_schema(arena, narrowed));
    node->schema = narrowed;
    return NULL;
}

static kith_error *prune_scan(struct plan_arena *arena, struct logical_plan *scan, const bool *wanted, size_t *mapping)
{
    size_t *positions, *columns, count;
    TRY(keep(&arena->arena, scan->schema, wanted, mapping, &positions, &count));
    if (count == scan->schema->field_count)
        return NULL;
    TRY(ARENA_NEW_ARRAY(&arena->arena, &columns, count));
    for (size_t i = 0; i < count; i++)
        columns[i] = scan->scan.columns[positions[i]];
    scan->scan.columns = columns;
    return narrow_schema(arena, scan, positions, count);
}

/* Whether the projection gives columns of its input as they are, none twice; *positions is them. */
static kith_error *picks_columns(struct arena *arena, const struct logical_plan *projection, size_t **positions,
                                 bool *out)
{
    size_t count = projection->schema->field_count;
    bool *picked;
    *out = true;
    TRY(ARENA_NEW_ARRAY(arena, positions, count));
    TRY(ARENA_NEW_ARRAY(arena, &picked, projection->inputs[0]->schema->field_count));
    for (size_t i = 0; *out && i < count; i++) {
        const struct expr *expr = projection->projection.exprs[i];
        *out = expr->kind == EXPR_COLUMN && !picked[expr->column.index];
        if (!*out)
            break;
        (*positions)[i] = expr->column.index;
        picked[expr->column.index] = true;
    }
    return NULL;
}

/* A projection that changes nothing goes; one of columns of a scan is a scan of those columns. */
static kith_error *drop_projection(struct plan_arena *arena, struct logical_plan **place)
{
    const struct logical_plan *projection = *place;
    struct logical_plan *input = projection->inputs[0];
    size_t *positions, count = projection->schema->field_count, in_place = 0;
    bool picks;
    TRY(picks_columns(&arena->arena, projection, &positions, &picks));
    if (!picks)
        return NULL;
    while (in_place < count && positions[in_place] == in_place)
        in_place++;
    if (in_place == count && count == input->schema->field_count)
        *place = input;
    if (*place == input || input->kind != LOGICAL_SCAN)
        return NULL;
    size_t *columns;
    TRY(ARENA_NEW_ARRAY(&arena->arena, &columns, count));
    for (size_t i = 0; i < count; i++)
        columns[i] = input->scan.columns[positions[i]];
    input->scan.columns = columns;
    *place = input;
    return narrow_schema(arena, input, positions, count);
}

static kith_error *prune_projection(struct plan_arena *arena, struct logical_plan *node, const bool *wanted,
                                    size_t *mapping)
{
    size_t *positions, *below, count, input_count = node->inputs[0]->schema->field_count;
    const struct expr **exprs;
    bool *used;
    TRY(keep(&arena->arena, node->schema, wanted, mapping, &positions, &count));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &exprs, count));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &used, input_count));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &below, input_count));
    for (size_t i = 0; i < count; i++)
        expr_columns(node->projection.exprs[positions[i]], used);
    TRY(prune(arena, &node->inputs[0], used, below));
    for (size_t i = 0; i < count; i++)
        TRY(expr_remap(&arena->arena, node->projection.exprs[positions[i]], below, &exprs[i]));
    node->projection.exprs = exprs;
    return count == node->schema->field_count ? NULL : narrow_schema(arena, node, positions, count);
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

/* Filter, sort and limit have the columns of their input. */
static kith_error *prune_passing(struct plan_arena *arena, struct logical_plan *node, const bool *wanted,
                                 size_t *mapping)
{
    bool *used;
    TRY(ARENA_NEW_ARRAY(&arena->arena, &used, node->schema->field_count));
    for (size_t i = 0; i < node->schema->field_count; i++)
        used[i] = wanted[i];
    if (node->kind == LOGICAL_FILTER)
        expr_columns(node->filter.predicate, used);
    for (size_t i = 0; node->kind == LOGICAL_SORT && i < node->sort.count; i++)
        expr_columns(node->sort.exprs[i].expr, used);
    TRY(prune(arena, &node->inputs[0], used, mapping));
    node->schema = node->inputs[0]->schema;
    if (node->kind == LOGICAL_FILTER)
        return expr_remap(&arena->arena, node->filter.predicate, mapping, &node->filter.predicate);
    return node->kind == LOGICAL_SORT ? remap_sort(&arena->arena, node, mapping) : NULL;
}

/* Members of a union must have the same columns: where one keeps another for its own work, a projection drops it. */
static kith_error *pick(struct plan_arena *arena, struct logical_plan **place, const size_t *positions, size_t count,
                        const size_t *mapping)
{
    struct logical_plan *input = *place, *projection;
    size_t *kept;
    bool as_it_is = input->schema->field_count == count;
    TRY(ARENA_NEW_ARRAY(&arena->arena, &kept, count));
    for (size_t i = 0; i < count; i++) {
        kept[i] = mapping[positions[i]];
        as_it_is = as_it_is && kept[i] == i;
    }
    if (as_it_is)
        return NULL;
    TRY(logical_plan_new(&arena->arena, LOGICAL_PROJECTION, input->schema, input, &projection));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &projection->projection.exprs, count));
    for (size_t i = 0; i < count; i++)
        TRY(expr_column(&arena->arena, input->schema, kept[i], &projection->projection.exprs[i]));
    TRY(narrow_schema(arena, projection, kept, count));
    *place = projection;
    return NULL;
}

static kith_error *prune_union(struct plan_arena *arena, struct logical_plan *node, const bool *wanted, size_t *mapping)
{
    size_t *positions, *below, count;
    TRY(keep(&arena->arena, node->schema, wanted, mapping, &positions, &count));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &below, node->schema->field_count));
    for (size_t i = 0; i < node->input_count; i++) {
        TRY(prune(arena, &node->inputs[i], wanted, below));
        TRY(pick(arena, &node->inputs[i], positions, count, below));
    }
    return count == node->schema->field_count ? NULL : narrow_schema(arena, node, positions, count);
}

static kith_error *prune(struct plan_arena *arena, struct logical_plan **place, const bool *wanted, size_t *mapping)
{
    struct logical_plan *node = *place;
    switch (node->kind) {
    case LOGICAL_SCAN:
        return prune_scan(arena, node, wanted, mapping);
    case LOGICAL_PROJECTION:
        TRY(prune_projection(arena, node, wanted, mapping));
        return drop_projection(arena, place);
    case LOGICAL_FILTER:
    case LOGICAL_SORT:
    case LOGICAL_LIMIT:
        return prune_passing(arena, node, wanted, mapping);
    case LOGICAL_UNION:
        return prune_union(arena, node, wanted, mapping);
    case LOGICAL_ONE_ROW:
        return NULL;
    }
    UNREACHABLE();
}

kith_error *rule_prune_columns(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan)
{
    struct logical_plan *root = *plan;
    bool *all;
    size_t *mapping;
    TRY(all_columns(&arena->arena, root->schema, &all));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &mapping, root->schema->field_count));
    /* The root names the columns of the result. */
    return root->kind == LOGICAL_PROJECTION ? prune_projection(arena, root, all, mapping)
                                            : prune(arena, plan, all, mapping);
}
