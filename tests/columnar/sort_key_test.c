#include "samples.h"

#include "columnar/sort_key.h"

static const struct sort_order orders[] = {{false, false}, {false, true}, {true, false}, {true, true}};
static const enum type_id index_types[] = {TYPE_NULL, TYPE_INT8, TYPE_UINT32};

static bool can_be_ordered(const struct data_type *type)
{
    return type->id != TYPE_INTERVAL_DAY_TIME && type->id != TYPE_INTERVAL_MONTH_DAY_NANO;
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static int compare_keys(struct str a, struct str b)
{
    return sign(memcmp(a.data, b.data, MIN(a.length, b.length)));
}

static void keys_of_one_column_order_as_its_scalars_do(void **state)
{
    uint64_t random = 1;
    enum { ROWS = 60 };
    _cleanup_(sort_keys_reset) struct sort_keys keys = {0};
    for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++)
        for (size_t o = 0; o < ARRAY_SIZE(orders); o++)
            for (size_t x = 0; x < ARRAY_SIZE(index_types); x++) {
                if (!can_be_ordered(&sample_types[t]))
                    continue;
                _cleanup_(array_unref) struct array *array =
                    sample_array(&random, &sample_types[t], ROWS, index_types[x]);
                assert_ok(sort_keys_encode(&keys, &array, &orders[o], 1, ROWS, NULL));
                assert_int_equal(keys.count, ROWS);
                for (size_t i = 0; i < ROWS; i++)
                    for (size_t j = 0; j < ROWS; j++) {
                        struct scalar a = scalar_from_array(array, i), b = scalar_from_array(array, j);
                        int expected = sign(sort_order_compare(&a, &b, orders[o]));
                        assert_int_equal(compare_keys(sort_keys_get(&keys, i), sort_keys_get(&keys, j)), expected);
                    }
            }
}

/* Columns of random types; the key of a row of columns is the key of its scalars, byte by byte, and compares as the
 * rows do one column after another. */
static void keys_of_several_columns_agree_with_those_of_scalars(void **state)
{
    uint64_t random = 2;
    enum { ROWS = 40, COLUMNS = 3 };
    _cleanup_(sort_keys_reset) struct sort_keys keys = {0};
    for (size_t round = 0; round < 300; round++) {
        struct array *columns[COLUMNS];
        struct sort_order column_orders[COLUMNS];
        struct data_type types[COLUMNS];
        for (size_t c = 0; c < COLUMNS; c++) {
            const struct data_type *type;
            do
                type = &sample_types[test_random(&random) % ARRAY_SIZE(sample_types)];
            while (!can_be_ordered(type));
            columns[c] = sample_array(&random, type, ROWS, index_types[test_random(&random) % 3]);
            types[c] = columns[c]->type;
            column_orders[c] = orders[test_random(&random) % 4];
        }
        _cleanup_(selection_unref) struct selection *selection = NULL;
        assert_ok(selection_new(ROWS, &selection));
        for (uint32_t i = 0; i < ROWS; i++)
            if (test_random(&random) % 8 < (round % 2 == 0 ? 5 : 1)) /* many rows, and fewer than a dictionary has */
                selection->rows[selection->count++] = i;
        assert_ok(sort_keys_encode(&keys, columns, column_orders, COLUMNS, ROWS, selection));
        assert_int_equal(keys.count, selection->count);
        size_t width = sort_key_fixed_width(types, COLUMNS);
        for (size_t i = 0; i < keys.count; i++) {
            struct scalar row[COLUMNS];
            for (size_t c = 0; c < COLUMNS; c++)
                row[c] = scalar_from_array(columns[c], selection->rows[i]);
            _cleanup_(strbuf_reset) struct strbuf key = {0};
            assert_ok(sort_key_encode_scalars(row, column_orders, COLUMNS, &key));
            struct str encoded = sort_keys_get(&keys, i);
            assert_int_equal(encoded.length, key.length);
            assert_memory_equal(encoded.data, key.data, key.length);
            assert_true(width == 0 || encoded.length == width);
            for (size_t j = 0; j < keys.count; j++) {
                int expected = 0;
                for (size_t c = 0; c < COLUMNS && expected == 0; c++) {
                    struct scalar other = scalar_from_array(columns[c], selection->rows[j]);
                    expected = sign(sort_order_compare(&row[c], &other, column_orders[c]));
                }
                assert_int_equal(compare_keys(encoded, sort_keys_get(&keys, j)), expected);
            }
        }
        for (size_t c = 0; c < COLUMNS; c++)
            array_unref(columns[c]);
    }
}

/* The order written out by hand, from PostgreSQL's rules for float8 and text in the C collation. */
static void the_order_is_the_documented_one(void **state)
{
    const double numbers[] = {-__builtin_inf(), -1, -0x1p-1074, 0, 0x1p-1074, 1, __builtin_inf(), __builtin_nan("")};
    const struct str strings[] = {{"", 0},  {"\0", 1},  {"\0\0", 2}, {"\0\1", 2}, {"\1", 1},
                                  {"a", 1}, {"a\0", 2}, {"ab", 2},   {"\xff", 1}, {"\xff\xff", 2}};
    for (int descending = 0; descending < 2; descending++) {
        struct sort_order order = {.descending = descending};
        _cleanup_(strbuf_reset) struct strbuf before = {0};
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
            struct scalar scalar = {.type = type_of(TYPE_FLOAT64), .float64 = numbers[i]};
            _cleanup_(strbuf_reset) struct strbuf key = {0};
            assert_ok(sort_key_encode_scalars(&scalar, &order, 1, &key));
            if (i > 0)
                assert_int_equal(sign(memcmp(before.data, key.data, 9)), descending ? 1 : -1);
            strbuf_reset(&before);
            assert_ok(strbuf_append(&before, key.data, key.length));
        }
        strbuf_reset(&before);
        for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
            struct scalar scalar = {.type = type_of(TYPE_BINARY), .string = strings[i]};
            _cleanup_(strbuf_reset) struct strbuf key = {0};
            assert_ok(sort_key_encode_scalars(&scalar, &order, 1, &key));
            if (i > 0)
                assert_int_equal(sign(memcmp(before.data, key.data, MIN(before.length, key.length))),
                                 descending ? 1 : -1);
            strbuf_reset(&before);
            assert_ok(strbuf_append(&before, key.data, key.length));
        }
    }
}

static void equal_floats_have_one_key(void **state)
{
    const enum type_id ids[] = {TYPE_FLOAT16, TYPE_FLOAT32, TYPE_FLOAT64};
    for (size_t t = 0; t < ARRAY_SIZE(ids); t++) {
        struct scalar zero = {.type = type_of(ids[t])}, negative_zero = zero, nan = zero, negative_nan = zero;
        if (ids[t] == TYPE_FLOAT16) {
            negative_zero.uint64 = 0x8000;
            nan.uint64 = 0x7e00;
            negative_nan.uint64 = 0xfc01;
        } else if (ids[t] == TYPE_FLOAT32) {
            negative_zero.float32 = -0.0F;
            nan.float32 = __builtin_nanf("");
            negative_nan.float32 = -__builtin_nanf("1");
        } else {
            negative_zero.float64 = -0.0;
            nan.float64 = __builtin_nan("");
            negative_nan.float64 = -__builtin_nan("1");
        }
        struct strbuf keys[4] = {0};
        const struct scalar *scalars[] = {&zero, &negative_zero, &nan, &negative_nan};
        for (size_t i = 0; i < 4; i++)
            assert_ok(sort_key_encode_scalars(scalars[i], &orders[0], 1, &keys[i]));
        assert_memory_equal(keys[0].data, keys[1].data, keys[0].length);
        assert_memory_equal(keys[2].data, keys[3].data, keys[2].length);
        assert_true(memcmp(keys[0].data, keys[2].data, keys[0].length) < 0);
        for (size_t i = 0; i < 4; i++)
            strbuf_reset(&keys[i]);
    }
}

static void what_has_no_order_is_refused(void **state)
{
    assert_fails(sort_key_check_type(&(struct data_type){.id = TYPE_LIST}), KITH_ERROR_NOT_IMPLEMENTED, "List");
    assert_fails(sort_key_check_type(&(struct data_type){.id = TYPE_INTERVAL_MONTH_DAY_NANO}),
                 KITH_ERROR_NOT_IMPLEMENTED, "Interval(MonthDayNano)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_one_column_order_as_its_scalars_do),
        cmocka_unit_test(keys_of_several_columns_agree_with_those_of_scalars),
        cmocka_unit_test(the_order_is_the_documented_one),
        cmocka_unit_test(equal_floats_have_one_key),
        cmocka_unit_test(what_has_no_order_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
