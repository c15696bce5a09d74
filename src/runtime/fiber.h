/*
 * Fibers: stackful coroutines. A fiber runs until it waits, yields or ends; it may continue on another thread than it
 * started on, so nothing in it may keep the address of a thread-local across a wait: not pthread_self, which
 * compilers take for constant, and errno only as fiber_errno.h makes it.
 *
 * A fiber may have a cancel token (cancel.h). When it is cancelled, every wait that the fiber is in or enters returns
 * the token's reason as its error at once; code that computes without waiting notices at its next coop_charge.
 */
#ifndef KITH_RUNTIME_FIBER_H
#define KITH_RUNTIME_FIBER_H

#include "runtime/cancel.h"
#include "runtime/coop.h"
#include "runtime/fiber_errno.h"
#include "runtime/runtime.h"

struct fiber;

typedef kith_error *(*fiber_function)(void *argument);

struct fiber_options {
    const char *name; /* a literal, for debugging */
    struct cancel_token
        *cancel; /* borrowed for the fiber's life (a reference is taken); NULL = the spawner's, or none */
};

/* Starts a fiber; *out must be joined exactly once. Callable from fibers and from other threads. */
kith_error *fiber_spawn(struct runtime *runtime, const struct fiber_options *options, fiber_function function,
                        void *argument, struct fiber **out) _must_check_;

/* Waits for the end of `take_fiber`, frees it and returns its error. Callable from a fiber (suspends) or from a
 * thread outside the runtime (blocks). Joining ignores cancellation: the joined fiber must itself end when cancelled.
 */
kith_error *fiber_join(struct fiber *take_fiber) _must_check_;

/* The running fiber, or NULL outside the runtime. */
struct fiber *fiber_current(void);

/* The running fiber's cancel token, or NULL when it has none or outside a fiber. */
struct cancel_token *fiber_cancel_token(void);

/* The running fiber goes on under another token (or none): takes the reference and gives the one to the token before,
 * to be put back later. Outside a fiber it gives back what it was given. */
struct cancel_token *fiber_exchange_token(struct cancel_token *take_token) _must_check_;

/* From now on the running fiber goes before others when it becomes runnable, and those that compute make way for it at
 * their next coop_charge. For fibers whose turns are short and which others depend on: those that serve a connection
 * or a control stream, which would otherwise stand in line behind a whole budget's computing. */
void fiber_make_urgent(void);

/* Lets other fibers run; comes back with a full budget. Gives the token's reason when it is cancelled. Does nothing
 * outside a fiber. */
kith_error *fiber_yield(void) _must_check_;

#endif
