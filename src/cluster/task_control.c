#include "base/alloc.h"
#include "base/limits.h"
#include "cluster/bound_message.h"
#include "cluster/task.h"

/* How often a task that runs says how far it is: soon after its start, when others may wait to hear it, and ever more
 * rarely. */
static const int64_t first_progress_interval_ns = 5 * NANOSECONDS_PER_MILLISECOND;
static const int64_t progress_interval_ns = 200 * NANOSECONDS_PER_MILLISECOND;

/* The sending half of a control stream. */
struct reporter {
    struct task *task;
    struct grpc_call *call;
    struct fiber *fiber;
    uint64_t (*nodes)[METRIC_COUNT]; /* as last read, and as last sent */
    uint64_t (*sent_nodes)[METRIC_COUNT];
    int64_t progress_interval_ns;
    int64_t next_progress_ns;
    bool told_end;
};

static kith_error *send_message(struct grpc_call *call, const struct worker_message *message, size_t *bytes_sent)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    TRY(worker_message_encode(message, &bytes));
    *bytes_sent = bytes.length;
    struct slice slice = slice_of_bytes(bytes.data, bytes.length);
    return grpc_call_send(call, &slice, 1);
}

static kith_error *send_metrics(struct reporter *reporter, struct task_metrics *metrics, bool final)
{
    struct worker_message message = {.kind = WORKER_METRICS, .metrics = *metrics};
    size_t bytes = reporter->task->tree->node_count * sizeof *reporter->nodes;
    memcpy(reporter->sent_nodes, reporter->nodes, bytes);
    message.metrics.final = final;
    return send_message(reporter->call, &message, &bytes);
}

static kith_error *send_final_metrics(struct reporter *reporter)
{
    struct task_metrics metrics = {0};
    task_read_metrics(reporter->task, reporter->nodes, &metrics);
    return send_metrics(reporter, &metrics, true);
}

/* What rules out rows of long texts would soon cost more than reading them. */
static bool is_short(const struct bound *bound)
{
    return bound->key_length <= LIMIT_BOUND_BYTES;
}

/* The strongest bound that the filter has found, unless a sibling's is as strong: the coordinator has that one. */
static struct bound *own_bound(struct dynamic_filter *filter)
{
    _cleanup_(bound_unref) struct bound *local = dynamic_filter_slot(filter, BOUND_LOCAL);
    _cleanup_(bound_unref) struct bound *remote = dynamic_filter_slot(filter, BOUND_REMOTE);
    bool worse = local == NULL || (remote != NULL && bound_compare(local, remote) >= 0);
    return worse || !is_short(local) ? NULL : TAKE(local);
}

/* As ranks, of which the bound is the last: so many rows as are wanted are no worse. */
static kith_error *send_ranks(struct reporter *reporter, struct dynamic_filter *filter, struct bound *bound,
                              size_t *bytes)
{
    struct bound_rank ranks[LIMIT_BOUND_RANKS];
    struct rank_message messages[LIMIT_BOUND_RANKS];
    struct worker_message message = {.kind = WORKER_PRODUCED_RANKS};
    size_t count = dynamic_filter_ranks(filter, ranks);
    if (bound != NULL)
        ranks[count++] = (struct bound_rank){bound_ref(bound), dynamic_filter_wanted(filter)};
    for (size_t i = 0; i < count; i++)
        messages[i] = (struct rank_message){.values = ranks[i].bound->values, .rows = ranks[i].rows};
    const struct clock *clock = task_clock(reporter->task);
    message.ranks =
        (struct ranks_message){.filter_id = dynamic_filter_id(filter),
                               .value_count = dynamic_filter_exprs(filter, &(const struct sort_expr *){0}),
                               .rank_count = count,
                               .ranks = messages,
                               .found_unix_ns = count == 0 ? 0 : wall_time_of(clock, ranks[0].bound->found_ns)};
    kith_error *error = count == 0 ? NULL : send_message(reporter->call, &message, bytes);
    bound_ranks_unref(ranks, count);
    return error;
}

static kith_error *send_bound(struct reporter *reporter, struct dynamic_filter *filter, struct bound *bound,
                              size_t *bytes)
{
    struct worker_message message = {.kind = WORKER_PRODUCED_BOUND};
    if (bound == NULL)
        return NULL;
    message.bound =
        bound_to_message(dynamic_filter_id(filter), bound, wall_time_of(task_clock(reporter->task), bound->found_ns));
    return send_message(reporter->call, &message, bytes);
}

/* What is known from here on, as it will be, makes news of what is found while this is sent worth less. */
static kith_error *note_known(struct task *task, size_t i, const struct bound *bound)
{
    if (bound == NULL)
        return NULL;
    HOLD_MUTEX(&task->mutex);
    return task_note_known_locked(task, i, bound);
}

static kith_error *send_news(struct reporter *reporter, size_t i, struct pace *pace)
{
    struct task *task = reporter->task;
    struct dynamic_filter *filter = task->context.filters[i];
    _cleanup_(bound_unref) struct bound *bound = own_bound(filter);
    size_t bytes = 0;
    TRY(note_known(task, i, bound));
    if (dynamic_filter_wanted(filter) > 0)
        TRY(send_ranks(reporter, filter, bound, &bytes));
    else
        TRY(send_bound(reporter, filter, bound, &bytes));
    if (bytes == 0)
        return NULL;
    pace_sent(pace, clock_monotonic_ns(task_clock(task)));
    HOLD_MUTEX(&task->mutex);
    task->traffic[i].sent++;
    task->traffic[i].bytes_sent += bytes;
    return NULL;
}

struct occasion {
    enum { OCCASION_STOP, OCCASION_BOUND, OCCASION_PROGRESS } kind;
    size_t filter; /* whose bound it is time for */
    struct pace *pace;
};

/* A bound that may be sent now, which from here on is no news; *due_ns is when one may be. At the end what is worth
 * telling does not wait for its time, and nothing else is told. */
static bool find_news(const struct task *task, int64_t now_ns, bool at_end, struct occasion *out, int64_t *due_ns)
{
    *due_ns = INT64_MAX;
    for (size_t i = 0; i < task->context.filter_count; i++) {
        struct task_filter *filter = &task->filters[i];
        if (!filter->news || (at_end && !filter->worthwhile))
            continue;
        *out = (struct occasion){OCCASION_BOUND, i, filter->worthwhile ? &filter->pace : &filter->others_pace};
        if (at_end || pace_due_ns(out->pace) <= now_ns) {
            filter->news = filter->worthwhile = false;
            return true;
        }
        if (filter->worthwhile) /* others wait for the next occasion after their time */
            *due_ns = MIN(*due_ns, pace_due_ns(out->pace));
    }
    return false;
}

static bool has_ended(const struct task *task)
{
    return task->executions == 0 && task->finished_unix_ns != 0;
}

/* Suspends until there is something to send. */
static kith_error *wait_for_occasion(struct reporter *reporter, struct occasion *out)
{
    struct task *task = reporter->task;
    HOLD_MUTEX(&task->mutex);
    for (;;) {
        int64_t now_ns = clock_monotonic_ns(task_clock(task)), due_ns;
        bool end_is_news = task->others_wait && has_ended(task) && !reporter->told_end;
        out->kind = OCCASION_STOP;
        if (task->stopping)
            return NULL;
        /* The end is told after all bounds: to whoever waits for it, and when it is that of the stream. */
        bool complete = task->partitions_left == 0;
        if (find_news(task, now_ns, complete || end_is_news, out, &due_ns))
            return NULL;
        out->kind = OCCASION_STOP;
        if (complete)
            return NULL;
        out->kind = OCCASION_PROGRESS;
        reporter->told_end = reporter->told_end || end_is_news;
        if (end_is_news)
            return NULL;
        if (task->executions > 0)
            due_ns = MIN(due_ns, reporter->next_progress_ns);
        if (task->executions > 0 && now_ns >= reporter->next_progress_ns)
            return NULL;
        kith_error *error = wait_list_wait(&task->sender, &task->mutex, due_ns == INT64_MAX ? WAIT_FOREVER : due_ns);
        if (error != NULL && kith_error_code(error) == KITH_ERROR_TIMEOUT)
            error_free(TAKE(error));
        TRY(error);
        TRY(cancel_token_check(fiber_cancel_token()));
    }
}

/* What has been found before the metrics were read is told before them: who waits for a bound of row groups that are
 * through by these metrics would else conclude that there is none. */
static kith_error *send_found(struct reporter *reporter)
{
    struct task *task = reporter->task;
    for (;;) {
        struct occasion occasion;
        bool found;
        {
            HOLD_MUTEX(&task->mutex);
            int64_t due_ns;
            found =
                task->others_wait && find_news(task, clock_monotonic_ns(task_clock(task)), true, &occasion, &due_ns);
        }
        if (!found)
            return NULL;
        TRY(send_news(reporter, occasion.filter, occasion.pace));
    }
}

static kith_error *send_progress(struct reporter *reporter)
{
    struct task_metrics metrics = {0};
    task_read_metrics(reporter->task, reporter->nodes, &metrics);
    TRY(send_found(reporter));
    size_t bytes = reporter->task->tree->node_count * sizeof *reporter->nodes;
    bool is_news = reporter->told_end || memcmp(reporter->nodes, reporter->sent_nodes, bytes) != 0;
    return is_news ? send_metrics(reporter, &metrics, false) : NULL;
}

static kith_error *report(void *argument)
{
    struct reporter *reporter = argument;
    fiber_make_urgent();
    for (;;) {
        struct occasion occasion;
        TRY(wait_for_occasion(reporter, &occasion));
        if (occasion.kind == OCCASION_STOP) {
            grpc_call_stop_receiving(reporter->call);
            return NULL;
        }
        if (occasion.kind == OCCASION_BOUND) {
            TRY(send_news(reporter, occasion.filter, occasion.pace));
            continue;
        }
        TRY(send_progress(reporter));
        reporter->progress_interval_ns = MIN(2 * reporter->progress_interval_ns, progress_interval_ns);
        reporter->next_progress_ns = clock_monotonic_ns(task_clock(reporter->task)) + reporter->progress_interval_ns;
    }
}

static kith_error *receive_plan(struct worker_tasks *tasks, struct grpc_call *call, struct task **out)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(buffer_unref) struct buffer *bytes = NULL;
    struct coordinator_message message;
    TRY(grpc_call_recv(call, &bytes));
    if (bytes == NULL)
        return error_new(KITH_ERROR_PROTOCOL, "a control stream ended before it brought a plan");
    TRY(coordinator_message_decode((struct str){(const char *)bytes->data, bytes->size}, &arena, &message));
    if (message.kind != COORDINATOR_SET_PLAN)
        return error_new(KITH_ERROR_PROTOCOL, "the first message of a control stream must be a plan");
    return task_new(tasks, &message.set_plan, out);
}

/* Until the coordinator half-closes, or all partitions have been executed. */
static kith_error *receive_bounds(struct task *task, struct grpc_call *call)
{
    for (;;) {
        _cleanup_(arena_reset) struct arena arena = {0};
        _cleanup_(buffer_unref) struct buffer *bytes = NULL;
        struct coordinator_message message;
        TRY(grpc_call_recv(call, &bytes));
        if (bytes == NULL)
            return NULL;
        TRY(coordinator_message_decode((struct str){(const char *)bytes->data, bytes->size}, &arena, &message));
        if (message.kind != COORDINATOR_APPLY_BOUND)
            return error_new(KITH_ERROR_PROTOCOL, "a control stream brought a second plan");
        if (!task->share_bounds)
            return error_new(KITH_ERROR_PROTOCOL, "a bound came for a task that shares none");
        TRY(task_apply_bound(task, &message.bound, bytes->size));
    }
}

static kith_error *converse(struct reporter *reporter)
{
    struct task *task = reporter->task;
    const struct fiber_options options = {.name = "report of a task"};
    TRY(NEW_ARRAY(&reporter->nodes, task->tree->node_count));
    TRY(NEW_ARRAY(&reporter->sent_nodes, task->tree->node_count));
    reporter->progress_interval_ns = first_progress_interval_ns;
    reporter->next_progress_ns = clock_monotonic_ns(task_clock(task)) + first_progress_interval_ns;
    TRY(fiber_spawn(task->context.runtime, &options, report, reporter, &reporter->fiber));
    return receive_bounds(task, reporter->call);
}

/* Whatever way the stream ends, the task ends with it. The metrics are owed to a coordinator that has had all rows, or
 * has half-closed. */
static kith_error *finish(struct reporter *reporter, kith_error *take_error)
{
    kith_error *error = take_error;
    task_stop(reporter->task);
    kith_error *report_error = reporter->fiber == NULL ? NULL : fiber_join(TAKE(reporter->fiber));
    if (error == NULL)
        error = TAKE(report_error);
    error_free(report_error);
    if (error == NULL)
        error = task_wait_idle(reporter->task);
    return error != NULL ? error : send_final_metrics(reporter);
}

kith_error *task_control_serve(struct worker_tasks *tasks, struct grpc_call *call)
{
    _cleanup_(task_unref) struct task *task = NULL;
    fiber_make_urgent();
    TRY(receive_plan(tasks, call, &task));
    struct reporter reporter = {.task = task, .call = call};
    kith_error *error = worker_tasks_add(tasks, task);
    if (error == NULL)
        error = converse(&reporter);
    worker_tasks_end(tasks, task);
    error = finish(&reporter, error);
    free(reporter.nodes);
    free(reporter.sent_nodes);
    return error;
}
