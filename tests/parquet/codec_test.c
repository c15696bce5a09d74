#define ZLIB_CONST
#include "testing.h"

#include "base/alloc.h"
#include "parquet/codec.h"
#include "parquet/encoders.h"

#include <brotli/encode.h>
#include <lz4.h>
#include <lz4frame.h>
#include <zlib.h>

enum { SIZE = 50000 };

/* Text of a few letters: compresses, but not to nothing. */
static void make_text(uint8_t *out)
{
    uint64_t seed = 10;
    for (size_t i = 0; i < SIZE; i++)
        out[i] = (uint8_t)("etaoin shrdlu"[test_random(&seed) % 13]);
}

static void put_gzip_member(struct strbuf *out, const uint8_t *text, size_t size)
{
    uint8_t bytes[SIZE * 2];
    z_stream stream = {.next_in = text, .avail_in = (uInt)size, .next_out = bytes, .avail_out = sizeof bytes};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_ok(strbuf_append(out, bytes, stream.total_out));
    deflateEnd(&stream);
}

static void put_lz4_block(struct strbuf *out, const uint8_t *text, size_t size, bool hadoop)
{
    char bytes[SIZE * 2];
    int length = LZ4_compress_default((const char *)text, bytes, (int)size, sizeof bytes);
    assert_true(length > 0);
    const size_t sizes[2] = {size, (size_t)length};
    for (size_t i = 0; hadoop && i < 2; i++)
        for (int shift = 24; shift >= 0; shift -= 8)
            put_byte(out, (unsigned)(sizes[i] >> shift & 0xff));
    assert_ok(strbuf_append(out, bytes, (size_t)length));
}

/* What decompresses in full must fail when cut short, when a byte too many follows, and with another size declared. */
static void check(enum parquet_codec codec, const struct strbuf *compressed, const uint8_t *text)
{
    _cleanup_(codec_context_reset) struct codec_context context = {0};
    _cleanup_free_ uint8_t *out = malloc(SIZE + 1);
    _cleanup_free_ uint8_t *bytes = exact_copy(compressed);
    size_t length = compressed->length;
    assert_ok(codec_check_size(codec, bytes, length, SIZE));
    for (int round = 0; round < 2; round++) { /* contexts are used again */
        memset(out, 0, SIZE);
        assert_ok(codec_decompress(&context, codec, bytes, length, out, SIZE));
        assert_memory_equal(out, text, SIZE);
    }
    assert_fails(codec_decompress(&context, codec, bytes, length, out, SIZE - 1), KITH_ERROR_CORRUPT, "");
    assert_fails(codec_decompress(&context, codec, bytes, length, out, SIZE + 1), KITH_ERROR_CORRUPT, "");
    for (size_t cut = 0; cut < length; cut += 1 + length / 50) {
        struct strbuf part = {.data = compressed->data, .length = cut};
        _cleanup_free_ uint8_t *cut_bytes = exact_copy(&part);
        assert_fails(codec_decompress(&context, codec, cut_bytes, cut, out, SIZE), KITH_ERROR_CORRUPT, "");
    }
}

static void what_was_compressed_comes_back(void **state)
{
    _cleanup_(codec_context_reset) struct codec_context context = {0};
    const enum parquet_codec codecs[] = {PARQUET_UNCOMPRESSED, PARQUET_SNAPPY, PARQUET_ZSTD};
    uint8_t text[SIZE];
    make_text(text);
    for (size_t i = 0; i < ARRAY_SIZE(codecs); i++) {
        _cleanup_(strbuf_reset) struct strbuf compressed = {0};
        assert_ok(codec_compress(&context, codecs[i], 0, text, SIZE, &compressed));
        check(codecs[i], &compressed, text);
    }
    assert_fails(codec_compress(&context, PARQUET_GZIP, 0, text, SIZE, &(struct strbuf){0}), KITH_ERROR_NOT_IMPLEMENTED,
                 "gzip");
}

static void gzip_members_may_be_concatenated(void **state)
{
    uint8_t text[SIZE];
    make_text(text);
    for (size_t first = 0; first <= SIZE; first += SIZE / 4) {
        _cleanup_(strbuf_reset) struct strbuf compressed = {0};
        put_gzip_member(&compressed, text, first);
        put_gzip_member(&compressed, text + first, SIZE - first);
        if (first < SIZE) /* without the last member, which is then empty, nothing would be missing */
            check(PARQUET_GZIP, &compressed, text);
    }
}

static void brotli_decompresses(void **state)
{
    uint8_t text[SIZE];
    make_text(text);
    size_t length = SIZE * 2;
    _cleanup_free_ uint8_t *bytes = malloc(length);
    assert_true(BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, SIZE, text, &length, bytes));
    check(PARQUET_BROTLI, &(struct strbuf){.data = (char *)bytes, .length = length}, text);
}

static void lz4_is_understood_in_all_its_framings(void **state)
{
    uint8_t text[SIZE];
    make_text(text);
    _cleanup_(strbuf_reset) struct strbuf raw = {0}, hadoop = {0}, two_blocks = {0};
    put_lz4_block(&raw, text, SIZE, false);
    check(PARQUET_LZ4_RAW, &raw, text);
    check(PARQUET_LZ4, &raw, text);
    put_lz4_block(&hadoop, text, SIZE, true);
    check(PARQUET_LZ4, &hadoop, text);
    put_lz4_block(&two_blocks, text, 1000, true);
    put_lz4_block(&two_blocks, text + 1000, SIZE - 1000, true);
    check(PARQUET_LZ4, &two_blocks, text);

    size_t most = LZ4F_compressFrameBound(SIZE, NULL);
    _cleanup_free_ char *bytes = malloc(most);
    size_t length = LZ4F_compressFrame(bytes, most, text, SIZE, NULL);
    assert_false(LZ4F_isError(length));
    check(PARQUET_LZ4, &(struct strbuf){.data = bytes, .length = length}, text);
}

/* Compressed bytes of one Hadoop block may come in several parts, which together have the declared size. */
static void a_hadoop_block_may_have_several_parts(void **state)
{
    uint8_t text[SIZE], out[SIZE];
    make_text(text);
    _cleanup_(strbuf_reset) struct strbuf bytes = {0}, part = {0};
    for (int shift = 24; shift >= 0; shift -= 8)
        put_byte(&bytes, (unsigned)SIZE >> shift & 0xff);
    for (size_t i = 0; i < 2; i++) {
        part.length = 0;
        put_lz4_block(&part, text + i * (SIZE / 2), SIZE / 2, true);
        assert_ok(strbuf_append(&bytes, part.data + 4, part.length - 4));
    }
    _cleanup_(codec_context_reset) struct codec_context context = {0};
    assert_ok(codec_decompress(&context, PARQUET_LZ4, (const uint8_t *)bytes.data, bytes.length, out, SIZE));
    assert_memory_equal(out, text, SIZE);
}

static void a_size_that_no_compression_reaches_is_refused_before_memory_is_taken(void **state)
{
    const enum parquet_codec codecs[] = {PARQUET_UNCOMPRESSED, PARQUET_SNAPPY,  PARQUET_GZIP,
                                         PARQUET_LZ4,          PARQUET_LZ4_RAW, PARQUET_ZSTD};
    const uint8_t bytes[100] = {0};
    for (size_t i = 0; i < ARRAY_SIZE(codecs); i++)
        assert_fails(codec_check_size(codecs[i], bytes, sizeof bytes, 1 << 30), KITH_ERROR_CORRUPT, "");
}

static void codecs_without_a_decoder_are_named(void **state)
{
    _cleanup_(codec_context_reset) struct codec_context context = {0};
    uint8_t byte = 0;
    assert_fails(codec_decompress(&context, PARQUET_LZO, &byte, 1, &byte, 1), KITH_ERROR_NOT_IMPLEMENTED, "lzo");
    assert_fails(codec_decompress(&context, (enum parquet_codec)99, &byte, 1, &byte, 1), KITH_ERROR_NOT_IMPLEMENTED,
                 "number 99");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_compressed_comes_back),
        cmocka_unit_test(gzip_members_may_be_concatenated),
        cmocka_unit_test(brotli_decompresses),
        cmocka_unit_test(lz4_is_understood_in_all_its_framings),
        cmocka_unit_test(a_hadoop_block_may_have_several_parts),
        cmocka_unit_test(a_size_that_no_compression_reaches_is_refused_before_memory_is_taken),
        cmocka_unit_test(codecs_without_a_decoder_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
