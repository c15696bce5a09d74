/*
 * Corners of ORDER BY … LIMIT where a bound, a statistic or an early evaluation could change the answer.
 */
#include "exec/files.h"

static void a_sort_key_that_fails_is_not_computed_for_rows_that_where_removes(void **state)
{
    static const char *const pushdown[] = {"on", "off"};
    const struct parquet_write_options options = {.row_group_rows = 10};
    WRITE("t.parquet", &options, {"x", sequence(-30, 1, 61)}, {"id", sequence(0, 1, 61)});
    for (size_t i = 0; i < ARRAY_SIZE(pushdown); i++) {
        _cleanup_(query_run_reset) struct query_run run =
            query_run_of("SELECT x FROM t WHERE x <> 0 ORDER BY 30 / x DESC, id LIMIT 3");
        query_set(&run, SETTING_PARQUET_PUSHDOWN_FILTERS, pushdown[i]);
        query_set(&run, SETTING_BATCH_SIZE, "7");
        query_set(&run, SETTING_TARGET_PARTITIONS, "1");
        assert_ok(query_run(&run));
        assert_string_equal(strbuf_text(&run.rows), "1\n2\n3\n");
    }
}

static void a_key_that_cannot_fail_is_compared_before_where(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 100};
    WRITE("t.parquet", &options, {"x", sequence(0, 1, 200)}, {"y", sequence(0, 1, 200)});
    _cleanup_(query_run_reset) struct query_run run =
        query_run_of("SELECT x FROM t WHERE y % 2 = 0 ORDER BY CASE WHEN x < 0 THEN 1 ELSE x END, x LIMIT 2");
    query_set(&run, SETTING_BATCH_SIZE, "10");
    query_set(&run, SETTING_TARGET_PARTITIONS, "1");
    assert_ok(query_run(&run));
    assert_string_equal(strbuf_text(&run.rows), "0\n2\n");
    assert_int_equal(metric_get(&run.metrics, METRIC_ROWS_PRUNED_LOCAL), 190);
}

static void limits_and_offsets_of_any_size_are_answered(void **state)
{
    WRITE("t.parquet", NULL, {"a", LONGS(3, 1, 2)});
    check_rows("SELECT a FROM t ORDER BY a LIMIT 0", "");
    check_rows("SELECT a FROM t ORDER BY a LIMIT 5 OFFSET 3", "");
    check_rows("SELECT a FROM t ORDER BY a LIMIT 10000000", "1\n2\n3\n");
    check_rows("SELECT a FROM t ORDER BY a LIMIT 10000001", "1\n2\n3\n");
    check_rows("SELECT a FROM t ORDER BY a LIMIT 2 OFFSET 10000000", "");
    check_rows("SELECT a FROM t ORDER BY a LIMIT 9223372036854775807 OFFSET 2", "3\n");
    check_rows("SELECT a FROM t ORDER BY a LIMIT 9223372036854775807 OFFSET 9223372036854775807", "");
    check_rows("SELECT a FROM t ORDER BY a LIMIT 1 OFFSET 9223372036854775807", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_sort_key_that_fails_is_not_computed_for_rows_that_where_removes),
        FILE_TEST(a_key_that_cannot_fail_is_compared_before_where),
        FILE_TEST(limits_and_offsets_of_any_size_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
