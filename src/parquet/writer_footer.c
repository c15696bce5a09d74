#include "parquet/thrift_writer.h"
#include "parquet/writer_parts.h"

static const char created_by[] = "kith version 0.1.0";

static void write_unit(struct thrift_writer *thrift, int16_t id, enum time_unit unit)
{
    thrift_begin_struct(thrift, id);
    thrift_empty_struct(thrift, unit == UNIT_MILLISECOND ? 1 : unit == UNIT_MICROSECOND ? 2 : 3);
    thrift_end_struct(thrift);
}

static void write_logical_type(struct thrift_writer *thrift, const struct annotation *annotation)
{
    thrift_begin_struct(thrift, 10);
    thrift_begin_struct(thrift, (int16_t)annotation->kind);
    if (annotation->kind == ANNOTATION_DECIMAL) {
        thrift_write_i32(thrift, 1, annotation->scale);
        thrift_write_i32(thrift, 2, annotation->precision);
    } else if (annotation->kind == ANNOTATION_TIME || annotation->kind == ANNOTATION_TIMESTAMP) {
        thrift_write_bool(thrift, 1, annotation->utc);
        write_unit(thrift, 2, annotation->unit);
    } else if (annotation->kind == ANNOTATION_INTEGER) {
        thrift_write_i8(thrift, 1, (int8_t)annotation->bit_width);
        thrift_write_bool(thrift, 2, annotation->is_signed);
    }
    thrift_end_struct(thrift);
    thrift_end_struct(thrift);
}

/* The ConvertedType that readers older than logical types understand, or -1. */
static int32_t converted_type(const struct annotation *annotation)
{
    enum { UTF8 = 0, DECIMAL = 5, DATE = 6, TIME_MILLIS = 7, TIMESTAMP_MILLIS = 9, UINT_8 = 11, INT_8 = 15 };
    int32_t unit = annotation->unit == UNIT_MILLISECOND ? 0 : 1, width = 0;
    if (annotation->kind == ANNOTATION_STRING)
        return UTF8;
    if (annotation->kind == ANNOTATION_DECIMAL)
        return DECIMAL;
    if (annotation->kind == ANNOTATION_DATE)
        return DATE;
    if (annotation->kind == ANNOTATION_TIME && annotation->unit != UNIT_NANOSECOND)
        return TIME_MILLIS + unit;
    if (annotation->kind == ANNOTATION_TIMESTAMP && annotation->unit != UNIT_NANOSECOND)
        return TIMESTAMP_MILLIS + unit;
    if (annotation->kind != ANNOTATION_INTEGER)
        return -1;
    while (8 << width < annotation->bit_width)
        width++;
    return (annotation->is_signed ? INT_8 : UINT_8) + width;
}

static void write_element(struct thrift_writer *thrift, const struct schema_element *element)
{
    int32_t converted = converted_type(&element->annotation);
    thrift_begin_element(thrift);
    thrift_write_i32(thrift, 1, element->type);
    if (element->type == PARQUET_FIXED_LEN_BYTE_ARRAY)
        thrift_write_i32(thrift, 2, element->type_length);
    thrift_write_i32(thrift, 3, element->repetition);
    thrift_write_binary(thrift, 4, element->name);
    if (converted >= 0)
        thrift_write_i32(thrift, 6, converted);
    if (element->annotation.kind == ANNOTATION_DECIMAL) {
        thrift_write_i32(thrift, 7, element->annotation.scale);
        thrift_write_i32(thrift, 8, element->annotation.precision);
    }
    if (element->annotation.kind != ANNOTATION_NONE)
        write_logical_type(thrift, &element->annotation);
    thrift_end_struct(thrift);
}

static void write_schema(struct thrift_writer *thrift, const struct writer_type *types, size_t count)
{
    thrift_begin_list(thrift, 2, THRIFT_STRUCT, count + 1);
    thrift_begin_element(thrift);
    thrift_write_binary(thrift, 4, str_of("schema"));
    thrift_write_i32(thrift, 5, (int32_t)count);
    thrift_end_struct(thrift);
    for (size_t i = 0; i < count; i++)
        write_element(thrift, &types[i].element);
}

static void write_encodings(struct thrift_writer *thrift, const struct writer_chunk *chunk)
{
    bool dictionary = chunk->dictionary_offset != 0;
    thrift_begin_list(thrift, 2, THRIFT_I32, dictionary ? 3 : 2);
    thrift_put_i32(thrift, PARQUET_PLAIN);
    thrift_put_i32(thrift, PARQUET_RLE);
    if (dictionary)
        thrift_put_i32(thrift, PARQUET_RLE_DICTIONARY);
}

static void write_encoding_count(struct thrift_writer *thrift, int32_t page_type, enum parquet_encoding encoding,
                                 size_t count)
{
    thrift_begin_element(thrift);
    thrift_write_i32(thrift, 1, page_type);
    thrift_write_i32(thrift, 2, encoding);
    thrift_write_i32(thrift, 3, (int32_t)count);
    thrift_end_struct(thrift);
}

static void write_column_metadata(struct thrift_writer *thrift, const struct writer_type *type,
                                  const struct writer_chunk *chunk, enum parquet_codec codec)
{
    enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
    bool dictionary = chunk->dictionary_offset != 0;
    thrift_begin_struct(thrift, 3);
    thrift_write_i32(thrift, 1, type->element.type);
    write_encodings(thrift, chunk);
    thrift_begin_list(thrift, 3, THRIFT_BINARY, 1);
    thrift_put_binary(thrift, type->element.name);
    thrift_write_i32(thrift, 4, codec);
    thrift_write_i64(thrift, 5, chunk->value_count);
    thrift_write_i64(thrift, 6, (int64_t)chunk->uncompressed_bytes);
    thrift_write_i64(thrift, 7, (int64_t)chunk->compressed_bytes);
    thrift_write_i64(thrift, 9, (int64_t)chunk->first_page_offset);
    if (dictionary)
        thrift_write_i64(thrift, 11, (int64_t)chunk->dictionary_offset);
    if (chunk->statistics.length > 0)
        thrift_write_encoded_struct(thrift, 12, (struct str){chunk->statistics.data, chunk->statistics.length});
    thrift_begin_list(thrift, 13, THRIFT_STRUCT, dictionary ? 2 : 1);
    if (dictionary)
        write_encoding_count(thrift, DICTIONARY_PAGE, PARQUET_PLAIN, 1);
    write_encoding_count(thrift, DATA_PAGE, dictionary ? PARQUET_RLE_DICTIONARY : PARQUET_PLAIN, chunk->page_count);
    thrift_end_struct(thrift);
}

static void write_range(struct thrift_writer *thrift, int16_t id, struct parquet_range range)
{
    if (range.length == 0)
        return;
    thrift_write_i64(thrift, id, (int64_t)range.offset);
    thrift_write_i32(thrift, (int16_t)(id + 1), (int32_t)range.length);
}

static void write_row_group(struct thrift_writer *thrift, const struct writer_type *types, size_t count,
                            const struct writer_row_group *group, size_t ordinal, enum parquet_codec codec)
{
    uint64_t uncompressed = 0, compressed = 0;
    thrift_begin_element(thrift);
    thrift_begin_list(thrift, 1, THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        const struct writer_chunk *chunk = &group->chunks[i];
        thrift_begin_element(thrift);
        thrift_write_i64(thrift, 2, 0); /* required, but means nothing any more */
        write_column_metadata(thrift, &types[i], chunk, codec);
        write_range(thrift, 4, chunk->offset_index_at);
        write_range(thrift, 6, chunk->column_index_at);
        thrift_end_struct(thrift);
        uncompressed += chunk->uncompressed_bytes;
        compressed += chunk->compressed_bytes;
    }
    thrift_write_i64(thrift, 2, (int64_t)uncompressed);
    thrift_write_i64(thrift, 3, group->row_count);
    if (count > 0) {
        const struct writer_chunk *first = &group->chunks[0];
        uint64_t offset = first->dictionary_offset != 0 ? first->dictionary_offset : first->first_page_offset;
        thrift_write_i64(thrift, 5, (int64_t)offset);
    }
    thrift_write_i64(thrift, 6, (int64_t)compressed);
    if (ordinal <= INT16_MAX)
        thrift_write_i16(thrift, 7, (int16_t)ordinal);
    thrift_end_struct(thrift);
}

static void write_key_values(struct thrift_writer *thrift, const struct schema *schema)
{
    if (schema->metadata_count == 0)
        return;
    thrift_begin_list(thrift, 5, THRIFT_STRUCT, schema->metadata_count);
    for (size_t i = 0; i < schema->metadata_count; i++) {
        thrift_begin_element(thrift);
        thrift_write_binary(thrift, 1, str_of(schema->metadata[i].key));
        thrift_write_binary(thrift, 2, str_of(schema->metadata[i].value));
        thrift_end_struct(thrift);
    }
}

kith_error *writer_append_footer(const struct schema *schema, const struct writer_type *types,
                                 const struct writer_row_group *groups, size_t group_count, enum parquet_codec codec,
                                 struct strbuf *out)
{
    struct thrift_writer thrift = thrift_writer_make(out);
    int64_t rows = 0;
    for (size_t i = 0; i < group_count; i++)
        rows += groups[i].row_count;
    thrift_write_i32(&thrift, 1, 1);
    write_schema(&thrift, types, schema->field_count);
    thrift_write_i64(&thrift, 3, rows);
    thrift_begin_list(&thrift, 4, THRIFT_STRUCT, group_count);
    for (size_t i = 0; i < group_count; i++)
        write_row_group(&thrift, types, schema->field_count, &groups[i], i, codec);
    write_key_values(&thrift, schema);
    thrift_write_binary(&thrift, 6, str_of(created_by));
    thrift_begin_list(&thrift, 7, THRIFT_STRUCT, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        thrift_begin_element(&thrift);
        thrift_empty_struct(&thrift, 1); /* TYPE_ORDER */
        thrift_end_struct(&thrift);
    }
    thrift_end_struct(&thrift);
    return thrift_writer_finish(&thrift);
}
