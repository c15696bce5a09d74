#include "testing.h"

#include "base/alloc.h"
#include "columnar/bitmap.h"
#include "parquet/encoders.h"
#include "parquet/levels.h"

enum { ROWS = 1000 };

static void make_levels(uint64_t *seed, unsigned maximum, uint64_t *out)
{
    for (size_t i = 0; i < ROWS;) {
        uint64_t level = test_random(seed) % (maximum + 1);
        for (size_t length = 1 + test_random(seed) % 30; length > 0 && i < ROWS; length--)
            out[i++] = level;
    }
}

/* Most significant bit first, as the deprecated encoding has it. */
static void put_bit_packed(struct strbuf *out, const uint64_t *values, unsigned width)
{
    unsigned byte = 0, bits = 0;
    for (size_t i = 0; i < ROWS; i++) {
        for (unsigned k = width; k-- > 0;) {
            byte = byte << 1 | (unsigned)(values[i] >> k & 1);
            if (++bits % 8 == 0) {
                put_byte(out, byte & 0xff);
                byte = 0;
            }
        }
    }
    if (bits % 8 != 0)
        put_byte(out, byte << (8 - bits % 8));
}

static void check(struct level_reader *reader, const uint64_t *levels, unsigned maximum, uint64_t *seed)
{
    for (size_t at = 0; at < ROWS;) {
        uint8_t bits[ROWS / 8 + 1] = {0};
        size_t rows = MIN(1 + test_random(seed) % 100, ROWS - at), present, expected = 0;
        bool skip = test_random(seed) % 3 == 0;
        assert_ok(level_reader_read(reader, rows, skip ? NULL : bits, &present));
        for (size_t i = 0; i < rows; i++) {
            expected += levels[at + i] == maximum;
            if (!skip)
                assert_int_equal(bitmap_get(bits, i), levels[at + i] == maximum);
        }
        assert_int_equal(present, expected);
        at += rows;
    }
}

static void levels_of_every_height_and_encoding_become_validity(void **state)
{
    uint64_t seed = 31;
    for (unsigned maximum = 1; maximum <= 9; maximum++) {
        for (unsigned variant = 0; variant < 3; variant++) {
            uint64_t levels[ROWS];
            _cleanup_(strbuf_reset) struct strbuf encoded = {0}, page = {0};
            struct page_header header = {.kind = variant == 2 ? PAGE_DATA_V2 : PAGE_DATA,
                                         .value_count = ROWS,
                                         .level_encoding = variant == 1 ? PARQUET_BIT_PACKED : PARQUET_RLE};
            make_levels(&seed, maximum, levels);
            if (variant == 1)
                put_bit_packed(&encoded, levels, bits_needed(maximum));
            else
                put_rle(&encoded, levels, ROWS, bits_needed(maximum));
            if (variant == 0)
                assert_ok(strbuf_append(&page, &(uint32_t){(uint32_t)encoded.length}, 4));
            assert_ok(strbuf_append(&page, encoded.data, encoded.length));
            _cleanup_free_ uint8_t *bytes = exact_copy(&page);
            struct page_body body = {.values = bytes, .value_bytes = page.length};
            if (variant == 2)
                body = (struct page_body){.definition_levels = bytes, .definition_bytes = page.length};
            struct level_reader reader;
            assert_ok(level_reader_init(&reader, &header, maximum, &body));
            assert_int_equal(body.value_bytes, 0);
            check(&reader, levels, maximum, &seed);
        }
    }
}

static void levels_above_the_highest_are_refused(void **state)
{
    uint64_t levels[8] = {0, 1, 2, 3, 0, 1, 2, 3};
    _cleanup_(strbuf_reset) struct strbuf encoded = {0};
    struct level_reader reader;
    size_t present;
    const struct page_header header = {.kind = PAGE_DATA_V2, .value_count = 8};
    put_rle(&encoded, levels, 8, 2);
    struct page_body body = {.definition_levels = (const uint8_t *)encoded.data, .definition_bytes = encoded.length};
    assert_ok(level_reader_init(&reader, &header, 2, &body));
    assert_fails(level_reader_read(&reader, 8, NULL, &present), KITH_ERROR_CORRUPT, "level of 3");
}

static void levels_longer_than_the_page_are_refused(void **state)
{
    const uint8_t bytes[] = {9, 0, 0, 0, 1};
    const struct page_header header = {.kind = PAGE_DATA, .value_count = 8, .level_encoding = PARQUET_RLE};
    struct level_reader reader;
    struct page_body body = {.values = bytes, .value_bytes = 5};
    assert_fails(level_reader_init(&reader, &header, 1, &body), KITH_ERROR_CORRUPT, "levels of 9 bytes in a page of 5");
    body = (struct page_body){.values = bytes, .value_bytes = 3};
    assert_fails(level_reader_init(&reader, &header, 1, &body), KITH_ERROR_CORRUPT, "ends in its definition levels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_of_every_height_and_encoding_become_validity),
        cmocka_unit_test(levels_above_the_highest_are_refused),
        cmocka_unit_test(levels_longer_than_the_page_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
