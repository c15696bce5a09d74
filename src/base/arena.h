/*
 * An arena: many small allocations with one lifetime, freed together. Plans and expressions of a query
 * live in one. Not thread-safe: an arena belongs to one fiber at a time; what lies in it may be read by all.
 */
#ifndef KITH_BASE_ARENA_H
#define KITH_BASE_ARENA_H

#include "base/error.h"

struct arena_chunk;

/* Zero-initialised is empty and ready. */
struct arena {
    struct arena_chunk *chunk;
    size_t bytes; /* reserved from the heap */
    size_t limit; /* 0 = none; otherwise more is refused with LIMIT */
};

/* Zeroed, aligned for any type. */
kith_error *arena_alloc(struct arena *arena, size_t count, size_t size, void *out_pointer) _must_check_;

/* NUL-terminated copy of `length` bytes. */
kith_error *arena_string(struct arena *arena, const char *data, size_t length, char **out) _must_check_;
kith_error *arena_printf(struct arena *arena, char **out, const char *format, ...) _printf_(3, 4) _must_check_;

/* Frees everything; the arena is empty and ready again. */
void arena_reset(struct arena *arena);
DEFINE_VALUE_CLEANUP(arena_reset, struct arena)
/* Frees what was allocated last, a megabyte or so; false when the arena is empty. For arenas of unknown size: what lies
 * in them is gone from the first call on, and nothing may be allocated before the last. */
bool arena_free_some(struct arena *arena);

#define ARENA_NEW(arena, out_pointer)              arena_alloc((arena), 1, sizeof **(out_pointer), (out_pointer))
#define ARENA_NEW_ARRAY(arena, out_pointer, count) arena_alloc((arena), (count), sizeof **(out_pointer), (out_pointer))

#endif
