/*
 * What a scan reads and what it passes over, by its metrics. That what it gives is right is permutation_test's.
 */
#include "exec/files.h"

/* 4 row groups of 100 rows: a ascending, b descending, text c of 100 bytes. */
static void write_table(const char *path, int64_t first, const struct parquet_write_options *given)
{
    struct parquet_write_options options = given != NULL ? *given : (struct parquet_write_options){0};
    const char *texts[400];
    static char storage[400][101];
    for (size_t i = 0; i < 400; i++) {
        snprintf(storage[i], sizeof storage[i], "%0100d", (int)(first + (int64_t)i));
        texts[i] = storage[i];
    }
    options.row_group_rows = 100;
    options.page_rows = 10;
    WRITE(path, &options, {"a", sequence(first, 1, 400)}, {"b", sequence(first + 399, -1, 400)},
          {"c", column_of_texts(type_of(TYPE_UTF8), texts, 400)});
}

static uint64_t run_metric(const struct query_run *run, enum metric metric)
{
    return metric_get(&run->metrics, metric);
}

static void check_metric(const struct query_run *run, enum metric metric, uint64_t expected)
{
    if (run_metric(run, metric) != expected)
        fail_msg("%s: %s is %llu, expected %llu", run->sql, metric_infos[metric].name,
                 (unsigned long long)run_metric(run, metric), (unsigned long long)expected);
}

static struct query_run run_one(const char *sql, enum setting off)
{
    struct query_run run = query_run_of(sql);
    query_set(&run, SETTING_TARGET_PARTITIONS, "1");
    if (off != SETTING_COUNT)
        query_set(&run, off, "off");
    assert_ok(query_run(&run));
    return run;
}

static void row_groups_are_passed_over_by_their_statistics(void **state)
{
    write_table("t/1.parquet", 0, NULL);
    write_table("t/2.parquet", 1000, NULL);
    _cleanup_(query_run_reset) struct query_run run = run_one("SELECT a FROM t WHERE a >= 1350", SETTING_COUNT);
    assert_int_equal(run.row_count, 50);
    check_metric(&run, METRIC_ROW_GROUPS_TOTAL, 8);
    check_metric(&run, METRIC_ROW_GROUPS_PRUNED_STATISTICS, 7);
    check_metric(&run, METRIC_FILES_PRUNED_STATISTICS, 1);
    check_metric(&run, METRIC_ROW_GROUPS_READ, 1);

    _cleanup_(query_run_reset) struct query_run all =
        run_one("SELECT a FROM t WHERE a >= 1350", SETTING_PARQUET_PRUNING);
    assert_int_equal(all.row_count, 50);
    check_metric(&all, METRIC_ROW_GROUPS_PRUNED_STATISTICS, 0);
    check_metric(&all, METRIC_ROW_GROUPS_READ, 8);
}

static void a_file_without_statistics_is_read_whole(void **state)
{
    const struct parquet_write_options options = {.no_statistics = true};
    write_table("t.parquet", 0, &options);
    _cleanup_(query_run_reset) struct query_run run = run_one("SELECT a FROM t WHERE a >= 350", SETTING_COUNT);
    assert_int_equal(run.row_count, 50);
    check_metric(&run, METRIC_ROW_GROUPS_PRUNED_STATISTICS, 0);
    check_metric(&run, METRIC_ROWS_SCANNED, 400);
}

static void a_file_that_lacks_the_column_is_passed_over_or_taken_whole(void **state)
{
    write_table("t/1.parquet", 0, NULL);
    WRITE("t/2.parquet", NULL, {"a", LONGS(7, 8)});
    _cleanup_(query_run_reset) struct query_run none = run_one("SELECT a FROM t WHERE b < 0", SETTING_COUNT);
    assert_int_equal(none.row_count, 0);
    check_metric(&none, METRIC_FILES_PRUNED_STATISTICS, 2);
    _cleanup_(query_run_reset) struct query_run null = run_one("SELECT a, b FROM t WHERE b IS NULL", SETTING_COUNT);
    assert_string_equal(strbuf_text(&null.rows), "7|NULL\n8|NULL\n");
    check_metric(&null, METRIC_ROW_GROUPS_READ, 1);
}

/* The small columns' pages are not worth an index, so the filter is on the long texts. */
static void pages_are_passed_over_by_the_page_index(void **state)
{
    const struct parquet_write_options plain = {.codec = PARQUET_UNCOMPRESSED, .no_dictionary = true};
    const char *texts[3000];
    static char storage[3000][101];
    for (size_t i = 0; i < 3000; i++) {
        snprintf(storage[i], sizeof storage[i], "%04d%096d", (int)i, 0);
        texts[i] = storage[i];
    }
    struct parquet_write_options options = plain;
    options.page_rows = 100;
    WRITE("t.parquet", &options, {"a", sequence(0, 1, 3000)}, {"c", column_of_texts(type_of(TYPE_UTF8), texts, 3000)});
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT a FROM t WHERE c >= '%s' AND c <= '%s'", storage[1450], storage[1549]);
    _cleanup_(query_run_reset) struct query_run with = run_one(sql, SETTING_COUNT);
    _cleanup_(query_run_reset) struct query_run without = run_one(sql, SETTING_PARQUET_PAGE_INDEX);
    assert_int_equal(with.row_count, 100);
    assert_string_equal(strbuf_text(&with.rows), strbuf_text(&without.rows));
    assert_true(run_metric(&with, METRIC_PAGES_PRUNED_STATISTICS) > 0);
    check_metric(&with, METRIC_ROWS_SCANNED, 200);
    check_metric(&without, METRIC_ROWS_SCANNED, 3000);
    check_metric(&with, METRIC_PAGES_READ, 4);
    assert_true(run_metric(&with, METRIC_BYTES_SCANNED) < run_metric(&without, METRIC_BYTES_SCANNED));
}

static void columns_are_read_late_for_rows_that_survive(void **state)
{
    const struct parquet_write_options options = {.codec = PARQUET_UNCOMPRESSED, .no_dictionary = true};
    write_table("t.parquet", 0, &options);
    _cleanup_(query_run_reset) struct query_run late = run_one("SELECT c FROM t WHERE a % 400 = 123", SETTING_COUNT);
    _cleanup_(query_run_reset) struct query_run early =
        run_one("SELECT c FROM t WHERE a % 400 = 123", SETTING_PARQUET_PUSHDOWN_FILTERS);
    assert_int_equal(late.row_count, 1);
    assert_string_equal(strbuf_text(&late.rows), strbuf_text(&early.rows));
    check_metric(&late, METRIC_ROWS_PRUNED_PREDICATE, 399);
    /* All 40 pages of a, and the one of c's that has the row. */
    check_metric(&late, METRIC_PAGES_READ, 41);
    check_metric(&early, METRIC_PAGES_READ, 80);
}

static struct query_run run_topk_in_small_batches(enum setting off)
{
    struct query_run run = query_run_of("SELECT c FROM t ORDER BY a LIMIT 5");
    query_set(&run, SETTING_TARGET_PARTITIONS, "1");
    query_set(&run, SETTING_BATCH_SIZE, "10");
    query_set(&run, SETTING_PLANNED_BOUNDS, "off");
    query_set(&run, SETTING_PARQUET_PAGE_INDEX, "off");
    query_set(&run, SETTING_TOPK_FETCH_ROWS, "0");
    query_set(&run, off, "off");
    assert_ok(query_run(&run));
    return run;
}

static void columns_are_read_late_for_rows_that_a_bound_leaves(void **state)
{
    const struct parquet_write_options options = {.codec = PARQUET_UNCOMPRESSED, .no_dictionary = true};
    write_table("t.parquet", 0, &options);
    _cleanup_(query_run_reset) struct query_run late = run_topk_in_small_batches(SETTING_PLANNED_BOUNDS);
    _cleanup_(query_run_reset) struct query_run early = run_topk_in_small_batches(SETTING_PARQUET_PUSHDOWN_FILTERS);
    assert_string_equal(strbuf_text(&late.rows), strbuf_text(&early.rows));
    /* All ten pages of a in the first row group, and the first of c's, from which the bound comes. */
    check_metric(&late, METRIC_PAGES_READ, 11);
    check_metric(&early, METRIC_PAGES_READ, 20);
}

static void a_limit_stops_the_scan(void **state)
{
    write_table("t.parquet", 0, NULL);
    _cleanup_(query_run_reset) struct query_run run = run_one("SELECT a FROM t WHERE b >= 0 LIMIT 5", SETTING_COUNT);
    assert_int_equal(run.row_count, 5);
    check_metric(&run, METRIC_ROWS_SCANNED, 100);
}

static const char *const topk_without_planned = "SELECT c, a FROM t ORDER BY a DESC LIMIT 5";

static struct query_run run_topk(enum setting off)
{
    struct query_run run = query_run_of(topk_without_planned);
    query_set(&run, SETTING_TARGET_PARTITIONS, "1");
    query_set(&run, SETTING_PLANNED_BOUNDS, "off");
    query_set(&run, off, "off");
    assert_ok(query_run(&run));
    return run;
}

static void row_groups_are_read_best_first_so_that_a_bound_passes_over_the_others(void **state)
{
    write_table("t/1.parquet", 0, NULL);
    write_table("t/2.parquet", 1000, NULL);
    _cleanup_(query_run_reset) struct query_run run = run_topk(SETTING_PLANNED_BOUNDS);
    assert_int_equal(run.row_count, 5);
    check_metric(&run, METRIC_ROW_GROUPS_READ, 1);
    check_metric(&run, METRIC_ROW_GROUPS_PRUNED_LOCAL, 7);
    check_metric(&run, METRIC_FILES_PRUNED_LOCAL, 1);

    /* In the order of the files every row group is better than those before it. */
    _cleanup_(query_run_reset) struct query_run unordered = run_topk(SETTING_PARQUET_REORDER_ROW_GROUPS);
    assert_string_equal(strbuf_text(&run.rows), strbuf_text(&unordered.rows));
    check_metric(&unordered, METRIC_ROW_GROUPS_READ, 8);

    _cleanup_(query_run_reset) struct query_run unbounded = run_topk(SETTING_TOPK_DYNAMIC_FILTERS);
    assert_string_equal(strbuf_text(&run.rows), strbuf_text(&unbounded.rows));
    check_metric(&unbounded, METRIC_ROW_GROUPS_READ, 8);
}

static void a_planned_bound_counts_among_statistics(void **state)
{
    write_table("t.parquet", 0, NULL);
    _cleanup_(query_run_reset) struct query_run run = run_one("SELECT a FROM t ORDER BY a LIMIT 5", SETTING_COUNT);
    assert_string_equal(strbuf_text(&run.rows), "0\n1\n2\n3\n4\n");
    check_metric(&run, METRIC_ROW_GROUPS_PRUNED_STATISTICS, 3);
}

/* A sibling has five rows no worse than 1399, or so it says. */
static void offer_remote_bound(struct query_run *run, struct task_context *context)
{
    _cleanup_(bound_unref) struct bound *bound = NULL;
    const struct sort_order descending = {.descending = true, .nulls_first = true};
    struct scalar value = {.type = type_of(TYPE_INT64), .int64 = 1399};
    bool stronger;
    assert_int_equal(context->filter_count, 1);
    assert_ok(bound_new(&value, &descending, 1, 0, &bound));
    dynamic_filter_offer(context->filters[0], BOUND_REMOTE, bound, &stronger);
    assert_true(stronger);
}

static void what_only_a_siblings_bound_rules_out_is_counted_as_remote(void **state)
{
    write_table("t/1.parquet", 0, NULL);
    write_table("t/2.parquet", 1000, NULL);
    _cleanup_(query_run_reset) struct query_run run = query_run_of(topk_without_planned);
    query_set(&run, SETTING_TARGET_PARTITIONS, "1");
    query_set(&run, SETTING_PLANNED_BOUNDS, "off");
    run.on_start = offer_remote_bound;
    assert_ok(query_run(&run));
    assert_int_equal(run.row_count, 0);
    check_metric(&run, METRIC_ROW_GROUPS_PRUNED_REMOTE, 8);
    check_metric(&run, METRIC_FILES_PRUNED_REMOTE, 2);
    check_metric(&run, METRIC_ROWS_SCANNED, 0);
    check_metric(&run, METRIC_BYTES_SCANNED, 0);
}

static struct parquet_scan *scan_of(struct query_run *run)
{
    struct physical_plan *plan = run->physical;
    while (plan->kind != PHYSICAL_PARQUET_SCAN)
        plan = plan->inputs[0];
    return &plan->scan;
}

/* As a worker has it, which opens files by the plan. */
static void forget_table(struct query_run *run)
{
    scan_of(run)->table = NULL;
}

static void files_are_opened_by_the_plan_where_there_is_no_table(void **state)
{
    write_table("t.parquet", 0, NULL);
    _cleanup_(query_run_reset) struct query_run run = query_run_of("SELECT a FROM t WHERE a > 397");
    run.on_plan = forget_table;
    assert_ok(query_run(&run));
    assert_string_equal(strbuf_text(&run.rows), "398\n399\n");
}

static void forget_table_and_change_file(struct query_run *run)
{
    forget_table(run);
    scan_of(run)->files[0].size++;
}

static void a_file_that_changed_is_refused_by_every_partition(void **state)
{
    write_table("t.parquet", 0, NULL);
    _cleanup_(query_run_reset) struct query_run run = query_run_of("SELECT a FROM t ORDER BY c LIMIT 3");
    query_set(&run, SETTING_TARGET_PARTITIONS, "4");
    run.on_plan = forget_table_and_change_file;
    assert_fails(query_run(&run), KITH_ERROR_CORRUPT, "it has changed");
}

static int64_t range_start, range_end;

static void cut_range(struct query_run *run)
{
    struct scan_file *file = &scan_of(run)->files[0];
    file->has_range = true;
    file->range_start = range_start;
    file->range_end = range_end;
}

static void byte_ranges_share_a_file_without_gap_or_overlap(void **state)
{
    write_table("t.parquet", 0, NULL);
    struct stat status;
    assert_int_equal(stat("t.parquet", &status), 0);
    for (int64_t pieces = 1; pieces <= 9; pieces += 4) {
        size_t rows = 0;
        uint64_t row_groups = 0;
        for (int64_t i = 0; i < pieces; i++) {
            _cleanup_(query_run_reset) struct query_run run = query_run_of("SELECT a FROM t");
            range_start = status.st_size * i / pieces;
            range_end = status.st_size * (i + 1) / pieces;
            run.on_plan = cut_range;
            assert_ok(query_run(&run));
            rows += run.row_count;
            row_groups += run_metric(&run, METRIC_ROW_GROUPS_TOTAL);
        }
        assert_int_equal(rows, 400);
        assert_int_equal(row_groups, 4);
    }
}

/* Where the second row group begins. */
static int64_t second_row_group_offset(const char *path)
{
    _cleanup_(table_unref) struct table *table = NULL;
    assert_ok(table_open(path, &table));
    return (int64_t)table->files[0].file->metadata->row_groups[1].chunks[0].pages.offset;
}

static void a_row_group_that_begins_at_a_range_border_is_the_later_ranges(void **state)
{
    write_table("t.parquet", 0, NULL);
    int64_t border = second_row_group_offset("t.parquet");
    for (int later = 0; later <= 1; later++) {
        _cleanup_(query_run_reset) struct query_run run = query_run_of("SELECT a FROM t");
        range_start = later ? border : 0;
        range_end = later ? INT64_MAX : border;
        run.on_plan = cut_range;
        assert_ok(query_run(&run));
        check_metric(&run, METRIC_ROW_GROUPS_TOTAL, later ? 3 : 1);
    }
}

static void no_columns_are_rows_all_the_same(void **state)
{
    write_table("t.parquet", 0, NULL);
    _cleanup_(query_run_reset) struct query_run run = run_one("SELECT FROM t", SETTING_COUNT);
    assert_int_equal(run.row_count, 400);
    check_metric(&run, METRIC_BYTES_SCANNED, 0);
    check_rows("SELECT 1 FROM t WHERE a < 2", "1\n1\n");
}

/* All of a row group matches by its statistics: the column of the predicate need not be read. */
static void a_predicate_that_statistics_prove_is_not_evaluated(void **state)
{
    write_table("t.parquet", 0, NULL);
    _cleanup_(query_run_reset) struct query_run proven = run_one("SELECT a FROM t WHERE b >= 0", SETTING_COUNT);
    _cleanup_(query_run_reset) struct query_run plain = run_one("SELECT a FROM t", SETTING_COUNT);
    assert_int_equal(proven.row_count, 400);
    assert_int_equal(run_metric(&proven, METRIC_PAGES_READ), run_metric(&plain, METRIC_PAGES_READ));
}

/* (+0.0, 1), (-0.0, 2): equal, so that which comes first is the second key's say, however the rows are cut. */
static void signed_zeros_tie_in_every_batch(void **state)
{
    WRITE("t.parquet", NULL, {"d", DOUBLES(0.0, -0.0, 0.0)}, {"id", LONGS(1, 2, 0)});
    for (int size = 1; size <= 3; size++) {
        _cleanup_(query_run_reset) struct query_run run = query_run_of("SELECT id FROM t ORDER BY d, id DESC LIMIT 2");
        char text[8];
        snprintf(text, sizeof text, "%d", size);
        query_set(&run, SETTING_BATCH_SIZE, text);
        assert_ok(query_run(&run));
        assert_string_equal(strbuf_text(&run.rows), "2\n1\n");
    }
}

static void a_damaged_page_is_an_error_with_the_files_name(void **state)
{
    write_table("t.parquet", 0, NULL);
    FILE *file = fopen("t.parquet", "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 4, SEEK_SET), 0);
    assert_int_equal(fwrite("\xff\xff\xff\xff\xff\xff\xff\xff", 1, 8, file), 8);
    assert_int_equal(fclose(file), 0);
    _cleanup_(query_run_reset) struct query_run run = query_run_of("SELECT a FROM t");
    assert_fails(query_run(&run), KITH_ERROR_CORRUPT, "t.parquet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(row_groups_are_passed_over_by_their_statistics),
        FILE_TEST(a_file_without_statistics_is_read_whole),
        FILE_TEST(a_file_that_lacks_the_column_is_passed_over_or_taken_whole),
        FILE_TEST(pages_are_passed_over_by_the_page_index),
        FILE_TEST(columns_are_read_late_for_rows_that_survive),
        FILE_TEST(columns_are_read_late_for_rows_that_a_bound_leaves),
        FILE_TEST(a_limit_stops_the_scan),
        FILE_TEST(row_groups_are_read_best_first_so_that_a_bound_passes_over_the_others),
        FILE_TEST(a_planned_bound_counts_among_statistics),
        FILE_TEST(what_only_a_siblings_bound_rules_out_is_counted_as_remote),
        FILE_TEST(files_are_opened_by_the_plan_where_there_is_no_table),
        FILE_TEST(a_file_that_changed_is_refused_by_every_partition),
        FILE_TEST(byte_ranges_share_a_file_without_gap_or_overlap),
        FILE_TEST(a_row_group_that_begins_at_a_range_border_is_the_later_ranges),
        FILE_TEST(no_columns_are_rows_all_the_same),
        FILE_TEST(a_predicate_that_statistics_prove_is_not_evaluated),
        FILE_TEST(signed_zeros_tie_in_every_batch),
        FILE_TEST(a_damaged_page_is_an_error_with_the_files_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
