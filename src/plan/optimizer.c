#include "plan/optimizer.h"

#include "plan/rules.h"

/* Constants first, so that the filter that is pushed is small; columns last, when it is known who reads what. Filters
 * come down before projections merge, so that each passes a projection as it was written. */
static const struct optimizer_rule rules[] = {
    {"fold_constants", rule_fold_constants},
    {"drop_sorts", rule_drop_sorts},
    {"push_filters", rule_push_filters},
    {"merge_projections", rule_merge_projections},
    {"push_limit_into_sort", rule_push_limit_into_sort},
    {"prune_columns", rule_prune_columns},
};

kith_error *optimizer_run(struct plan_arena *arena, const struct settings *settings, struct logical_plan **in_out_plan)
{
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        TRY(error_wrap(rules[i].apply(arena, settings, in_out_plan), "optimizer rule %s", rules[i].name));
    return NULL;
}
