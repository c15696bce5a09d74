#include "compute/columns.h"
#include "compute/compare.h"
#include "compute/filter.h"

/* What SQL says of one pair, by scalars: -1 NULL, 0 false, 1 true. */
static int expected(enum compare_operator operation, struct scalar a, struct scalar b)
{
    if (operation == COMPARE_DISTINCT || operation == COMPARE_NOT_DISTINCT) {
        bool same = a.is_null || b.is_null ? a.is_null == b.is_null : scalar_compare(&a, &b) == 0;
        return same == (operation == COMPARE_NOT_DISTINCT);
    }
    if (a.is_null || b.is_null)
        return -1;
    int order = scalar_compare(&a, &b);
    switch ((int)operation) {
    case COMPARE_EQ:
        return order == 0;
    case COMPARE_NE:
        return order != 0;
    case COMPARE_LT:
        return order < 0;
    case COMPARE_LE:
        return order <= 0;
    case COMPARE_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

static int value_at(const struct array *booleans, size_t row)
{
    return array_is_null(booleans, row) ? -1 : bitmap_get(booleans->values->data, booleans->offset + row);
}

static void check_operator(enum compare_operator operation, const struct datum *left, const struct datum *right,
                           size_t rows, const struct selection *selection)
{
    _cleanup_(array_unref) struct array *booleans = NULL;
    _cleanup_(selection_unref) struct selection *selected = NULL;
    assert_ok(compare_run(operation, left, right, rows, selection, &booleans));
    assert_ok(compare_select(operation, left, right, rows, selection, &selected));
    size_t passed = 0;
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        struct scalar a = scalar_from_array(left->array, datum_row(left, row));
        struct scalar b = scalar_from_array(right->array, datum_row(right, row));
        b.type = a.type;
        int want = expected(operation, a, b);
        if (value_at(booleans, row) != want) {
            char name[128];
            fail_msg("%s, operator %d, row %zu: %d, expected %d", type_format(&left->array->type, name, sizeof name),
                     operation, row, value_at(booleans, row), want);
        }
        if (want == 1) {
            assert_true(passed < selected->count);
            assert_int_equal(selected->rows[passed++], row);
        }
    }
    assert_int_equal(selected->count, passed);
}

static void check_pair(const struct datum *left, const struct datum *right, size_t rows, uint64_t *random)
{
    _cleanup_(selection_unref) struct selection *dense = sample_selection(random, rows, 2);
    _cleanup_(selection_unref) struct selection *sparse = sample_selection(random, rows, 9);
    for (int operation = COMPARE_EQ; operation <= COMPARE_NOT_DISTINCT; operation++) {
        check_operator((enum compare_operator)operation, left, right, rows, NULL);
        check_operator((enum compare_operator)operation, left, right, rows, dense);
        check_operator((enum compare_operator)operation, left, right, rows, sparse);
    }
}

static void every_type_compares_as_its_scalars_do(void **state)
{
    uint64_t random = 1;
    for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++) {
        const struct data_type *type = &sample_types[t];
        if (type->id == TYPE_NULL || type->id == TYPE_INTERVAL_DAY_TIME || type->id == TYPE_INTERVAL_MONTH_DAY_NANO)
            continue;
        for (size_t rows = 0; rows < 2400; rows = rows * 3 + 7) {
            _cleanup_(array_unref) struct array *left = sample_array(&random, type, rows, TYPE_NULL);
            _cleanup_(array_unref) struct array *right = sample_array(&random, type, rows, TYPE_NULL);
            _cleanup_(array_unref) struct array *one = sample_array(&random, type, 1, TYPE_NULL);
            struct datum a = datum_of(left), b = datum_of(right), c = {.array = one, .constant = true};
            check_pair(&a, &b, rows, &random);
            check_pair(&a, &c, rows, &random);
            check_pair(&c, &a, rows, &random);
        }
    }
}

static void text_of_different_layouts_compares(void **state)
{
    static const enum type_id layouts[] = {TYPE_UTF8, TYPE_LARGE_UTF8, TYPE_UTF8_VIEW};
    uint64_t random = 2;
    for (size_t i = 0; i < 9; i++) {
        struct data_type left_type = type_of(layouts[i / 3]), right_type = type_of(layouts[i % 3]);
        _cleanup_(array_unref) struct array *left = sample_array(&random, &left_type, 500, TYPE_NULL);
        _cleanup_(array_unref) struct array *right = sample_array(&random, &right_type, 500, TYPE_NULL);
        struct datum a = datum_of(left), b = datum_of(right);
        assert_ok(compare_check(&left_type, &right_type));
        check_pair(&a, &b, 500, &random);
    }
}

static void decimals_of_both_widths_compare(void **state)
{
    struct data_type narrow = {.id = TYPE_DECIMAL64, .precision = 12, .scale = 2};
    struct data_type wide = {.id = TYPE_DECIMAL128, .precision = 30, .scale = 2};
    _cleanup_(array_unref) struct array *left = INTS(narrow, 100, -5, 7, NOTHING);
    _cleanup_(array_unref) struct array *right = INTS(wide, 100, 5, NOTHING, 1);
    struct datum a = datum_of(left), b = datum_of(right);
    _cleanup_(array_unref) struct array *equal = NULL, *less = NULL;
    assert_ok(compare_check(&narrow, &wide));
    assert_ok(compare_run(COMPARE_EQ, &a, &b, 4, NULL, &equal));
    assert_column(equal, "true,false,NULL,NULL");
    assert_ok(compare_run(COMPARE_LT, &b, &a, 4, NULL, &less));
    assert_column(less, "false,false,NULL,NULL");
}

/* PostgreSQL 15, DuckDB: SELECT 'NaN'::float8 = 'NaN', 'NaN'::float8 > 'inf', 1 < 'NaN'::float8, -0.0::float8 = 0.0 */
static void nan_is_the_largest_number_and_zeros_are_equal(void **state)
{
    const double nan = __builtin_nan(""), infinity = __builtin_inf();
    _cleanup_(array_unref) struct array *left = DOUBLES(nan, nan, 1, -0.0, nan);
    _cleanup_(array_unref) struct array *right = DOUBLES(nan, infinity, nan, 0.0, 1);
    struct datum a = datum_of(left), b = datum_of(right);
    _cleanup_(array_unref) struct array *equal = NULL, *less = NULL, *greater = NULL;
    assert_ok(compare_run(COMPARE_EQ, &a, &b, 5, NULL, &equal));
    assert_column(equal, "true,false,false,true,false");
    assert_ok(compare_run(COMPARE_LT, &a, &b, 5, NULL, &less));
    assert_column(less, "false,false,true,false,false");
    assert_ok(compare_run(COMPARE_GE, &a, &b, 5, NULL, &greater));
    assert_column(greater, "true,true,false,true,true");
}

static void types_that_do_not_fit_are_refused_by_name(void **state)
{
    struct data_type text = type_of(TYPE_UTF8), number = type_of(TYPE_INT64), bytes = type_of(TYPE_BINARY);
    struct data_type interval = type_of(TYPE_INTERVAL_MONTH_DAY_NANO);
    struct data_type cents = type_decimal(10, 2), mills = type_decimal(10, 3);
    assert_fails(compare_check(&text, &number), KITH_ERROR_TYPE_MISMATCH, "Utf8 with Int64");
    assert_fails(compare_check(&text, &bytes), KITH_ERROR_TYPE_MISMATCH, "Binary");
    assert_fails(compare_check(&cents, &mills), KITH_ERROR_TYPE_MISMATCH, "(10, 3)");
    assert_fails(compare_check(&interval, &interval), KITH_ERROR_NOT_IMPLEMENTED, "Interval");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_compares_as_its_scalars_do),
        cmocka_unit_test(text_of_different_layouts_compares),
        cmocka_unit_test(decimals_of_both_widths_compare),
        cmocka_unit_test(nan_is_the_largest_number_and_zeros_are_equal),
        cmocka_unit_test(types_that_do_not_fit_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
