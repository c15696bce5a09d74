#include "base/limits.h"
#include "base/vec.h"
#include "columnar/utf8.h"
#include "wire/protobuf.h"
#include "wire/protobuf_layout.h"

#include <stdlib.h>

/* A message that is being read: what is left of its bytes. */
struct level {
    ProtobufCMessage *message;
    struct wire_cursor cursor;
};

struct reader {
    enum protobuf_unknown unknown;
    struct arena *arena;
    VEC(struct level) levels;
};

static void reader_reset(struct reader *reader)
{
    vec_reset(&reader->levels);
}
DEFINE_VALUE_CLEANUP(reader_reset, struct reader)

/* The field of the tag at hand; *field is NULL where one is to be read over. */
static kith_error *next_field(const struct reader *reader, const ProtobufCMessageDescriptor *type,
                              struct wire_cursor *cursor, const ProtobufCFieldDescriptor **field, enum wire_type *wire)
{
    uint32_t number;
    struct wire_cursor tag = *cursor;
    TRY(wire_read_tag(cursor, &number, wire));
    *field = protobuf_c_message_descriptor_get_field(type, number);
    if (*field == NULL) {
        if (reader->unknown == PROTOBUF_READ_OVER_ADDITIONS && number >= PROTOBUF_FIRST_ADDITION)
            return NULL;
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "field %u of %s is not implemented", number, type->short_name);
    }
    enum wire_type expected = field_wire_type((*field)->type);
    bool is_packed = (*field)->label == PROTOBUF_C_LABEL_REPEATED && *wire == WIRE_BYTES;
    if (*wire != expected && !is_packed)
        return wire_corrupt(&tag, "field %s of %s has wire type %d, not %d", (*field)->name, type->short_name,
                            (int)*wire, (int)expected);
    return NULL;
}

static size_t packed_count(struct str bytes, enum wire_type expected)
{
    size_t count = 0;
    if (expected != WIRE_VARINT)
        return bytes.length / (expected == WIRE_FIXED32 ? 4 : 8);
    for (size_t i = 0; i < bytes.length; i++)
        count += ((uint8_t)bytes.data[i] & 0x80) == 0;
    return count;
}

/* Makes room for the elements of repeated fields: they are counted first, since they may lie apart. */
static kith_error *make_room(struct reader *reader, ProtobufCMessage *message, struct wire_cursor cursor)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    while (cursor.position < cursor.end) {
        const ProtobufCFieldDescriptor *field;
        enum wire_type wire;
        TRY(next_field(reader, type, &cursor, &field, &wire));
        struct wire_cursor value = cursor;
        TRY(wire_skip(&cursor, wire));
        if (field == NULL || field->label != PROTOBUF_C_LABEL_REPEATED)
            continue;
        struct str bytes;
        enum wire_type expected = field_wire_type(field->type);
        if (wire == expected) {
            *field_count(message, field) += 1;
        } else {
            TRY(wire_read_bytes(&value, &bytes));
            *field_count(message, field) += packed_count(bytes, expected);
        }
    }
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if (field->label != PROTOBUF_C_LABEL_REPEATED || *field_count(message, field) == 0)
            continue;
        void **elements = field_place(message, field);
        TRY(arena_alloc(reader->arena, *field_count(message, field), field_width(field->type), elements));
        *field_count(message, field) = 0;
    }
    return NULL;
}

static kith_error *open_level(struct reader *reader, const ProtobufCMessageDescriptor *type, struct wire_cursor cursor,
                              ProtobufCMessage **out)
{
    if (reader->levels.length >= LIMIT_PLAN_DEPTH)
        return error_new(KITH_ERROR_LIMIT, "messages nested deeper than PLAN_DEPTH (%d levels)", LIMIT_PLAN_DEPTH);
    TRY(protobuf_new(reader->arena, type, out));
    TRY(make_room(reader, *out, cursor));
    return vec_push(&reader->levels, ((struct level){*out, cursor}));
}

static kith_error *read_varint_field(struct wire_cursor *cursor, ProtobufCType type, void *place)
{
    uint64_t value;
    TRY(wire_read_varint(cursor, &value));
    if (type == PROTOBUF_C_TYPE_SINT32 || type == PROTOBUF_C_TYPE_SINT64)
        value = (value >> 1) ^ -(value & 1);
    if (type == PROTOBUF_C_TYPE_BOOL) {
        *(protobuf_c_boolean *)place = value != 0;
    } else if (field_width(type) == 4) {
        /* Negative 32-bit numbers come with 64 bits; the upper half is dropped, as protobuf says. */
        uint32_t low = (uint32_t)value;
        memcpy(place, &low, sizeof low);
    } else {
        memcpy(place, &value, sizeof value);
    }
    return NULL;
}

static kith_error *read_text_field(struct reader *reader, const struct wire_cursor *before, struct str bytes,
                                   const ProtobufCFieldDescriptor *field, char **place)
{
    if (memchr(bytes.data, 0, bytes.length) != NULL)
        return wire_corrupt(before, "the text of field %s holds a NUL", field->name);
    if (!utf8_is_valid(bytes.data, bytes.length))
        return wire_corrupt(before, "the text of field %s is not UTF-8", field->name);
    return arena_string(reader->arena, bytes.data, bytes.length, place);
}

static kith_error *read_value(struct reader *reader, struct wire_cursor *cursor, const ProtobufCFieldDescriptor *field,
                              void *place)
{
    struct str bytes;
    struct wire_cursor before = *cursor;
    switch (field_wire_type(field->type)) {
    case WIRE_VARINT:
        return read_varint_field(cursor, field->type, place);
    case WIRE_FIXED32:
        return wire_read_fixed32(cursor, place);
    case WIRE_FIXED64:
        return wire_read_fixed64(cursor, place);
    case WIRE_BYTES:
        break;
    }
    TRY(wire_read_bytes(cursor, &bytes));
    if (field->type == PROTOBUF_C_TYPE_STRING)
        return read_text_field(reader, &before, bytes, field, place);
    if (field->type == PROTOBUF_C_TYPE_BYTES) {
        *(ProtobufCBinaryData *)place = (ProtobufCBinaryData){bytes.length, (uint8_t *)(uintptr_t)bytes.data};
        return NULL;
    }
    struct wire_cursor inside = {
        .start = cursor->start, .position = (const uint8_t *)bytes.data, .end = cursor->position};
    return open_level(reader, field->descriptor, inside, place);
}

static kith_error *read_packed(struct reader *reader, struct wire_cursor *cursor, const ProtobufCFieldDescriptor *field,
                               ProtobufCMessage *message)
{
    struct str bytes;
    TRY(wire_read_bytes(cursor, &bytes));
    struct wire_cursor inside = {
        .start = cursor->start, .position = (const uint8_t *)bytes.data, .end = cursor->position};
    char *elements = *(char **)field_place(message, field);
    while (inside.position < inside.end) {
        size_t *count = field_count(message, field);
        TRY(read_value(reader, &inside, field, elements + *count * field_width(field->type)));
        *count += 1;
    }
    return NULL;
}

/* Notes that a field is there. A message must not be there already: merging two is a way to make work out of little,
 * and no encoder writes them. */
static kith_error *mark_present(struct wire_cursor *cursor, const ProtobufCFieldDescriptor *field,
                                ProtobufCMessage *message)
{
    bool is_oneof = field_is_oneof(field);
    bool is_repeated_message =
        !is_oneof && field->type == PROTOBUF_C_TYPE_MESSAGE && *(void **)field_place(message, field) != NULL;
    if ((is_oneof && *field_choice(message, field) != 0) || is_repeated_message)
        return wire_corrupt(cursor, "field %s of %s is given twice or beside its alternative", field->name,
                            message->descriptor->short_name);
    if (is_oneof)
        *field_choice(message, field) = field->id;
    return NULL;
}

/* Reads one field of the innermost message. What it opens becomes the innermost. */
static kith_error *read_field(struct reader *reader)
{
    /* Not kept over read_value: opening a level may move the array. */
    struct level *level = &reader->levels.items[reader->levels.length - 1];
    ProtobufCMessage *message = level->message;
    struct wire_cursor cursor = level->cursor;
    const ProtobufCFieldDescriptor *field;
    enum wire_type wire;
    TRY(next_field(reader, message->descriptor, &cursor, &field, &wire));
    struct wire_cursor value = cursor;
    TRY(wire_skip(&cursor, wire));
    level->cursor = cursor;
    if (field == NULL)
        return NULL;
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        TRY(mark_present(&value, field, message));
        return read_value(reader, &value, field, field_place(message, field));
    }
    if (wire != field_wire_type(field->type))
        return read_packed(reader, &value, field, message);
    char *elements = *(char **)field_place(message, field);
    size_t index = (*field_count(message, field))++;
    return read_value(reader, &value, field, elements + index * field_width(field->type));
}

kith_error *protobuf_read(const ProtobufCMessageDescriptor *type, struct str bytes, enum protobuf_unknown unknown,
                          struct arena *arena, void *out_message)
{
    _cleanup_(reader_reset) struct reader reader = {.unknown = unknown, .arena = arena};
    ProtobufCMessage *message;
    TRY(open_level(&reader, type, wire_cursor_over(bytes), &message));
    while (reader.levels.length > 0) {
        const struct wire_cursor *cursor = &reader.levels.items[reader.levels.length - 1].cursor;
        if (cursor->position == cursor->end)
            reader.levels.length--;
        else
            TRY(read_field(&reader));
    }
    *(ProtobufCMessage **)out_message = message;
    return NULL;
}

kith_error *protobuf_new(struct arena *arena, const ProtobufCMessageDescriptor *type, void *out_message)
{
    ProtobufCMessage **out = out_message;
    TRY(arena_alloc(arena, 1, type->sizeof_message, out));
    type->message_init(*out);
    return NULL;
}

const char *protobuf_field_name(const ProtobufCMessageDescriptor *type, unsigned number)
{
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(type, number);
    return field == NULL ? "(none)" : field->name;
}
