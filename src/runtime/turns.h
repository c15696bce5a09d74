/*
 * How long fibers keep their threads. A turn begins when a worker thread resumes a fiber and ends when the fiber waits,
 * yields or ends, or charges its budget while nobody waits for the thread. A turn that the fiber could have gone on
 * with ends with a forced yield: its budget or its time was used up.
 *
 * Turns are counted by worker thread, and by account: what a fiber says it is doing (an operator, by its name). One
 * turn is counted to the account that the fiber is in at its end. The clock is the runtime's, read once a turn.
 *
 * With the system's clock a watchdog looks at the threads and logs a warning when one has not come to the end of its
 * turn, nor charged anything, for longer than the limit TURN_MILLISECONDS and has used the processor for most of that
 * time: what waits for the thread and is not stolen, and the cancellation of what it runs, wait so long.
 */
#ifndef KITH_RUNTIME_TURNS_H
#define KITH_RUNTIME_TURNS_H

#include "runtime/runtime.h"

#include <stdatomic.h>

struct turn_account {
    const char *name; /* a literal */
    /* Relaxed: counters that guard no other memory. */
    _Atomic uint64_t turns;
    _Atomic uint64_t forced_yields;
    _Atomic uint64_t longest_ns;
};

/* The running fiber does the account's work from now on; gives what it did before, to be given to fiber_leave. Accounts
 * are borrowed. Outside a fiber nothing is counted. `account` may be NULL. */
struct turn_account *fiber_enter(struct turn_account *account);
void fiber_leave(struct turn_account *before);

struct runtime_turns {
    uint64_t turns, forced_yields, longest_ns;
    uint64_t too_long; /* that the watchdog has logged */
};
/* Of all worker threads since the runtime's start. From any thread. */
void runtime_read_turns(const struct runtime *runtime, struct runtime_turns *out);

#endif
