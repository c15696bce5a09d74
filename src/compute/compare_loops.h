/*
 * The inner loops of comparison, for compare.c alone: `count` elements to one byte each, 1 where the comparison holds.
 * NULLs are not looked at; the caller masks them.
 *
 * Rows are first .. first + count when `rows` is NULL, otherwise rows[0..count). `left` and `right` point at row 0; a
 * constant operand has step 0, the others step 1.
 */
#ifndef KITH_COMPUTE_COMPARE_LOOPS_H
#define KITH_COMPUTE_COMPARE_LOOPS_H

#include "compute/kernel.h"

/* What remains of an operation after swapping operands and inverting the result. */
enum compare_relation { RELATION_EQ, RELATION_LT, RELATION_LE };

struct compare_input {
    const void *data; /* fixed-width values, or a struct text_reader for text and bytes */
    size_t step;
};

typedef void compare_loop(enum compare_relation relation, const struct compare_input *left,
                          const struct compare_input *right, const uint32_t *rows, size_t first, size_t count,
                          uint8_t *out);

/* NULL for a physical type that has no loop. */
compare_loop *compare_loop_fixed(enum type_id physical);

compare_loop compare_loop_text;

#endif
