#include "plan/logical.h"

#include "base/limits.h"

static kith_error *count_levels(struct logical_plan *plan)
{
    size_t below = 0;
    for (size_t i = 0; i < plan->input_count; i++)
        below = MAX(below, (size_t)plan->inputs[i]->levels);
    if (below + 1 > LIMIT_PLAN_NESTING)
        return error_new(KITH_ERROR_LIMIT, "the query's plan has more than PLAN_NESTING (%d) levels",
                         LIMIT_PLAN_NESTING);
    plan->levels = (uint16_t)(below + 1);
    return NULL;
}

kith_error *logical_union_new(struct arena *arena, struct schema *schema, struct logical_plan *const *inputs,
                              size_t count, struct logical_plan **out)
{
    TRY(ARENA_NEW(arena, out));
    **out = (struct logical_plan){.kind = LOGICAL_UNION, .schema = schema, .input_count = count};
    TRY(ARENA_NEW_ARRAY(arena, &(*out)->inputs, count));
    for (size_t i = 0; i < count; i++)
        (*out)->inputs[i] = inputs[i];
    return count_levels(*out);
}

kith_error *logical_plan_new(struct arena *arena, enum logical_kind kind, struct schema *schema,
                             struct logical_plan *input, struct logical_plan **out)
{
    TRY(logical_union_new(arena, schema, &input, input == NULL ? 0 : 1, out));
    (*out)->kind = kind;
    return NULL;
}

bool logical_projection_is_volatile(const struct logical_plan *projection)
{
    for (size_t i = 0; i < projection->schema->field_count; i++)
        if (expr_is_volatile(projection->projection.exprs[i]))
            return true;
    return false;
}
