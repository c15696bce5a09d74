/*
 * A column of text or bytes being made row by row: any layout, memory grows by doubling, rows that are skipped become
 * empty strings. Belongs to one kernel call.
 */
#ifndef KITH_COMPUTE_TEXT_OUTPUT_H
#define KITH_COMPUTE_TEXT_OUTPUT_H

#include "compute/kernel.h"

struct text_output {
    struct array *array; /* owned until finished */
    struct strbuf bytes;
    size_t next_row;
};

/* `type` is text or bytes of any layout but fixed size. */
kith_error *text_output_begin(struct text_output *output, const struct data_type *type, size_t rows) _must_check_;
void text_output_reset(struct text_output *output);
DEFINE_VALUE_CLEANUP(text_output_reset, struct text_output)

/* Rows are set in ascending order. */
kith_error *text_output_set(struct text_output *output, size_t row, struct str value) _must_check_;
kith_error *text_output_set_null(struct text_output *output, size_t row) _must_check_;

/* For values made in pieces: append to `output->bytes`, then end the row. What was appended belongs to the row. */
kith_error *text_output_end_row(struct text_output *output, size_t row) _must_check_;

kith_error *text_output_finish(struct text_output *output, struct array **out) _must_check_;

#endif
