#include "parquet/byte_window.h"

#include "base/clock.h"

void byte_window_init(struct byte_window *window, struct storage_file *storage, uint64_t begin, uint64_t end,
                      struct page_buffer *memory)
{
    *window = (struct byte_window){.storage = storage, .begin = begin, .end = end, .memory = memory};
}

static kith_error *check_range(const struct byte_window *window, uint64_t offset, size_t needed)
{
    if (offset >= window->begin && offset <= window->end && needed <= window->end - offset)
        return NULL;
    return error_new(KITH_ERROR_CORRUPT, "bytes %llu to %llu lie outside of the column chunk at %llu to %llu",
                     (unsigned long long)offset, (unsigned long long)(offset + needed),
                     (unsigned long long)window->begin, (unsigned long long)window->end);
}

static bool has(const struct byte_window *window, uint64_t offset, size_t needed)
{
    return offset >= window->offset && offset - window->offset <= window->length &&
           needed <= window->length - (offset - window->offset);
}

static kith_error *read_into(struct byte_window *window, uint64_t offset, size_t length, uint8_t *out)
{
    int64_t start = clock_monotonic_ns(&system_clock);
    TRY(storage_file_read(window->storage, offset, length, out));
    window->read_ns += clock_monotonic_ns(&system_clock) - start;
    window->bytes_read += length;
    return NULL;
}

/* Moves the window to `offset`, keeping the bytes from there on, and makes room for `size`. */
static kith_error *slide(struct byte_window *window, uint64_t offset, size_t size)
{
    const uint8_t *from = NULL;
    size_t kept = 0;
    if (offset >= window->offset && offset - window->offset < window->length) {
        from = window->memory->data + (offset - window->offset);
        kept = window->length - (size_t)(offset - window->offset);
    }
    if (size + PAGE_SLACK <= window->memory->capacity) {
        if (kept > 0)
            memmove(window->memory->data, from, kept);
    } else {
        struct page_buffer grown = {0};
        TRY(page_buffer_reserve(&grown, size));
        if (kept > 0)
            memcpy(grown.data, from, kept);
        page_buffer_reset(window->memory);
        *window->memory = grown;
    }
    window->offset = offset;
    window->length = kept;
    return NULL;
}

kith_error *byte_window_get(struct byte_window *window, uint64_t offset, size_t needed, size_t wanted,
                            const uint8_t **out)
{
    TRY(check_range(window, offset, needed));
    if (!has(window, offset, needed)) {
        size_t size = (size_t)MIN((uint64_t)MAX(needed, wanted), window->end - offset);
        TRY(slide(window, offset, size));
        size_t missing = size - window->length;
        TRY(read_into(window, offset + window->length, missing, window->memory->data + window->length));
        window->length = size;
    }
    *out = window->memory->data + (offset - window->offset);
    return NULL;
}

kith_error *byte_window_get_aside(struct byte_window *window, uint64_t offset, size_t needed, struct page_buffer *aside,
                                  const uint8_t **out)
{
    if (has(window, offset, needed))
        return byte_window_get(window, offset, needed, needed, out);
    TRY(check_range(window, offset, needed));
    TRY(page_buffer_reserve(aside, needed));
    *out = aside->data;
    return read_into(window, offset, needed, aside->data);
}
