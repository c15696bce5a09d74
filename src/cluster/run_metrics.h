/*
 * Numbers of a run, as they are drawn and sent: a copy of each operator's metrics in pre-order, with those added that
 * no operator counts itself: a Top-K's bounds, and the memory pool's peak at the root. Any thread, while the run lives.
 */
#ifndef KITH_CLUSTER_RUN_METRICS_H
#define KITH_CLUSTER_RUN_METRICS_H

#include "exec/operator.h"

/* What became of a filter's bounds outside of the operators; by the order of the context's filters. */
struct bound_traffic {
    uint64_t sent;
    uint64_t bytes_sent, bytes_received;
    uint64_t delay_ns; /* of the bounds applied, from being found elsewhere to being applied here, in sum */
    uint64_t delay_max_ns;
};

/* Fills out[0 .. tree->node_count). `traffic` may be NULL: the run shares nothing. */
void run_metrics_read(const struct operator_tree *tree, const struct task_context *context,
                      const struct bound_traffic *traffic, uint64_t (*out)[METRIC_COUNT]);

/* All operators together, added to `totals`. */
void run_metrics_sum(const struct operator_tree *tree, const struct task_context *context,
                     const struct bound_traffic *traffic, uint64_t totals[METRIC_COUNT]);

/* Adds those of `from` to `to`; a peak becomes the larger of both. */
void run_metrics_add(uint64_t (*to)[METRIC_COUNT], uint64_t (*from)[METRIC_COUNT], size_t node_count);

#endif
