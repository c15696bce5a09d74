/*
 * A cursor over one column chunk: reads rows in order as Arrow arrays, and skips rows as cheaply as the file allows.
 * Skipping is lazy and adds up: a page whose rows are all skipped is not decompressed (without a page index its header
 * is read; with one it is not read at all). Belongs to one fiber; may suspend for I/O.
 *
 * Every page is treated as hostile: sizes, counts, levels, dictionary indices and string lengths are checked, and an
 * error names file, column, row group and byte offset.
 */
#ifndef KITH_PARQUET_COLUMN_READER_H
#define KITH_PARQUET_COLUMN_READER_H

#include "columnar/batch.h"
#include "parquet/file.h"

struct parquet_read_options {
    bool keep_dictionary;  /* give string columns dictionary-encoded (Int32 indices) where whole reads come from
                              dictionary pages */
    bool verify_checksums; /* of pages that carry a CRC-32 */
};

struct parquet_read_metrics {
    uint64_t bytes_read;    /* from storage, page headers and dictionaries included */
    uint64_t pages_read;    /* data pages decompressed and decoded */
    uint64_t pages_skipped; /* data pages passed over without decompression */
    int64_t decode_ns;
};

struct parquet_column_reader;

/* `column` is an index in metadata->columns and must be readable. `index` (may be NULL) is borrowed for the reader's
 * life. `metrics` (not NULL) is added to by reads. */
kith_error *parquet_column_reader_new(struct parquet_file *file, size_t row_group, size_t column,
                                      const struct parquet_page_index *index,
                                      const struct parquet_read_options *options, struct parquet_read_metrics *metrics,
                                      struct parquet_column_reader **out) _must_check_;
void parquet_column_reader_free(struct parquet_column_reader *reader);
DEFINE_CLEANUP(parquet_column_reader_free, struct parquet_column_reader)

/* The next `rows` rows: all of them, or those in `selection` (row numbers below `rows`). Reading past the row group's
 * rows is INTERNAL. The array has the column's type, dictionary-encoded if that was asked for and possible. */
kith_error *parquet_column_reader_read(struct parquet_column_reader *reader, size_t rows,
                                       const struct selection *selection, struct array **out) _must_check_;
/* Costs nothing until the next read. */
void parquet_column_reader_skip(struct parquet_column_reader *reader, size_t rows);

#endif
