/*
 * Bounds that no single heap has: several heaps, whose rows are all different, each say how many of their rows are no
 * worse than a few values (ranks). A value that K rows of all heaps together are no worse than is a bound.
 *
 * What a holder says replaces what it said before, so that a repeated message adds nothing. Kept are only ranks better
 * than the strongest bound known, for no other can prove a stronger one. Each change costs O(holders).
 *
 * Proof and its conditions: docs/topk-bounds.md. Not thread-safe; bounds are shared by reference.
 */
#ifndef KITH_EXPR_BOUND_RANKS_H
#define KITH_EXPR_BOUND_RANKS_H

#include "base/limits.h"
#include "base/memory_pool.h"
#include "expr/dynamic_filter.h"

struct bound_ranks;

/* `wanted` is K. What is kept is reserved from `pool`. */
kith_error *bound_ranks_new(size_t holders, uint64_t wanted, struct memory_pool *pool,
                            struct bound_ranks **out) _must_check_;
void bound_ranks_free(struct bound_ranks *ranks);
DEFINE_CLEANUP(bound_ranks_free, struct bound_ranks)

/* A bound that is known from elsewhere: what is no better is forgotten. */
void bound_ranks_note(struct bound_ranks *ranks, struct bound *bound);

/* All that the holder says from now on: `list` is best first, with more rows at each step. MEMORY when the pool has no
 * room; then it says nothing. */
kith_error *bound_ranks_replace(struct bound_ranks *ranks, size_t holder, const struct bound_rank *list,
                                size_t count) _must_check_;

/* The strongest bound noted or proved so far; NULL while there is none. Borrowed until the next call. */
struct bound *bound_ranks_strongest(const struct bound_ranks *ranks);

/* What all holders say together, as one would say it, best first; one fewer than a message may have, which leaves room
 * for the bound itself. New references. */
enum { BOUND_RANKS_SUMMARY = LIMIT_BOUND_RANKS - 1 };
size_t bound_ranks_summarise(const struct bound_ranks *ranks, struct bound_rank out[BOUND_RANKS_SUMMARY]);

#endif
