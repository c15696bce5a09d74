/*
 * However a query ends before its last row, nothing of it is left: fibers, files, tasks on workers, calls. Memory that
 * it had reserved would end the program when its pool is freed; memory that it had allocated is for sanitizers to find.
 * Embedded, and on two workers in the same runtime.
 */
#include "cluster/cluster_fixture.h"
#include "cluster/statement_timer.h"

#include <dirent.h>

enum cause {
    CAUSE_CLIENT_GOES,
    CAUSE_CANCEL,
    CAUSE_TIMEOUT,
    CAUSE_CALLERS_TOKEN,
    CAUSE_LIMIT,
    CAUSE_FAILED_SIBLING,
    CAUSES
};

static const char long_query[] = "SELECT * FROM scores ORDER BY label, id";
/* Of more than is on its way at one time. */
static const char longer_query[] = "SELECT * FROM many ORDER BY label, id";
static const char limited_query[] = "SELECT * FROM scores LIMIT 1";
/* Of the one file with such scores: one task fails while others, and other partitions, have much to do. */
static const char failing_query[] =
    "SELECT label, id, 1 / (CASE WHEN score > 940000 THEN 0 ELSE 1 END) FROM scores ORDER BY label, id";

struct attempt {
    enum cause cause;
    struct fixture fixture;
    struct cluster *cluster; /* NULL: embedded */
    struct cancel_token *callers;
    size_t pulls; /* before it ends */
};

static size_t open_files(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}

static kith_error *expect_as_before(const struct attempt *attempt, size_t fibers, size_t files)
{
    int64_t deadline = clock_monotonic_ns(&system_clock) + 5 * NANOSECONDS_PER_SECOND;
    while (runtime_live_fibers(runtime_current()) > fibers || fixture_live_tasks(&attempt->fixture) > 0 ||
           open_files() > files) {
        if (clock_monotonic_ns(&system_clock) > deadline)
            return error_new(KITH_ERROR_INTERNAL, "cause %d after %zu batches left %zu fibers, %zu tasks, %zu files",
                             (int)attempt->cause, attempt->pulls, runtime_live_fibers(runtime_current()) - fibers,
                             fixture_live_tasks(&attempt->fixture), open_files() - files);
        TRY(fiber_yield());
    }
    return NULL;
}

/* Pulls until the end, an error, or so many batches. */
static kith_error *pull(struct query *query, size_t pulls, bool *ended)
{
    *ended = false;
    for (size_t i = 0; i < pulls && !*ended; i++) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(query_next(query, &batch));
        *ended = batch == NULL;
    }
    return NULL;
}

static kith_error *end_by(struct attempt *attempt, struct query *query)
{
    bool ended;
    switch (attempt->cause) {
    case CAUSE_CLIENT_GOES:
        return NULL;
    case CAUSE_CANCEL:
        query_cancel(query);
        return expect_failure(pull(query, 1, &ended), KITH_ERROR_CANCELLED, "cancelled");
    case CAUSE_TIMEOUT:
        return expect_failure(pull(query, SIZE_MAX, &ended), KITH_ERROR_TIMEOUT, "statement_timeout");
    case CAUSE_CALLERS_TOKEN:
        cancel_token_cancel(attempt->callers, error_new(KITH_ERROR_CANCELLED, "the program ends"));
        return expect_failure(pull(query, 1, &ended), KITH_ERROR_CANCELLED, "the program ends");
    case CAUSE_FAILED_SIBLING:
        return expect_failure(pull(query, SIZE_MAX, &ended), KITH_ERROR_DIVISION_BY_ZERO, "division by zero");
    case CAUSE_LIMIT:
    case CAUSES:
        break;
    }
    return pull(query, SIZE_MAX, &ended);
}

static const char *query_of(enum cause cause)
{
    return cause == CAUSE_LIMIT ? limited_query : cause == CAUSE_FAILED_SIBLING ? failing_query : long_query;
}

static kith_error *run_query(void *argument)
{
    struct attempt *attempt = argument;
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(query_free) struct query *query = NULL;
    _cleanup_(statement_timer_stop) struct statement_timer *timer = NULL;
    bool ended;
    struct query_options options = {.runtime = runtime_current(),
                                    .settings = attempt->fixture.settings,
                                    .cluster = attempt->cluster,
                                    .arena = &arena};
    if (attempt->cause == CAUSE_TIMEOUT)
        TRY(settings_set(&options.settings, SETTING_STATEMENT_TIMEOUT, "1ms"));
    size_t fibers = runtime_live_fibers(runtime_current());
    TRY(fixture_open(&options, query_of(attempt->cause), &query));
    if (attempt->cause == CAUSE_TIMEOUT) {
        TRY(statement_timer_start(options.runtime, &options.settings, attempt->callers, &timer));
        /* Its time passes, upon which the fiber that watches it ends, before it is asked for anything. */
        while (runtime_live_fibers(runtime_current()) > fibers)
            error_free(fiber_yield());                   /* cancelled as well */
    } else if (attempt->cause != CAUSE_FAILED_SIBLING) { /* whose first batch is the error */
        TRY(pull(query, attempt->pulls, &ended));
    }
    return end_by(attempt, query);
}

static kith_error *attempt_once(struct attempt *attempt)
{
    struct fiber *fiber;
    size_t fibers = runtime_live_fibers(runtime_current()), files = open_files();
    TRY(cancel_token_new(NULL, &attempt->callers));
    const struct fiber_options options = {.name = "caller", .cancel = attempt->callers};
    TRY(fiber_spawn(runtime_current(), &options, run_query, attempt, &fiber));
    kith_error *error = fiber_join(fiber);
    cancel_token_unref(TAKE(attempt->callers));
    return error != NULL ? error : expect_as_before(attempt, fibers, files);
}

static kith_error *attempt_all(struct attempt *attempt, size_t workers)
{
    struct outcome outcome = {0};
    TRY(fixture_start(&attempt->fixture, workers));
    TRY(fixture_set(&attempt->fixture, "execution.batch_size", "100"));
    if (workers > 0)
        TRY(cluster_connect(runtime_current(), attempt->fixture.addresses, workers, &attempt->fixture.settings,
                            &attempt->cluster));
    /* What workers keep of files between tasks they have opened now. */
    kith_error *error =
        fixture_query(&attempt->fixture.settings, attempt->cluster, long_query, fixture_drain, &outcome);
    outcome_reset(&outcome);
    for (int cause = 0; cause < CAUSES; cause++)
        for (attempt->pulls = 0; attempt->pulls < 3 && error == NULL; attempt->pulls++) {
            attempt->cause = (enum cause)cause;
            error = attempt_once(attempt);
        }
    return error;
}

static kith_error *run_attempts(size_t workers)
{
    struct attempt attempt = {0};
    kith_error *error = attempt_all(&attempt, workers);
    cluster_free(attempt.cluster);
    fixture_stop(&attempt.fixture);
    return error;
}

static kith_error *run_embedded(void *argument)
{
    return run_attempts(0);
}

static kith_error *run_on_workers(void *argument)
{
    return run_attempts(2);
}

static kith_error *stop_a_worker(struct attempt *attempt)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(query_free) struct query *query = NULL;
    bool ended;
    const struct query_options options = {.runtime = runtime_current(),
                                          .settings = attempt->fixture.settings,
                                          .cluster = attempt->cluster,
                                          .arena = &arena};
    char address[64];
    snprintf(address, sizeof address, "%s", attempt->fixture.addresses[0]);
    TRY(fixture_open(&options, longer_query, &query));
    TRY(pull(query, attempt->pulls, &ended));
    worker_free(TAKE(attempt->fixture.workers[0]));
    TRY(expect_failure(pull(query, SIZE_MAX, &ended), KITH_ERROR_UNAVAILABLE, address));
    /* The other worker goes on, but not with this. */
    query_free(TAKE(query));
    return expect_as_before(attempt, SIZE_MAX, SIZE_MAX);
}

static kith_error *try_stopping(struct attempt *attempt)
{
    TRY(fixture_start(&attempt->fixture, 2));
    TRY(fixture_set(&attempt->fixture, "execution.batch_size", "100"));
    TRY(cluster_connect(runtime_current(), attempt->fixture.addresses, 2, &attempt->fixture.settings,
                        &attempt->cluster));
    return stop_a_worker(attempt);
}

static kith_error *run_with_stopping_workers(void *argument)
{
    size_t fibers = runtime_live_fibers(runtime_current()), files = open_files();
    kith_error *error = NULL;
    for (size_t pulls = 0; pulls < 3 && error == NULL; pulls++) {
        struct attempt attempt = {.pulls = pulls};
        error = try_stopping(&attempt);
        cluster_free(attempt.cluster);
        fixture_stop(&attempt.fixture);
        attempt.fixture.worker_count = 0;
        if (error == NULL)
            error = expect_as_before(&attempt, fibers, files);
    }
    return error;
}

static void write_tables(void)
{
    write_scores("scores/a.parquet", 1, 3, 500, 1);
    write_scores("scores/b.parquet", 2, 3, 500, -1);
    write_scores("scores/c.parquet", 3, 3, 500, -1);
}

static void an_ended_query_leaves_nothing_in_its_process(void **state)
{
    write_tables();
    run_on(2, run_embedded, NULL);
}

static void an_ended_query_leaves_nothing_on_workers(void **state)
{
    write_tables();
    run_on(2, run_on_workers, NULL);
}

static void a_worker_that_stops_leaves_nothing_of_its_queries_anywhere(void **state)
{
    write_scores("many/a.parquet", 1, 4, 16384, 1);
    write_scores("many/b.parquet", 2, 4, 16384, -1);
    run_on(2, run_with_stopping_workers, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worker_that_stops_leaves_nothing_of_its_queries_anywhere,
                                        temporary_folder_enter, temporary_folder_leave),
        cmocka_unit_test_setup_teardown(an_ended_query_leaves_nothing_in_its_process, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(an_ended_query_leaves_nothing_on_workers, temporary_folder_enter,
                                        temporary_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
