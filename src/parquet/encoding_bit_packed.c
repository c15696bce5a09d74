#include "parquet/encoding_bit_packed.h"

void bit_packed_init(struct bit_packed_decoder *decoder, const uint8_t *bytes, size_t length, unsigned width)
{
    ASSERT(width >= 1 && width <= 16);
    *decoder = (struct bit_packed_decoder){.bytes = bytes, .bits = length * 8, .width = width};
}

kith_error *bit_packed_skip(struct bit_packed_decoder *decoder, size_t count)
{
    if ((decoder->bits - decoder->bit) / decoder->width < count)
        return error_new(KITH_ERROR_CORRUPT, "bit-packed levels end early");
    decoder->bit += count * decoder->width;
    return NULL;
}

kith_error *bit_packed_read(struct bit_packed_decoder *decoder, size_t count, uint32_t *out)
{
    size_t bit = decoder->bit;
    TRY(bit_packed_skip(decoder, count));
    for (size_t i = 0; i < count; i++) {
        uint32_t value = 0;
        for (unsigned k = 0; k < decoder->width; k++, bit++)
            value = value << 1 | (decoder->bytes[bit / 8] >> (7 - bit % 8) & 1);
        out[i] = value;
    }
    return NULL;
}
