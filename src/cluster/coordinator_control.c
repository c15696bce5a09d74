#include "base/alloc.h"
#include "cluster/bound_message.h"
#include "cluster/coordinator_internal.h"
#include "wire/plan_codec.h"

static kith_error *send_message(struct remote_task *task, const struct coordinator_message *message, size_t *bytes_sent)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    TRY(coordinator_message_encode(message, &bytes));
    struct slice slice = slice_of_bytes(bytes.data, bytes.length);
    *bytes_sent = bytes.length;
    return grpc_call_send(task->control, &slice, 1);
}

/* Whether to share is the coordinator's decision; a worker may be too old to know all the ways to say so. */
static struct settings settings_for(const struct remote_task *task)
{
    struct settings settings = *task->coordinator->options.settings;
    settings.values[SETTING_SIBLING_TOPK] = task->recipient == NOT_SHARING ? SIBLING_TOPK_OFF : SIBLING_TOPK_ON;
    return settings;
}

kith_error *remote_task_send_plan(struct remote_task *task)
{
    const struct coordinator *coordinator = task->coordinator;
    const struct stage_plan *stages = coordinator->options.stages;
    struct steps_message steps = {.filter_id = stages->filter == NULL ? 0 : stages->filter->id,
                                  .value_count = stages->steps.count,
                                  .values = stages->steps.values};
    _cleanup_(strbuf_reset) struct strbuf plan = {0};
    size_t bytes;
    TRY(plan_encode(task->stage_task->plan, &plan));
    const struct coordinator_message message = {
        .kind = COORDINATOR_SET_PLAN,
        .set_plan =
            {
                .key = remote_task_key(task),
                .task_count = coordinator->task_count,
                .plan = {plan.data, plan.length},
                .settings = settings_for(task),
                .query_start_unix_ns = coordinator->started_unix_ns,
                .share_bounds = task->recipient != NOT_SHARING,
                .steps_count = task->recipient != NOT_SHARING && coordinator_shares_sparingly(coordinator),
                .steps = &steps,
                .share_ranks = task->shares_ranks,
                .others_wait = task->tells_end,
            },
    };
    return send_message(task, &message, &bytes);
}

/* Suspends until the registry has a bound for the task; *found is false when the tasks are being ended. */
static kith_error *wait_for_bound(struct remote_task *task, struct filter_registry_update *out, bool *found)
{
    struct coordinator *coordinator = task->coordinator;
    const struct clock *clock = runtime_clock(coordinator->options.runtime);
    *found = false;
    HOLD_MUTEX(&coordinator->mutex);
    while (!coordinator->closing) {
        int64_t due_ns;
        *found = filter_registry_take(coordinator->registry, (size_t)task->recipient, clock_monotonic_ns(clock), out,
                                      &due_ns);
        task->being_told = *found;
        if (*found)
            return NULL;
        kith_error *error =
            wait_list_wait(&task->news, &coordinator->mutex, due_ns == INT64_MAX ? WAIT_FOREVER : due_ns);
        if (error != NULL && !cancel_token_is_cancelled(fiber_cancel_token()))
            error_free(TAKE(error)); /* the interval has passed */
        TRY(error);
    }
    return NULL;
}

static void note_told(struct remote_task *task, const struct bound *bound)
{
    struct coordinator *coordinator = task->coordinator;
    const struct stage_promise *promise = &coordinator->options.stages->promise;
    HOLD_MUTEX(&coordinator->mutex);
    task->being_told = false;
    task->bounds_told++;
    if (promise->exists && sort_order_compare(&bound->values[0], &promise->value, promise->order) <= 0)
        task->told = true;
    wait_list_wake_all(&coordinator->held);
}

static kith_error *send_bounds(struct remote_task *task)
{
    struct coordinator *coordinator = task->coordinator;
    for (;;) {
        struct filter_registry_update update;
        bool found;
        size_t bytes;
        TRY(wait_for_bound(task, &update, &found));
        if (!found)
            return NULL;
        _cleanup_(bound_unref) struct bound *bound = update.bound;
        const struct coordinator_message message = {
            .kind = COORDINATOR_APPLY_BOUND, .bound = bound_to_message(update.filter_id, bound, update.found_unix_ns)};
        TRY(send_message(task, &message, &bytes));
        filter_registry_count_bytes(coordinator->registry, 0, bytes);
        note_told(task, bound);
    }
}

kith_error *remote_task_send_bounds(void *remote_task)
{
    struct remote_task *task = remote_task;
    fiber_make_urgent();
    error_free(remote_task_failed(task, send_bounds(task)));
    return NULL;
}

static kith_error *take_metrics(struct remote_task *task, const struct task_metrics *metrics)
{
    struct coordinator *coordinator = task->coordinator;
    HOLD_MUTEX(&coordinator->mutex);
    memset(task->nodes, 0, coordinator->node_count * sizeof *task->nodes);
    /* A worker of another version may run the plan by other operators: then what they counted together is known. */
    bool same_operators = metrics->node_count == coordinator->node_count;
    for (size_t i = 0; i < metrics->node_count; i++)
        metric_values_add(task->nodes[same_operators ? i : 0], metrics->nodes[i]);
    task->metrics = *metrics;
    task->metrics.nodes = NULL;
    remote_task_advanced_locked(task);
    /* What passes no step of its waits for such an occasion. */
    if (task->recipient != NOT_SHARING && filter_registry_waits(coordinator->registry, (size_t)task->recipient))
        wait_list_wake_all(&task->news);
    return NULL;
}

/* Wakes who can be told something worthwhile. */
static void spread_news(struct coordinator *coordinator)
{
    HOLD_MUTEX(&coordinator->mutex);
    for (size_t i = 0; i < coordinator->task_count; i++) {
        struct remote_task *task = &coordinator->tasks[i];
        if (task->recipient != NOT_SHARING &&
            filter_registry_has_worthwhile(coordinator->registry, (size_t)task->recipient))
            wait_list_wake_all(&task->news);
    }
}

static kith_error *take_report(struct remote_task *task, const struct worker_message *message, size_t bytes)
{
    struct coordinator *coordinator = task->coordinator;
    size_t number = (size_t)task->recipient;
    bool improved, ranks = message->kind == WORKER_PRODUCED_RANKS;
    if (task->recipient == NOT_SHARING || (ranks && !task->shares_ranks))
        return error_new(KITH_ERROR_PROTOCOL, "%s came from a task that shares none", ranks ? "ranks" : "a bound");
    filter_registry_count_bytes(coordinator->registry, bytes, 0);
    if (ranks)
        TRY(filter_registry_report_ranks(coordinator->registry, number, &message->ranks, &improved));
    else
        TRY(filter_registry_report(coordinator->registry, number, &message->bound, &improved));
    if (improved)
        spread_news(coordinator);
    return NULL;
}

static kith_error *receive_all(struct remote_task *task)
{
    for (;;) {
        _cleanup_(arena_reset) struct arena arena = {0};
        _cleanup_(buffer_unref) struct buffer *bytes = NULL;
        struct worker_message message;
        TRY(grpc_call_recv(task->control, &bytes));
        if (bytes == NULL)
            return NULL;
        TRY(worker_message_decode((struct str){(const char *)bytes->data, bytes->size}, &arena, &message));
        if (message.kind == WORKER_METRICS)
            TRY(take_metrics(task, &message.metrics));
        else
            TRY(take_report(task, &message, bytes->size));
    }
}

kith_error *remote_task_receive(void *remote_task)
{
    struct remote_task *task = remote_task;
    fiber_make_urgent();
    kith_error *error = receive_all(task);
    if (error == NULL && !task->metrics.final)
        error = error_new(KITH_ERROR_PROTOCOL, "ended the task before it was told to");
    error_free(remote_task_failed(task, error));
    remote_task_receiver_ended(task);
    return NULL;
}
