#include "columnar/calendar.h"
#include "expr/trees.h"

static const struct expr *real(struct arena *arena, double value)
{
    const struct expr *expr = NULL;
    struct scalar scalar = {.type = type_of(TYPE_FLOAT64), .float64 = value};
    assert_ok(expr_literal(arena, &scalar, &expr));
    return expr;
}

static const struct expr *decimal(struct arena *arena, uint8_t precision, int8_t scale, int64_t unscaled)
{
    const struct expr *expr = NULL;
    struct scalar scalar = {.type = type_decimal(precision, scale)};
    if (scalar.type.id == TYPE_DECIMAL128)
        scalar.decimal = unscaled;
    else
        scalar.int64 = unscaled;
    assert_ok(expr_literal(arena, &scalar, &expr));
    return expr;
}

static const struct expr *date(struct arena *arena, int year, int month, int day)
{
    const struct expr *expr = NULL;
    struct scalar scalar = {.type = type_of(TYPE_DATE32),
                            .int64 = calendar_to_days((struct civil_date){year, month, day})};
    assert_ok(expr_literal(arena, &scalar, &expr));
    return expr;
}

static const struct expr *microseconds(struct arena *arena, const char *when)
{
    return cast_to(arena, text(arena, when), type_timestamp(UNIT_MICROSECOND, ""));
}

/* Expected values in this file are those of DuckDB 1.x and DataFusion 55 for the SQL that the calls spell. */
static void texts(void **state)
{
    _cleanup_(arena_reset) struct arena a = {0};
    check_constant(CALL(&a, "length", text(&a, "aé")), "2");
    check_constant(CALL(&a, "CHAR_LENGTH", text(&a, "")), "0");
    check_constant(CALL(&a, "octet_length", text(&a, "aé")), "3");
    check_constant(CALL(&a, "lower", text(&a, "ÀÉI x")), "àéi x");
    check_constant(CALL(&a, "upper", text(&a, "straße éà")), "STRAẞE ÉÀ");
    check_constant(CALL(&a, "upper", text(&a, "az{`")), "AZ{`");
    check_constant(CALL(&a, "trim", text(&a, "  a ")), "a");
    check_constant(CALL(&a, "ltrim", text(&a, "xxabx"), text(&a, "x")), "abx");
    check_constant(CALL(&a, "rtrim", text(&a, "abyx"), text(&a, "xy")), "ab");
    check_constant(CALL(&a, "btrim", text(&a, "éaé"), text(&a, "é")), "a");
    check_constant(CALL(&a, "btrim", text(&a, "   ")), "");
    check_constant(CALL(&a, "strpos", text(&a, "héllo"), text(&a, "llo")), "3");
    check_constant(CALL(&a, "strpos", text(&a, "abc"), text(&a, "")), "1");
    check_constant(CALL(&a, "position", text(&a, "abc"), text(&a, "z")), "0");
    check_constant(CALL(&a, "replace", text(&a, "abcabc"), text(&a, "b"), text(&a, "xx")), "axxcaxxc");
    check_constant(CALL(&a, "replace", text(&a, "aaa"), text(&a, "aa"), text(&a, "b")), "ba");
    check_constant(CALL(&a, "replace", text(&a, "abc"), text(&a, ""), text(&a, "x")), "abc");
    check_constant(CALL(&a, "starts_with", text(&a, "abc"), text(&a, "ab")), "true");
    check_constant(CALL(&a, "ends_with", text(&a, "abc"), text(&a, "abcd")), "false");
    check_constant(CALL(&a, "contains", text(&a, "abc"), text(&a, "b")), "true");
    check_constant(CALL(&a, "concat", text(&a, "a"), null_of(&a, TYPE_UTF8), text(&a, "b")), "ab");
    check_constant(CALL(&a, "lower", null_of(&a, TYPE_UTF8)), "NULL");
}

/* SELECT substr('alphabet', 3), substr('alphabet', -1, 4), substr('abc', 0, 2), substr('héllo', 2, 2) */
static void substrings_count_from_one_and_may_begin_before(void **state)
{
    _cleanup_(arena_reset) struct arena a = {0};
    check_constant(CALL(&a, "substr", text(&a, "alphabet"), integer(&a, 3)), "phabet");
    check_constant(CALL(&a, "substring", text(&a, "alphabet"), integer(&a, 3), integer(&a, 2)), "ph");
    check_constant(CALL(&a, "substr", text(&a, "alphabet"), integer(&a, -1), integer(&a, 4)), "al");
    check_constant(CALL(&a, "substr", text(&a, "abc"), integer(&a, 0), integer(&a, 2)), "a");
    check_constant(CALL(&a, "substr", text(&a, "héllo"), integer(&a, 2), integer(&a, 2)), "él");
    check_constant(CALL(&a, "substr", text(&a, "abc"), integer(&a, 2), integer(&a, INT64_MAX)), "bc");
    check_constant(CALL(&a, "substr", text(&a, "abc"), integer(&a, INT64_MIN), integer(&a, 5)), "");
    check_constant(CALL(&a, "substr", text(&a, "abc"), integer(&a, 9)), "");
    struct scalar none;
    assert_fails(
        expr_evaluate_constant(CALL(&a, "substr", text(&a, "abc"), integer(&a, 1), integer(&a, -1)), &a, &none),
        KITH_ERROR_INVALID_ARGUMENT, "-1 characters");
}

static void numbers(void **state)
{
    _cleanup_(arena_reset) struct arena a = {0};
    check_constant(CALL(&a, "abs", integer(&a, -5)), "5");
    check_constant(CALL(&a, "abs", decimal(&a, 15, 2, -250)), "2.50");
    check_constant(CALL(&a, "ceil", real(&a, -2.5)), "-2.0");
    check_constant(CALL(&a, "floor", real(&a, -2.5)), "-3.0");
    check_constant(CALL(&a, "ceil", decimal(&a, 15, 1, -25)), "-2");
    check_constant(CALL(&a, "floor", decimal(&a, 15, 1, -25)), "-3");
    check_constant(CALL(&a, "floor", decimal(&a, 38, 1, 29)), "2");
    check_constant(CALL(&a, "ceil", integer(&a, 7)), "7");
    check_constant(CALL(&a, "sqrt", decimal(&a, 5, 2, 225)), "1.5");
    check_constant(CALL(&a, "power", integer(&a, 2), integer(&a, 10)), "1024.0");
    check_constant(CALL(&a, "ln", integer(&a, 1)), "0.0");
    check_constant(CALL(&a, "log10", integer(&a, 1000)), "3.0");
    check_constant(CALL(&a, "exp", integer(&a, 0)), "1.0");
    check_constant(CALL(&a, "sign", real(&a, -2.5)), "-1.0");
    check_constant(CALL(&a, "sqrt", null_of(&a, TYPE_FLOAT64)), "NULL");
    struct scalar none;
    assert_fails(expr_evaluate_constant(CALL(&a, "sqrt", integer(&a, -1)), &a, &none), KITH_ERROR_OUT_OF_RANGE,
                 "sqrt(-1)");
    assert_fails(expr_evaluate_constant(CALL(&a, "abs", integer(&a, INT64_MIN)), &a, &none), KITH_ERROR_OUT_OF_RANGE,
                 "abs(-9223372036854775808) does not fit Int64");
}

/* SELECT round(2.5::double), round(-2.5::double), round(2.345::double, 2), round(1234.567::double, -2),
 * round(2.345::decimal(15, 3), 2), round((-2.5)::decimal(15, 1)) */
static void rounding_is_half_away_from_zero(void **state)
{
    _cleanup_(arena_reset) struct arena a = {0};
    check_constant(CALL(&a, "round", real(&a, 2.5)), "3.0");
    check_constant(CALL(&a, "round", real(&a, -2.5)), "-3.0");
    check_constant(CALL(&a, "round", real(&a, 2.345), integer(&a, 2)), "2.35");
    check_constant(CALL(&a, "round", real(&a, 1234.567), integer(&a, -2)), "1200.0");
    check_constant(CALL(&a, "round", real(&a, 1e300), integer(&a, 200)), "1e+300");
    const struct expr *cents = CALL(&a, "round", decimal(&a, 15, 3, 2345), integer(&a, 2));
    assert_int_equal(cents->type.precision, 15);
    assert_int_equal(cents->type.scale, 2);
    check_constant(cents, "2.35");
    check_constant(CALL(&a, "round", decimal(&a, 15, 1, -25)), "-3");
    check_constant(CALL(&a, "round", decimal(&a, 15, 1, 12345), integer(&a, -2)), "1200");
    check_constant(CALL(&a, "round", decimal(&a, 5, 2, 99995), integer(&a, 5)), "999.95");
    check_constant(CALL(&a, "round", integer(&a, 1250), integer(&a, -2)), "1300");
    struct scalar none;
    assert_fails(expr_evaluate_constant(CALL(&a, "round", integer(&a, INT64_MAX), integer(&a, -1)), &a, &none),
                 KITH_ERROR_OUT_OF_RANGE, "does not fit Int64");
}

static void parts_of_dates(void **state)
{
    _cleanup_(arena_reset) struct arena a = {0};
    const struct expr *sunday = date(&a, 2021, 1, 3), *when = microseconds(&a, "2020-03-01 01:02:03.5");
    check_constant(CALL(&a, "date_part", text(&a, "YEAR"), sunday), "2021");
    check_constant(CALL(&a, "date_part", text(&a, "week"), sunday), "53");
    check_constant(CALL(&a, "date_part", text(&a, "week"), date(&a, 2020, 12, 31)), "53");
    check_constant(CALL(&a, "date_part", text(&a, "doy"), date(&a, 2020, 12, 31)), "366");
    check_constant(CALL(&a, "date_part", text(&a, "dow"), sunday), "0");
    check_constant(CALL(&a, "date_part", text(&a, "isodow"), sunday), "7");
    check_constant(CALL(&a, "extract", text(&a, "quarter"), date(&a, 2021, 5, 3)), "2");
    check_constant(CALL(&a, "date_part", text(&a, "hour"), when), "1");
    check_constant(CALL(&a, "date_part", text(&a, "second"), when), "3");
    check_constant(CALL(&a, "date_part", text(&a, "milliseconds"), when), "3500");
    check_constant(CALL(&a, "date_part", text(&a, "microseconds"), when), "3500000");
    check_constant(CALL(&a, "date_part", text(&a, "epoch"), microseconds(&a, "1969-12-31 23:59:58.5")), "-1.5");
    check_constant(CALL(&a, "date_part", text(&a, "day"), microseconds(&a, "1969-12-31 23:59:58.5")), "31");
    const struct expr *out = NULL;
    assert_fails(expr_function(&a, scalar_function_find("date_part"),
                               (const struct expr *[]){text(&a, "fortnight"), sunday}, 2, &out),
                 KITH_ERROR_INVALID_ARGUMENT, "\"fortnight\"");
}

static void dates_are_truncated(void **state)
{
    _cleanup_(arena_reset) struct arena a = {0};
    check_constant(CALL(&a, "date_trunc", text(&a, "week"), date(&a, 2021, 1, 3)), "2020-12-28");
    check_constant(CALL(&a, "date_trunc", text(&a, "month"), date(&a, 2020, 3, 5)), "2020-03-01");
    check_constant(CALL(&a, "date_trunc", text(&a, "hour"), date(&a, 2020, 3, 5)), "2020-03-05");
    check_constant(CALL(&a, "date_trunc", text(&a, "quarter"), microseconds(&a, "2020-05-05 01:02:03")),
                   "2020-04-01 00:00:00");
    check_constant(CALL(&a, "date_trunc", text(&a, "hour"), microseconds(&a, "1969-12-31 23:59:58.5")),
                   "1969-12-31 23:00:00");
    check_constant(CALL(&a, "date_trunc", text(&a, "millisecond"), microseconds(&a, "2020-05-05 01:02:03.1239")),
                   "2020-05-05 01:02:03.123");
}

static void choices(void **state)
{
    _cleanup_(arena_reset) struct arena a = {0};
    const struct expr *null = null_of(&a, TYPE_INT64);
    check_constant(CALL(&a, "greatest", integer(&a, 1), null, integer(&a, 3)), "3");
    check_constant(CALL(&a, "least", text(&a, "b"), text(&a, "a"), null_of(&a, TYPE_UTF8)), "a");
    check_constant(CALL(&a, "greatest", null, null), "NULL");
    check_constant(CALL(&a, "nullif", integer(&a, 1), integer(&a, 2)), "1");
    check_constant(CALL(&a, "nullif", integer(&a, 1), integer(&a, 1)), "NULL");
    check_constant(CALL(&a, "nullif", integer(&a, 1), null), "1");
    check_constant(CALL(&a, "coalesce", null, integer(&a, 4)), "4");
    _cleanup_(array_unref) struct array *first = INTS(type_of(TYPE_INT64), 1, NOTHING, 5, 7);
    _cleanup_(array_unref) struct array *second = INTS(type_of(TYPE_INT64), 3, 2, NOTHING, 7);
    _cleanup_(batch_unref) struct batch *batch = batch_of((struct array *[]){first, second}, 2);
    const struct expr *x = column(&a, batch, 0), *y = column(&a, batch, 1);
    check_values(CALL(&a, "greatest", x, y), batch, "3,2,5,7");
    check_values(CALL(&a, "least", x, y, integer(&a, 4)), batch, "1,2,4,4");
    check_values(CALL(&a, "nullif", x, y), batch, "1,NULL,5,NULL");
}

static void columns_of_arguments(void **state)
{
    _cleanup_(arena_reset) struct arena a = {0};
    _cleanup_(array_unref) struct array *words = TEXTS("alpha", NULL, "be", "gamma");
    _cleanup_(array_unref) struct array *counts = INTS(type_of(TYPE_INT64), 2, 1, NOTHING, 3);
    _cleanup_(batch_unref) struct batch *batch = batch_of((struct array *[]){words, counts}, 2);
    const struct expr *w = column(&a, batch, 0), *n = column(&a, batch, 1);
    check_values(CALL(&a, "substr", w, n), batch, "lpha,NULL,NULL,mma");
    check_values(CALL(&a, "concat", w, text(&a, "!")), batch, "alpha!,!,be!,gamma!");
    check_values(CALL(&a, "upper", w), batch, "ALPHA,NULL,BE,GAMMA");
    check_values(CALL(&a, "strpos", w, text(&a, "a")), batch, "1,NULL,0,2");
}

/* PostgreSQL: 0 <= random() < 1, another one for each row and each call. */
static void random_numbers_differ_from_row_to_row(void **state)
{
    enum { ROWS = 2000, TENTHS = 10 };
    _cleanup_(arena_reset) struct arena a = {0};
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *rows = NULL;
    const struct expr *random = NULL, *one = integer(&a, 1);
    struct array *values[2];
    size_t counts[TENTHS] = {0}, same = 0;
    assert_ok(expr_function(&a, scalar_function_find("random"), NULL, 0, &random));
    assert_ok(schema_new(NULL, 0, &schema));
    assert_ok(batch_new(schema, NULL, ROWS, &rows));
    for (size_t i = 0; i < 2; i++) {
        _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
        assert_ok(evaluator_new(random, &evaluator));
        assert_ok(evaluator_run(evaluator, rows, &values[i]));
    }
    for (size_t row = 0; row < ROWS; row++) {
        double first = scalar_from_array(values[0], row).float64, second = scalar_from_array(values[1], row).float64;
        assert_true(first >= 0 && first < 1);
        counts[(size_t)(first * TENTHS)]++;
        same += first == second || (row > 0 && first == scalar_from_array(values[0], row - 1).float64);
    }
    assert_int_equal(same, 0);
    for (size_t i = 0; i < TENTHS; i++)
        assert_true(counts[i] > ROWS / TENTHS / 2 && counts[i] < ROWS / TENTHS * 2);
    array_unref(values[0]);
    array_unref(values[1]);
    assert_true(expr_is_volatile(random) &&
                expr_is_volatile(binary(&a, OP_ADD, cast_to(&a, one, random->type), random)));
    assert_false(expr_is_volatile(one) || expr_is_volatile(CALL(&a, "abs", one)));
}

static void calls_that_do_not_fit_show_the_signature(void **state)
{
    _cleanup_(arena_reset) struct arena a = {0};
    const struct expr *one = integer(&a, 1), *out = NULL;
    assert_null(scalar_function_find("no_such_function"));
    kith_error *error = expr_function(&a, scalar_function_find("lower"), &one, 1, &out);
    assert_string_equal(kith_error_hint(error), "it is called lower(text)");
    assert_fails(error, KITH_ERROR_TYPE_MISMATCH, "function lower: takes no (Int64)");
    assert_fails(expr_function(&a, scalar_function_find("abs"), (const struct expr *[]){one, one}, 2, &out),
                 KITH_ERROR_UNDEFINED_FUNCTION, "abs takes no 2 arguments");
    assert_fails(
        expr_function(&a, scalar_function_find("greatest"), (const struct expr *[]){one, text(&a, "x")}, 2, &out),
        KITH_ERROR_TYPE_MISMATCH, "(Int64, Utf8)");
}

static void the_table_is_ordered_and_complete(void **state)
{
    for (size_t i = 0; i < scalar_function_count; i++) {
        const struct scalar_function *function = &scalar_functions[i];
        if (i > 0)
            assert_true(strcmp(scalar_functions[i - 1].name, function->name) < 0);
        assert_true(function->most_arguments <= FUNCTION_MAX_ARGUMENTS);
        assert_non_null(strstr(function->signature, function->name));
        assert_ptr_equal(scalar_function_find(function->name), function);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(substrings_count_from_one_and_may_begin_before),
        cmocka_unit_test(numbers),
        cmocka_unit_test(rounding_is_half_away_from_zero),
        cmocka_unit_test(parts_of_dates),
        cmocka_unit_test(dates_are_truncated),
        cmocka_unit_test(choices),
        cmocka_unit_test(columns_of_arguments),
        cmocka_unit_test(random_numbers_differ_from_row_to_row),
        cmocka_unit_test(calls_that_do_not_fit_show_the_signature),
        cmocka_unit_test(the_table_is_ordered_and_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
