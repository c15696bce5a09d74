/*
 * The sort expressions of one stream, ready to be evaluated: keys of a batch's rows, the bound that a row is, and the
 * rows that are better than a bound. Shared by Top-K, sort and merge. Belongs to one fiber.
 */
#ifndef KITH_EXEC_SORT_KEYS_EVAL_H
#define KITH_EXEC_SORT_KEYS_EVAL_H

#include "columnar/sort_key.h"
#include "expr/dynamic_filter.h"
#include "expr/eval.h"

struct sort_evaluators {
    const struct sort_expr *exprs; /* borrowed */
    size_t count;
    struct evaluator **evaluators;
    struct sort_order *orders;
};

kith_error *sort_evaluators_init(struct sort_evaluators *evaluators, const struct sort_expr *exprs,
                                 size_t count) _must_check_;
void sort_evaluators_reset(struct sort_evaluators *evaluators);
DEFINE_VALUE_CLEANUP(sort_evaluators_reset, struct sort_evaluators)

/* Keys of the selected rows. */
kith_error *sort_evaluators_encode(struct sort_evaluators *evaluators, struct batch *batch,
                                   struct sort_keys *keys) _must_check_;

/* The bound that row `row` (of the batch's columns) is. */
kith_error *sort_evaluators_bound(struct sort_evaluators *evaluators, struct batch *batch, size_t row,
                                  struct bound **out) _must_check_;

/* Narrows the batch to rows strictly better than the bound; `keys` is scratch. */
kith_error *sort_evaluators_filter(struct sort_evaluators *evaluators, const struct bound *bound, struct batch *batch,
                                   struct sort_keys *keys, struct batch **out) _must_check_;

#endif
