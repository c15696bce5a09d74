#include "plan/optimizer.h"

#include "plan/rules.h"

/* Constants first, so that the filter that is pushed is small; columns last, when it is known who reads what. */
static const struct optimizer_rule rules[] = {
    {"fold_constants", rule_fold_constants},
    {"push_filter_into_scan", rule_push_filter_into_scan},
    {"push_limit_into_sort", rule_push_limit_into_sort},
    {"prune_columns", rule_prune_columns},
};

kith_error *optimizer_run(struct plan_arena *arena, const struct settings *settings, struct logical_plan **in_out_plan)
{
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        TRY(error_wrap(rules[i].apply(arena, settings, in_out_plan), "optimizer rule %s", rules[i].name));
    return NULL;
}
