/*
 * A budget of bytes that the operators of a query share. Whoever is about to hold memory whose size depends on
 * data reserves it first; a refusal is an ordinary OUT_OF_MEMORY error that names who asked. The pool
 * only counts: it allocates nothing.
 *
 * Pools are thread-safe. A reservation belongs to one owner and is not.
 */
#ifndef KITH_BASE_MEMORY_POOL_H
#define KITH_BASE_MEMORY_POOL_H

#include "base/error.h"

struct memory_pool;

/* `limit` bytes, 0 for no limit. The pool must outlive its reservations. */
kith_error *memory_pool_new(size_t limit, struct memory_pool **out) _must_check_;
/* A share of `parent`, which outlives it: what is reserved from the share counts against both. */
kith_error *memory_pool_new_within(struct memory_pool *parent, size_t limit, struct memory_pool **out) _must_check_;
void memory_pool_free(struct memory_pool *pool);
DEFINE_CLEANUP(memory_pool_free, struct memory_pool)

size_t memory_pool_used(const struct memory_pool *pool);
size_t memory_pool_peak(const struct memory_pool *pool);

struct reservation {
    struct memory_pool *pool;
    const char *owner; /* shown in the error, e.g. "Top-K"; a literal */
    size_t bytes;
};

static inline struct reservation reservation_make(struct memory_pool *pool, const char *owner)
{
    return (struct reservation){.pool = pool, .owner = owner};
}

/* Grows or shrinks to exactly `bytes`; growing may be refused, then nothing changes. A NULL pool never refuses. */
kith_error *reservation_resize(struct reservation *reservation, size_t bytes) _must_check_;
void reservation_release(struct reservation *reservation);
DEFINE_VALUE_CLEANUP(reservation_release, struct reservation)

#endif
