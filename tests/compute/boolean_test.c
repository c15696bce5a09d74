#include "compute/boolean.h"
#include "compute/columns.h"
#include "compute/filter.h"

static const struct data_type boolean = {.id = TYPE_BOOL};

/* The truth tables of SQL:2016, 6.39 <boolean value expression>, tables 14 and 15. */
static void and_and_or_are_three_valued(void **state)
{
    _cleanup_(array_unref) struct array *left = INTS(boolean, 1, 1, 1, 0, 0, 0, NOTHING, NOTHING, NOTHING);
    _cleanup_(array_unref) struct array *right = INTS(boolean, 1, 0, NOTHING, 1, 0, NOTHING, 1, 0, NOTHING);
    struct datum a = datum_of(left), b = datum_of(right);
    _cleanup_(array_unref) struct array *both = NULL, *either = NULL, *not = NULL;
    assert_ok(boolean_combine(BOOLEAN_AND, &a, &b, 9, &both));
    assert_column(both, "true,false,NULL,false,false,false,NULL,false,NULL");
    assert_ok(boolean_combine(BOOLEAN_OR, &a, &b, 9, &either));
    assert_column(either, "true,true,true,true,false,NULL,true,NULL,NULL");
    assert_ok(boolean_not(&a, 9, &not ));
    assert_column(not, "false,false,false,true,true,true,NULL,NULL,NULL");
}

static void constants_stand_for_every_row(void **state)
{
    _cleanup_(array_unref) struct array *left = INTS(boolean, 1, 0, NOTHING);
    _cleanup_(array_unref) struct array *null = INTS(boolean, NOTHING);
    struct datum a = datum_of(left), c = {.array = null, .constant = true};
    _cleanup_(array_unref) struct array *both = NULL, *either = NULL;
    assert_ok(boolean_combine(BOOLEAN_AND, &a, &c, 3, &both));
    assert_column(both, "NULL,false,NULL");
    assert_ok(boolean_combine(BOOLEAN_OR, &c, &a, 3, &either));
    assert_column(either, "true,NULL,NULL");
}

static int sample_truth(const struct array *array, size_t row)
{
    return array_is_null(array, row) ? -1 : bitmap_get(array->values->data, array->offset + row);
}

static void slices_at_any_bit_combine_and_narrow(void **state)
{
    uint64_t random = 3;
    for (size_t rows = 1; rows < 700; rows += 13) {
        _cleanup_(array_unref) struct array *left = sample_array(&random, &boolean, rows, TYPE_NULL);
        _cleanup_(array_unref) struct array *right = sample_array(&random, &boolean, rows, TYPE_NULL);
        _cleanup_(selection_unref) struct selection *some = sample_selection(&random, rows, 3);
        _cleanup_(array_unref) struct array *both = NULL, *null = NULL;
        struct datum a = datum_of(left), b = datum_of(right);
        assert_ok(boolean_combine(BOOLEAN_AND, &a, &b, rows, &both));
        assert_ok(boolean_is_null(&a, false, rows, &null));
        for (size_t row = 0; row < rows; row++) {
            int x = sample_truth(left, row), y = sample_truth(right, row);
            int want = x == 0 || y == 0 ? 0 : x == 1 && y == 1 ? 1 : -1;
            assert_int_equal(sample_truth(both, row), want);
            assert_int_equal(sample_truth(null, row), x == -1);
        }
        for (int test = TRUTH_IS_TRUE; test <= TRUTH_IS_NOT_FALSE; test++) {
            _cleanup_(selection_unref) struct selection *narrowed = NULL, *rest = NULL, *again = NULL;
            assert_ok(selection_narrow(&a, (enum truth_test)test, rows, some, &narrowed));
            size_t n = 0;
            for (size_t k = 0; k < some->count; k++) {
                int x = sample_truth(left, some->rows[k]);
                bool passes = test == TRUTH_IS_TRUE ? x == 1 : test == TRUTH_IS_NOT_TRUE ? x != 1 : x != 0;
                if (passes)
                    assert_int_equal(narrowed->rows[n++], some->rows[k]);
            }
            assert_int_equal(narrowed->count, n);
            assert_ok(selection_subtract(some, rows, narrowed, &rest));
            assert_int_equal(rest->count, some->count - n);
            assert_ok(selection_unite(rest, narrowed, &again));
            assert_int_equal(again->count, some->count);
            assert_memory_equal(again->rows, some->rows, some->count * sizeof some->rows[0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(and_and_or_are_three_valued),
        cmocka_unit_test(constants_stand_for_every_row),
        cmocka_unit_test(slices_at_any_bit_combine_and_narrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
