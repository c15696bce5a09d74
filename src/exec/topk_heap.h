/*
 * The K smallest of many sort keys, each with the number of a row that its owner keeps. A binary max-heap: the top is
 * the K-th best so far, and a key enters only if it is strictly smaller. Which of several keys equal to the K-th goes
 * when a smaller one enters is not said.
 * Belongs to one fiber; its memory is the owner's to reserve.
 */
#ifndef KITH_EXEC_TOPK_HEAP_H
#define KITH_EXEC_TOPK_HEAP_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "runtime/cancel.h"

#include <stdint.h>

struct topk_entry {
    uint64_t prefix; /* first 8 bytes of the key, big-endian, zero-padded: decides most comparisons */
    uint8_t *key;    /* in the heap's arena, or by itself if it has ever been a long one */
    uint32_t key_length;
    uint32_t key_capacity;
    uint64_t row;
};

struct topk_heap {
    struct topk_entry *entries;
    size_t count;
    size_t allocated;        /* entries that exist, keys of removed ones kept for reuse */
    size_t limit;            /* K */
    struct arena short_keys; /* freed at once, however many there are: a cancelled query is not to linger over them */
    size_t long_keys;        /* entries whose key has an allocation of its own */
    size_t long_key_bytes;
};

/* By key alone. */
int topk_entry_compare(const struct topk_entry *a, const struct topk_entry *b);

void topk_heap_init(struct topk_heap *heap, size_t limit);
void topk_heap_reset(struct topk_heap *heap);
DEFINE_VALUE_CLEANUP(topk_heap_reset, struct topk_heap)

static inline bool topk_heap_is_full(const struct topk_heap *heap)
{
    return heap->count == heap->limit;
}

/* Whether topk_heap_offer would take the key. */
bool topk_heap_accepts(const struct topk_heap *heap, struct str key);

/* Puts the key in, if it is accepted, in place of the worst one once K are held. *entered tells. */
kith_error *topk_heap_offer(struct topk_heap *heap, struct str key, uint64_t row, bool *entered) _must_check_;

/* The worst entry held; the heap is not empty. */
static inline const struct topk_entry *topk_heap_worst(const struct topk_heap *heap)
{
    return &heap->entries[0];
}

/* Sorts the entries, best first; of equal keys the lower row first; gives way meanwhile, and ends early when `cancel`
 * (may be NULL) or the fiber is cancelled. The heap must not be offered to any more. */
kith_error *topk_heap_sort(struct topk_heap *heap, struct cancel_token *cancel) _must_check_;

size_t topk_heap_memory_bytes(const struct topk_heap *heap);

#endif
