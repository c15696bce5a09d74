/*
 * SQL run by the operators alone, without a session or a cluster: for tests whose working directory holds tables, where
 * FROM name means the files of the folder `name` or the file `name`.parquet.
 */
#ifndef KITH_TESTS_EXEC_QUERIES_H
#define KITH_TESTS_EXEC_QUERIES_H

#include "temporary.h"
#include "testing.h"

#include "columnar/scalar.h"
#include "exec/operator.h"
#include "parquet/writer.h"
#include "plan/defer_columns.h"
#include "plan/optimizer.h"
#include "runtime/runtime.h"
#include "sql/statement.h"

static inline void write_parquet(const char *path, struct batch *batch, const struct parquet_write_options *options)
{
    _cleanup_(storage_writer_free) struct storage_writer *storage = NULL;
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    assert_int_equal(temporary_file(path, "", 0), 0); /* makes the folders */
    assert_ok(storage_create(path, &storage));
    assert_ok(parquet_writer_new(storage, batch->schema, options, &writer));
    assert_ok(parquet_writer_write(writer, batch));
    assert_ok(parquet_writer_finish(writer));
    assert_ok(storage_writer_finish(storage));
}

static inline kith_error *queries_open(struct sql_catalog *catalog, const char *pattern, struct table **out)
{
    return table_open(pattern, out);
}

static inline kith_error *queries_find(struct sql_catalog *catalog, const char *name, struct table **out)
{
    char path[256];
    snprintf(path, sizeof path, "%s", name);
    if (access(path, F_OK) != 0)
        snprintf(path, sizeof path, "%s.parquet", name);
    return table_open(path, out);
}

static inline size_t queries_names(struct sql_catalog *catalog, const char *const **out)
{
    *out = NULL;
    return 0;
}

/* One query and what became of it. */
struct query_run {
    /* Given: */
    const char *sql;
    struct settings settings;
    size_t stop_after;                      /* batches, then the stream is freed; 0 = never */
    bool cancel_first;                      /* the query is cancelled before its first pull */
    void (*on_plan)(struct query_run *run); /* before operators are made of it */
    void (*on_start)(struct query_run *run, struct task_context *context);
    void (*on_batch)(struct query_run *run);
    /* Found: */
    struct strbuf rows; /* one a line, columns divided by | */
    size_t row_count, batch_count;
    struct strbuf plan;        /* physical, as EXPLAIN prints it */
    struct metric_set metrics; /* sums over all nodes */
    size_t peak_memory;
    /* While it runs: */
    struct cancel_token *cancel;
    struct memory_pool *pool;
    struct plan_arena arena;
    struct physical_plan *physical;
};

static inline void query_run_reset(struct query_run *run)
{
    strbuf_reset(&run->rows);
    strbuf_reset(&run->plan);
}
DEFINE_VALUE_CLEANUP(query_run_reset, struct query_run)

static inline struct query_run query_run_of(const char *sql)
{
    struct query_run run = {.sql = sql};
    settings_init(&run.settings);
    return run;
}

static inline void query_set(struct query_run *run, enum setting setting, const char *value)
{
    assert_ok(settings_set(&run->settings, setting, value));
}

/* The rows of a batch, appended. */
static inline kith_error *format_rows(struct batch *batch, struct strbuf *out)
{
    _cleanup_(batch_unref) struct batch *compact = NULL;
    TRY(batch_compact(batch, &compact));
    for (size_t row = 0; row < compact->rows; row++) {
        for (size_t i = 0; i < compact->schema->field_count; i++) {
            struct scalar value = scalar_from_array(compact->columns[i], row);
            TRY(strbuf_append_text(out, i == 0 ? "" : "|"));
            TRY(scalar_format(&value, out));
        }
        TRY(strbuf_append_text(out, "\n"));
    }
    return NULL;
}

static inline kith_error *query_pull(struct query_run *run, struct operator_tree *tree)
{
    _cleanup_(stream_free) struct stream *stream = NULL;
    TRY(operator_execute(tree->root, 0, &stream));
    while (run->stop_after == 0 || run->batch_count < run->stop_after) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(stream_next(stream, &batch));
        if (batch == NULL) {
            /* The end is the end. */
            TRY(stream_next(stream, &batch));
            assert_null(batch);
            return NULL;
        }
        assert_true(batch_row_count(batch) > 0);
        assert_int_equal(batch->schema->field_count, run->physical->schema->field_count);
        run->row_count += batch_row_count(batch);
        run->batch_count++;
        TRY(format_rows(batch, &run->rows));
        if (run->on_batch != NULL)
            run->on_batch(run);
    }
    return NULL;
}

static inline kith_error *query_execute(void *argument)
{
    struct query_run *run = argument;
    struct operator_tree *tree = NULL;
    struct task_context context = {
        .runtime = runtime_current(), .pool = run->pool, .settings = run->settings, .cancel = run->cancel};
    TRY(operator_tree_new(run->physical, &context, &tree));
    if (run->on_start != NULL)
        run->on_start(run, &context);
    kith_error *error = query_pull(run, tree);
    for (size_t i = 0; i < tree->node_count; i++)
        for (int metric = 0; metric < METRIC_COUNT; metric++)
            metric_add(&run->metrics, (enum metric)metric, metric_get(&tree->metrics[i], (enum metric)metric));
    operator_tree_free(tree, &context);
    assert_int_equal(memory_pool_used(run->pool), 0);
    run->peak_memory = memory_pool_peak(run->pool);
    return error;
}

static inline kith_error *query_plan(struct query_run *run, struct plan_arena *arena, bool optimize,
                                     struct logical_plan **out)
{
    struct sql_catalog catalog = {queries_find, queries_open, queries_names};
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    struct statement statement;
    TRY(sql_parse(str_of(run->sql), &script));
    struct sql_syntax syntax = sql_script_statement(script, 0);
    TRY(sql_bind(&syntax, &catalog, &run->settings, arena, &statement));
    if (optimize)
        TRY(optimizer_run(arena, &run->settings, &statement.plan));
    *out = statement.plan;
    return NULL;
}

static inline kith_error *query_main(void *argument)
{
    struct query_run *run = argument;
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(memory_pool_free) struct memory_pool *pool = NULL;
    _cleanup_(cancel_token_unref) struct cancel_token *cancel = NULL;
    struct logical_plan *logical;
    struct fiber *fiber;
    TRY(query_plan(run, &arena, true, &logical));
    TRY(physical_plan_create(&arena, &run->settings, 2, logical, &run->physical));
    TRY(plan_defer_columns(&arena, &run->settings, &run->physical));
    if (run->on_plan != NULL)
        run->on_plan(run);
    TRY(physical_plan_format(run->physical, &run->plan));
    TRY(memory_pool_new((size_t)settings_get(&run->settings, SETTING_MEMORY_LIMIT), &pool));
    TRY(cancel_token_new(NULL, &cancel));
    run->pool = pool;
    run->cancel = cancel;
    if (run->cancel_first)
        cancel_token_cancel(cancel, NULL);
    TRY(fiber_spawn(runtime_current(), &(struct fiber_options){.cancel = cancel}, query_execute, run, &fiber));
    return fiber_join(fiber);
}

/* Runs the query on two threads; nothing it started may be left. */
static inline kith_error *_must_check_ query_run(struct query_run *run)
{
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* cmocka cannot jump out of a fiber's stack */
    static struct runtime *runtime;      /* one for all queries of the program: threads cost more than most queries */
    if (runtime == NULL)
        assert_ok(runtime_new(&(struct runtime_options){.threads = 2}, &runtime));
    kith_error *error = runtime_run(runtime, query_main, run);
    unsetenv("CMOCKA_TEST_ABORT");
    assert_int_equal(runtime_live_fibers(runtime), 0);
    return error;
}

static inline void check_rows(const char *sql, const char *expected)
{
    _cleanup_(query_run_reset) struct query_run run = query_run_of(sql);
    assert_ok(query_run(&run));
    assert_string_equal(strbuf_text(&run.rows), expected);
}

#endif
