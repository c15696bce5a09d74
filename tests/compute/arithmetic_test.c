#include "columnar/calendar.h"
#include "compute/arithmetic.h"
#include "compute/columns.h"

static const char symbols[] = {'+', '-', '*', '/', '%'};

enum outcome { FITS, OVERFLOWS, DIVIDES_BY_ZERO };

/* In 128 bits, where only products of two large unsigned operands overflow. */
static enum outcome twin(enum arithmetic_operator operation, __int128 a, __int128 b, __int128 least, __int128 most,
                         __int128 *out)
{
    switch (operation) {
    case ARITHMETIC_ADD:
        *out = a + b;
        break;
    case ARITHMETIC_SUBTRACT:
        *out = a - b;
        break;
    case ARITHMETIC_MULTIPLY:
        if (__builtin_mul_overflow(a, b, out))
            return OVERFLOWS;
        break;
    case ARITHMETIC_DIVIDE:
        if (b == 0)
            return DIVIDES_BY_ZERO;
        *out = a / b;
        break;
    case ARITHMETIC_MODULO:
        if (b == 0)
            return DIVIDES_BY_ZERO;
        *out = a % b;
        break;
    }
    return *out < least || *out > most ? OVERFLOWS : FITS;
}

static __int128 number(const struct datum *datum, size_t row)
{
    struct scalar value = scalar_from_array(datum->array, datum_row(datum, row));
    return type_is_signed_integer(value.type.id) ? (__int128)value.int64 : (__int128)value.uint64;
}

/* Runs the kernel over the rows for which the twin has a result, and then with one more row, for which it has none. */
static void check_integers(enum arithmetic_operator operation, const struct datum *left, const struct datum *right,
                           size_t rows)
{
    const struct data_type *type = &left->array->type;
    size_t bits = 8 * type_width(type);
    bool is_signed = type_is_signed_integer(type->id);
    __int128 most = ((__int128)1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0, value = 0;
    _cleanup_(selection_unref) struct selection *good = NULL, *with_bad = NULL;
    assert_ok(selection_new(rows, &good));
    assert_ok(selection_new(rows, &with_bad));
    enum outcome bad = FITS;
    for (size_t row = 0; row < rows; row++) {
        bool null = datum_is_null(left, row) || datum_is_null(right, row);
        enum outcome outcome =
            null ? FITS : twin(operation, number(left, row), number(right, row), least, most, &value);
        if (outcome == FITS)
            good->rows[good->count++] = (uint32_t)row;
        if (outcome == FITS || bad == FITS)
            with_bad->rows[with_bad->count++] = (uint32_t)row;
        if (outcome != FITS && bad == FITS)
            bad = outcome;
    }
    _cleanup_(array_unref) struct array *result = NULL, *none = NULL;
    assert_ok(arithmetic_run(operation, left, right, rows, good, &result));
    for (size_t k = 0; k < good->count; k++) {
        size_t row = good->rows[k];
        bool null = datum_is_null(left, row) || datum_is_null(right, row);
        assert_int_equal(array_is_null(result, row), null);
        if (null)
            continue;
        struct datum datum = datum_of(result);
        twin(operation, number(left, row), number(right, row), least, most, &value);
        if (number(&datum, row) != value)
            fail_msg("type %d, operator %c, row %zu", type->id, symbols[operation], row);
    }
    if (bad == OVERFLOWS)
        assert_fails(arithmetic_run(operation, left, right, rows, with_bad, &none), KITH_ERROR_OUT_OF_RANGE,
                     "does not fit");
    if (bad == DIVIDES_BY_ZERO)
        assert_fails(arithmetic_run(operation, left, right, rows, with_bad, &none), KITH_ERROR_DIVISION_BY_ZERO,
                     "division by zero");
}

static void integers_are_exact_or_refused_at_selected_rows_only(void **state)
{
    uint64_t random = 4;
    for (enum type_id id = TYPE_INT8; id <= TYPE_UINT64; id++) {
        struct data_type type = type_of(id);
        for (size_t rows = 1; rows < 1500; rows = rows * 3 + 1) {
            _cleanup_(array_unref) struct array *left = sample_array(&random, &type, rows, TYPE_NULL);
            _cleanup_(array_unref) struct array *right = sample_array(&random, &type, rows, TYPE_NULL);
            _cleanup_(array_unref) struct array *one = sample_array(&random, &type, 1, TYPE_NULL);
            struct datum a = datum_of(left), b = datum_of(right), c = {.array = one, .constant = true};
            for (int operation = ARITHMETIC_ADD; operation <= ARITHMETIC_MODULO; operation++) {
                check_integers((enum arithmetic_operator)operation, &a, &b, rows);
                check_integers((enum arithmetic_operator)operation, &a, &c, rows);
                check_integers((enum arithmetic_operator)operation, &c, &b, rows);
            }
        }
    }
}

static struct array *run(enum arithmetic_operator operation, struct array *left, struct array *right)
{
    struct array *result = NULL;
    struct datum a = datum_of(left), b = datum_of(right);
    assert_ok(arithmetic_run(operation, &a, &b, left->length, NULL, &result));
    return result;
}

/* PostgreSQL: SELECT 7/2, -7/2, 7/-2, -7%3, 7%-3 */
static void integer_division_truncates_toward_zero(void **state)
{
    _cleanup_(array_unref) struct array *left = INTS(type_of(TYPE_INT32), 7, -7, 7, -7, 7);
    _cleanup_(array_unref) struct array *right = INTS(type_of(TYPE_INT32), 2, 2, -2, 3, -3);
    _cleanup_(array_unref) struct array *quotients = run(ARITHMETIC_DIVIDE, left, right);
    _cleanup_(array_unref) struct array *rests = run(ARITHMETIC_MODULO, left, right);
    assert_column(quotients, "3,-3,-3,-2,-2");
    assert_column(rests, "1,-1,1,-1,1");
}

static void errors_name_the_operands(void **state)
{
    _cleanup_(array_unref) struct array *most = INTS(type_of(TYPE_INT64), 1, INT64_MAX);
    _cleanup_(array_unref) struct array *ones = INTS(type_of(TYPE_INT64), 1, 1);
    _cleanup_(array_unref) struct array *zero = INTS(type_of(TYPE_INT64), 0);
    struct datum a = datum_of(most), b = datum_of(ones), c = {.array = zero, .constant = true};
    struct array *out = NULL;
    assert_fails(arithmetic_run(ARITHMETIC_ADD, &a, &b, 2, NULL, &out), KITH_ERROR_OUT_OF_RANGE,
                 "9223372036854775807 + 1 does not fit Int64");
    assert_fails(arithmetic_run(ARITHMETIC_MODULO, &b, &c, 2, NULL, &out), KITH_ERROR_DIVISION_BY_ZERO, "1 % 0");
}

/* DuckDB 1.x: SELECT 1::DOUBLE/0, -1::DOUBLE/0, 5.5::DOUBLE % 2; DataFusion the same. */
static void floats_follow_ieee_754(void **state)
{
    _cleanup_(array_unref) struct array *left = DOUBLES(1, -1, 5.5);
    _cleanup_(array_unref) struct array *right = DOUBLES(0, 0, 2);
    _cleanup_(array_unref) struct array *quotients = run(ARITHMETIC_DIVIDE, left, right);
    _cleanup_(array_unref) struct array *rests = run(ARITHMETIC_MODULO, left, right);
    assert_column(quotients, "inf,-inf,2.75");
    const double *values = array_values(rests);
    assert_true(values[2] == 1.5);
}

static void check_decimal_type(enum arithmetic_operator operation, int p1, int s1, int p2, int s2, int p, int s)
{
    struct data_type a = type_decimal((uint8_t)p1, (int8_t)s1), b = type_decimal((uint8_t)p2, (int8_t)s2), out;
    assert_ok(arithmetic_result_type(operation, &a, &b, &out));
    assert_int_equal(out.precision, p);
    assert_int_equal(out.scale, s);
}

/* SELECT arrow_typeof(arrow_cast(1, 'Decimal128(15, 2)') / …) and so on, DataFusion 55. */
static void decimal_types_are_those_of_datafusion(void **state)
{
    check_decimal_type(ARITHMETIC_ADD, 38, 10, 38, 20, 38, 20);
    check_decimal_type(ARITHMETIC_SUBTRACT, 1, 0, 15, 2, 16, 2);
    check_decimal_type(ARITHMETIC_MULTIPLY, 15, 2, 16, 2, 32, 4);
    check_decimal_type(ARITHMETIC_DIVIDE, 15, 2, 15, 2, 21, 6);
    check_decimal_type(ARITHMETIC_DIVIDE, 38, 4, 38, 4, 38, 8);
    check_decimal_type(ARITHMETIC_MODULO, 15, 2, 10, 4, 10, 4);
    struct data_type wide = type_decimal(38, 20), out;
    assert_fails(arithmetic_result_type(ARITHMETIC_MULTIPLY, &wide, &wide, &out), KITH_ERROR_TYPE_MISMATCH,
                 "Decimal128(38, 20) * Decimal128(38, 20)");
}

/* PostgreSQL: SELECT 1.23 + 4.5678, 1.23 - 4.5678, 1.23 * 4.5678, -7.50 % 2.0000; quotients rounded half away from zero
 * at scale 6: 1.23 / 7 = 0.1757142…, -2.00 / 3 = -0.6666…, 0.01 / 0.04 */
static void decimals_are_exact_and_quotients_rounded(void **state)
{
    struct data_type cents = type_decimal(15, 2), fine = type_decimal(10, 4), wide = type_decimal(30, 2);
    _cleanup_(array_unref) struct array *left = INTS(cents, 123, -750, NOTHING);
    _cleanup_(array_unref) struct array *right = INTS(fine, 45678, 20000, 1);
    _cleanup_(array_unref) struct array *sum = run(ARITHMETIC_ADD, left, right);
    _cleanup_(array_unref) struct array *difference = run(ARITHMETIC_SUBTRACT, left, right);
    _cleanup_(array_unref) struct array *product = run(ARITHMETIC_MULTIPLY, left, right);
    _cleanup_(array_unref) struct array *rest = run(ARITHMETIC_MODULO, left, right);
    assert_column(sum, "5.7978,-5.5000,NULL");
    assert_column(difference, "-3.3378,-9.5000,NULL");
    assert_column(product, "5.618394,-15.000000,NULL");
    assert_column(rest, "1.2300,-1.5000,NULL");
    _cleanup_(array_unref) struct array *dividends = INTS(cents, 123, -200, 1, -1);
    _cleanup_(array_unref) struct array *divisors = INTS(wide, 700, 300, 4, 800000);
    _cleanup_(array_unref) struct array *quotients = run(ARITHMETIC_DIVIDE, dividends, divisors);
    assert_column(quotients, "0.175714,-0.666667,0.250000,-0.000001");
}

/* Values of both widths, with constants and selections, against sums and products brought to one scale by hand. */
static void decimals_of_both_widths_agree_with_integers(void **state)
{
    static const struct data_type types[] = {
        {.id = TYPE_DECIMAL64, .precision = 8, .scale = 2},
        {.id = TYPE_DECIMAL64, .precision = 15, .scale = 3},
        {.id = TYPE_DECIMAL128, .precision = 18, .scale = 1},
    };
    enum { ROWS = 200 };
    uint64_t random = 9;
    for (int round = 0; round < 9 * 3; round++) {
        struct data_type left_type = types[round % 3], right_type = types[round / 3 % 3];
        enum arithmetic_operator operation = (enum arithmetic_operator)(round / 9);
        int64_t x[ROWS], y[ROWS];
        for (int i = 0; i < ROWS; i++) {
            x[i] = sample_int(&random, -99999999, 99999999);
            y[i] = test_random(&random) % 9 == 0 ? NOTHING : sample_int(&random, -99999999, 99999999);
        }
        _cleanup_(array_unref) struct array *left = column_of_ints(left_type, x, ROWS);
        _cleanup_(array_unref) struct array *right = column_of_ints(right_type, y, ROWS);
        _cleanup_(array_unref) struct array *one = column_of_ints(left_type, x, 1);
        _cleanup_(selection_unref) struct selection *sparse = sample_selection(&random, ROWS, 9);
        for (int variant = 0; variant < 3; variant++) {
            struct datum a = datum_of(left), b = datum_of(right), c = {.array = one, .constant = true};
            const struct selection *selection = variant == 1 ? sparse : NULL;
            _cleanup_(array_unref) struct array *result = NULL;
            assert_ok(arithmetic_run(operation, variant == 2 ? &c : &a, &b, ROWS, selection, &result));
            int scale = MAX(left_type.scale, right_type.scale);
            for (size_t k = 0; k < selected_count(selection, ROWS); k++) {
                size_t row = selected_row(selection, k);
                __int128 p = variant == 2 ? x[0] : x[row], q = y[row];
                struct scalar got = scalar_from_array(result, row);
                assert_int_equal(got.is_null, y[row] == NOTHING);
                if (got.is_null)
                    continue;
                for (int s = left_type.scale; s < scale && operation != ARITHMETIC_MULTIPLY; s++)
                    p *= 10;
                for (int s = right_type.scale; s < scale && operation != ARITHMETIC_MULTIPLY; s++)
                    q *= 10;
                __int128 want = operation == ARITHMETIC_ADD ? p + q : operation == ARITHMETIC_SUBTRACT ? p - q : p * q;
                assert_true((got.type.id == TYPE_DECIMAL64 ? (__int128)got.int64 : got.decimal) == want);
            }
        }
    }
}

/* 1 / -4 of scale 30: the dividend has 65 digits when it is brought to the scale of the quotient, 34. */
static void quotients_of_wide_decimals_do_not_overflow_midway(void **state)
{
    struct data_type type = {.id = TYPE_DECIMAL128, .precision = 38, .scale = 30};
    struct scalar big = {.type = type, .decimal = 1};
    for (int i = 0; i < 30; i++)
        big.decimal *= 10;
    struct scalar minus = {.type = type, .decimal = -4};
    for (int i = 0; i < 30; i++)
        minus.decimal *= 10;
    _cleanup_(array_unref) struct array *left = NULL, *right = NULL;
    assert_ok(scalar_to_array(&big, 1, &left));
    assert_ok(scalar_to_array(&minus, 1, &right));
    _cleanup_(array_unref) struct array *quotient = run(ARITHMETIC_DIVIDE, left, right);
    assert_column(quotient, "-0.2500000000000000000000000000000000");
}

static void decimals_that_outgrow_38_digits_are_refused(void **state)
{
    struct data_type type = {.id = TYPE_DECIMAL128, .precision = 38, .scale = 0};
    struct scalar big = {.type = type, .decimal = 9};
    for (int i = 0; i < 37; i++)
        big.decimal *= 10;
    _cleanup_(array_unref) struct array *left = NULL, *zero = NULL;
    assert_ok(scalar_to_array(&big, 1, &left));
    big.decimal = 0;
    assert_ok(scalar_to_array(&big, 1, &zero));
    struct datum a = datum_of(left), z = datum_of(zero);
    struct array *out = NULL;
    assert_fails(arithmetic_run(ARITHMETIC_ADD, &a, &a, 1, NULL, &out), KITH_ERROR_OUT_OF_RANGE, "Decimal128(38, 0)");
    assert_fails(arithmetic_run(ARITHMETIC_DIVIDE, &a, &z, 1, NULL, &out), KITH_ERROR_DIVISION_BY_ZERO, "/ 0");
}

static int64_t days_of(int64_t year, int month, int day)
{
    return calendar_to_days((struct civil_date){year, month, day});
}

static struct array *months_days_nanos(int32_t months, int32_t days, int64_t nanoseconds)
{
    struct array *array = NULL;
    struct scalar value = {.type = type_of(TYPE_INTERVAL_MONTH_DAY_NANO),
                           .interval = {.months = months, .days = days, .nanoseconds = nanoseconds}};
    assert_ok(scalar_to_array(&value, 1, &array));
    return array;
}

static void check_interval(struct data_type type, int64_t point, enum arithmetic_operator operation, int32_t months,
                           int32_t days, int64_t nanoseconds, const char *expected)
{
    _cleanup_(array_unref) struct array *left = INTS(type, point);
    _cleanup_(array_unref) struct array *right = months_days_nanos(months, days, nanoseconds);
    _cleanup_(array_unref) struct array *moved = run(operation, left, right);
    assert_column(moved, expected);
}

/* PostgreSQL: SELECT date '2020-01-31' + interval '1 month', date '2020-03-31' - interval '1 month',
 * date '2020-02-29' + interval '1 year', timestamp '2020-01-31 23:30' + interval '1 month 1 day 45 minutes';
 * DataFusion 55: date '2020-01-31' +- interval '36 hours' are 2020-02-01 and 2020-01-30. */
static void months_are_clamped_to_the_end_of_the_month(void **state)
{
    struct data_type date = type_of(TYPE_DATE32), micros = type_timestamp(UNIT_MICROSECOND, "");
    const int64_t hour = INT64_C(3600000000000);
    check_interval(date, days_of(2020, 1, 31), ARITHMETIC_ADD, 1, 0, 0, "2020-02-29");
    check_interval(date, days_of(2020, 3, 31), ARITHMETIC_SUBTRACT, 1, 0, 0, "2020-02-29");
    check_interval(date, days_of(2020, 2, 29), ARITHMETIC_ADD, 12, 0, 0, "2021-02-28");
    check_interval(date, days_of(1998, 12, 1), ARITHMETIC_SUBTRACT, 0, 90, 0, "1998-09-02");
    check_interval(date, days_of(2020, 1, 31), ARITHMETIC_ADD, 0, 0, 36 * hour, "2020-02-01");
    check_interval(date, days_of(2020, 1, 31), ARITHMETIC_SUBTRACT, 0, 0, 36 * hour, "2020-01-30");
    int64_t late = (days_of(2020, 1, 31) * 86400 + 23 * 3600 + 1800) * 1000000;
    check_interval(micros, late, ARITHMETIC_ADD, 1, 1, hour / 4 * 3, "2020-03-02 00:15:00");
    check_interval(micros, -1, ARITHMETIC_SUBTRACT, 1, 0, 0, "1969-11-30 23:59:59.999999");
}

static void dates_and_timestamps_subtract(void **state)
{
    struct data_type date = type_of(TYPE_DATE32), seconds = type_timestamp(UNIT_SECOND, "");
    _cleanup_(array_unref) struct array *left = INTS(date, days_of(2020, 1, 31), days_of(1970, 1, 1), NOTHING);
    _cleanup_(array_unref) struct array *right = INTS(date, days_of(2020, 1, 1), days_of(2000, 2, 29), 1);
    _cleanup_(array_unref) struct array *days = run(ARITHMETIC_SUBTRACT, left, right);
    assert_int_equal(days->type.id, TYPE_INT64);
    assert_column(days, "30,-11016,NULL");
    _cleanup_(array_unref) struct array *back = run(ARITHMETIC_SUBTRACT, left, days);
    assert_column(back, "2020-01-01,2000-02-29,NULL");
    _cleanup_(array_unref) struct array *from = INTS(seconds, 90000), *to = INTS(seconds, 86400);
    _cleanup_(array_unref) struct array *duration = run(ARITHMETIC_SUBTRACT, from, to);
    assert_int_equal(duration->type.id, TYPE_DURATION);
    assert_column(duration, "01:00:00");
    _cleanup_(array_unref) struct array *again = run(ARITHMETIC_ADD, duration, to);
    assert_column(again, "1970-01-02 01:00:00");
}

static void dates_that_leave_their_type_are_refused(void **state)
{
    _cleanup_(array_unref) struct array *last = INTS(type_of(TYPE_DATE32), INT32_MAX);
    _cleanup_(array_unref) struct array *one = INTS(type_of(TYPE_INT64), 1);
    _cleanup_(array_unref) struct array *most = INTS(type_of(TYPE_INT64), INT64_MAX);
    _cleanup_(array_unref) struct array *year = months_days_nanos(12, 0, 0);
    _cleanup_(array_unref) struct array *end = INTS(type_timestamp(UNIT_NANOSECOND, ""), INT64_MAX);
    struct datum a = datum_of(last), b = datum_of(one), c = datum_of(most), d = datum_of(year), e = datum_of(end);
    struct array *out = NULL;
    assert_fails(arithmetic_run(ARITHMETIC_ADD, &a, &b, 1, NULL, &out), KITH_ERROR_OUT_OF_RANGE, "Date32");
    assert_fails(arithmetic_run(ARITHMETIC_ADD, &a, &c, 1, NULL, &out), KITH_ERROR_OUT_OF_RANGE, "Date32");
    assert_fails(arithmetic_run(ARITHMETIC_ADD, &a, &d, 1, NULL, &out), KITH_ERROR_OUT_OF_RANGE, "Date32");
    assert_fails(arithmetic_run(ARITHMETIC_ADD, &e, &d, 1, NULL, &out), KITH_ERROR_OUT_OF_RANGE, "Timestamp");
}

static void negation_refuses_the_least_integer_and_unsigned_types(void **state)
{
    _cleanup_(array_unref) struct array *values = INTS(type_of(TYPE_INT8), 1, NOTHING, -127, INT8_MIN);
    struct datum datum = datum_of(values);
    _cleanup_(selection_unref) struct selection *first = NULL;
    _cleanup_(array_unref) struct array *negated = NULL;
    struct array *none = NULL;
    assert_ok(selection_new(3, &first));
    for (uint32_t row = 0; row < 3; row++)
        first->rows[first->count++] = row;
    assert_ok(arithmetic_negate(&datum, 4, first, &negated));
    assert_true(array_is_null(negated, 1));
    assert_int_equal(((const int8_t *)array_values(negated))[0], -1);
    assert_int_equal(((const int8_t *)array_values(negated))[2], 127);
    assert_fails(arithmetic_negate(&datum, 4, NULL, &none), KITH_ERROR_OUT_OF_RANGE, "-(-128) does not fit Int8");
    struct data_type type = type_of(TYPE_UINT16);
    assert_fails(arithmetic_negate_check(&type), KITH_ERROR_TYPE_MISMATCH, "UInt16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_exact_or_refused_at_selected_rows_only),
        cmocka_unit_test(integer_division_truncates_toward_zero),
        cmocka_unit_test(errors_name_the_operands),
        cmocka_unit_test(floats_follow_ieee_754),
        cmocka_unit_test(decimal_types_are_those_of_datafusion),
        cmocka_unit_test(decimals_are_exact_and_quotients_rounded),
        cmocka_unit_test(decimals_of_both_widths_agree_with_integers),
        cmocka_unit_test(quotients_of_wide_decimals_do_not_overflow_midway),
        cmocka_unit_test(decimals_that_outgrow_38_digits_are_refused),
        cmocka_unit_test(months_are_clamped_to_the_end_of_the_month),
        cmocka_unit_test(dates_and_timestamps_subtract),
        cmocka_unit_test(dates_that_leave_their_type_are_refused),
        cmocka_unit_test(negation_refuses_the_least_integer_and_unsigned_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
