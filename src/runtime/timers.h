/*
 * Inside the runtime only: the deadlines of waits, in a binary heap. The nearest one is armed in a timerfd that is
 * polled with the descriptors (poller.h), so that adding a nearer deadline wakes no thread. Thread-safe.
 *
 * With a clock other than system_clock no time passes by itself: deadlines are looked at when the clock's
 * owner calls runtime_clock_advanced.
 */
#ifndef KITH_RUNTIME_TIMERS_H
#define KITH_RUNTIME_TIMERS_H

#include "base/clock.h"
#include "base/vec.h"
#include "runtime/wait.h"

struct timers {
    pthread_mutex_t mutex;
    const struct clock *clock;
    int timer_fd;        /* -1 when the clock is not the system's */
    int64_t armed_ns;    /* what timer_fd is set to; INT64_MAX for nothing */
    atomic_size_t count; /* the heap's length, to be read without the mutex as a hint */
    VEC(struct waiter *) heap;
};

void timers_init(struct timers *timers, const struct clock *clock);
void timers_destroy(struct timers *timers);

/* Opens the timerfd, if the clock is the system's. Before the first timers_add. */
kith_error *timers_start(struct timers *timers) _must_check_;

/* Ends the wait with TIMED_OUT at waiter->deadline_ns, unless removed before. */
kith_error *timers_add(struct timers *timers, struct waiter *waiter) _must_check_;

/* Once it returns, the timers do not know the waiter any more. */
void timers_remove(struct timers *timers, struct waiter *waiter);

/* Ends every wait whose deadline has come and arms the next. From any thread. */
void timers_fire(struct timers *timers);

#endif
