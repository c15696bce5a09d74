/* Any bytes as a Parquet file: its footer, the statistics of its row groups, its page indexes and its columns.
 * Statistics promise that what is malformed is absent, and bounds that are there are in order. Arrays that come out of
 * a column are whole. */
#include "fuzz/fuzz.h"

#include "parquet/column_reader.h"
#include "parquet/file.h"

enum { MOST_ROWS = 3000, MOST_READS = 20 }; /* of one chunk: a few bytes can stand for billions of rows */

/* One read of up to `rows` rows: all of them, or of `stride` rows one. */
static kith_error *read_array(struct parquet_column_reader *reader, size_t rows, size_t stride)
{
    _cleanup_(selection_unref) struct selection *selection = NULL;
    _cleanup_(array_unref) struct array *array = NULL;
    if (stride > 1) {
        TRY(selection_new(rows, &selection));
        for (size_t row = stride / 2; row < rows; row += stride)
            selection->rows[selection->count++] = (uint32_t)row;
    }
    TRY(parquet_column_reader_read(reader, rows, selection, &array));
    _cleanup_(error_free) kith_error *broken = array_validate(array);
    ASSERT(broken == NULL);
    ASSERT(array->length == (selection != NULL ? selection->count : rows));
    return NULL;
}

/* Reads, selects and skips in turn; `variant` picks the lengths. */
static kith_error *read_column(struct parquet_file *file, size_t row_group, size_t column,
                               const struct parquet_page_index *index, size_t variant)
{
    const struct parquet_read_options options = {.keep_dictionary = variant % 2, .verify_checksums = variant % 8 == 7};
    struct parquet_read_metrics metrics = {0};
    _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
    TRY(parquet_column_reader_new(file, row_group, column, index, &options, &metrics, &reader));
    uint64_t left = (uint64_t)file->metadata->row_groups[row_group].row_count, most = 1 + variant * 7 % MOST_ROWS;
    for (size_t turn = variant; left > 0 && turn < variant + MOST_READS; turn++) {
        size_t rows = (size_t)MIN(left, most);
        if (turn % 3 == 2)
            parquet_column_reader_skip(reader, rows);
        else
            TRY(read_array(reader, rows, turn % 3 * (turn % 50)));
        left -= rows;
    }
    return NULL;
}

static void read_columns(struct parquet_file *file, size_t row_group, size_t column,
                         const struct parquet_page_index *index, size_t variant)
{
    error_free(read_column(file, row_group, column, NULL, variant));
    error_free(read_column(file, row_group, column, index, variant / 2));
}

static void read_chunk(struct parquet_file *file, size_t row_group, size_t column, size_t variant)
{
    uint64_t bytes_read = 0;
    struct column_statistics statistics;
    parquet_row_group_statistics(file, row_group, column, &statistics);
    ASSERT(!statistics.has_null_count || statistics.null_count <= statistics.row_count);

    _cleanup_(parquet_page_index_free) struct parquet_page_index *index = NULL;
    _cleanup_(error_free) kith_error *damaged = parquet_page_index_read(file, row_group, column, &bytes_read, &index);
    read_columns(file, row_group, column, damaged == NULL ? index : NULL, variant);
    if (damaged != NULL || index == NULL)
        return;
    for (size_t page = 0; page < index->page_count; page++) {
        ASSERT(page == 0 || index->pages[page].first_row >= index->pages[page - 1].first_row);
        if (index->statistics != NULL)
            ASSERT(!index->statistics[page].has_null_count ||
                   index->statistics[page].null_count <= index->statistics[page].row_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    _cleanup_(error_free) kith_error *error = storage_open_memory("input", data, size, &storage);
    ASSERT(error == NULL);
    _cleanup_(error_free) kith_error *refused = parquet_file_open(storage, &file);
    if (refused != NULL)
        return 0;
    for (size_t row_group = 0; row_group < file->metadata->row_group_count; row_group++)
        for (size_t i = 0; i < file->schema->field_count; i++)
            read_chunk(file, row_group, file->columns[i], size);
    return 0;
}
