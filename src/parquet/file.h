/*
 * An open Parquet file: its footer, its schema as Arrow, statistics of row groups and pages. Immutable, shared by all
 * fibers, reference-counted.
 */
#ifndef KITH_PARQUET_FILE_H
#define KITH_PARQUET_FILE_H

#include "expr/statistics.h"
#include "parquet/metadata.h"
#include "parquet/workspace.h"
#include "storage/storage.h"

struct parquet_file {
    struct refcount refs;
    struct storage_file *storage;
    struct parquet_metadata *metadata;
    struct schema *schema;             /* readable columns only, in file order */
    size_t *columns;                   /* of each schema field: its index in metadata->columns */
    struct workspace_cache workspaces; /* of readers that are done; all else is immutable */
    _Atomic uint8_t *no_nan;           /* a flag a column chunk, row group by row group; NULL without float columns */
};

/* Reads the footer in one or two reads (the last 64 KiB first). A file that is not Parquet, too short, truncated or
 * encrypted gets an error that says which. */
kith_error *parquet_file_open(struct storage_file *storage, struct parquet_file **out) _must_check_;
struct parquet_file *parquet_file_ref(struct parquet_file *file);
void parquet_file_unref(struct parquet_file *file);
DEFINE_CLEANUP(parquet_file_unref, struct parquet_file)

/* Few writers count NaN, so a float column may have some for all its footer says. Whoever has read every value of a
 * column chunk and met none can note it here; from then on the file's statistics say so. Thread-safe. */
void parquet_file_note_no_nan(struct parquet_file *file, size_t row_group, size_t column);
bool parquet_file_has_no_nan(const struct parquet_file *file, size_t row_group, size_t column);

/* Of metadata column `column` in one row group. Never fails: what is missing or malformed is absent. */
void parquet_row_group_statistics(const struct parquet_file *file, size_t row_group, size_t column,
                                  struct column_statistics *out);

/* The page index of one column chunk: where each data page is, which rows it has, and its statistics. */
struct parquet_page_location {
    uint64_t offset;
    uint32_t compressed_bytes; /* header included */
    uint64_t first_row;        /* in the row group */
};

struct parquet_page_index {
    struct arena arena;
    size_t page_count;
    struct parquet_page_location *pages;
    struct column_statistics *statistics; /* NULL when the chunk has an offset index only */
};

/* *out is NULL when the chunk has no offset index. Malformed indexes are CORRUPT. `bytes_read` is added to. */
kith_error *parquet_page_index_read(struct parquet_file *file, size_t row_group, size_t column, uint64_t *bytes_read,
                                    struct parquet_page_index **out) _must_check_;
void parquet_page_index_free(struct parquet_page_index *index);
DEFINE_CLEANUP(parquet_page_index_free, struct parquet_page_index)

#endif
