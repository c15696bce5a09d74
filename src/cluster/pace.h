/*
 * How often bounds are sent: a few at once, then one an interval (the generic cell rate algorithm, ITU-T I.371). What
 * waits meanwhile is replaced by what is stronger, so that being late costs others some rows and nothing piles up.
 */
#ifndef KITH_CLUSTER_PACE_H
#define KITH_CLUSTER_PACE_H

#include "base/clock.h"
#include "base/settings.h"

struct pace {
    int64_t interval_ns;
    int64_t burst;         /* that may be sent at once, 1 or more */
    int64_t used_until_ns; /* by what was sent so far */
};

static inline struct pace pace_make(int64_t interval_ns, int64_t burst)
{
    return (struct pace){.interval_ns = interval_ns, .burst = burst, .used_until_ns = INT64_MIN / 2};
}

/* The setting's interval, kept strictly; or else, as each bound found wakes up every task of a stage for some ten
 * microseconds, one that grows with their number, so that a few hundredths of a core go there at most. The first ones,
 * which rule out most, go out at once. */
static inline struct pace pace_of_settings(const struct settings *settings, size_t tasks)
{
    enum { BURST = 3 };
    int64_t set_ms = settings_get(settings, SETTING_SIBLING_TOPK_INTERVAL);
    if (set_ms > 0)
        return pace_make(set_ms * NANOSECONDS_PER_MILLISECOND, 1);
    return pace_make((int64_t)MIN(tasks, (size_t)16) * NANOSECONDS_PER_MILLISECOND, BURST);
}

/* Of bounds that rule out no row group, but perhaps pages, and rows before other columns are decoded: a task of some
 * milliseconds sends none, a longer one so few that they take less than a thousandth of a core. */
static inline struct pace pace_of_others(int64_t start_ns)
{
    struct pace pace = pace_make(100 * NANOSECONDS_PER_MILLISECOND, 1);
    pace.used_until_ns = start_ns + pace.interval_ns;
    return pace;
}

/* When the next one may be sent. */
static inline int64_t pace_due_ns(const struct pace *pace)
{
    return pace->used_until_ns - (pace->burst - 1) * pace->interval_ns;
}

static inline void pace_sent(struct pace *pace, int64_t now_ns)
{
    pace->used_until_ns = MAX(pace->used_until_ns, now_ns) + pace->interval_ns;
}

#endif
