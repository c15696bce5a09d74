/*
 * Bounds between their two forms: the one that filters use and the one that is sent. What a peer says is checked
 * against the sort that both sides know from the plan.
 */
#ifndef KITH_CLUSTER_BOUND_MESSAGE_H
#define KITH_CLUSTER_BOUND_MESSAGE_H

#include "base/clock.h"
#include "wire/worker_messages.h"

/* PROTOCOL when the values are not of the expressions' number and types. `found_ns` is monotonic. */
kith_error *bound_from_message(const struct bound_message *message, const struct sort_expr *exprs, size_t count,
                               int64_t found_ns, struct bound **out) _must_check_;

/* `ranks` has room for all of the message's; fills it with new references. PROTOCOL also unless each rank is worse than
 * the one before. */
kith_error *ranks_from_message(const struct ranks_message *message, const struct sort_expr *exprs, size_t count,
                               struct bound_rank *ranks) _must_check_;
void bound_ranks_unref(struct bound_rank *ranks, size_t count);

/* Borrows the bound's values. */
struct bound_message bound_to_message(uint64_t filter_id, const struct bound *bound, int64_t found_unix_ns);

/* The wall-clock time of a monotonic instant in the past. */
int64_t wall_time_of(const struct clock *clock, int64_t monotonic_ns);

#endif
