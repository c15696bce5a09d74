/*
 * Pages far larger than anybody should write: they are decompressed by chunks that are charged, whatever the codec;
 * what comes out is what went in; and what is malformed is refused as in pages of ordinary size.
 */
#define ZLIB_CONST
#include "testing.h"

#include "base/alloc.h"
#include "parquet/codec.h"
#include "parquet/codec_lz4.h"
#include "parquet/encoders.h"
#include "parquet/page.h"
#include "runtime/chunks.h"
#include "runtime/coop.h"

#include <brotli/encode.h>
#include <lz4.h>
#include <lz4frame.h>
#include <zlib.h>

/* Half as many chunks as there would be if none were longer than another. */
enum { SIZE = 24 * 1024 * 1024, CHUNKS = SIZE / COOP_CHUNK_BYTES / 2 };

struct page {
    enum parquet_codec codec;
    struct codec_context context;
    struct strbuf compressed;
    const uint8_t *text;
    uint8_t *out;
};

/* Words and repetitions of all lengths, one of a megabyte and more among them, and a stretch that does not compress. */
static uint8_t *make_text(void)
{
    uint64_t seed = 5;
    uint8_t *text = malloc(SIZE);
    assert_non_null(text);
    for (size_t at = 0; at < SIZE;) {
        bool noise = at < 3 * 1024 * 1024;
        size_t most = noise ? 4096 : test_random(&seed) % 2000 == 0 ? 4 * 1024 * 1024 : 1 + test_random(&seed) % 200;
        size_t length = MIN((size_t)SIZE - at, most),
               back = 1 + test_random(&seed) % MAX(MIN(at, (size_t)60000), (size_t)1);
        for (size_t i = 0; i < length; i++)
            text[at + i] = noise || back > at || length < 20 ? (uint8_t)test_random(&seed) : text[at + i - back];
        at += length;
    }
    return text;
}

static void compress_gzip(const uint8_t *text, struct strbuf *out)
{
    char *room;
    assert_ok(strbuf_reserve(out, SIZE * 2, &room));
    z_stream stream = {.next_in = text, .avail_in = SIZE, .next_out = (uint8_t *)room, .avail_out = SIZE * 2};
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out->length += stream.total_out;
    deflateEnd(&stream);
}

static void compress_brotli(const uint8_t *text, struct strbuf *out)
{
    char *room;
    size_t length = SIZE * 2;
    assert_ok(strbuf_reserve(out, length, &room));
    assert_true(BrotliEncoderCompress(1, 22, BROTLI_MODE_GENERIC, SIZE, text, &length, (uint8_t *)room));
    out->length += length;
}

static void compress_lz4(const uint8_t *text, struct strbuf *out)
{
    char *room;
    assert_ok(strbuf_reserve(out, SIZE * 2, &room));
    int length = LZ4_compress_default((const char *)text, room, SIZE, SIZE * 2);
    assert_true(length > 0);
    out->length += (size_t)length;
}

static void compress_lz4_frame(const uint8_t *text, struct strbuf *out)
{
    char *room;
    assert_ok(strbuf_reserve(out, SIZE * 2, &room));
    size_t length = LZ4F_compressFrame(room, SIZE * 2, text, SIZE, NULL);
    assert_false(LZ4F_isError(length));
    out->length += length;
}

static void compress_hadoop(const uint8_t *text, struct strbuf *out)
{
    _cleanup_(strbuf_reset) struct strbuf block = {0};
    compress_lz4(text, &block);
    const size_t sizes[2] = {SIZE, block.length};
    for (size_t i = 0; i < 2; i++)
        for (int shift = 24; shift >= 0; shift -= 8)
            put_byte(out, (unsigned)(sizes[i] >> shift & 0xff));
    assert_ok(strbuf_append(out, block.data, block.length));
}

static void compress_by_ours(enum parquet_codec codec, const uint8_t *text, struct strbuf *out)
{
    _cleanup_(codec_context_reset) struct codec_context context = {0};
    assert_ok(codec_compress(&context, codec, 1, text, SIZE, out));
}

static void compress_snappy(const uint8_t *text, struct strbuf *out)
{
    compress_by_ours(PARQUET_SNAPPY, text, out);
}

static void compress_zstd(const uint8_t *text, struct strbuf *out)
{
    compress_by_ours(PARQUET_ZSTD, text, out);
}

static const struct {
    enum parquet_codec codec;
    void (*compress)(const uint8_t *text, struct strbuf *out);
} ways[] = {
    {PARQUET_SNAPPY, compress_snappy}, {PARQUET_GZIP, compress_gzip},     {PARQUET_BROTLI, compress_brotli},
    {PARQUET_ZSTD, compress_zstd},     {PARQUET_LZ4_RAW, compress_lz4},   {PARQUET_LZ4, compress_lz4},
    {PARQUET_LZ4, compress_hadoop},    {PARQUET_LZ4, compress_lz4_frame},
};

static kith_error *decompress(void *argument)
{
    struct page *page = argument;
    return codec_decompress(&page->context, page->codec, (const uint8_t *)page->compressed.data,
                            page->compressed.length, page->out, SIZE);
}

/* The same must fail when cut short, when a byte too many is declared, and when one too few is. */
static void check_hostile(struct page *page)
{
    _cleanup_free_ uint8_t *bytes = exact_copy(&page->compressed);
    size_t length = page->compressed.length;
    for (size_t i = 0; i < 5; i++) {
        struct strbuf part = {.data = page->compressed.data, .length = length / 5 * i + (i == 0 ? 0 : length % 7)};
        _cleanup_free_ uint8_t *cut = exact_copy(&part);
        assert_fails(codec_decompress(&page->context, page->codec, cut, part.length, page->out, SIZE),
                     KITH_ERROR_CORRUPT, "");
    }
    assert_fails(codec_decompress(&page->context, page->codec, bytes, length, page->out, SIZE - 1), KITH_ERROR_CORRUPT,
                 "");
    assert_fails(codec_decompress(&page->context, page->codec, bytes, length, page->out, SIZE + 1), KITH_ERROR_CORRUPT,
                 "");
}

static void huge_pages_are_decompressed_in_chunks(void **state)
{
    _cleanup_free_ uint8_t *text = make_text(), *out = malloc(SIZE + 1);
    for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
        struct page page = {.codec = ways[i].codec, .text = text, .out = out};
        ways[i].compress(text, &page.compressed);
        check_chunks(decompress, &page, CHUNKS);
        memset(out, 0, SIZE);
        assert_ok(decompress(&page));
        assert_memory_equal(out, text, SIZE);
        check_hostile(&page);
        strbuf_reset(&page.compressed);
        codec_context_reset(&page.context);
    }
}

static kith_error *compress_with_zstd(void *argument)
{
    struct page *page = argument;
    page->compressed.length = 0;
    return codec_compress(&page->context, PARQUET_ZSTD, 1, page->text, SIZE, &page->compressed);
}

static void huge_pages_are_compressed_in_chunks(void **state)
{
    _cleanup_free_ uint8_t *text = make_text(), *out = malloc(SIZE);
    struct page page = {.codec = PARQUET_ZSTD, .text = text, .out = out};
    check_chunks(compress_with_zstd, &page, CHUNKS);
    assert_ok(compress_with_zstd(&page));
    assert_ok(decompress(&page));
    assert_memory_equal(out, text, SIZE);
    strbuf_reset(&page.compressed);
    codec_context_reset(&page.context);
}

static kith_error *verify(void *argument)
{
    struct page *page = argument;
    const struct page_header header = {
        .compressed_bytes = SIZE, .has_crc = true, .crc = (uint32_t)crc32_z(0, page->text, SIZE)};
    return page_verify(&header, page->text);
}

static void the_checksum_of_a_huge_page_is_computed_in_chunks(void **state)
{
    _cleanup_free_ uint8_t *text = make_text();
    struct page page = {.text = text};
    check_chunks(verify, &page, CHUNKS);
}

/* A literal and a match of nearly all the page, which no byte count between elements would ever come to. */
static void one_huge_literal_or_match_is_cut_as_well(void **state)
{
    _cleanup_free_ uint8_t *text = malloc(SIZE), *out = malloc(SIZE);
    uint64_t seed = 7;
    memset(text, 'x', SIZE);
    for (int round = 0; round < 2; round++) {
        const enum parquet_codec codecs[] = {PARQUET_LZ4_RAW, PARQUET_SNAPPY};
        for (size_t i = 0; i < ARRAY_SIZE(codecs); i++) {
            struct page page = {.codec = codecs[i], .text = text, .out = out};
            if (codecs[i] == PARQUET_LZ4_RAW) {
                compress_lz4(text, &page.compressed);
            } else {
                put_varint(&page.compressed, SIZE);
                put_byte(&page.compressed, 63 << 2);
                assert_ok(strbuf_append(&page.compressed, &(uint32_t){SIZE - 1}, 4));
                assert_ok(strbuf_append(&page.compressed, text, SIZE));
            }
            check_chunks(decompress, &page, CHUNKS);
            assert_ok(decompress(&page));
            assert_memory_equal(out, text, SIZE);
            strbuf_reset(&page.compressed);
        }
        for (size_t k = 0; k < SIZE; k++)
            text[k] = (uint8_t)test_random(&seed);
    }
}

/* What the library decodes, and what is damaged at random: both decoders give the same, or refuse it. */
static void blocks_in_chunks_are_as_the_library_decodes_them(void **state)
{
    enum { LENGTH = 3000, ROOM = 2 * LENGTH };
    uint64_t seed = 6;
    uint8_t text[LENGTH], expected[LENGTH], given[LENGTH];
    char bytes[ROOM];
    size_t refused = 0;
    for (int round = 0; round < 20000; round++) {
        size_t length = 1 + test_random(&seed) % LENGTH, letters = 1 + test_random(&seed) % 30, written;
        for (size_t i = 0; i < length; i++)
            text[i] = (uint8_t)(test_random(&seed) % letters);
        int size = LZ4_compress_default((const char *)text, bytes, (int)length, ROOM);
        for (size_t damage = test_random(&seed) % 3; damage > 0; damage--)
            bytes[test_random(&seed) % (size_t)size] = (char)test_random(&seed);
        _cleanup_free_ uint8_t *in = exact_copy(&(struct strbuf){.data = bytes, .length = (size_t)size});
        memset(expected, 0, LENGTH);
        memset(given, 0, LENGTH);
        int library = LZ4_decompress_safe((const char *)in, (char *)expected, size, (int)length);
        bool valid;
        assert_ok(lz4_decompress_block_in_chunks(in, (size_t)size, given, length, &valid, &written));
        if ((size_t)library != length || !valid || written != length) {
            /* An offset of 0 is for the format an error, for the library something to be read. */
            assert_false(valid && written == length);
            refused++;
            continue;
        }
        assert_memory_equal(given, expected, length);
    }
    assert_in_range(refused, 100, 19000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_pages_are_decompressed_in_chunks),
        cmocka_unit_test(huge_pages_are_compressed_in_chunks),
        cmocka_unit_test(the_checksum_of_a_huge_page_is_computed_in_chunks),
        cmocka_unit_test(one_huge_literal_or_match_is_cut_as_well),
        cmocka_unit_test(blocks_in_chunks_are_as_the_library_decodes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
