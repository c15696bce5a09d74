#include "columnar/buffer.h"

#include "base/alloc.h"

#include <string.h>

/* Bytes follow their header in one allocation; both start on a cache line. */
enum { HEADER = 64, PADDING = 64 };
_Static_assert(sizeof(struct buffer) <= HEADER, "the bytes start HEADER bytes into the allocation");

kith_error *buffer_new(size_t size, struct buffer **out)
{
    if (size > PTRDIFF_MAX - HEADER - PADDING)
        return error_out_of_memory();
    struct buffer *buffer = NULL;
    TRY(alloc_aligned(HEADER + size + PADDING, &buffer));
    *buffer = (struct buffer){.size = size, .data = (uint8_t *)buffer + HEADER};
    refcount_init(&buffer->refs);
    memset(buffer->data + size, 0, PADDING);
    *out = buffer;
    return NULL;
}

kith_error *buffer_new_zeroed(size_t size, struct buffer **out)
{
    TRY(buffer_new(size, out));
    memset((*out)->data, 0, size);
    return NULL;
}

kith_error *buffer_wrap(const void *data, size_t size, void (*release)(void *owner), void *owner, struct buffer **out)
{
    struct buffer *buffer = NULL;
    TRY(NEW(&buffer));
    refcount_init(&buffer->refs);
    buffer->size = size;
    /* Nobody writes to a buffer that is shared, so dropping the const here is a promise that is kept. */
    memcpy(&buffer->data, &data, sizeof data);
    buffer->release = release;
    buffer->owner = owner;
    *out = buffer;
    return NULL;
}

kith_error *buffer_wrap_allocated(void *data, size_t size, struct buffer **out)
{
    return buffer_wrap(data, size, free, data, out);
}

static void release_viewed(void *owner)
{
    buffer_unref(owner);
}

kith_error *buffer_view(struct buffer *buffer, size_t offset, size_t length, struct buffer **out)
{
    TRY(buffer_wrap(buffer->data + offset, length, release_viewed, buffer, out));
    buffer_ref(buffer);
    return NULL;
}

struct buffer *buffer_ref(struct buffer *buffer)
{
    if (buffer != NULL)
        refcount_take(&buffer->refs);
    return buffer;
}

void buffer_unref(struct buffer *buffer)
{
    if (buffer == NULL || !refcount_drop(&buffer->refs))
        return;
    if (buffer->release != NULL)
        buffer->release(buffer->owner);
    free(buffer);
}
