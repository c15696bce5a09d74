/*
 * A network in memory whose bytes arrive late: a pair of pipes, what is read from each of which is held back for a time
 * that a seed decides. On a clock that a test moves nobody really waits; see struct moving_clock.
 */
#ifndef KITH_TESTS_CLUSTER_SLOW_PIPE_H
#define KITH_TESTS_CLUSTER_SLOW_PIPE_H

#include "runtime/fibers.h"

#include "net/pipe.h"
#include "runtime/sync.h"

struct slow_end {
    struct transport base;
    struct transport *pipe;
    uint64_t random;      /* the reader's alone */
    int64_t most_late_ns; /* 0 = never late */
};

static inline kith_error *slow_read(struct transport *transport, void *out, size_t size, int64_t deadline_ns,
                                    size_t *got)
{
    struct slow_end *end = CONTAINER_OF(transport, struct slow_end, base);
    TRY(transport_read(end->pipe, out, size, deadline_ns, got));
    if (end->most_late_ns == 0 || test_random(&end->random) % 4 == 0)
        return NULL;
    int64_t late_ns = (int64_t)(test_random(&end->random) % (uint64_t)end->most_late_ns);
    return sleep_until(clock_monotonic_ns(runtime_clock(runtime_current())) + late_ns);
}

static inline kith_error *slow_write(struct transport *transport, struct iovec *pieces, size_t count,
                                     int64_t deadline_ns)
{
    return transport_write(CONTAINER_OF(transport, struct slow_end, base)->pipe, pieces, count, deadline_ns);
}

static inline void slow_shutdown(struct transport *transport, enum transport_side side)
{
    transport_shutdown(CONTAINER_OF(transport, struct slow_end, base)->pipe, side);
}

static inline void slow_free(struct transport *transport)
{
    struct slow_end *end = CONTAINER_OF(transport, struct slow_end, base);
    transport_free(end->pipe);
    free(end);
}

static inline kith_error *slow_end_new(struct transport *take_pipe, uint64_t seed, int64_t most_late_ns,
                                       struct transport **out)
{
    static const struct transport_ops ops = {
        .read = slow_read, .write = slow_write, .shutdown = slow_shutdown, .free = slow_free};
    _cleanup_(transport_free) struct transport *pipe = take_pipe;
    struct slow_end *end;
    TRY(NEW(&end));
    end->base.ops = &ops;
    snprintf(end->base.peer, sizeof end->base.peer, "%s", pipe->peer);
    end->pipe = TAKE(pipe);
    end->random = seed;
    end->most_late_ns = most_late_ns;
    *out = &end->base;
    return NULL;
}

static inline kith_error *slow_pair_new(const char *name, uint64_t *random, int64_t most_late_ns,
                                        struct transport **out_a, struct transport **out_b)
{
    _cleanup_(transport_free) struct transport *a = NULL, *b = NULL, *near = NULL;
    TRY(pipe_pair_new(64 * 1024, name, &a, &b));
    TRY(slow_end_new(TAKE(a), test_random(random), most_late_ns, &near));
    TRY(slow_end_new(TAKE(b), test_random(random), most_late_ns, out_b));
    *out_a = TAKE(near);
    return NULL;
}

/* A clock that a fiber moves by one step whenever it has its turn: time is how often others had theirs. It gains no
 * more than so much on the machine's, which threads outside the runtime and other programs live by. */
enum { MOVING_CLOCK_FASTEST = 8 };
struct moving_clock {
    struct fake_clock fake;
    struct runtime *runtime;
    _Atomic int64_t step_ns;
    atomic_bool stopped;
    struct fiber *fiber;
};

static inline kith_error *moving_clock_run(void *argument)
{
    struct moving_clock *clock = argument;
    int64_t start_ns = clock_monotonic_ns(&system_clock);
    while (!atomic_load(&clock->stopped)) {
        int64_t behind_ns =
            MOVING_CLOCK_FASTEST * (clock_monotonic_ns(&system_clock) - start_ns) - atomic_load(&clock->fake.now_ns);
        if (behind_ns > 0)
            fake_clock_advance(&clock->fake, clock->runtime, atomic_load(&clock->step_ns));
        TRY(fiber_yield());
    }
    return NULL;
}

static inline kith_error *moving_clock_start(struct moving_clock *clock)
{
    clock->runtime = runtime_current();
    return spawn(moving_clock_run, clock, &clock->fiber);
}

static inline kith_error *moving_clock_stop(struct moving_clock *clock)
{
    atomic_store(&clock->stopped, true);
    return fiber_join(TAKE(clock->fiber));
}

#endif
