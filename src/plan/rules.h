/*
 * The optimizer's rules, each in the file rule_<name>.c. Private to this folder.
 */
#ifndef KITH_PLAN_RULES_H
#define KITH_PLAN_RULES_H

#include "plan/optimizer.h"

/* Expressions of constants become constants. One that fails (1/0) is left to fail when and if a row reaches it. */
kith_error *rule_fold_constants(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan);
/* A filter above a scan moves into it, where statistics can use it and other columns need not be decoded. */
kith_error *rule_push_filter_into_scan(struct plan_arena *arena, const struct settings *settings,
                                       struct logical_plan **plan);
/* A limit above a sort becomes the sort's fetch (offset included): a Top-K. */
kith_error *rule_push_limit_into_sort(struct plan_arena *arena, const struct settings *settings,
                                      struct logical_plan **plan);
/* A scan gives only the columns that something above it reads. */
kith_error *rule_prune_columns(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan);

#endif
