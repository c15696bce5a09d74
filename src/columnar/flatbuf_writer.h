/*
 * Writes a FlatBuffer (https://flatbuffers.dev/internals) from back to front: what is referred to is written first and
 * known afterwards by its distance from the end, a `flatbuf_ref`. Just what Arrow's metadata needs: strings, vectors,
 * tables. No sharing of vtables, no verification: what is written is ours.
 *
 * A writer is reused for many messages and keeps its memory.
 */
#ifndef KITH_COLUMNAR_FLATBUF_WRITER_H
#define KITH_COLUMNAR_FLATBUF_WRITER_H

#include "base/strbuf.h"

#include <stdint.h>

/* Zero-initialised is empty and ready. The last `length` of `capacity` bytes are written. */
struct flatbuf_writer {
    uint8_t *bytes;
    size_t capacity;
    size_t length;
};

typedef uint32_t flatbuf_ref; /* 0 = none */

/* A field of a table: an integer of `width` bytes, or an offset. Width 0 = absent: readers see the default. */
struct flatbuf_slot {
    uint8_t width;
    bool is_ref;
    int64_t value;
};

static inline struct flatbuf_slot flatbuf_int(size_t width, int64_t value)
{
    return (struct flatbuf_slot){.width = (uint8_t)width, .value = value};
}

static inline struct flatbuf_slot flatbuf_offset(flatbuf_ref ref)
{
    return (struct flatbuf_slot){.width = ref == 0 ? 0 : 4, .is_ref = true, .value = ref};
}

kith_error *flatbuf_write_string(struct flatbuf_writer *writer, struct str text, flatbuf_ref *out) _must_check_;
/* `count` elements of `element_size` bytes as they lie in memory, aligned to `alignment` (a power of two up to 8). */
kith_error *flatbuf_write_vector(struct flatbuf_writer *writer, const void *elements, size_t count, size_t element_size,
                                 size_t alignment, flatbuf_ref *out) _must_check_;
kith_error *flatbuf_write_ref_vector(struct flatbuf_writer *writer, const flatbuf_ref *refs, size_t count,
                                     flatbuf_ref *out) _must_check_;
/* slots[i] is the field of id i; up to FLATBUF_MAX_FIELDS. */
kith_error *flatbuf_write_table(struct flatbuf_writer *writer, const struct flatbuf_slot *slots, size_t count,
                                flatbuf_ref *out) _must_check_;
enum { FLATBUF_MAX_FIELDS = 16 };

/* Ends the buffer with `root`: its bytes, a multiple of 8 of them, borrowed until the writer is used again. */
kith_error *flatbuf_finish(struct flatbuf_writer *writer, flatbuf_ref root, struct str *out) _must_check_;
/* Empty again, memory kept. */
void flatbuf_restart(struct flatbuf_writer *writer);
void flatbuf_writer_reset(struct flatbuf_writer *writer);
DEFINE_VALUE_CLEANUP(flatbuf_writer_reset, struct flatbuf_writer)

#endif
