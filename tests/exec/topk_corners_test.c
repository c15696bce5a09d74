/*
 * Corners of ORDER BY … LIMIT where a bound, a statistic or an early evaluation could change the answer. Among them are
 * the shapes that have gone wrong elsewhere; numbers are issues of apache/datafusion, with the test here or what the
 * shape waits for.
 *
 *   24352          rows_of_a_row_group_that_where_empties_are_not_given_twice
 *   24355          a_bound_that_comes_while_pages_are_passed_over_leaves_the_right_rows
 *   25239          nulls_that_nobody_counted_come_first
 *   25296          arrives with joins
 *   16998, 9680    arrives with recursive queries
 *   22849, 22874   a_scan_of_sorted_files_ends_once_nothing_better_can_come
 *   24272          a_predicate_proved_for_a_later_row_group_does_not_put_it_first
 *   23822, 22554   arrives with DISTINCT
 *   22190, 23440   arrives with GROUP BY
 *   22489, 14406   a_limit_inside_counts_before_the_one_outside
 *   7608           arrives with GROUP BY
 *   22941          a_limit_counts_the_rows_that_where_leaves
 *   23301          partitions_over_files_that_overlap_give_one_order
 *   19386, 9417    a_topk_of_few_rows_holds_few_of_wide_batches
 *   20244          an_expression_of_a_sorted_column_is_sorted_by_its_values
 *   17 (StreamFusion 66)  signed_zeros_tie_in_every_batch in scan_test.c
 *   24804          a_nan_outside_of_the_statistics_is_found
 *   21907          a_null_that_nobody_counted_proves_no_predicate
 *   24769          a_column_of_nulls_is_passed_over
 */
#include "exec/files.h"
#include "parquet/footer_edit.h"

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

static void check_order(const char *sql, enum setting setting, const char *value, const char *expected)
{
    static const char *const batch_sizes[] = {"1", "3", "8192"};
    for (size_t i = 0; i < ARRAY_SIZE(batch_sizes); i++) {
        _cleanup_(query_run_reset) struct query_run run = query_run_of(sql);
        query_set(&run, SETTING_TARGET_PARTITIONS, "1");
        query_set(&run, SETTING_BATCH_SIZE, batch_sizes[i]);
        query_set(&run, SETTING_PARQUET_PAGE_INDEX_BYTES, "0");
        query_set(&run, setting, value);
        assert_ok(query_run(&run));
        assert_string_equal(strbuf_text(&run.rows), expected);
    }
}

/* The second row group has the smallest b, which WHERE removes. */
static void rows_of_a_row_group_that_where_empties_are_not_given_twice(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 3};
    WRITE("t.parquet", &options, {"a", LONGS(1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1)},
          {"b", LONGS(7, 8, 9, 1, 2, 3, 4, 5, 6, 10, 11, 12)});
    check_order("SELECT b FROM t WHERE a = 1 ORDER BY b LIMIT 5", SETTING_PARQUET_PRUNING, "off", "4\n5\n6\n7\n8\n");
    check_order("SELECT b FROM t WHERE a % 2 = 1 ORDER BY b LIMIT 5", SETTING_PARQUET_PRUNING, "on", "4\n5\n6\n7\n8\n");
    check_order("SELECT b FROM t WHERE a % 2 = 1 ORDER BY b LIMIT 5", SETTING_PARQUET_REORDER_ROW_GROUPS, "off",
                "4\n5\n6\n7\n8\n");
}

/* Pages of a below 50 are passed over, and the bound that the first row group gives rules out others of its pages and
 * of the later row groups. */
static void a_bound_that_comes_while_pages_are_passed_over_leaves_the_right_rows(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 100, .page_rows = 10};
    int64_t a[300], b[300];
    for (int64_t i = 0; i < 300; i++) {
        a[i] = i % 100;
        b[i] = i < 100 ? 1000 - i : i < 200 ? i : 900 + i;
    }
    WRITE("t.parquet", &options, {"a", column_of_ints(type_of(TYPE_INT64), a, 300)},
          {"b", column_of_ints(type_of(TYPE_INT64), b, 300)});
    check_order("SELECT b FROM t WHERE a >= 50 ORDER BY b LIMIT 3", SETTING_PARQUET_REORDER_ROW_GROUPS, "off",
                "150\n151\n152\n");
    check_order("SELECT b FROM t WHERE a >= 50 ORDER BY b DESC LIMIT 3", SETTING_PARQUET_REORDER_ROW_GROUPS, "off",
                "1199\n1198\n1197\n");
    check_order("SELECT b FROM t WHERE a >= 95 ORDER BY b LIMIT 7", SETTING_PARQUET_REORDER_ROW_GROUPS, "on",
                "195\n196\n197\n198\n199\n901\n902\n");
}

/* The only NULL is in the second row group, whose numbers are worse than all of the first. */
static void nulls_that_nobody_counted_come_first(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 3, .page_rows = 1};
    const struct footer_edit edit = {.no_null_counts = true};
    WRITE("t.parquet", &options, {"a", LONGS(1, 2, 3, 7, NOTHING, 9)});
    edit_footer("t.parquet", &edit);
    check_order("SELECT a FROM t ORDER BY a NULLS FIRST LIMIT 1", SETTING_PLANNED_BOUNDS, "on", "NULL\n");
    check_order("SELECT a FROM t ORDER BY a NULLS FIRST LIMIT 2", SETTING_PLANNED_BOUNDS, "off", "NULL\n1\n");
    check_order("SELECT a FROM t ORDER BY a NULLS LAST LIMIT 6", SETTING_PLANNED_BOUNDS, "on", "1\n2\n3\n7\n9\nNULL\n");
    check_order("SELECT a FROM t WHERE a IS NULL", SETTING_PLANNED_BOUNDS, "on", "NULL\n");
}

static void a_scan_of_sorted_files_ends_once_nothing_better_can_come(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 100};
    WRITE("t/1.parquet", &options, {"a", sequence(0, 1, 500)});
    WRITE("t/2.parquet", &options, {"a", sequence(500, 1, 500)});
    _cleanup_(query_run_reset) struct query_run run =
        query_run_of("SELECT a FROM t WHERE a % 2 = 1 ORDER BY a LIMIT 3");
    query_set(&run, SETTING_TARGET_PARTITIONS, "1");
    query_set(&run, SETTING_PARQUET_REORDER_ROW_GROUPS, "off");
    assert_ok(query_run(&run));
    assert_string_equal(strbuf_text(&run.rows), "1\n3\n5\n");
    assert_int_equal(metric_get(&run.metrics, METRIC_ROW_GROUPS_READ), 1);
    assert_int_equal(metric_get(&run.metrics, METRIC_ROWS_SCANNED), 100);
}

/* Of the first row group the predicate holds for some rows, of the second for all. */
static void a_predicate_proved_for_a_later_row_group_does_not_put_it_first(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 100};
    WRITE("t.parquet", &options, {"a", sequence(0, 1, 200)});
    check_order("SELECT a FROM t WHERE a >= 1 ORDER BY a LIMIT 5", SETTING_PARQUET_REORDER_ROW_GROUPS, "off",
                "1\n2\n3\n4\n5\n");
    check_order("SELECT a FROM t WHERE a >= 1 ORDER BY a LIMIT 5", SETTING_PARQUET_REORDER_ROW_GROUPS, "on",
                "1\n2\n3\n4\n5\n");
}

static void a_limit_counts_the_rows_that_where_leaves(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 10};
    WRITE("t.parquet", &options, {"a", sequence(0, 1, 50)});
    _cleanup_(query_run_reset) struct query_run run = query_run_of("SELECT a FROM t WHERE a >= 8 LIMIT 12");
    assert_ok(query_run(&run));
    assert_int_equal(run.row_count, 12);
}

static void partitions_over_files_that_overlap_give_one_order(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 10};
    for (int i = 0; i < 4; i++) {
        char path[32];
        snprintf(path, sizeof path, "t/%d.parquet", i);
        WRITE(path, &options, {"a", sequence(i, 4, 100)}, {"b", sequence(400, -1, 100)});
    }
    for (int partitions = 1; partitions <= 9; partitions += 2) {
        char text[8];
        _cleanup_(query_run_reset) struct query_run run =
            query_run_of("SELECT a FROM t WHERE a % 5 <> 0 ORDER BY a DESC, b LIMIT 6 OFFSET 3");
        snprintf(text, sizeof text, "%d", partitions);
        query_set(&run, SETTING_TARGET_PARTITIONS, text);
        assert_ok(query_run(&run));
        assert_string_equal(strbuf_text(&run.rows), "396\n394\n393\n392\n391\n389\n");
    }
}

/* Each row group is 1000 texts of 1000 bytes; every one has a row that is better than all before. */
static void a_topk_of_few_rows_holds_few_of_wide_batches(void **state)
{
    enum { ROWS = 1000, BYTES = 1000, ROW_GROUPS = 20 };
    const struct parquet_write_options options = {.row_group_rows = ROWS};
    static const char *texts[ROWS * ROW_GROUPS];
    static char storage[ROWS][BYTES + 1];
    for (size_t i = 0; i < ROWS * ROW_GROUPS; i++) {
        snprintf(storage[i % ROWS], BYTES + 1, "%0*zu", BYTES, i % ROWS);
        texts[i] = storage[i % ROWS];
    }
    WRITE("t.parquet", &options, {"a", sequence(ROWS * ROW_GROUPS, -1, ROWS * ROW_GROUPS)},
          {"c", column_of_texts(type_of(TYPE_UTF8), texts, ROWS * ROW_GROUPS)});
    _cleanup_(query_run_reset) struct query_run run = query_run_of("SELECT a, c FROM t ORDER BY a LIMIT 3");
    query_set(&run, SETTING_TARGET_PARTITIONS, "1");
    query_set(&run, SETTING_PARQUET_REORDER_ROW_GROUPS, "off");
    query_set(&run, SETTING_PLANNED_BOUNDS, "off");
    assert_ok(query_run(&run));
    assert_int_equal(run.row_count, 3);
    assert_true(run.peak_memory < (size_t)ROWS * BYTES * ROW_GROUPS / 4);
}

static void an_expression_of_a_sorted_column_is_sorted_by_its_values(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 2};
    WRITE("t.parquet", &options, {"x", LONGS(1, 1, 1, 2, 2, 2)}, {"y", LONGS(1, 2, 3, 4, 5, 6)});
    check_order("SELECT x, y FROM t ORDER BY x, y % 2, y LIMIT 5", SETTING_PLANNED_BOUNDS, "on",
                "1|2\n1|1\n1|3\n2|4\n2|6\n");
    check_order("SELECT x, y FROM t ORDER BY y % 2, x LIMIT 1", SETTING_PLANNED_BOUNDS, "on", "1|2\n");
}

/* The row group's statistics say 1.0 to 1.0; neither the file's writer nor most others count NaN. */
static void a_nan_outside_of_the_statistics_is_found(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 2, .page_rows = 1};
    WRITE("t.parquet", &options, {"f", DOUBLES(5.0, 6.0, 1.0, __builtin_nan(""), 1.0, 1.0)});
    check_order("SELECT f FROM t ORDER BY f DESC LIMIT 2", SETTING_PARQUET_REORDER_ROW_GROUPS, "off", "nan\n6.0\n");
    check_order("SELECT f FROM t WHERE f > 2 ORDER BY f DESC LIMIT 2", SETTING_PARQUET_REORDER_ROW_GROUPS, "on",
                "nan\n6.0\n");
    check_order("SELECT f FROM t WHERE f = 1 ORDER BY f", SETTING_PARQUET_REORDER_ROW_GROUPS, "on", "1.0\n1.0\n1.0\n");
    check_order("SELECT f FROM t ORDER BY f LIMIT 6", SETTING_PARQUET_REORDER_ROW_GROUPS, "on",
                "1.0\n1.0\n1.0\n5.0\n6.0\nnan\n");
}

static void a_null_that_nobody_counted_proves_no_predicate(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 4, .page_rows = 2};
    const struct footer_edit edit = {.no_null_counts = true};
    WRITE("t.parquet", &options, {"a", LONGS(1, NOTHING, 3, 4)});
    edit_footer("t.parquet", &edit);
    check_order("SELECT a FROM t WHERE a > 0 ORDER BY a", SETTING_PARQUET_PRUNING, "on", "1\n3\n4\n");
    check_order("SELECT a FROM t WHERE a > 0 ORDER BY a LIMIT 4", SETTING_PARQUET_PRUNING, "on", "1\n3\n4\n");
    check_order("SELECT a FROM t WHERE NOT (a > 0)", SETTING_PARQUET_PRUNING, "on", "");
}

static void a_column_of_nulls_is_passed_over(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 2};
    WRITE("t.parquet", &options, {"a", LONGS(NOTHING, NOTHING, 3, 4)}, {"b", LONGS(1, 2, 3, 4)});
    _cleanup_(query_run_reset) struct query_run run = query_run_of("SELECT a FROM t WHERE a > 0 ORDER BY a LIMIT 1");
    assert_ok(query_run(&run));
    assert_string_equal(strbuf_text(&run.rows), "3\n");
    assert_int_equal(metric_get(&run.metrics, METRIC_ROW_GROUPS_PRUNED_STATISTICS), 1);
}

/* All keys are equal: some rows are given, each once, and no bound removes one too many. */
static void rows_that_all_tie_are_given_as_often_as_asked(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 5, .page_rows = 2};
    static const char *const partitions[] = {"1", "4"};
    int64_t zeros[60] = {0};
    WRITE("t/1.parquet", &options, {"k", column_of_ints(type_of(TYPE_INT64), zeros, 60)}, {"id", sequence(0, 1, 60)});
    WRITE("t/2.parquet", &options, {"k", column_of_ints(type_of(TYPE_INT64), zeros, 60)}, {"id", sequence(60, 1, 60)});
    for (size_t i = 0; i < ARRAY_SIZE(partitions); i++) {
        _cleanup_(query_run_reset) struct query_run some = query_run_of("SELECT k FROM t ORDER BY k LIMIT 7");
        _cleanup_(query_run_reset) struct query_run most = query_run_of("SELECT k FROM t ORDER BY k DESC LIMIT 119");
        query_set(&some, SETTING_TARGET_PARTITIONS, partitions[i]);
        query_set(&most, SETTING_TARGET_PARTITIONS, partitions[i]);
        assert_ok(query_run(&some));
        assert_ok(query_run(&most));
        assert_int_equal(some.row_count, 7);
        assert_int_equal(most.row_count, 119);
    }
    check_rows("SELECT id FROM t ORDER BY k, id LIMIT 2 OFFSET 59", "59\n60\n");
}

/* Deprecated bounds of texts may have been computed in another order, and here they were. */
static void deprecated_statistics_are_believed_for_signed_numbers_only(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 2, .no_page_index = true};
    const struct footer_edit edit = {.deprecated = true};
    WRITE("t.parquet", &options, {"a", LONGS(1, 2, 3, 4)}, {"s", TEXTS("b", "c", "a", "d")});
    edit_footer("t.parquet", &edit);
    check_order("SELECT s FROM t ORDER BY s LIMIT 1", SETTING_PLANNED_BOUNDS, "on", "a\n");
    check_order("SELECT s FROM t ORDER BY s DESC LIMIT 2", SETTING_PLANNED_BOUNDS, "on", "d\nc\n");
    check_order("SELECT s FROM t WHERE s < 'b'", SETTING_PLANNED_BOUNDS, "on", "a\n");
    _cleanup_(query_run_reset) struct query_run run = query_run_of("SELECT a FROM t WHERE a > 2");
    assert_ok(query_run(&run));
    assert_int_equal(metric_get(&run.metrics, METRIC_ROW_GROUPS_PRUNED_STATISTICS), 1);
}

/* Bounds cut to one byte: "a" to "b", both no value of the column, for texts that differ in the second byte. */
static void a_cut_bound_of_texts_rules_out_nothing_that_it_does_not_prove(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 2, .page_rows = 1};
    const struct footer_edit edit = {.text_bytes = 1};
    WRITE("t.parquet", &options, {"s", TEXTS("az", "ay", "ab", "aa", "b", "ac")});
    edit_footer("t.parquet", &edit);
    check_order("SELECT s FROM t ORDER BY s LIMIT 2", SETTING_PLANNED_BOUNDS, "on", "aa\nab\n");
    check_order("SELECT s FROM t ORDER BY s DESC LIMIT 2", SETTING_PLANNED_BOUNDS, "on", "b\naz\n");
    check_order("SELECT s FROM t WHERE s = 'a'", SETTING_PLANNED_BOUNDS, "on", "");
    check_order("SELECT s FROM t WHERE s <> 'a' ORDER BY s LIMIT 1", SETTING_PLANNED_BOUNDS, "on", "aa\n");
}

static void a_bound_missing_on_one_side_is_unknown_on_that_side(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 2, .no_page_index = true};
    const struct footer_edit no_min = {.no_min = true}, no_max = {.no_max = true};
    WRITE("low.parquet", &options, {"a", LONGS(5, 6, 1, 9)});
    WRITE("high.parquet", &options, {"a", LONGS(5, 6, 1, 9)});
    edit_footer("low.parquet", &no_min);
    edit_footer("high.parquet", &no_max);
    check_order("SELECT a FROM low ORDER BY a LIMIT 2", SETTING_PLANNED_BOUNDS, "on", "1\n5\n");
    check_order("SELECT a FROM low ORDER BY a DESC LIMIT 2", SETTING_PLANNED_BOUNDS, "on", "9\n6\n");
    check_order("SELECT a FROM high ORDER BY a LIMIT 2", SETTING_PLANNED_BOUNDS, "on", "1\n5\n");
    check_order("SELECT a FROM high ORDER BY a DESC LIMIT 2", SETTING_PLANNED_BOUNDS, "on", "9\n6\n");
}

/* In the second file the column is missing, in the third it may not be NULL. */
static void files_that_lack_the_key_give_nulls(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 2};
    WRITE("t/1.parquet", &options, {"a", LONGS(1, NOTHING, 5)}, {"id", LONGS(0, 1, 2)});
    WRITE("t/2.parquet", &options, {"id", LONGS(3, 4)});
    WRITE("t/3.parquet", &options, {"id", LONGS(5, 6)}, {"a", LONGS(0, 9)});
    check_order("SELECT id FROM t ORDER BY a DESC, id LIMIT 4", SETTING_PLANNED_BOUNDS, "on", "1\n3\n4\n6\n");
    check_order("SELECT id FROM t ORDER BY a, id DESC LIMIT 6", SETTING_PLANNED_BOUNDS, "on", "5\n0\n2\n6\n4\n3\n");
    check_order("SELECT id FROM t WHERE a IS NULL ORDER BY a NULLS FIRST, id LIMIT 2", SETTING_PLANNED_BOUNDS, "on",
                "1\n3\n");
}

/* Neither a bound nor a limit from outside may pass the inner limit, and an offset counts once. */
static void a_limit_inside_counts_before_the_one_outside(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 2};
    WRITE("t/1.parquet", &options, {"a", LONGS(5, 1, 9, 3)}, {"b", LONGS(1, 2, 3, 4)});
    WRITE("t/2.parquet", &options, {"a", LONGS(7, 2)}, {"b", LONGS(5, 6)});
    check_order("SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 2) AS s ORDER BY a DESC OFFSET 1",
                SETTING_PLANNED_BOUNDS, "on", "1\n");
    check_order("SELECT a FROM (SELECT a, b FROM t ORDER BY b LIMIT 3) AS s ORDER BY a LIMIT 2", SETTING_PLANNED_BOUNDS,
                "on", "1\n5\n");
    check_order("SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 4 OFFSET 1) AS s ORDER BY a LIMIT 2 OFFSET 1",
                SETTING_PLANNED_BOUNDS, "on", "3\n5\n");
    check_order("SELECT a FROM (SELECT a FROM t ORDER BY a DESC LIMIT 3) AS s WHERE a < 9 ORDER BY a LIMIT 10",
                SETTING_PLANNED_BOUNDS, "on", "5\n7\n");
    _cleanup_(query_run_reset) struct query_run one =
        query_run_of("WITH one AS (SELECT a FROM t LIMIT 1) SELECT a FROM one ORDER BY a LIMIT 1000");
    query_set(&one, SETTING_TARGET_PARTITIONS, "4");
    assert_ok(query_run(&one));
    assert_int_equal(one.row_count, 1);
}

static void a_union_of_tables_is_sorted_as_one(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 2};
    WRITE("t.parquet", &options, {"a", LONGS(5, 1, NOTHING, 3)}, {"b", LONGS(11, 12, 13, 14)});
    WRITE("u.parquet", &options, {"b", LONGS(0, 4, 8, 9)}, {"c", LONGS(1, 2, 3, 4)});
    check_order("SELECT x FROM (SELECT a AS x FROM t UNION ALL SELECT b FROM u) AS s ORDER BY x LIMIT 4",
                SETTING_PLANNED_BOUNDS, "on", "0\n1\n3\n4\n");
    check_order("SELECT x FROM (SELECT a AS x FROM t UNION ALL SELECT b FROM u) AS s ORDER BY x DESC LIMIT 2",
                SETTING_PLANNED_BOUNDS, "on", "NULL\n9\n");
    check_order(
        "SELECT x, y FROM (SELECT a AS x, b AS y FROM t UNION ALL SELECT c, b FROM u) AS s ORDER BY x, y LIMIT 3",
        SETTING_PLANNED_BOUNDS, "on", "1|0\n1|12\n2|4\n");
}

static void an_output_may_be_named_like_another_column(void **state)
{
    WRITE("t.parquet", NULL, {"a", LONGS(1, 2, 3)}, {"b", LONGS(9, 8, 7)});
    check_rows("SELECT -a AS a, b FROM t ORDER BY a LIMIT 2", "-3|7\n-2|8\n");
    check_rows("SELECT a AS b FROM t ORDER BY b LIMIT 1", "1\n");
    check_rows("SELECT a, b AS a FROM t ORDER BY 2 LIMIT 1", "3|7\n");
    check_rows("SELECT a AS b, b AS a FROM t ORDER BY t.a DESC LIMIT 1", "3|7\n");
    check_rows("SELECT a AS b, b AS a FROM t ORDER BY a + 0 LIMIT 1", "1|9\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_sort_key_that_fails_is_not_computed_for_rows_that_where_removes),
        FILE_TEST(a_key_that_cannot_fail_is_compared_before_where),
        FILE_TEST(limits_and_offsets_of_any_size_are_answered),
        FILE_TEST(rows_of_a_row_group_that_where_empties_are_not_given_twice),
        FILE_TEST(a_bound_that_comes_while_pages_are_passed_over_leaves_the_right_rows),
        FILE_TEST(nulls_that_nobody_counted_come_first),
        FILE_TEST(a_scan_of_sorted_files_ends_once_nothing_better_can_come),
        FILE_TEST(a_predicate_proved_for_a_later_row_group_does_not_put_it_first),
        FILE_TEST(a_limit_counts_the_rows_that_where_leaves),
        FILE_TEST(partitions_over_files_that_overlap_give_one_order),
        FILE_TEST(a_topk_of_few_rows_holds_few_of_wide_batches),
        FILE_TEST(an_expression_of_a_sorted_column_is_sorted_by_its_values),
        FILE_TEST(a_nan_outside_of_the_statistics_is_found),
        FILE_TEST(a_null_that_nobody_counted_proves_no_predicate),
        FILE_TEST(a_column_of_nulls_is_passed_over),
        FILE_TEST(rows_that_all_tie_are_given_as_often_as_asked),
        FILE_TEST(deprecated_statistics_are_believed_for_signed_numbers_only),
        FILE_TEST(a_cut_bound_of_texts_rules_out_nothing_that_it_does_not_prove),
        FILE_TEST(a_bound_missing_on_one_side_is_unknown_on_that_side),
        FILE_TEST(files_that_lack_the_key_give_nulls),
        FILE_TEST(a_limit_inside_counts_before_the_one_outside),
        FILE_TEST(a_union_of_tables_is_sorted_as_one),
        FILE_TEST(an_output_may_be_named_like_another_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
