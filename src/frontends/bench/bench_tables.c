#include "frontends/bench/bench_tables.h"

#include "cluster/cluster.h"
#include "cluster/worker.h"
#include "frontends/bench/fixture.h"

static kith_error *write_table(const struct bench_place *place, size_t files, size_t groups, size_t group_rows,
                               char pattern[512])
{
    const struct fixture fixture = {.layout = FIXTURE_SHUFFLED,
                                    .files = files,
                                    .groups = groups,
                                    .group_rows = MAX(group_rows, (size_t)1),
                                    .folder = place->folder,
                                    .zstd = true};
    TRY(fixture_write(&fixture));
    return fixture_path(&fixture, SIZE_MAX, files, pattern);
}

static kith_error *start_workers(struct bench_place *place)
{
    const char *addresses[BENCH_MOST_WORKERS];
    struct settings settings;
    settings_init(&settings);
    for (size_t i = 0; i < place->workers; i++) {
        TRY(worker_new(runtime_current(), &(struct worker_options){0}, &place->started[i]));
        TRY(worker_listen(place->started[i], "127.0.0.1:0", &addresses[i]));
    }
    return cluster_connect(runtime_current(), addresses, place->workers, &settings, &place->cluster);
}

kith_error *bench_place_open(struct bench_place *place)
{
    enum { GROUPS = 4, SMALL_ROWS = 3000 };
    ASSERT(place->workers <= BENCH_MOST_WORKERS);
    TRY(write_table(place, FIXTURE_MOST_FILES, GROUPS, place->rows / (FIXTURE_MOST_FILES * GROUPS), place->large));
    TRY(write_table(place, 1, 1, place->rows, place->one_row_group));
    TRY(write_table(place, 1, 1, SMALL_ROWS, place->small));
    return place->workers == 0 ? NULL : start_workers(place);
}

void bench_place_close(struct bench_place *place)
{
    cluster_free(TAKE(place->cluster));
    for (size_t i = 0; i < BENCH_MOST_WORKERS; i++)
        worker_free(TAKE(place->started[i]));
}

size_t bench_place_live_tasks(const struct bench_place *place)
{
    size_t live = 0;
    for (size_t i = 0; i < place->workers; i++)
        live += worker_live_tasks(place->started[i]);
    return live;
}

kith_error *bench_session_new(const struct bench_place *place, const struct bench_setting *settings,
                              struct session **out)
{
    _cleanup_(session_free) struct session *session = NULL;
    TRY(session_new(runtime_current(), &session));
    TRY(session_set(session, "distributed.file_scan_config_bytes_per_partition", "1"));
    for (size_t i = 0; settings != NULL && i < BENCH_MOST_SETTINGS && settings[i].name != NULL; i++)
        TRY(session_set(session, settings[i].name, settings[i].value));
    TRY(session_add_table(session, "t", place->large, true));
    TRY(session_add_table(session, "one_row_group", place->one_row_group, true));
    TRY(session_add_table(session, "small", place->small, true));
    session_use_cluster(session, place->cluster);
    *out = TAKE(session);
    return NULL;
}

static kith_error *take_schema(struct session_sink *sink, struct schema *schema)
{
    return NULL;
}

static kith_error *take_batch(struct session_sink *sink, struct batch *batch)
{
    return NULL;
}

static kith_error *take_end(struct session_sink *sink, uint64_t rows)
{
    return NULL;
}

kith_error *bench_run(struct session *session, const char *sql)
{
    struct session_sink sink = {.begin = take_schema, .batch = take_batch, .end = take_end};
    return session_run(session, (struct str){sql, strlen(sql)}, &sink);
}
