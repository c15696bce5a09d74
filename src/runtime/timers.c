#include "runtime/timers.h"

#include "runtime/mutex.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

void timers_init(struct timers *timers, const struct clock *clock)
{
    *timers = (struct timers){.clock = clock, .timer_fd = -1, .armed_ns = INT64_MAX};
    pthread_mutex_init(&timers->mutex, NULL);
}

kith_error *timers_start(struct timers *timers)
{
    if (timers->clock != &system_clock)
        return NULL;
    timers->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (timers->timer_fd < 0)
        return error_from_errno(errno, "creating the runtime's timer");
    return NULL;
}

void timers_destroy(struct timers *timers)
{
    if (timers->timer_fd >= 0)
        close(timers->timer_fd);
    vec_reset(&timers->heap);
    pthread_mutex_destroy(&timers->mutex);
}

static void place(struct timers *timers, size_t index, struct waiter *waiter)
{
    timers->heap.items[index] = waiter;
    waiter->timer_position = index + 1;
}

static void sift_up(struct timers *timers, size_t index, struct waiter *waiter)
{
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (timers->heap.items[parent]->deadline_ns <= waiter->deadline_ns)
            break;
        place(timers, index, timers->heap.items[parent]);
        index = parent;
    }
    place(timers, index, waiter);
}

static void sift_down(struct timers *timers, size_t index, struct waiter *waiter)
{
    struct waiter **items = timers->heap.items;
    for (;;) {
        size_t child = 2 * index + 1;
        if (child >= timers->heap.length)
            break;
        if (child + 1 < timers->heap.length && items[child + 1]->deadline_ns < items[child]->deadline_ns)
            child++;
        if (items[child]->deadline_ns >= waiter->deadline_ns)
            break;
        place(timers, index, items[child]);
        index = child;
    }
    place(timers, index, waiter);
}

static void remove_at(struct timers *timers, size_t index)
{
    timers->heap.items[index]->timer_position = 0;
    struct waiter *last = vec_pop(&timers->heap);
    atomic_store(&timers->count, timers->heap.length);
    if (index == timers->heap.length)
        return;
    if (index > 0 && timers->heap.items[(index - 1) / 2]->deadline_ns > last->deadline_ns)
        sift_up(timers, index, last);
    else
        sift_down(timers, index, last);
}

static void arm(struct timers *timers, int64_t deadline_ns)
{
    timers->armed_ns = deadline_ns;
    if (timers->timer_fd < 0 || deadline_ns == INT64_MAX)
        return;
    struct itimerspec when = {
        .it_value = {.tv_sec = deadline_ns / NANOSECONDS_PER_SECOND, .tv_nsec = deadline_ns % NANOSECONDS_PER_SECOND}};
    if (deadline_ns == 0)
        when.it_value.tv_nsec = 1; /* zero would disarm it */
    int result = timerfd_settime(timers->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
    ASSERT(result == 0);
}

kith_error *timers_add(struct timers *timers, struct waiter *waiter)
{
    HOLD_MUTEX(&timers->mutex);
    TRY(vec_push(&timers->heap, waiter));
    atomic_store(&timers->count, timers->heap.length);
    sift_up(timers, timers->heap.length - 1, waiter);
    if (waiter->deadline_ns < timers->armed_ns)
        arm(timers, waiter->deadline_ns);
    return NULL;
}

void timers_remove(struct timers *timers, struct waiter *waiter)
{
    /* An armed deadline stays armed: finding nothing due then is cheaper than a system call here. */
    HOLD_MUTEX(&timers->mutex);
    if (waiter->timer_position != 0)
        remove_at(timers, waiter->timer_position - 1);
}

void timers_fire(struct timers *timers)
{
    HOLD_MUTEX(&timers->mutex);
    int64_t now = clock_monotonic_ns(timers->clock);
    while (timers->heap.length > 0 && timers->heap.items[0]->deadline_ns <= now) {
        struct waiter *waiter = timers->heap.items[0];
        remove_at(timers, 0);
        waiter_wake(waiter, WAITER_TIMED_OUT);
    }
    arm(timers, timers->heap.length > 0 ? timers->heap.items[0]->deadline_ns : INT64_MAX);
}
