#include "parquet/page.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "parquet/thrift_reader.h"
#include "runtime/coop.h"

#include <zlib.h>

/* What a header may say, before it is checked. Missing numbers stay -1. */
struct raw_header {
    int32_t kind, compressed_bytes, uncompressed_bytes;
    bool has_crc;
    int32_t crc;
    int32_t value_count, row_count, encoding, level_encoding, definition_bytes, repetition_bytes;
    bool compressed;
};

static kith_error *check_count(const struct thrift_reader *reader, const char *what, int32_t count)
{
    if (count >= 0)
        return NULL;
    return thrift_corrupt(reader, count == -1 ? "no %s (or -1)" : "a negative %s", what);
}

/* DataPageHeader: 1 num_values, 2 encoding, 3 definition and 4 repetition level encoding, 5 statistics.
 * DictionaryPageHeader: 1 num_values, 2 encoding, 3 is_sorted. */
static kith_error *parse_v1(struct thrift_reader *reader, const struct thrift_field *parent, bool dictionary,
                            struct raw_header *out)
{
    struct thrift_field field = {0};
    TRY(thrift_expect_struct(reader, parent));
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            break;
        if (field.id == 1)
            TRY(thrift_read_i32(reader, &field, &out->value_count));
        else if (field.id == 2)
            TRY(thrift_read_i32(reader, &field, &out->encoding));
        else if (field.id == 3 && !dictionary)
            TRY(thrift_read_i32(reader, &field, &out->level_encoding));
        else
            TRY(thrift_skip(reader, &field));
    }
    return check_count(reader, "number of values", out->value_count);
}

/* DataPageHeaderV2: 1 num_values, 2 num_nulls, 3 num_rows, 4 encoding, 5 definition and 6 repetition level bytes,
 * 7 is_compressed (true unless said), 8 statistics. */
static kith_error *parse_v2(struct thrift_reader *reader, const struct thrift_field *parent, struct raw_header *out)
{
    struct thrift_field field = {0};
    TRY(thrift_expect_struct(reader, parent));
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            break;
        if (field.id == 1)
            TRY(thrift_read_i32(reader, &field, &out->value_count));
        else if (field.id == 3)
            TRY(thrift_read_i32(reader, &field, &out->row_count));
        else if (field.id == 4)
            TRY(thrift_read_i32(reader, &field, &out->encoding));
        else if (field.id == 5)
            TRY(thrift_read_i32(reader, &field, &out->definition_bytes));
        else if (field.id == 6)
            TRY(thrift_read_i32(reader, &field, &out->repetition_bytes));
        else if (field.id == 7)
            TRY(thrift_read_bool(reader, &field, &out->compressed));
        else
            TRY(thrift_skip(reader, &field));
    }
    TRY(check_count(reader, "number of values", out->value_count));
    TRY(check_count(reader, "length of definition levels", out->definition_bytes));
    TRY(check_count(reader, "length of repetition levels", out->repetition_bytes));
    if ((int64_t)out->definition_bytes + out->repetition_bytes > out->compressed_bytes ||
        (int64_t)out->definition_bytes + out->repetition_bytes > out->uncompressed_bytes)
        return thrift_corrupt(reader, "levels of %d and %d bytes in a page of %d", out->repetition_bytes,
                              out->definition_bytes, out->compressed_bytes);
    return NULL;
}

/* PageHeader: 1 type, 2 uncompressed and 3 compressed size, 4 crc, then a struct for the type: 5 data, 6 index,
 * 7 dictionary, 8 data V2. */
static kith_error *parse(struct thrift_reader *reader, struct raw_header *out)
{
    struct thrift_field field = {0};
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            return NULL;
        if (field.id == 1)
            TRY(thrift_read_i32(reader, &field, &out->kind));
        else if (field.id == 2)
            TRY(thrift_read_i32(reader, &field, &out->uncompressed_bytes));
        else if (field.id == 3)
            TRY(thrift_read_i32(reader, &field, &out->compressed_bytes));
        else if (field.id == 4)
            TRY(thrift_read_i32(reader, &field, &out->crc));
        else if (field.id == 5 && out->kind == PAGE_DATA)
            TRY(parse_v1(reader, &field, false, out));
        else if (field.id == 7 && out->kind == PAGE_DICTIONARY)
            TRY(parse_v1(reader, &field, true, out));
        else if (field.id == 8 && out->kind == PAGE_DATA_V2)
            TRY(parse_v2(reader, &field, out));
        else
            TRY(thrift_skip(reader, &field));
        out->has_crc |= field.id == 4;
    }
}

static kith_error *check(const struct thrift_reader *reader, const struct raw_header *raw)
{
    TRY(check_count(reader, "type", raw->kind));
    TRY(check_count(reader, "compressed size", raw->compressed_bytes));
    TRY(check_count(reader, "uncompressed size", raw->uncompressed_bytes));
    if (raw->compressed_bytes > LIMIT_PARQUET_PAGE_BYTES || raw->uncompressed_bytes > LIMIT_PARQUET_PAGE_BYTES)
        return error_new(KITH_ERROR_LIMIT,
                         "a page of %d bytes, %d when decompressed: above the limit PARQUET_PAGE_BYTES",
                         raw->compressed_bytes, raw->uncompressed_bytes);
    if (raw->kind != PAGE_DATA && raw->kind != PAGE_DICTIONARY && raw->kind != PAGE_DATA_V2)
        return NULL;
    TRY(check_count(reader, "number of values", raw->value_count));
    TRY(check_count(reader, "encoding", raw->encoding));
    if (raw->kind == PAGE_DATA_V2 && raw->row_count != raw->value_count)
        return thrift_corrupt(reader, "%d values in %d rows of a column that is not nested", raw->value_count,
                              raw->row_count);
    return NULL;
}

kith_error *page_header_parse(const uint8_t *bytes, size_t length, uint64_t offset, struct page_header *out,
                              bool *ran_out)
{
    struct thrift_reader reader = thrift_reader_make("Thrift", "page header", bytes, length, offset);
    struct raw_header raw = {.kind = -1,
                             .compressed_bytes = -1,
                             .uncompressed_bytes = -1,
                             .value_count = -1,
                             .row_count = -1,
                             .encoding = -1,
                             .level_encoding = PARQUET_RLE,
                             .definition_bytes = -1,
                             .repetition_bytes = -1,
                             .compressed = true};
    kith_error *error = parse(&reader, &raw);
    *ran_out = error != NULL && reader.ran_out;
    TRY(error);
    TRY(check(&reader, &raw));
    *out = (struct page_header){
        .kind = raw.kind <= PAGE_DATA_V2 ? (enum page_kind)raw.kind : PAGE_OTHER,
        .header_bytes = thrift_consumed(&reader),
        .compressed_bytes = (size_t)raw.compressed_bytes,
        .uncompressed_bytes = (size_t)raw.uncompressed_bytes,
        .has_crc = raw.has_crc,
        .crc = (uint32_t)raw.crc,
        .value_count = (uint32_t)raw.value_count,
        .encoding = (enum parquet_encoding)raw.encoding,
        .level_encoding = (enum parquet_encoding)raw.level_encoding,
        .definition_bytes = raw.kind == PAGE_DATA_V2 ? (size_t)raw.definition_bytes : 0,
        .repetition_bytes = raw.kind == PAGE_DATA_V2 ? (size_t)raw.repetition_bytes : 0,
        .compressed = raw.compressed,
    };
    return NULL;
}

kith_error *page_buffer_reserve(struct page_buffer *buffer, size_t size)
{
    if (size + PAGE_SLACK <= buffer->capacity)
        return NULL;
    free(TAKE(buffer->data)); /* nothing in it is worth a copy */
    buffer->capacity = 0;
    TRY(alloc_aligned(size + PAGE_SLACK, &buffer->data));
    buffer->capacity = size + PAGE_SLACK;
    return NULL;
}

void page_buffer_reset(struct page_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct page_buffer){0};
}

kith_error *page_decompress(const struct page_header *header, enum parquet_codec codec, struct codec_context *context,
                            const uint8_t *bytes, struct page_buffer *buffer, struct page_body *out)
{
    size_t levels = header->repetition_bytes + header->definition_bytes;
    size_t in_size = header->compressed_bytes - levels, out_size = header->uncompressed_bytes - levels;
    const uint8_t *in = bytes + levels;
    *out = (struct page_body){.definition_levels = bytes + header->repetition_bytes,
                              .definition_bytes = header->definition_bytes,
                              .values = in,
                              .value_bytes = out_size};
    if (out_size == 0) /* a page of NULLs: some writers compress nothing to something, others leave it out */
        return NULL;
    if (codec == PARQUET_UNCOMPRESSED || !header->compressed)
        return codec_check_size(PARQUET_UNCOMPRESSED, in, in_size, out_size);
    TRY(codec_check_size(codec, in, in_size, out_size));
    TRY(page_buffer_reserve(buffer, out_size));
    out->values = buffer->data;
    return codec_decompress(context, codec, in, in_size, buffer->data, out_size);
}

kith_error *page_verify(const struct page_header *header, const uint8_t *bytes)
{
    if (!header->has_crc)
        return NULL;
    uint32_t crc = (uint32_t)crc32_z(0, NULL, 0);
    for (size_t done = 0, taken; done < header->compressed_bytes; done += taken) {
        taken = MIN(header->compressed_bytes - done, (size_t)COOP_CHUNK_BYTES);
        if (done > 0)
            TRY(coop_charge(1));
        crc = (uint32_t)crc32_z(crc, bytes + done, taken);
    }
    if (crc == header->crc)
        return NULL;
    return error_new(KITH_ERROR_CORRUPT, "the page's checksum is %08x, its bytes have %08x", header->crc, crc);
}
