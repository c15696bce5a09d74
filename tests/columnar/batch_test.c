#include "samples.h"

#include "columnar/batch.h"

static struct schema *test_schema(void)
{
    char a[] = "number", b[] = "text";
    struct field fields[] = {{.name = a, .type = {.id = TYPE_INT64}, .nullable = true},
                             {.name = b, .type = {.id = TYPE_UTF8}, .nullable = true}};
    struct schema *schema = NULL;
    assert_ok(schema_new(fields, 2, &schema));
    return schema;
}

static struct batch *test_batch(uint64_t *random, struct schema *schema, size_t rows, enum type_id text_index)
{
    _cleanup_(array_unref) struct array *numbers = sample_array(random, &schema->fields[0].type, rows, TYPE_NULL);
    _cleanup_(array_unref) struct array *texts = sample_array(random, &schema->fields[1].type, rows, text_index);
    struct array *columns[] = {numbers, texts};
    struct batch *batch = NULL;
    assert_ok(batch_new(schema, columns, rows, &batch));
    return batch;
}

/* The rows of the root that a consumer of `batch` sees. */
static size_t visible_row(const struct batch *batch, size_t i)
{
    return batch->offset + (batch->selection == NULL ? i : batch->selection->rows[i]);
}

static struct selection *every_third(size_t rows)
{
    struct selection *selection = NULL;
    assert_ok(selection_new(rows, &selection));
    for (uint32_t i = 1; i < rows; i += 3)
        selection->rows[selection->count++] = i;
    return selection;
}

static void slices_of_selections_of_slices_show_the_right_rows(void **state)
{
    uint64_t random = 1;
    _cleanup_(schema_unref) struct schema *schema = test_schema();
    _cleanup_(batch_unref) struct batch *root = test_batch(&random, schema, 100, TYPE_NULL);
    _cleanup_(batch_unref) struct batch *slice = NULL, *selected = NULL, *inner = NULL, *compact = NULL;
    assert_ok(batch_slice(root, 10, 60, &slice));
    _cleanup_(selection_unref) struct selection *selection = every_third(60);
    assert_ok(batch_select(slice, selection, &selected));
    assert_int_equal(batch_row_count(selected), 20);
    assert_ok(batch_slice(selected, 5, 7, &inner));
    assert_int_equal(batch_row_count(inner), 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(visible_row(inner, i), 10 + 3 * (5 + i) + 1);
    assert_ok(batch_compact(inner, &compact));
    assert_null(compact->selection);
    assert_int_equal(compact->rows, 7);
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < 7; i++)
            assert_same_row(compact->columns[c], i, root->columns[c], visible_row(inner, i));
}

static void a_slice_outlives_the_batch_it_came_from(void **state)
{
    uint64_t random = 2;
    _cleanup_(schema_unref) struct schema *schema = test_schema();
    struct batch *root = test_batch(&random, schema, 30, TYPE_NULL);
    _cleanup_(batch_unref) struct batch *slice = NULL, *inner = NULL;
    assert_ok(batch_slice(root, 5, 20, &slice));
    _cleanup_(array_unref) struct array *expected = array_ref(root->columns[0]);
    batch_unref(root);
    assert_ok(batch_slice(slice, 2, 3, &inner));
    _cleanup_(array_unref) struct array *column = NULL;
    assert_ok(batch_column(inner, 0, &column));
    assert_int_equal(column->length, 3);
    for (size_t i = 0; i < 3; i++)
        assert_same_row(column, i, expected, 7 + i);
}

static void a_slice_is_one_allocation(void **state)
{
    uint64_t random = 3;
    _cleanup_(schema_unref) struct schema *schema = test_schema();
    _cleanup_(batch_unref) struct batch *root = test_batch(&random, schema, 30, TYPE_NULL);
    struct batch *slice = NULL;
    alloc_fail_after(2);
    assert_ok(batch_slice(root, 5, 20, &slice));
    batch_unref(slice);
    alloc_fail_after(1);
    assert_fails(batch_slice(root, 5, 20, &slice), KITH_ERROR_OUT_OF_MEMORY, "");
}

static void projection_keeps_selection_and_order(void **state)
{
    uint64_t random = 4;
    _cleanup_(schema_unref) struct schema *schema = test_schema(), *swapped = NULL;
    _cleanup_(batch_unref) struct batch *root = test_batch(&random, schema, 30, TYPE_NULL);
    _cleanup_(batch_unref) struct batch *selected = NULL, *projected = NULL, *compact = NULL;
    _cleanup_(selection_unref) struct selection *selection = every_third(30);
    assert_ok(batch_select(root, selection, &selected));
    size_t columns[] = {1, 0, 1};
    assert_ok(schema_project(schema, columns, 3, &swapped));
    assert_ok(batch_project(selected, swapped, columns, &projected));
    assert_ok(batch_compact(projected, &compact));
    assert_int_equal(compact->rows, 10);
    for (size_t i = 0; i < 10; i++)
        for (size_t c = 0; c < 3; c++)
            assert_same_row(compact->columns[c], i, root->columns[columns[c]], 3 * i + 1);
}

static void concatenation_takes_selected_rows_and_mixed_encodings(void **state)
{
    uint64_t random = 5;
    _cleanup_(schema_unref) struct schema *schema = test_schema();
    _cleanup_(batch_unref) struct batch *plain = test_batch(&random, schema, 30, TYPE_NULL);
    _cleanup_(batch_unref) struct batch *encoded = test_batch(&random, schema, 20, TYPE_INT16);
    _cleanup_(batch_unref) struct batch *selected = NULL, *all = NULL;
    _cleanup_(selection_unref) struct selection *selection = every_third(30);
    assert_ok(batch_select(plain, selection, &selected));
    struct batch *batches[] = {encoded, selected, encoded};
    assert_ok(batch_concatenate(schema, batches, 3, &all));
    assert_int_equal(all->rows, 50);
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; i < 20; i++) {
            assert_same_row(all->columns[c], i, encoded->columns[c], i);
            assert_same_row(all->columns[c], 30 + i, encoded->columns[c], i);
        }
        for (size_t i = 0; i < 10; i++)
            assert_same_row(all->columns[c], 20 + i, plain->columns[c], 3 * i + 1);
    }
    _cleanup_(batch_unref) struct batch *none = NULL;
    assert_ok(batch_concatenate(schema, NULL, 0, &none));
    assert_int_equal(none->rows, 0);
}

static void a_batch_without_columns_has_rows(void **state)
{
    _cleanup_(schema_unref) struct schema *schema = NULL;
    assert_ok(schema_new(NULL, 0, &schema));
    _cleanup_(batch_unref) struct batch *batch = NULL, *slice = NULL, *all = NULL;
    assert_ok(batch_new(schema, NULL, 12, &batch));
    assert_ok(batch_slice(batch, 2, 5, &slice));
    struct batch *both[] = {batch, slice};
    assert_ok(batch_concatenate(schema, both, 2, &all));
    assert_int_equal(batch_row_count(all), 17);
}

static void columns_that_do_not_fit_the_schema_are_refused(void **state)
{
    uint64_t random = 6;
    _cleanup_(schema_unref) struct schema *schema = test_schema();
    _cleanup_(batch_unref) struct batch *root = test_batch(&random, schema, 30, TYPE_NULL), *batch = NULL;
    struct array *swapped[] = {root->columns[1], root->columns[0]};
    assert_fails(batch_new(schema, swapped, 30, &batch), KITH_ERROR_INTERNAL, "\"number\" is of type Utf8");
    assert_fails(batch_new(schema, root->columns, 31, &batch), KITH_ERROR_INTERNAL, "30 rows in a batch of 31");
    _cleanup_(selection_unref) struct selection *selection = every_third(40);
    assert_fails(batch_select(root, selection, &batch), KITH_ERROR_INTERNAL, "row 37");
    assert_fails(batch_slice(root, 20, 11, &batch), KITH_ERROR_INVALID_ARGUMENT, "batch of 30");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_of_selections_of_slices_show_the_right_rows),
        cmocka_unit_test(a_slice_outlives_the_batch_it_came_from),
        cmocka_unit_test(a_slice_is_one_allocation),
        cmocka_unit_test(projection_keeps_selection_and_order),
        cmocka_unit_test(concatenation_takes_selected_rows_and_mixed_encodings),
        cmocka_unit_test(a_batch_without_columns_has_rows),
        cmocka_unit_test(columns_that_do_not_fit_the_schema_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
