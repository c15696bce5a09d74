#include "frontends/session.h"

#include "cluster/statement_timer.h"
#include "frontends/catalog.h"
#include "frontends/session_show.h"
#include "parquet/writer.h"
#include "runtime/fiber.h"
#include "runtime/mutex.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

struct session {
    struct runtime *runtime;
    struct cluster *cluster; /* NULL = embedded */
    struct settings settings;
    struct catalog catalog;
    pthread_mutex_t mutex;          /* guards what follows, which other threads cancel and watch */
    struct cancel_token *statement; /* all that a statement does, parsing it among it; NULL: none runs */
    struct query *running;
};

kith_error *session_new(struct runtime *runtime, struct session **out)
{
    TRY(NEW(out));
    (*out)->runtime = runtime;
    settings_init(&(*out)->settings);
    catalog_init(&(*out)->catalog);
    pthread_mutex_init(&(*out)->mutex, NULL);
    return NULL;
}

void session_free(struct session *session)
{
    if (session == NULL)
        return;
    catalog_reset(&session->catalog);
    pthread_mutex_destroy(&session->mutex);
    free(session);
}

void session_use_cluster(struct session *session, struct cluster *cluster)
{
    session->cluster = cluster;
}

const struct settings *session_settings(const struct session *session)
{
    return &session->settings;
}

kith_error *session_set(struct session *session, const char *name, const char *value)
{
    enum setting setting;
    TRY(setting_find(name, &setting));
    return settings_set(&session->settings, setting, value);
}

kith_error *session_add_table(struct session *session, const char *name, const char *pattern, bool replace)
{
    struct table *table = NULL;
    TRY(table_open(pattern, &table));
    return catalog_add(&session->catalog, name, table, replace);
}

static void set_running(struct session *session, struct query *query)
{
    pthread_mutex_lock(&session->mutex);
    session->running = query;
    pthread_mutex_unlock(&session->mutex);
}

void session_cancel(struct session *session)
{
    pthread_mutex_lock(&session->mutex);
    if (session->statement != NULL)
        cancel_token_cancel(session->statement, NULL);
    pthread_mutex_unlock(&session->mutex);
}

bool session_progress(struct session *session, struct query_progress *out)
{
    pthread_mutex_lock(&session->mutex);
    bool runs = session->running != NULL;
    if (runs)
        query_get_progress(session->running, out);
    pthread_mutex_unlock(&session->mutex);
    return runs;
}

/* Does what `consume` says with every batch of the query. */
static kith_error *drain(struct query *query, kith_error *(*consume)(void *, struct batch *), void *context)
{
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(query_next(query, &batch));
        if (batch == NULL)
            return NULL;
        TRY(consume(context, batch));
    }
}

struct query_sink {
    struct session_sink *sink;
    uint64_t rows;
};

static kith_error *send_to_sink(void *context, struct batch *batch)
{
    struct query_sink *self = context;
    self->rows += batch_row_count(batch);
    return self->sink->batch(self->sink, batch);
}

static kith_error *run_query(struct query *query, struct session_sink *sink)
{
    struct query_sink to = {.sink = sink};
    TRY(sink->begin(sink, query_schema(query)));
    TRY(drain(query, send_to_sink, &to));
    if (sink->finished != NULL)
        TRY(sink->finished(sink, query));
    return sink->end(sink, to.rows);
}

static kith_error *discard(void *context, struct batch *batch)
{
    return NULL;
}

static kith_error *run_explain(struct query *query, const struct statement *statement, struct session_sink *sink)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    if (statement->explain.analyze)
        TRY(drain(query, discard, NULL));
    TRY(query_explain(query, &statement->explain, &text));
    return sink->text(sink, strbuf_text(&text));
}

struct copy_sink {
    struct parquet_writer *writer;
    uint64_t rows;
};

static kith_error *write_batch(void *context, struct batch *batch)
{
    struct copy_sink *copy = context;
    copy->rows += batch_row_count(batch);
    return parquet_writer_write(copy->writer, batch);
}

static struct parquet_write_options write_options(const struct settings *settings)
{
    static const enum parquet_codec codecs[] = {PARQUET_ZSTD, PARQUET_SNAPPY, PARQUET_UNCOMPRESSED};
    return (struct parquet_write_options){
        .codec = codecs[settings_get(settings, SETTING_PARQUET_COMPRESSION)],
        .row_group_rows = (size_t)settings_get(settings, SETTING_PARQUET_ROW_GROUP_ROWS),
        .page_rows = (size_t)settings_get(settings, SETTING_PARQUET_PAGE_ROWS),
    };
}

static kith_error *run_copy(struct query *query, const struct statement *statement, struct session_sink *sink)
{
    _cleanup_(storage_writer_free) struct storage_writer *storage = NULL;
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    const struct parquet_write_options options = write_options(&statement->copy.settings);
    TRY(storage_create(statement->copy.path, &storage));
    TRY(parquet_writer_new(storage, query_schema(query), &options, &writer));
    struct copy_sink copy = {.writer = writer};
    TRY(drain(query, write_batch, &copy));
    TRY(parquet_writer_finish(writer));
    TRY(storage_writer_finish(storage));
    char tag[48];
    snprintf(tag, sizeof tag, "COPY %" PRIu64, copy.rows);
    return sink->done(sink, tag);
}

static kith_error *run_by_kind(struct query *query, const struct statement *statement, struct session_sink *sink)
{
    if (statement->kind == STATEMENT_EXPLAIN)
        return run_explain(query, statement, sink);
    if (statement->kind == STATEMENT_COPY_TO)
        return run_copy(query, statement, sink);
    return run_query(query, sink);
}

static kith_error *run_planned(struct session *session, const struct statement *statement, struct plan_arena *arena,
                               struct session_sink *sink)
{
    _cleanup_(query_free) struct query *query = NULL;
    const struct query_options options = {
        .runtime = session->runtime, .settings = session->settings, .cluster = session->cluster, .arena = arena};
    TRY(query_new(&options, statement->plan, &query));
    set_running(session, query);
    kith_error *error = run_by_kind(query, statement, sink);
    set_running(session, NULL);
    return error;
}

static kith_error *create_table(struct session *session, const struct statement *statement, struct session_sink *sink)
{
    bool exists = catalog_has(&session->catalog, statement->table.name);
    if (!(exists && statement->table.if_exists))
        TRY(session_add_table(session, statement->table.name, statement->table.location, statement->table.or_replace));
    return sink->done(sink, "CREATE EXTERNAL TABLE");
}

static kith_error *drop_table(struct session *session, const struct statement *statement, struct session_sink *sink)
{
    if (catalog_has(&session->catalog, statement->table.name) || !statement->table.if_exists)
        TRY(catalog_drop(&session->catalog, statement->table.name));
    return sink->done(sink, "DROP TABLE");
}

static kith_error *set_setting(struct session *session, const struct statement *statement, struct session_sink *sink)
{
    if (statement->value == NULL)
        session->settings.values[statement->setting] = setting_infos[statement->setting].default_value;
    else
        TRY(settings_set(&session->settings, statement->setting, statement->value));
    return sink->done(sink, "SET");
}

static kith_error *run_statement(struct session *session, const struct statement *statement, struct plan_arena *arena,
                                 struct session_sink *sink)
{
    switch (statement->kind) {
    case STATEMENT_QUERY:
    case STATEMENT_EXPLAIN:
    case STATEMENT_COPY_TO:
        return run_planned(session, statement, arena, sink);
    case STATEMENT_CREATE_TABLE:
        return create_table(session, statement, sink);
    case STATEMENT_DROP_TABLE:
        return drop_table(session, statement, sink);
    case STATEMENT_SET:
        return set_setting(session, statement, sink);
    case STATEMENT_SHOW:
        return session_show_setting(&session->settings, statement->setting, sink);
    case STATEMENT_SHOW_ALL:
        return session_show_settings(&session->settings, sink);
    case STATEMENT_SHOW_TABLES:
        return session_show_tables(&session->catalog, sink);
    }
    UNREACHABLE();
}

static kith_error *bind_and_run(struct session *session, const struct sql_syntax *syntax, struct session_sink *sink)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(statement_timer_stop) struct statement_timer *timer = NULL;
    struct statement statement;
    TRY(statement_timer_start(session->runtime, &session->settings, session->statement, &timer));
    TRY(sql_bind(syntax, &session->catalog.interface, &session->settings, &arena, &statement));
    return run_statement(session, &statement, &arena, sink);
}

static kith_error *run_script(struct session *session, struct str sql, struct session_sink *sink)
{
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    TRY(sql_parse(sql, &script));
    for (size_t i = 0; i < sql_script_count(script); i++) {
        struct sql_syntax syntax = sql_script_statement(script, i);
        TRY(bind_and_run(session, &syntax, sink));
    }
    return NULL;
}

static void set_statement(struct session *session, struct cancel_token *token)
{
    HOLD_MUTEX(&session->mutex);
    session->statement = token;
}

kith_error *session_run(struct session *session, struct str sql, struct session_sink *sink)
{
    _cleanup_(cancel_token_unref) struct cancel_token *token = NULL;
    TRY(cancel_token_new(fiber_cancel_token(), &token));
    set_statement(session, token);
    struct cancel_token *callers = fiber_exchange_token(cancel_token_ref(token));
    kith_error *error = run_script(session, sql, sink);
    cancel_token_unref(fiber_exchange_token(callers));
    set_statement(session, NULL);
    /* What was cancelled fails everywhere at once; the reason is what happened first. */
    if (error == NULL || !cancel_token_is_cancelled(token))
        return error;
    error_free(error);
    return cancel_token_check(token);
}
