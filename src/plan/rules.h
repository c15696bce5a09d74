/*
 * The optimizer's rules, each in the file rule_<name>.c. Private to this folder.
 */
#ifndef KITH_PLAN_RULES_H
#define KITH_PLAN_RULES_H

#include "plan/optimizer.h"

/* Expressions of constants become constants. One that fails (1/0) is left to fail when and if a row reaches it. */
kith_error *rule_fold_constants(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan);
/* A sort that keeps all rows is dropped below another sort or a union, which do not keep its order. Elsewhere in a
 * subquery it stays: SQL does not ask for that, but PostgreSQL's rows come in its order, too. */
kith_error *rule_drop_sorts(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan);
/* A filter moves down through projections (rewritten to what they compute), sorts and unions into the scans, where
 * statistics can use it and other columns need not be decoded. A limit or what is volatile stops it. */
kith_error *rule_push_filters(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan);
/* One projection for two, where that computes nothing twice; projections of a union's rows become its members', a
 * union in a union one, and a projection below a limit comes above it. What is volatile stays where it is. */
kith_error *rule_merge_projections(struct plan_arena *arena, const struct settings *settings,
                                   struct logical_plan **plan);
/* A limit above a sort becomes the sort's fetch (offset included): a Top-K. */
kith_error *rule_push_limit_into_sort(struct plan_arena *arena, const struct settings *settings,
                                      struct logical_plan **plan);
/* Scans, projections and unions give only the columns that something above reads. */
kith_error *rule_prune_columns(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan);

#endif
