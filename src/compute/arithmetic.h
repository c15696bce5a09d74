/*
 * Arithmetic over two columns. What does not fit its result type is an error, never a silently wrapped value; the error
 * names the operands of the first such row. By type:
 *   integers    both of one type, which is the result's. Division truncates toward zero, the remainder has the sign of
 *               the dividend; a divisor of 0 is DIVISION_BY_ZERO (PostgreSQL; DataFusion wraps on overflow instead).
 *   floats      IEEE 754: x / 0 is infinite or NaN (DataFusion, DuckDB; PostgreSQL raises an error).
 *   decimals    result types by the rule of Arrow's Rust kernels, which DataFusion follows; see
 *               arithmetic_result_type. What the result's scale cannot hold is rounded half away from zero (PostgreSQL;
 *               DataFusion truncates quotients).
 *   dates       date + n, n + date, date - n (n any integer, in days); date - date = Int64 days; date +- interval is a
 *               date, of which the interval's nanoseconds count as whole days toward zero (DataFusion).
 *   timestamps  timestamp +- interval or duration; timestamp - timestamp = duration; both of one unit. Months move to
 *               the same day of month, or to the last one of a shorter month; calendar arithmetic is in UTC.
 *   durations   sum and difference, of one unit.
 */
#ifndef KITH_COMPUTE_ARITHMETIC_H
#define KITH_COMPUTE_ARITHMETIC_H

#include "compute/kernel.h"

enum arithmetic_operator {
    ARITHMETIC_ADD,
    ARITHMETIC_SUBTRACT,
    ARITHMETIC_MULTIPLY,
    ARITHMETIC_DIVIDE,
    ARITHMETIC_MODULO
};

/* "+", "-", "*", "/", "%". */
const char *arithmetic_operator_symbol(enum arithmetic_operator operation);

/* The type of the result, or TYPE_MISMATCH with both types' names. For decimals p1,s1 and p2,s2:
 *   + -  scale max(s1, s2), precision max(p1 - s1, p2 - s2) + scale + 1
 *   *    scale s1 + s2 (refused beyond 38), precision p1 + p2 + 1
 *   /    scale s1 + 4, precision p1 - s1 + s2 + scale
 *   %    scale max(s1, s2), precision min(p1 - s1, p2 - s2) + scale
 * each precision at most 38 and each scale of a quotient at most 38. */
kith_error *arithmetic_result_type(enum arithmetic_operator operation, const struct data_type *left,
                                   const struct data_type *right, struct data_type *out) _must_check_;

kith_error *arithmetic_run(enum arithmetic_operator operation, const struct datum *left, const struct datum *right,
                           size_t rows, const struct selection *selection, struct array **out) _must_check_;

/* -x of a number, duration or interval of months: the most negative integer is OUT_OF_RANGE. */
kith_error *arithmetic_negate(const struct datum *operand, size_t rows, const struct selection *selection,
                              struct array **out) _must_check_;
/* TYPE_MISMATCH for types that have no negative, unsigned integers among them. */
kith_error *arithmetic_negate_check(const struct data_type *type) _must_check_;

#endif
