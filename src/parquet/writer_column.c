#include "base/alloc.h"
#include "base/limits.h"
#include "parquet/thrift_writer.h"
#include "parquet/writer_parts.h"
#include "runtime/fiber.h"

#include <zlib.h>

enum {
    PAGE_BYTES = 1048576, /* of values in PLAIN: a page of long strings ends before its number of rows */
    LEVELS_LENGTH_BYTES = 4
};

enum page_type { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

/* A column chunk while it is written. */
struct chunk_writer {
    struct writer_output *output;
    const struct array *array;
    const struct writer_values *values;
    const struct writer_dictionary *dictionary; /* NULL = PLAIN */
    struct writer_chunk *chunk;
    uint32_t *levels; /* of one page */
    VEC(struct writer_page) pages;
};

static void chunk_writer_reset(struct chunk_writer *writer)
{
    free(writer->levels);
    vec_reset(&writer->pages);
}
DEFINE_VALUE_CLEANUP(chunk_writer_reset, struct chunk_writer)

static void write_data_header(struct thrift_writer *thrift, const struct chunk_writer *writer, size_t rows)
{
    thrift_begin_struct(thrift, 5);
    thrift_write_i32(thrift, 1, (int32_t)rows);
    thrift_write_i32(thrift, 2, writer->dictionary != NULL ? PARQUET_RLE_DICTIONARY : PARQUET_PLAIN);
    thrift_write_i32(thrift, 3, PARQUET_RLE);
    thrift_write_i32(thrift, 4, PARQUET_RLE);
    thrift_end_struct(thrift);
}

static void write_dictionary_header(struct thrift_writer *thrift, size_t values)
{
    thrift_begin_struct(thrift, 7);
    thrift_write_i32(thrift, 1, (int32_t)values);
    thrift_write_i32(thrift, 2, PARQUET_PLAIN);
    thrift_end_struct(thrift);
}

/* Compresses output->body and writes it behind a header. `count` is of rows, or of the dictionary's values. */
static kith_error *write_page(struct chunk_writer *writer, enum page_type type, size_t count, uint32_t *page_bytes)
{
    struct writer_output *output = writer->output;
    TRY(coop_charge(1));
    if (output->body.length > LIMIT_PARQUET_PAGE_BYTES)
        return error_new(KITH_ERROR_LIMIT,
                         "a page of column \"%.100s\" would have %zu bytes; at most %d are supported (limit "
                         "PARQUET_PAGE_BYTES)",
                         writer->values->type->column.path, output->body.length, LIMIT_PARQUET_PAGE_BYTES);
    output->compressed.length = output->header.length = 0;
    TRY(codec_compress(&output->codec, output->options.codec, output->options.codec_level,
                       (const uint8_t *)strbuf_text(&output->body), output->body.length, &output->compressed));
    uint32_t checksum =
        (uint32_t)crc32_z(0, (const Bytef *)strbuf_text(&output->compressed), output->compressed.length);

    struct thrift_writer thrift = thrift_writer_make(&output->header);
    thrift_write_i32(&thrift, 1, type);
    thrift_write_i32(&thrift, 2, (int32_t)output->body.length);
    thrift_write_i32(&thrift, 3, (int32_t)output->compressed.length);
    thrift_write_i32(&thrift, 4, (int32_t)checksum);
    if (type == PAGE_DATA)
        write_data_header(&thrift, writer, count);
    else
        write_dictionary_header(&thrift, count);
    thrift_end_struct(&thrift);
    TRY(thrift_writer_finish(&thrift));

    TRY(storage_writer_append(output->storage, output->header.data, output->header.length));
    TRY(storage_writer_append(output->storage, strbuf_text(&output->compressed), output->compressed.length));
    *page_bytes = (uint32_t)(output->header.length + output->compressed.length);
    writer->chunk->compressed_bytes += *page_bytes;
    writer->chunk->uncompressed_bytes += output->header.length + output->body.length;
    return NULL;
}

static kith_error *write_dictionary(struct chunk_writer *writer)
{
    const struct writer_dictionary *dictionary = writer->dictionary;
    struct strbuf *body = &writer->output->body;
    uint32_t bytes;
    body->length = 0;
    for (size_t i = 0; i < dictionary->firsts.length; i++) {
        size_t value = dictionary->firsts.items[i];
        TRY(writer_append_plain(writer->values, value, value + 1, body));
    }
    writer->chunk->dictionary_offset = storage_writer_position(writer->output->storage);
    return write_page(writer, PAGE_DICTIONARY, dictionary->firsts.length, &bytes);
}

/* Definition levels of rows [first, end): 1 for a value, 0 for a NULL; behind their length, as V1 pages have them. */
static kith_error *append_levels(struct chunk_writer *writer, size_t first, size_t end)
{
    struct strbuf *body = &writer->output->body;
    size_t start = body->length;
    char *at;
    for (size_t i = first; i < end; i++)
        writer->levels[i - first] = !array_is_null(writer->array, i);
    TRY(strbuf_reserve(body, LEVELS_LENGTH_BYTES, &at));
    body->length += LEVELS_LENGTH_BYTES;
    TRY(writer_append_rle(writer->levels, end - first, 1, body));
    uint32_t length = (uint32_t)(body->length - start - LEVELS_LENGTH_BYTES);
    memcpy(body->data + start, &length, sizeof length);
    return NULL;
}

/* Rows [first_row, end_row), which hold values [first, end). */
static kith_error *write_data_page(struct chunk_writer *writer, size_t first_row, size_t end_row, size_t first,
                                   size_t end)
{
    struct strbuf *body = &writer->output->body;
    body->length = 0;
    if (writer->values->type->column.nullable)
        TRY(append_levels(writer, first_row, end_row));
    if (writer->dictionary != NULL) {
        unsigned width = writer_bit_width(writer->dictionary->firsts.length);
        unsigned char width_byte[] = {(unsigned char)width};
        TRY(strbuf_append(body, width_byte, 1));
        TRY(writer_append_rle(writer->dictionary->indices + first, end - first, width, body));
    } else {
        TRY(writer_append_plain(writer->values, first, end, body));
    }
    struct writer_page page = {
        .offset = storage_writer_position(writer->output->storage),
        .first_row = first_row,
    };
    TRY(write_page(writer, PAGE_DATA, end_row - first_row, &page.bytes));
    if (!writer->output->options.no_statistics)
        page.bounds = writer_bounds_of(writer->values, first, end);
    page.bounds.null_count = (int64_t)((end_row - first_row) - (end - first));
    return vec_push(&writer->pages, page);
}

static kith_error *write_data_pages(struct chunk_writer *writer)
{
    size_t rows = writer->array->length, row = 0, value = 0;
    writer->chunk->first_page_offset = storage_writer_position(writer->output->storage);
    while (row < rows) {
        size_t first_row = row, first = value;
        uint64_t bytes = 0;
        while (row < rows && row - first_row < writer->output->options.page_rows && bytes < PAGE_BYTES) {
            if (!array_is_null(writer->array, row)) {
                if (writer->values->strings != NULL && writer->dictionary == NULL)
                    bytes += writer_plain_bytes(writer->values, value, value + 1);
                value++;
            }
            row++;
        }
        TRY(write_data_page(writer, first_row, row, first, value));
    }
    return NULL;
}

kith_error *writer_write_chunk(struct writer_output *output, const struct writer_type *type, const struct array *array,
                               struct writer_chunk *out)
{
    _cleanup_(writer_values_reset) struct writer_values values = {0};
    _cleanup_(writer_dictionary_reset) struct writer_dictionary dictionary = {0};
    _cleanup_(chunk_writer_reset) struct chunk_writer writer = {
        .output = output, .array = array, .values = &values, .chunk = out};
    bool pays = false;
    TRY(writer_values_make(type, array, &values));
    if (!output->options.no_dictionary)
        TRY(writer_dictionary_make(&values, &dictionary, &pays));
    writer.dictionary = pays ? &dictionary : NULL;
    TRY(NEW_ARRAY(&writer.levels, MIN(output->options.page_rows, array->length)));
    if (pays)
        TRY(write_dictionary(&writer));
    TRY(write_data_pages(&writer));
    out->value_count = (int64_t)array->length;
    out->page_count = writer.pages.length;
    return writer_describe_chunk(&values, writer.pages.items, writer.pages.length, &output->options, out);
}
