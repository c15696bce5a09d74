/*
 * The ranks of a Top-K's heap: a few of its rows, and how many of its rows are no worse than each.
 */
#ifndef KITH_EXEC_TOPK_RANKS_H
#define KITH_EXEC_TOPK_RANKS_H

#include "exec/topk_heap.h"
#include "expr/dynamic_filter.h"

struct topk_rank {
    const struct topk_entry *entry;
    uint64_t rows;
};

/* Best first, all different, at about even distances among the rows that would be stronger than `bound` and are no
 * worse than `floor`; NULL: all are. The counts are exact. Takes O(held). */
size_t topk_ranks(const struct topk_heap *heap, const struct bound *bound, const struct bound *floor,
                  struct topk_rank out[LIMIT_BOUND_RANKS]);

/* The best row held; the heap is not empty. Takes O(held). */
const struct topk_entry *topk_heap_best(const struct topk_heap *heap);

#endif
