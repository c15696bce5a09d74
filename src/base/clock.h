/*
 * Time behind an interface, so that simulation can own it. Durations and instants are int64 nanoseconds;
 * the monotonic clock's origin is arbitrary, the wall clock counts from the Unix epoch.
 */
#ifndef KITH_BASE_CLOCK_H
#define KITH_BASE_CLOCK_H

#include <stdint.h>

#define NANOSECONDS_PER_SECOND      INT64_C(1000000000)
#define NANOSECONDS_PER_MILLISECOND INT64_C(1000000)
#define NANOSECONDS_PER_MICROSECOND INT64_C(1000)

struct clock {
    int64_t (*monotonic_ns)(const struct clock *clock);
    int64_t (*wall_ns)(const struct clock *clock);
};

/* The machine's own clocks. */
extern const struct clock system_clock;

static inline int64_t clock_monotonic_ns(const struct clock *clock)
{
    return clock->monotonic_ns(clock);
}

#endif
