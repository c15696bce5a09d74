/*
 * Into how many chunks work is cut: a fiber does it on a thread whose clock is milliseconds further each time that it
 * is read, so that the turn is over at each charge; a fiber beside it counts its turns. The count is the same every
 * time.
 */
#ifndef KITH_TESTS_RUNTIME_CHUNKS_H
#define KITH_TESTS_RUNTIME_CHUNKS_H

#include "runtime/fibers.h"
#include "runtime/turns.h"

struct chunked_work {
    fiber_function function;
    void *argument;
    size_t cancel_after; /* chunks; 0 = never */
    size_t chunks;       /* found */
    atomic_bool ended;
};

struct racing_clock {
    struct clock clock;
    _Atomic int64_t now_ns;
};

static inline int64_t racing_clock_now(const struct clock *clock)
{
    struct racing_clock *racing = CONTAINER_OF((struct clock *)(uintptr_t)clock, struct racing_clock, clock);
    return atomic_fetch_add(&racing->now_ns, 10 * 1000 * 1000);
}

static inline kith_error *chunked_work_run(void *argument)
{
    struct chunked_work *work = argument;
    struct turn_account account = {.name = "work"}, *before = fiber_enter(&account); /* so that turns are timed */
    kith_error *error = work->function(work->argument);
    fiber_leave(before);
    atomic_store(&work->ended, true);
    return error;
}

static inline kith_error *chunked_work_count(void *argument)
{
    struct chunked_work *work = argument;
    struct fiber *fiber;
    _cleanup_(cancel_token_unref) struct cancel_token *cancel = NULL;
    TRY(cancel_token_new(NULL, &cancel));
    TRY(fiber_spawn(runtime_current(), &(struct fiber_options){.cancel = cancel}, chunked_work_run, work, &fiber));
    for (size_t beside = 0; !atomic_load(&work->ended);) {
        struct runtime_turns turns;
        TRY(fiber_yield());
        beside++;
        runtime_read_turns(runtime_current(), &turns);
        work->chunks = (size_t)turns.turns - beside;
        if (work->cancel_after > 0 && work->chunks >= work->cancel_after)
            cancel_token_cancel(cancel, NULL);
    }
    return fiber_join(fiber);
}

/* The work's error, and in *chunks how many it took. Cancelled when it has taken `cancel_after`, unless that is 0. */
static inline kith_error *run_in_chunks(fiber_function function, void *argument, size_t cancel_after, size_t *chunks)
{
    struct chunked_work work = {.function = function, .argument = argument, .cancel_after = cancel_after};
    struct racing_clock clock = {.clock = {.monotonic_ns = racing_clock_now, .wall_ns = racing_clock_now}};
    struct runtime *runtime = NULL;
    atomic_init(&work.ended, false);
    atomic_init(&clock.now_ns, 1);
    assert_ok(runtime_new(&(struct runtime_options){.threads = 1, .clock = &clock.clock}, &runtime));
    kith_error *error = runtime_run(runtime, chunked_work_count, &work);
    assert_int_equal(runtime_live_fibers(runtime), 0);
    runtime_free(runtime);
    *chunks = work.chunks;
    return error;
}

/* The work succeeds in `least` chunks or more, and cancelled after three of them it ends before the fifth. */
static inline void check_chunks(fiber_function function, void *argument, size_t least)
{
    size_t chunks;
    assert_ok(run_in_chunks(function, argument, 0, &chunks));
    if (chunks < least)
        fail_msg("cut into %zu chunks, expected at least %zu", chunks, least);
    assert_fails(run_in_chunks(function, argument, 3, &chunks), KITH_ERROR_CANCELLED, "");
    assert_in_range(chunks, 3, 5);
}

#endif
