/*
 * Bounds of row groups, each test one trap of the format (parquet.thrift, Statistics and ColumnOrder; LogicalTypes.md).
 */
#include "testing.h"

#include "footer_fixture.h"

#include <math.h>

static struct column_statistics decode(struct footer_fixture *fixture, struct parquet_file **file)
{
    struct column_statistics statistics;
    assert_ok(fixture_open(fixture, file));
    parquet_row_group_statistics(*file, 0, 0, &statistics);
    assert_int_equal(statistics.row_count, fixture->group_rows);
    return statistics;
}

#define STATISTICS(fixture)                                         \
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL; \
    struct column_statistics statistics = decode(&(fixture), &file)

/* Whether the fixture's bounds are used at all. */
static bool has_bounds(struct footer_fixture fixture)
{
    STATISTICS(fixture);
    assert_int_equal(statistics.has_min, statistics.has_max);
    fixture_reset(&fixture);
    return statistics.has_min;
}

static struct footer_fixture with_bounds(enum parquet_type type, struct str min, struct str max)
{
    struct footer_fixture fixture = fixture_default();
    fixture.type = type;
    fixture.min = min;
    fixture.max = max;
    return fixture;
}

static struct footer_fixture with_logical(struct footer_fixture fixture, int16_t logical, struct str fields)
{
    fixture.logical = logical;
    fixture.logical_fields = fields;
    return fixture;
}

static void integers_are_little_endian_and_signed(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture =
        with_bounds(PARQUET_INT32, BYTES("\xFE\xFF\xFF\xFF"), BYTES("\x00\x01\x00\x00"));
    STATISTICS(fixture);
    assert_true(statistics.has_min && statistics.has_max && statistics.min_exact && statistics.max_exact);
    assert_int_equal(statistics.min.int64, -2);
    assert_int_equal(statistics.max.int64, 256);
}

static void unsigned_integers_use_the_high_bit_as_value(void **state)
{
    struct footer_fixture fixture = with_bounds(PARQUET_INT64, BYTES("\1\0\0\0\0\0\0\0"), BYTES("\0\0\0\0\0\0\0\x80"));
    assert_false(has_bounds(fixture)); /* as signed numbers they are crossed */
    fixture = with_logical(fixture, 10, BYTES("\x13\x40\x12"));
    STATISTICS(fixture);
    assert_true(statistics.has_max);
    assert_true(statistics.max.uint64 == UINT64_C(1) << 63);
    fixture_reset(&fixture);
}

static void narrow_integers_must_be_in_range(void **state)
{
    struct footer_fixture fixture = with_bounds(PARQUET_INT32, BYTES("\x80\0\0\0"), BYTES("\x80\0\0\0"));
    assert_false(has_bounds(with_logical(fixture, 10, BYTES("\x13\x08\x11")))); /* 128 as Int8 */
    assert_true(has_bounds(with_logical(fixture, 10, BYTES("\x13\x08\x12"))));  /* as UInt8 */
    fixture.min = BYTES("\xFF\xFF\xFF\xFF");
    assert_false(has_bounds(with_logical(fixture, 10, BYTES("\x13\x10\x12")))); /* -1 as UInt16 */
}

static void a_bound_of_wrong_length_voids_both(void **state)
{
    assert_false(has_bounds(with_bounds(PARQUET_INT64, BYTES("\1\0\0\0"), BYTES("\1\0\0\0"))));
    assert_false(has_bounds(with_bounds(PARQUET_INT32, BYTES(""), BYTES(""))));
    assert_false(has_bounds(with_bounds(PARQUET_DOUBLE, BYTES("\0\0\0\0"), BYTES("\0\0\0\0"))));
    assert_false(has_bounds(with_bounds(PARQUET_BOOLEAN, BYTES("\2"), BYTES("\2"))));
    struct footer_fixture fixture = with_bounds(PARQUET_FIXED_LEN_BYTE_ARRAY, BYTES("ab"), BYTES("abc"));
    fixture.type_length = 3;
    assert_false(has_bounds(fixture));
}

static void crossed_bounds_are_both_absent(void **state)
{
    assert_false(has_bounds(with_bounds(PARQUET_INT32, BYTES("\2\0\0\0"), BYTES("\1\0\0\0"))));
}

static void one_bound_alone_is_used(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture =
        with_bounds(PARQUET_INT32, BYTES("\2\0\0\0"), (struct str){0});
    STATISTICS(fixture);
    assert_true(statistics.has_min);
    assert_false(statistics.has_max);
}

static void string_bounds_need_a_defined_order(void **state)
{
    struct footer_fixture fixture = with_bounds(PARQUET_BYTE_ARRAY, BYTES("a"), BYTES("b"));
    fixture.converted = 0;
    assert_true(has_bounds(fixture));
    fixture.column_order = 0; /* no list */
    assert_false(has_bounds(fixture));
    fixture.column_order = 9; /* of a later version */
    assert_false(has_bounds(fixture));
    fixture.column_order = 2; /* of floating-point numbers only */
    assert_false(has_bounds(fixture));
    fixture.column_order = 1;
    fixture.order_count = 3; /* not one a column */
    assert_false(has_bounds(fixture));
}

static void signed_bounds_need_no_list_of_orders_but_no_unknown_one_either(void **state)
{
    struct footer_fixture fixture = with_bounds(PARQUET_INT32, BYTES("\1\0\0\0"), BYTES("\2\0\0\0"));
    fixture.column_order = 0;
    assert_true(has_bounds(fixture));
    fixture.column_order = 9;
    assert_false(has_bounds(fixture));
    fixture = with_logical(fixture, 10, BYTES("\x13\x20\x12")); /* unsigned */
    fixture.column_order = 0;
    assert_false(has_bounds(fixture));
}

static void deprecated_bounds_are_used_for_signed_types_only(void **state)
{
    struct footer_fixture fixture = fixture_default();
    fixture.legacy_min = BYTES("\1\0\0\0");
    fixture.legacy_max = BYTES("\2\0\0\0");
    fixture.column_order = 0;
    assert_true(has_bounds(fixture));
    assert_false(has_bounds(with_logical(fixture, 10, BYTES("\x13\x20\x12"))));
    fixture.type = PARQUET_BYTE_ARRAY;
    fixture.converted = 0;
    assert_false(has_bounds(fixture));
    fixture.converted = 5;
    fixture.precision = 9;
    fixture.scale = 2;
    assert_false(has_bounds(fixture)); /* a decimal in bytes */
    fixture.type = PARQUET_INT32;
    assert_true(has_bounds(fixture));
}

static void types_without_order_have_no_bounds(void **state)
{
    struct str twelve = BYTES("\0\0\0\0\0\0\0\0\0\0\0\0");
    assert_false(has_bounds(with_bounds(PARQUET_INT96, twelve, twelve)));
    struct footer_fixture fixture = with_bounds(PARQUET_FIXED_LEN_BYTE_ARRAY, twelve, twelve);
    fixture.type_length = 12;
    fixture.converted = 21; /* INTERVAL */
    assert_false(has_bounds(fixture));
    fixture = with_bounds(PARQUET_BYTE_ARRAY, BYTES("a"), BYTES("b"));
    assert_false(has_bounds(with_logical(fixture, 17, (struct str){0}))); /* GEOMETRY */
    assert_false(has_bounds(with_logical(fixture, 99, (struct str){0})));
}

static void a_nan_bound_voids_both(void **state)
{
    struct str nan = BYTES("\0\0\0\0\0\0\xF8\x7F"), one = BYTES("\0\0\0\0\0\0\xF0\x3F");
    assert_false(has_bounds(with_bounds(PARQUET_DOUBLE, nan, one)));
    assert_false(has_bounds(with_bounds(PARQUET_DOUBLE, one, nan)));
    assert_false(has_bounds(with_bounds(PARQUET_FLOAT, BYTES("\0\0\xC0\x7F"), BYTES("\0\0\x80\x3F"))));
    struct footer_fixture half = with_bounds(PARQUET_FIXED_LEN_BYTE_ARRAY, BYTES("\x01\x7C"), BYTES("\0\x3C"));
    half.type_length = 2;
    assert_false(has_bounds(with_logical(half, 15, (struct str){0})));
}

static void a_zero_bound_covers_both_zeros(void **state)
{
    /* min +0.0 and max -0.0, as writers that compare them as equal leave them */
    _cleanup_(fixture_reset) struct footer_fixture fixture =
        with_bounds(PARQUET_DOUBLE, BYTES("\0\0\0\0\0\0\0\0"), BYTES("\0\0\0\0\0\0\0\x80"));
    {
        STATISTICS(fixture);
        assert_true(statistics.has_min && statistics.has_max);
        assert_true(signbit(statistics.min.float64));
        assert_false(signbit(statistics.max.float64));
    }
    fixture.type = PARQUET_FLOAT;
    fixture.min = BYTES("\0\0\0\0");
    fixture.max = BYTES("\0\0\0\x80");
    {
        STATISTICS(fixture);
        assert_true(signbit(statistics.min.float32));
        assert_false(signbit(statistics.max.float32));
    }
    fixture.type = PARQUET_FIXED_LEN_BYTE_ARRAY;
    fixture.type_length = 2;
    fixture.logical = 15;
    fixture.min = BYTES("\0\0");
    fixture.max = BYTES("\0\x80");
    STATISTICS(fixture);
    assert_int_equal(statistics.min.uint64, 0x8000);
    assert_int_equal(statistics.max.uint64, 0);
}

static void floats_may_have_nan_unless_counted_as_none(void **state)
{
    struct footer_fixture fixture = fixture_default();
    const struct {
        enum parquet_type type;
        int64_t nan_count;
        bool may;
    } cases[] = {{PARQUET_DOUBLE, ABSENT, true},
                 {PARQUET_DOUBLE, 0, false},
                 {PARQUET_FLOAT, 3, true},
                 {PARQUET_FLOAT, -7, true},
                 {PARQUET_INT32, ABSENT, false}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        fixture.type = cases[i].type;
        fixture.nan_count = cases[i].nan_count;
        STATISTICS(fixture);
        assert_int_equal(statistics.may_have_nan, cases[i].may);
    }
    fixture_reset(&fixture);
}

static void the_total_order_of_floats_is_used(void **state)
{
    struct footer_fixture fixture =
        with_bounds(PARQUET_DOUBLE, BYTES("\0\0\0\0\0\0\xF0\xBF"), BYTES("\0\0\0\0\0\0\xF0\x3F"));
    fixture.column_order = 2;
    assert_true(has_bounds(fixture));
}

static void a_missing_null_count_stays_missing(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture = fixture_default();
    {
        STATISTICS(fixture);
        assert_false(statistics.has_null_count);
        assert_true(statistics_may_have_null(&statistics));
    }
    fixture.null_count = 4;
    {
        STATISTICS(fixture);
        assert_true(statistics.has_null_count);
        assert_int_equal(statistics.null_count, 4);
    }
    fixture.null_count = -4;
    {
        STATISTICS(fixture);
        assert_false(statistics.has_null_count);
    }
    fixture.null_count = 11; /* of 10 rows */
    {
        STATISTICS(fixture);
        assert_false(statistics.has_null_count);
    }
    fixture.null_count = ABSENT;
    fixture.repetition = 0; /* required: the schema says so */
    STATISTICS(fixture);
    assert_true(statistics.has_null_count);
    assert_int_equal(statistics.null_count, 0);
}

static void exactness_of_strings_must_be_said(void **state)
{
    static const struct {
        int said;
        bool exact;
    } cases[] = {{ABSENT, false}, {0, false}, {1, true}};
    _cleanup_(fixture_reset) struct footer_fixture fixture = with_bounds(PARQUET_BYTE_ARRAY, BYTES("a"), BYTES("b"));
    fixture.converted = 0;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        fixture.min_exact = fixture.max_exact = cases[i].said;
        STATISTICS(fixture);
        assert_int_equal(statistics.min_exact, cases[i].exact);
        assert_int_equal(statistics.max_exact, cases[i].exact);
        assert_true(str_equal(statistics.min.string, str_of("a")));
    }
}

static void numbers_are_exact_unless_said_otherwise(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture =
        with_bounds(PARQUET_INT32, BYTES("\1\0\0\0"), BYTES("\2\0\0\0"));
    fixture.max_exact = 0;
    STATISTICS(fixture);
    assert_true(statistics.min_exact);
    assert_false(statistics.max_exact);
}

static void decimals_in_bytes_are_big_endian(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture =
        with_bounds(PARQUET_BYTE_ARRAY, BYTES("\xFF\x38"), BYTES("\x01\x00"));
    fixture.converted = 5;
    fixture.precision = 30;
    fixture.scale = 2;
    {
        STATISTICS(fixture);
        assert_true(statistics.min.decimal == -200);
        assert_true(statistics.max.decimal == 256);
    }
    /* Seventeen bytes, the first of which only repeats the sign; then one in which it does not. */
    fixture.min = BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE");
    {
        STATISTICS(fixture);
        assert_true(statistics.min.decimal == -2);
    }
    fixture.min = BYTES("\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE");
    {
        STATISTICS(fixture);
        assert_false(statistics.has_min);
    }
    fixture.min = BYTES("");
    STATISTICS(fixture);
    assert_false(statistics.has_min);
}

static void short_decimals_in_bytes_are_big_endian_too(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture =
        with_bounds(PARQUET_FIXED_LEN_BYTE_ARRAY, BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x38"), BYTES("\0\0\0\0\0\0\1\0"));
    fixture.type_length = 8;
    fixture.converted = 5;
    fixture.precision = 18;
    fixture.scale = 2;
    {
        STATISTICS(fixture);
        assert_int_equal(statistics.min.int64, -200);
        assert_int_equal(statistics.max.int64, 256);
    }
    fixture.type = PARQUET_BYTE_ARRAY;
    fixture.max = BYTES("\x00\x80\x00\x00\x00\x00\x00\x00\x00"); /* 2^63 is no Decimal64 */
    STATISTICS(fixture);
    assert_false(statistics.has_max);
}

static void decimals_in_integers_are_little_endian(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture =
        with_bounds(PARQUET_INT32, BYTES("\x38\xFF\xFF\xFF"), BYTES("\x00\x01\x00\x00"));
    fixture.converted = 5;
    fixture.precision = 9;
    fixture.scale = 2;
    STATISTICS(fixture);
    assert_int_equal(statistics.min.int64, -200);
    assert_int_equal(statistics.max.int64, 256);
}

static void a_null_column_is_all_null(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture = fixture_default();
    fixture.logical = 11;
    STATISTICS(fixture);
    assert_true(statistics_all_null(&statistics));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_little_endian_and_signed),
        cmocka_unit_test(unsigned_integers_use_the_high_bit_as_value),
        cmocka_unit_test(narrow_integers_must_be_in_range),
        cmocka_unit_test(a_bound_of_wrong_length_voids_both),
        cmocka_unit_test(crossed_bounds_are_both_absent),
        cmocka_unit_test(one_bound_alone_is_used),
        cmocka_unit_test(string_bounds_need_a_defined_order),
        cmocka_unit_test(signed_bounds_need_no_list_of_orders_but_no_unknown_one_either),
        cmocka_unit_test(deprecated_bounds_are_used_for_signed_types_only),
        cmocka_unit_test(types_without_order_have_no_bounds),
        cmocka_unit_test(a_nan_bound_voids_both),
        cmocka_unit_test(a_zero_bound_covers_both_zeros),
        cmocka_unit_test(floats_may_have_nan_unless_counted_as_none),
        cmocka_unit_test(the_total_order_of_floats_is_used),
        cmocka_unit_test(a_missing_null_count_stays_missing),
        cmocka_unit_test(exactness_of_strings_must_be_said),
        cmocka_unit_test(numbers_are_exact_unless_said_otherwise),
        cmocka_unit_test(decimals_in_bytes_are_big_endian),
        cmocka_unit_test(short_decimals_in_bytes_are_big_endian_too),
        cmocka_unit_test(decimals_in_integers_are_little_endian),
        cmocka_unit_test(a_null_column_is_all_null),
    };
    return cmocka_run_group_tests_name("parquet/statistics", tests, NULL, NULL);
}
