#include "compute/cast.h"
#include "compute/columns.h"

static void check(struct array *take_from, struct data_type to, const char *expected)
{
    _cleanup_(array_unref) struct array *from = take_from, *result = NULL;
    struct datum datum = datum_of(from);
    assert_ok(cast_check(&from->type, &to));
    assert_ok(cast_run(&datum, &to, false, from->length, NULL, &result));
    assert_true(type_equal(&result->type, &to));
    assert_column(result, expected);
}

/* CAST fails with the error, TRY_CAST gives `expected`. */
static void check_fails(struct array *take_from, struct data_type to, enum kith_code code, const char *message,
                        const char *expected)
{
    _cleanup_(array_unref) struct array *from = take_from, *result = NULL;
    struct array *none = NULL;
    struct datum datum = datum_of(from);
    assert_fails(cast_run(&datum, &to, false, from->length, NULL, &none), code, message);
    assert_ok(cast_run(&datum, &to, true, from->length, NULL, &result));
    assert_column(result, expected);
}

static void integers_keep_their_value_or_fail(void **state)
{
    check(INTS(type_of(TYPE_INT64), 127, -128, NOTHING), type_of(TYPE_INT8), "127,-128,NULL");
    check(INTS(type_of(TYPE_INT32), -1, 5), type_of(TYPE_INT64), "-1,5");
    check(INTS(type_of(TYPE_UINT64), -1), type_decimal(38, 0), "18446744073709551615");
    check(INTS(type_of(TYPE_BOOL), 1, 0, NOTHING), type_of(TYPE_INT32), "1,0,NULL");
    check(INTS(type_of(TYPE_INT32), 0, -3), type_of(TYPE_BOOL), "false,true");
    check_fails(INTS(type_of(TYPE_INT64), 1, 128, 2), type_of(TYPE_INT8), KITH_ERROR_OUT_OF_RANGE,
                "128 is out of the range of Int8", "1,NULL,2");
    check_fails(INTS(type_of(TYPE_INT64), -1), type_of(TYPE_UINT64), KITH_ERROR_OUT_OF_RANGE, "UInt64", "NULL");
    check_fails(INTS(type_of(TYPE_UINT64), -1), type_of(TYPE_INT64), KITH_ERROR_OUT_OF_RANGE, "18446744073709551615",
                "NULL");
}

/* PostgreSQL: SELECT 2.5::float8::int, 3.5::float8::int, (-2.5)::float8::int */
static void floats_round_half_to_even(void **state)
{
    check(DOUBLES(2.5, 3.5, -2.5, 0.49999999999999994), type_of(TYPE_INT32), "2,4,-2,0");
    /* DuckDB 1.x, DataFusion 55: SELECT 2.005::double::decimal(10, 2), 0.285::double::decimal(10, 2) */
    check(DOUBLES(0.125, 2.005, 0.285, -1.5), type_decimal(10, 2), "0.13,2.01,0.28,-1.50");
    check_fails(DOUBLES(2147483647.4, 2147483647.6), type_of(TYPE_INT32), KITH_ERROR_OUT_OF_RANGE, "Int32",
                "2147483647,NULL");
    check_fails(DOUBLES(__builtin_nan(""), __builtin_inf(), 1e300), type_of(TYPE_INT64), KITH_ERROR_OUT_OF_RANGE, "nan",
                "NULL,NULL,NULL");
    check_fails(DOUBLES(__builtin_nan(""), 1e38, 9e37), type_decimal(38, 0), KITH_ERROR_OUT_OF_RANGE, "nan",
                "NULL,NULL,89999999999999992307089061666856370176");
    check_fails(DOUBLES(1e300, 0.5), type_of(TYPE_FLOAT32), KITH_ERROR_OUT_OF_RANGE, "Float32", "NULL,0.5");
}

/* PostgreSQL: SELECT 2.5::numeric::int, (-2.5)::numeric::int, 1.005::numeric(10,2), 99.995::numeric(4,2) */
static void decimals_round_half_away_from_zero(void **state)
{
    check(INTS(type_decimal(10, 1), 25, -25, 24), type_of(TYPE_INT32), "3,-3,2");
    check(INTS(type_decimal(10, 3), 1005, -1005, 1004), type_decimal(20, 2), "1.01,-1.01,1.00");
    check(INTS(type_decimal(10, 2), 1234), type_decimal(38, 10), "12.3400000000");
    check(INTS(type_decimal(10, 2), 1234, -5), type_of(TYPE_FLOAT64), "12.34,-0.05");
    check_fails(INTS(type_decimal(10, 3), 99995), type_decimal(4, 2), KITH_ERROR_OUT_OF_RANGE, "99.995", "NULL");
}

static void texts_are_parsed_or_quoted_in_the_error(void **state)
{
    check(TEXTS("12", " -7 ", NULL), type_of(TYPE_INT16), "12,-7,NULL");
    check(TEXTS("1.5", "1e3", "nan"), type_of(TYPE_FLOAT64), "1.5,1000.0,nan");
    check(TEXTS("1.005"), type_decimal(10, 2), "1.01");
    check(TEXTS("2020-02-29"), type_of(TYPE_DATE32), "2020-02-29");
    check(TEXTS("2020-02-29"), type_of(TYPE_DATE64), "2020-02-29");
    check(TEXTS("2020-02-29 10:00:00.5"), type_timestamp(UNIT_MICROSECOND, ""), "2020-02-29 10:00:00.5");
    check(TEXTS("2020-02-29 10:00:00"), type_timestamp(UNIT_SECOND, "+02:00"), "2020-02-29 08:00:00+00");
    check(TEXTS("t", "off"), type_of(TYPE_BOOL), "true,false");
    check_fails(TEXTS("1", "abc"), type_of(TYPE_DATE32), KITH_ERROR_INVALID_TEXT,
                "\"1\" is no Date32: expected YYYY-MM-DD", "NULL,NULL");
    check_fails(TEXTS("2021-02-29"), type_of(TYPE_DATE32), KITH_ERROR_OUT_OF_RANGE, "\"2021-02-29\"", "NULL");
    check_fails(TEXTS("12x"), type_of(TYPE_INT64), KITH_ERROR_INVALID_TEXT, "\"12x\" is no Int64", "NULL");
    check_fails(TEXTS("300"), type_of(TYPE_UINT8), KITH_ERROR_OUT_OF_RANGE, "\"300\" is out of the range of UInt8",
                "NULL");
    check_fails(TEXTS("maybe"), type_of(TYPE_BOOL), KITH_ERROR_INVALID_TEXT, "expected true or false", "NULL");
}

static void every_value_has_a_text(void **state)
{
    struct data_type view = type_of(TYPE_UTF8_VIEW);
    check(INTS(type_of(TYPE_INT64), INT64_MIN, NOTHING, 5), view, "-9223372036854775808,NULL,5");
    check(INTS(type_decimal(5, 2), 150), view, "1.50");
    check(INTS(type_of(TYPE_DATE32), 18321), type_of(TYPE_LARGE_UTF8), "2020-02-29");
    check(INTS(type_timestamp(UNIT_MILLISECOND, ""), 1500), view, "1970-01-01 00:00:01.5");
    check(INTS(type_of(TYPE_BOOL), 1), type_of(TYPE_UTF8), "true");
    check(TEXTS("short", NULL, "longer than twelve bytes"), view, "short,NULL,longer than twelve bytes");
    check(TEXTS("short"), type_of(TYPE_BINARY), "short");
}

static void bytes_become_text_only_when_valid(void **state)
{
    struct data_type bytes = type_of(TYPE_BINARY);
    check(column_of_texts(bytes, (const char *const[]){"h\xc3\xa9", NULL}, 2), type_of(TYPE_UTF8), "h\xc3\xa9,NULL");
    check_fails(column_of_texts(bytes, (const char *const[]){"a", "\xc3("}, 2), type_of(TYPE_UTF8),
                KITH_ERROR_INVALID_TEXT, "UTF-8", "a,NULL");
}

static void points_in_time_convert_downwards_and_by_offset(void **state)
{
    struct data_type seconds = type_timestamp(UNIT_SECOND, ""), nanos = type_timestamp(UNIT_NANOSECOND, "");
    struct data_type utc = type_timestamp(UNIT_SECOND, "UTC"), east = type_timestamp(UNIT_SECOND, "+02:00");
    struct data_type berlin = type_timestamp(UNIT_SECOND, "Europe/Berlin"), date = type_of(TYPE_DATE32);
    check(INTS(nanos, -1, 1999999999), seconds, "1969-12-31 23:59:59,1970-01-01 00:00:01");
    check(INTS(seconds, -1), date, "1969-12-31");
    check(INTS(date, 18321), nanos, "2020-02-29 00:00:00");
    check(INTS(date, 1), east, "1970-01-01 22:00:00+00");
    check(INTS(east, 79200), date, "1970-01-02");
    check(INTS(east, 0), seconds, "1970-01-01 02:00:00");
    check(INTS(seconds, 0), utc, "1970-01-01 00:00:00+00");
    check(INTS(berlin, 7), utc, "1970-01-01 00:00:07+00");
    check(INTS(seconds, 3661), (struct data_type){.id = TYPE_TIME64, .unit = UNIT_MICROSECOND}, "01:01:01");
    check(INTS(date, 5), type_of(TYPE_DATE64), "1970-01-06");
    check(INTS(seconds, 7), type_of(TYPE_INT64), "7");
    check(INTS(type_of(TYPE_INT32), 7), date, "1970-01-08");
    check_fails(INTS(type_timestamp(UNIT_SECOND, ""), INT64_MAX / 10), nanos, KITH_ERROR_OUT_OF_RANGE, "Timestamp",
                "NULL");
    assert_fails(cast_check(&berlin, &date), KITH_ERROR_NOT_IMPLEMENTED, "fixed offsets only");
    assert_fails(cast_check(&seconds, &berlin), KITH_ERROR_NOT_IMPLEMENTED, "Europe/Berlin");
}

static void pairs_without_a_meaning_are_refused(void **state)
{
    struct data_type date = type_of(TYPE_DATE32), boolean = type_of(TYPE_BOOL), list = type_of(TYPE_LIST);
    struct data_type real = type_of(TYPE_FLOAT64), text = type_of(TYPE_UTF8);
    assert_fails(cast_check(&date, &boolean), KITH_ERROR_NOT_IMPLEMENTED, "Date32 to Boolean");
    assert_fails(cast_check(&real, &date), KITH_ERROR_NOT_IMPLEMENTED, "Float64 to Date32");
    assert_fails(cast_check(&list, &text), KITH_ERROR_NOT_IMPLEMENTED, "List");
}

static void rows_that_are_not_selected_are_not_parsed(void **state)
{
    _cleanup_(array_unref) struct array *from = TEXTS("x", "1", "y", "2"), *result = NULL;
    _cleanup_(selection_unref) struct selection *odd = NULL;
    struct datum datum = datum_of(from);
    struct data_type to = type_of(TYPE_INT64);
    assert_ok(selection_new(2, &odd));
    odd->rows[odd->count++] = 1;
    odd->rows[odd->count++] = 3;
    assert_ok(cast_run(&datum, &to, false, 4, odd, &result));
    assert_int_equal(((const int64_t *)array_values(result))[1], 1);
    assert_int_equal(((const int64_t *)array_values(result))[3], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_keep_their_value_or_fail),
        cmocka_unit_test(floats_round_half_to_even),
        cmocka_unit_test(decimals_round_half_away_from_zero),
        cmocka_unit_test(texts_are_parsed_or_quoted_in_the_error),
        cmocka_unit_test(every_value_has_a_text),
        cmocka_unit_test(bytes_become_text_only_when_valid),
        cmocka_unit_test(points_in_time_convert_downwards_and_by_offset),
        cmocka_unit_test(pairs_without_a_meaning_are_refused),
        cmocka_unit_test(rows_that_are_not_selected_are_not_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
