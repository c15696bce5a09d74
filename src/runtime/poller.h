/*
 * Inside the runtime only: epoll over the descriptors that fibers wait for (io.h) and the nearest timer (timers.h).
 * Descriptors are armed one-shot, so that one nobody waits for wakes nobody.
 *
 * It has no thread: a worker that finds nothing to run sleeps in it, so that an event wakes the very thread that
 * goes on with the fiber. One worker polls at a time; while all are busy, one looks here now and then
 * between two fibers. More is not needed, as nobody could run what becomes ready meanwhile.
 */
#ifndef KITH_RUNTIME_POLLER_H
#define KITH_RUNTIME_POLLER_H

#include "base/error.h"
#include "runtime/sync.h"

#include <stdatomic.h>
#include <sys/epoll.h>

struct timers;
struct io_descriptor;

struct poller {
    struct timers *timers;
    int epoll_fd;
    int event_fd;            /* interrupts the wait */
    atomic_bool taken;       /* some worker polls */
    atomic_size_t requests;  /* io_waits that have not ended */
    _Atomic int64_t last_ns; /* when a busy worker last polled, by system_clock */

    pthread_mutex_t mutex;             /* guards the rest */
    struct io_descriptor *descriptors; /* indexed by descriptor number */
    size_t descriptor_count;
};

struct poller_events {
    struct epoll_event items[64];
    int count;
};

/* `timers` must outlive the poller. */
void poller_init(struct poller *poller, struct timers *timers);
void poller_destroy(struct poller *poller);

/* Once, after timers_start. */
kith_error *poller_start(struct poller *poller) _must_check_;

/* The right to poll. */
bool poller_try_take(struct poller *poller);
void poller_release(struct poller *poller);

/* Waits for events, without end or not at all, and then makes the fibers runnable that waited for them. Two steps, so
 * that a worker can stop counting as idle in between. Only for who has taken the poller. */
void poller_wait(struct poller *poller, bool block, struct poller_events *out);
void poller_handle(struct poller *poller, const struct poller_events *events);

/* Ends the poller_wait that is going on, or else the next. From any thread. */
void poller_interrupt(struct poller *poller);

/* True when nobody polls although some fiber waits for a descriptor or a deadline. */
bool poller_is_neglected(struct poller *poller);

#endif
