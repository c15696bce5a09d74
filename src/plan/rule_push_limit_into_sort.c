#include "base/limits.h"
#include "plan/rules.h"

/* Whoever asks for more rows than a heap may hold has them sorted as without a limit: most likely there are fewer. */
kith_error *rule_push_limit_into_sort(struct plan_arena *arena, const struct settings *settings,
                                      struct logical_plan **plan)
{
    for (struct logical_plan *node = *plan; node != NULL; node = node->input) {
        int64_t rows;
        if (node->kind != LOGICAL_LIMIT || node->limit.fetch < 0 || node->input->kind != LOGICAL_SORT)
            continue;
        if (!__builtin_add_overflow(node->limit.offset, node->limit.fetch, &rows) && rows <= LIMIT_TOPK_ROWS)
            node->input->sort.fetch = rows;
    }
    return NULL;
}
