#include "base/alloc.h"
#include "base/limits.h"
#include "parquet/file.h"
#include "parquet/statistics.h"
#include "parquet/thrift_reader.h"

/* What one index belongs to, and where it is read. */
struct index_reader {
    struct parquet_file *file;
    const struct parquet_row_group *row_group;
    const struct parquet_chunk *chunk;
    const struct parquet_column *column;
    struct parquet_page_index *index;
    struct thrift_reader reader;
    bool no_nan; /* in the whole chunk, as reading has taught */
};

static kith_error *read_range(struct index_reader *from, struct parquet_range range, const char *what,
                              uint64_t *bytes_read)
{
    struct storage_file *storage = from->file->storage;
    uint8_t *bytes;
    if (range.length > LIMIT_PARQUET_FOOTER_BYTES)
        return error_new(KITH_ERROR_LIMIT,
                         "%s: the %s of column \"%.100s\" has %llu bytes; at most %d are supported (limit "
                         "PARQUET_FOOTER_BYTES)",
                         storage->path, what, from->column->path, (unsigned long long)range.length,
                         LIMIT_PARQUET_FOOTER_BYTES);
    TRY(arena_alloc(&from->index->arena, range.length, 1, &bytes));
    TRY(storage_file_read(storage, range.offset, range.length, bytes));
    *bytes_read += range.length;
    from->reader = thrift_reader_make(storage->path, what, bytes, range.length, range.offset);
    return NULL;
}

static kith_error *read_location(struct thrift_reader *reader, struct parquet_page_location *out)
{
    struct thrift_field field = {0};
    int64_t offset = -1, first_row = -1;
    int32_t bytes = -1;
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            break;
        if (field.id == 1)
            TRY(thrift_read_i64(reader, &field, &offset));
        else if (field.id == 2)
            TRY(thrift_read_i32(reader, &field, &bytes));
        else if (field.id == 3)
            TRY(thrift_read_i64(reader, &field, &first_row));
        else
            TRY(thrift_skip(reader, &field));
    }
    if (offset < 0 || bytes < 0 || first_row < 0)
        return thrift_corrupt(reader, "a page's offset, size or first row is missing or negative");
    *out = (struct parquet_page_location){(uint64_t)offset, (uint32_t)bytes, (uint64_t)first_row};
    return NULL;
}

/* Pages follow each other in the chunk and in the row group, without gaps between rows. */
static kith_error *check_location(const struct index_reader *from, size_t page)
{
    const struct parquet_page_location *at = &from->index->pages[page];
    const struct parquet_range *chunk = &from->chunk->pages;
    uint64_t least_offset = page == 0 ? chunk->offset : at[-1].offset + at[-1].compressed_bytes;
    if (at->offset < least_offset || at->offset > chunk->offset + chunk->length ||
        at->compressed_bytes > chunk->offset + chunk->length - at->offset)
        return thrift_corrupt(&from->reader, "page %zu lies outside the column chunk, or over the page before it",
                              page);
    if (page == 0 ? at->first_row != 0 : at->first_row <= at[-1].first_row)
        return thrift_corrupt(&from->reader, "the first rows of the pages do not ascend from 0");
    if (at->first_row >= (uint64_t)from->row_group->row_count)
        return thrift_corrupt(&from->reader, "page %zu begins at row %llu of %lld", page,
                              (unsigned long long)at->first_row, (long long)from->row_group->row_count);
    return NULL;
}

static kith_error *read_locations(struct index_reader *from, const struct thrift_field *field)
{
    struct parquet_page_index *index = from->index;
    size_t count;
    TRY(thrift_read_list(&from->reader, field, THRIFT_STRUCT, &count));
    if (index->pages != NULL)
        return thrift_corrupt(&from->reader, "there are two lists of pages");
    TRY(ARENA_NEW_ARRAY(&index->arena, &index->pages, count));
    for (index->page_count = 0; index->page_count < count; index->page_count++) {
        TRY(read_location(&from->reader, &index->pages[index->page_count]));
        TRY(check_location(from, index->page_count));
    }
    return NULL;
}

static kith_error *read_offset_index(struct index_reader *from)
{
    struct thrift_field field = {0};
    for (;;) {
        TRY(thrift_next_field(&from->reader, &field));
        if (field.type == THRIFT_STOP)
            break;
        if (field.id == 1)
            TRY(read_locations(from, &field));
        else
            TRY(thrift_skip(&from->reader, &field));
    }
    if (from->index->page_count == 0 && from->row_group->row_count > 0)
        return thrift_corrupt(&from->reader, "it lists no page");
    return NULL;
}

/* The lists of a ColumnIndex, one entry a page. NULL where the file has none. */
struct page_lists {
    bool *null_pages;
    struct str *mins, *maxs;
    int64_t *null_counts, *nan_counts;
};

static kith_error *read_list(struct index_reader *from, const struct thrift_field *field, enum thrift_type element)
{
    size_t count;
    TRY(thrift_read_list(&from->reader, field, element, &count));
    if (count != from->index->page_count)
        return thrift_corrupt(&from->reader, "list %d has %zu entries for %zu pages", field->id, count,
                              from->index->page_count);
    return NULL;
}

static kith_error *read_bools(struct index_reader *from, const struct thrift_field *field, bool **out)
{
    TRY(read_list(from, field, THRIFT_TRUE));
    TRY(ARENA_NEW_ARRAY(&from->index->arena, out, from->index->page_count));
    for (size_t i = 0; i < from->index->page_count; i++)
        TRY(thrift_element_bool(&from->reader, &(*out)[i]));
    return NULL;
}

static kith_error *read_strings(struct index_reader *from, const struct thrift_field *field, struct str **out)
{
    TRY(read_list(from, field, THRIFT_BINARY));
    TRY(ARENA_NEW_ARRAY(&from->index->arena, out, from->index->page_count));
    for (size_t i = 0; i < from->index->page_count; i++)
        TRY(thrift_element_binary(&from->reader, &(*out)[i]));
    return NULL;
}

static kith_error *read_counts(struct index_reader *from, const struct thrift_field *field, int64_t **out)
{
    TRY(read_list(from, field, THRIFT_I64));
    TRY(ARENA_NEW_ARRAY(&from->index->arena, out, from->index->page_count));
    for (size_t i = 0; i < from->index->page_count; i++)
        TRY(thrift_element_i64(&from->reader, &(*out)[i]));
    return NULL;
}

static kith_error *read_column_index(struct index_reader *from, struct page_lists *out)
{
    struct thrift_field field = {0};
    int32_t boundary_order = 0;
    for (;;) {
        TRY(thrift_next_field(&from->reader, &field));
        if (field.type == THRIFT_STOP)
            break;
        switch (field.id) {
        case 1:
            TRY(read_bools(from, &field, &out->null_pages));
            break;
        case 2:
            TRY(read_strings(from, &field, &out->mins));
            break;
        case 3:
            TRY(read_strings(from, &field, &out->maxs));
            break;
        case 4:
            TRY(thrift_read_i32(&from->reader, &field, &boundary_order));
            if (boundary_order < 0 || boundary_order > 2)
                return thrift_corrupt(&from->reader, "%d is no order of bounds that the format has", boundary_order);
            break;
        case 5:
            TRY(read_counts(from, &field, &out->null_counts));
            break;
        case 8:
            TRY(read_counts(from, &field, &out->nan_counts));
            break;
        default:
            TRY(thrift_skip(&from->reader, &field));
        }
    }
    bool complete = out->null_pages != NULL && out->mins != NULL && out->maxs != NULL;
    return complete ? NULL : thrift_corrupt(&from->reader, "a required list is missing");
}

static void decode_page(const struct index_reader *from, const struct page_lists *lists, size_t page)
{
    const struct parquet_page_index *index = from->index;
    uint64_t end =
        page + 1 < index->page_count ? index->pages[page + 1].first_row : (uint64_t)from->row_group->row_count;
    struct statistics_bytes bytes = {
        .null_count = lists->null_counts != NULL ? lists->null_counts[page] : -1,
        .nan_count = from->no_nan                ? 0
                     : lists->nan_counts != NULL ? lists->nan_counts[page]
                                                 : -1,
        .row_count = end - index->pages[page].first_row,
    };
    bool all_null = lists->null_pages[page];
    if (all_null && lists->null_counts == NULL)
        bytes.null_count = (int64_t)bytes.row_count;
    else if (all_null != (bytes.null_count == (int64_t)bytes.row_count))
        bytes.null_count = -1; /* the two contradict each other */
    if (!all_null && from->column->order_defined) {
        enum type_id id = from->column->type.id;
        bytes.has_min = bytes.has_max = true;
        bytes.min = lists->mins[page];
        bytes.max = lists->maxs[page];
        /* Nothing says whether a string was cut short. */
        bytes.min_exact = bytes.max_exact = !type_is_string(id) && !type_is_binary(id);
    }
    statistics_decode(from->column, &bytes, &index->statistics[page]);
}

kith_error *parquet_page_index_read(struct parquet_file *file, size_t row_group, size_t column, uint64_t *bytes_read,
                                    struct parquet_page_index **out)
{
    struct index_reader from = {
        .file = file,
        .row_group = &file->metadata->row_groups[row_group],
        .chunk = &file->metadata->row_groups[row_group].chunks[column],
        .column = &file->metadata->columns[column],
        .no_nan = parquet_file_has_no_nan(file, row_group, column),
    };
    *out = NULL;
    if (from.chunk->offset_index.length == 0)
        return NULL;
    _cleanup_(parquet_page_index_free) struct parquet_page_index *index = NULL;
    TRY(NEW(&index));
    from.index = index;
    TRY(read_range(&from, from.chunk->offset_index, "offset index", bytes_read));
    TRY(read_offset_index(&from));
    if (from.chunk->column_index.length > 0 && index->page_count > 0) {
        struct page_lists lists = {0};
        TRY(read_range(&from, from.chunk->column_index, "column index", bytes_read));
        TRY(read_column_index(&from, &lists));
        TRY(ARENA_NEW_ARRAY(&index->arena, &index->statistics, index->page_count));
        for (size_t i = 0; i < index->page_count; i++)
            decode_page(&from, &lists, i);
    }
    *out = TAKE(index);
    return NULL;
}

void parquet_page_index_free(struct parquet_page_index *index)
{
    if (index == NULL)
        return;
    arena_reset(&index->arena);
    free(index);
}
