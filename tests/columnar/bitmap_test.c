#include "testing.h"

#include "columnar/bitmap.h"

enum { BYTES = 48, BITS = BYTES * 8 };

static void fill_random(uint64_t *random, uint8_t *bytes)
{
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)test_random(random);
}

static void counting_agrees_with_bit_by_bit(void **state)
{
    uint64_t random = 1;
    uint8_t bits[BYTES];
    for (int round = 0; round < 2000; round++) {
        fill_random(&random, bits);
        size_t offset = test_random(&random) % BITS, length = test_random(&random) % (BITS - offset + 1);
        size_t expected = 0;
        for (size_t i = 0; i < length; i++)
            expected += bitmap_get(bits, offset + i);
        assert_int_equal(bitmap_count(bits, offset, length), expected);
    }
}

static void copying_agrees_with_bit_by_bit_and_leaves_other_bits(void **state)
{
    uint64_t random = 2;
    uint8_t from[BYTES], to[BYTES], expected[BYTES];
    for (int round = 0; round < 4000; round++) {
        fill_random(&random, from);
        fill_random(&random, to);
        memcpy(expected, to, BYTES);
        size_t offset = test_random(&random) % BITS, out_offset = test_random(&random) % BITS;
        size_t most = BITS - (offset > out_offset ? offset : out_offset);
        size_t length = test_random(&random) % (most + 1);
        for (size_t i = 0; i < length; i++)
            bitmap_assign(expected, out_offset + i, bitmap_get(from, offset + i));
        bitmap_copy(to, out_offset, from, offset, length);
        assert_memory_equal(to, expected, BYTES);
    }
}

static void intersecting_agrees_with_bit_by_bit_and_leaves_other_bits(void **state)
{
    uint64_t random = 3;
    uint8_t from[BYTES], to[BYTES], expected[BYTES];
    for (int round = 0; round < 4000; round++) {
        fill_random(&random, from);
        fill_random(&random, to);
        memcpy(expected, to, BYTES);
        size_t offset = test_random(&random) % BITS, out_offset = test_random(&random) % BITS;
        size_t most = BITS - (offset > out_offset ? offset : out_offset);
        size_t length = test_random(&random) % (most + 1);
        for (size_t i = 0; i < length; i++)
            if (!bitmap_get(from, offset + i))
                bitmap_clear(expected, out_offset + i);
        bitmap_and(to, out_offset, from, offset, length);
        assert_memory_equal(to, expected, BYTES);
    }
}

static void filling_agrees_with_bit_by_bit_and_leaves_other_bits(void **state)
{
    uint64_t random = 4;
    uint8_t bits[BYTES], expected[BYTES];
    for (int round = 0; round < 2000; round++) {
        fill_random(&random, bits);
        memcpy(expected, bits, BYTES);
        size_t offset = test_random(&random) % BITS, length = test_random(&random) % (BITS - offset + 1);
        bool value = round & 1;
        for (size_t i = 0; i < length; i++)
            bitmap_assign(expected, offset + i, value);
        bitmap_fill(bits, offset, length, value);
        assert_memory_equal(bits, expected, BYTES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_agrees_with_bit_by_bit),
        cmocka_unit_test(copying_agrees_with_bit_by_bit_and_leaves_other_bits),
        cmocka_unit_test(intersecting_agrees_with_bit_by_bit_and_leaves_other_bits),
        cmocka_unit_test(filling_agrees_with_bit_by_bit_and_leaves_other_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
