/*
 * Three-valued logic over booleans: AND, OR, NOT (Kleene), IS NULL, IS NOT NULL. Whole bitmaps at a time; operands may
 * be constants.
 */
#ifndef KITH_COMPUTE_BOOLEAN_H
#define KITH_COMPUTE_BOOLEAN_H

#include "compute/kernel.h"

enum boolean_operator { BOOLEAN_AND, BOOLEAN_OR };

/* For AND and OR all rows are computed, so that an operand that was evaluated for fewer rows may be combined with one
 * that decides the others: false AND anything is false, true OR anything is true. */
kith_error *boolean_combine(enum boolean_operator operation, const struct datum *left, const struct datum *right,
                            size_t rows, struct array **out) _must_check_;
kith_error *boolean_not(const struct datum *operand, size_t rows, struct array **out) _must_check_;

/* Of an operand of any type, dictionary-encoded ones included; `negated` gives IS NOT NULL. */
kith_error *boolean_is_null(const struct datum *operand, bool negated, size_t rows, struct array **out) _must_check_;

#endif
