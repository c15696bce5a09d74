#include "testing.h"

#include "base/alloc.h"
#include "columnar/gather.h"
#include "parquet/encoders.h"
#include "parquet/encoding_byte_stream_split.h"
#include "parquet/encoding_plain.h"

static void values_of_a_fixed_width_are_taken_in_place(void **state)
{
    const uint8_t bytes[] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0};
    struct plain_decoder decoder;
    const uint8_t *values;
    plain_init(&decoder, bytes, sizeof bytes);
    assert_ok(plain_read_fixed(&decoder, 4, 1, &values));
    assert_ok(plain_read_fixed(&decoder, 4, 1, &values));
    assert_ptr_equal(values, bytes + 4);
    assert_fails(plain_read_fixed(&decoder, 4, 1, &values), KITH_ERROR_CORRUPT, "0 of 1 are there");
}

static void byte_arrays_are_taken_in_place_and_never_past_the_end(void **state)
{
    const uint8_t bytes[] = {2, 0, 0, 0, 'a', 'b', 0, 0, 0, 0, 1, 0, 0, 0, 'c'};
    struct str out[3];
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        struct strbuf part = {.data = (char *)(uintptr_t)bytes, .length = cut};
        _cleanup_free_ uint8_t *copy = exact_copy(&part);
        struct plain_decoder decoder;
        plain_init(&decoder, copy, cut);
        if (cut < sizeof bytes) {
            assert_fails(plain_read_slices(&decoder, 3, out), KITH_ERROR_CORRUPT, "byte array");
            continue;
        }
        assert_ok(plain_skip_slices(&decoder, 1));
        assert_ok(plain_read_slices(&decoder, 2, out));
        assert_int_equal(out[0].length, 0);
        assert_true(str_equal(out[1], str_of("c")));
    }
    const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff, 'a'};
    struct plain_decoder decoder;
    plain_init(&decoder, huge, sizeof huge);
    assert_fails(plain_read_slices(&decoder, 1, out), KITH_ERROR_CORRUPT, "longer than the 1 bytes");
}

static void booleans_are_bits_from_the_lowest_up(void **state)
{
    const uint8_t bytes[] = {0x35, 0x01};
    struct plain_bits decoder;
    uint8_t out[2] = {0};
    plain_bits_init(&decoder, bytes, sizeof bytes);
    assert_ok(plain_read_bits(&decoder, 3, NULL, 0));
    assert_ok(plain_read_bits(&decoder, 6, out, 1));
    assert_int_equal(out[0], 0x26 << 1); /* 110 then 001 of bits 3 to 8 */
    assert_fails(plain_read_bits(&decoder, 8, out, 0), KITH_ERROR_CORRUPT, "7 of 8 are there");
}

/* Encodings.md: the bytes of three floats AA BB CC DD, 00 11 22 33 and A3 B4 C5 D6, split. */
static void split_streams_are_put_together(void **state)
{
    const uint8_t bytes[] = {0xaa, 0x00, 0xa3, 0xbb, 0x11, 0xb4, 0xcc, 0x22, 0xc5, 0xdd, 0x33, 0xd6};
    const uint8_t expected[] = {0xaa, 0xbb, 0xcc, 0xdd, 0x00, 0x11, 0x22, 0x33, 0xa3, 0xb4, 0xc5, 0xd6};
    struct byte_stream_split_decoder decoder;
    uint8_t out[12];
    assert_ok(byte_stream_split_init(&decoder, bytes, sizeof bytes, 4));
    assert_ok(byte_stream_split_read(&decoder, 3, out));
    assert_memory_equal(out, expected, sizeof expected);
    assert_fails(byte_stream_split_read(&decoder, 1, out), KITH_ERROR_CORRUPT, "0 of 1 are there");
    assert_fails(byte_stream_split_init(&decoder, bytes, 11, 4), KITH_ERROR_CORRUPT, "11 bytes");
}

static void split_streams_of_any_width_are_read_from_any_position(void **state)
{
    enum { VALUES = 100 };
    uint64_t seed = 9;
    for (size_t width = 1; width <= 17; width++) {
        _cleanup_(strbuf_reset) struct strbuf encoded = {0};
        for (size_t i = 0; i < VALUES * width; i++)
            put_byte(&encoded, (unsigned)test_random(&seed) & 0xff);
        _cleanup_free_ uint8_t *bytes = exact_copy(&encoded);
        struct byte_stream_split_decoder decoder;
        assert_ok(byte_stream_split_init(&decoder, bytes, encoded.length, width));
        uint8_t out[VALUES * 17];
        assert_ok(byte_stream_split_read(&decoder, 31, NULL));
        assert_ok(byte_stream_split_read(&decoder, 69, out));
        for (size_t i = 0; i < 69; i++)
            for (size_t k = 0; k < width; k++)
                assert_int_equal(out[i * width + k], bytes[k * VALUES + 31 + i]);
    }
}

static void values_of_any_width_are_gathered(void **state)
{
    const uint32_t positions[] = {3, 0, 3, 9};
    uint8_t values[10 * 20], out[4 * 20];
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (uint8_t)(i * 7);
    for (size_t width = 1; width <= 20; width++) {
        gather_fixed(values, width, positions, 4, out);
        for (size_t i = 0; i < 4; i++)
            assert_memory_equal(out + i * width, values + positions[i] * width, width);
    }
    assert_true(gather_in_range(positions, 4, 10));
    assert_false(gather_in_range(positions, 4, 9));
    assert_false(gather_in_range((const uint32_t[]){5, UINT32_MAX}, 2, 10));
    assert_false(gather_in_range((const uint32_t[]){0}, 1, 0));
    assert_true(gather_in_range(positions, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_a_fixed_width_are_taken_in_place),
        cmocka_unit_test(byte_arrays_are_taken_in_place_and_never_past_the_end),
        cmocka_unit_test(booleans_are_bits_from_the_lowest_up),
        cmocka_unit_test(split_streams_are_put_together),
        cmocka_unit_test(split_streams_of_any_width_are_read_from_any_position),
        cmocka_unit_test(values_of_any_width_are_gathered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
