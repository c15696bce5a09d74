#include "samples.h"

static const enum type_id index_types[] = {TYPE_NULL, TYPE_INT8, TYPE_UINT16, TYPE_INT32, TYPE_UINT64};

static void a_slice_shows_its_rows_and_shares_the_buffers(void **state)
{
    uint64_t random = 1;
    for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++) {
        _cleanup_(array_unref) struct array *array = sample_array(&random, &sample_types[t], 50, TYPE_NULL);
        _cleanup_(array_unref) struct array *slice = NULL;
        assert_ok(array_slice(array, 13, 20, &slice));
        assert_int_equal(slice->length, 20);
        assert_ptr_equal(slice->values, array->values);
        size_t nulls = 0;
        for (size_t i = 0; i < 20; i++) {
            assert_same_row(slice, i, array, 13 + i);
            nulls += array_is_null(slice, i);
        }
        assert_int_equal(array_null_count(slice), nulls);
    }
}

static void a_slice_past_the_end_is_refused(void **state)
{
    uint64_t random = 1;
    _cleanup_(array_unref) struct array *array = sample_array(&random, &sample_types[5], 10, TYPE_NULL);
    struct array *slice = NULL;
    assert_fails(array_slice(array, 5, 6, &slice), KITH_ERROR_INVALID_ARGUMENT, "array of 10");
    assert_fails(array_slice(array, 1, SIZE_MAX, &slice), KITH_ERROR_INVALID_ARGUMENT, "array of 10");
}

static void taking_rows_agrees_with_one_by_one(void **state)
{
    uint64_t random = 2;
    for (size_t round = 0; round < 10; round++)
        for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++)
            for (size_t x = 0; x < ARRAY_SIZE(index_types); x++) {
                size_t length = 1 + test_random(&random) % 60, count = test_random(&random) % 80;
                _cleanup_(array_unref) struct array *array =
                    sample_array(&random, &sample_types[t], length, index_types[x]);
                uint32_t rows[80];
                for (size_t i = 0; i < count; i++)
                    rows[i] = (uint32_t)(test_random(&random) % length);
                _cleanup_(array_unref) struct array *taken = NULL;
                assert_ok(array_take(array, rows, count, &taken));
                assert_int_equal(taken->length, count);
                assert_true(type_equal(&taken->type, &array->type));
                assert_ptr_equal(taken->dictionary, array->dictionary);
                for (size_t i = 0; i < count; i++)
                    assert_same_row(taken, i, array, rows[i]);
            }
}

static void decoding_a_dictionary_keeps_the_rows(void **state)
{
    uint64_t random = 3;
    for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++)
        for (size_t x = 1; x < ARRAY_SIZE(index_types); x++) {
            _cleanup_(array_unref) struct array *whole = sample_array(&random, &sample_types[t], 70, index_types[x]);
            _cleanup_(array_unref) struct array *array = NULL;
            assert_ok(array_slice(whole, 3, 64, &array));
            _cleanup_(array_unref) struct array *decoded = NULL;
            assert_ok(array_decode_dictionary(array, &decoded));
            assert_true(type_equal(&decoded->type, &sample_types[t]));
            assert_int_equal(array_null_count(decoded), array_null_count(array));
            for (size_t i = 0; i < array->length; i++)
                assert_same_row(decoded, i, array, i);
        }
}

static void decoding_refuses_an_index_outside_the_dictionary(void **state)
{
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    assert_ok(array_builder_new(&(struct data_type){.id = TYPE_INT8}, &builder));
    assert_ok(array_builder_append_int(builder, 0));
    assert_ok(array_builder_append_int(builder, -1));
    _cleanup_(array_unref) struct array *indices = NULL;
    assert_ok(array_builder_finish(builder, &indices));
    _cleanup_(array_unref) struct array *array = NULL, *decoded = NULL;
    assert_ok(array_new_dictionary(indices, indices, &array));
    assert_fails(array_decode_dictionary(array, &decoded), KITH_ERROR_CORRUPT, "row 1 has index 255");
}

static void concatenating_agrees_with_one_by_one(void **state)
{
    uint64_t random = 4;
    for (size_t round = 0; round < 10; round++)
        for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++)
            for (size_t x = 0; x < ARRAY_SIZE(index_types); x++) {
                enum { PARTS = 4 };
                struct array *parts[PARTS] = {0};
                for (size_t p = 0; p < PARTS; p++)
                    parts[p] = sample_array(&random, &sample_types[t], test_random(&random) % 40, index_types[x]);
                struct data_type type = parts[0]->type;
                _cleanup_(array_unref) struct array *all = NULL;
                assert_ok(array_concatenate(&type, parts, PARTS, &all));
                assert_true(type_equal(&all->type, &type));
                size_t row = 0, nulls = 0;
                for (size_t p = 0; p < PARTS; p++) {
                    nulls += array_null_count(parts[p]);
                    for (size_t i = 0; i < parts[p]->length; i++)
                        assert_same_row(all, row++, parts[p], i);
                }
                assert_int_equal(all->length, row);
                assert_int_equal(array_null_count(all), nulls);
                for (size_t p = 0; p < PARTS; p++)
                    array_unref(parts[p]);
            }
}

static void concatenating_none_gives_an_empty_array(void **state)
{
    for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++) {
        _cleanup_(array_unref) struct array *empty = NULL;
        assert_ok(array_concatenate(&sample_types[t], NULL, 0, &empty));
        assert_int_equal(empty->length, 0);
        assert_int_equal(array_null_count(empty), 0);
    }
}

static void a_dictionary_is_decoded_where_the_type_has_none(void **state)
{
    uint64_t random = 5;
    struct data_type type = type_of(TYPE_UTF8);
    _cleanup_(array_unref) struct array *plain = sample_array(&random, &type, 20, TYPE_NULL);
    _cleanup_(array_unref) struct array *encoded = sample_array(&random, &type, 20, TYPE_INT32);
    struct array *parts[] = {plain, encoded};
    _cleanup_(array_unref) struct array *all = NULL;
    assert_ok(array_concatenate(&type, parts, 2, &all));
    assert_null(all->dictionary);
    for (size_t i = 0; i < 20; i++) {
        assert_same_row(all, i, plain, i);
        assert_same_row(all, 20 + i, encoded, i);
    }
    assert_fails(array_concatenate(&encoded->type, parts, 2, &all), KITH_ERROR_INVALID_ARGUMENT,
                 "of type Utf8 to one of type Dictionary(Int32, Utf8)");
}

static void one_dictionary_is_shared_and_one_of_too_many_values_is_refused(void **state)
{
    uint64_t random = 6;
    struct data_type type = type_of(TYPE_INT32), index = type_of(TYPE_INT8);
    _cleanup_(array_unref) struct array *values = sample_array(&random, &type, 70, TYPE_NULL);
    _cleanup_(array_unref) struct array *others = sample_array(&random, &type, 70, TYPE_NULL);
    _cleanup_(array_unref) struct array *indices = NULL;
    assert_ok(scalar_to_array(&(struct scalar){.type = index, .int64 = 69}, 5, &indices));
    _cleanup_(array_unref) struct array *a = NULL, *b = NULL, *all = NULL;
    assert_ok(array_new_dictionary(indices, values, &a));
    assert_ok(array_new_dictionary(indices, others, &b));
    struct array *same[] = {a, a}, *different[] = {a, b};
    assert_ok(array_concatenate(&a->type, same, 2, &all));
    assert_ptr_equal(all->dictionary, values);
    array_unref(TAKE(all));
    assert_fails(array_concatenate(&a->type, different, 2, &all), KITH_ERROR_LIMIT, "140 values");

    _cleanup_(array_unref) struct array *few = sample_array(&random, &type, 20, TYPE_NULL), *c = NULL;
    assert_ok(scalar_to_array(&(struct scalar){.type = index, .int64 = 19}, 5, &c));
    array_unref(TAKE(b));
    assert_ok(array_new_dictionary(c, few, &b));
    struct array *in_turns[] = {a, b, a, b, a};
    assert_ok(array_concatenate(&a->type, in_turns, 5, &all));
    assert_int_equal(all->dictionary->length, 90);
    for (size_t i = 0; i < 25; i++)
        assert_same_row(all, i, i / 5 % 2 == 0 ? values : few, i / 5 % 2 == 0 ? 69 : 19);
}

static void strings_past_32_bit_offsets_are_refused(void **state)
{
    /* Offsets that claim 2 GiB - 16 bytes; nothing reads the bytes before the refusal. */
    _cleanup_(array_unref) struct array *huge = NULL, *all = NULL;
    assert_ok(array_new(&(struct data_type){.id = TYPE_UTF8}, 1, &huge));
    assert_ok(buffer_new_zeroed(2 * sizeof(int32_t), &huge->offsets));
    assert_ok(buffer_new(0, &huge->data));
    ((int32_t *)(void *)huge->offsets->data)[1] = INT32_MAX - 16;
    struct array *parts[] = {huge, huge};
    assert_fails(array_concatenate(&huge->type, parts, 2, &all), KITH_ERROR_LIMIT, "STRING_BATCH_BYTES");
    uint32_t rows[] = {0, 0};
    assert_fails(array_take(huge, rows, 2, &all), KITH_ERROR_LIMIT, "STRING_BATCH_BYTES");
}

static void slices_of_one_view_array_bring_its_data_once(void **state)
{
    uint64_t random = 7;
    struct data_type type = type_of(TYPE_UTF8_VIEW);
    _cleanup_(array_unref) struct array *array = sample_array(&random, &type, 100, TYPE_NULL);
    assert_int_equal(array->variadic_count, 1);
    struct array *parts[5];
    for (size_t p = 0; p < 5; p++)
        assert_ok(array_slice(array, p * 20, 20, &parts[p]));
    _cleanup_(array_unref) struct array *all = NULL;
    assert_ok(array_concatenate(&type, parts, 5, &all));
    assert_int_equal(all->variadic_count, 1);
    for (size_t i = 0; i < 100; i++)
        assert_same_row(all, i, array, i);
    for (size_t p = 0; p < 5; p++)
        array_unref(parts[p]);
}

static void nulls_of_any_flat_type_can_be_made(void **state)
{
    for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++)
        for (size_t x = 0; x < ARRAY_SIZE(index_types); x++) {
            struct data_type type = sample_types[t];
            type.index = index_types[x];
            _cleanup_(array_unref) struct array *nulls = NULL, *taken = NULL;
            assert_ok(array_new_null(&type, 9, &nulls));
            assert_int_equal(array_null_count(nulls), 9);
            uint32_t rows[] = {8, 0};
            assert_ok(array_take(nulls, rows, 2, &taken));
            assert_int_equal(array_null_count(taken), 2);
        }
    struct array *list = NULL;
    assert_fails(array_new_null(&(struct data_type){.id = TYPE_LIST}, 1, &list), KITH_ERROR_NOT_IMPLEMENTED, "List");
}

static kith_error *concatenate_two(void *state)
{
    struct array **parts = state;
    _cleanup_(array_unref) struct array *all = NULL;
    return array_concatenate(&parts[1]->type, parts, 2, &all);
}

static void concatenation_survives_without_memory(void **state)
{
    uint64_t random = 8;
    for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++)
        for (size_t x = 0; x < ARRAY_SIZE(index_types); x++) {
            _cleanup_(array_unref) struct array *array = sample_array(&random, &sample_types[t], 20, index_types[x]);
            _cleanup_(array_unref) struct array *other = sample_array(&random, &sample_types[t], 20, TYPE_NULL);
            struct array *parts[] = {array, other};
            assert_survives_without_memory(concatenate_two, parts, 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_shows_its_rows_and_shares_the_buffers),
        cmocka_unit_test(a_slice_past_the_end_is_refused),
        cmocka_unit_test(taking_rows_agrees_with_one_by_one),
        cmocka_unit_test(decoding_a_dictionary_keeps_the_rows),
        cmocka_unit_test(decoding_refuses_an_index_outside_the_dictionary),
        cmocka_unit_test(concatenating_agrees_with_one_by_one),
        cmocka_unit_test(concatenating_none_gives_an_empty_array),
        cmocka_unit_test(a_dictionary_is_decoded_where_the_type_has_none),
        cmocka_unit_test(one_dictionary_is_shared_and_one_of_too_many_values_is_refused),
        cmocka_unit_test(strings_past_32_bit_offsets_are_refused),
        cmocka_unit_test(slices_of_one_view_array_bring_its_data_once),
        cmocka_unit_test(nulls_of_any_flat_type_can_be_made),
        cmocka_unit_test(concatenation_survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
