/*
 * Workers and a coordinator in one runtime, over TCP on the loopback: SQL is run against them and in this process
 * alone, and both must give the same text. Runs inside fibers, so failures are errors (EXPECT), not assertions.
 *
 * Workers share nothing with the coordinator but files: plans and rows cross as bytes.
 */
#ifndef KITH_TESTS_CLUSTER_CLUSTER_FIXTURE_H
#define KITH_TESTS_CLUSTER_CLUSTER_FIXTURE_H

#include "exec/queries.h"
#include "runtime/fibers.h"

#include "cluster/cluster.h"
#include "cluster/query.h"
#include "cluster/worker.h"
#include "columnar/builder.h"

enum { MOST_WORKERS = 5 };

struct fixture {
    struct worker *workers[MOST_WORKERS];
    const char *addresses[MOST_WORKERS];
    size_t worker_count;
    struct settings settings;
    struct worker_options options[MOST_WORKERS]; /* of the workers; to be set before they start */
};

static inline kith_error *fixture_start(struct fixture *fixture, size_t workers)
{
    settings_init(&fixture->settings);
    for (; fixture->worker_count < workers; fixture->worker_count++) {
        struct worker **worker = &fixture->workers[fixture->worker_count];
        TRY(worker_new(runtime_current(), &fixture->options[fixture->worker_count], worker));
        TRY(worker_listen(*worker, "127.0.0.1:0", &fixture->addresses[fixture->worker_count]));
    }
    return NULL;
}

static inline size_t fixture_live_tasks(const struct fixture *fixture)
{
    size_t count = 0;
    for (size_t i = 0; i < fixture->worker_count; i++)
        count += fixture->workers[i] == NULL ? 0 : worker_live_tasks(fixture->workers[i]);
    return count;
}

static inline void fixture_stop(struct fixture *fixture)
{
    for (size_t i = 0; i < fixture->worker_count; i++)
        worker_free(TAKE(fixture->workers[i]));
    fixture->worker_count = 0;
}
DEFINE_VALUE_CLEANUP(fixture_stop, struct fixture)

static inline kith_error *fixture_set(struct fixture *fixture, const char *name, const char *value)
{
    enum setting setting;
    TRY(setting_find(name, &setting));
    return settings_set(&fixture->settings, setting, value);
}

/* What became of a query. */
struct outcome {
    struct strbuf rows;
    struct strbuf analyzed; /* the plan after the run, with each task's operators */
    struct query_progress progress;
    uint64_t bytes_scanned;
    uint64_t tasks[MOST_WORKERS][METRIC_COUNT];
};

static inline void outcome_reset(struct outcome *outcome)
{
    strbuf_reset(&outcome->rows);
    strbuf_reset(&outcome->analyzed);
}
DEFINE_VALUE_CLEANUP(outcome_reset, struct outcome)

static inline kith_error *fixture_drain(struct query *query, struct outcome *out)
{
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(query_next(query, &batch));
        if (batch == NULL)
            break;
        TRY(format_rows(batch, &out->rows));
    }
    query_get_progress(query, &out->progress);
    out->bytes_scanned = out->progress.bytes_scanned;
    for (size_t i = 0; i < MIN(query_task_count(query), (size_t)MOST_WORKERS); i++)
        if (!query_task_metrics(query, i, out->tasks[i]))
            return error_new(KITH_ERROR_INTERNAL, "the last metrics of task %zu did not come", i);
    return query_explain(query, &(struct explain_options){.analyze = true, .verbose = true}, &out->analyzed);
}

/* Plans and starts a query; what it is planned in must outlive it. */
static inline kith_error *fixture_open(const struct query_options *options, const char *sql, struct query **out)
{
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    struct sql_catalog catalog = {queries_find, queries_open, queries_names};
    struct statement statement;
    TRY(sql_parse(str_of(sql), &script));
    struct sql_syntax syntax = sql_script_statement(script, 0);
    TRY(sql_bind(&syntax, &catalog, &options->settings, options->arena, &statement));
    return query_new(options, statement.plan, out);
}

/* `drain` pulls the query's rows, fixture_drain or another. */
static inline kith_error *fixture_query(const struct settings *settings, struct cluster *cluster, const char *sql,
                                        kith_error *(*drain)(struct query *query, struct outcome *out),
                                        struct outcome *out)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(query_free) struct query *query = NULL;
    const struct query_options options = {
        .runtime = runtime_current(), .settings = *settings, .cluster = cluster, .arena = &arena};
    TRY(fixture_open(&options, sql, &query));
    return drain(query, out);
}

/* On the fixture's workers. */
static inline kith_error *fixture_run(struct fixture *fixture, const char *sql, struct outcome *out)
{
    _cleanup_(cluster_free) struct cluster *cluster = NULL;
    TRY(cluster_connect(runtime_current(), fixture->addresses, fixture->worker_count, &fixture->settings, &cluster));
    return fixture_query(&fixture->settings, cluster, sql, fixture_drain, out);
}

/* In this process alone. */
static inline kith_error *fixture_run_embedded(struct fixture *fixture, const char *sql, struct outcome *out)
{
    return fixture_query(&fixture->settings, NULL, sql, fixture_drain, out);
}

static inline kith_error *expect_same_rows(const char *sql, const struct outcome *expected, const struct outcome *given)
{
    if (strcmp(strbuf_text(&expected->rows), strbuf_text(&given->rows)) == 0)
        return NULL;
    return error_new(KITH_ERROR_INTERNAL, "%s gave\n%.600s\nexpected\n%.600s", sql, strbuf_text(&given->rows),
                     strbuf_text(&expected->rows));
}

static inline kith_error *expect_text(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        return NULL;
    return error_new(KITH_ERROR_INTERNAL, "expected \"%s\" in\n%s", part, text);
}

/* The call must fail with the code and a text that contains `part`. */
static inline kith_error *expect_failure(kith_error *take_error, enum kith_code code, const char *part)
{
    char text[1024] = "no error";
    enum kith_code given = take_error == NULL ? KITH_OK : kith_error_code(take_error);
    if (take_error != NULL)
        error_describe(take_error, text, sizeof text);
    error_free(take_error);
    if (given == code && strstr(text, part) != NULL)
        return NULL;
    return error_new(KITH_ERROR_INTERNAL, "got %s \"%s\", expected %s with \"%s\"",
                     given == KITH_OK ? "OK" : error_code_name(given), text, error_code_name(code), part);
}

/* A table of scores for tests of sharing: `groups` row groups of `rows` each in a file; the scores of group `best`
 * (none when -1) lie in [950000, 1000000], all others' in [0, 900000]. `keep` is 0 for one row in ten. */
static inline void write_scores(const char *path, uint64_t seed, size_t groups, size_t rows, int best)
{
    const struct field fields[] = {
        {.name = (char[]){"id"}, .type = {.id = TYPE_INT64}},
        {.name = (char[]){"score"}, .type = {.id = TYPE_INT64}},
        {.name = (char[]){"keep"}, .type = {.id = TYPE_INT32}},
        {.name = (char[]){"label"}, .type = {.id = TYPE_UTF8}, .nullable = true},
    };
    enum { COLUMN_COUNT = ARRAY_SIZE(fields) };
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    struct array_builder *builders[COLUMN_COUNT];
    struct array *columns[COLUMN_COUNT];
    char text[64];
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        assert_ok(array_builder_new(&fields[i].type, &builders[i]));
    for (size_t row = 0; row < groups * rows; row++) {
        bool is_best = (int)(row / rows) == best;
        uint64_t random = test_random(&seed);
        int64_t score = is_best ? 950000 + (int64_t)(random % 50001) : (int64_t)(random % 900001);
        snprintf(text, sizeof text, "row %zu of %s", row, path);
        assert_ok(array_builder_append_int(builders[0], (int64_t)(seed % 1000003) * 10000000 + (int64_t)row));
        assert_ok(array_builder_append_int(builders[1], score));
        assert_ok(array_builder_append_int(builders[2], (int64_t)(test_random(&seed) % 10)));
        assert_ok(row % 13 == 5 ? array_builder_append_null(builders[3])
                                : array_builder_append_string(builders[3], str_of(text)));
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        assert_ok(array_builder_finish(builders[i], &columns[i]));
        array_builder_free(builders[i]);
    }
    assert_ok(schema_new(fields, COLUMN_COUNT, &schema));
    assert_ok(batch_new(schema, columns, groups * rows, &batch));
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        array_unref(columns[i]);
    write_parquet(path, batch, &(struct parquet_write_options){.codec = PARQUET_ZSTD, .row_group_rows = rows});
}

/* Overwrites all but the footer: whoever reads a page fails. */
static inline void spoil_pages(const char *path)
{
    static const char nonsense[4096] = "nonsense";
    uint32_t footer_bytes;
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, -8, SEEK_END), 0);
    assert_int_equal(fread(&footer_bytes, sizeof footer_bytes, 1, file), 1);
    long end = ftell(file) - (long)sizeof footer_bytes - (long)footer_bytes;
    for (long at = 4; at < end; at += (long)sizeof nonsense) {
        size_t length = MIN(sizeof nonsense, (size_t)(end - at));
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        assert_int_equal(fwrite(nonsense, 1, length, file), length);
    }
    assert_int_equal(fclose(file), 0);
}

#endif
