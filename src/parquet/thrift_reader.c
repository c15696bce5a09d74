#include "parquet/thrift_reader.h"

#include "base/limits.h"
#include "runtime/coop.h"

#include <stdarg.h>
#include <stdio.h>

kith_error *thrift_corrupt(const struct thrift_reader *reader, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_new(KITH_ERROR_CORRUPT, "%s: %s is damaged at byte %llu: %s", reader->file, reader->what,
                     (unsigned long long)(reader->offset + thrift_consumed(reader)), text);
}

static kith_error *ran_out(struct thrift_reader *reader)
{
    reader->ran_out = true;
    return thrift_corrupt(reader, "it ends in the middle of a value");
}

static kith_error *read_byte(struct thrift_reader *reader, uint8_t *out)
{
    if (reader->at == reader->end)
        return ran_out(reader);
    *out = *reader->at++;
    return NULL;
}

/* Seven bits a byte, the lowest first (ULEB128). */
static kith_error *read_varint(struct thrift_reader *reader, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;
        TRY(read_byte(reader, &byte));
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = value;
            return NULL;
        }
    }
    return thrift_corrupt(reader, "a number has more than 64 bits");
}

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static const char *type_name(enum thrift_type type)
{
    static const char *const names[] = {"stop",   "bool",   "bool", "i8",  "i16", "i32",    "i64",
                                        "double", "binary", "list", "set", "map", "struct", "uuid"};
    return (size_t)type < ARRAY_SIZE(names) ? names[type] : "unknown";
}

static kith_error *expect(struct thrift_reader *reader, const struct thrift_field *field, enum thrift_type type)
{
    if (field->type == type)
        return NULL;
    return thrift_corrupt(reader, "field %d has type %s where %s was expected", field->id, type_name(field->type),
                          type_name(type));
}

kith_error *thrift_next_field(struct thrift_reader *reader, struct thrift_field *field)
{
    uint8_t head;
    TRY(read_byte(reader, &head));
    unsigned type = head & 0x0F, step = head >> 4;
    if (type > THRIFT_UUID || (type == THRIFT_STOP && step != 0))
        return thrift_corrupt(reader, "byte 0x%02x is no head of a field", head);
    field->type = (enum thrift_type)type;
    if (type == THRIFT_STOP)
        return NULL;
    int64_t id = field->id + (int64_t)step;
    if (step == 0) {
        uint64_t raw;
        TRY(read_varint(reader, &raw));
        id = unzigzag(raw);
    }
    if (id < INT16_MIN || id > INT16_MAX)
        return thrift_corrupt(reader, "a field's number is out of range");
    field->id = (int16_t)id;
    return NULL;
}

kith_error *thrift_read_bool(struct thrift_reader *reader, const struct thrift_field *field, bool *out)
{
    if (field->type != THRIFT_TRUE && field->type != THRIFT_FALSE)
        return expect(reader, field, THRIFT_TRUE);
    *out = field->type == THRIFT_TRUE;
    return NULL;
}

kith_error *thrift_element_bool(struct thrift_reader *reader, bool *out)
{
    uint8_t byte;
    TRY(read_byte(reader, &byte));
    /* The protocol says 1 and 2; some writers put 0 for false. */
    if (byte > THRIFT_FALSE)
        return thrift_corrupt(reader, "byte 0x%02x is no boolean", byte);
    *out = byte == THRIFT_TRUE;
    return NULL;
}

kith_error *thrift_element_i64(struct thrift_reader *reader, int64_t *out)
{
    uint64_t raw;
    TRY(read_varint(reader, &raw));
    *out = unzigzag(raw);
    return NULL;
}

kith_error *thrift_element_i32(struct thrift_reader *reader, int32_t *out)
{
    int64_t wide;
    TRY(thrift_element_i64(reader, &wide));
    if (wide < INT32_MIN || wide > INT32_MAX)
        return thrift_corrupt(reader, "%lld does not fit 32 bits", (long long)wide);
    *out = (int32_t)wide;
    return NULL;
}

kith_error *thrift_element_binary(struct thrift_reader *reader, struct str *out)
{
    uint64_t length;
    TRY(read_varint(reader, &length));
    if (length > thrift_left(reader))
        return ran_out(reader);
    *out = (struct str){(const char *)reader->at, (size_t)length};
    reader->at += length;
    return NULL;
}

kith_error *thrift_read_i32(struct thrift_reader *reader, const struct thrift_field *field, int32_t *out)
{
    TRY(expect(reader, field, THRIFT_I32));
    return thrift_element_i32(reader, out);
}

kith_error *thrift_read_i64(struct thrift_reader *reader, const struct thrift_field *field, int64_t *out)
{
    TRY(expect(reader, field, THRIFT_I64));
    return thrift_element_i64(reader, out);
}

kith_error *thrift_read_binary(struct thrift_reader *reader, const struct thrift_field *field, struct str *out)
{
    TRY(expect(reader, field, THRIFT_BINARY));
    return thrift_element_binary(reader, out);
}

kith_error *thrift_expect_struct(struct thrift_reader *reader, const struct thrift_field *field)
{
    return expect(reader, field, THRIFT_STRUCT);
}

static kith_error *read_list_head(struct thrift_reader *reader, enum thrift_type *element, size_t *count)
{
    uint8_t head;
    TRY(read_byte(reader, &head));
    uint64_t length = head >> 4;
    if (length == 15)
        TRY(read_varint(reader, &length));
    if ((head & 0x0F) > THRIFT_UUID || (head & 0x0F) == THRIFT_STOP)
        return thrift_corrupt(reader, "a list's elements have no known type");
    if (length > thrift_left(reader))
        return ran_out(reader);
    *element = (enum thrift_type)(head & 0x0F);
    *count = (size_t)length;
    return NULL;
}

kith_error *thrift_read_list(struct thrift_reader *reader, const struct thrift_field *field, enum thrift_type element,
                             size_t *count)
{
    enum thrift_type found;
    TRY(expect(reader, field, THRIFT_LIST));
    TRY(read_list_head(reader, &found, count));
    if (found == THRIFT_FALSE)
        found = THRIFT_TRUE;
    if (found != element && *count > 0)
        return thrift_corrupt(reader, "field %d is a list of %s where %s was expected", field->id, type_name(found),
                              type_name(element));
    return NULL;
}

/* What is open while skipping: a struct, or a list, set or map with `left` values to come. */
struct skip_level {
    bool is_struct;
    enum thrift_type types[2]; /* of the values, which alternate in a map */
    uint64_t left;
    struct thrift_field field;
};

static kith_error *skip_bytes(struct thrift_reader *reader, size_t length)
{
    if (length > thrift_left(reader))
        return ran_out(reader);
    reader->at += length;
    return NULL;
}

static kith_error *open_collection(struct thrift_reader *reader, enum thrift_type type, struct skip_level *level)
{
    *level = (struct skip_level){0};
    if (type != THRIFT_MAP) {
        size_t count;
        TRY(read_list_head(reader, &level->types[0], &count));
        level->types[1] = level->types[0];
        level->left = count;
        return NULL;
    }
    uint64_t pairs;
    uint8_t types = 0;
    TRY(read_varint(reader, &pairs));
    if (pairs > 0)
        TRY(read_byte(reader, &types));
    if (pairs > thrift_left(reader))
        return ran_out(reader);
    level->types[0] = (enum thrift_type)(types >> 4);
    level->types[1] = (enum thrift_type)(types & 0x0F);
    level->left = pairs * 2;
    return NULL;
}

/* Passes over one value, or opens a level for it. */
static kith_error *skip_value(struct thrift_reader *reader, enum thrift_type type, bool in_collection,
                              struct skip_level *levels, size_t *depth)
{
    uint64_t number;
    struct str text;
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        return in_collection ? skip_bytes(reader, 1) : NULL;
    case THRIFT_I8:
        return skip_bytes(reader, 1);
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        return read_varint(reader, &number);
    case THRIFT_DOUBLE:
        return skip_bytes(reader, 8);
    case THRIFT_UUID:
        return skip_bytes(reader, 16);
    case THRIFT_BINARY:
        return thrift_element_binary(reader, &text);
    case THRIFT_LIST:
    case THRIFT_SET:
    case THRIFT_MAP:
    case THRIFT_STRUCT:
        if (*depth == LIMIT_THRIFT_DEPTH)
            return thrift_corrupt(reader, "values are nested deeper than %d (limit THRIFT_DEPTH)", LIMIT_THRIFT_DEPTH);
        if (type == THRIFT_STRUCT)
            levels[*depth] = (struct skip_level){.is_struct = true};
        else
            TRY(open_collection(reader, type, &levels[*depth]));
        (*depth)++;
        return NULL;
    case THRIFT_STOP:
        break;
    }
    return thrift_corrupt(reader, "a value has no known type");
}

kith_error *thrift_skip(struct thrift_reader *reader, const struct thrift_field *field)
{
    enum { STEPS_A_CHARGE = 16384 };
    struct skip_level levels[LIMIT_THRIFT_DEPTH];
    size_t depth = 0, step = 0;
    TRY(skip_value(reader, field->type, false, levels, &depth));
    while (depth > 0) {
        struct skip_level *level = &levels[depth - 1];
        TRY(coop_charge_every(STEPS_A_CHARGE, step++));
        if (level->is_struct) {
            TRY(thrift_next_field(reader, &level->field));
            if (level->field.type == THRIFT_STOP)
                depth--;
            else
                TRY(skip_value(reader, level->field.type, false, levels, &depth));
        } else if (level->left == 0) {
            depth--;
        } else {
            enum thrift_type type = level->types[level->left-- & 1];
            TRY(skip_value(reader, type, true, levels, &depth));
        }
    }
    return NULL;
}
