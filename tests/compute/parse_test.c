#include "base/alloc.h"
#include "columnar/calendar.h"
#include "compute/parse.h"
#include "testing.h"

static void booleans_are_spelled_as_in_postgresql(void **state)
{
    static const char *const yes[] = {"true", "T", "yes", "Y", "on", "1", " TRUE\n"};
    static const char *const no[] = {"false", "f", "NO", "n", "Off", "0", "\tfalse "};
    bool value;
    for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
        assert_int_equal(parse_boolean(str_of(yes[i]), &value), PARSE_OK);
        assert_true(value);
        assert_int_equal(parse_boolean(str_of(no[i]), &value), PARSE_OK);
        assert_false(value);
    }
    assert_int_equal(parse_boolean(str_of("2"), &value), PARSE_INVALID);
    assert_int_equal(parse_boolean(str_of(""), &value), PARSE_INVALID);
}

static enum parse_result integer(const char *text, int64_t *out)
{
    __int128 value = 0;
    enum parse_result result = parse_integer(str_of(text), INT64_MIN, INT64_MAX, &value);
    *out = (int64_t)value;
    return result;
}

static void integers_are_digits_with_a_sign(void **state)
{
    int64_t value;
    assert_int_equal(integer(" -9223372036854775808 ", &value), PARSE_OK);
    assert_int_equal(value, INT64_MIN);
    assert_int_equal(integer("+0042", &value), PARSE_OK);
    assert_int_equal(value, 42);
    assert_int_equal(integer("9223372036854775808", &value), PARSE_OUT_OF_RANGE);
    assert_int_equal(integer("99999999999999999999999999999999999999999999", &value), PARSE_OUT_OF_RANGE);
    static const char *const invalid[] = {"", "-", "+-1", "1.0", "1 2", "0x10", "1e3", "--1", "٣"};
    for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
        assert_int_equal(integer(invalid[i], &value), PARSE_INVALID);
}

static void check_decimal(const char *text, int precision, int scale, enum parse_result result, int64_t unscaled)
{
    __int128 value = 0;
    enum parse_result got = parse_decimal(str_of(text), precision, scale, &value);
    if (got != result || (result == PARSE_OK && value != unscaled))
        fail_msg("%s: result %d, value %lld", text, got, (long long)value);
}

/* PostgreSQL: SELECT '1.005'::numeric(10, 2) and so on. */
static void decimals_round_half_away_from_zero(void **state)
{
    check_decimal("1.005", 10, 2, PARSE_OK, 101);
    check_decimal("-1.005", 10, 2, PARSE_OK, -101);
    check_decimal("1.0049999999999999999999999999999999999999999", 10, 2, PARSE_OK, 100);
    check_decimal(".5", 10, 0, PARSE_OK, 1);
    check_decimal("-.4", 10, 0, PARSE_OK, 0);
    check_decimal("7.", 10, 2, PARSE_OK, 700);
    check_decimal("1e3", 10, 2, PARSE_OK, 100000);
    check_decimal("12345E-3", 10, 2, PARSE_OK, 1235);
    check_decimal("1e-99999999999999", 10, 2, PARSE_OK, 0);
    check_decimal("0e99999999999999", 10, 2, PARSE_OK, 0);
    check_decimal("0.05e1", 3, 1, PARSE_OK, 5);
    check_decimal("99.995", 4, 2, PARSE_OUT_OF_RANGE, 0);
    check_decimal("100", 4, 2, PARSE_OUT_OF_RANGE, 0);
    check_decimal("1e99999999999999", 38, 2, PARSE_OUT_OF_RANGE, 0);
    /* 2^128 + 1: what is left of it in 128 bits would fit. */
    check_decimal("340282366920938463463374607431768211457", 38, 0, PARSE_OUT_OF_RANGE, 0);
    check_decimal("-99999999999999999999999999999999999999.9", 38, 0, PARSE_OUT_OF_RANGE, 0);
    static const char *const invalid[] = {"", ".", "e5", "1e", "1e+", "1.2.3", "abc", "1,5", "NaN"};
    for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
        check_decimal(invalid[i], 10, 2, PARSE_INVALID, 0);
}

static void floats_are_the_nearest_ones(void **state)
{
    double value;
    assert_int_equal(parse_float(str_of("0.1"), &value), PARSE_OK);
    assert_true(value == 0.1);
    assert_int_equal(parse_float(str_of(" -2.5e-3 "), &value), PARSE_OK);
    assert_true(value == -0.0025);
    assert_int_equal(parse_float(str_of("-Infinity"), &value), PARSE_OK);
    assert_true(value == -__builtin_inf());
    assert_int_equal(parse_float(str_of("NaN"), &value), PARSE_OK);
    assert_true(value != value);
    assert_int_equal(parse_float(str_of("1e-400"), &value), PARSE_OK);
    assert_true(value == 0);
    assert_int_equal(parse_float(str_of("1e400"), &value), PARSE_OUT_OF_RANGE);
    static const char *const invalid[] = {"", "0x1p3", "1.5f", "nan(1)", "1_000", "- 1"};
    for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
        assert_int_equal(parse_float(str_of(invalid[i]), &value), PARSE_INVALID);
}

static void dates_must_exist(void **state)
{
    int32_t days;
    assert_int_equal(parse_date(str_of("2020-02-29"), &days), PARSE_OK);
    assert_int_equal(days, 18321);
    assert_int_equal(parse_date(str_of(" 1969-12-31"), &days), PARSE_OK);
    assert_int_equal(days, -1);
    assert_int_equal(parse_date(str_of("12020-01-01"), &days), PARSE_OK);
    assert_int_equal(days, calendar_to_days((struct civil_date){12020, 1, 1}));
    assert_int_equal(parse_date(str_of("2021-02-29"), &days), PARSE_OUT_OF_RANGE);
    assert_int_equal(parse_date(str_of("2021-13-01"), &days), PARSE_OUT_OF_RANGE);
    static const char *const invalid[] = {"",           "2020-1-1", "20200101",         "2020-01-01x",
                                          "2020/01/01", "20-01-01", "2020-01-01 10:00", "1234567-01-01"};
    for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
        assert_int_equal(parse_date(str_of(invalid[i]), &days), PARSE_INVALID);
}

static void check_timestamp(const char *text, enum time_unit unit, int32_t offset, int64_t expected)
{
    int64_t value = 0;
    enum parse_result result = parse_timestamp(str_of(text), unit, offset, &value);
    if (result != PARSE_OK || value != expected)
        fail_msg("%s: result %d, value %lld", text, result, (long long)value);
}

static void timestamps_have_optional_times_and_zones(void **state)
{
    check_timestamp("1970-01-02", UNIT_SECOND, 0, 86400);
    check_timestamp("1970-01-01 00:01", UNIT_MILLISECOND, 0, 60000);
    check_timestamp("1970-01-01T00:00:01.5", UNIT_MICROSECOND, 0, 1500000);
    check_timestamp("1969-12-31t23:59:59.123456789", UNIT_NANOSECOND, 0, -876543211);
    check_timestamp("1969-12-31 23:59:59.999", UNIT_SECOND, 0, -1);
    check_timestamp("1970-01-01 02:00:00+02", UNIT_SECOND, 0, 0);
    check_timestamp("1970-01-01 00:00:00-0330", UNIT_SECOND, 0, 12600);
    check_timestamp("1970-01-01 01:00:00 +01:00", UNIT_SECOND, 7200, 0);
    check_timestamp("1970-01-01 00:00:00Z", UNIT_SECOND, 7200, 0);
    check_timestamp("1970-01-01 00:00:00", UNIT_SECOND, 7200, -7200);
    check_timestamp("1677-09-21 00:12:43.145224192", UNIT_NANOSECOND, 0, INT64_MIN);
    check_timestamp("2262-04-11 23:47:16.854775807", UNIT_NANOSECOND, 0, INT64_MAX);
    int64_t value;
    assert_int_equal(parse_timestamp(str_of("2262-04-11 23:47:16.854775808"), UNIT_NANOSECOND, 0, &value),
                     PARSE_OUT_OF_RANGE);
    assert_int_equal(parse_timestamp(str_of("2020-01-01 24:00:00"), UNIT_SECOND, 0, &value), PARSE_OUT_OF_RANGE);
    static const char *const invalid[] = {
        "2020-01-01 10", "2020-01-01 10:00:00.",          "2020-01-01 10:00:00 Mars", "2020-01-01T",
        "10:00:00",      "2020-01-01 10:00:00.1234567891"};
    for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
        assert_int_equal(parse_timestamp(str_of(invalid[i]), UNIT_SECOND, 0, &value), PARSE_INVALID);
}

static void times_count_from_midnight(void **state)
{
    int64_t value;
    assert_int_equal(parse_time(str_of("10:30:00.25"), UNIT_MILLISECOND, &value), PARSE_OK);
    assert_int_equal(value, 37800250);
    assert_int_equal(parse_time(str_of("23:59"), UNIT_SECOND, &value), PARSE_OK);
    assert_int_equal(value, 86340);
    assert_int_equal(parse_time(str_of("23:60"), UNIT_SECOND, &value), PARSE_OUT_OF_RANGE);
    assert_int_equal(parse_time(str_of("1:00"), UNIT_SECOND, &value), PARSE_INVALID);
}

/* Any bytes, in memory that ends where they end: nothing is read beyond, and what is accepted is in range. */
static void check_interval(const char *text, enum parse_result result, int64_t months, int64_t days,
                           int64_t nanoseconds)
{
    struct interval value;
    assert_int_equal(parse_interval(str_of(text), "second", &value), result);
    if (result != PARSE_OK)
        return;
    assert_int_equal(value.months, months);
    assert_int_equal(value.days, days);
    assert_int_equal(value.nanoseconds, nanoseconds);
}

/* Months, days and microseconds as PostgreSQL 15 gives them for the same text. */
static void intervals_keep_months_days_and_time_apart(void **state)
{
    check_interval("1 year 2 mons", PARSE_OK, 14, 0, 0);
    check_interval(" 3 weeks -1 day ", PARSE_OK, 0, 20, 0);
    check_interval("1.5 days", PARSE_OK, 0, 1, INT64_C(43200000000000));
    check_interval("-04:05:06.7", PARSE_OK, 0, 0, INT64_C(-14706700000000));
    check_interval("90", PARSE_OK, 0, 0, INT64_C(90000000000));
    check_interval("2MS", PARSE_OK, 0, 0, 2000000);
    check_interval("1.5 months", PARSE_OUT_OF_RANGE, 0, 0, 0);
    check_interval("", PARSE_INVALID, 0, 0, 0);
    check_interval("1 parsec", PARSE_INVALID, 0, 0, 0);
    check_interval("01:60", PARSE_OUT_OF_RANGE, 0, 0, 0);
    check_interval("3000000000 days", PARSE_OUT_OF_RANGE, 0, 0, 0);
}

static void arbitrary_bytes_are_parsed_or_refused(void **state)
{
    static const char alphabet[] = "0123456789012345+-.eE: TZtruefalsnifyUC\0\xc3";
    uint64_t random = 10;
    for (int round = 0; round < 100000; round++) {
        size_t length = test_random(&random) % 24;
        _cleanup_free_ char *bytes = NULL;
        assert_ok(alloc_resize(&bytes, length, 1));
        for (size_t i = 0; i < length; i++)
            bytes[i] = alphabet[test_random(&random) % (sizeof alphabet - 1)];
        struct str text = {bytes, length};
        bool boolean;
        __int128 number;
        double real;
        int32_t days;
        int64_t units;
        (void)parse_boolean(text, &boolean);
        if (parse_integer(text, INT64_MIN, INT64_MAX, &number) == PARSE_OK)
            assert_true(number >= INT64_MIN && number <= INT64_MAX);
        if (parse_decimal(text, 9, 3, &number) == PARSE_OK)
            assert_true(number > -1000000000 && number < 1000000000);
        (void)parse_float(text, &real);
        (void)parse_date(text, &days);
        if (parse_time(text, UNIT_SECOND, &units) == PARSE_OK)
            assert_true(units >= 0 && units < 86400);
        (void)parse_timestamp(text, UNIT_NANOSECOND, -86340, &units);
        struct interval interval;
        (void)parse_fixed_offset(text, &days);
        (void)parse_interval(text, "day", &interval);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(booleans_are_spelled_as_in_postgresql),
        cmocka_unit_test(integers_are_digits_with_a_sign),
        cmocka_unit_test(decimals_round_half_away_from_zero),
        cmocka_unit_test(floats_are_the_nearest_ones),
        cmocka_unit_test(dates_must_exist),
        cmocka_unit_test(timestamps_have_optional_times_and_zones),
        cmocka_unit_test(times_count_from_midnight),
        cmocka_unit_test(intervals_keep_months_days_and_time_apart),
        cmocka_unit_test(arbitrary_bytes_are_parsed_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
