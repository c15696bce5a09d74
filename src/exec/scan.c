/*
 * The Parquet scan (DataFusion's DataSourceExec). Partitions of a task share a queue of row groups, so that a slow one
 * holds up nobody; each reads one row group at a time.
 */
#include "exec/scan.h"
#include "runtime/sync.h"

enum preparation { NOT_PREPARED, PREPARING, PREPARED, FAILED };

struct scan_operator {
    struct exec_operator node;
    struct scan_plan plan;
    struct table *table;
    struct dynamic_filter **filters; /* borrowed from the context */
    struct morsel_queue queue;
    _Atomic int64_t limit_left; /* rows still wanted by a limit above; relaxed: being late by a batch is harmless */

    pthread_mutex_t mutex; /* guards what follows */
    struct wait_list waiters;
    enum preparation preparation;
    kith_error *failure;
};

struct scan_stream {
    struct stream stream;
    struct scan_operator *scan;
    struct row_group_scan *row_group;
    bool in_row_group;
    bool leads; /* others may be waiting for what this row group gives */
};

static kith_error *prepare(struct scan_operator *scan)
{
    const struct parquet_scan *plan = &scan->node.plan->scan;
    struct task_context *context = scan->node.context;
    if (plan->table != NULL)
        scan->table = table_ref(plan->table);
    else
        TRY(table_open_files(plan->files, plan->file_count, plan->table_schema, context->files, &scan->table));
    atomic_init(&scan->limit_left, plan->limit < 0 ? INT64_MAX : plan->limit);
    TRY(NEW_ARRAY(&scan->filters, plan->dynamic_filter_count));
    for (size_t i = 0; i < plan->dynamic_filter_count; i++)
        scan->filters[i] = task_context_filter(context, plan->dynamic_filters[i].id);
    TRY(scan_plan_init(&scan->plan, plan, scan_column_count(scan->node.plan)));
    return morsel_queue_init(&scan->queue, plan, scan->table, scan->filters, &context->settings, scan->node.metrics);
}

/* The first partition that comes prepares for all; the others wait for it. */
static kith_error *prepare_once(struct scan_operator *scan)
{
    kith_error *error = NULL;
    pthread_mutex_lock(&scan->mutex);
    while (scan->preparation == PREPARING && error == NULL)
        error = wait_list_wait(&scan->waiters, &scan->mutex, WAIT_FOREVER);
    bool first = error == NULL && scan->preparation == NOT_PREPARED;
    if (first)
        scan->preparation = PREPARING;
    else if (error == NULL && scan->preparation == FAILED)
        error = error_copy(scan->failure);
    pthread_mutex_unlock(&scan->mutex);
    if (!first)
        return error;

    error = prepare(scan);
    pthread_mutex_lock(&scan->mutex);
    scan->preparation = error == NULL ? PREPARED : FAILED;
    scan->failure = error_copy(error);
    wait_list_wake_all(&scan->waiters);
    pthread_mutex_unlock(&scan->mutex);
    return error;
}

kith_error *parquet_scan_table(struct exec_operator *node, struct table **out)
{
    struct scan_operator *scan = CONTAINER_OF(node, struct scan_operator, node);
    TRY(prepare_once(scan));
    *out = scan->table;
    return NULL;
}

static bool wants_more(struct scan_operator *scan)
{
    return atomic_load_explicit(&scan->limit_left, memory_order_relaxed) > 0;
}

static void end_lead(struct scan_stream *stream)
{
    if (stream->leads)
        morsel_queue_end_lead(&stream->scan->queue);
    stream->leads = false;
}

static kith_error *next_batch(struct scan_stream *stream, struct batch **out)
{
    struct scan_operator *scan = stream->scan;
    while (wants_more(scan)) {
        struct morsel morsel;
        bool found;
        if (!stream->in_row_group) {
            TRY(morsel_queue_take(&scan->queue, operator_now(&scan->node), &morsel, &found));
            if (!found)
                return NULL;
            stream->leads = morsel.leads;
            TRY(row_group_scan_open(stream->row_group, &morsel));
            stream->in_row_group = true;
        }
        TRY(row_group_scan_next(stream->row_group, out));
        if (*out != NULL)
            return NULL;
        stream->in_row_group = false;
        end_lead(stream);
    }
    return NULL;
}

static kith_error *scan_next(struct stream *stream, struct batch **out)
{
    struct scan_stream *self = CONTAINER_OF(stream, struct scan_stream, stream);
    struct scan_operator *scan = self->scan;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    if (self->row_group == NULL) {
        TRY(prepare_once(scan));
        TRY(row_group_scan_new(&scan->plan, scan->table, scan->filters, &scan->node, &self->row_group));
    }
    int64_t start = operator_now(&scan->node);
    TRY(next_batch(self, &batch));
    operator_charge_time(&scan->node, start);
    if (batch == NULL)
        return NULL;
    if (scan->node.plan->scan.limit >= 0)
        atomic_fetch_sub_explicit(&scan->limit_left, (int64_t)batch_row_count(batch), memory_order_relaxed);
    operator_count(&scan->node, batch);
    *out = TAKE(batch);
    return NULL;
}

static void scan_free(struct stream *stream)
{
    struct scan_stream *self = CONTAINER_OF(stream, struct scan_stream, stream);
    end_lead(self);
    row_group_scan_free(self->row_group);
    free(self);
}

static const struct stream_ops scan_stream_ops = {.next = scan_next, .free = scan_free, .hands_out = true};

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    struct scan_operator *scan = CONTAINER_OF(node, struct scan_operator, node);
    struct scan_stream *stream;
    TRY(NEW(&stream));
    stream->stream = operator_stream(node, &scan_stream_ops);
    stream->scan = scan;
    *out = &stream->stream;
    return NULL;
}

static void free_scan(struct exec_operator *node)
{
    struct scan_operator *scan = CONTAINER_OF(node, struct scan_operator, node);
    morsel_queue_reset(&scan->queue);
    scan_plan_reset(&scan->plan);
    free(scan->filters);
    table_unref(scan->table);
    error_free(scan->failure);
    pthread_mutex_destroy(&scan->mutex);
    free(scan);
}

static const struct operator_ops ops = {.execute = execute, .free = free_scan};

kith_error *parquet_scan_operator_new(struct exec_operator **out)
{
    struct scan_operator *scan;
    TRY(NEW(&scan));
    scan->node.ops = &ops;
    pthread_mutex_init(&scan->mutex, NULL);
    *out = &scan->node;
    return NULL;
}
