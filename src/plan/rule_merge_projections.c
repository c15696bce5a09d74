#include "plan/rules.h"

static bool is_plain(const struct expr *expr)
{
    return expr->kind == EXPR_COLUMN || expr->kind == EXPR_LITERAL;
}

/* Whether the outer projection computes nothing twice that the inner one computes once. */
static kith_error *repeats_nothing(struct arena *arena, const struct logical_plan *outer,
                                   const struct logical_plan *inner, bool *out)
{
    size_t *counts;
    *out = true;
    TRY(ARENA_NEW_ARRAY(arena, &counts, inner->schema->field_count));
    for (size_t i = 0; i < outer->schema->field_count; i++)
        expr_count_columns(outer->projection.exprs[i], counts);
    for (size_t i = 0; i < inner->schema->field_count; i++)
        *out = *out && (counts[i] <= 1 || is_plain(inner->projection.exprs[i]));
    return NULL;
}

/* *merged is false when the projections stay two. */
static kith_error *merge(struct arena *arena, struct logical_plan *outer, bool *merged)
{
    const struct logical_plan *inner = outer->inputs[0];
    const struct expr **exprs;
    TRY(repeats_nothing(arena, outer, inner, merged));
    *merged = *merged && !logical_projection_is_volatile(inner);
    TRY(ARENA_NEW_ARRAY(arena, &exprs, outer->schema->field_count));
    for (size_t i = 0; *merged && i < outer->schema->field_count; i++) {
        TRY(expr_substitute(arena, outer->projection.exprs[i], inner->projection.exprs, &exprs[i]));
        *merged = exprs[i] != NULL;
    }
    if (!*merged)
        return NULL;
    outer->projection.exprs = exprs;
    outer->inputs = inner->inputs;
    return NULL;
}

/* Each member computes by itself, where its own projection and scan are near. */
static kith_error *push_into_members(struct arena *arena, struct logical_plan **place)
{
    const struct logical_plan *projection = *place;
    struct logical_plan *members = projection->inputs[0];
    for (size_t i = 0; i < members->input_count; i++) {
        struct logical_plan *copy;
        TRY(logical_plan_new(arena, LOGICAL_PROJECTION, projection->schema, members->inputs[i], &copy));
        TRY(ARENA_NEW_ARRAY(arena, &copy->projection.exprs, projection->schema->field_count));
        for (size_t j = 0; j < projection->schema->field_count; j++)
            copy->projection.exprs[j] = projection->projection.exprs[j];
        members->inputs[i] = copy;
    }
    members->schema = projection->schema;
    *place = members;
    return NULL;
}

/* Limiting first leaves fewer rows to compute, and puts the limit beside a sort that may be there. */
static void swap_with_limit(struct logical_plan **place)
{
    struct logical_plan *limit = *place, *projection = limit->inputs[0];
    limit->inputs[0] = projection->inputs[0];
    limit->schema = limit->inputs[0]->schema;
    projection->inputs[0] = limit;
    *place = projection;
}

static kith_error *flatten(struct arena *arena, struct logical_plan *node)
{
    struct logical_plan **inputs;
    size_t count = 0;
    for (size_t i = 0; i < node->input_count; i++)
        count += node->inputs[i]->kind == LOGICAL_UNION ? node->inputs[i]->input_count : 1;
    if (count == node->input_count)
        return NULL;
    TRY(ARENA_NEW_ARRAY(arena, &inputs, count));
    count = 0;
    for (size_t i = 0; i < node->input_count; i++) {
        struct logical_plan *input = node->inputs[i];
        bool nested = input->kind == LOGICAL_UNION;
        for (size_t j = 0; j < (nested ? input->input_count : 1); j++)
            inputs[count++] = nested ? input->inputs[j] : input;
    }
    node->inputs = inputs;
    node->input_count = count;
    return NULL;
}

static kith_error *settle_projection(struct arena *arena, struct logical_plan **place)
{
    bool merged = true;
    while (merged && (*place)->inputs[0]->kind == LOGICAL_PROJECTION)
        TRY(merge(arena, *place, &merged));
    if ((*place)->inputs[0]->kind != LOGICAL_UNION || logical_projection_is_volatile(*place))
        return NULL;
    TRY(push_into_members(arena, place));
    for (size_t i = 0; i < (*place)->input_count; i++)
        TRY(settle_projection(arena, &(*place)->inputs[i]));
    return NULL;
}

static bool is_passed_by_limit(const struct logical_plan *plan)
{
    return plan->kind == LOGICAL_PROJECTION && !logical_projection_is_volatile(plan);
}

kith_error *rule_merge_projections(struct plan_arena *arena, const struct settings *settings,
                                   struct logical_plan **plan)
{
    for (size_t i = 0; i < (*plan)->input_count; i++)
        TRY(rule_merge_projections(arena, settings, &(*plan)->inputs[i]));
    if ((*plan)->kind == LOGICAL_PROJECTION)
        return settle_projection(&arena->arena, plan);
    if ((*plan)->kind == LOGICAL_UNION)
        return flatten(&arena->arena, *plan);
    if ((*plan)->kind == LOGICAL_LIMIT && is_passed_by_limit((*plan)->inputs[0]))
        swap_with_limit(plan);
    return NULL;
}
