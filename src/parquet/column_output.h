/*
 * An array of a column being filled, a few rows at a time. For each lot of rows the values that are there are put
 * behind those of the rows before, without gaps, and column_output_end_rows moves them apart to make room for the NULLs
 * between them. Strings are kept as dictionary indices for as long as all of them come from the dictionary, when that
 * was asked for.
 *
 * Strings may be of any length: they are charged to the fiber's turn by their bytes.
 */
#ifndef KITH_PARQUET_COLUMN_OUTPUT_H
#define KITH_PARQUET_COLUMN_OUTPUT_H

#include "columnar/array.h"
#include "parquet/conversion.h"

/* Zero-initialised can be reset. */
struct column_output {
    struct data_type type;
    enum conversion_kind kind;
    size_t width; /* bytes of a value */
    size_t capacity, rows, null_count;
    size_t placed;           /* strings appended since the last end_rows */
    struct buffer *validity; /* made for the first NULL */
    struct buffer *values;   /* fixed width, bits, dictionary indices */
    struct buffer *offsets;  /* of strings that are not indices */
    struct array *dictionary;
    uint8_t *data; /* of strings; more than data_capacity is allocated, so that copies may overrun */
    size_t data_length, data_capacity;
    size_t uncharged; /* bytes of strings and of their offsets, for coop_charge_bytes */
};

/* Room for `capacity` rows. `data_hint` is the expected length of all strings. */
kith_error *column_output_init(struct column_output *output, const struct data_type *type,
                               const struct conversion *conversion, size_t capacity, size_t data_hint) _must_check_;
void column_output_reset(struct column_output *output);
DEFINE_VALUE_CLEANUP(column_output_reset, struct column_output)

/* Where the values of fixed width after those of output->rows go. */
static inline uint8_t *column_output_place(struct column_output *output)
{
    return output->values->data + output->rows * output->width;
}

/* Strings after those of output->rows; further calls before end_rows append. The 32 bytes past the end of each slice
 * may be read. CORRUPT when one is not UTF-8 and the type says so, LIMIT above STRING_BATCH_BYTES in all. */
kith_error *column_output_append_slices(struct column_output *output, const struct str *slices,
                                        size_t count) _must_check_;

/* Strings of `dictionary`, whose indices were checked: stored as indices if `as_indices` and nothing but indices came
 * before. */
kith_error *column_output_append_indices(struct column_output *output, struct array *dictionary,
                                         const uint32_t *indices, size_t count, bool as_indices) _must_check_;

/* Ends a lot of `count` rows of which `present` were given values: those set in `bits`, NULL if all were. */
kith_error *column_output_end_rows(struct column_output *output, const uint8_t *bits, size_t count,
                                   size_t present) _must_check_;

/* Gives the array and leaves the output empty. */
kith_error *column_output_finish(struct column_output *output, struct array **out) _must_check_;

#endif
