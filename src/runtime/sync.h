/*
 * Waiting for a condition that other fibers change: a wait list, from which channels and the rest are made, and a
 * barrier. Thread-safe. The mutex of a wait list is held for a few instructions only: never across another wait.
 */
#ifndef KITH_RUNTIME_SYNC_H
#define KITH_RUNTIME_SYNC_H

#include "base/error.h"
#include "runtime/fiber_errno.h"

#include <pthread.h>
#include <stdint.h>

struct waiter;

/* FIFO list of suspended fibers, guarded by the owner's pthread mutex. Zero-initialised is empty. */
struct wait_list {
    struct waiter *first;
    struct waiter *last;
};

enum { WAIT_FOREVER = -1 };

/* Suspends the running fiber on `list`. `mutex` is held by the caller, released while suspended, and held again on
 * return, on success and on error alike. Returns NULL when woken, the reason when the fiber's token is cancelled,
 * TIMEOUT at `deadline_ns` (monotonic; WAIT_FOREVER for none). Wake-ups may be spurious: test the condition in a loop.
 * From a thread outside the runtime it blocks that thread. */
kith_error *wait_list_wait(struct wait_list *list, pthread_mutex_t *mutex, int64_t deadline_ns) _must_check_;

/* Wake one or all; the owner's mutex is held. */
void wait_list_wake_one(struct wait_list *list);
void wait_list_wake_all(struct wait_list *list);

/* Suspends until the deadline; TIMEOUT never, the reason when cancelled. */
kith_error *sleep_until(int64_t deadline_ns) _must_check_;

/* `parties` fibers call barrier_wait; none passes until all have. Reusable. */
struct barrier;
kith_error *barrier_new(size_t parties, struct barrier **out) _must_check_;
void barrier_free(struct barrier *barrier);
DEFINE_CLEANUP(barrier_free, struct barrier)
kith_error *barrier_wait(struct barrier *barrier) _must_check_;

#endif
