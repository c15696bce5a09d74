#include "base/arena.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    FIRST_CHUNK_BYTES = 4096,
    LARGEST_CHUNK_BYTES = 1 << 20,
    ARENA_ALIGNMENT = _Alignof(max_align_t),
};

struct arena_chunk {
    struct arena_chunk *previous;
    size_t used;
    size_t size;
    _Alignas(max_align_t) char bytes[];
};

static kith_error *add_chunk(struct arena *arena, size_t needed)
{
    size_t size = arena->chunk == NULL ? FIRST_CHUNK_BYTES : MIN(arena->chunk->size * 2, (size_t)LARGEST_CHUNK_BYTES);
    size = MAX(size, needed);
    if (size > SIZE_MAX - sizeof(struct arena_chunk))
        return error_out_of_memory();
    if (arena->limit != 0 && size > arena->limit - MIN(arena->bytes, arena->limit))
        return error_new(KITH_ERROR_LIMIT, "the statement needs more than %zu bytes of plan memory", arena->limit);
    struct arena_chunk *chunk;
    TRY(alloc_zeroed(1, sizeof *chunk + size, &chunk));
    chunk->previous = arena->chunk;
    chunk->size = size;
    arena->chunk = chunk;
    arena->bytes += size;
    return NULL;
}

kith_error *arena_alloc(struct arena *arena, size_t count, size_t size, void *out_pointer)
{
    void **out = out_pointer;
    size_t bytes;
    *out = NULL;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ARENA_ALIGNMENT)
        return error_out_of_memory();
    bytes = (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    if (arena->chunk == NULL || arena->chunk->size - arena->chunk->used < bytes)
        TRY(add_chunk(arena, bytes));
    *out = arena->chunk->bytes + arena->chunk->used;
    arena->chunk->used += bytes;
    return NULL;
}

kith_error *arena_string(struct arena *arena, const char *data, size_t length, char **out)
{
    if (length == SIZE_MAX)
        return error_out_of_memory();
    TRY(arena_alloc(arena, length + 1, 1, out));
    if (length > 0)
        memcpy(*out, data, length);
    return NULL;
}

kith_error *arena_printf(struct arena *arena, char **out, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    kith_error *error = length < 0 ? error_new(KITH_ERROR_INTERNAL, "cannot format \"%s\"", format)
                                   : arena_alloc(arena, (size_t)length + 1, 1, out);
    if (error == NULL)
        vsnprintf(*out, (size_t)length + 1, format, again);
    va_end(again);
    return error;
}

bool arena_free_some(struct arena *arena)
{
    struct arena_chunk *chunk = arena->chunk;
    arena->bytes = 0;
    if (chunk == NULL)
        return false;
    arena->chunk = chunk->previous;
    free(chunk);
    return true;
}

void arena_reset(struct arena *arena)
{
    while (arena_free_some(arena))
        ;
}
