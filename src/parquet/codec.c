#define ZLIB_CONST
#include "parquet/codec.h"

#include "base/alloc.h"
#include "columnar/frames.h"
#include "parquet/codec_lz4.h"
#include "parquet/codec_snappy.h"
#include "runtime/coop.h"

#include <brotli/decode.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

void codec_context_reset(struct codec_context *context)
{
    ZSTD_freeDCtx(context->zstd_in);
    ZSTD_freeCCtx(context->zstd_out);
    if (context->inflate != NULL)
        inflateEnd(context->inflate);
    free(context->inflate);
    *context = (struct codec_context){0};
}

void codec_context_trim(struct codec_context *context, size_t bytes)
{
    if (ZSTD_sizeof_DCtx(context->zstd_in) > bytes)
        ZSTD_freeDCtx(TAKE(context->zstd_in));
    if (ZSTD_sizeof_CCtx(context->zstd_out) > bytes)
        ZSTD_freeCCtx(TAKE(context->zstd_out));
}

const char *codec_name(enum parquet_codec codec)
{
    static const char *const names[] = {"uncompressed", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4_raw"};
    return (size_t)codec < ARRAY_SIZE(names) ? names[codec] : "unknown";
}

static kith_error *malformed(enum parquet_codec codec, const char *why)
{
    return error_new(KITH_ERROR_CORRUPT, "%s data is malformed: %s", codec_name(codec), why);
}

static kith_error *wrong_size(enum parquet_codec codec, size_t given, size_t declared)
{
    return error_new(KITH_ERROR_CORRUPT, "%s data holds %zu bytes; the page header declares %zu", codec_name(codec),
                     given, declared);
}

/* As much of deflate or brotli as is one chunk: they take several times as long as the others. */
enum { SLOW_CHUNK_BYTES = 128 * 1024 };

/* The most that one byte can become: of deflate by RFC 1951 (258 bytes from 2 bits, rounded up), of snappy 64 bytes
 * from a copy of 3, of lz4 255 from each byte that extends a length, of zstd a block of 128 KiB from 4. */
enum { DEFLATE_RATIO = 1033, SNAPPY_RATIO = 22, LZ4_RATIO = 256, ZSTD_RATIO = 32768, RATIO_SLACK = 1024 };

static kith_error *zstd_most(const uint8_t *in, size_t in_size, unsigned long long *out)
{
    *out = 0;
    while (in_size > 0) {
        size_t frame = ZSTD_findFrameCompressedSize(in, in_size);
        if (ZSTD_isError(frame))
            return malformed(PARQUET_ZSTD, ZSTD_getErrorName(frame));
        unsigned long long content = ZSTD_getFrameContentSize(in, frame);
        if (content == ZSTD_CONTENTSIZE_ERROR)
            return malformed(PARQUET_ZSTD, "not a frame");
        unsigned long long possible = (unsigned long long)frame * ZSTD_RATIO;
        *out += MIN(content, possible); /* an unknown size is a huge number */
        in += frame;
        in_size -= frame;
    }
    return NULL;
}

kith_error *codec_check_size(enum parquet_codec codec, const uint8_t *in, size_t in_size, size_t out_size)
{
    unsigned long long most = out_size;
    switch (codec) {
    case PARQUET_UNCOMPRESSED:
        if (in_size != out_size)
            return wrong_size(codec, in_size, out_size);
        break;
    case PARQUET_SNAPPY:
        most = (unsigned long long)in_size * SNAPPY_RATIO + RATIO_SLACK;
        break;
    case PARQUET_GZIP:
        most = (unsigned long long)in_size * DEFLATE_RATIO + RATIO_SLACK;
        break;
    case PARQUET_LZ4:
    case PARQUET_LZ4_RAW:
        most = (unsigned long long)in_size * LZ4_RATIO + RATIO_SLACK;
        break;
    case PARQUET_ZSTD:
        TRY(zstd_most(in, in_size, &most));
        break;
    case PARQUET_BROTLI: /* without a bound: a match may be 16 MiB long */
    case PARQUET_LZO:
    default:
        break;
    }
    if (out_size > most)
        return error_new(KITH_ERROR_CORRUPT,
                         "%zu bytes of %s data cannot hold the %zu bytes that the page header "
                         "declares",
                         in_size, codec_name(codec), out_size);
    return NULL;
}

static kith_error *zstd_decompress(struct codec_context *context, const uint8_t *in, size_t in_size, uint8_t *out,
                                   size_t out_size)
{
    struct frames_result result;
    if (context->zstd_in == NULL && (context->zstd_in = ZSTD_createDCtx()) == NULL)
        return error_out_of_memory();
    TRY(zstd_frames_decompress(context->zstd_in, in, in_size, out, out_size, &result));
    if (result.problem != NULL)
        return malformed(PARQUET_ZSTD, result.problem);
    return result.size == out_size ? NULL : wrong_size(PARQUET_ZSTD, result.size, out_size);
}

static kith_error *start_inflate(struct codec_context *context)
{
    if (context->inflate != NULL)
        return inflateReset(context->inflate) == Z_OK ? NULL : error_new(KITH_ERROR_INTERNAL, "inflateReset failed");
    _cleanup_free_ z_stream *stream = NULL;
    TRY(NEW(&stream));
    if (inflateInit2(stream, 15 + 32) != Z_OK) /* gzip or zlib header, whichever is there */
        return error_out_of_memory();
    context->inflate = TAKE(stream);
    return NULL;
}

static kith_error *gzip_too_long(size_t out_size)
{
    return error_new(KITH_ERROR_CORRUPT, "gzip data holds more than the %zu bytes that the page header declares",
                     out_size);
}

/* gzip files may be concatenated, and some writers make pages of several such members. */
static kith_error *gzip_decompress(struct codec_context *context, const uint8_t *in, size_t in_size, uint8_t *out,
                                   size_t out_size)
{
    TRY(start_inflate(context));
    z_stream *stream = context->inflate;
    uint8_t nothing;
    stream->next_in = in;
    stream->next_out = out_size > 0 ? out : &nothing;
    for (size_t in_left = in_size, out_left = out_size;;) {
        size_t in_chunk = MIN(in_left, (size_t)SLOW_CHUNK_BYTES), out_chunk = MIN(out_left, (size_t)SLOW_CHUNK_BYTES);
        stream->avail_in = (uInt)in_chunk;
        stream->avail_out = (uInt)out_chunk;
        int status = inflate(stream, in_chunk == in_left && out_chunk == out_left ? Z_FINISH : Z_NO_FLUSH);
        bool moved = stream->avail_in < in_chunk || stream->avail_out < out_chunk;
        in_left -= in_chunk - stream->avail_in;
        out_left -= out_chunk - stream->avail_out;
        if (status == Z_STREAM_END && (in_left == 0 || inflateReset(stream) != Z_OK))
            return out_left == 0 ? NULL : wrong_size(PARQUET_GZIP, out_size - out_left, out_size);
        if (status == Z_MEM_ERROR)
            return error_out_of_memory();
        if (status != Z_STREAM_END && status != Z_BUF_ERROR && status != Z_OK)
            return malformed(PARQUET_GZIP, stream->msg != NULL ? stream->msg : "no gzip header");
        if (!moved)
            return in_left == 0 ? malformed(PARQUET_GZIP, "cut short") : gzip_too_long(out_size);
        TRY(coop_charge(1));
    }
}

static kith_error *brotli_run(BrotliDecoderState *decoder, const uint8_t *in, size_t in_size, uint8_t *out,
                              size_t out_size)
{
    BrotliDecoderResult status;
    for (size_t in_left = in_size, out_left = out_size;;) {
        size_t in_chunk = MIN(in_left, (size_t)SLOW_CHUNK_BYTES), out_chunk = MIN(out_left, (size_t)SLOW_CHUNK_BYTES);
        size_t in_after = in_chunk, out_after = out_chunk;
        status = BrotliDecoderDecompressStream(decoder, &in_after, &in, &out_after, &out, NULL);
        in_left -= in_chunk - in_after;
        out_left -= out_chunk - out_after;
        if (status == BROTLI_DECODER_RESULT_SUCCESS)
            return out_left == 0 ? NULL : wrong_size(PARQUET_BROTLI, out_size - out_left, out_size);
        if (status == BROTLI_DECODER_RESULT_ERROR ||
            (status == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT ? in_left : out_left) == 0)
            return malformed(PARQUET_BROTLI, "cut short, longer than declared, or not brotli");
        TRY(coop_charge(1));
    }
}

static kith_error *brotli_decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    BrotliDecoderState *decoder = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    if (decoder == NULL)
        return error_out_of_memory();
    kith_error *error = brotli_run(decoder, in, in_size, out, out_size);
    BrotliDecoderDestroyInstance(decoder);
    return error;
}

kith_error *codec_decompress(struct codec_context *context, enum parquet_codec codec, const uint8_t *in, size_t in_size,
                             uint8_t *out, size_t out_size)
{
    switch (codec) {
    case PARQUET_UNCOMPRESSED:
        if (in_size != out_size)
            return wrong_size(codec, in_size, out_size);
        return coop_copy(out, in, in_size);
    case PARQUET_SNAPPY:
        return snappy_decompress(in, in_size, out, out_size);
    case PARQUET_GZIP:
        return gzip_decompress(context, in, in_size, out, out_size);
    case PARQUET_BROTLI:
        return brotli_decompress(in, in_size, out, out_size);
    case PARQUET_LZ4:
        return lz4_decompress_any(in, in_size, out, out_size);
    case PARQUET_LZ4_RAW:
        return lz4_decompress_raw(in, in_size, out, out_size);
    case PARQUET_ZSTD:
        return zstd_decompress(context, in, in_size, out, out_size);
    case PARQUET_LZO:
    default:
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "compression codec %s (number %d)", codec_name(codec), (int)codec);
    }
}

static kith_error *zstd_compress(struct codec_context *context, int level, const uint8_t *in, size_t in_size,
                                 struct strbuf *out)
{
    if (context->zstd_out == NULL && (context->zstd_out = ZSTD_createCCtx()) == NULL)
        return error_out_of_memory();
    char *room;
    size_t written;
    TRY(strbuf_reserve(out, ZSTD_compressBound(in_size), &room));
    TRY(zstd_frame_compress(context->zstd_out, level == 0 ? 3 : level, in, in_size, (uint8_t *)room, &written));
    out->length += written;
    return NULL;
}

kith_error *codec_compress(struct codec_context *context, enum parquet_codec codec, int level, const uint8_t *in,
                           size_t in_size, struct strbuf *out)
{
    if (codec == PARQUET_UNCOMPRESSED)
        return strbuf_append(out, in, in_size);
    if (codec == PARQUET_ZSTD)
        return zstd_compress(context, level, in, in_size, out);
    if (codec != PARQUET_SNAPPY)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "writing pages compressed with %s", codec_name(codec));
    char *room;
    size_t written = snappy_max_compressed_length(in_size);
    TRY(strbuf_reserve(out, written, &room));
    if (snappy_compress((const char *)in, in_size, room, &written) != SNAPPY_OK)
        return error_new(KITH_ERROR_INTERNAL, "snappy compression failed");
    out->length += written;
    return NULL;
}
