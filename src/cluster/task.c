#include "cluster/task.h"

#include "base/alloc.h"
#include "cluster/bound_message.h"
#include "plan/defer_columns.h"
#include "wire/plan_codec.h"

#include <inttypes.h>

static size_t steps_passed(const struct task_filter *filter, const struct bound *bound)
{
    return filter->steps == NULL ? 0 : bound_steps_passed(filter->steps, &bound->values[0]);
}

/* Called by whatever fiber found the bound or ranks of which it is the best; says only that there is news. What is
 * worth little waits until something else is sent. */
static void note_news(struct task_filter *filter, const struct bound *bound)
{
    HOLD_MUTEX(&filter->task->mutex);
    bool worthwhile = filter->steps == NULL || steps_passed(filter, bound) > filter->passed;
    if (worthwhile && !filter->worthwhile)
        wait_list_wake_all(&filter->task->sender);
    filter->news = true;
    filter->worthwhile = filter->worthwhile || worthwhile;
}

static void note_bound(struct dynamic_filter_watcher *watcher, enum bound_origin origin, struct bound *bound)
{
    if (origin == BOUND_LOCAL)
        note_news(CONTAINER_OF(watcher, struct task_filter, watcher), bound);
}

static void note_ranks(struct dynamic_filter_watcher *watcher, struct bound *best)
{
    note_news(CONTAINER_OF(watcher, struct task_filter, watcher), best);
}

/* Ranks are of use from the first step on that no known bound passes. */
static kith_error *limit_ranks(struct task *task, size_t filter_index)
{
    struct task_filter *filter = &task->filters[filter_index];
    _cleanup_(bound_unref) struct bound *floor = NULL;
    if (filter->steps == NULL || !task->share_ranks)
        return NULL;
    bool wanted = filter->passed < filter->steps->count;
    if (wanted)
        TRY(bound_new_planned(&filter->steps->values[filter->passed], filter->steps->order, &floor));
    dynamic_filter_limit_ranks(task->context.filters[filter_index], wanted, floor);
    return NULL;
}

kith_error *task_note_known_locked(struct task *task, size_t filter_index, const struct bound *bound)
{
    struct task_filter *filter = &task->filters[filter_index];
    size_t passed = steps_passed(filter, bound);
    if (passed <= filter->passed)
        return NULL;
    filter->passed = passed;
    return limit_ranks(task, filter_index);
}

/* The Top-Ks that tighten the filter, one of each member of a union. */
struct topk {
    size_t heaps;  /* one a partition */
    int64_t fetch; /* that they have in common */
};

static void find_topk(const struct physical_plan *plan, uint64_t filter_id, struct topk *out)
{
    if (plan->kind == PHYSICAL_SORT && plan->sort.filter_id == filter_id) {
        out->heaps += plan->partitions;
        out->fetch = plan->sort.fetch;
    }
    for (size_t i = 0; i < plan->input_count; i++)
        find_topk(plan->inputs[i], filter_id, out);
}

static kith_error *collect_ranks(struct task *task, size_t filter_index, uint64_t task_count)
{
    /* To count the rows of a larger heap takes as long as several messages. */
    enum { MOST_ROWS = 100000 };
    struct dynamic_filter *filter = task->context.filters[filter_index];
    struct topk topk = {0};
    find_topk(task->plan, dynamic_filter_id(filter), &topk);
    if (!task->share_ranks || topk.fetch <= 0 || topk.fetch > MOST_ROWS)
        return NULL;
    /* If no heap of the stage holds as many as this of some value, all together hold less than half of what it takes.
     */
    uint64_t wanted = (uint64_t)topk.fetch, least = wanted / 2 / (task_count * topk.heaps);
    TRY(dynamic_filter_collect_ranks(filter, topk.heaps, wanted, MAX(least, (uint64_t)1), task->pool));
    return limit_ranks(task, filter_index);
}

static kith_error *keep_steps(struct task *task, size_t filter_index, const struct set_plan *request)
{
    const struct sort_expr *exprs;
    const struct dynamic_filter *filter = task->context.filters[filter_index];
    dynamic_filter_exprs(filter, &exprs);
    for (size_t i = 0; i < request->steps_count; i++) {
        const struct steps_message *message = &request->steps[i];
        struct bound_steps *steps;
        struct scalar *values;
        if (message->filter_id != dynamic_filter_id(filter))
            continue;
        TRY(ARENA_NEW(&task->arena.arena, &steps));
        TRY(ARENA_NEW_ARRAY(&task->arena.arena, &values, message->value_count));
        *steps = (struct bound_steps){.values = values, .count = message->value_count, .order = exprs[0].order};
        for (size_t j = 0; j < message->value_count; j++) {
            if (!type_equal(&message->values[j].type, &exprs[0].expr->type))
                return error_new(KITH_ERROR_PROTOCOL, "a step of dynamic filter %" PRIu64 " is not of its key's type",
                                 message->filter_id);
            TRY(scalar_copy(&message->values[j], &task->arena.arena, &values[j]));
        }
        task->filters[filter_index].steps = steps;
    }
    return NULL;
}

static kith_error *prepare_filters(struct task *task, const struct set_plan *request)
{
    int64_t now_ns = clock_monotonic_ns(task_clock(task));
    TRY(NEW_ARRAY(&task->filters, task->context.filter_count));
    TRY(NEW_ARRAY(&task->traffic, task->context.filter_count));
    for (size_t i = 0; task->share_bounds && i < task->context.filter_count; i++) {
        task->filters[i].task = task;
        task->filters[i].pace = pace_of_settings(&task->context.settings, (size_t)request->task_count);
        task->filters[i].others_pace = pace_of_others(now_ns);
        TRY(keep_steps(task, i, request));
        TRY(collect_ranks(task, i, request->task_count));
        task->filters[i].watcher.changed = note_bound;
        task->filters[i].watcher.ranked = note_ranks;
        dynamic_filter_watch(task->context.filters[i], &task->filters[i].watcher);
    }
    return NULL;
}

kith_error *task_new(struct worker_tasks *tasks, const struct set_plan *request, struct task **out)
{
    struct runtime *runtime = tasks->runtime;
    if (request->share_bounds && (tasks->capabilities & CAPABILITY_TOPK_BOUNDS) == 0)
        return error_new(KITH_ERROR_PROTOCOL, "a task that shares bounds came to a worker that said it cannot");
    _cleanup_(task_unref) struct task *task = NULL;
    TRY(NEW(&task));
    refcount_init(&task->refs);
    pthread_mutex_init(&task->mutex, NULL);
    task->tasks = tasks;
    atomic_fetch_add_explicit(&tasks->live, 1, memory_order_relaxed);
    task->key = request->key;
    task->share_bounds = request->share_bounds;
    task->share_ranks = request->share_ranks;
    task->others_wait = request->others_wait;
    task->plan_received_unix_ns = runtime_clock(runtime)->wall_ns(runtime_clock(runtime));
    TRY(plan_decode((const uint8_t *)request->plan.data, request->plan.length, &task->arena, &task->plan));
    TRY(plan_defer_columns(&task->arena, &request->settings, &task->plan));
    size_t limit = (size_t)settings_get(&request->settings, SETTING_MEMORY_LIMIT);
    TRY(memory_pool_new_within(tasks->pool, limit, &task->pool));
    TRY(cancel_token_new(fiber_cancel_token(), &task->cancel));
    TRY(cancel_token_share_time(task->cancel, runtime));
    task->context = (struct task_context){.runtime = runtime,
                                          .pool = task->pool,
                                          .settings = request->settings,
                                          .cancel = task->cancel,
                                          .files = tasks->files};
    TRY(operator_tree_new(task->plan, &task->context, &task->tree));
    TRY(NEW_ARRAY(&task->partitions_taken, task->plan->partitions));
    task->partitions_left = task->plan->partitions;
    TRY(prepare_filters(task, request));
    *out = TAKE(task);
    return NULL;
}

struct task *task_ref(struct task *task)
{
    refcount_take(&task->refs);
    return task;
}

void task_unref(struct task *task)
{
    if (task == NULL || !refcount_drop(&task->refs))
        return;
    worker_tasks_remove(task->tasks, task);
    operator_tree_free(task->tree, &task->context);
    cancel_token_unref(task->cancel);
    memory_pool_free(task->pool);
    plan_arena_reset(&task->arena);
    free(task->partitions_taken);
    free(task->filters);
    free(task->traffic);
    pthread_mutex_destroy(&task->mutex);
    atomic_fetch_sub_explicit(&task->tasks->live, 1, memory_order_relaxed);
    free(task);
}

const struct clock *task_clock(const struct task *task)
{
    return runtime_clock(task->context.runtime);
}

void task_stop(struct task *task)
{
    cancel_token_cancel(task->cancel, error_new(KITH_ERROR_CANCELLED, "the coordinator has ended the task"));
    HOLD_MUTEX(&task->mutex);
    task->stopping = true;
    wait_list_wake_all(&task->sender);
    wait_list_wake_all(&task->bounds);
}

kith_error *task_wait_idle(struct task *task)
{
    HOLD_MUTEX(&task->mutex);
    while (task->executions > 0)
        TRY(wait_list_wait(&task->idle, &task->mutex, WAIT_FOREVER));
    return NULL;
}

kith_error *task_apply_bound(struct task *task, const struct bound_message *message, size_t bytes)
{
    const struct sort_expr *exprs;
    struct dynamic_filter_counters before, after;
    size_t i = 0;
    while (i < task->context.filter_count && dynamic_filter_id(task->context.filters[i]) != message->filter_id)
        i++;
    if (i == task->context.filter_count)
        return error_new(KITH_ERROR_PROTOCOL, "a bound for dynamic filter %" PRIu64 ", which the task's plan has not",
                         message->filter_id);
    struct dynamic_filter *filter = task->context.filters[i];
    size_t count = dynamic_filter_exprs(filter, &exprs);
    _cleanup_(bound_unref) struct bound *bound = NULL;
    bool stronger;
    TRY(bound_from_message(message, exprs, count, clock_monotonic_ns(task_clock(task)), &bound));
    dynamic_filter_counters(filter, &before);
    dynamic_filter_offer(filter, BOUND_REMOTE, bound, &stronger);
    dynamic_filter_counters(filter, &after);
    int64_t delay = task_clock(task)->wall_ns(task_clock(task)) - message->found_unix_ns;
    HOLD_MUTEX(&task->mutex);
    struct bound_traffic *traffic = &task->traffic[i];
    TRY(task_note_known_locked(task, i, bound));
    traffic->bytes_received += bytes;
    task->bounds_applied++;
    wait_list_wake_all(&task->bounds);
    /* Clocks of two machines may disagree by more than it took. */
    if (after.applied > before.applied && message->found_unix_ns != 0 && delay > 0) {
        traffic->delay_ns += (uint64_t)delay;
        traffic->delay_max_ns = MAX(traffic->delay_max_ns, (uint64_t)delay);
    }
    return NULL;
}

void task_sum_metrics(struct task *task, uint64_t totals[METRIC_COUNT])
{
    HOLD_MUTEX(&task->mutex);
    run_metrics_sum(task->tree, &task->context, task->traffic, totals);
}

void task_read_metrics(struct task *task, uint64_t (*nodes)[METRIC_COUNT], struct task_metrics *out)
{
    HOLD_MUTEX(&task->mutex);
    run_metrics_read(task->tree, &task->context, task->traffic, nodes);
    *out = (struct task_metrics){
        .node_count = task->tree->node_count,
        .nodes = nodes,
        .plan_received_unix_ns = task->plan_received_unix_ns,
        .started_unix_ns = task->started_unix_ns,
        .finished_unix_ns = task->finished_unix_ns,
    };
}
