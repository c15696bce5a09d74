/*
 * Clusters whose workers are not all of one version.
 */
#include "cluster/cluster_fixture.h"

#include "net/grpc.h"

static const char sql[] = "SELECT id, score, label FROM mixed WHERE keep <> 0 ORDER BY score DESC, id LIMIT 100";

static kith_error *run_with_an_older_worker(size_t older, uint64_t *received)
{
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome expected = {0};
    _cleanup_(outcome_reset) struct outcome outcome = {0};
    fixture.options[older].without = CAPABILITY_TOPK_BOUNDS;
    TRY(fixture_start(&fixture, 3));
    TRY(fixture_set(&fixture, "distributed.file_scan_config_bytes_per_partition", "1"));
    TRY(fixture_set(&fixture, "distributed.sibling_topk", "on"));
    TRY(fixture_set(&fixture, "distributed.sibling_topk_head_start", "60s"));
    TRY(fixture_run_embedded(&fixture, sql, &expected));
    TRY(fixture_run(&fixture, sql, &outcome));
    TRY(expect_same_rows(sql, &expected, &outcome));
    TRY(expect_text(strbuf_text(&outcome.analyzed), "bounds: reported="));
    EXPECT(outcome.progress.tasks == 3);
    EXPECT(outcome.tasks[older][METRIC_BOUNDS_PRODUCED] > 0);
    EXPECT(outcome.tasks[older][METRIC_BOUNDS_SENT] == 0);
    EXPECT(outcome.tasks[older][METRIC_BOUNDS_RECEIVED] == 0);
    for (size_t i = 0; i < 3; i++)
        *received += outcome.tasks[i][METRIC_BOUNDS_RECEIVED];
    return NULL;
}

/* One file a task. Two of them wait for the bound that the one with the best row group promises, where they share. */
static kith_error *run_with_each_worker_the_older_one(void *argument)
{
    size_t with_bounds = 0;
    for (size_t older = 0; older < 3; older++) {
        uint64_t received = 0;
        TRY(run_with_an_older_worker(older, &received));
        with_bounds += received > 0;
    }
    /* In the third run nobody need hear of anything: the task with the best rows tells nobody. */
    EXPECT(with_bounds >= 2);
    return NULL;
}

static void of_three_workers_two_share_without_the_one_that_cannot(void **state)
{
    write_scores("mixed/a.parquet", 31, 4, 500, 2);
    write_scores("mixed/b.parquet", 32, 4, 500, -1);
    write_scores("mixed/c.parquet", 33, 4, 500, -1);
    run_on(2, run_with_each_worker_the_older_one, NULL);
}

static kith_error *run_with_one_that_can_share(void *argument)
{
    _cleanup_(fixture_stop) struct fixture fixture = {0};
    _cleanup_(outcome_reset) struct outcome expected = {0};
    _cleanup_(outcome_reset) struct outcome outcome = {0};
    fixture.options[0].without = fixture.options[2].without = CAPABILITY_TOPK_BOUNDS;
    TRY(fixture_start(&fixture, 3));
    TRY(fixture_set(&fixture, "distributed.file_scan_config_bytes_per_partition", "1"));
    TRY(fixture_set(&fixture, "distributed.sibling_topk", "on"));
    TRY(fixture_run_embedded(&fixture, sql, &expected));
    TRY(fixture_run(&fixture, sql, &outcome));
    TRY(expect_same_rows(sql, &expected, &outcome));
    EXPECT(strstr(strbuf_text(&outcome.analyzed), "bounds: reported=") == NULL);
    return NULL;
}

static void one_worker_that_can_share_has_nobody_to_share_with(void **state)
{
    write_scores("mixed/a.parquet", 31, 4, 500, 2);
    write_scores("mixed/b.parquet", 32, 4, 500, -1);
    write_scores("mixed/c.parquet", 33, 4, 500, -1);
    run_on(2, run_with_one_that_can_share, NULL);
}

enum { A_LATER_CAPABILITY = 1 << 20 };

/* As a worker of a later version may describe itself. */
static kith_error *describe_a_newer_worker(struct grpc_call *call, void *context)
{
    const struct worker_info info = {.version = "9.9",
                                     .protocol_version = WORKER_PROTOCOL_VERSION,
                                     .capabilities = CAPABILITIES_ALL | A_LATER_CAPABILITY,
                                     .processors = 3};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    TRY(worker_info_encode(&info, &bytes));
    TRY(strbuf_append(&bytes, "\xb2\x09\x01x", 4)); /* field 150, one byte */
    struct slice slice = slice_of_bytes(bytes.data, bytes.length);
    return grpc_call_send(call, &slice, 1);
}

static kith_error *join(struct grpc_server *server)
{
    _cleanup_(cluster_free) struct cluster *cluster = NULL;
    _cleanup_(arena_reset) struct arena arena = {0};
    struct worker_status status;
    struct settings settings;
    const char *address;
    settings_init(&settings);
    TRY(grpc_server_listen(server, "127.0.0.1:0", &address));
    TRY(cluster_connect(runtime_current(), &address, 1, &settings, &cluster));
    EXPECT(cluster_worker_capabilities(cluster, 0) & CAPABILITY_TOPK_BOUNDS);
    EXPECT(cluster_worker_processors(cluster, 0) == 3);
    /* It has a method less than this version's, as older workers have. */
    return expect_failure(cluster_ask_status(cluster, 0, WAIT_FOREVER, &arena, &status), KITH_ERROR_NOT_IMPLEMENTED,
                          "too old to count");
}

static kith_error *join_a_newer_worker(void *argument)
{
    const struct grpc_method methods[] = {{WORKER_PATH_GET_WORKER_INFO, describe_a_newer_worker, NULL}};
    const struct grpc_server_options options = {
        .methods = methods,
        .method_count = ARRAY_SIZE(methods),
        .http2 = {.peer_noun = "coordinator", .keepalive_ns = 10 * NANOSECONDS_PER_SECOND},
    };
    struct grpc_server *server;
    TRY(grpc_server_new(runtime_current(), &options, &server));
    kith_error *error = join(server);
    grpc_server_free(server);
    return error;
}

static void what_a_worker_can_do_besides_or_cannot_is_told(void **state)
{
    run_on(2, join_a_newer_worker, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(of_three_workers_two_share_without_the_one_that_cannot, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test(what_a_worker_can_do_besides_or_cannot_is_told),
        cmocka_unit_test_setup_teardown(one_worker_that_can_share_has_nobody_to_share_with, temporary_folder_enter,
                                        temporary_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
