/*
 * `kith bench fair`: a short query repeated, alone and then beside heavy queries that keep all threads busy. From a
 * fiber.
 */
#ifndef KITH_FRONTENDS_BENCH_FAIR_RUN_H
#define KITH_FRONTENDS_BENCH_FAIR_RUN_H

#include "frontends/bench/bench_tables.h"
#include "frontends/bench/latency.h"

enum { FAIR_MOST_HEAVY = 64 };

struct fair_limits {
    size_t heavy;   /* queries beside */
    size_t samples; /* of the short query, alone and beside */
    int64_t ns;     /* that either may take */
};

struct fair_result {
    struct latencies alone, beside;
    size_t heavy_runs; /* heavy queries that ended meanwhile */
};

void fair_result_reset(struct fair_result *result);
DEFINE_VALUE_CLEANUP(fair_result_reset, struct fair_result)

kith_error *fair_run(const struct bench_place *place, const struct fair_limits *limits,
                     struct fair_result *out) _must_check_;

#endif
