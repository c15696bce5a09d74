#include "parquet/encoding_byte_stream_split.h"

kith_error *byte_stream_split_init(struct byte_stream_split_decoder *decoder, const uint8_t *bytes, size_t length,
                                   size_t width)
{
    if (length % width != 0)
        return error_new(KITH_ERROR_CORRUPT, "%zu bytes of byte-stream-split values of %zu bytes each", length, width);
    *decoder = (struct byte_stream_split_decoder){.bytes = bytes, .width = width, .count = length / width};
    return NULL;
}

static inline __attribute__((always_inline)) void merge_streams(const uint8_t *restrict first, size_t stride,
                                                                size_t width, size_t count, uint8_t *restrict out)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < width; k++)
            out[i * width + k] = first[k * stride + i];
}

kith_error *byte_stream_split_read(struct byte_stream_split_decoder *decoder, size_t count, void *out)
{
    size_t left = decoder->count - decoder->position;
    if (left < count)
        return error_new(KITH_ERROR_CORRUPT, "byte-stream-split values end early: %zu of %zu are there", left, count);
    const uint8_t *first = decoder->bytes + decoder->position;
    decoder->position += count;
    if (out == NULL)
        return NULL;
    switch (decoder->width) { /* constant widths let the compiler interleave whole vectors */
    case 2:
        merge_streams(first, decoder->count, 2, count, out);
        break;
    case 4:
        merge_streams(first, decoder->count, 4, count, out);
        break;
    case 8:
        merge_streams(first, decoder->count, 8, count, out);
        break;
    default:
        merge_streams(first, decoder->count, decoder->width, count, out);
        break;
    }
    return NULL;
}
