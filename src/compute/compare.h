/*
 * Comparisons. Operands have equal types, except that text compares with text and bytes with bytes of any layout, and
 * decimals of equal scale compare whatever their width and precision. Nested types and intervals of several fields are
 * refused by compare_check.
 *
 * Order is that of sort keys (columnar/sort_key.h) and of PostgreSQL: NaN equals NaN and is larger than every other
 * number, -0.0 equals 0.0, text is compared bytewise, false is less than true. Arrow's own kernels (and so DataFusion)
 * place -0.0 before 0.0 instead.
 */
#ifndef KITH_COMPUTE_COMPARE_H
#define KITH_COMPUTE_COMPARE_H

#include "compute/kernel.h"

enum compare_operator {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE,
    COMPARE_DISTINCT,    /* IS DISTINCT FROM: never NULL */
    COMPARE_NOT_DISTINCT /* IS NOT DISTINCT FROM */
};

/* TYPE_MISMATCH or NOT_IMPLEMENTED with both types' names unless the two can be compared. */
kith_error *compare_check(const struct data_type *left, const struct data_type *right) _must_check_;

/* A boolean for each row. */
kith_error *compare_run(enum compare_operator operation, const struct datum *left, const struct datum *right,
                        size_t rows, const struct selection *selection, struct array **out) _must_check_;

/* The selected rows for which the comparison is true, without making the booleans. */
kith_error *compare_select(enum compare_operator operation, const struct datum *left, const struct datum *right,
                           size_t rows, const struct selection *selection, struct selection **out) _must_check_;

#endif
