#include "parquet/codec_lz4.h"

#include "columnar/frames.h"

#include <lz4.h>

/* One LZ4 block of at most `out_size` bytes. */
static kith_error *decompress_block(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size, bool *valid,
                                    size_t *written)
{
    if (in_size > FRAME_WHOLE_BYTES || out_size > FRAME_WHOLE_BYTES)
        return lz4_decompress_block_in_chunks(in, in_size, out, out_size, valid, written);
    int length = LZ4_decompress_safe((const char *)in, (char *)out, (int)in_size, (int)out_size);
    *valid = length >= 0;
    *written = length < 0 ? 0 : (size_t)length;
    return NULL;
}

kith_error *lz4_decompress_raw(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    size_t written;
    bool valid;
    TRY(decompress_block(in, in_size, out, out_size, &valid, &written));
    if (valid && written == out_size)
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
static kith_error *decompress_hadoop(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size, bool *valid)
{
    size_t block_left = 0;
    *valid = false;
    while (in_size > 0) {
        if (block_left == 0) {
            if (in_size < 8)
                return NULL;
            block_left = load_big_endian(in);
            in += 4;
            in_size -= 4;
        }
        if (in_size < 4 || block_left > out_size)
            return NULL;
        size_t part_size = load_big_endian(in), written;
        bool part_valid;
        if (part_size > in_size - 4)
            return NULL;
        TRY(decompress_block(in + 4, part_size, out, block_left, &part_valid, &written));
        if (!part_valid)
            return NULL;
        in += 4 + part_size;
        in_size -= 4 + part_size;
        out += written;
        out_size -= written;
        block_left -= written;
    }
    *valid = block_left == 0 && out_size == 0;
    return NULL;
}

static kith_error *decompress_frame(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size, bool *valid)
{
    LZ4F_dctx *context;
    struct frames_result result;
    *valid = false;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        return error_out_of_memory();
    kith_error *error = lz4_frame_decompress(context, in, in_size, out, out_size, &result);
    LZ4F_freeDecompressionContext(context);
    *valid = error == NULL && result.problem == NULL && result.size == out_size;
    return error;
}

kith_error *lz4_decompress_any(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    static const uint8_t frame_magic[4] = {0x04, 0x22, 0x4d, 0x18};
    bool done;
    TRY(decompress_hadoop(in, in_size, out, out_size, &done));
    if (!done && in_size >= 4 && __builtin_memcmp(in, frame_magic, 4) == 0)
        TRY(decompress_frame(in, in_size, out, out_size, &done));
    return done ? NULL : lz4_decompress_raw(in, in_size, out, out_size);
}
