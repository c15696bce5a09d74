#include "base/alloc.h"
#include "cluster/coordinator_internal.h"

#include <errno.h>
#include <sys/random.h>

static int64_t wall_now(const struct coordinator *coordinator)
{
    const struct clock *clock = runtime_clock(coordinator->options.runtime);
    return clock->wall_ns(clock);
}

const char *remote_task_address(const struct remote_task *task)
{
    return cluster_worker_address(task->coordinator->options.cluster, task->number);
}

struct grpc_channel *remote_task_channel(const struct remote_task *task)
{
    return cluster_worker_channel(task->coordinator->options.cluster, task->number);
}

struct task_key remote_task_key(const struct remote_task *task)
{
    struct task_key key = {.stage = FIRST_STAGE, .task = task->number};
    memcpy(key.query_id, task->coordinator->query_id, sizeof key.query_id);
    return key;
}

static kith_error *name_worker(const struct remote_task *task, kith_error *take_error)
{
    char text[1024];
    const char *address = remote_task_address(task);
    if (strstr(error_describe(take_error, text, sizeof text), address) != NULL)
        return take_error;
    return error_wrap(take_error, "worker %s", address);
}

kith_error *remote_task_failed(struct remote_task *task, kith_error *take_error)
{
    struct coordinator *coordinator = task->coordinator;
    if (take_error == NULL)
        return NULL;
    kith_error *named = name_worker(task, take_error);
    pthread_mutex_lock(&coordinator->mutex);
    bool closing = coordinator->closing;
    pthread_mutex_unlock(&coordinator->mutex);
    if (closing)
        return named;
    cancel_token_cancel(coordinator->options.cancel, named);
    return cancel_token_check(coordinator->options.cancel);
}

static kith_error *open_rows(struct boundary_source *source, uint32_t stage, size_t task, struct schema *schema,
                             struct metric_set *metrics, struct stream **out)
{
    struct coordinator *coordinator = CONTAINER_OF(source, struct coordinator, boundary);
    ASSERT(stage == FIRST_STAGE && task < coordinator->task_count);
    return remote_task_open_rows(&coordinator->tasks[task], schema, metrics, out);
}

static bool wants_sharing(const struct settings *settings)
{
    static const enum setting needed[] = {SETTING_SIBLING_TOPK, SETTING_REMOTE_DYNAMIC_FILTERS, SETTING_DYNAMIC_FILTERS,
                                          SETTING_TOPK_DYNAMIC_FILTERS};
    for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
        if (settings_get(settings, needed[i]) == 0)
            return false;
    return true;
}

/* Bounds of several tasks together need two that tell their ranks. */
static kith_error *prepare_ranks(struct coordinator *coordinator)
{
    const struct coordinator_options *options = &coordinator->options;
    size_t able = 0;
    if (!settings_get(options->settings, SETTING_SIBLING_TOPK_RANKS) || options->stages->fetch <= 0)
        return NULL;
    for (size_t i = 0; i < coordinator->task_count; i++) {
        struct remote_task *task = &coordinator->tasks[i];
        task->shares_ranks = task->recipient != NOT_SHARING &&
                             (cluster_worker_capabilities(options->cluster, i) & CAPABILITY_TOPK_RANKS) != 0;
        able += task->shares_ranks;
    }
    for (size_t i = 0; i < coordinator->task_count && able < 2; i++)
        coordinator->tasks[i].shares_ranks = false;
    return able < 2 ? NULL
                    : filter_registry_collect_ranks(coordinator->registry, options->stages->filter->id,
                                                    (uint64_t)options->stages->fetch);
}

/* Tasks that others may have to wait for say when they are through. */
static void ask_for_ends(struct coordinator *coordinator)
{
    const struct coordinator_options *options = &coordinator->options;
    bool any_waits = false;
    for (size_t i = 0; i < coordinator->task_count; i++)
        any_waits |= coordinator->tasks[i].stage_task->waits;
    for (size_t i = 0; i < coordinator->task_count; i++)
        coordinator->tasks[i].tells_end =
            any_waits && coordinator->tasks[i].stage_task->promising > 0 &&
            (cluster_worker_capabilities(options->cluster, i) & CAPABILITY_TOPK_RANKS) != 0;
}

static kith_error *make_registry(struct coordinator *coordinator, size_t recipients)
{
    const struct coordinator_options *options = &coordinator->options;
    const struct scan_dynamic_filter *filter = options->stages->filter;
    int64_t now_ns = clock_monotonic_ns(runtime_clock(options->runtime));
    TRY(filter_registry_new(recipients, pace_of_settings(options->settings, recipients), pace_of_others(now_ns),
                            options->pool, &coordinator->registry));
    TRY(filter_registry_add(coordinator->registry, filter->id, filter->exprs, filter->count));
    TRY(prepare_ranks(coordinator));
    ask_for_ends(coordinator);
    for (size_t i = 0; i < coordinator->task_count && coordinator_shares_sparingly(coordinator); i++) {
        const struct remote_task *task = &coordinator->tasks[i];
        if (task->recipient != NOT_SHARING)
            filter_registry_set_steps(coordinator->registry, filter->id, (size_t)task->recipient,
                                      &task->stage_task->steps);
    }
    return NULL;
}

/* Workers that cannot share run without; sharing needs two that can. */
static kith_error *prepare_sharing(struct coordinator *coordinator)
{
    const struct coordinator_options *options = &coordinator->options;
    size_t recipients = 0;
    if (!wants_sharing(options->settings) || options->stages->filter == NULL)
        return NULL;
    for (size_t i = 0; i < coordinator->task_count; i++)
        if (cluster_worker_capabilities(options->cluster, i) & CAPABILITY_TOPK_BOUNDS)
            coordinator->tasks[i].recipient = (ptrdiff_t)recipients++;
    if (recipients < 2) {
        for (size_t i = 0; i < coordinator->task_count; i++)
            coordinator->tasks[i].recipient = NOT_SHARING;
        return NULL;
    }
    return make_registry(coordinator, recipients);
}

kith_error *coordinator_new(const struct coordinator_options *options, struct coordinator **out)
{
    _cleanup_(coordinator_free) struct coordinator *coordinator = NULL;
    TRY(NEW(&coordinator));
    pthread_mutex_init(&coordinator->mutex, NULL);
    coordinator->options = *options;
    coordinator->boundary.open = open_rows;
    coordinator->node_count = physical_plan_node_count(options->stages->stage);
    TRY(NEW_ARRAY(&coordinator->tasks, options->stages->task_count));
    for (; coordinator->task_count < options->stages->task_count; coordinator->task_count++) {
        struct remote_task *task = &coordinator->tasks[coordinator->task_count];
        task->coordinator = coordinator;
        task->number = coordinator->task_count;
        task->stage_task = &options->stages->tasks[task->number];
        task->recipient = NOT_SHARING;
        TRY(NEW_ARRAY(&task->nodes, coordinator->node_count));
    }
    if (getrandom(coordinator->query_id, sizeof coordinator->query_id, 0) != (ssize_t)sizeof coordinator->query_id)
        return error_from_errno(errno, "no random number for the query's id");
    TRY(prepare_sharing(coordinator));
    *out = TAKE(coordinator);
    return NULL;
}

struct boundary_source *coordinator_boundary(struct coordinator *coordinator)
{
    return &coordinator->boundary;
}

void remote_task_receiver_ended(struct remote_task *task)
{
    struct coordinator *coordinator = task->coordinator;
    HOLD_MUTEX(&coordinator->mutex);
    if (--coordinator->receivers == 0)
        wait_list_wake_all(&coordinator->receivers_ended);
}

/* What can be said to the worker at once, without letting go in between: it leaves as one piece. */
static kith_error *instruct(struct remote_task *task)
{
    TRY(grpc_call_start(remote_task_channel(task), WORKER_PATH_COORDINATOR_CHANNEL, NULL, WAIT_FOREVER,
                        &task->control));
    TRY(remote_task_send_plan(task));
    return remote_task_ask_early(task);
}

static kith_error *start_task(struct remote_task *task)
{
    struct coordinator *coordinator = task->coordinator;
    const struct coordinator_options *options = &coordinator->options;
    const struct fiber_options sender = {.name = "task control, sending", .cancel = options->cancel};
    const struct fiber_options receiver = {.name = "task control, receiving", .cancel = options->cancel};
    TRY(remote_task_failed(task, instruct(task)));
    if (task->recipient != NOT_SHARING)
        TRY(fiber_spawn(options->runtime, &sender, remote_task_send_bounds, task, &task->sender));
    pthread_mutex_lock(&coordinator->mutex);
    coordinator->receivers++;
    pthread_mutex_unlock(&coordinator->mutex);
    kith_error *error = fiber_spawn(options->runtime, &receiver, remote_task_receive, task, &task->receiver);
    if (error != NULL)
        remote_task_receiver_ended(task);
    return error;
}

kith_error *coordinator_start(struct coordinator *coordinator)
{
    coordinator->started_unix_ns = wall_now(coordinator);
    for (size_t i = 0; i < coordinator->task_count; i++) {
        TRY(start_task(&coordinator->tasks[i]));
        TRY(fiber_yield()); /* off it goes, before the next plan is encoded */
    }
    return NULL;
}

static void join_if_any(struct fiber **fiber)
{
    if (*fiber != NULL)
        error_free(fiber_join(TAKE(*fiber))); /* its error has been dealt with */
}

/* Gives the workers the keepalive time to say their last. */
static void wait_for_receivers(struct coordinator *coordinator)
{
    const struct clock *clock = runtime_clock(coordinator->options.runtime);
    int64_t deadline = clock_monotonic_ns(clock) +
                       settings_get(coordinator->options.settings, SETTING_KEEPALIVE) * NANOSECONDS_PER_MILLISECOND;
    kith_error *error = NULL;
    HOLD_MUTEX(&coordinator->mutex);
    while (coordinator->receivers > 0 && error == NULL)
        error = wait_list_wait(&coordinator->receivers_ended, &coordinator->mutex, deadline);
    error_free(error); /* Late or cancelled: the metrics are not worth more time. */
}

static void ask_for_metrics(struct coordinator *coordinator)
{
    for (size_t i = 0; i < coordinator->task_count; i++) {
        struct remote_task *task = &coordinator->tasks[i];
        if (task->control != NULL)
            error_free(grpc_call_half_close(task->control)); /* the receiver hears of it if the call is over */
    }
    wait_for_receivers(coordinator);
}

void coordinator_finish(struct coordinator *coordinator, bool orderly)
{
    if (coordinator->finished)
        return;
    coordinator->finished = true;
    pthread_mutex_lock(&coordinator->mutex);
    coordinator->closing = true;
    for (size_t i = 0; i < coordinator->task_count; i++)
        wait_list_wake_all(&coordinator->tasks[i].news);
    pthread_mutex_unlock(&coordinator->mutex);
    if (!orderly)
        cancel_token_cancel(coordinator->options.cancel, NULL);
    for (size_t i = 0; i < coordinator->task_count; i++) {
        join_if_any(&coordinator->tasks[i].sender);
        grpc_call_unref(TAKE(coordinator->tasks[i].rows));
    }
    if (orderly)
        ask_for_metrics(coordinator);
    for (size_t i = 0; i < coordinator->task_count; i++) {
        struct remote_task *task = &coordinator->tasks[i];
        if (task->control != NULL)
            grpc_call_cancel(task->control);
        join_if_any(&task->receiver);
        grpc_call_unref(TAKE(task->control));
    }
}

void coordinator_free(struct coordinator *coordinator)
{
    if (coordinator == NULL)
        return;
    coordinator_finish(coordinator, false);
    for (size_t i = 0; i < coordinator->task_count; i++)
        free(coordinator->tasks[i].nodes);
    free(coordinator->tasks);
    filter_registry_free(coordinator->registry);
    pthread_mutex_destroy(&coordinator->mutex);
    free(coordinator);
}

void coordinator_read_task(struct coordinator *coordinator, size_t number, struct task_report *report,
                           uint64_t (*nodes)[METRIC_COUNT])
{
    const struct remote_task *task = &coordinator->tasks[number];
    HOLD_MUTEX(&coordinator->mutex);
    memcpy(nodes, task->nodes, coordinator->node_count * sizeof *nodes);
    *report = (struct task_report){
        .worker = remote_task_address(task),
        .shares_bounds = task->recipient != NOT_SHARING,
        .complete = task->metrics.final,
        .plan_received_unix_ns = task->metrics.plan_received_unix_ns,
        .started_unix_ns = task->metrics.started_unix_ns,
        .finished_unix_ns = task->metrics.finished_unix_ns,
    };
}

void coordinator_sum_task(struct coordinator *coordinator, size_t number, uint64_t values[METRIC_COUNT])
{
    const struct remote_task *task = &coordinator->tasks[number];
    memset(values, 0, METRIC_COUNT * sizeof *values);
    HOLD_MUTEX(&coordinator->mutex);
    for (size_t node = 0; node < coordinator->node_count; node++)
        metric_values_add(values, task->nodes[node]);
}

bool coordinator_task_is_complete(struct coordinator *coordinator, size_t number)
{
    HOLD_MUTEX(&coordinator->mutex);
    return coordinator->tasks[number].metrics.final;
}

bool coordinator_sharing(const struct coordinator *coordinator, struct filter_registry_counters *out)
{
    if (coordinator->registry == NULL)
        return false;
    filter_registry_counters(coordinator->registry, out);
    return true;
}
