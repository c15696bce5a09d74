/*
 * The families of arithmetic.c, for it alone. Each fills result->values for the rows that count and raises the error of
 * the first row that has none; validity is set by the caller before, so that `result` tells which rows are NULL.
 */
#ifndef KITH_COMPUTE_ARITHMETIC_PARTS_H
#define KITH_COMPUTE_ARITHMETIC_PARTS_H

#include "compute/arithmetic.h"

struct arithmetic {
    enum arithmetic_operator operation;
    const struct datum *left, *right;
    size_t rows;
    const struct selection *selection;
    struct array *result;
};

kith_error *arithmetic_integer(const struct arithmetic *arithmetic) _must_check_;
kith_error *arithmetic_float(const struct arithmetic *arithmetic) _must_check_;
kith_error *arithmetic_decimal(const struct arithmetic *arithmetic) _must_check_;
/* Dates, timestamps, durations and intervals. */
kith_error *arithmetic_temporal(const struct arithmetic *arithmetic) _must_check_;

/* The errors of one row. */
kith_error *arithmetic_out_of_range(const struct arithmetic *arithmetic, size_t row) _must_check_ _never_null_;
kith_error *arithmetic_division_by_zero(const struct arithmetic *arithmetic, size_t row) _must_check_ _never_null_;

#endif
