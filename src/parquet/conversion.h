/*
 * From Parquet's physical types to the memory of Arrow's: mostly a copy, else a change of width, big-endian decimals,
 * and Impala's and Spark's 96-bit timestamps.
 */
#ifndef KITH_PARQUET_CONVERSION_H
#define KITH_PARQUET_CONVERSION_H

#include "base/strbuf.h"
#include "parquet/metadata.h"

enum conversion_kind {
    CONVERT_NOTHING, /* no values in memory: the NULL type */
    CONVERT_COPY,
    CONVERT_BITS,
    CONVERT_STRINGS,
    CONVERT_INT32_TO_8,
    CONVERT_INT32_TO_16,
    CONVERT_INT32_TO_64,
    CONVERT_INT32_TO_128,
    CONVERT_INT64_TO_128,
    CONVERT_INT96,
    CONVERT_DECIMAL_TO_64, /* big-endian two's complement of any length */
    CONVERT_DECIMAL_TO_128
};

struct conversion {
    enum conversion_kind kind;
    size_t in_width;  /* bytes of a physical value; 0 for booleans and byte arrays */
    size_t out_width; /* of an Arrow value; 0 for booleans, strings and NULLs */
};

/* NOT_IMPLEMENTED when the column's physical type does not become its Arrow type. */
kith_error *conversion_choose(const struct parquet_column *column, struct conversion *out) _must_check_;

/* `count` physical values of in_width; not for BITS and STRINGS. OUT_OF_RANGE when a decimal does not fit. */
kith_error *convert_fixed(const struct conversion *conversion, const uint8_t *in, size_t count,
                          uint8_t *out) _must_check_;

/* Byte arrays to values of out_width: decimals of any length, or (COPY) arrays that must be just in_width long. */
kith_error *convert_slices(const struct conversion *conversion, const struct str *in, size_t count,
                           uint8_t *out) _must_check_;

#endif
