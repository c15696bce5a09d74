#include "base/vec.h"
#include "cluster/task.h"

#include <inttypes.h>

/* As long as datafusion-distributed waits; the control stream that brings the plan is opened before the rows are asked
 * for, so only a coordinator in trouble needs it. */
static const int64_t plan_wait_ns = 10 * NANOSECONDS_PER_SECOND;

/* The mutex is held. */
static size_t find(const struct worker_tasks *tasks, const struct task_key *key)
{
    size_t i = 0;
    while (i < tasks->count && (tasks->tasks[i]->ended || !task_key_equal(&tasks->tasks[i]->key, key)))
        i++;
    return i;
}

kith_error *worker_tasks_add(struct worker_tasks *tasks, struct task *task)
{
    HOLD_MUTEX(&tasks->mutex);
    if (find(tasks, &task->key) < tasks->count)
        return error_new(KITH_ERROR_PROTOCOL, "task %" PRIu64 " of stage %" PRIu64 " of the query runs here already",
                         task->key.task, task->key.stage);
    if (tasks->count == tasks->capacity)
        TRY(vec_grow(&tasks->tasks, &tasks->capacity, tasks->count + 1, sizeof *tasks->tasks));
    tasks->tasks[tasks->count++] = task;
    tasks->past.counters[WORKER_COUNTER_TASKS_STARTED]++;
    tasks->past.counters[WORKER_COUNTER_TASKS_SHARING] += task->share_bounds;
    wait_list_wake_all(&tasks->arrival);
    return NULL;
}

void worker_tasks_end(struct worker_tasks *tasks, struct task *task)
{
    HOLD_MUTEX(&tasks->mutex);
    task->ended = true;
}

void worker_tasks_remove(struct worker_tasks *tasks, struct task *task)
{
    HOLD_MUTEX(&tasks->mutex);
    size_t i = 0;
    while (i < tasks->count && tasks->tasks[i] != task)
        i++;
    if (i == tasks->count)
        return;
    tasks->tasks[i] = tasks->tasks[--tasks->count];
    tasks->past.counters[WORKER_COUNTER_TASKS_ENDED]++;
    task_sum_metrics(task, tasks->past.metrics);
}

void worker_tasks_read_status(struct worker_tasks *tasks, struct worker_status *out)
{
    int64_t now_ns = clock_monotonic_ns(runtime_clock(tasks->runtime));
    HOLD_MUTEX(&tasks->mutex);
    *out = tasks->past;
    out->version = KITH_VERSION;
    out->counters[WORKER_COUNTER_UPTIME] = (uint64_t)(now_ns - tasks->started_ns);
    out->counters[WORKER_COUNTER_TASKS_RUNNING] = tasks->count;
    out->counters[WORKER_COUNTER_MEMORY_RESERVED] = memory_pool_used(tasks->pool);
    out->counters[WORKER_COUNTER_MEMORY_RESERVED_MAX] = memory_pool_peak(tasks->pool);
    for (size_t i = 0; i < tasks->count; i++)
        task_sum_metrics(tasks->tasks[i], out->metrics);
}

kith_error *worker_tasks_wait(struct worker_tasks *tasks, const struct task_key *key, struct task **out)
{
    int64_t deadline = clock_monotonic_ns(runtime_clock(tasks->runtime)) + plan_wait_ns;
    HOLD_MUTEX(&tasks->mutex);
    size_t i;
    while ((i = find(tasks, key)) == tasks->count) {
        kith_error *error = wait_list_wait(&tasks->arrival, &tasks->mutex, deadline);
        if (error != NULL && kith_error_code(error) == KITH_ERROR_TIMEOUT)
            return error_wrap(error, "no plan came for task %" PRIu64 " of stage %" PRIu64, key->task, key->stage);
        TRY(error);
    }
    *out = task_ref(tasks->tasks[i]);
    return NULL;
}
