#include "cluster/query.h"

#include "base/alloc.h"
#include "exec/operator.h"
#include "plan/optimizer.h"

struct query {
    struct plan_arena *arena;
    struct strbuf logical_text; /* as bound, before the optimizer */
    struct physical_plan *plan;
    struct memory_pool *pool;
    struct cancel_token *cancel;
    struct task_context context;
    struct operator_tree *tree;
    struct stream *stream; /* NULL before the first pull and after the end */
    bool finished;
    int64_t started_ns, ended_ns;
};

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
    query->context = (struct task_context){
        .runtime = options->runtime, .pool = query->pool, .settings = options->settings, .cancel = query->cancel};
    TRY(operator_tree_new(query->plan, &query->context, &query->tree));
    *out = TAKE(query);
    return NULL;
}

static int64_t now_ns(const struct query *query)
{
    return clock_monotonic_ns(runtime_clock(query->context.runtime));
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
        TRY(operator_execute(query->tree->root, 0, &query->stream));
    }
    return stream_next(query->stream, out);
}

kith_error *query_next(struct query *query, struct batch **out)
{
    *out = NULL;
    if (query->finished)
        return NULL;
    kith_error *error = pull(query, out);
    if (error == NULL && *out != NULL)
        return NULL;
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
    cancel_token_unref(query->cancel);
    memory_pool_free(query->pool);
    strbuf_reset(&query->logical_text);
    free(query);
}

static kith_error *format_analyzed(const struct physical_plan *node, const struct metric_set **metrics, size_t depth,
                                   struct strbuf *out)
{
    TRY(strbuf_append_fill(out, ' ', 2 * depth));
    TRY(physical_plan_format_node(node, out));
    TRY(strbuf_append_text(out, ", metrics=["));
    TRY(metrics_format((*metrics)++, out));
    TRY(strbuf_append_text(out, "]\n"));
    for (size_t i = 0; i < node->input_count; i++)
        TRY(format_analyzed(node->inputs[i], metrics, depth + 1, out));
    return NULL;
}

kith_error *query_explain(const struct query *query, bool analyzed, bool verbose, struct strbuf *out)
{
    const struct metric_set *metrics = query->tree->metrics;
    if (verbose)
        TRY(strbuf_printf(out, "Logical plan\n%s\nPhysical plan\n", strbuf_text(&query->logical_text)));
    if (!analyzed)
        return physical_plan_format(query->plan, out);
    TRY(format_analyzed(query->plan, &metrics, 0, out));
    return strbuf_printf(out, "Total time: %.3f ms\n", (double)(query->ended_ns - query->started_ns) / 1e6);
}

void query_get_progress(struct query *query, struct query_progress *out)
{
    *out = (struct query_progress){.tasks = 1};
    for (size_t i = 0; i < query->tree->node_count; i++) {
        const struct metric_set *metrics = &query->tree->metrics[i];
        out->row_groups_total += metric_get(metrics, METRIC_ROW_GROUPS_TOTAL);
        out->rows_scanned += metric_get(metrics, METRIC_ROWS_SCANNED);
        out->bytes_scanned += metric_get(metrics, METRIC_BYTES_SCANNED);
        out->row_groups_done += metric_get(metrics, METRIC_ROW_GROUPS_PRUNED_STATISTICS) +
                                metric_get(metrics, METRIC_ROW_GROUPS_PRUNED_LOCAL) +
                                metric_get(metrics, METRIC_ROW_GROUPS_PRUNED_REMOTE) +
                                metric_get(metrics, METRIC_ROW_GROUPS_READ);
    }
}
