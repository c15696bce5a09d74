#include "compute/widen.h"

#include "compute/cast.h"
#include "compute/columns.h"

static struct data_type type_number(enum type_id id)
{
    return id == TYPE_DECIMAL64 ? type_decimal(9, 2) : id == TYPE_DECIMAL128 ? type_decimal(20, 4) : type_of(id);
}

static void check_wide(struct data_type a, struct data_type b, const char *expected)
{
    struct data_type wide;
    char text[160];
    for (int swapped = 0; swapped < 2; swapped++) {
        bool found = swapped ? type_widen(&b, &a, &wide) : type_widen(&a, &b, &wide);
        assert_string_equal(found ? type_format(&wide, text, sizeof text) : "none", expected);
        assert_true(!found || (type_holds(&wide, &a) && type_holds(&wide, &b)));
    }
}

static void types_widen_to_the_narrowest_that_holds_both(void **state)
{
    check_wide(type_of(TYPE_INT8), type_of(TYPE_INT64), "Int64");
    check_wide(type_of(TYPE_UINT8), type_of(TYPE_UINT16), "UInt16");
    check_wide(type_of(TYPE_UINT8), type_of(TYPE_INT8), "Int16");
    check_wide(type_of(TYPE_UINT32), type_of(TYPE_INT8), "Int64");
    check_wide(type_of(TYPE_FLOAT16), type_of(TYPE_FLOAT32), "Float32");
    check_wide(type_of(TYPE_INT16), type_of(TYPE_FLOAT16), "Float32");
    check_wide(type_of(TYPE_INT16), type_of(TYPE_FLOAT64), "Float64");
    check_wide(type_of(TYPE_INT32), type_of(TYPE_FLOAT32), "Float64");
    check_wide(type_decimal(9, 2), type_decimal(12, 3), "Decimal64(12, 3)");
    check_wide(type_decimal(18, 2), type_decimal(18, 10), "Decimal128(26, 10)");
    check_wide(type_decimal(9, 2), type_of(TYPE_INT64), "Decimal128(21, 2)");
    check_wide(type_of(TYPE_NULL), type_of(TYPE_UTF8), "Utf8");
    check_wide(type_of(TYPE_DATE32), type_of(TYPE_DATE32), "Date32");
}

static void types_of_which_none_holds_both_do_not_widen(void **state)
{
    check_wide(type_of(TYPE_UINT64), type_of(TYPE_INT8), "none");
    check_wide(type_of(TYPE_INT64), type_of(TYPE_FLOAT64), "none");
    check_wide(type_of(TYPE_UINT64), type_of(TYPE_FLOAT32), "none");
    check_wide(type_decimal(38, 2), type_decimal(38, 3), "none");
    check_wide(type_decimal(9, 2), type_of(TYPE_FLOAT64), "none");
    check_wide(type_of(TYPE_INT32), type_of(TYPE_UTF8), "none");
    check_wide(type_of(TYPE_DATE32), type_of(TYPE_INT32), "none");
    check_wide(type_timestamp(UNIT_MILLISECOND, ""), type_timestamp(UNIT_NANOSECOND, ""), "none");
    struct data_type narrow = type_of(TYPE_INT32), wide = type_of(TYPE_INT64);
    assert_false(type_holds(&narrow, &wide));
}

/* The lowest and highest values of a type and some between. */
static struct array *extremes(const struct data_type *type)
{
    size_t bits = 8 * type_width(type);
    if (type_is_float(type->id)) {
        _cleanup_(array_unref) struct array *doubles = DOUBLES(-0.0, 0.0, 0.5, -2.25, -1024.0, 32752.0);
        const struct datum operand = datum_of(doubles);
        struct array *floats = NULL;
        assert_ok(cast_run(&operand, type, false, doubles->length, NULL, &floats));
        return floats;
    }
    if (type_is_decimal(type->id))
        return INTS(*type, -999999999, 0, 1, 999999999, NOTHING);
    if (!type_is_signed_integer(type->id))
        return INTS(*type, 0, 1, (int64_t)(UINT64_MAX >> (64 - bits)), NOTHING);
    return INTS(*type, INT64_MIN >> (64 - bits), -1, 0, INT64_MAX >> (64 - bits), NOTHING);
}

static void check_values(const struct data_type *narrow, const struct data_type *wide)
{
    _cleanup_(array_unref) struct array *values = extremes(narrow), *widened = NULL, *back = NULL;
    assert_ok(array_widen(values, wide, &widened));
    assert_true(type_equal(&widened->type, wide));
    const struct datum operand = datum_of(widened);
    assert_ok(cast_run(&operand, narrow, false, values->length, NULL, &back));
    for (size_t i = 0; i < values->length; i++) {
        struct scalar before = scalar_from_array(values, i), after = scalar_from_array(back, i), one;
        struct scalar whole = scalar_from_array(widened, i);
        assert_true(scalar_widen(&before, wide, &one));
        assert_int_equal(one.is_null, before.is_null);
        assert_int_equal(whole.is_null, before.is_null);
        if (before.is_null)
            continue;
        assert_int_equal(scalar_compare(&one, &whole), 0);
        assert_int_equal(scalar_compare(&before, &after), 0);
        if (i > 0) {
            struct scalar previous = scalar_from_array(widened, i - 1);
            assert_true(scalar_compare(&previous, &whole) <= 0 || type_is_float(narrow->id));
        }
    }
}

static void values_of_every_pair_of_types_are_the_same_when_widened_and_cast_back(void **state)
{
    size_t pairs = 0;
    for (int i = TYPE_INT8; i <= TYPE_DECIMAL128; i++)
        for (int j = TYPE_INT8; j <= TYPE_DECIMAL128; j++) {
            struct data_type narrow = type_number((enum type_id)i), other = type_number((enum type_id)j), wide;
            /* FLOAT16 has no arrays of its own making; see cast_test. */
            if (i == TYPE_FLOAT16 || j == TYPE_FLOAT16 || !type_widen(&narrow, &other, &wide))
                continue;
            check_values(&narrow, &wide);
            pairs++;
        }
    assert_true(pairs > 80);
}

static void a_decimal_of_more_digits_than_its_type_has_does_not_widen(void **state)
{
    struct scalar hostile = {.type = type_decimal(38, 0), .decimal = (__int128)1 << 126}, out;
    struct data_type wide = type_decimal(38, 0);
    assert_true(scalar_widen(&hostile, &wide, &out)); /* nothing to do */
    hostile.type = type_decimal(20, 0);
    wide = type_decimal(30, 5);
    assert_false(scalar_widen(&hostile, &wide, &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_widen_to_the_narrowest_that_holds_both),
        cmocka_unit_test(types_of_which_none_holds_both_do_not_widen),
        cmocka_unit_test(values_of_every_pair_of_types_are_the_same_when_widened_and_cast_back),
        cmocka_unit_test(a_decimal_of_more_digits_than_its_type_has_does_not_widen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
