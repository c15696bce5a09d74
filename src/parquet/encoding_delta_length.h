/*
 * DELTA_LENGTH_BYTE_ARRAY: the lengths of all byte arrays, delta-encoded, then their bytes back to back. The decoder
 * borrows its bytes, and the slices it gives point into them.
 */
#ifndef KITH_PARQUET_ENCODING_DELTA_LENGTH_H
#define KITH_PARQUET_ENCODING_DELTA_LENGTH_H

#include "base/strbuf.h"
#include "parquet/encoding_delta.h"

struct delta_length_decoder {
    struct delta_decoder lengths;
    const uint8_t *at, *end; /* the next array's bytes */
};

kith_error *delta_length_init(struct delta_length_decoder *decoder, const uint8_t *bytes, size_t length) _must_check_;

/* `out` may be NULL to pass over the values. */
kith_error *delta_length_read(struct delta_length_decoder *decoder, size_t count, struct str *out) _must_check_;

#endif
