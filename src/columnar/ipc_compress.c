#include "columnar/ipc_compress.h"

#include "base/alloc.h"
#include "columnar/frames.h"
#include "runtime/coop.h"

#include <string.h>

/* Buffers smaller than this are sent as they are: they share a packet either way, and setting up a decoder for them
 * costs more than copying them. */
enum { LEAST_WORTHWHILE_BYTES = 1024 };

/* Level 1 keeps up with a fast network; more costs several times the time for a few percent. */
enum { ZSTD_LEVEL = 1 };

struct ipc_compressor {
    enum ipc_compression compression;
    ZSTD_CCtx *zstd; /* NULL before the first buffer for it */
};

kith_error *ipc_compressor_new(enum ipc_compression compression, struct ipc_compressor **out)
{
    _cleanup_(ipc_compressor_free) struct ipc_compressor *compressor = NULL;
    TRY(NEW(&compressor));
    compressor->compression = compression;
    *out = TAKE(compressor);
    return NULL;
}

void ipc_compressor_free(struct ipc_compressor *compressor)
{
    if (compressor == NULL)
        return;
    ZSTD_freeCCtx(compressor->zstd);
    free(compressor);
}

size_t ipc_compress_bound(const struct ipc_compressor *compressor, size_t size)
{
    size_t frame = compressor->compression == IPC_ZSTD ? ZSTD_compressBound(size) : lz4_frame_bound(size);
    return IPC_COMPRESS_PREFIX_BYTES + MAX(frame, size);
}

/* *out_size is 0 when the frame would not be smaller than the data. */
static kith_error *compress_frame(struct ipc_compressor *compressor, const uint8_t *data, size_t size, uint8_t *out,
                                  size_t *out_size)
{
    *out_size = 0;
    if (size < LEAST_WORTHWHILE_BYTES)
        return NULL;
    size_t length;
    if (compressor->compression == IPC_ZSTD) {
        if (compressor->zstd == NULL && (compressor->zstd = ZSTD_createCCtx()) == NULL)
            return error_out_of_memory();
        TRY(zstd_frame_compress(compressor->zstd, ZSTD_LEVEL, data, size, out, &length));
    } else {
        TRY(lz4_frame_compress(data, size, out, &length));
    }
    if (length < size)
        *out_size = length;
    return NULL;
}

kith_error *ipc_compress(struct ipc_compressor *compressor, const uint8_t *data, size_t size, uint8_t *out,
                         size_t *out_size)
{
    uint8_t *frame = out + IPC_COMPRESS_PREFIX_BYTES;
    size_t length;
    TRY(compress_frame(compressor, data, size, frame, &length));
    int64_t prefix = (int64_t)size;
    if (length == 0) {
        prefix = IPC_NOT_COMPRESSED;
        TRY(coop_copy(frame, data, size));
        length = size;
    }
    memcpy(out, &prefix, sizeof prefix);
    *out_size = IPC_COMPRESS_PREFIX_BYTES + length;
    return NULL;
}

/* Either context is NULL before the first buffer for it: they are large, and most streams need one or none. */
struct ipc_decompressor {
    LZ4F_dctx *lz4;
    ZSTD_DCtx *zstd;
};

kith_error *ipc_decompressor_new(struct ipc_decompressor **out)
{
    return NEW(out);
}

void ipc_decompressor_free(struct ipc_decompressor *decompressor)
{
    if (decompressor == NULL)
        return;
    ZSTD_freeDCtx(decompressor->zstd);
    LZ4F_freeDecompressionContext(decompressor->lz4);
    free(decompressor);
}

static kith_error *wrong_size(const char *codec, size_t size)
{
    return error_new(KITH_ERROR_CORRUPT, "%s frame does not expand to the %zu bytes that its prefix declares", codec,
                     size);
}

static kith_error *decompress_lz4(struct ipc_decompressor *decompressor, const uint8_t *frame, size_t length,
                                  uint8_t *out, size_t size)
{
    struct frames_result result;
    if (decompressor->lz4 == NULL && LZ4F_isError(LZ4F_createDecompressionContext(&decompressor->lz4, LZ4F_VERSION)))
        return error_out_of_memory();
    TRY(lz4_frame_decompress(decompressor->lz4, frame, length, out, size, &result));
    if (result.problem != NULL)
        return error_new(KITH_ERROR_CORRUPT, "LZ4 frame: %s", result.problem);
    return result.size == size ? NULL : wrong_size("LZ4", size);
}

static kith_error *decompress_zstd(struct ipc_decompressor *decompressor, const uint8_t *frame, size_t length,
                                   uint8_t *out, size_t size)
{
    struct frames_result result;
    if (decompressor->zstd == NULL && (decompressor->zstd = ZSTD_createDCtx()) == NULL)
        return error_out_of_memory();
    TRY(zstd_frames_decompress(decompressor->zstd, frame, length, out, size, &result));
    if (result.problem != NULL)
        return error_new(KITH_ERROR_CORRUPT, "zstd frame: %s", result.problem);
    return result.size == size ? NULL : wrong_size("zstd", size);
}

/* Refuses sizes that the frame cannot have, before memory is allocated for them. */
static kith_error *check_plausible(enum ipc_compression compression, const uint8_t *frame, size_t length, size_t size)
{
    /* A sequence's length grows by at most 255 a byte (LZ4 block format). */
    enum { LZ4_BEST_RATIO = 255 };
    if (compression == IPC_LZ4_FRAME)
        return size / LZ4_BEST_RATIO > length ? wrong_size("LZ4", size) : NULL;
    unsigned long long declared = ZSTD_getFrameContentSize(frame, length);
    if (declared != ZSTD_CONTENTSIZE_UNKNOWN && declared != size)
        return wrong_size("zstd", size);
    return NULL;
}

kith_error *ipc_decompress(struct ipc_decompressor *decompressor, enum ipc_compression compression,
                           const uint8_t *frame, size_t length, size_t size, struct buffer **out)
{
    TRY(check_plausible(compression, frame, length, size));
    _cleanup_(buffer_unref) struct buffer *buffer = NULL;
    TRY(buffer_new(size, &buffer));
    TRY(compression == IPC_LZ4_FRAME ? decompress_lz4(decompressor, frame, length, buffer->data, size)
                                     : decompress_zstd(decompressor, frame, length, buffer->data, size));
    *out = TAKE(buffer);
    return NULL;
}
