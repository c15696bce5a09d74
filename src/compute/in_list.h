/*
 * IN over a list of constants: a hash set of the list, made once. SQL's NULL: a NULL value gives NULL; a value that is
 * not found gives NULL when the list has a NULL in it; an empty list gives false. Equality is compare.h's (NaN equals
 * NaN, -0.0 equals 0.0).
 */
#ifndef KITH_COMPUTE_IN_LIST_H
#define KITH_COMPUTE_IN_LIST_H

#include "columnar/scalar.h"
#include "compute/kernel.h"

/* Immutable; may be used by any number of threads. */
struct in_set;

/* `values` can be compared with a column of `type` (compare_check); their strings are copied. */
kith_error *in_set_new(const struct data_type *type, const struct scalar *values, size_t count,
                       struct in_set **out) _must_check_;
void in_set_free(struct in_set *set);
DEFINE_CLEANUP(in_set_free, struct in_set)

kith_error *in_set_run(const struct in_set *set, const struct datum *operand, bool negated, size_t rows,
                       const struct selection *selection, struct array **out) _must_check_;

#endif
