#include "columnar/frames.h"

#include "runtime/coop.h"
#include "runtime/io.h"

#include <zstd_errors.h>

static const char *const not_exact = "cut short, or longer than declared";

/* A call of ZSTD_decompressDCtx. */
struct whole_zstd {
    ZSTD_DCtx *context;
    const uint8_t *in;
    size_t in_size;
    uint8_t *out;
    size_t out_size;
    struct frames_result *result;
};

static kith_error *decompress_whole_zstd(void *argument)
{
    const struct whole_zstd *whole = argument;
    size_t size = ZSTD_decompressDCtx(whole->context, whole->out, whole->out_size, whole->in, whole->in_size);
    whole->result->problem = ZSTD_isError(size) ? ZSTD_getErrorName(size) : NULL;
    whole->result->size = ZSTD_isError(size) ? 0 : size;
    return NULL;
}

/* *too_large when a frame asks for a window that would have to be allocated. */
static kith_error *decompress_zstd_in_chunks(const struct whole_zstd *whole, bool *too_large)
{
    ZSTD_inBuffer in = {whole->in, 0, 0};
    size_t made = 0, expected, before;
    ZSTD_DCtx_reset(whole->context, ZSTD_reset_session_only);
    do {
        ZSTD_outBuffer out = {whole->out + made, MIN(whole->out_size - made, (size_t)COOP_CHUNK_BYTES), 0};
        before = in.pos;
        in.size = MIN(whole->in_size, in.pos + COOP_CHUNK_BYTES);
        expected = ZSTD_decompressStream(whole->context, &out, &in);
        *too_large = ZSTD_getErrorCode(expected) == ZSTD_error_frameParameter_windowTooLarge;
        if (ZSTD_isError(expected)) {
            whole->result->problem = ZSTD_getErrorName(expected);
            return NULL;
        }
        made += out.pos;
        if (out.pos == 0 && in.pos == before)
            break;
        TRY(coop_charge(1));
    } while (expected > 0 || in.pos < whole->in_size);
    *whole->result = (struct frames_result){made, expected == 0 && in.pos == whole->in_size ? NULL : not_exact};
    return NULL;
}

kith_error *zstd_frames_decompress(ZSTD_DCtx *context, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                                   struct frames_result *result)
{
    struct whole_zstd whole = {context, in, in_size, out, out_size, result};
    bool too_large = false;
    *result = (struct frames_result){0};
    if (out_size <= FRAME_WHOLE_BYTES)
        return decompress_whole_zstd(&whole);
    TRY(decompress_zstd_in_chunks(&whole, &too_large));
    return too_large ? offload(decompress_whole_zstd, &whole) : NULL;
}

kith_error *lz4_frame_decompress(LZ4F_dctx *context, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                                 struct frames_result *result)
{
    /* The output is one piece, so the decoder may look back in it instead of keeping a copy. */
    const LZ4F_decompressOptions_t options = {.stableDst = 1};
    size_t chunk = out_size <= FRAME_WHOLE_BYTES ? SIZE_MAX : COOP_CHUNK_BYTES;
    size_t taken = 0, made = 0, uncharged = 0, expected, step_in, step_out;
    *result = (struct frames_result){0};
    LZ4F_resetDecompressionContext(context);
    do {
        step_in = MIN(in_size - taken, chunk);
        step_out = MIN(out_size - made, chunk);
        expected = LZ4F_decompress(context, out + made, &step_out, in + taken, &step_in, &options);
        if (LZ4F_isError(expected)) {
            result->problem = LZ4F_getErrorName(expected);
            return NULL;
        }
        taken += step_in;
        made += step_out;
        TRY(coop_charge_bytes(&uncharged, MAX(step_in, step_out)));
    } while (expected != 0 && (step_in > 0 || step_out > 0));
    *result = (struct frames_result){made, expected == 0 && taken == in_size ? NULL : not_exact};
    return NULL;
}

static kith_error *zstd_failed(size_t code)
{
    return error_new(KITH_ERROR_INTERNAL, "zstd compression: %s", ZSTD_getErrorName(code));
}

static kith_error *compress_zstd_in_chunks(ZSTD_CCtx *context, const uint8_t *in, size_t in_size, ZSTD_outBuffer *out)
{
    size_t left, done = 0;
    do {
        size_t taken = MIN(in_size - done, (size_t)COOP_CHUNK_BYTES);
        ZSTD_inBuffer chunk = {in + done, taken, 0};
        done += taken;
        left = ZSTD_compressStream2(context, out, &chunk, done == in_size ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return zstd_failed(left);
        if (chunk.pos < chunk.size)
            return error_new(KITH_ERROR_INTERNAL, "zstd compression: no room for what does not compress");
        TRY(coop_charge(1));
    } while (done < in_size);
    return left == 0 ? NULL : error_new(KITH_ERROR_INTERNAL, "zstd compression: no room for a frame's end");
}

kith_error *zstd_frame_compress(ZSTD_CCtx *context, int level, const uint8_t *in, size_t in_size, uint8_t *out,
                                size_t *out_size)
{
    size_t room = ZSTD_compressBound(in_size);
    if (in_size <= FRAME_WHOLE_BYTES) {
        *out_size = ZSTD_compressCCtx(context, out, room, in, in_size, level);
        return ZSTD_isError(*out_size) ? zstd_failed(*out_size) : NULL;
    }
    ZSTD_outBuffer to = {out, room, 0};
    size_t status = ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    if (!ZSTD_isError(status))
        status = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    if (!ZSTD_isError(status))
        status = ZSTD_CCtx_setPledgedSrcSize(context, in_size);
    if (ZSTD_isError(status))
        return zstd_failed(status);
    TRY(compress_zstd_in_chunks(context, in, in_size, &to));
    *out_size = to.pos;
    return NULL;
}

/* Blocks that are compressed as soon as they are there; otherwise as the call for whole frames has it. */
static LZ4F_preferences_t lz4_preferences(size_t content)
{
    return (LZ4F_preferences_t){.frameInfo = {.contentSize = content}, .autoFlush = 1};
}

static kith_error *lz4_failed(size_t code)
{
    return error_new(KITH_ERROR_INTERNAL, "LZ4 compression: %s", LZ4F_getErrorName(code));
}

static kith_error *compress_lz4_in_chunks(LZ4F_cctx *context, const uint8_t *in, size_t in_size, uint8_t *out,
                                          size_t *out_size)
{
    const LZ4F_compressOptions_t options = {.stableSrc = 1};
    const LZ4F_preferences_t preferences = lz4_preferences(in_size);
    size_t room = lz4_frame_bound(in_size);
    size_t made = LZ4F_compressBegin(context, out, room, &preferences);
    if (LZ4F_isError(made))
        return lz4_failed(made);
    for (size_t done = 0, taken; done < in_size; done += taken) {
        taken = MIN(in_size - done, (size_t)COOP_CHUNK_BYTES);
        size_t step = LZ4F_compressUpdate(context, out + made, room - made, in + done, taken, &options);
        if (LZ4F_isError(step))
            return lz4_failed(step);
        made += step;
        TRY(coop_charge(1));
    }
    size_t end = LZ4F_compressEnd(context, out + made, room - made, NULL);
    if (LZ4F_isError(end))
        return lz4_failed(end);
    *out_size = made + end;
    return NULL;
}

kith_error *lz4_frame_compress(const uint8_t *in, size_t in_size, uint8_t *out, size_t *out_size)
{
    if (in_size <= FRAME_WHOLE_BYTES) {
        *out_size = LZ4F_compressFrame(out, LZ4F_compressFrameBound(in_size, NULL), in, in_size, NULL);
        return LZ4F_isError(*out_size) ? lz4_failed(*out_size) : NULL;
    }
    LZ4F_cctx *context;
    if (LZ4F_isError(LZ4F_createCompressionContext(&context, LZ4F_VERSION)))
        return error_out_of_memory();
    kith_error *error = compress_lz4_in_chunks(context, in, in_size, out, out_size);
    LZ4F_freeCompressionContext(context);
    return error;
}

/* Each call for a chunk wants to see room for all of the chunk, whatever the ones before left. */
size_t lz4_frame_bound(size_t in_size)
{
    if (in_size <= FRAME_WHOLE_BYTES)
        return LZ4F_compressFrameBound(in_size, NULL);
    const LZ4F_preferences_t preferences = lz4_preferences(in_size);
    return LZ4F_compressFrameBound(in_size, &preferences) + LZ4F_compressBound(COOP_CHUNK_BYTES, &preferences);
}
