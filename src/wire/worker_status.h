/*
 * What a worker has done since it started: counters of its own, and the metrics of all its tasks together, those that
 * run included. Counters only grow, but for those that are of now.
 */
#ifndef KITH_WIRE_WORKER_STATUS_H
#define KITH_WIRE_WORKER_STATUS_H

#include "base/arena.h"
#include "plan/metrics.h"

#define WORKER_PATH_GET_WORKER_STATUS "/kith.v1.WorkerService/GetWorkerStatus"

/* X(identifier, name, unit, meaning). Names are sent on the wire. */
#define KITH_WORKER_COUNTERS(X)                                                                     \
    X(UPTIME, "uptime", NANOSECONDS, "since the worker started")                                    \
    X(TASKS_STARTED, "tasks_started", COUNT_UNIT, "tasks that came")                                \
    X(TASKS_SHARING, "tasks_sharing", COUNT_UNIT, "those of them that shared bounds with siblings") \
    X(TASKS_ENDED, "tasks_ended", COUNT_UNIT, "those that are over, however they ended")            \
    X(TASKS_RUNNING, "tasks_running", COUNT_UNIT, "those that are not, now")                        \
    X(MEMORY_RESERVED, "memory_reserved", BYTES, "memory that tasks have reserved, now")            \
    X(MEMORY_RESERVED_MAX, "memory_reserved_max", BYTES, "most memory that they had reserved at once")

enum worker_counter {
#define WORKER_COUNTER_ENUM(id, name, unit, meaning) WORKER_COUNTER_##id,
    KITH_WORKER_COUNTERS(WORKER_COUNTER_ENUM)
#undef WORKER_COUNTER_ENUM
        WORKER_COUNTER_COUNT
};
extern const struct metric_info worker_counter_infos[WORKER_COUNTER_COUNT];

struct worker_status {
    const char *version; /* of the program */
    uint64_t counters[WORKER_COUNTER_COUNT];
    uint64_t metrics[METRIC_COUNT];
};
kith_error *worker_status_encode(const struct worker_status *status, struct strbuf *out) _must_check_;
/* Counters that are not known here are passed over: a newer worker's. */
kith_error *worker_status_decode(struct str bytes, struct arena *arena, struct worker_status *out) _must_check_;

/* "uptime=1.20s, tasks_started=3, …, output_rows=5, …": those that are not zero. Appends. */
kith_error *worker_status_format(const struct worker_status *status, const char *separator,
                                 struct strbuf *out) _must_check_;
/* One JSON document. Appends. */
kith_error *worker_status_write(const struct worker_status *status, const char *address,
                                struct strbuf *out) _must_check_;

#endif
