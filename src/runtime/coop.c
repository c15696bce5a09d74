#include "runtime/coop.h"

#include "runtime/scheduler.h"

#include <sched.h>

/* How often a fiber that hands out batches looks around: for events, for fibers that have waited long, which takes a
 * look at the clock. Batches may be nanoseconds or milliseconds apart, so units are granted to be taken without a look,
 * as many as took about so long last time; where nobody waits for the thread they may be those of several turns. Urgent
 * fibers and cancellation are looked for with every unit, and whether anybody waits between two turns. */
enum { LOOK_INTERVAL_NS = 50000, MOST_GRANTED = 16 * COOP_BUDGET };

/* Takes back what was granted and not used. */
static void end_grant(struct worker *worker)
{
    worker->current->budget += worker->granted;
    worker->granted = 0;
    worker->granted_ahead = 0;
}

static void grant(struct worker *worker)
{
    struct fiber *fiber = worker->current;
    int64_t now = clock_monotonic_ns(&system_clock);
    if (worker->granted_ns != 0) {
        int64_t since = now - worker->granted_ns;
        if (since < LOOK_INTERVAL_NS / 2)
            fiber->grant = MIN(2 * fiber->grant, (unsigned)MOST_GRANTED);
        else if (since > LOOK_INTERVAL_NS)
            fiber->grant = (unsigned)(fiber->grant * (int64_t)LOOK_INTERVAL_NS / since);
    }
    fiber->grant = MAX(fiber->grant, 1U);
    worker->granted_ns = now;
    worker->granted = MIN(fiber->grant, fiber->budget - 1); /* the last one ends the turn */
    worker->granted_ahead = fiber->grant - worker->granted;
    fiber->budget -= worker->granted;
}

/* Of streams that count for themselves, which always take the long way. */
static const atomic_bool always = true;

static bool is_set(const atomic_bool *flag)
{
    return atomic_load_explicit(flag, memory_order_relaxed);
}

void coop_give_way(unsigned units)
{
    struct worker *worker = worker_current();
    if (worker == NULL || worker->current == NULL)
        return;
    struct fiber *fiber = worker->current;
    end_grant(worker);
    if (units >= fiber->budget || scheduler_turn_is_over(worker)) {
        scheduler_end_turn(fiber, SWITCHED_TO_FORCED_YIELD);
        return;
    }
    fiber->budget -= units;
    turn_charged(worker, fiber);
    scheduler_share_backlog(worker);
    if (scheduler_urgent_waits(worker))
        scheduler_switch_out(fiber, fiber->urgent ? SWITCHED_TO_YIELD : SWITCHED_TO_MAKE_WAY);
}

kith_error *coop_charge(unsigned units)
{
    coop_give_way(units);
    return cancel_token_check(fiber_cancel_token());
}

kith_error *coop_copy_chunks(void *restrict to, const void *restrict from, size_t bytes)
{
    size_t done = 0;
    for (; bytes - done > COOP_CHUNK_BYTES; done += COOP_CHUNK_BYTES) {
        memcpy((char *)to + done, (const char *)from + done, COOP_CHUNK_BYTES);
        TRY(coop_charge(1));
    }
    memcpy((char *)to + done, (const char *)from + done, bytes - done);
    return NULL;
}

struct coop coop_make(enum coop_policy policy, struct cancel_token *cancel)
{
    return (struct coop){.policy = policy,
                         .left = COOP_BUDGET,
                         .flag = policy == COOP_PER_STREAM ? &always : cancel_token_flag(cancel),
                         .cancel = cancel};
}

/* A new turn of the stream's fiber, or a new one of the stream itself on a thread. */
static kith_error *give_way(void)
{
    struct fiber *fiber = fiber_current();
    if (fiber != NULL)
        return scheduler_yield(fiber, SWITCHED_TO_FORCED_YIELD);
    sched_yield();
    return NULL;
}

static uint64_t current_turn(void)
{
    const struct worker *worker = worker_current();
    return worker != NULL ? worker->turn : 0;
}

/* With the budget of the stream's own, full in each turn. */
static kith_error *charge_own(struct coop *coop)
{
    uint64_t turn = current_turn();
    if (coop->turn != turn)
        coop->left = COOP_BUDGET;
    coop->turn = turn;
    if (--coop->left > 0)
        return coop_charge(0);
    coop->left = COOP_BUDGET;
    return give_way();
}

/* The turn is used up but what was granted is not, and nobody waits for the thread. */
static bool may_begin_turn(struct worker *worker)
{
    return worker->granted == 0 && worker->current->budget == 1 && worker->granted_ahead > COOP_BUDGET &&
           scheduler_is_otherwise_idle(worker) && !is_set(worker->cancelled);
}

static kith_error *charge_shared(void)
{
    struct worker *worker = worker_current();
    if (may_begin_turn(worker)) {
        turn_renew_untimed(worker, worker->current);
        scheduler_begin_turn(worker, worker->current);
        worker->granted = COOP_BUDGET - 1;
        worker->granted_ahead -= COOP_BUDGET;
        worker->current->budget = 1;
        return NULL;
    }
    TRY(coop_charge(1));
    grant(worker_current());
    return NULL;
}

/* When there is something to look at, or no unit granted. */
static __attribute__((noinline)) kith_error *hand_out_slowly(struct coop *coop)
{
    TRY(cancel_token_check(coop->cancel));
    if (coop->policy == COOP_PER_STREAM)
        return charge_own(coop);
    if (fiber_current() != NULL)
        return charge_shared();
    return coop->policy == COOP_SHARED_WITH_FALLBACK ? charge_own(coop) : NULL;
}

kith_error *coop_hand_out(struct coop *coop)
{
    struct worker *worker = this_worker;
    if (worker == NULL || worker->granted == 0)
        return hand_out_slowly(coop);
    if (is_set(worker->cancelled) || is_set(coop->flag) ||
        atomic_load_explicit(&worker->queue.urgent_length, memory_order_relaxed) > 0)
        return hand_out_slowly(coop);
    worker->granted--;
    return NULL;
}
