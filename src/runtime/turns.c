#include "runtime/turns.h"

#include "runtime/scheduler.h"

/* A fiber for which nobody waits begins a new turn after so many charges. */
enum { CHARGES_A_TURN = 16 };

static const char *activity_of(const struct fiber *fiber)
{
    if (fiber->turns != NULL && fiber->turns->name != NULL)
        return fiber->turns->name;
    return fiber->name != NULL ? fiber->name : "a fiber without a name";
}

/* Of the worker's own counters, which nobody else writes. */
static void add(_Atomic uint64_t *counter, uint64_t amount)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + amount, memory_order_relaxed);
}

static void raise(_Atomic uint64_t *counter, uint64_t value)
{
    uint64_t seen = atomic_load_explicit(counter, memory_order_relaxed);
    while (value > seen &&
           !atomic_compare_exchange_weak_explicit(counter, &seen, value, memory_order_relaxed, memory_order_relaxed))
        ;
}

static void count_timed(struct worker *worker, struct turn_account *account, uint64_t took_ns, bool forced)
{
    if (forced)
        add(&worker->turns.forced_yields, 1);
    raise(&worker->turns.longest_ns, took_ns);
    if (account == NULL)
        return;
    atomic_fetch_add_explicit(&account->turns, 1, memory_order_relaxed);
    if (forced)
        atomic_fetch_add_explicit(&account->forced_yields, 1, memory_order_relaxed);
    raise(&account->longest_ns, took_ns);
}

static int64_t read_clock(const struct worker *worker)
{
    return clock_monotonic_ns(worker->runtime->clock);
}

int64_t turn_took_ns(struct worker *worker)
{
    int64_t now = read_clock(worker);
    if (worker->turn_began_ns == NOT_TIMED)
        worker->turn_began_ns = now;
    return now - worker->turn_began_ns;
}

void turn_begin(struct worker *worker, const struct fiber *fiber)
{
    worker->charges = 0;
    if (fiber->turns == NULL)
        worker->turn_began_ns = NOT_TIMED;
    else if (worker->turn_began_ns == NOT_TIMED)
        worker->turn_began_ns = read_clock(worker);
    add(&worker->progress, 1);
    atomic_store_explicit(&worker->running, activity_of(fiber), memory_order_relaxed);
}

void turn_end(struct worker *worker, struct fiber *fiber)
{
    bool forced = worker->switched_to == SWITCHED_TO_FORCED_YIELD;
    atomic_store_explicit(&worker->running, NULL, memory_order_relaxed);
    add(&worker->turns.turns, 1);
    if (worker->turn_began_ns == NOT_TIMED)
        return;
    int64_t now = read_clock(worker), took_ns = now - worker->turn_began_ns;
    worker->turn_began_ns = now;
    count_timed(worker, fiber->turns, (uint64_t)took_ns, forced);
    if (!fiber->urgent)
        share_charge(fiber, worker->index, took_ns);
    /* It has not gone on for so long if it charged something on the way. */
    if (took_ns / (worker->charges + 1) > watchdog_patience_ns)
        watchdog_turn_ended(&worker->runtime->watchdog, worker, activity_of(fiber), took_ns);
}

void turn_renew(struct worker *worker, struct fiber *fiber)
{
    worker->switched_to = SWITCHED_TO_YIELD;
    turn_end(worker, fiber);
    turn_begin(worker, fiber);
}

void turn_renew_untimed(struct worker *worker, struct fiber *fiber)
{
    add(&worker->progress, 1);
    add(&worker->turns.turns, 1);
    if (fiber->turns != NULL)
        atomic_fetch_add_explicit(&fiber->turns->turns, 1, memory_order_relaxed);
    worker->charges++;
}

void turn_charged(struct worker *worker, struct fiber *fiber)
{
    add(&worker->progress, 1);
    if (++worker->charges >= CHARGES_A_TURN && run_queue_is_empty(&worker->queue))
        turn_renew(worker, fiber);
}

struct turn_account *fiber_enter(struct turn_account *account)
{
    struct worker *worker = worker_current();
    struct fiber *fiber = worker != NULL ? worker->current : NULL;
    if (fiber == NULL)
        return NULL;
    struct turn_account *before = fiber->turns;
    fiber->turns = account;
    if (account != NULL && worker->turn_began_ns == NOT_TIMED)
        worker->turn_began_ns = read_clock(worker);
    atomic_store_explicit(&worker->running, activity_of(fiber), memory_order_relaxed);
    return before;
}

void fiber_leave(struct turn_account *before)
{
    fiber_enter(before);
}

void runtime_read_turns(const struct runtime *runtime, struct runtime_turns *out)
{
    *out = (struct runtime_turns){.too_long = atomic_load_explicit(&runtime->watchdog.logged, memory_order_relaxed)};
    for (size_t i = 0; i < runtime->worker_count; i++) {
        const struct turn_account *turns = &runtime->workers[i].turns;
        uint64_t longest_ns = atomic_load_explicit(&turns->longest_ns, memory_order_relaxed);
        out->turns += atomic_load_explicit(&turns->turns, memory_order_relaxed);
        out->forced_yields += atomic_load_explicit(&turns->forced_yields, memory_order_relaxed);
        out->longest_ns = MAX(out->longest_ns, longest_ns);
    }
}
