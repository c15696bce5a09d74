#include "expr/trees.h"

#include "exec/row_store.h"

/* Batches of a BIGINT and a TEXT, the first row's number growing from batch to batch. */
static struct batch *numbered_batch(int64_t first, size_t rows)
{
    struct array *columns[2];
    int64_t numbers[16];
    char texts[16][8];
    const char *pointers[16];
    for (size_t i = 0; i < rows; i++) {
        numbers[i] = first + (int64_t)i;
        snprintf(texts[i], sizeof texts[i], "t%d", (int)numbers[i]);
        pointers[i] = texts[i];
    }
    columns[0] = column_of_ints(type_of(TYPE_INT64), numbers, rows);
    columns[1] = column_of_texts(type_of(TYPE_UTF8), pointers, rows);
    struct batch *batch = batch_of(columns, 2);
    array_unref(columns[0]);
    array_unref(columns[1]);
    return batch;
}

static void check_rows(const struct row_store *store, const uint64_t *rows, size_t count, const char *numbers,
                       const char *texts)
{
    _cleanup_(batch_unref) struct batch *batch = NULL;
    assert_ok(row_store_gather(store, rows, count, &batch));
    assert_int_equal(batch_row_count(batch), count);
    _cleanup_(batch_unref) struct batch *compact = NULL;
    assert_ok(batch_compact(batch, &compact));
    assert_column(compact->columns[0], numbers);
    assert_column(compact->columns[1], texts);
}

static void rows_are_numbered_as_they_come_and_given_in_any_order(void **state)
{
    _cleanup_(batch_unref) struct batch *one = numbered_batch(0, 4), *two = numbered_batch(10, 3);
    _cleanup_(row_store_reset) struct row_store store;
    row_store_init(&store, one->schema);
    assert_ok(row_store_append(&store, one, (const uint32_t[]){1, 3}, 2));
    assert_ok(row_store_append(&store, two, (const uint32_t[]){2, 0}, 2));
    assert_int_equal(store.row_count, 4);
    check_rows(&store, (const uint64_t[]){3, 0, 2, 1, 0}, 5, "10,1,12,3,1", "t10,t1,t12,t3,t1");
    check_rows(&store, NULL, 0, "", "");
}

static void batches_that_are_kept_are_numbered_with_the_rest(void **state)
{
    _cleanup_(batch_unref) struct batch *one = numbered_batch(0, 3), *two = numbered_batch(10, 2);
    _cleanup_(row_store_reset) struct row_store store;
    row_store_init(&store, one->schema);
    assert_ok(row_store_keep(&store, batch_ref(one)));
    assert_ok(row_store_append(&store, two, (const uint32_t[]){1}, 1));
    assert_ok(row_store_keep(&store, batch_ref(two)));
    check_rows(&store, (const uint64_t[]){5, 3, 2}, 3, "11,11,2", "t11,t11,t2");
    assert_ok(row_store_merge(&store));
    assert_int_equal(store.batch_count, 1);
    check_rows(&store, (const uint64_t[]){5, 3, 2}, 3, "11,11,2", "t11,t11,t2");
}

static void compaction_keeps_the_given_rows_and_numbers_them_anew(void **state)
{
    _cleanup_(batch_unref) struct batch *one = numbered_batch(0, 8), *two = numbered_batch(10, 8);
    _cleanup_(row_store_reset) struct row_store store;
    row_store_init(&store, one->schema);
    assert_ok(row_store_keep(&store, batch_ref(one)));
    assert_ok(row_store_keep(&store, batch_ref(two)));
    size_t before = store.memory_bytes;
    assert_ok(row_store_compact(&store, (const uint64_t[]){9, 2, 15}, 3));
    assert_int_equal(store.row_count, 3);
    assert_true(store.memory_bytes < before);
    check_rows(&store, (const uint64_t[]){0, 1, 2}, 3, "11,2,17", "t11,t2,t17");
    assert_ok(row_store_append(&store, one, (const uint32_t[]){5}, 1));
    check_rows(&store, (const uint64_t[]){3, 0}, 2, "5,11", "t5,t11");
}

static void rows_are_copied_so_that_their_batch_may_go(void **state)
{
    _cleanup_(batch_unref) struct batch *batch = numbered_batch(0, 8);
    _cleanup_(schema_unref) struct schema *schema = schema_ref(batch->schema);
    _cleanup_(row_store_reset) struct row_store store;
    row_store_init(&store, schema);
    assert_ok(row_store_append(&store, batch, (const uint32_t[]){7}, 1));
    batch_unref(TAKE(batch));
    check_rows(&store, (const uint64_t[]){0}, 1, "7", "t7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_numbered_as_they_come_and_given_in_any_order),
        cmocka_unit_test(batches_that_are_kept_are_numbered_with_the_rest),
        cmocka_unit_test(compaction_keeps_the_given_rows_and_numbers_them_anew),
        cmocka_unit_test(rows_are_copied_so_that_their_batch_may_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
