#include "wire/protobuf_wire.h"

#include <stdarg.h>
#include <stdio.h>

kith_error *wire_corrupt(const struct wire_cursor *cursor, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_new(KITH_ERROR_CORRUPT, "malformed message at byte %zu: %s",
                     (size_t)(cursor->position - cursor->start), text);
}

static size_t left(const struct wire_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->position);
}

kith_error *wire_read_varint(struct wire_cursor *cursor, uint64_t *out)
{
    uint64_t value = 0;
    size_t most = MIN(left(cursor), (size_t)WIRE_VARINT_BYTES);
    for (size_t i = 0; i < most; i++) {
        uint8_t byte = cursor->position[i];
        /* The tenth byte has room for the 64th bit only. */
        if (i + 1 == WIRE_VARINT_BYTES && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            cursor->position += i + 1;
            *out = value;
            return NULL;
        }
    }
    if (most < WIRE_VARINT_BYTES)
        return wire_corrupt(cursor, "a number is cut off");
    return wire_corrupt(cursor, "a number of more than 64 bits");
}

kith_error *wire_read_tag(struct wire_cursor *cursor, uint32_t *number, enum wire_type *type)
{
    uint64_t tag;
    struct wire_cursor ahead = *cursor;
    TRY(wire_read_varint(&ahead, &tag));
    unsigned given = tag & 7;
    if (tag > UINT32_MAX || tag >> 3 == 0)
        return wire_corrupt(cursor, "%llu is no field's tag", (unsigned long long)tag);
    if (given != WIRE_VARINT && given != WIRE_FIXED64 && given != WIRE_BYTES && given != WIRE_FIXED32)
        return wire_corrupt(cursor, "wire type %u", given);
    *number = (uint32_t)(tag >> 3);
    *type = (enum wire_type)given;
    *cursor = ahead;
    return NULL;
}

kith_error *wire_read_bytes(struct wire_cursor *cursor, struct str *out)
{
    uint64_t length;
    struct wire_cursor ahead = *cursor;
    TRY(wire_read_varint(&ahead, &length));
    if (length > left(&ahead))
        return wire_corrupt(cursor, "a length of %llu where %zu bytes are left", (unsigned long long)length,
                            left(&ahead));
    *out = (struct str){(const char *)ahead.position, (size_t)length};
    ahead.position += length;
    *cursor = ahead;
    return NULL;
}

static kith_error *read_fixed(struct wire_cursor *cursor, void *out, size_t size)
{
    if (left(cursor) < size)
        return wire_corrupt(cursor, "a number of %zu bytes is cut off", size);
    memcpy(out, cursor->position, size);
    cursor->position += size;
    return NULL;
}

/* Little-endian on the wire, as every machine that Kith runs on. */
kith_error *wire_read_fixed32(struct wire_cursor *cursor, uint32_t *out)
{
    return read_fixed(cursor, out, sizeof *out);
}

kith_error *wire_read_fixed64(struct wire_cursor *cursor, uint64_t *out)
{
    return read_fixed(cursor, out, sizeof *out);
}

kith_error *wire_skip(struct wire_cursor *cursor, enum wire_type type)
{
    uint64_t number;
    uint32_t short_number;
    struct str bytes;
    switch (type) {
    case WIRE_VARINT:
        return wire_read_varint(cursor, &number);
    case WIRE_FIXED64:
        return wire_read_fixed64(cursor, &number);
    case WIRE_FIXED32:
        return wire_read_fixed32(cursor, &short_number);
    case WIRE_BYTES:
        return wire_read_bytes(cursor, &bytes);
    }
    UNREACHABLE();
}

size_t wire_put_varint(uint8_t *out, uint64_t value)
{
    size_t length = 0;
    while (value >= 0x80) {
        out[length++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    out[length++] = (uint8_t)value;
    return length;
}
