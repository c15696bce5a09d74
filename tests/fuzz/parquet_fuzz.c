/* Any bytes as a Parquet file: its footer, the statistics of its row groups and its page indexes. Statistics promise
 * that what is malformed is absent, and bounds that are there are in order. */
#include "fuzz/fuzz.h"

#include "parquet/file.h"

static void read_chunk(struct parquet_file *file, size_t row_group, size_t column)
{
    uint64_t bytes_read = 0;
    struct column_statistics statistics;
    parquet_row_group_statistics(file, row_group, column, &statistics);
    ASSERT(!statistics.has_null_count || statistics.null_count <= statistics.row_count);

    _cleanup_(parquet_page_index_free) struct parquet_page_index *index = NULL;
    _cleanup_(error_free) kith_error *damaged = parquet_page_index_read(file, row_group, column, &bytes_read, &index);
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
            read_chunk(file, row_group, file->columns[i]);
    return 0;
}
