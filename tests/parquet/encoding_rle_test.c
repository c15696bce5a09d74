#include "testing.h"

#include "base/alloc.h"
#include "columnar/bitmap.h"
#include "parquet/encoders.h"
#include "parquet/encoding_bit_packed.h"
#include "parquet/encoding_rle.h"

enum { COUNT = 1000 };

/* Runs of equal values between stretches of random ones. */
static void make_values(uint64_t *seed, unsigned width, uint64_t *values)
{
    for (size_t i = 0; i < COUNT;) {
        size_t length = 1 + test_random(seed) % 50;
        bool equal = test_random(seed) % 2;
        uint64_t value = width == 0 ? 0 : test_random(seed) >> (64 - width);
        for (; length > 0 && i < COUNT; length--) {
            values[i++] = value;
            if (!equal && width > 0)
                value = test_random(seed) >> (64 - width);
        }
    }
}

static void values_of_every_width_come_back_in_reads_and_skips_of_any_length(void **state)
{
    uint64_t seed = 2;
    for (unsigned width = 0; width <= 32; width++) {
        uint64_t values[COUNT];
        make_values(&seed, width, values);
        _cleanup_(strbuf_reset) struct strbuf encoded = {0};
        put_rle(&encoded, values, COUNT, width);
        _cleanup_free_ uint8_t *bytes = exact_copy(&encoded);
        for (size_t most = 1; most <= COUNT; most *= 10) {
            struct rle_decoder decoder;
            assert_ok(rle_init(&decoder, bytes, encoded.length, width));
            for (size_t i = 0; i < COUNT;) {
                uint32_t out[COUNT];
                size_t taken = MIN(1 + test_random(&seed) % most, COUNT - i);
                bool skip = test_random(&seed) % 4 == 0;
                if (skip)
                    assert_ok(rle_skip(&decoder, taken));
                else
                    assert_ok(rle_read(&decoder, taken, out));
                for (size_t k = 0; !skip && k < taken; k++)
                    assert_int_equal(out[k], values[i + k]);
                i += taken;
            }
        }
    }
}

static void bits_are_copied_and_counted(void **state)
{
    uint64_t seed = 3, values[COUNT];
    make_values(&seed, 1, values);
    _cleanup_(strbuf_reset) struct strbuf encoded = {0};
    put_rle(&encoded, values, COUNT, 1);
    _cleanup_free_ uint8_t *bytes = exact_copy(&encoded);
    struct rle_decoder decoder;
    assert_ok(rle_init(&decoder, bytes, encoded.length, 1));
    uint8_t bits[COUNT / 8 + 2] = {0};
    size_t ones = 0, expected = 0;
    for (size_t i = 0; i < COUNT;) {
        size_t taken = MIN(1 + test_random(&seed) % 100, COUNT - i), more;
        assert_ok(rle_read_bits(&decoder, taken, bits, i + 3, &more));
        ones += more;
        i += taken;
    }
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(bitmap_get(bits, i + 3), values[i]);
        expected += values[i];
    }
    assert_int_equal(ones, expected);
}

static void bytes_cut_anywhere_give_an_error_for_the_values_that_are_gone(void **state)
{
    uint64_t seed = 4, values[COUNT];
    make_values(&seed, 9, values);
    for (size_t i = COUNT - 20; i < COUNT; i++) /* a repeated run at the end, so that no cut is of padding alone */
        values[i] = 77;
    _cleanup_(strbuf_reset) struct strbuf encoded = {0};
    put_rle(&encoded, values, COUNT, 9);
    for (size_t cut = 0; cut < encoded.length; cut++) {
        struct strbuf part = {.data = encoded.data, .length = cut};
        _cleanup_free_ uint8_t *bytes = exact_copy(&part);
        struct rle_decoder decoder;
        uint32_t out[COUNT];
        assert_ok(rle_init(&decoder, bytes, cut, 9));
        assert_fails(rle_read(&decoder, COUNT, out), KITH_ERROR_CORRUPT, "run-length");
    }
}

static void padding_that_a_writer_left_out_is_not_missed(void **state)
{
    const uint8_t bytes[] = {1 << 1 | 1, 0x2a}; /* a group of 8 values of 4 bits, of which 2 are there */
    struct rle_decoder decoder;
    uint32_t out[3];
    assert_ok(rle_init(&decoder, bytes, sizeof bytes, 4));
    assert_ok(rle_read(&decoder, 2, out));
    assert_int_equal(out[0], 0xa);
    assert_int_equal(out[1], 0x2);
    assert_fails(rle_read(&decoder, 1, out), KITH_ERROR_CORRUPT, "end early");
}

static void nonsense_is_refused(void **state)
{
    struct rle_decoder decoder;
    uint8_t bits[8] = {0};
    size_t ones;
    const uint8_t repeats_two[] = {4 << 1, 2};
    assert_fails(rle_init(&decoder, bits, 0, 254), KITH_ERROR_CORRUPT, "254 bits");
    assert_ok(rle_init(&decoder, repeats_two, 2, 1));
    assert_fails(rle_read_bits(&decoder, 4, bits, 0, &ones), KITH_ERROR_CORRUPT, "repeats 2");
    const uint8_t endless[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    assert_ok(rle_init(&decoder, endless, sizeof endless, 1));
    assert_fails(rle_skip(&decoder, 1), KITH_ERROR_CORRUPT, "header");
}

/* Encodings.md: the numbers 0 to 7 in 3 bits, the old way, are the bytes 05 39 77. */
static void old_bit_packed_levels_count_from_the_top(void **state)
{
    const uint8_t bytes[] = {0x05, 0x39, 0x77};
    struct bit_packed_decoder decoder;
    uint32_t out[8];
    bit_packed_init(&decoder, bytes, sizeof bytes, 3);
    assert_ok(bit_packed_skip(&decoder, 2));
    assert_ok(bit_packed_read(&decoder, 6, out));
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(out[i], i + 2);
    assert_fails(bit_packed_read(&decoder, 1, out), KITH_ERROR_CORRUPT, "end early");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_width_come_back_in_reads_and_skips_of_any_length),
        cmocka_unit_test(bits_are_copied_and_counted),
        cmocka_unit_test(bytes_cut_anywhere_give_an_error_for_the_values_that_are_gone),
        cmocka_unit_test(padding_that_a_writer_left_out_is_not_missed),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(old_bit_packed_levels_count_from_the_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
