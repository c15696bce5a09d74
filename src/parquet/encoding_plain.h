/*
 * PLAIN: values of a fixed width back to back, booleans as bits from the least significant one up, byte arrays each
 * behind a length of four bytes. Decoders borrow their bytes.
 */
#ifndef KITH_PARQUET_ENCODING_PLAIN_H
#define KITH_PARQUET_ENCODING_PLAIN_H

#include "base/strbuf.h"

#include <stdint.h>

struct plain_decoder {
    const uint8_t *at, *end;
};

static inline void plain_init(struct plain_decoder *decoder, const uint8_t *bytes, size_t length)
{
    *decoder = (struct plain_decoder){bytes, bytes + length};
}

/* Fixed width (above 0): *out points at the values in place. */
kith_error *plain_read_fixed(struct plain_decoder *decoder, size_t width, size_t count,
                             const uint8_t **out) _must_check_;

/* Byte arrays: the slices point into the decoder's bytes. */
kith_error *plain_read_slices(struct plain_decoder *decoder, size_t count, struct str *out) _must_check_;
kith_error *plain_skip_slices(struct plain_decoder *decoder, size_t count) _must_check_;

struct plain_bits {
    const uint8_t *bytes;
    size_t bit, bits; /* position and end */
};

static inline void plain_bits_init(struct plain_bits *decoder, const uint8_t *bytes, size_t length)
{
    *decoder = (struct plain_bits){.bytes = bytes, .bits = length * 8};
}

/* Copies `count` bits to bit `offset` of `out`, or with NULL passes over them. */
kith_error *plain_read_bits(struct plain_bits *decoder, size_t count, uint8_t *out, size_t offset) _must_check_;

#endif
