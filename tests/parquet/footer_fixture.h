/*
 * A Parquet file of one column and one row group in memory, made field by field, so that a test can set any of them to
 * what the format forbids. The pages are filler: only the footer and the page index mean anything.
 */
#ifndef KITH_TESTS_PARQUET_FOOTER_FIXTURE_H
#define KITH_TESTS_PARQUET_FOOTER_FIXTURE_H

#include "parquet/file.h"
#include "parquet/thrift_writer.h"

enum { FIXTURE_PAGES_AT = 4, FIXTURE_PAGE_BYTES = 300, ABSENT = -1 };

/* Text of a literal with its NUL bytes. */
#define BYTES(literal) ((struct str){literal, sizeof(literal) - 1})

struct footer_fixture {
    /* The column. ABSENT leaves a number out. */
    struct str name;
    int32_t type, type_length, repetition, child_count, converted, scale, precision;
    int16_t logical;           /* member of LogicalType; 0 = none */
    struct str logical_fields; /* its own fields, encoded, without the end */
    /* The row group. */
    int64_t file_rows, group_rows, values;
    int32_t chunk_type, codec;
    int64_t data_page_offset, dictionary_page_offset, compressed_bytes, uncompressed_bytes;
    size_t chunk_count;
    bool encrypted, elsewhere;
    /* Statistics; a NULL string is left out. */
    struct str min, max, legacy_min, legacy_max;
    int64_t null_count, nan_count;
    int min_exact, max_exact; /* 0, 1 or ABSENT */
    int16_t column_order;     /* member of ColumnOrder; 0 = no list */
    size_t order_count;
    /* Page index, written behind the pages; empty = none. */
    struct strbuf offset_index, column_index;
    /* Made by fixture_open. */
    struct strbuf bytes;
};

static inline struct footer_fixture fixture_default(void)
{
    return (struct footer_fixture){
        .name = {"a", 1},
        .type = PARQUET_INT32,
        .type_length = ABSENT,
        .repetition = 1,
        .child_count = ABSENT,
        .converted = ABSENT,
        .scale = ABSENT,
        .precision = ABSENT,
        .file_rows = 10,
        .group_rows = 10,
        .values = 10,
        .chunk_type = ABSENT,
        .data_page_offset = FIXTURE_PAGES_AT,
        .dictionary_page_offset = ABSENT,
        .compressed_bytes = FIXTURE_PAGE_BYTES,
        .chunk_count = 1,
        .null_count = ABSENT,
        .nan_count = ABSENT,
        .min_exact = ABSENT,
        .max_exact = ABSENT,
        .column_order = 1,
        .order_count = 1,
    };
}

static inline void fixture_reset(struct footer_fixture *fixture)
{
    strbuf_reset(&fixture->offset_index);
    strbuf_reset(&fixture->column_index);
    strbuf_reset(&fixture->bytes);
}
DEFINE_VALUE_CLEANUP(fixture_reset, struct footer_fixture)

static inline void fixture_i32(struct thrift_writer *thrift, int16_t id, int32_t value)
{
    if (value != ABSENT)
        thrift_write_i32(thrift, id, value);
}

static inline void fixture_text(struct thrift_writer *thrift, int16_t id, struct str value)
{
    if (value.data != NULL)
        thrift_write_binary(thrift, id, value);
}

static inline void fixture_schema(struct thrift_writer *thrift, const struct footer_fixture *fixture)
{
    thrift_begin_list(thrift, 2, THRIFT_STRUCT, 2);
    thrift_begin_element(thrift);
    thrift_write_binary(thrift, 4, str_of("root"));
    thrift_write_i32(thrift, 5, 1);
    thrift_end_struct(thrift);
    thrift_begin_element(thrift);
    fixture_i32(thrift, 1, fixture->type);
    fixture_i32(thrift, 2, fixture->type_length);
    fixture_i32(thrift, 3, fixture->repetition);
    fixture_text(thrift, 4, fixture->name);
    fixture_i32(thrift, 5, fixture->child_count);
    fixture_i32(thrift, 6, fixture->converted);
    fixture_i32(thrift, 7, fixture->scale);
    fixture_i32(thrift, 8, fixture->precision);
    if (fixture->logical != 0) {
        thrift_begin_struct(thrift, 10);
        char fields[64] = "";
        if (fixture->logical_fields.length > 0)
            memcpy(fields, fixture->logical_fields.data, fixture->logical_fields.length);
        thrift_write_encoded_struct(thrift, fixture->logical, (struct str){fields, fixture->logical_fields.length + 1});
        thrift_end_struct(thrift);
    }
    thrift_end_struct(thrift);
}

static inline void fixture_statistics(struct thrift_writer *thrift, const struct footer_fixture *fixture)
{
    thrift_begin_struct(thrift, 12);
    fixture_text(thrift, 1, fixture->legacy_max);
    fixture_text(thrift, 2, fixture->legacy_min);
    if (fixture->null_count != ABSENT)
        thrift_write_i64(thrift, 3, fixture->null_count);
    fixture_text(thrift, 5, fixture->max);
    fixture_text(thrift, 6, fixture->min);
    if (fixture->max_exact != ABSENT)
        thrift_write_bool(thrift, 7, fixture->max_exact == 1);
    if (fixture->min_exact != ABSENT)
        thrift_write_bool(thrift, 8, fixture->min_exact == 1);
    if (fixture->nan_count != ABSENT)
        thrift_write_i64(thrift, 9, fixture->nan_count);
    thrift_end_struct(thrift);
}

static inline void fixture_chunk(struct thrift_writer *thrift, const struct footer_fixture *fixture,
                                 uint64_t offset_index_at)
{
    thrift_begin_element(thrift);
    if (fixture->elsewhere)
        thrift_write_binary(thrift, 1, str_of("other.parquet"));
    thrift_write_i64(thrift, 2, 0);
    thrift_begin_struct(thrift, 3);
    thrift_write_i32(thrift, 1, fixture->chunk_type != ABSENT ? fixture->chunk_type : fixture->type);
    thrift_begin_list(thrift, 2, THRIFT_I32, 0);
    thrift_begin_list(thrift, 3, THRIFT_BINARY, 1);
    thrift_put_binary(thrift, str_of("a"));
    thrift_write_i32(thrift, 4, fixture->codec);
    thrift_write_i64(thrift, 5, fixture->values);
    thrift_write_i64(thrift, 6, fixture->uncompressed_bytes);
    thrift_write_i64(thrift, 7, fixture->compressed_bytes);
    thrift_write_i64(thrift, 9, fixture->data_page_offset);
    if (fixture->dictionary_page_offset != ABSENT)
        thrift_write_i64(thrift, 11, fixture->dictionary_page_offset);
    fixture_statistics(thrift, fixture);
    thrift_end_struct(thrift);
    if (fixture->offset_index.length > 0) {
        thrift_write_i64(thrift, 4, (int64_t)offset_index_at);
        thrift_write_i32(thrift, 5, (int32_t)fixture->offset_index.length);
    }
    if (fixture->column_index.length > 0) {
        thrift_write_i64(thrift, 6, (int64_t)(offset_index_at + fixture->offset_index.length));
        thrift_write_i32(thrift, 7, (int32_t)fixture->column_index.length);
    }
    if (fixture->encrypted)
        thrift_empty_struct(thrift, 8);
    thrift_end_struct(thrift);
}

static inline kith_error *fixture_footer(const struct footer_fixture *fixture, uint64_t offset_index_at,
                                         struct strbuf *out)
{
    struct thrift_writer thrift = thrift_writer_make(out);
    thrift_write_i32(&thrift, 1, 1);
    fixture_schema(&thrift, fixture);
    thrift_write_i64(&thrift, 3, fixture->file_rows);
    thrift_begin_list(&thrift, 4, THRIFT_STRUCT, 1);
    thrift_begin_element(&thrift);
    thrift_begin_list(&thrift, 1, THRIFT_STRUCT, fixture->chunk_count);
    for (size_t i = 0; i < fixture->chunk_count; i++)
        fixture_chunk(&thrift, fixture, offset_index_at);
    thrift_write_i64(&thrift, 2, 0);
    thrift_write_i64(&thrift, 3, fixture->group_rows);
    thrift_end_struct(&thrift);
    if (fixture->column_order != 0) {
        thrift_begin_list(&thrift, 7, THRIFT_STRUCT, fixture->order_count);
        for (size_t i = 0; i < fixture->order_count; i++) {
            thrift_begin_element(&thrift);
            thrift_empty_struct(&thrift, fixture->column_order);
            thrift_end_struct(&thrift);
        }
    }
    thrift_end_struct(&thrift);
    return thrift_writer_finish(&thrift);
}

/* The whole file, into fixture->bytes. */
static inline kith_error *fixture_build(struct footer_fixture *fixture)
{
    struct strbuf *bytes = &fixture->bytes;
    bytes->length = 0;
    TRY(strbuf_append_text(bytes, "PAR1"));
    TRY(strbuf_append_fill(bytes, 'p', FIXTURE_PAGE_BYTES));
    uint64_t offset_index_at = bytes->length;
    TRY(strbuf_append(bytes, fixture->offset_index.data, fixture->offset_index.length));
    TRY(strbuf_append(bytes, fixture->column_index.data, fixture->column_index.length));
    size_t footer_at = bytes->length;
    TRY(fixture_footer(fixture, offset_index_at, bytes));
    uint32_t length = (uint32_t)(bytes->length - footer_at);
    TRY(strbuf_append(bytes, &length, sizeof length));
    return strbuf_append_text(bytes, "PAR1");
}

/* The file opened; the fixture must outlive it. */
static inline kith_error *fixture_open(struct footer_fixture *fixture, struct parquet_file **out)
{
    _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
    TRY(fixture_build(fixture));
    TRY(storage_open_memory("f.parquet", fixture->bytes.data, fixture->bytes.length, &storage));
    return parquet_file_open(storage, out);
}

#endif
