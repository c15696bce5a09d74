/*
 * The coordinator's side of a distributed query: sends each task its plan, reads its rows for the head plan (as the
 * head's boundary source), passes Top-K bounds on between siblings, and collects metrics. Two fibers a task serve its
 * control stream, one for each direction.
 *
 * The first error from anywhere cancels the query's token and is its reason; it names the worker. After
 * coordinator_finish no fiber and no call is left, on this side or, as soon as they hear of it, on the workers'.
 *
 * Belongs to the query's fiber, but for what only reads, which any thread may call.
 */
#ifndef KITH_CLUSTER_COORDINATOR_H
#define KITH_CLUSTER_COORDINATOR_H

#include "cluster/cluster.h"
#include "cluster/filter_registry.h"
#include "cluster/stages.h"
#include "exec/operator.h"

struct coordinator;

/* Everything is borrowed and outlives the coordinator. */
struct coordinator_options {
    struct runtime *runtime;
    struct cluster *cluster;
    const struct settings *settings;
    const struct stage_plan *stages; /* task i goes to worker i */
    struct memory_pool *pool;
    struct cancel_token *cancel; /* the query's */
};

/* Nothing runs yet. */
kith_error *coordinator_new(const struct coordinator_options *options, struct coordinator **out) _must_check_;

/* Opens the control streams and sends the plans; tasks run once their rows are asked for. */
kith_error *coordinator_start(struct coordinator *coordinator) _must_check_;

/* For the head's task context. */
struct boundary_source *coordinator_boundary(struct coordinator *coordinator);

/* Ends the tasks; the head's streams have been freed. `orderly`: the rows are complete, and the workers are asked for
 * their last metrics, for which they have the keepalive time. Otherwise the query's token is cancelled. Idempotent. */
void coordinator_finish(struct coordinator *coordinator, bool orderly);

void coordinator_free(struct coordinator *coordinator);
DEFINE_CLEANUP(coordinator_free, struct coordinator)

/* What is known of a task so far. */
struct task_report {
    const char *worker; /* its address; lives as long as the cluster */
    bool shares_bounds;
    bool complete;                                                    /* the metrics are the last ones */
    int64_t plan_received_unix_ns, started_unix_ns, finished_unix_ns; /* by the worker's clock; 0 = not known */
};
/* `nodes` has room for the metrics of the task's plan, in pre-order. */
void coordinator_read_task(struct coordinator *coordinator, size_t task, struct task_report *report,
                           uint64_t (*nodes)[METRIC_COUNT]);

/* All operators of a task together, as far as is known. */
void coordinator_sum_task(struct coordinator *coordinator, size_t task, uint64_t values[METRIC_COUNT]);
/* Whether the metrics are the task's last ones. */
bool coordinator_task_is_complete(struct coordinator *coordinator, size_t task);

/* False when the query shares no bounds. */
bool coordinator_sharing(const struct coordinator *coordinator, struct filter_registry_counters *out);

#endif
