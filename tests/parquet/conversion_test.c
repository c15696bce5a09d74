#include "testing.h"

#include "parquet/conversion.h"

static struct conversion choose(enum parquet_type physical, int32_t length, struct data_type type)
{
    const struct parquet_column column = {.physical = physical, .type_length = length, .type = type};
    struct conversion conversion;
    assert_ok(conversion_choose(&column, &conversion));
    return conversion;
}

static void integers_are_narrowed_and_widened_with_their_sign(void **state)
{
    const int32_t numbers[] = {-1, 127, -128};
    const int64_t wide[] = {-1, INT64_MIN};
    int8_t narrow[3];
    int16_t shorter[3];
    int64_t decimal64[3];
    __int128 decimal128[3];
    struct conversion conversion = choose(PARQUET_INT32, 0, type_of(TYPE_INT8));
    assert_ok(convert_fixed(&conversion, (const uint8_t *)numbers, 3, (uint8_t *)narrow));
    conversion = choose(PARQUET_INT32, 0, type_of(TYPE_INT16));
    assert_ok(convert_fixed(&conversion, (const uint8_t *)numbers, 3, (uint8_t *)shorter));
    conversion = choose(PARQUET_INT32, 0, (struct data_type){.id = TYPE_DECIMAL64, .precision = 9});
    assert_ok(convert_fixed(&conversion, (const uint8_t *)numbers, 3, (uint8_t *)decimal64));
    conversion = choose(PARQUET_INT32, 0, (struct data_type){.id = TYPE_DECIMAL128, .precision = 9});
    assert_ok(convert_fixed(&conversion, (const uint8_t *)numbers, 3, (uint8_t *)decimal128));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(narrow[i], numbers[i]);
        assert_int_equal(shorter[i], numbers[i]);
        assert_true(decimal64[i] == numbers[i] && decimal128[i] == numbers[i]);
    }
    conversion = choose(PARQUET_INT64, 0, (struct data_type){.id = TYPE_DECIMAL128, .precision = 18});
    assert_ok(convert_fixed(&conversion, (const uint8_t *)wide, 2, (uint8_t *)decimal128));
    assert_true(decimal128[0] == -1 && decimal128[1] == INT64_MIN);
}

static void decimals_of_any_length_are_big_endian(void **state)
{
    const struct str values[] = {
        {"\x01\x00", 2}, {"\xff", 1}, {"\xff\xff\xff\xfe", 4}, {"", 0}, {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x7f", 17}};
    const int64_t expected[] = {256, -1, -2, 0, 127};
    __int128 out[5];
    struct conversion conversion = choose(PARQUET_BYTE_ARRAY, 0, (struct data_type){.id = TYPE_DECIMAL128});
    assert_ok(convert_slices(&conversion, values, 5, (uint8_t *)out));
    for (size_t i = 0; i < 5; i++)
        assert_true(out[i] == expected[i]);
}

static void a_decimal_that_does_not_fit_is_refused(void **state)
{
    const struct str too_large = {"\x00\x80\x00\x00\x00\x00\x00\x00\x00", 9}; /* 2^63 */
    const struct str largest = {"\x00\x7f\xff\xff\xff\xff\xff\xff\xff", 9};
    int64_t out;
    struct conversion conversion = choose(PARQUET_BYTE_ARRAY, 0, (struct data_type){.id = TYPE_DECIMAL64});
    assert_fails(convert_slices(&conversion, &too_large, 1, (uint8_t *)&out), KITH_ERROR_OUT_OF_RANGE, "9 bytes");
    assert_ok(convert_slices(&conversion, &largest, 1, (uint8_t *)&out));
    assert_true(out == INT64_MAX);
}

/* Julian day 2,440,588 is 1970-01-01; one nanosecond before it is the last one of the day before. */
static void timestamps_of_96_bits_count_julian_days(void **state)
{
    const struct {
        uint64_t nanoseconds;
        uint32_t day;
    } __attribute__((packed)) values[] = {{5, 2440588}, {86399999999999, 2440587}, {0, 2440589}};
    int64_t out[3];
    struct conversion conversion = choose(PARQUET_INT96, 0, type_timestamp(UNIT_NANOSECOND, ""));
    assert_ok(convert_fixed(&conversion, (const uint8_t *)values, 3, (uint8_t *)out));
    assert_int_equal(out[0], 5);
    assert_int_equal(out[1], -1);
    assert_int_equal(out[2], 86400000000000);
}

static void a_value_of_another_length_than_the_type_is_refused(void **state)
{
    const struct str value = {"abcd", 4};
    uint8_t out[5];
    struct conversion conversion =
        choose(PARQUET_FIXED_LEN_BYTE_ARRAY, 5, (struct data_type){.id = TYPE_FIXED_SIZE_BINARY, .byte_width = 5});
    assert_fails(convert_slices(&conversion, &value, 1, out), KITH_ERROR_CORRUPT, "4 bytes where all have 5");
}

static void types_that_do_not_become_each_other_are_refused(void **state)
{
    const struct parquet_column columns[] = {
        {.physical = PARQUET_DOUBLE, .type = {.id = TYPE_UTF8}},
        {.physical = PARQUET_INT96, .type = {.id = TYPE_TIMESTAMP, .unit = UNIT_SECOND}},
        {.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type = {.id = TYPE_FIXED_SIZE_BINARY}},
        {.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type = {.id = TYPE_DECIMAL128}}};
    struct conversion conversion;
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
        assert_fails(conversion_choose(&columns[i], &conversion), KITH_ERROR_NOT_IMPLEMENTED, "physical type");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_narrowed_and_widened_with_their_sign),
        cmocka_unit_test(decimals_of_any_length_are_big_endian),
        cmocka_unit_test(a_decimal_that_does_not_fit_is_refused),
        cmocka_unit_test(timestamps_of_96_bits_count_julian_days),
        cmocka_unit_test(a_value_of_another_length_than_the_type_is_refused),
        cmocka_unit_test(types_that_do_not_become_each_other_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
