#include "runtime/scheduler.h"

#include "runtime/context.h"
#include "runtime/futex.h"
#include "runtime/mutex.h"
#include "runtime/thread.h"

/* A thief walks what it takes under the victim's mutex, so it takes no more than this at once. */
enum { STEAL_AT_MOST = 32 };

/* About what a sleeping thread needs to wake up: a fiber that has waited so long is worth one. */
enum { BACKLOG_PATIENCE_NS = 50000 };

/* How often busy workers look for events: looking costs a system call, well below a microsecond. */
enum { POLL_INTERVAL_NS = 50000 };

_Thread_local struct worker *this_worker;

__attribute__((noinline)) struct worker *worker_current(void)
{
    __asm__ volatile("" ::: "memory"); /* keeps the compiler from deducing that the result never changes */
    return this_worker;
}

static void push(struct worker *worker, struct fiber *fiber)
{
    run_queue_push(&worker->queue, worker->index, fiber);
}

/* The first of what is taken; the others go to the worker's own queue. */
static struct fiber *steal(struct worker *worker)
{
    struct runtime *runtime = worker->runtime;
    for (size_t i = 1; i < runtime->worker_count; i++) {
        struct worker *victim = &runtime->workers[(worker->index + i) % runtime->worker_count];
        struct list taken = {0};
        run_queue_take_half(&victim->queue, STEAL_AT_MOST, &taken);
        struct fiber *first = fiber_list_remove_first(&taken);
        for (struct fiber *fiber; (fiber = fiber_list_remove_first(&taken)) != NULL;)
            push(worker, fiber);
        if (first != NULL)
            return first;
    }
    return NULL;
}

/* The length is read sequentially consistently: pairs with a pusher that adds to it and then reads idle_count and
 * searching. */
static bool anything_queued(struct runtime *runtime)
{
    for (size_t i = 0; i < runtime->worker_count; i++)
        if (atomic_load(&runtime->workers[i].queue.length) > 0)
            return true;
    return false;
}

/* Claims `worker` if it is idle; it then counts as searching. The idle mutex is held. */
static bool claim(struct worker *worker)
{
    if (!worker->idle)
        return false;
    worker->idle = false;
    atomic_fetch_sub(&worker->runtime->idle_count, 1);
    atomic_fetch_add(&worker->runtime->searching, 1);
    return true;
}

/* After claiming it. Should the worker have woken by itself and gone to sleep again, this wakes it once too often. */
static void wake(struct worker *worker)
{
    atomic_store(&worker->wake_word, 1);
    if (atomic_load(&worker->polling))
        poller_interrupt(&worker->runtime->poller);
    else
        futex_wake(&worker->wake_word);
}

/* Wakes `home` if it is idle. */
static bool wake_home(struct worker *home)
{
    {
        HOLD_MUTEX(&home->runtime->idle_mutex);
        if (!claim(home))
            return false;
    }
    wake(home);
    return true;
}

/* Claims an idle worker, one that does not poll if possible. */
static struct worker *claim_any(struct runtime *runtime)
{
    HOLD_MUTEX(&runtime->idle_mutex);
    struct worker *polling = NULL;
    for (size_t i = 0; i < runtime->worker_count; i++) {
        struct worker *worker = &runtime->workers[i];
        if (worker->idle && atomic_load(&worker->polling))
            polling = worker;
        else if (claim(worker))
            return worker;
    }
    return polling != NULL && claim(polling) ? polling : NULL;
}

/* Wakes an idle worker, unless one that was woken before is still looking for work. */
static void wake_any(struct runtime *runtime)
{
    if (atomic_load(&runtime->idle_count) == 0 || atomic_load(&runtime->searching) > 0)
        return;
    struct worker *claimed = claim_any(runtime);
    if (claimed != NULL)
        wake(claimed);
}

static void enter_as_visitor(struct runtime *runtime)
{
    HOLD_MUTEX(&runtime->live_mutex);
    runtime->visitors++;
}

static void leave_as_visitor(struct runtime *runtime)
{
    HOLD_MUTEX(&runtime->live_mutex);
    if (--runtime->visitors == 0)
        pthread_cond_broadcast(&runtime->live_changed);
}

void scheduler_make_runnable(struct fiber *fiber)
{
    struct runtime *runtime = fiber->runtime;
    struct worker *self = worker_current();
    if (self != NULL && self->runtime == runtime) {
        bool urgent = fiber->urgent;
        push(self, fiber); /* another worker may take it at once, and it may end */
        if (!urgent && run_queue_ordinary(&self->queue) > 1)
            wake_any(runtime);
        return;
    }
    /* Once queued, the fiber may run and end at any time, but the runtime stays until its visitors have left. */
    struct worker *home = &runtime->workers[fiber->home];
    enter_as_visitor(runtime);
    push(home, fiber);
    if (atomic_load(&runtime->idle_count) > 0 && !wake_home(home))
        wake_any(runtime);
    leave_as_visitor(runtime);
}

bool scheduler_is_otherwise_idle(struct worker *worker)
{
    return run_queue_is_empty(&worker->queue) && !poller_is_neglected(&worker->runtime->poller);
}

void scheduler_share_backlog(struct worker *worker)
{
    struct runtime *runtime = worker->runtime;
    if (scheduler_is_otherwise_idle(worker) || atomic_load_explicit(&runtime->idle_count, memory_order_relaxed) == 0) {
        worker->backlog_since_ns = 0;
        return;
    }
    /* Real time even in simulation, which has one worker and so never comes here. */
    int64_t now = clock_monotonic_ns(&system_clock);
    if (worker->backlog_since_ns == 0) {
        worker->backlog_since_ns = now;
    } else if (now - worker->backlog_since_ns >= BACKLOG_PATIENCE_NS) {
        worker->backlog_since_ns = 0;
        wake_any(runtime);
    }
}

void scheduler_switch_out(struct fiber *fiber, enum switched_to switched_to)
{
    struct worker *worker = worker_current();
    worker->switched_to = switched_to;
    annotation_before_switch(&fiber->annotation, switched_to == SWITCHED_TO_END, &worker->annotation);
    context_switch(&fiber->stack_pointer, worker->stack_pointer);
    annotation_after_switch(&fiber->annotation, &worker_current()->annotation);
}

void scheduler_begin_turn(struct worker *worker, struct fiber *fiber)
{
    worker->last_turn += worker->runtime->worker_count;
    fiber->turn = worker->last_turn;
    fiber->budget = COOP_BUDGET;
    worker->granted = 0;
    worker->turn = fiber->turn;
}

void scheduler_end_turn(struct fiber *fiber, enum switched_to as)
{
    struct worker *worker = worker_current();
    if (scheduler_is_otherwise_idle(worker)) {
        turn_renew(worker, fiber);
        scheduler_begin_turn(worker, fiber);
    } else {
        scheduler_switch_out(fiber, as);
    }
}

kith_error *scheduler_yield(struct fiber *fiber, enum switched_to as)
{
    scheduler_end_turn(fiber, as);
    return cancel_token_check(fiber->cancel);
}

/* One turn of a fiber, or what is left of it. Gives it back when it yields. */
static struct fiber *run(struct worker *worker, struct fiber *fiber)
{
    worker->turn = fiber->turn;
    if (!fiber->made_way)
        scheduler_begin_turn(worker, fiber);
    fiber->made_way = false;
    fiber->home = worker->index;
    worker->backlog_since_ns = 0;
    worker->granted_ns = 0;
    worker->granted_ahead = 0;
    worker->cancelled = cancel_token_flag(fiber->cancel);
    worker->current = fiber;
    turn_begin(worker, fiber);
    annotation_before_switch(&worker->annotation, 0, &fiber->annotation);
    context_switch(&worker->stack_pointer, fiber->stack_pointer);
    annotation_after_switch(&worker->annotation, &fiber->annotation);
    turn_end(worker, fiber);
    worker->current = NULL;
    worker->turn = 0;
    fiber->budget += worker->granted;
    worker->granted = 0;

    switch (worker->switched_to) {
    case SWITCHED_TO_YIELD:
    case SWITCHED_TO_FORCED_YIELD:
        return fiber;
    case SWITCHED_TO_MAKE_WAY:
        fiber->made_way = true;
        run_queue_push_first(&worker->queue, worker->index, fiber);
        return NULL;
    case SWITCHED_TO_WAIT:
        if (!waiter_commit(&fiber->waiter))
            push(worker, fiber);
        return NULL;
    case SWITCHED_TO_END:
        fiber_finish(fiber);
        return NULL;
    }
    UNREACHABLE();
}

static void stop_searching(struct worker *worker)
{
    if (!worker->searching)
        return;
    worker->searching = false;
    atomic_fetch_sub(&worker->runtime->searching, 1);
}

/* Sleeps in the poller if nobody does yet. What was polled is handled only after `worker` has stopped being idle. */
static void block(struct worker *worker, struct poller_events *events)
{
    struct poller *poller = &worker->runtime->poller;
    if (atomic_load(&worker->polling)) {
        poller_wait(poller, true, events);
        return;
    }
    while (atomic_load(&worker->wake_word) == 0)
        futex_wait(&worker->wake_word, 0, -1);
}

/* Sleeps until woken, then counts as searching. Announces itself as idle first and looks at the queues after that, so
 * that a fiber queued meanwhile is seen either here or by a pusher that finds an idle worker. */
static void sleep_until_woken(struct worker *worker)
{
    struct runtime *runtime = worker->runtime;
    bool polls = poller_try_take(&runtime->poller);
    atomic_store(&worker->wake_word, 0);
    atomic_store(&worker->polling, polls);
    pthread_mutex_lock(&runtime->idle_mutex);
    worker->idle = true;
    atomic_fetch_add(&runtime->idle_count, 1);
    pthread_mutex_unlock(&runtime->idle_mutex);
    stop_searching(worker);

    struct poller_events events = {0};
    if (!anything_queued(runtime) && !atomic_load(&runtime->stopping))
        block(worker, &events);

    pthread_mutex_lock(&runtime->idle_mutex);
    claim(worker); /* unless a waker has */
    pthread_mutex_unlock(&runtime->idle_mutex);
    worker->searching = true;
    atomic_store(&worker->polling, false);
    poller_handle(&runtime->poller, &events);
    if (polls)
        poller_release(&runtime->poller);
}

/* Looks for events when it is time and nobody else does. */
static void poll_now_and_then(struct runtime *runtime)
{
    struct poller *poller = &runtime->poller;
    if (!poller_is_neglected(poller))
        return;
    int64_t now = clock_monotonic_ns(&system_clock);
    if (now - atomic_load_explicit(&poller->last_ns, memory_order_relaxed) < POLL_INTERVAL_NS)
        return;
    if (!poller_try_take(poller))
        return;
    atomic_store_explicit(&poller->last_ns, now, memory_order_relaxed);
    struct poller_events events;
    poller_wait(poller, false, &events);
    poller_handle(poller, &events);
    poller_release(poller);
}

bool scheduler_turn_is_over(struct worker *worker)
{
    return !run_queue_is_empty(&worker->queue) && turn_took_ns(worker) >= SHARE_QUANTUM_NS;
}

bool scheduler_urgent_waits(struct worker *worker)
{
    poll_now_and_then(worker->runtime);
    return atomic_load_explicit(&worker->queue.urgent_length, memory_order_relaxed) > 0;
}

/* The next fiber to run, after `yielding`, if any, has been queued again; NULL when the runtime stops. */
static struct fiber *next_fiber(struct worker *worker, struct fiber *yielding)
{
    struct runtime *runtime = worker->runtime;
    poll_now_and_then(runtime);
    for (;;) {
        struct fiber *fiber = yielding != NULL ? run_queue_exchange(&worker->queue, worker->index, TAKE(yielding))
                                               : run_queue_take(&worker->queue);
        if (fiber == NULL)
            fiber = steal(worker);
        if (fiber != NULL) {
            bool searched = worker->searching;
            stop_searching(worker);
            bool waits_long = !fiber->urgent && run_queue_ordinary(&worker->queue) > 0;
            if (atomic_load(&runtime->idle_count) > 0 && (searched ? anything_queued(runtime) : waits_long))
                wake_any(runtime);
            return fiber;
        }
        if (atomic_load(&runtime->stopping)) {
            stop_searching(worker);
            return NULL;
        }
        sleep_until_woken(worker);
        worker->turn_began_ns = NOT_TIMED;
    }
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    this_worker = worker;
    worker->turn_began_ns = NOT_TIMED;
    annotation_init_thread(&worker->annotation);
    struct fiber *yielding = NULL;
    for (;;) {
        struct fiber *fiber = next_fiber(worker, yielding);
        if (fiber == NULL)
            return NULL;
        yielding = run(worker, fiber);
    }
}

void scheduler_init(struct runtime *runtime)
{
    for (size_t i = 0; i < runtime->worker_count; i++) {
        struct worker *worker = &runtime->workers[i];
        worker->runtime = runtime;
        worker->index = i;
        worker->last_turn = i;
        run_queue_init(&worker->queue);
    }
}

kith_error *scheduler_start(struct runtime *runtime)
{
    for (size_t i = 0; i < runtime->worker_count; i++) {
        TRY(thread_start(&runtime->workers[i].thread, "kith-worker", worker_main, &runtime->workers[i]));
        runtime->started_workers++;
    }
    return NULL;
}

void scheduler_destroy(struct runtime *runtime)
{
    atomic_store(&runtime->stopping, true);
    for (size_t i = 0; i < runtime->started_workers; i++)
        wake_home(&runtime->workers[i]);
    for (size_t i = 0; i < runtime->started_workers; i++)
        pthread_join(runtime->workers[i].thread, NULL);
    for (size_t i = 0; i < runtime->worker_count; i++)
        run_queue_destroy(&runtime->workers[i].queue);
}
