#include "samples.h"

#include "columnar/utf8.h"

static void arrays_made_here_are_valid(void **state)
{
    const enum type_id index_types[] = {TYPE_NULL, TYPE_INT8, TYPE_UINT64};
    uint64_t random = 1;
    for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++)
        for (size_t x = 0; x < ARRAY_SIZE(index_types); x++)
            for (size_t length = 0; length < 30; length += 7) {
                _cleanup_(array_unref) struct array *array =
                    sample_array(&random, &sample_types[t], length, index_types[x]);
                _cleanup_(array_unref) struct array *nulls = NULL, *joined = NULL;
                assert_ok(array_validate(array));
                assert_ok(array_new_null(&array->type, length, &nulls));
                assert_ok(array_validate(nulls));
                struct array *both[] = {array, nulls};
                assert_ok(array_concatenate(&array->type, both, 2, &joined));
                assert_ok(array_validate(joined));
            }
}

/* Three valid rows: "a", "", and a text longer than a view holds inline. */
static struct array *three_strings(enum type_id id)
{
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    assert_ok(array_builder_new(&(struct data_type){.id = id}, &builder));
    assert_ok(array_builder_append_string(builder, str_of("a")));
    assert_ok(array_builder_append_string(builder, str_of("")));
    assert_ok(array_builder_append_string(builder, str_of("sixteen letters.")));
    struct array *array = NULL;
    assert_ok(array_builder_finish(builder, &array));
    return array;
}

static void faulty_offsets_are_found(void **state)
{
    const struct {
        size_t at;
        int32_t value;
        const char *message;
    } cases[] = {{0, -1, "row 0 has offset -1"}, {1, 2, "row 2 has offset 1"}, {3, 18, "row 3 has offset 18"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(array_unref) struct array *array = three_strings(TYPE_UTF8);
        ((int32_t *)(void *)array->offsets->data)[cases[i].at] = cases[i].value;
        assert_fails(array_validate(array), KITH_ERROR_CORRUPT, cases[i].message);
    }
    _cleanup_(array_unref) struct array *wide = three_strings(TYPE_LARGE_UTF8);
    ((int64_t *)(void *)wide->offsets->data)[3] = INT64_MAX;
    assert_fails(array_validate(wide), KITH_ERROR_CORRUPT, "row 3 has offset");
}

static void short_and_missing_buffers_are_found(void **state)
{
    _cleanup_(array_unref) struct array *strings = three_strings(TYPE_UTF8), *numbers = NULL;
    strings->offsets->size = 15;
    assert_fails(array_validate(strings), KITH_ERROR_CORRUPT, "offsets of 15 bytes, expected 16");
    struct data_type type = type_of(TYPE_INT64);
    assert_ok(array_new(&type, 2, &numbers));
    assert_fails(array_validate(numbers), KITH_ERROR_CORRUPT, "no buffer of values, expected 16 bytes");
    assert_ok(buffer_new(16, &numbers->values));
    assert_ok(array_validate(numbers));
    numbers->offset = SIZE_MAX - 1;
    assert_fails(array_validate(numbers), KITH_ERROR_CORRUPT, "2 rows from row");
    numbers->offset = SIZE_MAX / 8;
    assert_fails(array_validate(numbers), KITH_ERROR_CORRUPT, "rows of 8 bytes");
}

static void a_null_count_that_is_not_that_of_the_bitmap_is_found(void **state)
{
    struct data_type type = type_of(TYPE_INT32);
    _cleanup_(array_unref) struct array *array = NULL;
    assert_ok(array_new_null(&type, 10, &array));
    array->null_count = 9;
    assert_fails(array_validate(array), KITH_ERROR_CORRUPT, "10 NULLs in the validity bitmap, 9 said");
    array->validity->size = 1;
    assert_fails(array_validate(array), KITH_ERROR_CORRUPT, "validity of 1 bytes, expected 2");
}

static void faulty_views_are_found(void **state)
{
    const struct {
        struct string_view view;
        const char *message;
    } cases[] = {
        {{.length = -1}, "row 2 has length -1"},
        {{.length = 16, .reference = {"sixt", 1, 0}}, "row 2 is in data buffer 1 of 1"},
        {{.length = 16, .reference = {"sixt", -1, 0}}, "row 2 is in data buffer -1"},
        {{.length = 16, .reference = {"sixt", 0, 1}}, "row 2 is at offset 1, length 16"},
        {{.length = INT32_MAX, .reference = {"sixt", 0, 0}}, "of a data buffer of 16 bytes"},
        {{.length = 16, .reference = {"sixt", 0, -1}}, "row 2 is at offset -1"},
        {{.length = 16, .reference = {"sixe", 0, 0}}, "row 2 has another prefix"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(array_unref) struct array *array = three_strings(TYPE_UTF8_VIEW);
        ((struct string_view *)(void *)array->values->data)[2] = cases[i].view;
        assert_fails(array_validate(array), KITH_ERROR_CORRUPT, cases[i].message);
    }
}

static void text_that_is_not_utf8_is_found_row_by_row(void **state)
{
    const enum type_id ids[] = {TYPE_UTF8, TYPE_LARGE_UTF8, TYPE_UTF8_VIEW};
    for (size_t t = 0; t < ARRAY_SIZE(ids); t++) {
        _cleanup_(array_builder_free) struct array_builder *builder = NULL;
        assert_ok(array_builder_new(&(struct data_type){.id = ids[t]}, &builder));
        /* One euro sign, cut in two: valid as a whole, not row by row. */
        assert_ok(array_builder_append_string(builder, str_of("\xe2\x82")));
        assert_ok(array_builder_append_string(builder, str_of("\xac")));
        _cleanup_(array_unref) struct array *array = NULL;
        assert_ok(array_builder_finish(builder, &array));
        assert_fails(array_validate(array), KITH_ERROR_CORRUPT, "row 0 is not UTF-8");
        array->type.id = ids[t] == TYPE_UTF8         ? TYPE_BINARY
                         : ids[t] == TYPE_LARGE_UTF8 ? TYPE_LARGE_BINARY
                                                     : TYPE_BINARY_VIEW;
        assert_ok(array_validate(array));
    }
}

static void what_null_rows_hold_is_ignored_and_can_be_repaired(void **state)
{
    _cleanup_(array_unref) struct array *views = three_strings(TYPE_UTF8_VIEW);
    ((struct string_view *)(void *)views->values->data)[1] = (struct string_view){.length = 99, .reference.buffer = 7};
    assert_ok(buffer_new_zeroed(1, &views->validity));
    views->validity->data[0] = 5;
    views->null_count = -1;
    assert_ok(array_validate(views));
    assert_ok(array_repair_nulls(views));
    assert_int_equal(array_string(views, 1).length, 0);
    assert_string_equal(array_string(views, 2).data, "sixteen letters.");

    struct data_type type = type_of(TYPE_UTF8);
    _cleanup_(array_unref) struct array *indices = NULL, *values = three_strings(TYPE_UTF8), *dictionary = NULL;
    assert_ok(scalar_to_array(&(struct scalar){.type = type_of(TYPE_INT8), .int64 = -3}, 3, &indices));
    assert_ok(array_new_dictionary(indices, values, &dictionary));
    dictionary->validity = buffer_ref(views->validity);
    dictionary->null_count = -1;
    assert_fails(array_validate(dictionary), KITH_ERROR_CORRUPT, "row 0 has index 253 into a dictionary of 3");
    ((int8_t *)(void *)indices->values->data)[0] = ((int8_t *)(void *)indices->values->data)[2] = 2;
    assert_ok(array_validate(dictionary));
    assert_ok(array_repair_nulls(dictionary));
    assert_int_equal(array_dictionary_index(dictionary, 1), 0);
    assert_int_equal(array_dictionary_index(dictionary, 2), 2);
    array_unref(TAKE(dictionary));

    _cleanup_(array_unref) struct array *none = NULL;
    assert_ok(array_concatenate(&type, NULL, 0, &none));
    assert_ok(array_new_dictionary(indices, none, &dictionary));
    assert_ok(buffer_new_zeroed(1, &dictionary->validity));
    assert_ok(array_repair_nulls(dictionary));
    assert_int_equal(dictionary->dictionary->length, 1);
    assert_int_equal(array_dictionary_index(dictionary, 2), 0);
}

/* Well-formed and ill-formed sequences from table 3-7 of the Unicode standard and its neighbours. */
static void utf8_is_what_unicode_says(void **state)
{
    const char *const good[] = {"",
                                "abcdefghijklmnop",
                                "\xc2\x80",
                                "\xdf\xbf",
                                "\xe0\xa0\x80",
                                "\xed\x9f\xbf",
                                "\xee\x80\x80",
                                "\xf0\x90\x80\x80",
                                "\xf4\x8f\xbf\xbf",
                                "12345678\xe2\x82\xac"};
    const char *const bad[] = {"\x80",         "\xc0\x80",         "\xc1\xbf",         "\xe0\x9f\xbf",
                               "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
                               "\xff",         "\xe2\x82",         "abcdefgh\xe2",     "\xc2z"};
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        assert_true(utf8_is_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_false(utf8_is_valid(bad[i], strlen(bad[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_made_here_are_valid),
        cmocka_unit_test(faulty_offsets_are_found),
        cmocka_unit_test(short_and_missing_buffers_are_found),
        cmocka_unit_test(a_null_count_that_is_not_that_of_the_bitmap_is_found),
        cmocka_unit_test(faulty_views_are_found),
        cmocka_unit_test(text_that_is_not_utf8_is_found_row_by_row),
        cmocka_unit_test(what_null_rows_hold_is_ignored_and_can_be_repaired),
        cmocka_unit_test(utf8_is_what_unicode_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
