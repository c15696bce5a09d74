/*
 * Inside the runtime only: the fibers that wait for one worker thread, in fair order.
 *
 * Fibers of one query have one share of the thread, however many they are; a fiber of no query has one of its own.
 * Shares with fibers to run take turns by deficit round robin (Shreedhar and Varghese, "Efficient Fair Queuing using
 * Deficit Round Robin", 1995) over time: each may use SHARE_QUANTUM_NS, then goes to the end of the round. A share that
 * had nothing to run and has not used up its quantum goes before the round, so that who wakes up for a moment's work
 * does not wait behind all that compute (as new flows do in RFC 8290); it cannot live there, as what it uses is its
 * quantum. Every so often one of the round goes first, whatever comes.
 *
 * Urgent fibers (fiber_make_urgent) go before all others, in order of arrival.
 *
 * Thread-safe: the mutex guards all but what is said. The lengths are also read without it, as hints.
 */
#ifndef KITH_RUNTIME_RUN_QUEUE_H
#define KITH_RUNTIME_RUN_QUEUE_H

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"

#include <pthread.h>
#include <stdatomic.h>

struct fiber;

/* What a share may use before others have their turn; also how long one turn may take while others wait. */
enum { SHARE_QUANTUM_NS = 2000000 };

/* One share of one worker's time. Has nothing to run when it is made. */
struct share {
    struct list fibers;
    struct link link;          /* in one of the queue's two lists, while it has fibers */
    _Atomic int64_t credit_ns; /* what is left of its quantum; turns are charged without the mutex */
};

struct run_queue {
    pthread_mutex_t mutex;
    struct list urgent;
    struct list rested; /* with credit, after having had nothing to run */
    struct list round;
    unsigned rested_in_a_row;
    atomic_size_t length; /* of all */
    atomic_size_t urgent_length;
};

/* The shares of one query, one a worker; so that workers do not contend for them. */
struct share_group {
    size_t worker_count;
    struct share shares[];
};
kith_error *share_group_new(size_t worker_count, struct share_group **out) _must_check_;

static inline void share_init(struct share *share)
{
    *share = (struct share){.credit_ns = SHARE_QUANTUM_NS};
}

void run_queue_init(struct run_queue *queue);
void run_queue_destroy(struct run_queue *queue);

/* A new fiber, or one that has been woken. `worker` is the index of the queue's worker, by which a fiber's share is
 * found. */
void run_queue_push(struct run_queue *queue, size_t worker, struct fiber *fiber);
/* Of a fiber that has only made way for others: goes on before what else its share has. */
void run_queue_push_first(struct run_queue *queue, size_t worker, struct fiber *fiber);

/* The next to run, NULL when there is none. */
struct fiber *run_queue_take(struct run_queue *queue);
/* The same after `yielding`, which goes behind all others, has been queued again. */
struct fiber *run_queue_exchange(struct run_queue *queue, size_t worker, struct fiber *yielding);

/* Takes half of all, but no more than `most`, in the order in which they would run, into an empty list. */
void run_queue_take_half(struct run_queue *queue, size_t most, struct list *out);
/* NULL when the list of fibers is empty. */
struct fiber *fiber_list_remove_first(struct list *list);

static inline bool run_queue_is_empty(const struct run_queue *queue)
{
    return atomic_load_explicit(&queue->length, memory_order_relaxed) == 0;
}

/* Fibers that are not urgent. Sequentially consistent, for who has just pushed one. */
static inline size_t run_queue_ordinary(const struct run_queue *queue)
{
    size_t urgent = atomic_load(&queue->urgent_length), all = atomic_load(&queue->length);
    return all > urgent ? all - urgent : 0;
}

/* The fiber's turn on `worker` took so long. */
void share_charge(struct fiber *fiber, size_t worker, int64_t ns);

#endif
