/*
 * Immutable, reference-counted bytes: what arrays are made of. 64-byte aligned when allocated here; memory
 * imported from others keeps its own alignment and is given back through `release`.
 */
#ifndef KITH_COLUMNAR_BUFFER_H
#define KITH_COLUMNAR_BUFFER_H

#include "base/error.h"
#include "base/refcount.h"

struct buffer {
    struct refcount refs;
    size_t size;
    uint8_t *data;
    void (*release)(void *owner); /* NULL: nothing to give back beyond this allocation */
    void *owner;
};

/* Uninitialised, with at least 64 readable bytes, zeros, past the end (SIMD tails may read them). */
kith_error *buffer_new(size_t size, struct buffer **out) _must_check_;
kith_error *buffer_new_zeroed(size_t size, struct buffer **out) _must_check_;

/* Wraps memory of others; `release(owner)` is called with the last reference (NULL: nobody
 * need be told). On error it is not called. */
kith_error *buffer_wrap(const void *data, size_t size, void (*release)(void *owner), void *owner,
                        struct buffer **out) _must_check_;

/* Wraps malloc'ed memory. On error the caller keeps it. */
kith_error *buffer_wrap_allocated(void *data, size_t size, struct buffer **out) _must_check_;

/* Part of `buffer`, which it keeps alive. The part is within it. */
kith_error *buffer_view(struct buffer *buffer, size_t offset, size_t length, struct buffer **out) _must_check_;

struct buffer *buffer_ref(struct buffer *buffer); /* NULL passes through */
void buffer_unref(struct buffer *buffer);         /* NULL is accepted */
DEFINE_CLEANUP(buffer_unref, struct buffer)

#endif
