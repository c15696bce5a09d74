/*
 * What the operators share, and their constructors. Private to this folder.
 */
#ifndef KITH_EXEC_OPERATORS_H
#define KITH_EXEC_OPERATORS_H

#include "base/vec.h"
#include "exec/operator.h"

/* Constructors: fill `operator`'s ops and own state. `operator` is allocated by operator_tree_new with plan, context,
 * inputs and metrics set; each returns a struct that begins with it. */
kith_error *parquet_scan_operator_new(struct exec_operator **out) _must_check_;
kith_error *filter_operator_new(struct exec_operator **out) _must_check_;
kith_error *projection_operator_new(struct exec_operator **out) _must_check_;
kith_error *sort_operator_new(struct exec_operator **out) _must_check_;
kith_error *merge_operator_new(struct exec_operator **out) _must_check_;
kith_error *coalesce_operator_new(struct exec_operator **out) _must_check_;
kith_error *union_operator_new(struct exec_operator **out) _must_check_;
kith_error *limit_operator_new(struct exec_operator **out) _must_check_;
kith_error *row_operator_new(struct exec_operator **out) _must_check_;
kith_error *fetch_operator_new(struct exec_operator **out) _must_check_;
kith_error *network_operator_new(struct exec_operator **out) _must_check_;

/* The two ways to sort a partition: all of it, or the best K rows. Both take the input. */
kith_error *topk_stream_new(struct exec_operator *node, struct stream *take_input, struct stream **out) _must_check_;
kith_error *full_sort_stream_new(struct exec_operator *node, struct stream *take_input,
                                 struct stream **out) _must_check_;

/* Monotonic time of the runtime's clock. */
int64_t operator_now(const struct exec_operator *node);
/* Adds the time since `start_ns` to elapsed_compute. */
void operator_charge_time(struct exec_operator *node, int64_t start_ns);

/* Charges the fiber's budget for chunks of work; gives the reason when the query is cancelled, on a fiber of another
 * token too. */
kith_error *operator_charge(struct exec_operator *node, unsigned units) _must_check_;

/* How its streams count what they hand out. */
struct coop operator_coop(const struct exec_operator *node);

/* What a stream of the operator begins with. */
struct stream operator_stream(const struct exec_operator *node, const struct stream_ops *ops);

/* Counts rows and batches given to the consumer; stream_next has charged for them. */
void operator_count(struct exec_operator *node, const struct batch *batch);

/* The next slice of at most batch_size rows from `result`, at *position, which is moved; *out = NULL when it is used up
 * or `result` is NULL. Counts as operator_count does. */
kith_error *operator_emit_slice(struct exec_operator *node, struct batch *result, size_t *position,
                                struct batch **out) _must_check_;

/* Partitions [first, first + count) of an operator, each pulled by a fiber of its own, all into one short channel: what
 * runs partitions side by side. */
struct partition_pump;
kith_error *partition_pump_new(struct exec_operator *input, size_t first, size_t count,
                               struct partition_pump **out) _must_check_;
/* Stops the fibers and waits for their end. */
void partition_pump_free(struct partition_pump *pump);
DEFINE_CLEANUP(partition_pump_free, struct partition_pump)
/* The next batch of any of the partitions; *out = NULL once all are at their end. Waiting is counted as `consumer`'s
 * wait_time. */
kith_error *partition_pump_next(struct partition_pump *pump, struct exec_operator *consumer,
                                struct batch **out) _must_check_;

#endif
