#include "runtime/stack.h"

#include "runtime/fiber_annotations.h"
#include "runtime/mutex.h"

#include <errno.h>
#include <sys/mman.h>

/* More than the largest frame, which could otherwise step over it; a multiple of any page size. */
enum { GUARD_BYTES = 65536 };

kith_error *stack_map(size_t size, struct stack *out)
{
    char *mapping = mmap(NULL, GUARD_BYTES + size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED)
        return error_from_errno(errno, "mapping a stack of %zu bytes", size);
    if (mprotect(mapping, GUARD_BYTES, PROT_NONE) != 0) {
        kith_error *error = error_from_errno(errno, "protecting the memory below a stack");
        munmap(mapping, GUARD_BYTES + size);
        return error;
    }
    *out = (struct stack){.bottom = mapping + GUARD_BYTES, .size = size};
    out->valgrind_number = annotation_register_stack(out->bottom, out->size);
    return NULL;
}

void stack_unmap(struct stack stack)
{
    annotation_deregister_stack(stack.valgrind_number);
    munmap((char *)stack.bottom - GUARD_BYTES, GUARD_BYTES + stack.size);
}

void stack_pool_init(struct stack_pool *pool, size_t stack_bytes, size_t keeps)
{
    ASSERT(keeps <= STACK_POOL_KEEPS);
    pool->stack_bytes = stack_bytes;
    pool->keeps = keeps;
    pthread_mutex_init(&pool->mutex, NULL);
    pool->count = 0;
}

void stack_pool_destroy(struct stack_pool *pool)
{
    while (pool->count > 0)
        stack_unmap(pool->kept[--pool->count]);
    pthread_mutex_destroy(&pool->mutex);
}

kith_error *stack_pool_take(struct stack_pool *pool, struct stack *out)
{
    {
        HOLD_MUTEX(&pool->mutex);
        if (pool->count > 0) {
            *out = pool->kept[--pool->count];
            return NULL;
        }
    }
    return stack_map(pool->stack_bytes, out);
}

void stack_pool_give(struct stack_pool *pool, struct stack stack)
{
    {
        HOLD_MUTEX(&pool->mutex);
        if (pool->count < pool->keeps) {
            pool->kept[pool->count++] = stack;
            return;
        }
    }
    stack_unmap(stack);
}
