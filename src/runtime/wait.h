/*
 * Inside the runtime only: one wait of a fiber or of an outside thread, and the rule that makes no wake-up be lost.
 *
 * A waiter can be ended by three parties at the same time: its wait list, its cancel token, and a timer. Its state is
 * one atomic word that the first of them moves away from PREPARING or PARKED; the others find it moved and leave it
 * alone. PREPARING means that the fiber still runs on its stack: whoever ends the wait then does no more, because the
 * fiber's worker looks at the word once it is off that stack, and queues the fiber again if it is no longer PREPARING.
 * Only who moves a PARKED waiter makes its fiber runnable. So no fiber is ever resumed on a stack still in use.
 *
 * A list is guarded by its owner's mutex, a timer by the timers' mutex and a token by its tree's. Each of the
 * three is left, under its mutex, before the wait returns, so none ends a later wait of the same fiber by mistake.
 */
#ifndef KITH_RUNTIME_WAIT_H
#define KITH_RUNTIME_WAIT_H

#include "base/error.h"
#include "runtime/sync.h"

#include <stdatomic.h>

enum waiter_state {
    WAITER_RUNNING,   /* not waiting */
    WAITER_PREPARING, /* waiting, but still on its stack */
    WAITER_PARKED,
    WAITER_WOKEN, /* this and what follows: how the wait ended */
    WAITER_CANCELLED,
    WAITER_TIMED_OUT,
};

struct waiter {
    struct fiber *fiber; /* NULL: a thread outside the runtime, blocked on `state` */
    atomic_uint state;
    struct wait_list *list; /* NULL when in none */
    struct waiter *previous;
    struct waiter *next;
    int64_t deadline_ns;
    size_t timer_position; /* 1-based place in the heap of timers; 0 when in none */
};

enum wait_shield { WAIT_CANCELLABLE, WAIT_SHIELDED };

/* wait_list_wait with a choice whether cancellation is an error; a shielded wait may end spuriously because of it.
 * `list` and `mutex` may both be NULL: then only the deadline or cancellation ends it. */
kith_error *waiter_wait(struct wait_list *list, pthread_mutex_t *mutex, int64_t deadline_ns,
                        enum wait_shield shield) _must_check_;

/* Ends the wait with `outcome` unless it has ended already (false then). The caller holds the mutex of the list, the
 * timers or the token through which it knows the waiter. */
bool waiter_wake(struct waiter *waiter, enum waiter_state outcome);

/* Called on the scheduler's stack once the waiter's fiber is off its own: true when it is parked, false when its wait
 * has ended in the meantime and it must be queued again. */
bool waiter_commit(struct waiter *waiter);

#endif
