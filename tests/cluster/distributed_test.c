#include "cluster/cluster_fixture.h"

static const char *const queries[] = {
    "SELECT id, score, label FROM scores ORDER BY score DESC, id LIMIT 50",
    "SELECT id, score FROM scores WHERE keep <> 0 ORDER BY score DESC, id LIMIT 7 OFFSET 5",
    "SELECT score, id + 1 AS next FROM scores WHERE label LIKE '%7 of%' ORDER BY label DESC NULLS LAST, id LIMIT 20",
    "SELECT id, label FROM scores WHERE keep = 3 ORDER BY label NULLS FIRST, score, id",
    "SELECT id FROM scores WHERE score > 899900 ORDER BY id",
    "SELECT id FROM scores WHERE score < 0 ORDER BY id LIMIT 10",
    "SELECT id, score FROM scores ORDER BY id LIMIT 0",
    "SELECT id, score FROM scores UNION ALL SELECT -id, score FROM scores WHERE keep = 2 ORDER BY score DESC, id LIMIT "
    "30",
    "SELECT k FROM (SELECT id AS k, score AS s FROM scores WHERE keep > 4 UNION ALL "
    "(SELECT -id, keep FROM scores ORDER BY score, id LIMIT 40 OFFSET 3)) AS u WHERE s <> 7 ORDER BY k",
    "(SELECT id FROM scores ORDER BY score, id LIMIT 9) UNION ALL (SELECT -id FROM scores ORDER BY label DESC, id "
    "LIMIT 9) "
    "ORDER BY id LIMIT 11",
    "SELECT x FROM (SELECT id AS x, random() AS r FROM scores) AS s WHERE r >= 0 ORDER BY x DESC LIMIT 25",
    "SELECT id FROM (SELECT id, score FROM scores ORDER BY score DESC, id LIMIT 60) AS s ORDER BY id LIMIT 10 OFFSET 5",
    "SELECT 1 AS one, 'x' AS x",
};

static const char *const batch_sizes[] = {"1000", "7", "8192"};

static void write_tables(void)
{
    write_scores("scores/a.parquet", 1, 6, 500, 3);
    write_scores("scores/b.parquet", 2, 4, 500, -1);
    write_scores("scores/c.parquet", 3, 1, 300, -1);
}

static kith_error *compare_everywhere(struct fixture *fixture)
{
    for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
        _cleanup_(outcome_reset) struct outcome expected = {0};
        _cleanup_(outcome_reset) struct outcome given = {0};
        TRY(fixture_run_embedded(fixture, queries[i], &expected));
        TRY(fixture_run(fixture, queries[i], &given));
        TRY(expect_same_rows(queries[i], &expected, &given));
        EXPECT(i + 1 == ARRAY_SIZE(queries) || fixture->worker_count == 1 || given.progress.tasks >= 2);
    }
    return NULL;
}

static kith_error *run_on_each_cluster(void *argument)
{
    for (size_t workers = 1; workers <= MOST_WORKERS; workers++) {
        _cleanup_(fixture_stop) struct fixture fixture = {0};
        TRY(fixture_start(&fixture, workers));
        TRY(fixture_set(&fixture, "distributed.file_scan_config_bytes_per_partition", "1"));
        static const char *const sharing[] = {"off", "on", "auto", "on", "auto", "auto"};
        for (size_t i = 0; i < 2 * ARRAY_SIZE(batch_sizes); i++) {
            TRY(fixture_set(&fixture, "distributed.sibling_topk", sharing[i]));
            TRY(fixture_set(&fixture, "execution.batch_size", batch_sizes[i / 2]));
            TRY(fixture_set(&fixture, "execution.target_partitions", i < 3 ? "0" : "3"));
            TRY(fixture_set(&fixture, "distributed.compression", i < 2 ? "none" : i < 4 ? "zstd" : "lz4"));
            TRY(compare_everywhere(&fixture));
        }
        EXPECT(fixture_live_tasks(&fixture) == 0);
    }
    return NULL;
}

static void every_cluster_gives_the_rows_of_one_process(void **state)
{
    write_tables();
    run_on(2, run_on_each_cluster, NULL);
}

static kith_error *limit_without_order(void *argument)
{
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome all = {0};
    _cleanup_(outcome_reset) struct outcome some = {0};
    TRY(fixture_start(&fixture, 3));
    TRY(fixture_run(&fixture, "SELECT id FROM scores WHERE keep = 1", &all));
    TRY(fixture_run(&fixture, "SELECT id FROM scores WHERE keep = 1 LIMIT 17", &some));
    size_t lines = 0;
    for (const char *line = strbuf_text(&some.rows); *line != '\0'; line = strchr(line, '\n') + 1) {
        char id[32];
        snprintf(id, sizeof id, "%.*s", (int)strcspn(line, "\n") + 1, line);
        TRY(expect_text(strbuf_text(&all.rows), id));
        lines++;
    }
    EXPECT(lines == 17);
    return NULL;
}

static void a_limit_without_an_order_gives_so_many_of_the_rows(void **state)
{
    write_tables();
    run_on(2, limit_without_order, NULL);
}

struct watched_outcome {
    struct outcome outcome;
    const struct fixture *fixture;
};

/* Takes all rows but does not ask for their end, with which the coordinator would end the tasks. */
static kith_error *take_rows_and_watch_tasks(struct query *query, struct outcome *out)
{
    const struct fixture *fixture = CONTAINER_OF(out, struct watched_outcome, outcome)->fixture;
    enum { ROWS = 6 * 500 + 4 * 500 + 300 }; /* write_tables */
    for (size_t rows = 0; rows < ROWS;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(query_next(query, &batch));
        EXPECT(batch != NULL);
        rows += batch_row_count(batch);
    }
    int64_t deadline = clock_monotonic_ns(&system_clock) + 20 * NANOSECONDS_PER_SECOND;
    while (fixture_live_tasks(fixture) > 0 && clock_monotonic_ns(&system_clock) < deadline)
        TRY(fiber_yield());
    EXPECT(fixture_live_tasks(fixture) == 0);
    return NULL;
}

static kith_error *tasks_end_with_their_rows(void *argument)
{
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(cluster_free) struct cluster *cluster = NULL;
    struct watched_outcome watched = {.fixture = &fixture};
    TRY(fixture_start(&fixture, 2));
    TRY(cluster_connect(runtime_current(), fixture.addresses, 2, &fixture.settings, &cluster));
    return fixture_query(&fixture.settings, cluster, "SELECT id FROM scores ORDER BY id LIMIT 100000",
                         take_rows_and_watch_tasks, &watched.outcome);
}

static void a_task_ends_once_all_its_rows_have_gone(void **state)
{
    write_tables();
    run_on(2, tasks_end_with_their_rows, NULL);
}

static kith_error *explain_analyzed(void *argument)
{
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome outcome = {0};
    TRY(fixture_start(&fixture, 2));
    TRY(fixture_set(&fixture, "distributed.sibling_topk", "on"));
    TRY(fixture_run(&fixture, queries[0], &outcome));
    const char *text = strbuf_text(&outcome.analyzed);
    TRY(expect_text(text, "[Stage 1] => NetworkCoalesceExec: output_partitions=2"));
    TRY(expect_text(text, "Stage 1 ── tasks=2"));
    TRY(expect_text(text, "bounds: reported="));
    for (size_t i = 0; i < 2; i++) {
        char line[96];
        snprintf(line, sizeof line, "t%zu worker=%s: output_rows=", i, fixture.addresses[i]);
        TRY(expect_text(text, line));
    }
    EXPECT(strstr(text, "did not come") == NULL);
    EXPECT(outcome.progress.tasks == 2);
    EXPECT(outcome.progress.row_groups_total == 11);
    EXPECT(outcome.progress.row_groups_done == 11);
    return NULL;
}

static void the_analysed_plan_tells_of_each_task(void **state)
{
    write_tables();
    run_on(2, explain_analyzed, NULL);
}

static kith_error *share_bounds(void *argument)
{
    static const char sql[] = "SELECT id, score, label FROM overlap WHERE keep <> 0 ORDER BY score DESC, id LIMIT 100";
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome off = {0};
    TRY(fixture_start(&fixture, 2));
    TRY(fixture_set(&fixture, "distributed.sibling_topk_head_start", "10s")); /* however busy the machine */
    TRY(fixture_set(&fixture, "distributed.sibling_topk", "off"));
    TRY(fixture_run(&fixture, sql, &off));
    for (int i = 0; i < 20; i++) {
        _cleanup_(outcome_reset) struct outcome on = {0};
        TRY(fixture_set(&fixture, "distributed.sibling_topk", i % 2 == 0 ? "on" : "auto"));
        TRY(fixture_run(&fixture, sql, &on));
        TRY(expect_same_rows(sql, &off, &on));
        if (100 * on.bytes_scanned > 15 * off.bytes_scanned)
            return error_new(KITH_ERROR_INTERNAL, "run %d read %llu bytes with sharing, %llu without:\n%s", i,
                             (unsigned long long)on.bytes_scanned, (unsigned long long)off.bytes_scanned,
                             strbuf_text(&on.analyzed));
    }
    return NULL;
}

/* Neither statistics nor a local bound tell the second file's row groups apart; only the sibling's bound does. */
static void a_siblings_bound_spares_a_task_what_nothing_else_can(void **state)
{
    write_scores("overlap/a.parquet", 11, 32, 16384, 17);
    write_scores("overlap/b.parquet", 12, 32, 16384, -1);
    run_on(2, share_bounds, NULL);
}

static kith_error *wait_for_the_first(void *argument)
{
    static const char sql[] = "SELECT score FROM split WHERE keep <> 0 ORDER BY score DESC LIMIT 100";
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    TRY(fixture_start(&fixture, 2));
    TRY(fixture_set(&fixture, "distributed.sibling_topk_head_start", "60s"));
    TRY(fixture_set(&fixture, "optimizer.enable_topk_planned_bounds", "off"));
    TRY(fixture_set(&fixture, "distributed.file_scan_config_bytes_per_partition", "1"));
    for (int i = 0; i < 20; i++) {
        _cleanup_(outcome_reset) struct outcome outcome = {0};
        TRY(fixture_run(&fixture, sql, &outcome));
        uint64_t groups = outcome.tasks[0][METRIC_ROW_GROUPS_READ] + outcome.tasks[1][METRIC_ROW_GROUPS_READ];
        if (groups != 1)
            return error_new(KITH_ERROR_INTERNAL, "run %d read %llu row groups instead of 1:\n%s", i,
                             (unsigned long long)groups, strbuf_text(&outcome.analyzed));
    }
    return NULL;
}

/* The bound and the call for the rows come to the worker on two streams, which two fibers read. */
static void a_task_that_waited_for_a_bound_begins_with_it(void **state)
{
    write_scores("split/a.parquet", 11, 4, 3000, 0);
    run_on(2, wait_for_the_first, NULL);
}

static int64_t wall_ns(void)
{
    return system_clock.wall_ns(&system_clock);
}

/* Row groups may hold 900000 for all that statistics say, and nothing above 800000 counts: no bound rules one out. */
static kith_error *share_what_rules_out_nothing(void *argument)
{
    static const char sql[] = "SELECT score FROM scores WHERE score < 800000 ORDER BY score DESC LIMIT 100";
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome all = {0};
    _cleanup_(outcome_reset) struct outcome sparing = {0};
    TRY(fixture_start(&fixture, 2));
    TRY(fixture_set(&fixture, "distributed.sibling_topk", "on"));
    TRY(fixture_run(&fixture, sql, &all));
    EXPECT(strstr(strbuf_text(&all.analyzed), "bounds: reported=0") == NULL);
    TRY(fixture_set(&fixture, "distributed.sibling_topk", "auto"));
    int64_t start_ns = wall_ns();
    TRY(fixture_run(&fixture, sql, &sparing));
    int64_t elapsed_ns = wall_ns() - start_ns;
    TRY(expect_same_rows(sql, &all, &sparing));
    const char *reported = strstr(strbuf_text(&sparing.analyzed), "bounds: reported=");
    EXPECT(reported != NULL);
    /* One a task in a tenth of a second, of which this should take little. */
    EXPECT(strtoll(reported + strlen("bounds: reported="), NULL, 10) <=
           2 * (elapsed_ns / (100 * NANOSECONDS_PER_MILLISECOND)));
    return NULL;
}

static void auto_is_silent_where_no_bound_rules_out_a_row_group(void **state)
{
    write_scores("scores/a.parquet", 1, 6, 500, -1);
    write_scores("scores/b.parquet", 2, 6, 500, -1);
    run_on(2, share_what_rules_out_nothing, NULL);
}

static kith_error *forbid_sharing(void *argument)
{
    static const char *const forbidding[][2] = {
        {"optimizer.enable_dynamic_filter_pushdown", "off"},
        {"optimizer.enable_topk_dynamic_filter_pushdown", "off"},
        {"distributed.remote_dynamic_filters", "off"},
        {"distributed.sibling_topk", "off"},
    };
    static const char *const allowed[] = {"on", "auto"};
    for (size_t i = 0; i < ARRAY_SIZE(forbidding) + ARRAY_SIZE(allowed); i++) {
        _cleanup_(fixture_stop) struct fixture fixture = {0};
        _cleanup_(outcome_reset) struct outcome outcome = {0};
        bool forbids = i < ARRAY_SIZE(forbidding);
        TRY(fixture_start(&fixture, 2));
        TRY(fixture_set(&fixture, "distributed.sibling_topk", forbids ? "on" : allowed[i - ARRAY_SIZE(forbidding)]));
        if (forbids)
            TRY(fixture_set(&fixture, forbidding[i][0], forbidding[i][1]));
        TRY(fixture_run(&fixture, queries[0], &outcome));
        bool shared = strstr(strbuf_text(&outcome.analyzed), "bounds: reported=") != NULL;
        if (shared == forbids)
            return error_new(KITH_ERROR_INTERNAL, "%s in setting %zu:\n%s", shared ? "shared" : "did not share", i,
                             strbuf_text(&outcome.analyzed));
    }
    return NULL;
}

static void each_of_four_settings_forbids_sharing(void **state)
{
    write_tables();
    run_on(2, forbid_sharing, NULL);
}

static kith_error *read_one_of_two(void *argument)
{
    static const char sql[] = "SELECT id, score FROM spoilt WHERE keep <> 0 ORDER BY score DESC, id LIMIT 10";
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome outcome = {0};
    TRY(fixture_start(&fixture, 2));
    TRY(fixture_set(&fixture, "distributed.file_scan_config_bytes_per_partition", "1"));
    TRY(fixture_set(&fixture, "distributed.sibling_topk", "on"));
    TRY(fixture_set(&fixture, "distributed.sibling_topk_head_start", "60s"));
    TRY(fixture_run(&fixture, sql, &outcome));
    TRY(expect_text(strbuf_text(&outcome.analyzed),
                    "row groups: read=0 pruned by statistics=0 local bound=0 remote bound=4"));
    TRY(expect_text(strbuf_text(&outcome.analyzed), "files_pruned_remote_bound=1"));
    return NULL;
}

/* Its sibling's statistics promise a bound that leaves it nothing, so it begins when it has been told of that bound. */
static void a_task_that_a_bound_leaves_nothing_reads_no_page(void **state)
{
    write_scores("spoilt/a.parquet", 21, 4, 500, 2);
    write_scores("spoilt/b.parquet", 22, 4, 500, -1);
    spoil_pages("spoilt/b.parquet");
    run_on(2, read_one_of_two, NULL);
}

/* Two files of four row groups; every text is of so many bytes, and those of the second file are the smaller ones. */
static void write_long_texts(size_t bytes)
{
    enum { ROWS = 40 };
    const struct field field = {.name = (char[]){"s"}, .type = {.id = TYPE_UTF8}};
    _cleanup_free_ char *text = malloc(bytes + 1);
    for (int file = 0; file < 2; file++) {
        _cleanup_(array_builder_free) struct array_builder *builder = NULL;
        _cleanup_(schema_unref) struct schema *schema = NULL;
        _cleanup_(batch_unref) struct batch *batch = NULL;
        _cleanup_(array_unref) struct array *column = NULL;
        char path[32];
        assert_ok(array_builder_new(&field.type, &builder));
        for (int row = 0; row < ROWS; row++) {
            memset(text, 'x', bytes);
            snprintf(text, bytes, "%04d", (file == 0 ? 1000 : 0) + row * 7 % ROWS);
            assert_ok(array_builder_append_string(builder, (struct str){text, bytes}));
        }
        assert_ok(array_builder_finish(builder, &column));
        assert_ok(schema_new(&field, 1, &schema));
        assert_ok(batch_new(schema, &column, ROWS, &batch));
        snprintf(path, sizeof path, "texts/%d.parquet", file);
        write_parquet(path, batch, &(struct parquet_write_options){.codec = PARQUET_ZSTD, .row_group_rows = ROWS / 4});
    }
}

static kith_error *share_long_bounds(void *argument)
{
    static const char sql[] = "SELECT substring(s, 1, 4), length(s) FROM texts WHERE s > '0000' ORDER BY s LIMIT 3";
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome alone = {0};
    _cleanup_(outcome_reset) struct outcome shared = {0};
    TRY(fixture_start(&fixture, 2));
    TRY(fixture_set(&fixture, "distributed.sibling_topk", "on"));
    TRY(fixture_set(&fixture, "distributed.file_scan_config_bytes_per_partition", "1"));
    TRY(fixture_run_embedded(&fixture, sql, &alone));
    TRY(fixture_run(&fixture, sql, &shared));
    TRY(expect_same_rows(sql, &alone, &shared));
    EXPECT(shared.progress.tasks == 2);
    return expect_text(strbuf_text(&shared.analyzed), "bounds: reported=0");
}

static void a_bound_of_a_very_long_text_is_not_shared(void **state)
{
    write_long_texts(LIMIT_BOUND_BYTES);
    run_on(2, share_long_bounds, NULL);
}

static uint64_t combined(const struct outcome *outcome)
{
    const char *text = strstr(strbuf_text(&outcome->analyzed), "combined=");
    return text == NULL ? 0 : strtoull(text + strlen("combined="), NULL, 10);
}

static const char half_each[] = "SELECT id, score FROM scores WHERE keep = 3 ORDER BY score DESC, id LIMIT 400";

/* Each task has less than the 400 rows that are wanted, and no bound by itself. When the last of them tells what it
 * holds, the query may be over before it is heard. */
static kith_error *combine_ranks(void *argument)
{
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome alone = {0};
    uint64_t seen = 0;
    TRY(fixture_start(&fixture, 2));
    TRY(fixture_run_embedded(&fixture, half_each, &alone));
    TRY(fixture_set(&fixture, "distributed.sibling_topk", "on"));
    for (int i = 0; i < 200 && seen == 0; i++) {
        _cleanup_(outcome_reset) struct outcome together = {0};
        TRY(fixture_run(&fixture, half_each, &together));
        TRY(expect_same_rows(half_each, &alone, &together));
        seen = combined(&together);
    }
    EXPECT(seen > 0);
    TRY(fixture_set(&fixture, "distributed.sibling_topk_ranks", "off"));
    for (int i = 0; i < 10; i++) {
        _cleanup_(outcome_reset) struct outcome without = {0};
        TRY(fixture_run(&fixture, half_each, &without));
        TRY(expect_same_rows(half_each, &alone, &without));
        EXPECT(combined(&without) == 0);
    }
    return NULL;
}

static void tasks_with_too_few_rows_prove_a_bound_together(void **state)
{
    write_scores("scores/a.parquet", 1, 6, 500, -1);
    write_scores("scores/b.parquet", 2, 6, 500, -1);
    run_on(2, combine_ranks, NULL);
}

/* The second worker knows of bounds but of no ranks, the third of neither; the fourth is as the first. */
static kith_error *mix_versions(void *argument)
{
    for (size_t workers = 2; workers <= 4; workers++) {
        _cleanup_(fixture_stop) struct fixture fixture = {0};
        _cleanup_(outcome_reset) struct outcome alone = {0};
        fixture.options[1].without = CAPABILITY_TOPK_RANKS;
        fixture.options[2].without = CAPABILITY_TOPK_RANKS | CAPABILITY_TOPK_BOUNDS;
        TRY(fixture_start(&fixture, workers));
        TRY(fixture_set(&fixture, "distributed.sibling_topk", "on"));
        TRY(fixture_set(&fixture, "distributed.file_scan_config_bytes_per_partition", "1"));
        TRY(fixture_run_embedded(&fixture, half_each, &alone));
        for (int i = 0; i < 10; i++) {
            _cleanup_(outcome_reset) struct outcome mixed = {0};
            TRY(fixture_run(&fixture, half_each, &mixed));
            TRY(expect_same_rows(half_each, &alone, &mixed));
            TRY(expect_text(strbuf_text(&mixed.analyzed), "bounds: reported="));
            EXPECT(workers == 4 || combined(&mixed) == 0);
        }
    }
    return NULL;
}

static void workers_of_different_abilities_share_what_each_knows(void **state)
{
    write_scores("scores/a.parquet", 1, 6, 500, -1);
    write_scores("scores/b.parquet", 2, 6, 500, -1);
    run_on(2, mix_versions, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_cluster_gives_the_rows_of_one_process, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(a_limit_without_an_order_gives_so_many_of_the_rows, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(a_task_ends_once_all_its_rows_have_gone, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(the_analysed_plan_tells_of_each_task, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(auto_is_silent_where_no_bound_rules_out_a_row_group, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(tasks_with_too_few_rows_prove_a_bound_together, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(workers_of_different_abilities_share_what_each_knows, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(each_of_four_settings_forbids_sharing, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(a_bound_of_a_very_long_text_is_not_shared, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(a_task_that_waited_for_a_bound_begins_with_it, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(a_siblings_bound_spares_a_task_what_nothing_else_can, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(a_task_that_a_bound_leaves_nothing_reads_no_page, temporary_folder_enter,
                                        temporary_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
