/*
 * An atomic reference count. Taking a reference needs no ordering (the taker already has one); dropping the last
 * one must see every write made under the others, hence release on drop and acquire before the free.
 */
#ifndef KITH_BASE_REFCOUNT_H
#define KITH_BASE_REFCOUNT_H

#include "base/macros.h"

#include <stdatomic.h>
#include <stdbool.h>

struct refcount {
    atomic_size_t count;
};

static inline void refcount_init(struct refcount *refs)
{
    atomic_init(&refs->count, 1);
}

static inline void refcount_take(struct refcount *refs)
{
    size_t before = atomic_fetch_add_explicit(&refs->count, 1, memory_order_relaxed);
    ASSERT(before > 0);
}

/* True when this was the last reference: the caller frees the object. Acquire-release rather than a fence,
 * which ThreadSanitizer does not understand. Who holds the only reference need not count down: nobody else can take
 * one, and most objects never had a second. */
static inline bool refcount_drop(struct refcount *refs)
{
    if (atomic_load_explicit(&refs->count, memory_order_acquire) == 1)
        return true;
    size_t before = atomic_fetch_sub_explicit(&refs->count, 1, memory_order_acq_rel);
    ASSERT(before > 0);
    return before == 1;
}

#endif
