/*
 * Inside the runtime only: the worker threads, their queues, and the switch between a fiber and its worker.
 *
 * Each worker has a queue (run_queue.h): urgent fibers go first, and a fiber that goes on computing makes way for them
 * (coop.h); the others have equal shares of time by query. A fiber that a worker makes runnable goes onto that
 * worker's own queue; one that another thread makes runnable goes onto the queue of the worker that ran it last. A
 * worker whose queue is empty steals half of another's, and sleeps when there is nothing to steal: the first to do so
 * in the poller, the others on a futex.
 *
 * Waking a sleeping thread costs tens of microseconds, so it is done only when there is one and (a) more fibers wait on
 * a queue than the one that its worker will take next, not counting urgent ones, whose turns are shorter than that, nor
 * what waits behind those; or (b) a fiber goes on computing (coop_charge) although another has been waiting behind it
 * for a while, or nobody polls; or (c) the fiber comes from outside. At most one woken worker at a time is looking for
 * work; having found some it wakes the next if there is more.
 */
#ifndef KITH_RUNTIME_SCHEDULER_H
#define KITH_RUNTIME_SCHEDULER_H

#include "runtime/fiber.h"
#include "runtime/fiber_annotations.h"
#include "runtime/offload.h"
#include "runtime/poller.h"
#include "runtime/run_queue.h"
#include "runtime/stack.h"
#include "runtime/timers.h"
#include "runtime/turns.h"
#include "runtime/wait.h"
#include "runtime/watchdog.h"

/* What the worker does for a fiber once it is off its stack. */
enum switched_to {
    SWITCHED_TO_YIELD,
    SWITCHED_TO_FORCED_YIELD, /* the turn's budget or time is used up */
    SWITCHED_TO_MAKE_WAY,
    SWITCHED_TO_WAIT,
    SWITCHED_TO_END,
};

struct fiber {
    /* Written by the worker that runs the fiber, or by its spawner before it first runs. */
    struct runtime *runtime;
    void *stack_pointer; /* of a fiber that is not running */
    struct stack stack;
    struct annotation annotation;
    fiber_function function;
    void *argument;
    const char *name;
    unsigned budget; /* what is left of the turn's, except what its worker has been granted */
    unsigned grant;  /* units granted at a time, see coop.c */
    uint64_t turn;   /* a number that no other turn of the runtime has */
    bool made_way;   /* its turn goes on when it runs again */
    bool urgent;
    size_t home;                /* index of the worker that ran it last */
    struct turn_account *turns; /* borrowed; NULL = none, see turns.h */

    struct link link;          /* in a run queue; guarded by the queue's mutex */
    struct share_group *group; /* its query's, borrowed from the token; NULL: its share is its own */
    struct share own_share;
    struct waiter waiter;

    struct cancel_token *cancel;  /* NULL or a reference */
    struct fiber *token_previous; /* fibers under the same token; guarded by its tree's mutex */
    struct fiber *token_next;

    pthread_mutex_t end_mutex; /* guards the three below */
    struct wait_list joiner;
    bool ended;
    kith_error *result;
};

/* Reading the clock takes as long as switching between fibers, so turns are timed from where they do an account's work
 * or go on computing. */
enum { NOT_TIMED = -1 };

struct worker {
    _Alignas(64) struct runtime *runtime;
    size_t index;
    pthread_t thread;

    /* Of the worker's thread alone. */
    struct fiber *current;
    void *stack_pointer; /* of the scheduler, while a fiber runs */
    enum switched_to switched_to;
    struct annotation annotation;
    bool searching; /* counted in runtime->searching */
    int64_t backlog_since_ns;
    int64_t turn_began_ns; /* or when the last one ended; NOT_TIMED */
    unsigned charges;      /* in this turn, of a fiber for which nobody waits */

    struct turn_account turns;     /* written by the worker alone */
    _Atomic(const char *) running; /* what, as turns.h has it; NULL between two turns */
    _Atomic uint64_t progress;     /* changes with each turn and charge */

    /* Of the fiber that runs; coop_hand_out looks at these. */
    unsigned granted;             /* units that may be charged without looking around, in this turn */
    unsigned granted_ahead;       /* the same in later turns, if nobody waits at their beginnings */
    const atomic_bool *cancelled; /* its token's flag */
    uint64_t turn;                /* 0: none runs */
    uint64_t last_turn;
    int64_t granted_ns; /* when units were last granted since it was switched to, by system_clock; 0 = not yet */

    struct run_queue queue;
    bool idle;             /* guarded by runtime->idle_mutex; cleared by who wakes it */
    atomic_bool polling;   /* sleeps in the poller rather than on wake_word */
    atomic_uint wake_word; /* 1: woken, perhaps without need */
};

struct runtime {
    const struct clock *clock;
    struct worker *workers;
    size_t worker_count;
    size_t started_workers;

    pthread_mutex_t idle_mutex;
    atomic_size_t idle_count; /* workers with `idle` set */
    atomic_size_t searching;  /* workers that were woken and have not found work yet */
    atomic_bool stopping;

    atomic_size_t live_fibers;
    pthread_mutex_t live_mutex; /* with live_changed: for who waits for the last fiber to end */
    pthread_cond_t live_changed;
    size_t visitors; /* threads not of the runtime that are waking a fiber of it; guarded by live_mutex */

    struct stack_pool stacks;       /* fibers' */
    struct stack_pool large_stacks; /* large_stack.h */
    struct timers timers;
    struct poller poller;
    struct offload_pool offload;
    struct watchdog watchdog;
};

/* The worker whose thread this is, or NULL. Never inlined: a fiber may continue on another thread, and the compiler
 * must not reuse a thread-local's address from before a switch. */
struct worker *worker_current(void);

/* The same, inlined, for who does not switch between using it and its return. */
extern _Thread_local struct worker *this_worker __attribute__((tls_model("initial-exec")));

void scheduler_init(struct runtime *runtime);
/* Stops the threads that were started; no fiber is left. */
void scheduler_destroy(struct runtime *runtime);
kith_error *scheduler_start(struct runtime *runtime) _must_check_;

/* Queues a fiber that is off its stack. From any thread. */
void scheduler_make_runnable(struct fiber *fiber);

/* Leaves the running fiber's stack; returns when it is resumed, unless it has ended. */
void scheduler_switch_out(struct fiber *fiber, enum switched_to switched_to);

/* The running fiber's turn is over, it goes on in another. */
void scheduler_end_turn(struct fiber *fiber, enum switched_to as);

/* What fiber_yield does in a fiber. */
kith_error *scheduler_yield(struct fiber *fiber, enum switched_to as) _must_check_;

/* True when a fiber that yields on `worker` would go on at once: no other is queued, and no events need looking for. */
bool scheduler_is_otherwise_idle(struct worker *worker);

/* Gives the running fiber a full budget. */
void scheduler_begin_turn(struct worker *worker, struct fiber *fiber);

/* The running fiber goes on computing: lets an idle worker have what has been waiting behind it. */
void scheduler_share_backlog(struct worker *worker);

/* The running fiber goes on computing: it has had its time, and others wait. */
bool scheduler_turn_is_over(struct worker *worker);

/* The running fiber goes on computing: looks for events when nobody else does, and says whether it should make way. */
bool scheduler_urgent_waits(struct worker *worker);

/* turns.c: around a turn; and when a fiber for which nobody waits goes on with another. */
void turn_begin(struct worker *worker, const struct fiber *fiber);
void turn_end(struct worker *worker, struct fiber *fiber);
void turn_renew(struct worker *worker, struct fiber *fiber);
/* The same without a look at the clock: what the turn took counts with the next one's time. */
void turn_renew_untimed(struct worker *worker, struct fiber *fiber);
int64_t turn_took_ns(struct worker *worker);
/* The running fiber has charged something and goes on. */
void turn_charged(struct worker *worker, struct fiber *fiber);

/* fiber.c: what a stack prepared for a fiber begins with, and what its worker does after it has ended. */
void fiber_main(void *fiber);
void fiber_finish(struct fiber *fiber);

/* cancel.c: a token knows the fibers that run under it. */
void cancel_token_attach(struct cancel_token *token, struct fiber *fiber);
void cancel_token_detach(struct cancel_token *token, struct fiber *fiber);
/* What cancel_token_is_cancelled reads; never set where there is no token. */
const atomic_bool *cancel_token_flag(const struct cancel_token *token);

#endif
