#include "runtime/fiber_errno.h"

__attribute__((noinline)) int *fiber_errno_location(void)
{
    __asm__ volatile("" ::: "memory"); /* keeps the compiler from deducing that the result never changes */
    return __errno_location();         /* what errno was before fiber_errno.h */
}
