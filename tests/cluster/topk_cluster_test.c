/*
 * Top-K on workers that share bounds over a slow network: everything a cluster does but for sockets, on a clock that
 * moves with the fibers' turns, so that a bound comes before a task begins, in its middle or after its end. The answer
 * must be that of a plain sort, whatever the workers are able to. For long runs see docs/contributing.md.
 */
#include "cluster/slow_pipe.h"
#include "cluster/topk_query.h"

#include "cluster/cluster.h"
#include "cluster/query.h"
#include "cluster/worker.h"
#include "sql/statement.h"
#include "wire/worker_messages.h"

enum { MOST_WORKERS = 8 };

static const char *const addresses[MOST_WORKERS] = {"worker:0", "worker:1", "worker:2", "worker:3",
                                                    "worker:4", "worker:5", "worker:6", "worker:7"};

struct trial {
    struct topk_table table;
    uint64_t random;
    size_t queries; /* of each size of cluster */
    struct moving_clock clock;
    struct worker *workers[MOST_WORKERS];
    uint64_t pipe_seeds[MOST_WORKERS]; /* workers are dialled side by side */
    int64_t most_late_ns;
    uint64_t bounds_told; /* to tasks */
};

static kith_error *dial(void *context, const char *target, int64_t deadline_ns, struct transport **out)
{
    struct trial *trial = context;
    _cleanup_(transport_free) struct transport *near = NULL;
    struct transport *far = NULL;
    size_t worker = strtoul(strchr(target, ':') + 1, NULL, 10);
    uint64_t random = trial->pipe_seeds[worker];
    TRY(slow_pair_new(target, &random, trial->most_late_ns, &near, &far));
    TRY(worker_serve(trial->workers[worker], far));
    *out = TAKE(near);
    return NULL;
}

static kith_error *drain(struct trial *trial, struct query *query, struct batch **out)
{
    struct filter_registry_counters counters;
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(query_next(query, &batch));
        if (batch == NULL)
            break;
        TRY(topk_keep_rows(batch, out));
    }
    if (query_sharing(query, &counters))
        trial->bounds_told += counters.sent;
    return NULL;
}

static kith_error *run_query(struct trial *trial, const char *sql, const struct settings *settings,
                             struct cluster *cluster, struct batch **out)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(query_free) struct query *query = NULL;
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    struct sql_catalog catalog = {queries_find, queries_open, queries_names};
    struct statement statement;
    const struct query_options options = {
        .runtime = runtime_current(), .settings = *settings, .cluster = cluster, .arena = &arena};
    TRY(sql_parse(str_of(sql), &script));
    struct sql_syntax syntax = sql_script_statement(script, 0);
    TRY(sql_bind(&syntax, &catalog, settings, &arena, &statement));
    TRY(query_new(&options, statement.plan, &query));
    return drain(trial, query, out);
}

static kith_error *random_settings(struct trial *trial, struct settings *settings)
{
    static const char *const sharing[] = {"on", "on", "auto", "off"};
    static const char *const intervals[] = {"0", "1ms"}, *const head_starts[] = {"0", "10ms", "250ms"};
    uint64_t *random = &trial->random;
    TRY(topk_randomize(random, settings));
    TRY(settings_set(settings, SETTING_SIBLING_TOPK, sharing[topk_choice(random, ARRAY_SIZE(sharing))]));
    TRY(settings_set(settings, SETTING_SIBLING_TOPK_INTERVAL, intervals[topk_choice(random, ARRAY_SIZE(intervals))]));
    TRY(settings_set(settings, SETTING_SIBLING_TOPK_HEAD_START,
                     head_starts[topk_choice(random, ARRAY_SIZE(head_starts))]));
    TRY(settings_set(settings, SETTING_COMPRESSION, topk_choice(random, 2) == 0 ? "none" : "lz4"));
    TRY(settings_set(settings, SETTING_KEEPALIVE, "1h"));
    return settings_set(settings, SETTING_CONNECT_TIMEOUT, "10min");
}

static kith_error *try_query(struct trial *trial, struct cluster *cluster)
{
    _cleanup_(batch_unref) struct batch *given = NULL;
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct topk_query query = topk_query_make(&trial->random, topk_choice(&trial->random, TOPK_ORDERS), &trial->table);
    struct settings settings;
    TRY(random_settings(trial, &settings));
    kith_error *error = run_query(trial, query.sql, &settings, cluster, &given);
    if (error == NULL)
        error = topk_check(&query, trial->table.rows, given);
    if (error == NULL)
        return NULL;
    error_free(topk_settings_text(&settings, &text));
    return error_wrap(error, "%s on %zu workers with%s", query.sql, cluster_worker_count(cluster), strbuf_text(&text));
}

static kith_error *try_cluster(struct trial *trial, size_t workers)
{
    static const int64_t late[] = {0, 50000, 500000, 2000000}, steps[] = {1000, 10000, 50000};
    _cleanup_(cluster_free) struct cluster *cluster = NULL;
    struct settings settings;
    trial->most_late_ns = late[topk_choice(&trial->random, ARRAY_SIZE(late))];
    atomic_store(&trial->clock.step_ns, steps[topk_choice(&trial->random, ARRAY_SIZE(steps))]);
    TRY(random_settings(trial, &settings));
    for (size_t i = 0; i < workers; i++)
        trial->pipe_seeds[i] = test_random(&trial->random);
    TRY(cluster_connect_by(runtime_current(), addresses, workers, &settings, dial, trial, &cluster));
    for (size_t i = 0; i < trial->queries; i++)
        TRY(try_query(trial, cluster));
    return NULL;
}

static kith_error *try_all(struct trial *trial)
{
    static const size_t sizes[] = {1, 2, 5, MOST_WORKERS};
    struct settings settings;
    settings_init(&settings);
    TRY(settings_set(&settings, SETTING_TARGET_PARTITIONS, "1"));
    TRY(run_query(trial, "SELECT id, k1, k2, k3, keep, label FROM t", &settings, NULL, &trial->table.rows));
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        TRY(try_cluster(trial, sizes[i]));
    return NULL;
}

static kith_error *run_trial(void *argument)
{
    struct trial *trial = argument;
    kith_error *error = moving_clock_start(&trial->clock);
    for (size_t i = 0; i < MOST_WORKERS && error == NULL; i++) {
        bool is_old = topk_choice(&trial->random, 8) == 0;
        const struct worker_options options = {.keepalive_ms = 3600000,
                                               .without = is_old ? test_random(&trial->random) & CAPABILITIES_ALL : 0};
        error = worker_new(runtime_current(), &options, &trial->workers[i]);
    }
    if (error == NULL)
        error = try_all(trial);
    for (size_t i = 0; i < MOST_WORKERS; i++)
        worker_free(TAKE(trial->workers[i]));
    kith_error *clock_error = moving_clock_stop(&trial->clock);
    if (error == NULL)
        return clock_error;
    error_free(clock_error);
    return error;
}

/* Adds the number of bounds that tasks were told of to *context. */
static void try_seed(uint64_t seed, bool thorough, void *context)
{
    enum { FEW = 5, MANY = 30 };
    struct trial trial = {.random = seed, .queries = thorough ? MANY : FEW};
    struct runtime *runtime;
    fake_clock_init(&trial.clock.fake);
    atomic_init(&trial.clock.step_ns, 1000);
    topk_table_write(&trial.random, &trial.table);
    assert_ok(runtime_new(&(struct runtime_options){.threads = 2, .clock = &trial.clock.fake.clock}, &runtime));
    assert_ok(runtime_run(runtime, run_trial, &trial));
    assert_int_equal(runtime_live_fibers(runtime), 0);
    runtime_free(runtime);
    topk_table_reset(&trial.table);
    *(uint64_t *)context += trial.bounds_told;
}

static void the_answer_is_that_of_a_plain_sort_however_late_bounds_are(void **state)
{
    uint64_t told = 0;
    topk_for_each_seed(10, try_seed, &told);
    print_message("tasks were told of %llu bounds\n", (unsigned long long)told);
    assert_true(told > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_answer_is_that_of_a_plain_sort_however_late_bounds_are,
                                        temporary_folder_enter, temporary_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
