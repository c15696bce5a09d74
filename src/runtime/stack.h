/*
 * Stacks for fibers: LIMIT_FIBER_STACK_BYTES each, with inaccessible memory below, so that an overflow is a fault and
 * not a corrupted neighbour. Memory is touched only as deep as a fiber goes. A few are kept for the next
 * fibers, because mapping one costs microseconds. Thread-safe.
 */
#ifndef KITH_RUNTIME_STACK_H
#define KITH_RUNTIME_STACK_H

#include "base/error.h"

#include <pthread.h>

/* Kept for reuse at most: what they have touched stays resident. */
enum { STACK_POOL_KEEPS = 128 };

struct stack {
    void *bottom; /* the lowest usable address */
    size_t size;
    unsigned valgrind_number;
};

struct stack_pool {
    pthread_mutex_t mutex;
    struct stack kept[STACK_POOL_KEEPS];
    size_t count;
};

void stack_pool_init(struct stack_pool *pool);
/* Every stack must have been given back. */
void stack_pool_destroy(struct stack_pool *pool);

kith_error *stack_pool_take(struct stack_pool *pool, struct stack *out) _must_check_;
void stack_pool_give(struct stack_pool *pool, struct stack stack);

#endif
