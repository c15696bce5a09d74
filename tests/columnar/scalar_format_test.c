#include "testing.h"

#include "base/alloc.h"
#include "columnar/scalar.h"

static void assert_text(const struct scalar *scalar, const char *expected)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    assert_ok(scalar_format(scalar, &text));
    assert_string_equal(strbuf_text(&text), expected);
}

/* The texts of this file are DuckDB 2.0's casts to VARCHAR, but for what it has no type for. */
static void doubles_have_the_fewest_digits(void **state)
{
    const struct {
        double value;
        const char *text;
    } cases[] = {
        {1, "1.0"},
        {0.1, "0.1"},
        {-0.0, "-0.0"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {123456789012345678.0, "1.2345678901234568e+17"},
        {1e-4, "0.0001"},
        {1e-5, "1e-05"},
        {1.5e-7, "1.5e-07"},
        {1e100, "1e+100"},
        {100000, "100000.0"},
        {9007199254740993.0, "9007199254740992.0"},
        {2.0 / 3, "0.6666666666666666"},
        {0x1p-1074, "5e-324"},
        {0x1.fffffffffffffp1023, "1.7976931348623157e+308"},
        {__builtin_inf(), "inf"},
        {-__builtin_inf(), "-inf"},
        {__builtin_nan(""), "nan"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_text(&(struct scalar){.type = type_of(TYPE_FLOAT64), .float64 = cases[i].value}, cases[i].text);
}

static void floats_have_digits_of_their_own_precision(void **state)
{
    const struct {
        float value;
        const char *text;
    } cases[] = {{0.1F, "0.1"},    {1e10F, "10000000000.0"}, {16777216.0F, "16777216.0"}, {3.4e38F, "3.4e+38"},
                 {1e-5F, "1e-05"}, {123456.7F, "123456.7"},  {0x1p-149F, "1e-45"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_text(&(struct scalar){.type = type_of(TYPE_FLOAT32), .float32 = cases[i].value}, cases[i].text);
    assert_text(&(struct scalar){.type = type_of(TYPE_FLOAT16), .uint64 = 0xc100}, "-2.5");
}

static void every_double_reads_back_as_itself(void **state)
{
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        struct scalar scalar = {.type = type_of(TYPE_FLOAT64), .uint64 = test_random(&random)};
        if (__builtin_isnan(scalar.float64))
            continue;
        _cleanup_(strbuf_reset) struct strbuf text = {0};
        assert_ok(scalar_format(&scalar, &text));
        assert_true(strtod(strbuf_text(&text), NULL) == scalar.float64);
    }
}

static void decimals_show_their_scale(void **state)
{
    const struct {
        __int128 value;
        int8_t scale;
        const char *text;
    } cases[] = {{1250, 2, "12.50"}, {-5, 2, "-0.05"}, {0, 3, "0.000"}, {5, 0, "5"}, {-12, -3, "-12000"}, {0, -3, "0"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct data_type wide = {.id = TYPE_DECIMAL128, .precision = 38, .scale = cases[i].scale}, narrow = wide;
        narrow.id = TYPE_DECIMAL64;
        assert_text(&(struct scalar){.type = wide, .decimal = cases[i].value}, cases[i].text);
        assert_text(&(struct scalar){.type = narrow, .int64 = (int64_t)cases[i].value}, cases[i].text);
    }
    struct data_type type = {.id = TYPE_DECIMAL128, .precision = 38};
    __int128 least = (__int128)((unsigned __int128)1 << 127);
    assert_text(&(struct scalar){.type = type, .decimal = least}, "-170141183460469231731687303715884105728");
    type.scale = 39;
    assert_text(&(struct scalar){.type = type, .decimal = least}, "-0.170141183460469231731687303715884105728");
}

static void integers_and_truth_values_are_plain(void **state)
{
    assert_text(&(struct scalar){.type = type_of(TYPE_INT64), .int64 = INT64_MIN}, "-9223372036854775808");
    assert_text(&(struct scalar){.type = type_of(TYPE_UINT64), .uint64 = UINT64_MAX}, "18446744073709551615");
    assert_text(&(struct scalar){.type = type_of(TYPE_INT8), .int64 = -128}, "-128");
    assert_text(&(struct scalar){.type = type_of(TYPE_BOOL), .boolean = true}, "true");
    assert_text(&(struct scalar){.type = type_of(TYPE_BOOL), .is_null = true}, "NULL");
}

static void dates_and_timestamps_print_any_year(void **state)
{
    assert_text(&(struct scalar){.type = type_of(TYPE_DATE32), .int64 = 8035}, "1992-01-01");
    assert_text(&(struct scalar){.type = type_of(TYPE_DATE32), .int64 = 2932897}, "10000-01-01");
    assert_text(&(struct scalar){.type = type_of(TYPE_DATE32), .int64 = -735160}, "0044-03-15 (BC)");
    assert_text(&(struct scalar){.type = type_of(TYPE_DATE64), .int64 = -86400000}, "1969-12-31");
    const struct {
        enum time_unit unit;
        const char *timezone;
        int64_t value;
        const char *text;
    } cases[] = {
        {UNIT_SECOND, "", 1577836800, "2020-01-01 00:00:00"},
        {UNIT_MILLISECOND, "", 1577840523120, "2020-01-01 01:02:03.12"},
        {UNIT_MICROSECOND, "", 1577840523000001, "2020-01-01 01:02:03.000001"},
        {UNIT_NANOSECOND, "", 1577840523123456789, "2020-01-01 01:02:03.123456789"},
        {UNIT_MICROSECOND, "Europe/Berlin", 1577840523000000, "2020-01-01 01:02:03+00"},
        {UNIT_MICROSECOND, "", -1, "1969-12-31 23:59:59.999999"},
        {UNIT_SECOND, "", INT64_C(-735160) * 86400 + 3723, "0044-03-15 (BC) 01:02:03"},
        {UNIT_SECOND, "", INT64_MAX, "292277026596-12-04 15:30:07"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct data_type type = type_timestamp(cases[i].unit, cases[i].timezone);
        assert_text(&(struct scalar){.type = type, .int64 = cases[i].value}, cases[i].text);
    }
}

static void times_durations_and_intervals_print_as_in_postgresql(void **state)
{
    const struct data_type time = {.id = TYPE_TIME32, .unit = UNIT_MILLISECOND};
    const struct data_type duration = {.id = TYPE_DURATION, .unit = UNIT_SECOND};
    assert_text(&(struct scalar){.type = time, .int64 = 3723500}, "01:02:03.5");
    assert_text(&(struct scalar){.type = time, .int64 = 86400000}, "24:00:00");
    assert_text(&(struct scalar){.type = duration, .int64 = 360000}, "100:00:00");
    assert_text(&(struct scalar){.type = duration, .int64 = INT64_MIN}, "-2562047788015215:30:08");
    assert_text(&(struct scalar){.type = type_of(TYPE_INTERVAL_MONTHS), .int64 = 14}, "1 year 2 months");
    assert_text(&(struct scalar){.type = type_of(TYPE_INTERVAL_MONTHS), .int64 = -1}, "-1 month");
    const struct {
        int32_t months, days;
        int64_t nanoseconds;
        const char *text;
    } cases[] = {{14, 3, 14706700000000, "1 year 2 months 3 days 04:05:06.7"},
                 {0, -3, -14706000000000, "-3 days -04:05:06"},
                 {0, 0, 0, "00:00:00"},
                 {0, 1, 0, "1 day"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct scalar scalar = {.type = type_of(TYPE_INTERVAL_MONTH_DAY_NANO),
                                .interval = {cases[i].months, cases[i].days, cases[i].nanoseconds}};
        assert_text(&scalar, cases[i].text);
    }
}

static void bytes_that_do_not_print_are_escaped(void **state)
{
    struct scalar scalar = {.type = type_of(TYPE_BINARY), .string = {"\0ab\xff\\\"'\x7f", 8}};
    assert_text(&scalar, "\\x00ab\\xFF\\x5C\\x22\\x27\\x7F");
    scalar.type = type_of(TYPE_UTF8);
    scalar.string = str_of("it's \\");
    assert_text(&scalar, "it's \\");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_have_the_fewest_digits),
        cmocka_unit_test(floats_have_digits_of_their_own_precision),
        cmocka_unit_test(every_double_reads_back_as_itself),
        cmocka_unit_test(decimals_show_their_scale),
        cmocka_unit_test(integers_and_truth_values_are_plain),
        cmocka_unit_test(dates_and_timestamps_print_any_year),
        cmocka_unit_test(times_durations_and_intervals_print_as_in_postgresql),
        cmocka_unit_test(bytes_that_do_not_print_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
