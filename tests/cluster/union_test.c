/* UNION ALL on workers: the tasks share the files of all members, and one bound. */
#include "cluster/cluster_fixture.h"

#define WIDE   "SELECT id, score, keep FROM wide"
#define NARROW "SELECT -id, keep, score FROM narrow"

/* `none` has a file without rows. */
static const char *const queries[] = {
    WIDE " UNION ALL " NARROW " ORDER BY score DESC, id LIMIT 40",
    WIDE " WHERE keep <> 0 UNION ALL " NARROW " WHERE keep <> 0 ORDER BY score DESC, id LIMIT 40 OFFSET 7",
    WIDE " UNION ALL " WIDE " ORDER BY score, id, keep LIMIT 31",
    WIDE " UNION ALL " WIDE " WHERE false UNION ALL SELECT * FROM (SELECT id, score, keep FROM none) AS s "
         "ORDER BY score, id LIMIT 30",
    WIDE " UNION ALL (" NARROW " UNION ALL (" NARROW " UNION ALL " WIDE ")) ORDER BY score DESC, id, keep LIMIT 70",
    WIDE " WHERE keep = 1 UNION ALL " WIDE " WHERE keep = 2 UNION ALL " WIDE " WHERE keep = 3 UNION ALL " WIDE
         " WHERE keep = 4 UNION ALL " WIDE " WHERE keep = 5 UNION ALL " WIDE " WHERE keep = 6 UNION ALL " NARROW
         " ORDER BY score DESC, id LIMIT 25",
    "SELECT label, id FROM wide UNION ALL SELECT NULL, -id FROM narrow ORDER BY label NULLS FIRST, id LIMIT 500",
    "SELECT label, id FROM wide UNION ALL SELECT NULL, -id FROM narrow ORDER BY label DESC NULLS LAST, id LIMIT 500",
    "SELECT keep AS k, id FROM wide UNION ALL SELECT score, -id FROM narrow ORDER BY k DESC, id LIMIT 60",
    "SELECT keep / 4.0 AS k, id FROM wide UNION ALL SELECT keep, -id FROM narrow ORDER BY k DESC, id LIMIT 60",
    "SELECT CASE WHEN keep > 8 THEN CAST('NaN' AS DOUBLE PRECISION) ELSE keep END AS k, id FROM wide UNION ALL "
    "SELECT -keep, -id FROM narrow ORDER BY k DESC, id LIMIT 700",
    "SELECT CASE WHEN keep > 8 THEN CAST('NaN' AS DOUBLE PRECISION) ELSE keep END AS k, id FROM wide UNION ALL "
    "SELECT -keep, -id FROM narrow ORDER BY k, id LIMIT 700",
    WIDE " UNION ALL (" NARROW " ORDER BY score DESC, id LIMIT 5) ORDER BY score DESC, id LIMIT 9",
    "(" WIDE " ORDER BY score, id LIMIT 50 OFFSET 3) UNION ALL " NARROW " UNION ALL SELECT 5, 6, 7 "
    "ORDER BY score DESC, id LIMIT 90",
    "SELECT id, score FROM wide WHERE random() >= 0 UNION ALL SELECT id, score FROM narrow ORDER BY score, id LIMIT 19",
    "SELECT s, id FROM (SELECT score + keep AS s, id FROM wide UNION ALL SELECT score, -id FROM narrow) AS u "
    "WHERE s % 2 = 0 ORDER BY s DESC, id LIMIT 33",
    WIDE " WHERE keep = 3 UNION ALL " NARROW " WHERE keep = 3 ORDER BY id",
    "SELECT x FROM (SELECT score AS x, id FROM wide UNION ALL SELECT score, id FROM narrow ORDER BY 1, 2 LIMIT 400) AS "
    "u "
    "ORDER BY x DESC LIMIT 10",
    WIDE " UNION ALL SELECT id, score, keep FROM none ORDER BY score DESC, id LIMIT 3",
};

static void write_tables(void)
{
    write_scores("wide/a.parquet", 1, 6, 300, 3);
    write_scores("wide/b.parquet", 2, 4, 300, -1);
    write_scores("narrow/a.parquet", 3, 5, 200, -1);
    write_scores("none/a.parquet", 4, 0, 1, -1);
}

static kith_error *compare_everywhere(struct fixture *fixture)
{
    for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
        _cleanup_(outcome_reset) struct outcome expected = {0};
        _cleanup_(outcome_reset) struct outcome given = {0};
        TRY(fixture_run_embedded(fixture, queries[i], &expected));
        TRY(fixture_run(fixture, queries[i], &given));
        TRY(expect_same_rows(queries[i], &expected, &given));
        EXPECT(fixture->worker_count == 1 || given.progress.tasks == fixture->worker_count);
    }
    return NULL;
}

static kith_error *run_on_each_cluster(void *argument)
{
    static const char *const sharing[] = {"off", "on", "auto"};
    for (size_t workers = 1; workers <= MOST_WORKERS; workers++) {
        _cleanup_(fixture_stop) struct fixture fixture = {0};
        TRY(fixture_start(&fixture, workers));
        TRY(fixture_set(&fixture, "distributed.file_scan_config_bytes_per_partition", "1"));
        for (size_t i = 0; i < 2 * ARRAY_SIZE(sharing); i++) {
            TRY(fixture_set(&fixture, "distributed.sibling_topk", sharing[i / 2]));
            TRY(fixture_set(&fixture, "execution.target_partitions", i % 2 == 0 ? "0" : "3"));
            TRY(compare_everywhere(&fixture));
        }
        EXPECT(fixture_live_tasks(&fixture) == 0);
    }
    return NULL;
}

static void every_union_gives_the_rows_that_one_process_gives(void **state)
{
    write_tables();
    run_on(2, run_on_each_cluster, NULL);
}

static kith_error *read_one_of_two(void *argument)
{
    static const char sql[] = "SELECT id, score FROM good WHERE keep <> 0 UNION ALL SELECT id, score FROM spoilt WHERE "
                              "keep <> 0 ORDER BY score DESC, id LIMIT 10";
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome outcome = {0};
    TRY(fixture_start(&fixture, 2));
    TRY(fixture_set(&fixture, "distributed.file_scan_config_bytes_per_partition", "1"));
    TRY(fixture_set(&fixture, "distributed.sibling_topk_head_start", "60s"));
    TRY(fixture_run(&fixture, sql, &outcome));
    TRY(expect_text(strbuf_text(&outcome.analyzed),
                    "row groups: read=0 pruned by statistics=0 local bound=0 remote bound=4"));
    return expect_text(strbuf_text(&outcome.analyzed), "files_pruned_remote_bound=1");
}

static void the_bound_of_one_member_spares_another_ones_task_all_its_pages(void **state)
{
    write_scores("good/a.parquet", 21, 4, 500, 2);
    write_scores("spoilt/a.parquet", 22, 4, 500, -1);
    spoil_pages("spoilt/a.parquet");
    run_on(2, read_one_of_two, NULL);
}

static uint64_t counter(const struct outcome *outcome, const char *name)
{
    const char *text = strstr(strbuf_text(&outcome->analyzed), name);
    return text == NULL ? 0 : strtoull(text + strlen(name), NULL, 10);
}

/* The three heaps (one task has some of each member) hold 150, 150 and 300 rows or about, of the 500 that are wanted.
 */
static kith_error *combine_ranks(void *argument)
{
    static const char sql[] = "SELECT id, score FROM first WHERE keep = 3 UNION ALL SELECT id, score FROM second WHERE "
                              "keep = 3 ORDER BY score DESC, id LIMIT 500";
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome alone = {0};
    uint64_t combined = 0;
    TRY(fixture_start(&fixture, 2));
    TRY(fixture_run_embedded(&fixture, sql, &alone));
    TRY(fixture_set(&fixture, "distributed.sibling_topk", "on"));
    TRY(fixture_set(&fixture, "execution.target_partitions", "1"));
    for (int i = 0; i < 200 && combined == 0; i++) {
        _cleanup_(outcome_reset) struct outcome together = {0};
        uint64_t sent = 0;
        TRY(fixture_run(&fixture, sql, &together));
        TRY(expect_same_rows(sql, &alone, &together));
        combined = counter(&together, "combined=");
        for (size_t task = 0; task < 2; task++)
            sent += together.tasks[task][METRIC_BOUNDS_SENT];
        EXPECT(sent == counter(&together, "bounds: reported="));
    }
    EXPECT(combined > 0);
    return NULL;
}

static void members_prove_a_bound_together_and_each_message_is_counted_once(void **state)
{
    write_scores("first/a.parquet", 1, 3, 500, -1);
    write_scores("second/a.parquet", 2, 9, 500, -1);
    run_on(2, combine_ranks, NULL);
}

static kith_error *explain(struct query *query, struct outcome *out)
{
    return query_explain(query, &(struct explain_options){0}, &out->analyzed);
}

static kith_error *explain_on_workers(void *argument)
{
    static const char *const parts[] = {
        "Stage 1 ── tasks=2, partitions=3\n",
        "UnionExec\n",
        "t0 worker=",
        "wide/a.parquet",
        "t1 worker=",
        "narrow/a.parquet",
    };
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome outcome = {0};
    _cleanup_(cluster_free) struct cluster *cluster = NULL;
    TRY(fixture_start(&fixture, 2));
    TRY(cluster_connect(runtime_current(), fixture.addresses, 2, &fixture.settings, &cluster));
    TRY(fixture_query(&fixture.settings, cluster,
                      WIDE " UNION ALL " NARROW " UNION ALL SELECT id, score, keep FROM none ORDER BY score LIMIT 3",
                      explain, &outcome));
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        TRY(expect_text(strbuf_text(&outcome.analyzed), parts[i]));
    return NULL;
}

static void explain_shows_the_members_and_each_tasks_files_of_them(void **state)
{
    write_tables();
    run_on(2, explain_on_workers, NULL);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, temporary_folder_enter, temporary_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(every_union_gives_the_rows_that_one_process_gives),
        IN_A_FOLDER(the_bound_of_one_member_spares_another_ones_task_all_its_pages),
        IN_A_FOLDER(members_prove_a_bound_together_and_each_message_is_counted_once),
        IN_A_FOLDER(explain_shows_the_members_and_each_tasks_files_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
