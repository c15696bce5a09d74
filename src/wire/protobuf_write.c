#include "base/limits.h"
#include "base/vec.h"
#include "wire/protobuf.h"
#include "wire/protobuf_layout.h"

#include <stdlib.h>

/* Written from the last byte to the first: by the time a message's length is due, its content is there to measure. */
struct back_buffer {
    uint8_t *data; /* the last `used` of `capacity` bytes */
    size_t capacity, used;
};

/* A message that is being written: fields from `field` on are there, and of that one the elements from `element` on. */
struct level {
    const ProtobufCMessage *message;
    unsigned field;
    size_t element;
    size_t used_before;
};

struct writer {
    struct back_buffer out;
    VEC(struct level) levels;
};

static void writer_reset(struct writer *writer)
{
    free(writer->out.data);
    vec_reset(&writer->levels);
}
DEFINE_VALUE_CLEANUP(writer_reset, struct writer)

static kith_error *make_room(struct back_buffer *out, size_t extra)
{
    enum { FIRST_CAPACITY = 256 };
    if (out->capacity - out->used >= extra)
        return NULL;
    size_t capacity = MAX(out->capacity * 2, (size_t)FIRST_CAPACITY);
    while (capacity - out->used < extra)
        capacity *= 2;
    uint8_t *data = NULL;
    TRY(alloc_resize(&data, capacity, 1));
    if (out->used > 0)
        memcpy(data + capacity - out->used, out->data + out->capacity - out->used, out->used);
    free(out->data);
    out->data = data;
    out->capacity = capacity;
    return NULL;
}

static kith_error *put_bytes(struct back_buffer *out, const void *bytes, size_t length)
{
    TRY(make_room(out, length));
    out->used += length;
    if (length > 0)
        memcpy(out->data + out->capacity - out->used, bytes, length);
    return NULL;
}

static kith_error *put_varint(struct back_buffer *out, uint64_t value)
{
    uint8_t bytes[WIRE_VARINT_BYTES];
    return put_bytes(out, bytes, wire_put_varint(bytes, value));
}

static kith_error *put_length_and_tag(struct back_buffer *out, size_t length, uint32_t number)
{
    TRY(put_varint(out, length));
    return put_varint(out, wire_tag(number, WIRE_BYTES));
}

/* A number of 32 or 64 bits, sign-extended where negative numbers are sent with all 64. */
static uint64_t load_integer(ProtobufCType type, const void *place)
{
    int32_t half;
    int64_t whole;
    memcpy(&half, place, sizeof half);
    switch (type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_ENUM:
        return (uint64_t)(int64_t)half;
    case PROTOBUF_C_TYPE_SINT32:
        return (uint32_t)half << 1 ^ (uint32_t)(half >> 31);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return (uint32_t)half;
    case PROTOBUF_C_TYPE_BOOL:
        return half != 0;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        memcpy(&whole, place, sizeof whole);
        return (uint64_t)whole;
    case PROTOBUF_C_TYPE_SINT64:
        memcpy(&whole, place, sizeof whole);
        return (uint64_t)whole << 1 ^ (uint64_t)(whole >> 63);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        break;
    }
    UNREACHABLE();
}

static struct str load_bytes(ProtobufCType type, const void *place)
{
    if (type == PROTOBUF_C_TYPE_STRING) {
        const char *text = *(const char *const *)place;
        return text == NULL ? (struct str){0} : str_of(text);
    }
    const ProtobufCBinaryData *bytes = place;
    return (struct str){(const char *)bytes->data, bytes->len};
}

static kith_error *put_number(struct back_buffer *out, ProtobufCType type, const void *place)
{
    if (field_wire_type(type) == WIRE_VARINT)
        return put_varint(out, load_integer(type, place));
    return put_bytes(out, place, field_width(type));
}

static bool is_text_or_bytes(ProtobufCType type)
{
    return type == PROTOBUF_C_TYPE_STRING || type == PROTOBUF_C_TYPE_BYTES;
}

static kith_error *put_value(struct back_buffer *out, const ProtobufCFieldDescriptor *field, const void *place)
{
    if (is_text_or_bytes(field->type)) {
        struct str bytes = load_bytes(field->type, place);
        TRY(put_bytes(out, bytes.data, bytes.length));
        return put_length_and_tag(out, bytes.length, field->id);
    }
    TRY(put_number(out, field->type, place));
    return put_varint(out, wire_tag(field->id, field_wire_type(field->type)));
}

/* Texts and bytes one by one, numbers packed. */
static kith_error *put_elements(struct back_buffer *out, const ProtobufCFieldDescriptor *field,
                                const ProtobufCMessage *message)
{
    size_t count = *field_count(message, field), before = out->used;
    const char *elements = *(const char *const *)field_place(message, field);
    for (size_t i = count; i-- > 0;) {
        const void *place = elements + i * field_width(field->type);
        if (is_text_or_bytes(field->type))
            TRY(put_value(out, field, place));
        else
            TRY(put_number(out, field->type, place));
    }
    return count == 0 || is_text_or_bytes(field->type) ? NULL : put_length_and_tag(out, out->used - before, field->id);
}

static bool is_present(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    const void *place = field_place(message, field);
    if (field_is_oneof(field))
        return *field_choice(message, field) == field->id;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        return *(const void *const *)place != NULL;
    return is_text_or_bytes(field->type) ? load_bytes(field->type, place).length > 0
                                         : load_integer(field->type, place) != 0;
}

static kith_error *push(struct writer *writer, const ProtobufCMessage *message)
{
    ASSERT(message != NULL);
    if (writer->levels.length >= LIMIT_PLAN_DEPTH)
        return error_new(KITH_ERROR_LIMIT, "messages nested deeper than PLAN_DEPTH (%d levels)", LIMIT_PLAN_DEPTH);
    return vec_push(
        &writer->levels,
        ((struct level){.message = message, .field = message->descriptor->n_fields, .used_before = writer->out.used}));
}

/* The innermost message is complete: its length and tag go before it, which are its parent's to know. */
static kith_error *finish_level(struct writer *writer)
{
    struct level done = vec_pop(&writer->levels);
    if (writer->levels.length == 0)
        return NULL;
    const struct level *parent = &writer->levels.items[writer->levels.length - 1];
    uint32_t number = parent->message->descriptor->fields[parent->field].id;
    return put_length_and_tag(&writer->out, writer->out.used - done.used_before, number);
}

static kith_error *write_step(struct writer *writer)
{
    struct level *level = &writer->levels.items[writer->levels.length - 1];
    const ProtobufCMessage *message = level->message;
    if (level->element > 0) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[level->field];
        const ProtobufCMessage *const *elements = *(const ProtobufCMessage *const *const *)field_place(message, field);
        return push(writer, elements[--level->element]);
    }
    if (level->field == 0)
        return finish_level(writer);
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[--level->field];
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            return put_elements(&writer->out, field, message);
        level->element = *field_count(message, field);
        return NULL;
    }
    if (!is_present(message, field))
        return NULL;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        return push(writer, *(const ProtobufCMessage *const *)field_place(message, field));
    return put_value(&writer->out, field, field_place(message, field));
}

kith_error *protobuf_write(const ProtobufCMessage *message, struct strbuf *out)
{
    _cleanup_(writer_reset) struct writer writer = {0};
    TRY(push(&writer, message));
    while (writer.levels.length > 0)
        TRY(write_step(&writer));
    const struct back_buffer *bytes = &writer.out;
    return bytes->used == 0 ? NULL : strbuf_append(out, bytes->data + bytes->capacity - bytes->used, bytes->used);
}
