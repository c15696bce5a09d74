/*
 * Selections: made from booleans, narrowed, and taken apart. A selection of all rows is represented by NULL on input,
 * never on output.
 */
#ifndef KITH_COMPUTE_FILTER_H
#define KITH_COMPUTE_FILTER_H

#include "compute/kernel.h"

/* Which of the three values of a boolean a row must have. */
enum truth_test { TRUTH_IS_TRUE, TRUTH_IS_NOT_TRUE, TRUTH_IS_NOT_FALSE };

/* The selected rows for which the boolean datum passes the test, in order. */
kith_error *selection_narrow(const struct datum *booleans, enum truth_test test, size_t rows,
                             const struct selection *selection, struct selection **out) _must_check_;

/* Rows whose bit is set, of all rows or of those of `selection`. */
kith_error *selection_from_bits(const uint8_t *bits, size_t rows, const struct selection *selection,
                                struct selection **out) _must_check_;

/* The rows of `selection` (all when NULL) that are not in `other`, which is part of it. */
kith_error *selection_subtract(const struct selection *selection, size_t rows, const struct selection *other,
                               struct selection **out) _must_check_;

/* The rows of both of two selections without a row in common. */
kith_error *selection_unite(const struct selection *a, const struct selection *b, struct selection **out) _must_check_;

/* All rows. */
kith_error *selection_all(size_t rows, struct selection **out) _must_check_;

#endif
