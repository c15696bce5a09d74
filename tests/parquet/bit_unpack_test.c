#include "testing.h"

#include "base/alloc.h"
#include "parquet/bit_unpack.h"
#include "parquet/encoders.h"

enum { COUNT = 200 };

static void values_of_every_width_unpack_from_every_position(void **state)
{
    uint64_t seed = 1;
    for (unsigned width = 0; width <= 64; width++) {
        uint64_t values[COUNT];
        for (size_t i = 0; i < COUNT; i++)
            values[i] = width == 0 ? 0 : test_random(&seed) >> (64 - width);
        _cleanup_(strbuf_reset) struct strbuf packed = {0};
        put_packed(&packed, values, COUNT, width);
        _cleanup_free_ uint8_t *bytes = exact_copy(&packed);
        for (size_t start = 0; start < 40; start++) {
            uint64_t out[COUNT];
            bit_unpack64(bytes, bytes + packed.length, start * width, width, COUNT - start, out);
            assert_memory_equal(out, values + start, (COUNT - start) * sizeof *out);
            if (width > 32)
                continue;
            uint32_t out32[COUNT];
            bit_unpack32(bytes, bytes + packed.length, start * width, width, COUNT - start, out32);
            for (size_t i = start; i < COUNT; i++)
                assert_int_equal(out32[i - start], values[i]);
        }
    }
}

/* Encodings.md: the numbers 0 to 7 in 3 bits are the bytes 88 C6 FA. */
static void the_example_of_the_format_unpacks(void **state)
{
    const uint8_t bytes[] = {0x88, 0xc6, 0xfa};
    uint32_t out[8];
    bit_unpack32(bytes, bytes + sizeof bytes, 0, 3, 8, out);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(out[i], i);
}

static void a_varint_is_read_whole_or_not_at_all(void **state)
{
    const uint64_t numbers[] = {0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        _cleanup_(strbuf_reset) struct strbuf buffer = {0};
        put_varint(&buffer, numbers[i]);
        _cleanup_free_ uint8_t *bytes = exact_copy(&buffer);
        for (size_t cut = 0; cut <= buffer.length; cut++) {
            const uint8_t *at = bytes;
            uint64_t value;
            assert_int_equal(varint_read(&at, bytes + cut, &value), cut == buffer.length);
            assert_ptr_equal(at, bytes + (cut == buffer.length ? cut : 0));
        }
    }
    const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    const uint8_t *at = too_long;
    uint64_t value;
    assert_false(varint_read(&at, too_long + sizeof too_long, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_width_unpack_from_every_position),
        cmocka_unit_test(the_example_of_the_format_unpacks),
        cmocka_unit_test(a_varint_is_read_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
