/*
 * Evaluation of expressions over batches. An evaluator holds the scratch memory and cached state (compiled patterns,
 * hash sets of IN lists) of one expression for one fiber.
 *
 * Only the batch's selected rows count: an error (division by zero, overflow, a cast that fails) is raised only for a
 * selected row, and results at other rows are unspecified.
 */
#ifndef KITH_EXPR_EVAL_H
#define KITH_EXPR_EVAL_H

#include "columnar/batch.h"
#include "expr/expr.h"

struct evaluator;

/* `expr` must outlive the evaluator. */
kith_error *evaluator_new(const struct expr *expr, struct evaluator **out) _must_check_;
void evaluator_free(struct evaluator *evaluator);
DEFINE_CLEANUP(evaluator_free, struct evaluator)

/* An array of batch->rows values (not compacted), never dictionary-encoded unless it is a plain column that is. */
kith_error *evaluator_run(struct evaluator *evaluator, struct batch *batch, struct array **out) _must_check_;

/* Narrows the batch to the selected rows for which the boolean expression is true: *out is the batch itself (a
 * reference) when all are, and has an empty selection when none is. Conjuncts are evaluated in order, each on the rows
 * left. */
kith_error *evaluator_filter(struct evaluator *evaluator, struct batch *batch, struct batch **out) _must_check_;

/* One row, no columns: the value of a constant expression. Strings live in `arena`. */
kith_error *expr_evaluate_constant(const struct expr *expr, struct arena *arena, struct scalar *out) _must_check_;

#endif
