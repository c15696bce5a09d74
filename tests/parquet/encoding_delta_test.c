#include "testing.h"

#include "base/alloc.h"
#include "parquet/encoders.h"
#include "parquet/encoding_delta_strings.h"

enum { COUNT = 1500 };

/* Steps of up to `width` bits in both directions, wrapping around. */
static void make_numbers(uint64_t *seed, unsigned width, unsigned bits, int64_t *out)
{
    uint64_t value = test_random(seed);
    for (size_t i = 0; i < COUNT; i++) {
        if (width > 0)
            value += (test_random(seed) >> (64 - width)) - (width < 64 ? UINT64_C(1) << width >> 1 : 0);
        out[i] = bits == 64 ? (int64_t)value : (int32_t)(uint32_t)value;
    }
}

static void read_any_way(struct delta_decoder *decoder, uint64_t *seed, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count;) {
        uint64_t out64[COUNT];
        uint32_t out32[COUNT];
        size_t taken = MIN(1 + test_random(seed) % (1 + test_random(seed) % 300), count - i);
        bool skip = test_random(seed) % 4 == 0;
        if (decoder->bits == 64)
            assert_ok(delta_read64(decoder, taken, skip ? NULL : out64));
        else
            assert_ok(delta_read32(decoder, taken, skip ? NULL : out32));
        for (size_t k = 0; !skip && k < taken; k++)
            assert_true(values[i + k] == (decoder->bits == 64 ? (int64_t)out64[k] : (int32_t)out32[k]));
        i += taken;
    }
}

static void numbers_with_steps_of_every_width_come_back(void **state)
{
    uint64_t seed = 5;
    for (unsigned bits = 32; bits <= 64; bits += 32) {
        for (unsigned width = 0; width <= bits; width++) {
            int64_t values[COUNT];
            make_numbers(&seed, width, bits, values);
            size_t count = width % 3 == 0 ? COUNT : test_random(&seed) % COUNT;
            _cleanup_(strbuf_reset) struct strbuf encoded = {0};
            put_delta(&encoded, values, count, width % 2 == 0 ? 128 : 1024, 4, bits);
            _cleanup_free_ uint8_t *bytes = exact_copy(&encoded);
            struct delta_decoder decoder;
            assert_ok(delta_init(&decoder, bytes, encoded.length, bits));
            const uint8_t *end;
            assert_ok(delta_find_end(&decoder, &end));
            assert_ptr_equal(end, bytes + encoded.length);
            read_any_way(&decoder, &seed, values, count);
            uint64_t one;
            assert_fails(bits == 64 ? delta_read64(&decoder, 1, &one) : delta_read32(&decoder, 1, (uint32_t *)&one),
                         KITH_ERROR_CORRUPT, "0 delta-encoded values are left where 1 are needed");
        }
    }
}

/* Encodings.md, example 1: 1, 2, 3, 4, 5 and example 2: 7, 5, 3, 1, 2, 3, 4, 5, with blocks of 128 in 4 miniblocks. */
static void the_examples_of_the_format_decode(void **state)
{
    const uint8_t one[] = {0x80, 0x01, 4, 5, 2, 2, 0, 0, 0, 0};
    const uint8_t two[] = {0x80, 0x01, 4, 8, 14, 3, 2, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0};
    const uint32_t one_values[] = {1, 2, 3, 4, 5}, two_values[] = {7, 5, 3, 1, 2, 3, 4, 5};
    struct delta_decoder decoder;
    uint32_t out[8];
    assert_ok(delta_init(&decoder, one, sizeof one, 32));
    assert_ok(delta_read32(&decoder, 5, out));
    assert_memory_equal(out, one_values, sizeof one_values);
    assert_ok(delta_init(&decoder, two, sizeof two, 32));
    assert_ok(delta_read32(&decoder, 8, out));
    assert_memory_equal(out, two_values, sizeof two_values);
}

static void numbers_cut_anywhere_are_an_error(void **state)
{
    uint64_t seed = 6, out[COUNT];
    int64_t values[COUNT];
    make_numbers(&seed, 40, 64, values);
    _cleanup_(strbuf_reset) struct strbuf encoded = {0};
    put_delta(&encoded, values, 129, 128, 4, 64); /* the last miniblock is full: nothing of it may be missing */
    for (size_t cut = 0; cut < encoded.length; cut++) {
        struct strbuf part = {.data = encoded.data, .length = cut};
        _cleanup_free_ uint8_t *bytes = exact_copy(&part);
        struct delta_decoder decoder;
        kith_error *error = delta_init(&decoder, bytes, cut, 64);
        if (error == NULL)
            error = delta_read64(&decoder, 129, out);
        assert_fails(error, KITH_ERROR_CORRUPT, "delta-encoded");
    }
}

static void impossible_headers_are_refused(void **state)
{
    const uint8_t headers[][5] = {
        {0, 1, 1, 0},          /* no values in a block */
        {100, 1, 1, 0},        /* not a multiple of 128 */
        {0x80, 0x01, 0, 1, 0}, /* no miniblocks */
        {0x80, 0x01, 8, 1, 0}, /* miniblocks of 16 */
        {0x80, 0x01, 3, 1, 0}, /* blocks not divisible */
    };
    struct delta_decoder decoder;
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
        assert_fails(delta_init(&decoder, headers[i], 5, 64), KITH_ERROR_CORRUPT, "multiples of 128");
    const uint8_t too_wide[] = {0x80, 0x01, 1, 2, 0, 0, 33};
    uint32_t out[2];
    assert_ok(delta_init(&decoder, too_wide, sizeof too_wide, 32));
    assert_fails(delta_read32(&decoder, 2, out), KITH_ERROR_CORRUPT, "33 bits");
}

enum { STRINGS = 700 };

/* Words that share beginnings, some empty, some long. */
static void make_strings(uint64_t *seed, char *memory, struct str *out)
{
    for (size_t i = 0; i < STRINGS; i++) {
        size_t length = test_random(seed) % 20 == 0 ? test_random(seed) % 200 : test_random(seed) % 12;
        for (size_t k = 0; k < length; k++)
            memory[k] = (char)('a' + test_random(seed) % (k < 4 ? 2 : 26));
        out[i] = (struct str){memory, length};
        memory += length;
    }
}

static void byte_arrays_by_their_lengths_come_back(void **state)
{
    uint64_t seed = 7;
    char memory[STRINGS * 200];
    struct str values[STRINGS], out[STRINGS];
    make_strings(&seed, memory, values);
    _cleanup_(strbuf_reset) struct strbuf encoded = {0};
    put_delta_length(&encoded, values, STRINGS);
    _cleanup_free_ uint8_t *bytes = exact_copy(&encoded);
    struct delta_length_decoder decoder;
    assert_ok(delta_length_init(&decoder, bytes, encoded.length));
    for (size_t i = 0; i < STRINGS;) {
        size_t taken = MIN(1 + test_random(&seed) % 100, STRINGS - i);
        bool skip = test_random(&seed) % 4 == 0;
        assert_ok(delta_length_read(&decoder, taken, skip ? NULL : out));
        for (size_t k = 0; !skip && k < taken; k++)
            assert_true(str_equal(out[k], values[i + k]));
        i += taken;
    }
    for (size_t cut = 0; cut < encoded.length; cut += cut < 64 ? 1 : 13) {
        struct strbuf part = {.data = encoded.data, .length = cut};
        _cleanup_free_ uint8_t *cut_bytes = exact_copy(&part);
        kith_error *error = delta_length_init(&decoder, cut_bytes, cut);
        if (error == NULL)
            error = delta_length_read(&decoder, STRINGS, out);
        assert_fails(error, KITH_ERROR_CORRUPT, "");
    }
}

static void byte_arrays_by_shared_prefixes_come_back(void **state)
{
    uint64_t seed = 8;
    char memory[STRINGS * 200];
    struct str values[STRINGS], out[DELTA_STRINGS_CHUNK];
    make_strings(&seed, memory, values);
    _cleanup_(strbuf_reset) struct strbuf encoded = {0};
    put_delta_strings(&encoded, values, STRINGS);
    _cleanup_free_ uint8_t *bytes = exact_copy(&encoded);
    _cleanup_(delta_strings_reset) struct delta_strings_decoder decoder = {0};
    for (int round = 0; round < 5; round++) {
        assert_ok(delta_strings_init(&decoder, bytes, encoded.length));
        for (size_t i = 0; i < STRINGS;) {
            size_t taken = MIN(1 + test_random(&seed) % DELTA_STRINGS_CHUNK, STRINGS - i);
            bool skip = test_random(&seed) % 4 == 0;
            assert_ok(delta_strings_read(&decoder, taken, skip ? NULL : out));
            for (size_t k = 0; !skip && k < taken; k++)
                assert_true(str_equal(out[k], values[i + k]));
            i += taken;
        }
    }
}

static void a_prefix_longer_than_the_value_before_is_refused(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf encoded = {0};
    put_delta(&encoded, (int64_t[]){0, 3}, 2, 128, 4, 32);
    put_delta_length(&encoded, (struct str[]){str_of("ab"), str_of("c")}, 2);
    _cleanup_(delta_strings_reset) struct delta_strings_decoder decoder = {0};
    struct str out[2];
    assert_ok(delta_strings_init(&decoder, (const uint8_t *)encoded.data, encoded.length));
    assert_fails(delta_strings_read(&decoder, 2, out), KITH_ERROR_CORRUPT, "shares 3 bytes");
}

static void a_negative_length_is_refused(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf encoded = {0};
    put_delta(&encoded, (int64_t[]){1, -1}, 2, 128, 4, 32);
    put_byte(&encoded, 'x');
    struct delta_length_decoder decoder;
    struct str out[2];
    assert_ok(delta_length_init(&decoder, (const uint8_t *)encoded.data, encoded.length));
    assert_fails(delta_length_read(&decoder, 2, out), KITH_ERROR_CORRUPT, "length -1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_with_steps_of_every_width_come_back),
        cmocka_unit_test(the_examples_of_the_format_decode),
        cmocka_unit_test(numbers_cut_anywhere_are_an_error),
        cmocka_unit_test(impossible_headers_are_refused),
        cmocka_unit_test(byte_arrays_by_their_lengths_come_back),
        cmocka_unit_test(byte_arrays_by_shared_prefixes_come_back),
        cmocka_unit_test(a_prefix_longer_than_the_value_before_is_refused),
        cmocka_unit_test(a_negative_length_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
