#include "parquet/codec_lz4.h"

#include <limits.h>
#include <lz4.h>
#include <lz4frame.h>

/* One LZ4 block of at most `out_size` bytes. */
static bool decompress_block(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size, size_t *written)
{
    if (in_size > INT_MAX || out_size > INT_MAX)
        return false;
    int length = LZ4_decompress_safe((const char *)in, (char *)out, (int)in_size, (int)out_size);
    *written = length < 0 ? 0 : (size_t)length;
    return length >= 0;
}

kith_error *lz4_decompress_raw(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    size_t written;
    if (decompress_block(in, in_size, out, out_size, &written) && written == out_size)
        return NULL;
    return error_new(KITH_ERROR_CORRUPT,
                     "lz4 data is malformed or does not hold the %zu bytes that the page header declares", out_size);
}

static uint32_t load_big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Hadoop's block stream: the size of a block when decompressed, then its parts, each behind its compressed size, until
 * that size is reached. Usually there is one part. */
static bool decompress_hadoop(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    size_t block_left = 0;
    while (in_size > 0) {
        if (block_left == 0) {
            if (in_size < 8)
                return false;
            block_left = load_big_endian(in);
            in += 4;
            in_size -= 4;
        }
        if (in_size < 4 || block_left > out_size)
            return false;
        size_t part_size = load_big_endian(in), written;
        if (part_size > in_size - 4 || !decompress_block(in + 4, part_size, out, block_left, &written))
            return false;
        in += 4 + part_size;
        in_size -= 4 + part_size;
        out += written;
        out_size -= written;
        block_left -= written;
    }
    return block_left == 0 && out_size == 0;
}

static bool decompress_frame(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    LZ4F_dctx *context;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        return false;
    size_t expected = 1;
    while (expected > 0 && in_size > 0) {
        size_t written = out_size, taken = in_size;
        expected = LZ4F_decompress(context, out, &written, in, &taken, NULL);
        if (LZ4F_isError(expected) || (written == 0 && taken == 0))
            break;
        in += taken;
        in_size -= taken;
        out += written;
        out_size -= written;
    }
    LZ4F_freeDecompressionContext(context);
    return expected == 0 && in_size == 0 && out_size == 0;
}

kith_error *lz4_decompress_any(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    static const uint8_t frame_magic[4] = {0x04, 0x22, 0x4d, 0x18};
    if (decompress_hadoop(in, in_size, out, out_size))
        return NULL;
    if (in_size >= 4 && __builtin_memcmp(in, frame_magic, 4) == 0 && decompress_frame(in, in_size, out, out_size))
        return NULL;
    return lz4_decompress_raw(in, in_size, out, out_size);
}
