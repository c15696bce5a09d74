#include "cluster/query.h"

#include "base/alloc.h"
#include "cluster/coordinator.h"
#include "cluster/explain.h"
#include "plan/defer_columns.h"
#include "plan/optimizer.h"

struct query {
    struct plan_arena *arena;
    struct strbuf logical_text; /* as bound, before the optimizer */
    struct cluster *cluster;    /* NULL = embedded */
    struct physical_plan *plan; /* of this process: all of it, or the head */
    struct stage_plan *stages;  /* NULL: nothing is distributed */
    struct coordinator *coordinator;
    struct memory_pool *pool;
    struct cancel_token *cancel;
    struct task_context context;
    struct operator_tree *tree;
    struct stream *stream; /* NULL before the first pull and after the end */
    bool complete;         /* the last row was given */
    bool finished;
    int64_t started_ns, ended_ns;
};

/* Cuts the plan for the cluster's workers, if there are any and it is worth it. */
static kith_error *distribute(struct query *query, const struct query_options *options)
{
    size_t count = options->cluster == NULL ? 0 : cluster_worker_count(options->cluster), *processors;
    if (count == 0)
        return NULL;
    TRY(ARENA_NEW_ARRAY(&options->arena->arena, &processors, count));
    for (size_t i = 0; i < count; i++)
        processors[i] = cluster_worker_processors(options->cluster, i);
    TRY(stages_plan(options->arena, &options->settings, query->plan, processors, count, &query->stages));
    if (query->stages == NULL)
        return NULL;
    query->plan = query->stages->head;
    /* As each task does to its own; here for whoever asks how the stage runs. */
    TRY(plan_defer_columns(options->arena, &options->settings, &query->stages->stage));
    query->cluster = options->cluster;
    const struct coordinator_options coordinator = {
        .runtime = options->runtime,
        .cluster = options->cluster,
        .settings = &query->context.settings,
        .stages = query->stages,
        .pool = query->pool,
        .cancel = query->cancel,
    };
    TRY(coordinator_new(&coordinator, &query->coordinator));
    query->context.boundary = coordinator_boundary(query->coordinator);
    return NULL;
}

static int64_t now_ns(const struct query *query)
{
    return clock_monotonic_ns(runtime_clock(query->context.runtime));
}

kith_error *query_new(const struct query_options *options, struct logical_plan *logical, struct query **out)
{
    _cleanup_(query_free) struct query *query = NULL;
    TRY(NEW(&query));
    query->arena = options->arena;
    TRY(optimizer_run(options->arena, &options->settings, &logical));
    TRY(logical_plan_format(logical, &query->logical_text));
    TRY(physical_plan_create(options->arena, &options->settings, runtime_threads(options->runtime), logical,
                             &query->plan));
    TRY(memory_pool_new((size_t)settings_get(&options->settings, SETTING_MEMORY_LIMIT), &query->pool));
    TRY(cancel_token_new(fiber_cancel_token(), &query->cancel));
    TRY(cancel_token_share_time(query->cancel, options->runtime));
    query->context = (struct task_context){
        .runtime = options->runtime, .pool = query->pool, .settings = options->settings, .cancel = query->cancel};
    TRY(distribute(query, options));
    TRY(plan_defer_columns(options->arena, &options->settings, &query->plan));
    TRY(operator_tree_new(query->plan, &query->context, &query->tree));
    *out = TAKE(query);
    return NULL;
}

struct schema *query_schema(const struct query *query)
{
    return query->plan->schema;
}

static kith_error *pull(struct query *query, struct batch **out)
{
    TRY(cancel_token_check(query->cancel));
    if (query->stream == NULL) {
        query->started_ns = now_ns(query);
        if (query->coordinator != NULL)
            TRY(coordinator_start(query->coordinator));
        TRY(operator_execute(query->tree->root, 0, &query->stream));
    }
    return stream_next(query->stream, out);
}

kith_error *query_next(struct query *query, struct batch **out)
{
    *out = NULL;
    if (query->finished)
        return NULL;
    /* What the query waits for ends with it, and the caller's fiber works in the query's share of the threads. */
    struct cancel_token *callers = fiber_exchange_token(cancel_token_ref(query->cancel));
    kith_error *error = pull(query, out);
    cancel_token_unref(fiber_exchange_token(callers));
    if (error == NULL && *out != NULL)
        return NULL;
    query->complete = error == NULL;
    /* What was cancelled fails everywhere at once; the reason is what happened first. */
    if (error != NULL && cancel_token_is_cancelled(query->cancel)) {
        error_free(error);
        error = cancel_token_check(query->cancel);
    }
    kith_error *finish_error = query_finish(query);
    if (error == NULL)
        return finish_error;
    error_free(finish_error);
    return error;
}

kith_error *query_finish(struct query *query)
{
    if (query->finished)
        return NULL;
    query->finished = true;
    query->ended_ns = query->started_ns == 0 ? 0 : now_ns(query);
    stream_free(TAKE(query->stream));
    if (query->coordinator != NULL)
        coordinator_finish(query->coordinator, query->complete);
    return NULL;
}

void query_cancel(struct query *query)
{
    cancel_token_cancel(query->cancel, NULL);
}

void query_free(struct query *query)
{
    if (query == NULL)
        return;
    error_free(query_finish(query));
    operator_tree_free(query->tree, &query->context);
    coordinator_free(query->coordinator);
    cancel_token_unref(query->cancel);
    memory_pool_free(query->pool);
    strbuf_reset(&query->logical_text);
    free(query);
}

static struct explained_run explained_run_of(const struct query *query)
{
    return (struct explained_run){
        .plan = query->plan,
        .tree = query->tree,
        .context = &query->context,
        .stages = query->stages,
        .coordinator = query->coordinator,
        .cluster = query->cluster,
        .elapsed_ns = query->ended_ns - query->started_ns,
    };
}

kith_error *query_explain(const struct query *query, const struct explain_options *options, struct strbuf *out)
{
    const struct explained_run run = explained_run_of(query);
    const char *logical = strbuf_text(&query->logical_text);
    if (options->format == EXPLAIN_JSON)
        return explain_json(&run, options->analyze, options->verbose ? logical : NULL, out);
    if (options->verbose)
        TRY(strbuf_printf(out, "Logical plan\n%s\nPhysical plan\n", logical));
    return options->analyze ? explain_run(&run, options->verbose, out) : explain_plan(&run, out);
}

size_t query_task_count(const struct query *query)
{
    return query->stages == NULL ? 1 : query->stages->task_count;
}

static void sum_own_task(const struct query *query, uint64_t values[METRIC_COUNT])
{
    memset(values, 0, METRIC_COUNT * sizeof *values);
    for (size_t i = 0; i < query->tree->node_count; i++) {
        uint64_t node[METRIC_COUNT];
        metric_values_get(&query->tree->metrics[i], node);
        metric_values_add(values, node);
    }
}

static void sum_task(const struct query *query, size_t task, uint64_t values[METRIC_COUNT])
{
    if (query->stages == NULL)
        sum_own_task(query, values);
    else
        coordinator_sum_task(query->coordinator, task, values);
}

bool query_task_metrics(struct query *query, size_t task, uint64_t values[METRIC_COUNT])
{
    sum_task(query, task, values);
    return query->stages == NULL || coordinator_task_is_complete(query->coordinator, task);
}

bool query_sharing(const struct query *query, struct filter_registry_counters *out)
{
    return query->coordinator != NULL && coordinator_sharing(query->coordinator, out);
}

static void add_progress(struct query_progress *progress, const uint64_t *values)
{
    progress->row_groups_total += values[METRIC_ROW_GROUPS_TOTAL];
    progress->rows_scanned += values[METRIC_ROWS_SCANNED];
    progress->bytes_scanned += values[METRIC_BYTES_SCANNED];
    progress->row_groups_done += values[METRIC_ROW_GROUPS_PRUNED_STATISTICS] + values[METRIC_ROW_GROUPS_PRUNED_LOCAL] +
                                 values[METRIC_ROW_GROUPS_PRUNED_REMOTE] + values[METRIC_ROW_GROUPS_READ];
}

void query_get_progress(struct query *query, struct query_progress *out)
{
    *out = (struct query_progress){.tasks = query_task_count(query)};
    for (size_t i = 0; i < out->tasks; i++) {
        uint64_t values[METRIC_COUNT];
        sum_task(query, i, values);
        add_progress(out, values);
    }
}
