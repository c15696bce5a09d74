#include "base/limits.h"
#include "plan/rules.h"

/* Whoever asks for more rows than a heap may hold has them sorted as without a limit: most likely there are fewer. */
kith_error *rule_push_limit_into_sort(struct plan_arena *arena, const struct settings *settings,
                                      struct logical_plan **plan)
{
    struct logical_plan *node = *plan;
    int64_t rows;
    for (size_t i = 0; i < node->input_count; i++)
        TRY(rule_push_limit_into_sort(arena, settings, &node->inputs[i]));
    if (node->kind != LOGICAL_LIMIT || node->limit.fetch < 0 || node->inputs[0]->kind != LOGICAL_SORT)
        return NULL;
    if (!__builtin_add_overflow(node->limit.offset, node->limit.fetch, &rows) && rows <= LIMIT_TOPK_ROWS)
        node->inputs[0]->sort.fetch = rows;
    return NULL;
}
