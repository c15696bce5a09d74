/*
 * `kith bench cancel`: the time from cancelling to nothing left, of queries that each keep one operator busy. As many
 * run at once as the runtime has threads; they are cancelled together at a moment that is spread evenly over the time
 * that they take. Nothing left means: the statement has returned its error, the query's fibers have ended (their count
 * is what it was before), its memory pool is empty (or the program aborts), and on workers no task is alive. From a
 * fiber.
 */
#ifndef KITH_FRONTENDS_BENCH_CANCEL_RUN_H
#define KITH_FRONTENDS_BENCH_CANCEL_RUN_H

#include "frontends/bench/bench_tables.h"
#include "frontends/bench/latency.h"

struct cancel_case {
    const char *name;
    const char *sql;
    struct bench_setting settings[BENCH_MOST_SETTINGS];
};

extern const struct cancel_case cancel_cases[];
extern const size_t cancel_case_count;

struct cancel_limits {
    size_t samples; /* moments of a case */
    int64_t ns;     /* that a case may take, but for its first run */
};

kith_error *cancel_case_run(const struct cancel_case *cancel_case, const struct bench_place *place,
                            const struct cancel_limits *limits, struct latencies *out) _must_check_;

#endif
