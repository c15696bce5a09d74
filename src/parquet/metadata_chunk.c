#include "base/alloc.h"
#include "base/limits.h"
#include "parquet/metadata_parse.h"
#include "runtime/coop.h"

/* The first bytes of a file are its magic, so no page starts before. */
enum { FIRST_PAGE_OFFSET = 4 };

/* Each is read in about half a microsecond, and checked and kept in as much. */
enum { CHUNKS_A_CHARGE = 256 };

/* ColumnChunk and ColumnMetaData as they stand, before they are checked against each other and the file. */
struct raw_chunk {
    bool has_metadata, has_type, has_codec, has_values, has_size, has_offset, encrypted, elsewhere;
    int32_t type, codec;
    int64_t value_count, uncompressed_bytes, compressed_bytes;
    int64_t data_page_offset, dictionary_page_offset;
    int64_t bloom_offset, column_index_offset, offset_index_offset;
    int32_t bloom_bytes, column_index_bytes, offset_index_bytes;
    bool has_exact_min, has_exact_max;
    struct parquet_raw_statistics statistics; /* strings are views of the footer */
};

static kith_error *read_statistics(struct thrift_reader *reader, const struct thrift_field *parent,
                                   struct raw_chunk *chunk)
{
    struct parquet_raw_statistics *out = &chunk->statistics;
    struct thrift_field field = {0};
    TRY(thrift_expect_struct(reader, parent));
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            return NULL;
        switch (field.id) {
        case 1:
            TRY(thrift_read_binary(reader, &field, &out->legacy_max));
            out->has_legacy_max = true;
            break;
        case 2:
            TRY(thrift_read_binary(reader, &field, &out->legacy_min));
            out->has_legacy_min = true;
            break;
        case 3:
            TRY(thrift_read_i64(reader, &field, &out->null_count));
            out->has_null_count = true;
            break;
        case 5:
            TRY(thrift_read_binary(reader, &field, &out->max));
            out->has_max = true;
            break;
        case 6:
            TRY(thrift_read_binary(reader, &field, &out->min));
            out->has_min = true;
            break;
        case 7:
            TRY(thrift_read_bool(reader, &field, &out->max_exact));
            chunk->has_exact_max = true;
            break;
        case 8:
            TRY(thrift_read_bool(reader, &field, &out->min_exact));
            chunk->has_exact_min = true;
            break;
        case 9:
            TRY(thrift_read_i64(reader, &field, &out->nan_count));
            out->has_nan_count = true;
            break;
        default:
            TRY(thrift_skip(reader, &field));
        }
    }
}

static kith_error *read_column_metadata(struct thrift_reader *reader, const struct thrift_field *parent,
                                        struct raw_chunk *out)
{
    struct thrift_field field = {0};
    TRY(thrift_expect_struct(reader, parent));
    out->has_metadata = true;
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            return NULL;
        switch (field.id) {
        case 1:
            TRY(thrift_read_i32(reader, &field, &out->type));
            out->has_type = true;
            break;
        case 4:
            TRY(thrift_read_i32(reader, &field, &out->codec));
            out->has_codec = true;
            break;
        case 5:
            TRY(thrift_read_i64(reader, &field, &out->value_count));
            out->has_values = true;
            break;
        case 6:
            TRY(thrift_read_i64(reader, &field, &out->uncompressed_bytes));
            break;
        case 7:
            TRY(thrift_read_i64(reader, &field, &out->compressed_bytes));
            out->has_size = true;
            break;
        case 9:
            TRY(thrift_read_i64(reader, &field, &out->data_page_offset));
            out->has_offset = true;
            break;
        case 11:
            TRY(thrift_read_i64(reader, &field, &out->dictionary_page_offset));
            break;
        case 12:
            TRY(read_statistics(reader, &field, out));
            break;
        case 14:
            TRY(thrift_read_i64(reader, &field, &out->bloom_offset));
            break;
        case 15: /* a list in files of a parquet-mr of 2018, before the format gave the number to this */
            if (field.type == THRIFT_I32)
                TRY(thrift_read_i32(reader, &field, &out->bloom_bytes));
            else
                TRY(thrift_skip(reader, &field));
            break;
        default:
            TRY(thrift_skip(reader, &field));
        }
    }
}

static kith_error *read_raw_chunk(struct thrift_reader *reader, struct raw_chunk *out)
{
    struct thrift_field field = {0};
    struct str path;
    *out = (struct raw_chunk){0};
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            return NULL;
        switch (field.id) {
        case 1:
            TRY(thrift_read_binary(reader, &field, &path));
            out->elsewhere = path.length > 0;
            break;
        case 3:
            TRY(read_column_metadata(reader, &field, out));
            break;
        case 4:
            TRY(thrift_read_i64(reader, &field, &out->offset_index_offset));
            break;
        case 5:
            TRY(thrift_read_i32(reader, &field, &out->offset_index_bytes));
            break;
        case 6:
            TRY(thrift_read_i64(reader, &field, &out->column_index_offset));
            break;
        case 7:
            TRY(thrift_read_i32(reader, &field, &out->column_index_bytes));
            break;
        case 8:
        case 9:
            out->encrypted = true;
            TRY(thrift_skip(reader, &field));
            break;
        default:
            TRY(thrift_skip(reader, &field));
        }
    }
}

/* Where a chunk of the file is, for errors. */
struct chunk_place {
    struct metadata_parser *parser;
    size_t row_group;
    const struct parquet_column *column;
};

static kith_error *chunk_corrupt(const struct chunk_place *place, const char *text)
{
    return thrift_corrupt(&place->parser->reader, "column \"%.100s\" of row group %zu: %s", place->column->path,
                          place->row_group, text);
}

/* A range of the file that a chunk points to. A negative or missing part means that there is none. */
static kith_error *check_range(const struct chunk_place *place, int64_t offset, int64_t length, const char *text,
                               struct parquet_range *out)
{
    if (offset <= 0 || length <= 0)
        return NULL;
    uint64_t end;
    if (offset < FIRST_PAGE_OFFSET || __builtin_add_overflow((uint64_t)offset, (uint64_t)length, &end) ||
        end > place->parser->data_end)
        return chunk_corrupt(place, text);
    *out = (struct parquet_range){(uint64_t)offset, (uint64_t)length};
    return NULL;
}

static kith_error *copy_text(struct arena *arena, bool has, struct str *text)
{
    if (!has)
        return NULL;
    char *copy;
    TRY(arena_string(arena, text->data, text->length, &copy));
    text->data = copy;
    return NULL;
}

static kith_error *keep_statistics(const struct chunk_place *place, const struct raw_chunk *raw,
                                   struct parquet_raw_statistics *out)
{
    struct arena *arena = &place->parser->metadata->arena;
    *out = raw->statistics;
    /* Writers cut long strings short; those that say nothing may have. A number is written whole. */
    enum type_id id = place->column->type.id;
    bool may_be_cut = type_is_string(id) || type_is_binary(id);
    if (!raw->has_exact_min)
        out->min_exact = !may_be_cut;
    if (!raw->has_exact_max)
        out->max_exact = !may_be_cut;
    TRY(copy_text(arena, out->has_min, &out->min));
    TRY(copy_text(arena, out->has_max, &out->max));
    TRY(copy_text(arena, out->has_legacy_min, &out->legacy_min));
    return copy_text(arena, out->has_legacy_max, &out->legacy_max);
}

static kith_error *check_pages(const struct chunk_place *place, const struct raw_chunk *raw, struct parquet_chunk *out)
{
    if (raw->value_count == 0)
        return NULL; /* there is nothing to read, and writers differ in what they say of it */
    /* Some writers put 0, or a place behind the data pages, for "no dictionary" (PARQUET-1402 and others). */
    out->has_dictionary =
        raw->dictionary_page_offset >= FIRST_PAGE_OFFSET && raw->dictionary_page_offset < raw->data_page_offset;
    int64_t first = out->has_dictionary ? raw->dictionary_page_offset : raw->data_page_offset;
    if (first < FIRST_PAGE_OFFSET || raw->compressed_bytes == 0)
        return chunk_corrupt(place, "it has values, but no pages");
    return check_range(place, first, raw->compressed_bytes, "its pages lie outside the file", &out->pages);
}

static kith_error *check_chunk(const struct chunk_place *place, const struct raw_chunk *raw, int64_t row_count,
                               struct parquet_chunk *out)
{
    if (raw->elsewhere)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED,
                         "%s: column \"%.100s\" of row group %zu lies in another file, which is not supported",
                         place->parser->reader.file, place->column->path, place->row_group);
    if (!raw->has_type || !raw->has_codec || !raw->has_values || !raw->has_size || !raw->has_offset)
        return chunk_corrupt(place, "a required field is missing");
    if (raw->type != (int32_t)place->column->physical)
        return chunk_corrupt(place, "its physical type is not the schema's");
    if (raw->codec < 0 || raw->codec > PARQUET_LZ4_RAW)
        return chunk_corrupt(place, "its codec is none that the format has");
    if (raw->value_count < 0 || raw->uncompressed_bytes < 0 || raw->compressed_bytes < 0)
        return chunk_corrupt(place, "a count or size is negative");
    if (place->column->max_repetition_level == 0 && raw->value_count != row_count)
        return chunk_corrupt(place, "it has not as many values as the row group has rows");
    out->codec = (enum parquet_codec)raw->codec;
    out->value_count = raw->value_count;
    out->uncompressed_bytes = (uint64_t)raw->uncompressed_bytes;
    TRY(check_pages(place, raw, out));
    TRY(check_range(place, raw->column_index_offset, raw->column_index_bytes, "its column index lies outside the file",
                    &out->column_index));
    TRY(check_range(place, raw->offset_index_offset, raw->offset_index_bytes, "its offset index lies outside the file",
                    &out->offset_index));
    /* Older writers give no length: then it is the reader's to find out, from the filter's own header. */
    TRY(check_range(place, raw->bloom_offset, raw->bloom_bytes, "its Bloom filter lies outside the file",
                    &out->bloom_filter));
    return keep_statistics(place, raw, &out->statistics);
}

static kith_error *read_chunks(struct metadata_parser *parser, const struct thrift_field *field, size_t index,
                               struct raw_chunk **out)
{
    size_t count;
    TRY(thrift_read_list(&parser->reader, field, THRIFT_STRUCT, &count));
    if (*out != NULL || count != parser->metadata->column_count)
        return thrift_corrupt(&parser->reader, "row group %zu has %zu columns where the schema has %zu", index, count,
                              parser->metadata->column_count);
    TRY(alloc_zeroed(count + 1, sizeof **out, out));
    for (size_t i = 0; i < count; i++) {
        TRY(read_raw_chunk(&parser->reader, &(*out)[i]));
        TRY(coop_charge_every(CHUNKS_A_CHARGE, i));
    }
    return NULL;
}

static kith_error *check_row_group(struct metadata_parser *parser, size_t index, const struct raw_chunk *raw,
                                   struct parquet_row_group *out)
{
    struct parquet_metadata *metadata = parser->metadata;
    TRY(ARENA_NEW_ARRAY(&metadata->arena, &out->chunks, metadata->column_count));
    for (size_t i = 0; i < metadata->column_count; i++) {
        struct parquet_column *column = &metadata->columns[i];
        struct chunk_place place = {parser, index, column};
        if (raw[i].encrypted) {
            column->readable = false;
            column->unreadable_reason = "it is encrypted";
            continue;
        }
        TRY(check_chunk(&place, &raw[i], out->row_count, &out->chunks[i]));
        if (__builtin_add_overflow(out->compressed_bytes, (uint64_t)raw[i].compressed_bytes, &out->compressed_bytes))
            return chunk_corrupt(&place, "the row group's size overflows");
        TRY(coop_charge_every(CHUNKS_A_CHARGE, i));
    }
    return NULL;
}

static kith_error *read_row_group(struct metadata_parser *parser, size_t index, struct parquet_row_group *out)
{
    struct thrift_field field = {0};
    _cleanup_free_ struct raw_chunk *raw = NULL;
    bool has_rows = false;
    for (;;) {
        TRY(thrift_next_field(&parser->reader, &field));
        if (field.type == THRIFT_STOP)
            break;
        if (field.id == 1) {
            TRY(read_chunks(parser, &field, index, &raw));
        } else if (field.id == 3) {
            TRY(thrift_read_i64(&parser->reader, &field, &out->row_count));
            has_rows = true;
        } else {
            TRY(thrift_skip(&parser->reader, &field));
        }
    }
    if (!has_rows || out->row_count < 0 || raw == NULL)
        return thrift_corrupt(&parser->reader, "row group %zu has no columns or no valid number of rows", index);
    return check_row_group(parser, index, raw, out);
}

static size_t row_groups_a_charge(const struct metadata_parser *parser)
{
    return MAX(CHUNKS_A_CHARGE / (parser->metadata->column_count + 1), (size_t)1);
}

kith_error *metadata_read_row_groups(struct metadata_parser *parser, const struct thrift_field *field)
{
    struct parquet_metadata *metadata = parser->metadata;
    size_t count;
    TRY(thrift_read_list(&parser->reader, field, THRIFT_STRUCT, &count));
    if (metadata->row_groups != NULL)
        return thrift_corrupt(&parser->reader, "there are two lists of row groups");
    if (count > LIMIT_PARQUET_ROW_GROUPS)
        return error_new(KITH_ERROR_LIMIT, "%s has %zu row groups; at most %d are supported (limit PARQUET_ROW_GROUPS)",
                         parser->reader.file, count, LIMIT_PARQUET_ROW_GROUPS);
    TRY(ARENA_NEW_ARRAY(&metadata->arena, &metadata->row_groups, count + 1));
    metadata->row_group_count = count;
    int64_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        struct parquet_row_group *group = &metadata->row_groups[i];
        TRY(read_row_group(parser, i, group));
        TRY(coop_charge_every(row_groups_a_charge(parser), i));
        group->first_row = (uint64_t)rows;
        if (__builtin_add_overflow(rows, group->row_count, &rows))
            return thrift_corrupt(&parser->reader, "the number of rows overflows");
    }
    if (metadata->row_count == 0)
        metadata->row_count = rows; /* parquet-rs 0.3 left the total out */
    if (rows != metadata->row_count)
        return thrift_corrupt(&parser->reader, "its row groups have %lld rows where the file has %lld", (long long)rows,
                              (long long)metadata->row_count);
    return NULL;
}
