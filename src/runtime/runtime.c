#include "runtime/runtime.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "runtime/fiber_annotations.h"
#include "runtime/large_stack.h"
#include "runtime/mutex.h"
#include "runtime/scheduler.h"

#include <sched.h>
#include <string.h>

enum { OFFLOAD_THREADS_DEFAULT = 4, LARGE_STACKS_KEPT = 4 };

static size_t usable_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return (size_t)CPU_COUNT(&set);
}

/* What cannot fail, so that runtime_free can undo it however far the start comes. */
static void init(struct runtime *runtime, const struct runtime_options *options)
{
    runtime->clock = options->clock != NULL ? options->clock : &system_clock;
    pthread_mutex_init(&runtime->idle_mutex, NULL);
    pthread_mutex_init(&runtime->live_mutex, NULL);
    pthread_cond_init(&runtime->live_changed, NULL);
    stack_pool_init(&runtime->stacks, (size_t)LIMIT_FIBER_STACK_BYTES * STACK_SIZE_FACTOR, STACK_POOL_KEEPS);
    stack_pool_init(&runtime->large_stacks, LARGE_STACK_BYTES, LARGE_STACKS_KEPT);
    timers_init(&runtime->timers, runtime->clock);
    poller_init(&runtime->poller, &runtime->timers);
    offload_pool_init(&runtime->offload,
                      options->offload_threads != 0 ? options->offload_threads : OFFLOAD_THREADS_DEFAULT);
    scheduler_init(runtime);
    watchdog_init(&runtime->watchdog, runtime);
}

kith_error *runtime_new(const struct runtime_options *options, struct runtime **out)
{
    static const struct runtime_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    size_t threads = options->threads != 0 ? options->threads : usable_processors();

    _cleanup_free_ struct runtime *allocated = NULL;
    TRY(NEW(&allocated));
    TRY(alloc_aligned(threads * sizeof(struct worker), &allocated->workers));
    memset(allocated->workers, 0, threads * sizeof(struct worker));
    allocated->worker_count = threads;

    _cleanup_(runtime_free) struct runtime *runtime = TAKE(allocated);
    init(runtime, options);
    TRY(timers_start(&runtime->timers));
    TRY(poller_start(&runtime->poller));
    TRY(scheduler_start(runtime));
    TRY(watchdog_start(&runtime->watchdog));
    *out = TAKE(runtime);
    return NULL;
}

void runtime_free(struct runtime *runtime)
{
    if (runtime == NULL)
        return;
    ASSERT(runtime_current() != runtime);
    pthread_mutex_lock(&runtime->live_mutex);
    while (atomic_load(&runtime->live_fibers) > 0 || runtime->visitors > 0)
        pthread_cond_wait(&runtime->live_changed, &runtime->live_mutex);
    pthread_mutex_unlock(&runtime->live_mutex);

    watchdog_destroy(&runtime->watchdog);
    scheduler_destroy(runtime);
    offload_pool_destroy(&runtime->offload);
    poller_destroy(&runtime->poller);
    timers_destroy(&runtime->timers);
    stack_pool_destroy(&runtime->stacks);
    stack_pool_destroy(&runtime->large_stacks);
    pthread_cond_destroy(&runtime->live_changed);
    pthread_mutex_destroy(&runtime->live_mutex);
    pthread_mutex_destroy(&runtime->idle_mutex);
    free(runtime->workers);
    free(runtime);
}

size_t runtime_threads(const struct runtime *runtime)
{
    return runtime->worker_count;
}

const struct clock *runtime_clock(const struct runtime *runtime)
{
    return runtime->clock;
}

void runtime_clock_advanced(struct runtime *runtime)
{
    timers_fire(&runtime->timers);
}

struct runtime *runtime_current(void)
{
    struct worker *worker = worker_current();
    return worker != NULL && worker->current != NULL ? worker->runtime : NULL;
}

kith_error *runtime_run(struct runtime *runtime, kith_error *(*main_function)(void *argument), void *argument)
{
    ASSERT(runtime_current() == NULL);
    struct fiber *fiber = NULL;
    TRY(fiber_spawn(runtime, &(struct fiber_options){.name = "main"}, main_function, argument, &fiber));
    return fiber_join(fiber);
}

size_t runtime_live_fibers(const struct runtime *runtime)
{
    return atomic_load(&runtime->live_fibers);
}
