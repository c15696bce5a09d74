/*
 * The coordinator's registry of Top-K bounds: of each dynamic filter of a query it keeps the one strongest bound that
 * any task has reported, and which tasks are still to be told of it. A stronger bound takes the place of the one that
 * waits to be sent, so that nothing queues up however slow a recipient is: memory is one bound a filter and one bit a
 * task. A task is never told what it reported itself or something no stronger, because the strongest bound is at least
 * as strong as each report, and the report that makes it so clears the reporter's bit. An improvement costs O(tasks).
 *
 * Tasks that report ranks (expr/bound_ranks.h) together prove bounds that none of them has; such a bound goes to all of
 * them, so it costs a message more than one that a task reported.
 *
 * A task whose steps are known (cluster/bound_steps.h) is told at once of what passes more of them than all it knows,
 * and of the rest at a pace of its own.
 *
 * Pure logic: no fibers, no clock, no messages; the coordinator asks when to send what. Thread-safe.
 */
#ifndef KITH_CLUSTER_FILTER_REGISTRY_H
#define KITH_CLUSTER_FILTER_REGISTRY_H

#include "base/memory_pool.h"
#include "cluster/bound_steps.h"
#include "cluster/pace.h"
#include "cluster/sharing_counters.h"
#include "wire/worker_messages.h"

struct filter_registry;

/* `pace` is that of the bounds sent to one task; `others` that of those which pass no step. */
kith_error *filter_registry_new(size_t tasks, struct pace pace, struct pace others, struct memory_pool *pool,
                                struct filter_registry **out) _must_check_;
void filter_registry_free(struct filter_registry *registry);
DEFINE_CLEANUP(filter_registry_free, struct filter_registry)

/* Before any report. The expressions are borrowed and outlive the registry. */
kith_error *filter_registry_add(struct filter_registry *registry, uint64_t id, const struct sort_expr *exprs,
                                size_t count) _must_check_;

/* Before any report: what `task` is worth telling. Borrowed; without, everything is. */
void filter_registry_set_steps(struct filter_registry *registry, uint64_t id, size_t task,
                               const struct bound_steps *steps);

/* `task` has found a bound. *improved: tasks other than it have something to be sent. PROTOCOL when the filter is not
 * the query's, or the values are not of its types. A bound that the memory pool refuses room for is dropped. */
kith_error *filter_registry_report(struct filter_registry *registry, size_t task, const struct bound_message *message,
                                   bool *improved) _must_check_;

/* Before any report: the Top-K keeps `wanted` rows, and tasks may report ranks. */
kith_error *filter_registry_collect_ranks(struct filter_registry *registry, uint64_t id, uint64_t wanted) _must_check_;
/* All ranks that `task` has; as filter_registry_report otherwise. */
kith_error *filter_registry_report_ranks(struct filter_registry *registry, size_t task,
                                         const struct ranks_message *message, bool *improved) _must_check_;

struct filter_registry_update {
    uint64_t filter_id;
    struct bound *bound; /* one reference, the caller's */
    int64_t found_unix_ns;
};

/* What is to be sent to `task` now; from here on it counts as sent. False when there is nothing yet: then *due_ns says
 * when there will be, INT64_MAX unless a bound waits for its time. */
bool filter_registry_take(struct filter_registry *registry, size_t task, int64_t now_ns,
                          struct filter_registry_update *out, int64_t *due_ns);

/* Whether a bound waits to be sent to `task`, and whether one that passes a step does. */
bool filter_registry_waits(struct filter_registry *registry, size_t task);
bool filter_registry_has_worthwhile(struct filter_registry *registry, size_t task);

void filter_registry_count_bytes(struct filter_registry *registry, uint64_t received, uint64_t sent);
void filter_registry_counters(struct filter_registry *registry, struct filter_registry_counters *out);

#endif
