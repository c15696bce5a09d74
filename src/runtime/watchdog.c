#include "runtime/watchdog.h"

#include "base/alloc.h"
#include "base/log.h"
#include "runtime/mutex.h"
#include "runtime/scheduler.h"
#include "runtime/thread.h"

#include <time.h>

/* Between two looks; longer and longer while nothing runs. */
static const int64_t look_interval_ns = watchdog_patience_ns / 3;
static const int64_t longest_interval_ns = NANOSECONDS_PER_SECOND;

void watchdog_init(struct watchdog *watchdog, struct runtime *runtime)
{
    pthread_condattr_t attributes;
    watchdog->runtime = runtime;
    watchdog->last_log_ns = INT64_MIN / 2;
    pthread_mutex_init(&watchdog->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watchdog->change, &attributes);
    pthread_condattr_destroy(&attributes);
}

static int64_t thread_cpu_ns(pthread_t thread)
{
    clockid_t id;
    struct timespec used = {0};
    if (pthread_getcpuclockid(thread, &id) == 0)
        clock_gettime(id, &used);
    return used.tv_sec * NANOSECONDS_PER_SECOND + used.tv_nsec;
}

static int64_t now_ns(const struct watchdog *watchdog)
{
    return clock_monotonic_ns(watchdog->runtime->clock);
}

/* The mutex is held. */
static void tell(struct watchdog *watchdog, const char *activity, int64_t took_ns, const char *so_far)
{
    uint64_t logged = atomic_fetch_add_explicit(&watchdog->logged, 1, memory_order_relaxed) + 1;
    int64_t now = now_ns(watchdog);
    if (now - watchdog->last_log_ns < NANOSECONDS_PER_SECOND)
        return;
    watchdog->last_log_ns = now;
    log_warn("%s has kept its thread for %lld ms%s, more than the limit TURN_MILLISECONDS of %d (%llu such turns in "
             "all)",
             activity, (long long)(took_ns / NANOSECONDS_PER_MILLISECOND), so_far, LIMIT_TURN_MILLISECONDS,
             (unsigned long long)logged);
}

void watchdog_turn_ended(struct watchdog *watchdog, struct worker *worker, const char *activity, int64_t took_ns)
{
    if (watchdog->watched != NULL) {
        struct watched *watched = &watchdog->watched[worker->index];
        int64_t cpu_ns = thread_cpu_ns(pthread_self()) - atomic_load_explicit(&watched->cpu_ns, memory_order_relaxed);
        if (cpu_ns < watchdog_patience_ns / 2 || atomic_load_explicit(&watched->told, memory_order_relaxed) ==
                                                     atomic_load_explicit(&worker->progress, memory_order_relaxed))
            return;
    }
    HOLD_MUTEX(&watchdog->mutex);
    tell(watchdog, activity, took_ns, "");
}

/* True when the worker runs something. The mutex is held. */
static bool look_at(struct watchdog *watchdog, const struct worker *worker, struct watched *watched)
{
    const char *activity = atomic_load_explicit(&worker->running, memory_order_relaxed);
    uint64_t progress = atomic_load_explicit(&worker->progress, memory_order_relaxed);
    int64_t now = now_ns(watchdog), cpu_ns = thread_cpu_ns(worker->thread);
    if (activity == NULL || progress != watched->progress) {
        watched->progress = progress;
        watched->since_ns = now;
        atomic_store_explicit(&watched->cpu_ns, cpu_ns, memory_order_relaxed);
        return activity != NULL;
    }
    bool is_long = now - watched->since_ns >= watchdog_patience_ns &&
                   cpu_ns - atomic_load_explicit(&watched->cpu_ns, memory_order_relaxed) >= watchdog_patience_ns / 2;
    if (is_long && atomic_load_explicit(&watched->told, memory_order_relaxed) != progress) {
        atomic_store_explicit(&watched->told, progress, memory_order_relaxed);
        tell(watchdog, activity, now - watched->since_ns, " so far");
    }
    return true;
}

static void wait_until(struct watchdog *watchdog, int64_t deadline_ns)
{
    const struct timespec deadline = {.tv_sec = deadline_ns / NANOSECONDS_PER_SECOND,
                                      .tv_nsec = deadline_ns % NANOSECONDS_PER_SECOND};
    while (!watchdog->stopping && now_ns(watchdog) < deadline_ns)
        pthread_cond_timedwait(&watchdog->change, &watchdog->mutex, &deadline);
}

static void *watch(void *argument)
{
    struct watchdog *watchdog = argument;
    struct runtime *runtime = watchdog->runtime;
    int64_t interval_ns = look_interval_ns;
    HOLD_MUTEX(&watchdog->mutex);
    while (!watchdog->stopping) {
        bool anything_runs = false;
        for (size_t i = 0; i < runtime->worker_count; i++)
            anything_runs |= look_at(watchdog, &runtime->workers[i], &watchdog->watched[i]);
        interval_ns = anything_runs ? look_interval_ns : MIN(2 * interval_ns, longest_interval_ns);
        wait_until(watchdog, now_ns(watchdog) + interval_ns);
    }
    return NULL;
}

kith_error *watchdog_start(struct watchdog *watchdog)
{
    if (watchdog->runtime->clock != &system_clock)
        return NULL;
    TRY(NEW_ARRAY(&watchdog->watched, watchdog->runtime->worker_count));
    kith_error *error = thread_start(&watchdog->thread, "kith-watchdog", watch, watchdog);
    if (error != NULL)
        free(TAKE(watchdog->watched));
    return error;
}

void watchdog_destroy(struct watchdog *watchdog)
{
    if (watchdog->watched != NULL) {
        pthread_mutex_lock(&watchdog->mutex);
        watchdog->stopping = true;
        pthread_cond_signal(&watchdog->change);
        pthread_mutex_unlock(&watchdog->mutex);
        pthread_join(watchdog->thread, NULL);
    }
    free(watchdog->watched);
    pthread_cond_destroy(&watchdog->change);
    pthread_mutex_destroy(&watchdog->mutex);
}
