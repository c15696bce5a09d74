#include "parquet/writer.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "parquet/writer_parts.h"

static const char magic[4] = {'P', 'A', 'R', '1'};

enum {
    DEFAULT_ROW_GROUP_ROWS = 1048576,
    DEFAULT_PAGE_ROWS = 20000,
    DEFAULT_ROW_GROUP_TEXT = 1 << 30 /* half of what the 32-bit offsets of a string column reach */
};

struct parquet_writer {
    struct schema *schema;
    struct writer_type *types; /* one a field */
    struct writer_output output;
    VEC(struct batch *) batches; /* of the row group to come; without selection */
    size_t gathered_rows;
    uint64_t *text, *part_text; /* bytes of each column: of the rows gathered, and of a batch to come */
    VEC(struct writer_row_group) row_groups;
    bool closed; /* finished, or failed in the middle of a row group: nothing more can follow */
};

static kith_error *check_options(const struct parquet_write_options *options)
{
    if (options->codec != PARQUET_UNCOMPRESSED && options->codec != PARQUET_SNAPPY && options->codec != PARQUET_ZSTD)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED,
                         "Parquet files are written uncompressed, or with snappy or zstd; %s was asked for",
                         codec_name(options->codec));
    return NULL;
}

kith_error *parquet_writer_new(struct storage_writer *storage, struct schema *schema,
                               const struct parquet_write_options *options, struct parquet_writer **out)
{
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    TRY(check_options(options));
    if (schema->field_count == 0 || schema->field_count > LIMIT_COLUMNS)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "a Parquet file has 1 to %d columns, not %zu", LIMIT_COLUMNS,
                         schema->field_count);
    TRY(NEW(&writer));
    writer->schema = schema_ref(schema);
    writer->output.storage = storage;
    writer->output.options = *options;
    if (options->row_group_rows == 0)
        writer->output.options.row_group_rows = DEFAULT_ROW_GROUP_ROWS;
    if (options->page_rows == 0)
        writer->output.options.page_rows = DEFAULT_PAGE_ROWS;
    if (options->row_group_text == 0)
        writer->output.options.row_group_text = DEFAULT_ROW_GROUP_TEXT;
    /* Counts in page headers and dictionary indices have 31 bits. */
    writer->output.options.row_group_rows = MIN(writer->output.options.row_group_rows, (size_t)INT32_MAX);
    TRY(NEW_ARRAY(&writer->types, schema->field_count));
    TRY(NEW_ARRAY(&writer->text, schema->field_count));
    TRY(NEW_ARRAY(&writer->part_text, schema->field_count));
    for (size_t i = 0; i < schema->field_count; i++)
        TRY(writer_type_of(&schema->fields[i], &writer->types[i]));
    TRY(storage_writer_append(storage, magic, sizeof magic));
    *out = TAKE(writer);
    return NULL;
}

static void forget_batches(struct parquet_writer *writer)
{
    for (size_t i = 0; i < writer->batches.length; i++)
        batch_unref(writer->batches.items[i]);
    writer->batches.length = 0;
    writer->gathered_rows = 0;
    for (size_t i = 0; writer->text != NULL && i < writer->schema->field_count; i++)
        writer->text[i] = 0;
}

static void row_group_reset(struct writer_row_group *group, size_t columns)
{
    for (size_t i = 0; group->chunks != NULL && i < columns; i++)
        writer_chunk_reset(&group->chunks[i]);
    free(group->chunks);
}

void parquet_writer_free(struct parquet_writer *writer)
{
    if (writer == NULL)
        return;
    forget_batches(writer);
    vec_reset(&writer->batches);
    for (size_t i = 0; i < writer->row_groups.length; i++)
        row_group_reset(&writer->row_groups.items[i], writer->schema->field_count);
    vec_reset(&writer->row_groups);
    codec_context_reset(&writer->output.codec);
    strbuf_reset(&writer->output.body);
    strbuf_reset(&writer->output.compressed);
    strbuf_reset(&writer->output.header);
    schema_unref(writer->schema);
    free(writer->types);
    free(writer->text);
    free(writer->part_text);
    free(writer);
}

/* The rows gathered of one column, without dictionary encoding. */
static kith_error *gather_column(struct parquet_writer *writer, size_t column, struct array **out)
{
    _cleanup_(array_list_reset) struct array_list parts = {0};
    TRY(NEW_ARRAY(&parts.items, writer->batches.length));
    for (size_t i = 0; i < writer->batches.length; i++) {
        _cleanup_(array_unref) struct array *array = NULL;
        TRY(batch_column(writer->batches.items[i], column, &array));
        TRY(array_decode_dictionary(array, &parts.items[i]));
        parts.count++;
    }
    if (parts.count == 1) {
        *out = array_ref(parts.items[0]);
        return NULL;
    }
    struct data_type type = writer->schema->fields[column].type;
    type.index = TYPE_NULL;
    return array_concatenate(&type, parts.items, parts.count, out);
}

static kith_error *check_open(const struct parquet_writer *writer)
{
    return writer->closed ? error_new(KITH_ERROR_INTERNAL, "the Parquet file is finished, or writing it has failed")
                          : NULL;
}

kith_error *parquet_writer_flush(struct parquet_writer *writer)
{
    struct writer_row_group group = {.row_count = (int64_t)writer->gathered_rows};
    TRY(check_open(writer));
    if (writer->gathered_rows == 0)
        return NULL;
    if (writer->row_groups.length == LIMIT_PARQUET_ROW_GROUPS)
        return error_new(KITH_ERROR_LIMIT, "a Parquet file has at most %d row groups (limit PARQUET_ROW_GROUPS)",
                         LIMIT_PARQUET_ROW_GROUPS);
    TRY(vec_reserve(&writer->row_groups, 1));
    TRY(NEW_ARRAY(&group.chunks, writer->schema->field_count));
    writer->row_groups.items[writer->row_groups.length++] = group;
    writer->closed = true;
    for (size_t i = 0; i < writer->schema->field_count; i++) {
        _cleanup_(array_unref) struct array *array = NULL;
        TRY(gather_column(writer, i, &array));
        TRY(writer_write_chunk(&writer->output, &writer->types[i], array, &group.chunks[i]));
    }
    forget_batches(writer);
    writer->closed = false;
    return NULL;
}

/* Dictionary encoding in memory makes no difference to the file. */
static bool same_values(struct data_type a, struct data_type b)
{
    a.index = b.index = TYPE_NULL;
    a.dictionary_ordered = b.dictionary_ordered = false;
    return type_equal(&a, &b);
}

static kith_error *check_schema(const struct parquet_writer *writer, const struct schema *given)
{
    if (given->field_count != writer->schema->field_count)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "a batch of %zu columns was given to a file of %zu",
                         given->field_count, writer->schema->field_count);
    for (size_t i = 0; i < given->field_count; i++) {
        char expected[128], found[128];
        const struct field *field = &writer->schema->fields[i];
        if (!same_values(field->type, given->fields[i].type))
            return error_new(KITH_ERROR_TYPE_MISMATCH, "column \"%.100s\" of the file is %s, but a batch has %s",
                             field->name, type_format(&field->type, expected, sizeof expected),
                             type_format(&given->fields[i].type, found, sizeof found));
    }
    return NULL;
}

/* Of an array whose concatenation has 32-bit offsets; 0 of others. */
static uint64_t text_bytes(const struct array *array)
{
    uint64_t bytes = 0;
    if (array->length == 0 || (array->type.id != TYPE_UTF8 && array->type.id != TYPE_BINARY))
        return 0;
    if (!type_is_dictionary(&array->type)) {
        const int32_t *offsets = (const int32_t *)array->offsets->data + array->offset;
        return (uint64_t)(offsets[array->length] - offsets[0]);
    }
    for (size_t i = 0; i < array->length; i++)
        bytes += array_is_null(array, i) ? 0 : array_string(array, i).length;
    return bytes;
}

/* Ends the row group first where the text of a column would grow too long for one. */
static kith_error *gather_batch(struct parquet_writer *writer, struct batch *part)
{
    size_t columns = writer->schema->field_count;
    bool full = false;
    for (size_t i = 0; i < columns; i++) {
        _cleanup_(array_unref) struct array *array = NULL;
        TRY(batch_column(part, i, &array));
        writer->part_text[i] = text_bytes(array);
        full = full || writer->text[i] + writer->part_text[i] > writer->output.options.row_group_text;
    }
    if (full)
        TRY(parquet_writer_flush(writer));
    TRY(vec_reserve(&writer->batches, 1));
    writer->batches.items[writer->batches.length++] = batch_ref(part);
    writer->gathered_rows += batch_row_count(part);
    for (size_t i = 0; i < columns; i++)
        writer->text[i] += writer->part_text[i];
    return NULL;
}

kith_error *parquet_writer_write(struct parquet_writer *writer, struct batch *batch)
{
    _cleanup_(batch_unref) struct batch *rows = NULL;
    TRY(check_open(writer));
    TRY(check_schema(writer, batch->schema));
    TRY(batch_compact(batch, &rows));
    size_t count = batch_row_count(rows);
    for (size_t at = 0; at < count;) {
        size_t room = writer->output.options.row_group_rows - writer->gathered_rows;
        size_t taken = MIN(room, count - at);
        _cleanup_(batch_unref) struct batch *part = NULL;
        TRY(batch_slice(rows, at, taken, &part));
        TRY(gather_batch(writer, part));
        at += taken;
        if (writer->gathered_rows == writer->output.options.row_group_rows)
            TRY(parquet_writer_flush(writer));
    }
    return NULL;
}

static kith_error *write_index(struct parquet_writer *writer, struct strbuf *bytes, struct parquet_range *at)
{
    if (bytes->length == 0)
        return NULL;
    *at = (struct parquet_range){storage_writer_position(writer->output.storage), bytes->length};
    return storage_writer_append(writer->output.storage, bytes->data, bytes->length);
}

/* All column indexes, then all offset indexes, so that each kind of all chunks is one read. */
static kith_error *write_page_indexes(struct parquet_writer *writer)
{
    size_t columns = writer->schema->field_count;
    for (size_t i = 0; i < writer->row_groups.length * columns; i++) {
        struct writer_chunk *chunk = &writer->row_groups.items[i / columns].chunks[i % columns];
        TRY(write_index(writer, &chunk->column_index, &chunk->column_index_at));
    }
    for (size_t i = 0; i < writer->row_groups.length * columns; i++) {
        struct writer_chunk *chunk = &writer->row_groups.items[i / columns].chunks[i % columns];
        TRY(write_index(writer, &chunk->offset_index, &chunk->offset_index_at));
    }
    return NULL;
}

kith_error *parquet_writer_finish(struct parquet_writer *writer)
{
    TRY(parquet_writer_flush(writer));
    TRY(write_page_indexes(writer));
    _cleanup_(strbuf_reset) struct strbuf footer = {0};
    TRY(writer_append_footer(writer->schema, writer->types, writer->row_groups.items, writer->row_groups.length,
                             writer->output.options.codec, &footer));
    if (footer.length > LIMIT_PARQUET_FOOTER_BYTES)
        return error_new(KITH_ERROR_LIMIT, "the footer would have %zu bytes (limit PARQUET_FOOTER_BYTES, %d)",
                         footer.length, LIMIT_PARQUET_FOOTER_BYTES);
    uint32_t length = (uint32_t)footer.length;
    TRY(strbuf_append(&footer, &length, sizeof length));
    TRY(strbuf_append(&footer, magic, sizeof magic));
    TRY(storage_writer_append(writer->output.storage, footer.data, footer.length));
    writer->closed = true;
    return NULL;
}
