/*
 * BYTE_STREAM_SPLIT: the first bytes of all values, then all second bytes, and so on. Values of any fixed width. The
 * decoder borrows its bytes; reading from any position is as cheap as from the next.
 */
#ifndef KITH_PARQUET_ENCODING_BYTE_STREAM_SPLIT_H
#define KITH_PARQUET_ENCODING_BYTE_STREAM_SPLIT_H

#include "base/error.h"

#include <stdint.h>

struct byte_stream_split_decoder {
    const uint8_t *bytes;
    size_t width;
    size_t position, count; /* values */
};

/* CORRUPT when the bytes are not a whole number of values. */
kith_error *byte_stream_split_init(struct byte_stream_split_decoder *decoder, const uint8_t *bytes, size_t length,
                                   size_t width) _must_check_;

/* `out` may be NULL to pass over the values. */
kith_error *byte_stream_split_read(struct byte_stream_split_decoder *decoder, size_t count, void *out) _must_check_;

#endif
