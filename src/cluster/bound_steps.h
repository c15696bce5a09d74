/*
 * When a bound is worth telling. It rules out row groups, and then pays well, once it is as good as the best value that
 * statistics allow one of them. Those best values, weakest first, are the steps of a Top-K's first sort key; a bound
 * that passes no further step than what is known already spares at most some pages and rows.
 *
 * Of many row groups not all are steps: between two there is at most a quarter of those that are left. Borrows the
 * values. Immutable; any thread.
 */
#ifndef KITH_CLUSTER_BOUND_STEPS_H
#define KITH_CLUSTER_BOUND_STEPS_H

#include "base/arena.h"
#include "columnar/scalar.h"
#include "columnar/sort_key.h"

struct bound_steps {
    const struct scalar *values; /* weakest first, all different */
    size_t count;                /* up to BOUND_STEPS */
    struct sort_order order;
};

/* Chooses steps among the best values of row groups, which are given weakest first. */
kith_error *bound_steps_choose(struct arena *arena, struct sort_order order, const struct scalar *const *best,
                               size_t count, struct bound_steps *out) _must_check_;

/* How many steps a bound passes whose first value this is. */
size_t bound_steps_passed(const struct bound_steps *steps, const struct scalar *value);

#endif
