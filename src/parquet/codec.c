#define ZLIB_CONST
#include "parquet/codec.h"

#include "base/alloc.h"
#include "parquet/codec_lz4.h"
#include "parquet/codec_snappy.h"

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
    if (context->zstd_in == NULL && (context->zstd_in = ZSTD_createDCtx()) == NULL)
        return error_out_of_memory();
    size_t written = ZSTD_decompressDCtx(context->zstd_in, out, out_size, in, in_size);
    if (ZSTD_isError(written))
        return malformed(PARQUET_ZSTD, ZSTD_getErrorName(written));
    return written == out_size ? NULL : wrong_size(PARQUET_ZSTD, written, out_size);
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

/* gzip files may be concatenated, and some writers make pages of several such members. */
static kith_error *gzip_decompress(struct codec_context *context, const uint8_t *in, size_t in_size, uint8_t *out,
                                   size_t out_size)
{
    TRY(start_inflate(context));
    z_stream *stream = context->inflate;
    uint8_t nothing;
    stream->next_in = in;
    stream->avail_in = (uInt)in_size;
    stream->next_out = out_size > 0 ? out : &nothing;
    stream->avail_out = (uInt)out_size;
    do {
        int status = inflate(stream, Z_FINISH);
        if (status == Z_MEM_ERROR)
            return error_out_of_memory();
        if (status == Z_BUF_ERROR || status == Z_OK)
            return stream->avail_in == 0 ? malformed(PARQUET_GZIP, "cut short")
                                         : error_new(KITH_ERROR_CORRUPT,
                                                     "gzip data holds more than the %zu bytes that the page header "
                                                     "declares",
                                                     out_size);
        if (status != Z_STREAM_END)
            return malformed(PARQUET_GZIP, stream->msg != NULL ? stream->msg : "no gzip header");
    } while (stream->avail_in > 0 && inflateReset(stream) == Z_OK);
    return stream->avail_out == 0 ? NULL : wrong_size(PARQUET_GZIP, out_size - stream->avail_out, out_size);
}

static kith_error *brotli_decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    size_t written = out_size;
    if (BrotliDecoderDecompress(in_size, in, &written, out) != BROTLI_DECODER_RESULT_SUCCESS)
        return malformed(PARQUET_BROTLI, "cut short, longer than declared, or not brotli");
    return written == out_size ? NULL : wrong_size(PARQUET_BROTLI, written, out_size);
}

kith_error *codec_decompress(struct codec_context *context, enum parquet_codec codec, const uint8_t *in, size_t in_size,
                             uint8_t *out, size_t out_size)
{
    switch (codec) {
    case PARQUET_UNCOMPRESSED:
        if (in_size != out_size)
            return wrong_size(codec, in_size, out_size);
        if (in_size > 0)
            memcpy(out, in, in_size);
        return NULL;
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
    size_t most = ZSTD_compressBound(in_size);
    TRY(strbuf_reserve(out, most, &room));
    size_t written = ZSTD_compressCCtx(context->zstd_out, room, most, in, in_size, level == 0 ? 3 : level);
    if (ZSTD_isError(written))
        return error_new(KITH_ERROR_INTERNAL, "zstd compression: %s", ZSTD_getErrorName(written));
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
