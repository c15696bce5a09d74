/*
 * BIT_PACKED, the deprecated encoding of levels: values of a fixed width packed from the most significant bit of each
 * byte down, without runs or a length. Only levels use it, so values fit a byte.
 */
#ifndef KITH_PARQUET_ENCODING_BIT_PACKED_H
#define KITH_PARQUET_ENCODING_BIT_PACKED_H

#include "base/error.h"

#include <stdint.h>

struct bit_packed_decoder {
    const uint8_t *bytes;
    size_t bit, bits; /* position and end */
    unsigned width;   /* 1..16 */
};

static inline size_t bit_packed_bytes(size_t count, unsigned width)
{
    return (count * width + 7) / 8;
}

/* `length` bytes are borrowed. */
void bit_packed_init(struct bit_packed_decoder *decoder, const uint8_t *bytes, size_t length, unsigned width);
kith_error *bit_packed_read(struct bit_packed_decoder *decoder, size_t count, uint32_t *out) _must_check_;
kith_error *bit_packed_skip(struct bit_packed_decoder *decoder, size_t count) _must_check_;

#endif
