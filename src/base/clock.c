#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return now.tv_sec * NANOSECONDS_PER_SECOND + now.tv_nsec;
}

static int64_t system_monotonic_ns(const struct clock *clock)
{
    return read_clock(CLOCK_MONOTONIC);
}

static int64_t system_wall_ns(const struct clock *clock)
{
    return read_clock(CLOCK_REALTIME);
}

const struct clock system_clock = {.monotonic_ns = system_monotonic_ns, .wall_ns = system_wall_ns};
