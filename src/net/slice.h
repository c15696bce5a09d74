/*
 * A piece of bytes to send. With an `owner` the bytes lie in that buffer, which is kept (by a reference) until they
 * are on the wire, and are not copied; without one they are copied by whoever takes the slice.
 */
#ifndef KITH_NET_SLICE_H
#define KITH_NET_SLICE_H

#include "columnar/buffer.h"

struct slice {
    const void *data;
    size_t size;
    struct buffer *owner; /* borrowed from the caller; NULL = copy */
};

static inline struct slice slice_of_buffer(struct buffer *buffer)
{
    return (struct slice){buffer->data, buffer->size, buffer};
}

static inline struct slice slice_of_bytes(const void *data, size_t size)
{
    return (struct slice){data, size, NULL};
}

static inline size_t slices_size(const struct slice *slices, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += slices[i].size;
    return total;
}

#endif
