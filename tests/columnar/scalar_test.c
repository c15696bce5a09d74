#include "samples.h"

static void a_scalar_survives_an_array_of_copies(void **state)
{
    uint64_t random = 1;
    char text[SAMPLE_STRING_BYTES];
    for (size_t round = 0; round < 20; round++)
        for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++) {
            struct scalar scalar = sample_scalar(&random, &sample_types[t], text);
            _cleanup_(array_unref) struct array *array = NULL;
            assert_ok(scalar_to_array(&scalar, 3, &array));
            for (size_t i = 0; i < 3; i++) {
                struct scalar back = scalar_from_array(array, i);
                assert_true(sample_scalars_identical(&scalar, &back));
            }
        }
}

static void small_integers_keep_their_sign(void **state)
{
    const struct {
        enum type_id id;
        int64_t value;
    } cases[] = {{TYPE_INT8, -128}, {TYPE_INT16, -2}, {TYPE_INT32, INT32_MIN}, {TYPE_DATE32, -1}, {TYPE_INT64, -9}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct scalar scalar = {.type = type_of(cases[i].id), .int64 = cases[i].value};
        _cleanup_(array_unref) struct array *array = NULL;
        assert_ok(scalar_to_array(&scalar, 1, &array));
        assert_int_equal(scalar_from_array(array, 0).int64, cases[i].value);
    }
}

static void a_copy_lives_in_the_arena(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    char text[] = "abc";
    struct scalar scalar = {.type = type_of(TYPE_UTF8), .string = {text, 3}}, copy;
    assert_ok(scalar_copy(&scalar, &arena, &copy));
    text[0] = 'x';
    assert_memory_equal(copy.string.data, "abc", 3);
}

static void halves_have_the_values_of_ieee_754(void **state)
{
    assert_true(float16_to_double(0x3c00) == 1.0);
    assert_true(float16_to_double(0xc000) == -2.0);
    assert_true(float16_to_double(0x7bff) == 65504.0);
    assert_true(float16_to_double(0x0400) == 0x1p-14);
    assert_true(float16_to_double(0x0001) == 0x1p-24);
    assert_true(float16_to_double(0x3555) == 0.333251953125);
    assert_true(float16_to_double(0xfc00) == -__builtin_inf());
    assert_true(__builtin_isnan(float16_to_double(0x7e00)));
}

static void order_puts_nan_last_and_zeros_together(void **state)
{
    struct data_type type = type_of(TYPE_FLOAT64);
    const double ascending[] = {-__builtin_inf(), -1.5, 0.0, 0x1p-1074, 2.5, __builtin_inf(), __builtin_nan("")};
    for (size_t i = 0; i < ARRAY_SIZE(ascending); i++)
        for (size_t j = 0; j < ARRAY_SIZE(ascending); j++) {
            struct scalar a = {.type = type, .float64 = ascending[i]}, b = {.type = type, .float64 = ascending[j]};
            int order = scalar_compare(&a, &b);
            assert_int_equal(order < 0 ? -1 : order > 0, i < j ? -1 : i > j);
        }
    struct scalar zero = {.type = type, .float64 = 0.0}, negative_zero = {.type = type, .float64 = -0.0};
    assert_int_equal(scalar_compare(&zero, &negative_zero), 0);
    struct scalar nan = {.type = type, .float64 = __builtin_nan("")}, negative = {.type = type};
    negative.float64 = -nan.float64;
    assert_int_equal(scalar_compare(&nan, &negative), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scalar_survives_an_array_of_copies),
        cmocka_unit_test(small_integers_keep_their_sign),
        cmocka_unit_test(a_copy_lives_in_the_arena),
        cmocka_unit_test(halves_have_the_values_of_ieee_754),
        cmocka_unit_test(order_puts_nan_last_and_zeros_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
