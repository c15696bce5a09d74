#include "base/alloc.h"

#include <string.h>

static _Thread_local size_t fail_countdown __attribute__((tls_model("initial-exec")));

size_t alloc_fail_after(size_t n)
{
    size_t left = fail_countdown;
    fail_countdown = n;
    return left;
}

static bool should_fail(void)
{
    return fail_countdown != 0 && --fail_countdown == 0;
}

kith_error *alloc_zeroed(size_t count, size_t size, void *out_pointer)
{
    void **out = out_pointer;
    *out = NULL;
    if (count == 0 || size == 0)
        return NULL;
    if (should_fail())
        return error_out_of_memory();
    *out = calloc(count, size);
    return *out == NULL ? error_out_of_memory() : NULL;
}

kith_error *alloc_resize(void *in_out_pointer, size_t count, size_t size)
{
    void **pointer = in_out_pointer;
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || should_fail())
        return error_out_of_memory();
    void *grown = realloc(*pointer, bytes == 0 ? 1 : bytes);
    if (grown == NULL)
        return error_out_of_memory();
    *pointer = grown;
    return NULL;
}

kith_error *alloc_aligned(size_t size, void *out_pointer)
{
    enum { ALIGNMENT = 64 };
    void **out = out_pointer;
    *out = NULL;
    if (size > SIZE_MAX - ALIGNMENT || should_fail())
        return error_out_of_memory();
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *out = aligned_alloc(ALIGNMENT, rounded == 0 ? ALIGNMENT : rounded);
    return *out == NULL ? error_out_of_memory() : NULL;
}

kith_error *alloc_string(const char *data, size_t length, char **out)
{
    if (length == SIZE_MAX)
        return error_out_of_memory();
    TRY(alloc_zeroed(length + 1, 1, out));
    if (length > 0)
        memcpy(*out, data, length);
    return NULL;
}
