/*
 * Stacks for fibers and for calls on a large stack, with inaccessible memory below, so that an overflow is a fault and
 * not a corrupted neighbour. Memory is touched only as deep as the calls go. A pool has stacks of one size and keeps a
 * few for who comes next, because mapping one costs microseconds. Thread-safe.
 */
#ifndef KITH_RUNTIME_STACK_H
#define KITH_RUNTIME_STACK_H

#include "base/error.h"

#include <pthread.h>

/* No pool keeps more: what they have touched stays resident. */
enum { STACK_POOL_KEEPS = 128 };

struct stack {
    void *bottom; /* the lowest usable address */
    size_t size;
    unsigned valgrind_number;
};

struct stack_pool {
    size_t stack_bytes;
    size_t keeps;
    pthread_mutex_t mutex; /* guards the rest */
    struct stack kept[STACK_POOL_KEEPS];
    size_t count;
};

/* `keeps` is STACK_POOL_KEEPS at most. */
void stack_pool_init(struct stack_pool *pool, size_t stack_bytes, size_t keeps);
/* Every stack must have been given back. */
void stack_pool_destroy(struct stack_pool *pool);

kith_error *stack_pool_take(struct stack_pool *pool, struct stack *out) _must_check_;
void stack_pool_give(struct stack_pool *pool, struct stack stack);

/* Without a pool. `size` is a multiple of any page size. */
kith_error *stack_map(size_t size, struct stack *out) _must_check_;
void stack_unmap(struct stack stack);

#endif
