/*
 * How queries end: at their end, refused, cancelled or dropped. Nothing may be left: query_run checks fibers and
 * reservations after each.
 */
#include "exec/files.h"

static void write_table(void)
{
    const struct parquet_write_options options = {.row_group_rows = 500, .page_rows = 100};
    for (int i = 0; i < 3; i++) {
        char path[32];
        snprintf(path, sizeof path, "t/%d.parquet", i);
        WRITE(path, &options, {"a", sequence(i * 10, 7, 5000)}, {"b", sequence(5000, -1, 5000)});
    }
}

/* Each is run on one partition and on several. */
static const char *const queries[] = {
    "SELECT a FROM t",
    "SELECT a FROM t WHERE b % 3 = 0",
    "SELECT a, b FROM t ORDER BY b, a LIMIT 2000",
    "SELECT a, b FROM t ORDER BY b DESC, a",
    "SELECT a + b FROM t WHERE b > 100 LIMIT 9000 OFFSET 10",
    "SELECT a, b FROM t UNION ALL SELECT b, a FROM t ORDER BY a, b LIMIT 2000",
    "SELECT x FROM (SELECT a AS x FROM t UNION ALL (SELECT b FROM t ORDER BY a LIMIT 900)) AS u WHERE x % 2 = 0",
};

static const char *const partitions[] = {"1", "4"};

static struct query_run prepared(size_t query, size_t partition)
{
    struct query_run run = query_run_of(queries[query]);
    query_set(&run, SETTING_TARGET_PARTITIONS, partitions[partition]);
    query_set(&run, SETTING_BATCH_SIZE, "64");
    return run;
}

static void a_stream_that_is_dropped_early_leaves_nothing(void **state)
{
    write_table();
    for (size_t i = 0; i < ARRAY_SIZE(queries) * ARRAY_SIZE(partitions); i++) {
        _cleanup_(query_run_reset) struct query_run run = prepared(i / 2, i % 2);
        run.stop_after = 1 + i % 3;
        assert_ok(query_run(&run));
        assert_int_equal(run.batch_count, run.stop_after);
    }
}

static void cancel_after_three(struct query_run *run)
{
    if (run->batch_count == 3)
        cancel_token_cancel(run->cancel, NULL);
}

static void a_query_cancelled_in_the_middle_ends_with_the_reason(void **state)
{
    write_table();
    for (size_t i = 0; i < ARRAY_SIZE(queries) * ARRAY_SIZE(partitions); i++) {
        _cleanup_(query_run_reset) struct query_run run = prepared(i / 2, i % 2);
        run.on_batch = cancel_after_three;
        assert_fails(query_run(&run), KITH_ERROR_CANCELLED, "cancelled");
        assert_int_equal(run.batch_count, 3);
    }
}

static void a_query_cancelled_before_it_began_reads_nothing(void **state)
{
    write_table();
    for (size_t i = 0; i < ARRAY_SIZE(queries) * ARRAY_SIZE(partitions); i++) {
        _cleanup_(query_run_reset) struct query_run run = prepared(i / 2, i % 2);
        run.cancel_first = true;
        assert_fails(query_run(&run), KITH_ERROR_CANCELLED, "cancelled");
        assert_int_equal(run.batch_count, 0);
    }
}

static void an_error_in_one_partition_ends_the_query(void **state)
{
    write_table();
    static const char *const failing[] = {"SELECT 1 / (a - 3500) FROM t", "SELECT a FROM t WHERE 1 / (a - 3500) > 0",
                                          "SELECT a FROM t ORDER BY 1 / (a - 3500) LIMIT 3",
                                          "SELECT a FROM t ORDER BY 1 / (a - 3500)"};
    for (size_t i = 0; i < ARRAY_SIZE(failing) * ARRAY_SIZE(partitions); i++) {
        _cleanup_(query_run_reset) struct query_run run = query_run_of(failing[i / 2]);
        query_set(&run, SETTING_TARGET_PARTITIONS, partitions[i % 2]);
        assert_fails(query_run(&run), KITH_ERROR_DIVISION_BY_ZERO, "division by zero");
    }
}

static void a_sort_beyond_the_memory_limit_is_refused_with_who_asked(void **state)
{
    write_table();
    _cleanup_(query_run_reset) struct query_run sort = query_run_of("SELECT a FROM t ORDER BY b, a");
    query_set(&sort, SETTING_MEMORY_LIMIT, "100k");
    assert_fails(query_run(&sort), KITH_ERROR_OUT_OF_MEMORY, "sort");
    _cleanup_(query_run_reset) struct query_run topk = query_run_of("SELECT a FROM t ORDER BY b, a LIMIT 5000");
    query_set(&topk, SETTING_MEMORY_LIMIT, "100k");
    assert_fails(query_run(&topk), KITH_ERROR_OUT_OF_MEMORY, "Top-K");
    _cleanup_(query_run_reset) struct query_run enough = query_run_of("SELECT a FROM t ORDER BY b, a LIMIT 50");
    query_set(&enough, SETTING_MEMORY_LIMIT, "1M");
    assert_ok(query_run(&enough));
    assert_true(enough.peak_memory > 0 && enough.peak_memory < 1 << 20);
}

static void rows_and_batches_are_counted(void **state)
{
    write_table();
    _cleanup_(query_run_reset) struct query_run run = query_run_of("SELECT a FROM t LIMIT 100");
    query_set(&run, SETTING_TARGET_PARTITIONS, "1");
    query_set(&run, SETTING_BATCH_SIZE, "30");
    assert_ok(query_run(&run));
    assert_int_equal(run.row_count, 100);
    assert_int_equal(run.batch_count, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_stream_that_is_dropped_early_leaves_nothing),
        FILE_TEST(a_query_cancelled_in_the_middle_ends_with_the_reason),
        FILE_TEST(a_query_cancelled_before_it_began_reads_nothing),
        FILE_TEST(an_error_in_one_partition_ends_the_query),
        FILE_TEST(a_sort_beyond_the_memory_limit_is_refused_with_who_asked),
        FILE_TEST(rows_and_batches_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
