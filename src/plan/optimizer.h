/*
 * Optimizer rules over logical plans. One rule, one file (rule_*.c); the list and its order are in optimizer.c. A rule
 * returns the plan it was given when it does not apply, and every rule's output is a valid plan of the same meaning.
 */
#ifndef KITH_PLAN_OPTIMIZER_H
#define KITH_PLAN_OPTIMIZER_H

#include "base/settings.h"
#include "plan/logical.h"

struct optimizer_rule {
    const char *name;
    kith_error *(*apply)(struct plan_arena *arena, const struct settings *settings, struct logical_plan **in_out_plan);
};

kith_error *optimizer_run(struct plan_arena *arena, const struct settings *settings,
                          struct logical_plan **in_out_plan) _must_check_;

#endif
