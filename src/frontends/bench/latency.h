/*
 * Times of a benchmark in nanoseconds, and what is said of them: median, 95th and 99th percentile, the longest.
 * Belongs to one fiber.
 */
#ifndef KITH_FRONTENDS_BENCH_LATENCY_H
#define KITH_FRONTENDS_BENCH_LATENCY_H

#include "base/strbuf.h"
#include "base/vec.h"

struct latencies {
    VEC(int64_t) ns;
};

void latencies_reset(struct latencies *latencies);
DEFINE_VALUE_CLEANUP(latencies_reset, struct latencies)

kith_error *latencies_add(struct latencies *latencies, int64_t ns) _must_check_;

/* Of all that were added, sorted; the nearest rank. Zeros when there are none. */
struct latency_summary {
    size_t count;
    int64_t median_ns, p95_ns, p99_ns, max_ns;
};
struct latency_summary latencies_summarise(struct latencies *latencies);

/* A line of a table, in milliseconds. */
void latency_print_head(const char *what);
void latency_print(const char *name, const struct latency_summary *summary);

/* The members of a JSON object. Appends. */
kith_error *latency_json(const struct latency_summary *summary, struct strbuf *out) _must_check_;

#endif
