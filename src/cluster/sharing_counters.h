/*
 * What the coordinator counts of a query's bounds, one table: from it come the counters themselves, their names in
 * EXPLAIN ANALYZE and the reference page.
 */
#ifndef KITH_CLUSTER_SHARING_COUNTERS_H
#define KITH_CLUSTER_SHARING_COUNTERS_H

#include "plan/metrics.h"

/* X(field, name, unit, meaning) */
#define KITH_SHARING_COUNTERS(X)                                                                     \
    X(produced, "reported", COUNT_UNIT, "bounds or ranks that tasks reported")                       \
    X(unique, "unique", COUNT_UNIT, "bounds that were stronger than any before")                     \
    X(combined, "combined", COUNT_UNIT, "those that no task had: proved by several together")        \
    X(dropped, "weaker", COUNT_UNIT, "reports that made no stronger bound")                          \
    X(superseded, "superseded", COUNT_UNIT,                                                          \
      "bounds that waited for a task when a stronger one took their place, or the task had as good") \
    X(sent, "sent", COUNT_UNIT, "bounds that were sent to tasks")                                    \
    X(bytes_received, "bytes_received", BYTES, "of the messages with reported bounds")               \
    X(bytes_sent, "bytes_sent", BYTES, "of the messages with bounds for tasks")

struct filter_registry_counters {
#define SHARING_COUNTER_FIELD(field, name, unit, meaning) uint64_t field;
    KITH_SHARING_COUNTERS(SHARING_COUNTER_FIELD)
#undef SHARING_COUNTER_FIELD
};

#endif
