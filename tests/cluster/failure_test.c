/*
 * What goes wrong, within one process: refused plans, cancelled queries, workers that end. Nothing may be left on
 * either side. Killed and stopped processes are processes_test.c's.
 */
#include "cluster/cluster_fixture.h"

static const char long_query[] = "SELECT * FROM scores ORDER BY label, id";

/* Waits until the workers have noticed: they are told by the network. */
static kith_error *expect_no_tasks(const struct fixture *fixture)
{
    int64_t deadline = clock_monotonic_ns(&system_clock) + 2 * NANOSECONDS_PER_SECOND;
    while (fixture_live_tasks(fixture) > 0) {
        if (clock_monotonic_ns(&system_clock) > deadline)
            return error_new(KITH_ERROR_INTERNAL, "%zu tasks are left", fixture_live_tasks(fixture));
        TRY(fiber_yield());
    }
    return NULL;
}

static kith_error *missing_worker(void *argument)
{
    struct fixture fixture = {.addresses = {"127.0.0.1:9"}, .worker_count = 1};
    struct cluster *cluster = NULL;
    settings_init(&fixture.settings);
    kith_error *error = cluster_connect(runtime_current(), fixture.addresses, 1, &fixture.settings, &cluster);
    EXPECT(error != NULL && kith_error_hint(error) != NULL);
    EXPECT(strcmp(kith_error_hint(error), "Is `kith worker --listen 127.0.0.1:9` running?") == 0);
    return expect_failure(error, KITH_ERROR_UNAVAILABLE, "127.0.0.1:9");
}

static void a_worker_that_is_not_there_is_named(void **state)
{
    run_on(2, missing_worker, NULL);
}

/* The table is planned, then one of its files goes: the worker that was to read it says so. */
static kith_error *file_gone(void *argument)
{
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(cluster_free) struct cluster *cluster = NULL;
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(query_free) struct query *query = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    struct sql_catalog catalog = {queries_find, queries_open, queries_names};
    struct statement statement;
    TRY(fixture_start(&fixture, 2));
    TRY(cluster_connect(runtime_current(), fixture.addresses, 2, &fixture.settings, &cluster));
    TRY(sql_parse(str_of(long_query), &script));
    struct sql_syntax syntax = sql_script_statement(script, 0);
    TRY(sql_bind(&syntax, &catalog, &fixture.settings, &arena, &statement));
    const struct query_options options = {
        .runtime = runtime_current(), .settings = fixture.settings, .cluster = cluster, .arena = &arena};
    TRY(query_new(&options, statement.plan, &query));
    EXPECT(unlink("scores/b.parquet") == 0);
    kith_error *error = query_next(query, &batch);
    char text[1024];
    EXPECT(error != NULL);
    error_describe(error, text, sizeof text);
    TRY(expect_failure(error, KITH_ERROR_NOT_FOUND, "b.parquet"));
    EXPECT(strstr(text, fixture.addresses[0]) != NULL || strstr(text, fixture.addresses[1]) != NULL);
    TRY(query_finish(query));
    return expect_no_tasks(&fixture);
}

static void a_worker_that_misses_a_file_is_named_with_the_file(void **state)
{
    write_scores("scores/a.parquet", 1, 3, 500, 1);
    write_scores("scores/b.parquet", 2, 3, 500, -1);
    run_on(2, file_gone, NULL);
}

static kith_error *memory_limit(void *argument)
{
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome outcome = {0};
    TRY(fixture_start(&fixture, 2));
    TRY(fixture_set(&fixture, "runtime.memory_limit", "10k"));
    TRY(expect_failure(fixture_run(&fixture, long_query, &outcome), KITH_ERROR_OUT_OF_MEMORY, "worker 127.0.0.1:"));
    TRY(expect_no_tasks(&fixture));
    TRY(fixture_set(&fixture, "runtime.memory_limit", "0"));
    return fixture_run(&fixture, long_query, &outcome);
}

static void a_task_out_of_memory_ends_the_query_and_the_next_one_runs(void **state)
{
    write_scores("scores/a.parquet", 1, 3, 500, 1);
    write_scores("scores/b.parquet", 2, 3, 500, -1);
    run_on(2, memory_limit, NULL);
}

/* A query that is cancelled from another fiber at some point of its run, or is left off after a batch. */
struct interruption {
    struct fixture fixture;
    struct query *query;
    unsigned yields;
    bool leave;
};

static kith_error *cancel_soon(void *argument)
{
    struct interruption *interruption = argument;
    for (unsigned i = 0; i < interruption->yields; i++)
        TRY(fiber_yield());
    query_cancel(interruption->query);
    return NULL;
}

static kith_error *drain(struct query *query, bool leave)
{
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(query_next(query, &batch));
        if (batch == NULL || leave)
            return NULL;
    }
}

static kith_error *run_interrupted(struct interruption *interruption, struct cluster *cluster)
{
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(query_free) struct query *query = NULL;
    struct sql_catalog catalog = {queries_find, queries_open, queries_names};
    struct statement statement;
    struct fiber *fiber = NULL;
    const struct query_options options = {
        .runtime = runtime_current(), .settings = interruption->fixture.settings, .cluster = cluster, .arena = &arena};
    TRY(sql_parse(str_of(long_query), &script));
    struct sql_syntax syntax = sql_script_statement(script, 0);
    TRY(sql_bind(&syntax, &catalog, &options.settings, &arena, &statement));
    TRY(query_new(&options, statement.plan, &query));
    interruption->query = query;
    if (!interruption->leave)
        TRY(spawn(cancel_soon, interruption, &fiber));
    kith_error *error = drain(query, interruption->leave);
    if (fiber != NULL)
        TRY(fiber_join(fiber));
    if (error == NULL)
        return NULL;
    EXPECT(query_finish(query) == NULL);
    return expect_failure(error, KITH_ERROR_CANCELLED, "cancelled");
}

static kith_error *interrupt(void *argument)
{
    struct interruption interruption = {0};
    _cleanup_(cluster_free) struct cluster *cluster = NULL;
    kith_error *error = fixture_start(&interruption.fixture, 3);
    if (error == NULL)
        error = fixture_set(&interruption.fixture, "distributed.sibling_topk", "on");
    if (error == NULL)
        error = cluster_connect(runtime_current(), interruption.fixture.addresses, 3, &interruption.fixture.settings,
                                &cluster);
    for (unsigned i = 0; i < 60 && error == NULL; i++) {
        interruption.yields = i * i / 4;
        interruption.leave = i % 6 == 5;
        error = run_interrupted(&interruption, cluster);
        if (error == NULL)
            error = expect_no_tasks(&interruption.fixture);
    }
    cluster_free(TAKE(cluster));
    fixture_stop(&interruption.fixture);
    return error;
}

static void a_query_cancelled_at_any_time_leaves_nothing(void **state)
{
    write_scores("scores/a.parquet", 1, 3, 500, 1);
    write_scores("scores/b.parquet", 2, 3, 500, -1);
    write_scores("scores/c.parquet", 3, 3, 500, -1);
    run_on(2, interrupt, NULL);
}

static kith_error *worker_ends(void *argument)
{
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(cluster_free) struct cluster *cluster = NULL;
    _cleanup_(outcome_reset) struct outcome first = {0};
    _cleanup_(outcome_reset) struct outcome second = {0};
    char address[64];
    TRY(fixture_start(&fixture, 2));
    TRY(cluster_connect(runtime_current(), fixture.addresses, 2, &fixture.settings, &cluster));
    TRY(fixture_query(&fixture.settings, cluster, long_query, fixture_drain, &first));
    snprintf(address, sizeof address, "%s", fixture.addresses[1]);
    worker_free(TAKE(fixture.workers[1]));
    TRY(expect_failure(fixture_query(&fixture.settings, cluster, long_query, fixture_drain, &second),
                       KITH_ERROR_UNAVAILABLE, address));
    /* Another one at the same address takes over: the channel connects anew. */
    TRY(worker_new(runtime_current(), &(struct worker_options){0}, &fixture.workers[1]));
    TRY(worker_listen(fixture.workers[1], address, &fixture.addresses[1]));
    outcome_reset(&second);
    TRY(fixture_query(&fixture.settings, cluster, long_query, fixture_drain, &second));
    return expect_same_rows(long_query, &first, &second);
}

static void a_worker_that_was_restarted_is_used_again(void **state)
{
    write_scores("scores/a.parquet", 1, 3, 500, 1);
    write_scores("scores/b.parquet", 2, 3, 500, -1);
    run_on(2, worker_ends, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_that_is_not_there_is_named),
        cmocka_unit_test_setup_teardown(a_worker_that_misses_a_file_is_named_with_the_file, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(a_task_out_of_memory_ends_the_query_and_the_next_one_runs,
                                        temporary_folder_enter, temporary_folder_leave),
        cmocka_unit_test_setup_teardown(a_query_cancelled_at_any_time_leaves_nothing, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(a_worker_that_was_restarted_is_used_again, temporary_folder_enter,
                                        temporary_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
