#include "columnar/flatbuf_reader.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "flatbuffers are loaded without swapping");

/* Sizes of what the format fixes: an offset, and a vtable's two leading lengths. */
enum { OFFSET_BYTES = 4, VTABLE_HEADER_BYTES = 4 };

static uint16_t load_u16(const uint8_t *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint32_t load_u32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static bool in_range(size_t size, size_t position, size_t length)
{
    return position <= size && length <= size - position;
}

static kith_error *outside(const char *what, size_t position, size_t size)
{
    return error_new(KITH_ERROR_CORRUPT, "flatbuffer: %s at byte %zu lies outside the %zu bytes of the message", what,
                     position, size);
}

static kith_error *table_at(const uint8_t *bytes, size_t size, size_t position, struct flatbuf_table *out)
{
    if (!in_range(size, position, OFFSET_BYTES))
        return outside("table", position, size);
    int32_t back;
    memcpy(&back, bytes + position, sizeof back);
    int64_t vtable = (int64_t)position - back;
    if (vtable < 0 || !in_range(size, (size_t)vtable, VTABLE_HEADER_BYTES))
        return outside("vtable of the table", position, size);
    *out = (struct flatbuf_table){
        .bytes = bytes,
        .size = size,
        .position = position,
        .vtable = (size_t)vtable,
        .vtable_size = load_u16(bytes + vtable),
        .table_size = load_u16(bytes + vtable + 2),
    };
    if (out->vtable_size < VTABLE_HEADER_BYTES || !in_range(size, out->vtable, out->vtable_size))
        return outside("vtable of the table", position, size);
    if (out->table_size < OFFSET_BYTES || !in_range(size, position, out->table_size))
        return outside("end of the table", position, size);
    return NULL;
}

/* *out is the position of a field of `width` bytes, or 0 when the table does not have it. */
static kith_error *field_position(const struct flatbuf_table *table, unsigned field, size_t width, size_t *out)
{
    size_t entry = VTABLE_HEADER_BYTES + 2 * (size_t)field;
    size_t offset = in_range(table->vtable_size, entry, 2) ? load_u16(table->bytes + table->vtable + entry) : 0;
    if (offset != 0 && (offset < OFFSET_BYTES || !in_range(table->table_size, offset, width)))
        return error_new(KITH_ERROR_CORRUPT, "flatbuffer: field %u lies outside its table at byte %zu", field,
                         table->position);
    *out = offset == 0 ? 0 : table->position + offset;
    return NULL;
}

/* Where the offset stored at `position` leads; in range of `size` but for what lies there. */
static kith_error *follow(const uint8_t *bytes, size_t size, size_t position, size_t *out)
{
    size_t target = position + load_u32(bytes + position);
    if (!in_range(size, target, OFFSET_BYTES))
        return outside("target of the offset", position, size);
    *out = target;
    return NULL;
}

kith_error *flatbuf_read_root(const void *bytes, size_t size, struct flatbuf_table *out)
{
    if (size < OFFSET_BYTES)
        return outside("root", 0, size);
    size_t position;
    TRY(follow(bytes, size, 0, &position));
    return table_at(bytes, size, position, out);
}

kith_error *flatbuf_read_int(const struct flatbuf_table *table, unsigned field, size_t width, int64_t absent,
                             int64_t *out)
{
    size_t position;
    TRY(field_position(table, field, width, &position));
    if (position == 0) {
        *out = absent;
        return NULL;
    }
    const uint8_t *at = table->bytes + position;
    int64_t value = 0;
    memcpy(&value, at, width);
    unsigned unused = 64 - 8 * (unsigned)width;
    *out = (int64_t)((uint64_t)value << unused) >> unused;
    return NULL;
}

kith_error *flatbuf_read_table(const struct flatbuf_table *table, unsigned field, struct flatbuf_table *out)
{
    size_t position;
    TRY(field_position(table, field, OFFSET_BYTES, &position));
    if (position == 0) {
        *out = (struct flatbuf_table){0};
        return NULL;
    }
    TRY(follow(table->bytes, table->size, position, &position));
    return table_at(table->bytes, table->size, position, out);
}

kith_error *flatbuf_read_vector(const struct flatbuf_table *table, unsigned field, size_t element_size,
                                struct flatbuf_vector *out)
{
    *out = (struct flatbuf_vector){.bytes = table->bytes, .size = table->size, .element_size = element_size};
    size_t position;
    TRY(field_position(table, field, OFFSET_BYTES, &position));
    if (position == 0)
        return NULL;
    TRY(follow(table->bytes, table->size, position, &position));
    uint32_t count = load_u32(table->bytes + position);
    if (count > (table->size - position - OFFSET_BYTES) / element_size)
        return outside("end of the vector", position, table->size);
    out->position = position + OFFSET_BYTES;
    out->count = count;
    return NULL;
}

kith_error *flatbuf_read_string(const struct flatbuf_table *table, unsigned field, struct str *out)
{
    struct flatbuf_vector characters;
    TRY(flatbuf_read_vector(table, field, 1, &characters));
    *out = (struct str){0};
    if (characters.position != 0)
        *out = (struct str){(const char *)table->bytes + characters.position, characters.count};
    return NULL;
}

kith_error *flatbuf_vector_table(const struct flatbuf_vector *vector, size_t i, struct flatbuf_table *out)
{
    size_t position;
    TRY(follow(vector->bytes, vector->size, vector->position + i * OFFSET_BYTES, &position));
    return table_at(vector->bytes, vector->size, position, out);
}

int64_t flatbuf_vector_int64(const struct flatbuf_vector *vector, size_t i, size_t byte)
{
    int64_t value;
    memcpy(&value, vector->bytes + vector->position + i * vector->element_size + byte, sizeof value);
    return value;
}
