#include "base/memory_pool.h"

#include "base/alloc.h"

#include <stdatomic.h>

struct memory_pool {
    struct memory_pool *parent; /* NULL = none */
    size_t limit;
    /* Relaxed throughout: the counter guards no other memory. */
    atomic_size_t used;
    atomic_size_t peak;
};

kith_error *memory_pool_new_within(struct memory_pool *parent, size_t limit, struct memory_pool **out)
{
    TRY(NEW(out));
    (*out)->parent = parent;
    (*out)->limit = limit;
    return NULL;
}

kith_error *memory_pool_new(size_t limit, struct memory_pool **out)
{
    return memory_pool_new_within(NULL, limit, out);
}

void memory_pool_free(struct memory_pool *pool)
{
    if (pool == NULL)
        return;
    ASSERT(memory_pool_used(pool) == 0);
    free(pool);
}

size_t memory_pool_used(const struct memory_pool *pool)
{
    return atomic_load_explicit(&pool->used, memory_order_relaxed);
}

size_t memory_pool_peak(const struct memory_pool *pool)
{
    return atomic_load_explicit(&pool->peak, memory_order_relaxed);
}

static kith_error *grow_one(struct memory_pool *pool, const char *owner, size_t held, size_t extra)
{
    size_t used = atomic_load_explicit(&pool->used, memory_order_relaxed);
    size_t wanted;
    do {
        if (__builtin_add_overflow(used, extra, &wanted) || (pool->limit != 0 && wanted > pool->limit))
            return error_new(
                KITH_ERROR_OUT_OF_MEMORY,
                "%s needs %zu more bytes and holds %zu, but %zu of the memory limit of %zu bytes are in use", owner,
                extra, held, used, pool->limit);
    } while (
        !atomic_compare_exchange_weak_explicit(&pool->used, &used, wanted, memory_order_relaxed, memory_order_relaxed));
    size_t peak = atomic_load_explicit(&pool->peak, memory_order_relaxed);
    while (wanted > peak && !atomic_compare_exchange_weak_explicit(&pool->peak, &peak, wanted, memory_order_relaxed,
                                                                   memory_order_relaxed))
        ;
    return NULL;
}

static void shrink(struct memory_pool *pool, const struct memory_pool *end, size_t bytes)
{
    for (; pool != end; pool = pool->parent)
        atomic_fetch_sub_explicit(&pool->used, bytes, memory_order_relaxed);
}

static kith_error *grow(struct memory_pool *pool, const char *owner, size_t held, size_t extra)
{
    for (struct memory_pool *at = pool; at != NULL; at = at->parent) {
        kith_error *error = grow_one(at, owner, held, extra);
        if (error != NULL) {
            shrink(pool, at, extra);
            return error;
        }
    }
    return NULL;
}

kith_error *reservation_resize(struct reservation *reservation, size_t bytes)
{
    struct memory_pool *pool = reservation->pool;
    if (pool != NULL && bytes > reservation->bytes)
        TRY(grow(pool, reservation->owner, reservation->bytes, bytes - reservation->bytes));
    else
        shrink(pool, NULL, reservation->bytes - bytes);
    reservation->bytes = bytes;
    return NULL;
}

void reservation_release(struct reservation *reservation)
{
    shrink(reservation->pool, NULL, reservation->bytes);
    reservation->bytes = 0;
}
