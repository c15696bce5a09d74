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

static void queue_push(struct run_queue *queue, struct fiber *first, struct fiber *last, size_t count)
{
    HOLD_MUTEX(&queue->mutex);
    last->next = NULL;
    if (queue->last != NULL)
        queue->last->next = first;
    else
        queue->first = first;
    queue->last = last;
    atomic_fetch_add(&queue->length, count);
}

/* Detaches `want(length)` fibers from the front; *last is the last of them. */
static struct fiber *queue_take(struct run_queue *queue, size_t (*want)(size_t length), struct fiber **last,
                                size_t *count)
{
    if (atomic_load_explicit(&queue->length, memory_order_relaxed) == 0)
        return NULL; /* perhaps no longer: who goes to sleep looks again, see anything_queued */
    HOLD_MUTEX(&queue->mutex);
    *count = want(atomic_load_explicit(&queue->length, memory_order_relaxed));
    if (*count == 0)
        return NULL;
    struct fiber *first = queue->first;
    *last = first;
    for (size_t i = 1; i < *count; i++)
        *last = (*last)->next;
    queue->first = (*last)->next;
    if (queue->first == NULL)
        queue->last = NULL;
    (*last)->next = NULL;
    atomic_fetch_sub(&queue->length, *count);
    return first;
}

static size_t one(size_t length)
{
    return MIN(length, (size_t)1);
}

static size_t half(size_t length)
{
    return MIN((length + 1) / 2, (size_t)STEAL_AT_MOST);
}

static struct fiber *steal_from(struct run_queue *victim, struct run_queue *own)
{
    struct fiber *last = NULL;
    size_t count = 0;
    struct fiber *fiber = queue_take(victim, half, &last, &count);
    if (fiber != NULL && count > 1)
        queue_push(own, fiber->next, last, count - 1);
    return fiber;
}

static struct fiber *steal(struct worker *worker)
{
    struct runtime *runtime = worker->runtime;
    for (size_t i = 1; i < runtime->worker_count; i++) {
        struct worker *victim = &runtime->workers[(worker->index + i) % runtime->worker_count];
        struct fiber *fiber = steal_from(&victim->urgent, &worker->urgent);
        if (fiber == NULL)
            fiber = steal_from(&victim->queue, &worker->queue);
        if (fiber != NULL)
            return fiber;
    }
    return NULL;
}

static struct fiber *take_own(struct worker *worker)
{
    struct fiber *last = NULL;
    size_t count = 0;
    struct fiber *fiber = queue_take(&worker->urgent, one, &last, &count);
    return fiber != NULL ? fiber : queue_take(&worker->queue, one, &last, &count);
}

/* A fiber that has only made way goes on before its equals, with what is left of its budget. */
static void enqueue_first(struct worker *worker, struct fiber *fiber)
{
    struct run_queue *queue = fiber->urgent ? &worker->urgent : &worker->queue;
    HOLD_MUTEX(&queue->mutex);
    fiber->next = queue->first;
    queue->first = fiber;
    if (queue->last == NULL)
        queue->last = fiber;
    atomic_fetch_add(&queue->length, 1);
}

static void enqueue(struct worker *worker, struct fiber *fiber)
{
    queue_push(fiber->urgent ? &worker->urgent : &worker->queue, fiber, fiber, 1);
}

/* The length is read sequentially consistently: pairs with a pusher that adds to it and then reads idle_count and
 * searching. */
static bool anything_queued(struct runtime *runtime)
{
    for (size_t i = 0; i < runtime->worker_count; i++) {
        const struct worker *worker = &runtime->workers[i];
        if (atomic_load(&worker->urgent.length) > 0 || atomic_load(&worker->queue.length) > 0)
            return true;
    }
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
        enqueue(self, fiber);
        if (atomic_load(&self->urgent.length) + atomic_load(&self->queue.length) > 1)
            wake_any(runtime);
        return;
    }
    /* Once queued, the fiber may run and end at any time, but the runtime stays until its visitors have left. */
    struct worker *home = &runtime->workers[fiber->home];
    enter_as_visitor(runtime);
    enqueue(home, fiber);
    if (atomic_load(&runtime->idle_count) > 0 && !wake_home(home))
        wake_any(runtime);
    leave_as_visitor(runtime);
}

static bool queue_is_empty(const struct worker *worker)
{
    return atomic_load_explicit(&worker->urgent.length, memory_order_relaxed) == 0 &&
           atomic_load_explicit(&worker->queue.length, memory_order_relaxed) == 0;
}

bool scheduler_is_otherwise_idle(struct worker *worker)
{
    return queue_is_empty(worker) && !poller_is_neglected(&worker->runtime->poller);
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

/* One turn of a fiber, or what is left of it. */
static void run(struct worker *worker, struct fiber *fiber)
{
    worker->turn = fiber->turn;
    if (!fiber->made_way)
        scheduler_begin_turn(worker, fiber);
    fiber->made_way = false;
    fiber->home = worker->index;
    worker->backlog_since_ns = 0;
    worker->granted_ns = 0;
    worker->cancelled = cancel_token_flag(fiber->cancel);
    worker->current = fiber;
    annotation_before_switch(&worker->annotation, 0, &fiber->annotation);
    context_switch(&worker->stack_pointer, fiber->stack_pointer);
    annotation_after_switch(&worker->annotation, &fiber->annotation);
    worker->current = NULL;
    worker->turn = 0;
    fiber->budget += worker->granted;
    worker->granted = 0;

    switch (worker->switched_to) {
    case SWITCHED_TO_YIELD:
        enqueue(worker, fiber);
        break;
    case SWITCHED_TO_MAKE_WAY:
        fiber->made_way = true;
        enqueue_first(worker, fiber);
        break;
    case SWITCHED_TO_WAIT:
        if (!waiter_commit(&fiber->waiter))
            enqueue(worker, fiber);
        break;
    case SWITCHED_TO_END:
        fiber_finish(fiber);
        break;
    }
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

bool scheduler_urgent_waits(struct worker *worker)
{
    poll_now_and_then(worker->runtime);
    return atomic_load_explicit(&worker->urgent.length, memory_order_relaxed) > 0;
}

/* The next fiber to run; NULL when the runtime stops. */
static struct fiber *next_fiber(struct worker *worker)
{
    struct runtime *runtime = worker->runtime;
    poll_now_and_then(runtime);
    for (;;) {
        struct fiber *fiber = take_own(worker);
        if (fiber == NULL)
            fiber = steal(worker);
        if (fiber != NULL) {
            bool searched = worker->searching;
            stop_searching(worker);
            if (atomic_load(&runtime->idle_count) > 0 &&
                (searched ? anything_queued(runtime) : !queue_is_empty(worker)))
                wake_any(runtime);
            return fiber;
        }
        if (atomic_load(&runtime->stopping)) {
            stop_searching(worker);
            return NULL;
        }
        sleep_until_woken(worker);
    }
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    this_worker = worker;
    annotation_init_thread(&worker->annotation);
    for (;;) {
        struct fiber *fiber = next_fiber(worker);
        if (fiber == NULL)
            return NULL;
        run(worker, fiber);
    }
}

void scheduler_init(struct runtime *runtime)
{
    for (size_t i = 0; i < runtime->worker_count; i++) {
        struct worker *worker = &runtime->workers[i];
        worker->runtime = runtime;
        worker->index = i;
        worker->last_turn = i;
        pthread_mutex_init(&worker->urgent.mutex, NULL);
        pthread_mutex_init(&worker->queue.mutex, NULL);
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
    for (size_t i = 0; i < runtime->worker_count; i++) {
        pthread_mutex_destroy(&runtime->workers[i].urgent.mutex);
        pthread_mutex_destroy(&runtime->workers[i].queue.mutex);
    }
}
