/*
 * Inside the runtime only: a thread that looks at the worker threads several times within the limit TURN_MILLISECONDS
 * and logs a turn that does not end, with what it is doing (turns.h). It sleeps while no worker runs anything. A turn
 * that ends too late between two looks is logged by its worker. At most one line a second; what is not logged is
 * counted.
 *
 * Time during which the machine ran something else on the processor is no fault of the fiber: a turn counts as too long
 * only if its thread has used the processor for most of it.
 */
#ifndef KITH_RUNTIME_WATCHDOG_H
#define KITH_RUNTIME_WATCHDOG_H

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"

#include <pthread.h>
#include <stdatomic.h>

struct runtime;
struct worker;

/* What the watchdog has seen of one worker. */
struct watched {
    uint64_t progress;
    int64_t since_ns;       /* it saw that first */
    _Atomic int64_t cpu_ns; /* of the thread then; also read by the worker itself */
    _Atomic uint64_t told;  /* the progress at which a turn was logged */
};

struct watchdog {
    struct runtime *runtime;
    struct watched *watched; /* one a worker; NULL: no thread, as time is not the system's */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t change;
    bool stopping;
    int64_t last_log_ns;
    _Atomic uint64_t logged; /* turns that were too long */
};

static const int64_t watchdog_patience_ns = LIMIT_TURN_MILLISECONDS * NANOSECONDS_PER_MILLISECOND;

void watchdog_init(struct watchdog *watchdog, struct runtime *runtime);
/* After the workers have started. */
kith_error *watchdog_start(struct watchdog *watchdog) _must_check_;
/* Before the workers stop. */
void watchdog_destroy(struct watchdog *watchdog);

/* By the worker: a turn has taken longer than the patience. */
void watchdog_turn_ended(struct watchdog *watchdog, struct worker *worker, const char *activity, int64_t took_ns);

#endif
