#include "plan/rules.h"

/* `reordered`: whatever order the rows have here, nobody above sees it. */
static void drop(struct logical_plan **place, bool reordered)
{
    while (reordered && (*place)->kind == LOGICAL_SORT && (*place)->sort.fetch < 0)
        *place = (*place)->inputs[0];
    struct logical_plan *node = *place;
    if (node->kind == LOGICAL_SORT || node->kind == LOGICAL_UNION)
        reordered = true;
    else if (node->kind == LOGICAL_LIMIT)
        reordered = false; /* which rows it lets through depends on their order */
    for (size_t i = 0; i < node->input_count; i++)
        drop(&node->inputs[i], reordered);
}

kith_error *rule_drop_sorts(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan)
{
    drop(plan, false);
    return NULL;
}
