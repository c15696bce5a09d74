#include "parquet/thrift_writer.h"

static void put_bytes(struct thrift_writer *writer, const void *bytes, size_t length)
{
    if (writer->error == NULL)
        writer->error = strbuf_append(writer->out, bytes, length);
}

static void put_byte(struct thrift_writer *writer, unsigned byte)
{
    unsigned char bytes[] = {(unsigned char)byte};
    put_bytes(writer, bytes, 1);
}

static void put_varint(struct thrift_writer *writer, uint64_t value)
{
    unsigned char bytes[10];
    size_t length = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[length++] = (unsigned char)(value | 0x80);
    bytes[length++] = (unsigned char)value;
    put_bytes(writer, bytes, length);
}

static void put_field(struct thrift_writer *writer, int16_t id, enum thrift_type type)
{
    int16_t *latest = &writer->latest[writer->depth];
    int step = id - *latest;
    ASSERT(step > 0);
    if (step <= 15) {
        put_byte(writer, (unsigned)step << 4 | type);
    } else {
        put_byte(writer, type);
        put_varint(writer, (uint64_t)id << 1); /* zigzag of a positive number */
    }
    *latest = id;
}

void thrift_put_bool(struct thrift_writer *writer, bool value)
{
    put_byte(writer, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_put_i64(struct thrift_writer *writer, int64_t value)
{
    put_varint(writer, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void thrift_put_i32(struct thrift_writer *writer, int32_t value)
{
    thrift_put_i64(writer, value);
}

void thrift_put_binary(struct thrift_writer *writer, struct str value)
{
    put_varint(writer, value.length);
    put_bytes(writer, value.data, value.length);
}

void thrift_write_bool(struct thrift_writer *writer, int16_t id, bool value)
{
    put_field(writer, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_write_i8(struct thrift_writer *writer, int16_t id, int8_t value)
{
    put_field(writer, id, THRIFT_I8);
    put_byte(writer, (unsigned char)value);
}

void thrift_write_i16(struct thrift_writer *writer, int16_t id, int16_t value)
{
    put_field(writer, id, THRIFT_I16);
    thrift_put_i64(writer, value);
}

void thrift_write_i32(struct thrift_writer *writer, int16_t id, int32_t value)
{
    put_field(writer, id, THRIFT_I32);
    thrift_put_i64(writer, value);
}

void thrift_write_i64(struct thrift_writer *writer, int16_t id, int64_t value)
{
    put_field(writer, id, THRIFT_I64);
    thrift_put_i64(writer, value);
}

void thrift_write_binary(struct thrift_writer *writer, int16_t id, struct str value)
{
    put_field(writer, id, THRIFT_BINARY);
    thrift_put_binary(writer, value);
}

void thrift_begin_element(struct thrift_writer *writer)
{
    ASSERT(writer->depth + 1 < THRIFT_WRITER_DEPTH);
    writer->latest[++writer->depth] = 0;
}

void thrift_begin_struct(struct thrift_writer *writer, int16_t id)
{
    put_field(writer, id, THRIFT_STRUCT);
    thrift_begin_element(writer);
}

void thrift_end_struct(struct thrift_writer *writer)
{
    put_byte(writer, THRIFT_STOP);
    if (writer->depth > 0)
        writer->depth--;
}

void thrift_empty_struct(struct thrift_writer *writer, int16_t id)
{
    thrift_begin_struct(writer, id);
    thrift_end_struct(writer);
}

void thrift_write_encoded_struct(struct thrift_writer *writer, int16_t id, struct str bytes)
{
    put_field(writer, id, THRIFT_STRUCT);
    put_bytes(writer, bytes.data, bytes.length);
}

void thrift_begin_list(struct thrift_writer *writer, int16_t id, enum thrift_type element, size_t count)
{
    put_field(writer, id, THRIFT_LIST);
    if (count < 15) {
        put_byte(writer, (unsigned)count << 4 | element);
    } else {
        put_byte(writer, 0xF0 | (unsigned)element);
        put_varint(writer, count);
    }
}

kith_error *thrift_writer_finish(struct thrift_writer *writer)
{
    return TAKE(writer->error);
}
