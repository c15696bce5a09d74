#include "cluster/coordinator_internal.h"

static uint64_t sum(const struct remote_task *task, enum metric metric)
{
    uint64_t total = 0;
    for (size_t i = 0; i < task->coordinator->node_count; i++)
        total += task->nodes[i][metric];
    return total;
}

/* Row groups are taken best first, so the promising ones are through when so many are. */
static bool is_through(const struct remote_task *task)
{
    uint64_t done = sum(task, METRIC_ROW_GROUPS_READ) + sum(task, METRIC_ROW_GROUPS_PRUNED_LOCAL) +
                    sum(task, METRIC_ROW_GROUPS_PRUNED_REMOTE);
    /* The last rows may come before the last bound, which is on another stream. */
    bool ended = task->tells_end ? task->metrics.finished_unix_ns != 0 : task->rows_ended;
    return ended || done >= task->stage_task->promising;
}

/* Whether the task is better off waiting: the promise may still come true, or what came of it is on its way. */
static bool has_more_to_hear(const struct remote_task *waiting)
{
    const struct coordinator *coordinator = waiting->coordinator;
    if (waiting->being_told || filter_registry_has_worthwhile(coordinator->registry, (size_t)waiting->recipient))
        return true;
    for (size_t i = 0; i < coordinator->task_count; i++) {
        const struct remote_task *task = &coordinator->tasks[i];
        if (task->stage_task->promising > 0 && !is_through(task))
            return true;
    }
    return false;
}

bool remote_task_may_wait(const struct remote_task *task)
{
    return task->recipient != NOT_SHARING && task->stage_task->waits;
}

kith_error *remote_task_wait_for_promise(struct remote_task *task)
{
    struct coordinator *coordinator = task->coordinator;
    const struct clock *clock = runtime_clock(coordinator->options.runtime);
    int64_t head_start_ns =
        settings_get(coordinator->options.settings, SETTING_SIBLING_TOPK_HEAD_START) * NANOSECONDS_PER_MILLISECOND;
    if (!remote_task_may_wait(task))
        return NULL;
    int64_t deadline = clock_monotonic_ns(clock) + head_start_ns;
    HOLD_MUTEX(&coordinator->mutex);
    while (!task->told && !coordinator->closing && has_more_to_hear(task) && clock_monotonic_ns(clock) < deadline) {
        kith_error *error = wait_list_wait(&coordinator->held, &coordinator->mutex, deadline);
        if (error != NULL && !cancel_token_is_cancelled(fiber_cancel_token()))
            error_free(TAKE(error)); /* the time has passed */
        TRY(error);
    }
    return NULL;
}

void remote_task_advanced_locked(struct remote_task *task)
{
    if (task->stage_task->promising > 0)
        wait_list_wake_all(&task->coordinator->held);
}
