/*
 * Heap memory for what has no arena: sizes are checked for overflow and running out is an error like any
 * other. Tests make the n-th allocation fail through alloc_fail_after. Accounting against a query's
 * limit is memory_pool.h's, not this module's.
 */
#ifndef KITH_BASE_ALLOC_H
#define KITH_BASE_ALLOC_H

#include "base/error.h"

#include <stdlib.h>

/* Zeroed memory for `count` elements of `size` bytes; *out is NULL when either is 0. */
kith_error *alloc_zeroed(size_t count, size_t size, void *out_pointer) _must_check_;

/* Grows or shrinks *pointer to `count` elements; new bytes are not initialised; on error *pointer is unchanged. */
kith_error *alloc_resize(void *in_out_pointer, size_t count, size_t size) _must_check_;

/* Memory aligned to 64 bytes (Arrow's recommendation), not initialised, freed with free(). */
kith_error *alloc_aligned(size_t size, void *out_pointer) _must_check_;

/* A NUL-terminated copy. */
kith_error *alloc_string(const char *data, size_t length, char **out) _must_check_;

#define NEW(out_pointer)              alloc_zeroed(1, sizeof **(out_pointer), (out_pointer))
#define NEW_ARRAY(out_pointer, count) alloc_zeroed((count), sizeof **(out_pointer), (out_pointer))

static inline void free_pointee(void *local)
{
    free(*(void **)local);
}
/* For locals of any pointer type: `_cleanup_free_ char *path = NULL;` */
#define _cleanup_free_ __attribute__((cleanup(free_pointee)))

/* Test hook: the `n`-th allocation from now fails (1 = the next one), once; 0 turns it off. Per thread. Gives what was
 * left to count: 0 when nothing was to fail or it has failed already. */
size_t alloc_fail_after(size_t n);

#endif
