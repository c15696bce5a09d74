#include "columnar/flatbuf_writer.h"

#include "base/alloc.h"
#include "base/limits.h"

static kith_error *grow(struct flatbuf_writer *writer, size_t extra)
{
    size_t needed = writer->length + extra;
    if (needed > LIMIT_IPC_METADATA_BYTES)
        return error_new(KITH_ERROR_LIMIT, "metadata of an Arrow message is larger than IPC_METADATA_BYTES (%d)",
                         LIMIT_IPC_METADATA_BYTES);
    size_t capacity = MAX(needed, MAX(2 * writer->capacity, (size_t)1024));
    uint8_t *bytes;
    TRY(alloc_zeroed(capacity, 1, &bytes));
    if (writer->bytes != NULL)
        memcpy(bytes + capacity - writer->length, writer->bytes + writer->capacity - writer->length, writer->length);
    free(writer->bytes);
    writer->bytes = bytes;
    writer->capacity = capacity;
    return NULL;
}

/* Makes room in front for `size` bytes, for the caller to fill, with padding behind them so that they start at a
 * multiple of `alignment` from the end. */
static kith_error *prepend(struct flatbuf_writer *writer, size_t size, size_t alignment, uint8_t **out)
{
    size_t padding = -(writer->length + size) & (alignment - 1);
    if (writer->bytes == NULL || size + padding > writer->capacity - writer->length)
        TRY(grow(writer, size + padding));
    writer->length += size + padding;
    *out = writer->bytes + writer->capacity - writer->length;
    memset(*out + size, 0, padding);
    return NULL;
}

static kith_error *prepend_u32(struct flatbuf_writer *writer, uint32_t value)
{
    uint8_t *at;
    TRY(prepend(writer, sizeof value, sizeof value, &at));
    memcpy(at, &value, sizeof value);
    return NULL;
}

static flatbuf_ref position(const struct flatbuf_writer *writer)
{
    return (flatbuf_ref)writer->length;
}

kith_error *flatbuf_write_string(struct flatbuf_writer *writer, struct str text, flatbuf_ref *out)
{
    uint8_t *at;
    TRY(prepend(writer, text.length + 1, sizeof(uint32_t), &at));
    if (text.length > 0)
        memcpy(at, text.data, text.length);
    at[text.length] = 0;
    TRY(prepend_u32(writer, (uint32_t)text.length));
    *out = position(writer);
    return NULL;
}

kith_error *flatbuf_write_vector(struct flatbuf_writer *writer, const void *elements, size_t count, size_t element_size,
                                 size_t alignment, flatbuf_ref *out)
{
    uint8_t *at;
    TRY(prepend(writer, count * element_size, MAX(alignment, sizeof(uint32_t)), &at));
    if (count > 0)
        memcpy(at, elements, count * element_size);
    TRY(prepend_u32(writer, (uint32_t)count));
    *out = position(writer);
    return NULL;
}

kith_error *flatbuf_write_ref_vector(struct flatbuf_writer *writer, const flatbuf_ref *refs, size_t count,
                                     flatbuf_ref *out)
{
    uint8_t *at;
    TRY(prepend(writer, count * sizeof *refs, sizeof *refs, &at));
    for (size_t i = 0; i < count; i++) {
        uint32_t distance = position(writer) - (uint32_t)(i * sizeof *refs) - refs[i];
        memcpy(at + i * sizeof distance, &distance, sizeof distance);
    }
    TRY(prepend_u32(writer, (uint32_t)count));
    *out = position(writer);
    return NULL;
}

static kith_error *write_slot(struct flatbuf_writer *writer, const struct flatbuf_slot *slot)
{
    uint8_t *at;
    TRY(prepend(writer, slot->width, slot->width, &at));
    int64_t value = slot->is_ref ? (int64_t)position(writer) - slot->value : slot->value;
    memcpy(at, &value, slot->width);
    return NULL;
}

/* The vtable goes right before its table, whose first word is the distance between the two. */
static kith_error *write_vtable(struct flatbuf_writer *writer, const flatbuf_ref *fields, size_t count,
                                size_t table_size)
{
    flatbuf_ref table = position(writer);
    uint16_t entries[2 + FLATBUF_MAX_FIELDS] = {(uint16_t)((2 + count) * sizeof *entries), (uint16_t)table_size};
    for (size_t i = 0; i < count; i++)
        entries[2 + i] = (uint16_t)(fields[i] == 0 ? 0 : table - fields[i]);
    uint8_t *at;
    TRY(prepend(writer, entries[0], sizeof *entries, &at));
    memcpy(at, entries, entries[0]);
    int32_t distance = (int32_t)(position(writer) - table);
    memcpy(writer->bytes + writer->capacity - table, &distance, sizeof distance);
    return NULL;
}

kith_error *flatbuf_write_table(struct flatbuf_writer *writer, const struct flatbuf_slot *slots, size_t count,
                                flatbuf_ref *out)
{
    ASSERT(count <= FLATBUF_MAX_FIELDS);
    flatbuf_ref fields[FLATBUF_MAX_FIELDS] = {0};
    flatbuf_ref end = position(writer);
    /* Wide fields first, so that the others need no padding. */
    for (size_t width = 8; width > 0; width /= 2) {
        for (size_t i = 0; i < count; i++) {
            if (slots[i].width != width)
                continue;
            TRY(write_slot(writer, &slots[i]));
            fields[i] = position(writer);
        }
    }
    while (count > 0 && fields[count - 1] == 0)
        count--;
    TRY(prepend_u32(writer, 0));
    *out = position(writer);
    return write_vtable(writer, fields, count, *out - end);
}

kith_error *flatbuf_finish(struct flatbuf_writer *writer, flatbuf_ref root, struct str *out)
{
    enum { ALIGNMENT = 8 };
    uint8_t *at;
    size_t padding = -(writer->length + sizeof(uint32_t)) & (ALIGNMENT - 1);
    TRY(prepend(writer, padding, 1, &at));
    memset(at, 0, padding);
    TRY(prepend_u32(writer, position(writer) + (uint32_t)sizeof(uint32_t) - root));
    *out = (struct str){(const char *)writer->bytes + writer->capacity - writer->length, writer->length};
    return NULL;
}

void flatbuf_restart(struct flatbuf_writer *writer)
{
    writer->length = 0;
}

void flatbuf_writer_reset(struct flatbuf_writer *writer)
{
    free(writer->bytes);
    *writer = (struct flatbuf_writer){0};
}
