#include "parquet/encoding_plain.h"

#include "columnar/bitmap.h"
#include "parquet/bit_unpack.h"

kith_error *plain_read_fixed(struct plain_decoder *decoder, size_t width, size_t count, const uint8_t **out)
{
    size_t left = (size_t)(decoder->end - decoder->at) / width;
    if (left < count)
        return error_new(KITH_ERROR_CORRUPT, "plain values end early: %zu of %zu are there", left, count);
    *out = decoder->at;
    decoder->at += count * width;
    return NULL;
}

static kith_error *slice_out_of_bounds(size_t left)
{
    if (left < 4)
        return error_new(KITH_ERROR_CORRUPT, "plain byte arrays end early");
    return error_new(KITH_ERROR_CORRUPT, "a byte array is longer than the %zu bytes that are left", left - 4);
}

kith_error *plain_read_slices(struct plain_decoder *decoder, size_t count, struct str *out)
{
    const uint8_t *at = decoder->at, *end = decoder->end;
    for (size_t i = 0; i < count; i++) {
        size_t left = (size_t)(end - at);
        if (_unlikely_(left < 4) || _unlikely_(left - 4 < load_u32(at)))
            return slice_out_of_bounds(left);
        out[i] = (struct str){(const char *)at + 4, load_u32(at)};
        at += 4 + out[i].length;
    }
    decoder->at = at;
    return NULL;
}

kith_error *plain_skip_slices(struct plain_decoder *decoder, size_t count)
{
    for (struct str passed; count > 0; count--)
        TRY(plain_read_slices(decoder, 1, &passed));
    return NULL;
}

kith_error *plain_read_bits(struct plain_bits *decoder, size_t count, uint8_t *out, size_t offset)
{
    size_t left = decoder->bits - decoder->bit;
    if (left < count)
        return error_new(KITH_ERROR_CORRUPT, "plain booleans end early: %zu of %zu are there", left, count);
    if (out != NULL)
        bitmap_copy(out, offset, decoder->bytes, decoder->bit, count);
    decoder->bit += count;
    return NULL;
}
