/*
 * Inside the runtime only: the thread that waits on epoll for descriptors that fibers wait for (io.h), and for the
 * nearest timer (timers.h). Descriptors are armed one-shot, so that one nobody waits for wakes nobody.
 */
#ifndef KITH_RUNTIME_POLLER_H
#define KITH_RUNTIME_POLLER_H

#include "base/error.h"
#include "runtime/sync.h"

#include <stdatomic.h>

struct timers;
struct io_descriptor;

struct poller {
    struct timers *timers;
    int epoll_fd;
    int event_fd; /* interrupts the wait */
    pthread_t thread;
    bool started;
    atomic_bool stopping;

    pthread_mutex_t mutex;             /* guards the rest */
    struct io_descriptor *descriptors; /* indexed by descriptor number */
    size_t descriptor_count;
};

/* `timers` must outlive the poller. */
void poller_init(struct poller *poller, struct timers *timers);
/* Stops the thread if it was started. */
void poller_destroy(struct poller *poller);

/* Once, after timers_start. */
kith_error *poller_start(struct poller *poller) _must_check_;

/* Makes the poller look at the timers again. */
void poller_interrupt(struct poller *poller);

#endif
