#include "samples.h"

static void an_array_has_the_values_that_were_appended(void **state)
{
    uint64_t random = 1;
    enum { ROWS = 50 };
    for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++) {
        struct scalar scalars[ROWS];
        char texts[ROWS][SAMPLE_STRING_BYTES];
        _cleanup_(array_builder_free) struct array_builder *builder = NULL;
        assert_ok(array_builder_new(&sample_types[t], &builder));
        size_t nulls = 0;
        for (size_t i = 0; i < ROWS; i++) {
            scalars[i] = sample_scalar(&random, &sample_types[t], texts[i]);
            nulls += scalars[i].is_null;
            assert_ok(array_builder_append(builder, &scalars[i]));
        }
        _cleanup_(array_unref) struct array *array = NULL, *empty = NULL;
        assert_ok(array_builder_finish(builder, &array));
        assert_int_equal(array->length, ROWS);
        assert_int_equal(array_null_count(array), nulls);
        for (size_t i = 0; i < ROWS; i++) {
            struct scalar back = scalar_from_array(array, i);
            assert_true(sample_scalars_identical(&scalars[i], &back));
        }
        assert_ok(array_builder_finish(builder, &empty));
        assert_int_equal(empty->length, 0);
        assert_int_equal(array_null_count(empty), 0);
    }
}

static void rows_without_nulls_need_no_bitmap(void **state)
{
    struct data_type type = type_of(TYPE_DATE32);
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    assert_ok(array_builder_new(&type, &builder));
    for (int i = 0; i < 10; i++)
        assert_ok(array_builder_append_int(builder, -i));
    _cleanup_(array_unref) struct array *array = NULL;
    assert_ok(array_builder_finish(builder, &array));
    assert_null(array->validity);
    assert_int_equal(((const int32_t *)array_values(array))[9], -9);
}

static void what_does_not_fit_the_type_is_refused(void **state)
{
    struct data_type type = {.id = TYPE_FIXED_SIZE_BINARY, .byte_width = 3}, list = type_of(TYPE_LIST);
    struct data_type dictionary = {.id = TYPE_UTF8, .index = TYPE_INT8}, text = type_of(TYPE_UTF8);
    _cleanup_(array_builder_free) struct array_builder *builder = NULL, *none = NULL, *texts = NULL;
    assert_ok(array_builder_new(&type, &builder));
    assert_fails(array_builder_append_string(builder, str_of("ab")), KITH_ERROR_INVALID_ARGUMENT,
                 "2 bytes for a value");
    assert_fails(array_builder_new(&list, &none), KITH_ERROR_NOT_IMPLEMENTED, "List");
    assert_fails(array_builder_new(&dictionary, &none), KITH_ERROR_NOT_IMPLEMENTED, "Dictionary(Int8, Utf8)");
    assert_ok(array_builder_new(&text, &texts));
    /* Refused by its length, before a byte is read. */
    struct str huge = {"", (size_t)LIMIT_STRING_BATCH_BYTES + 1};
    assert_fails(array_builder_append_string(texts, huge), KITH_ERROR_LIMIT, "STRING_BATCH_BYTES");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_has_the_values_that_were_appended),
        cmocka_unit_test(rows_without_nulls_need_no_bitmap),
        cmocka_unit_test(what_does_not_fit_the_type_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
