/*
 * Writes flat batches as a Parquet file: dictionary encoding while it pays (RLE_DICTIONARY, falling back to PLAIN), V1
 * data pages, statistics with exactness flags, page index, column orders. Files are readable by pyarrow, DuckDB and
 * DataFusion. Belongs to one fiber; compression runs on it, charging the budget once a page.
 */
#ifndef KITH_PARQUET_WRITER_H
#define KITH_PARQUET_WRITER_H

#include "columnar/batch.h"
#include "parquet/metadata.h"
#include "storage/storage.h"

struct parquet_write_options {
    enum parquet_codec codec; /* UNCOMPRESSED, SNAPPY or ZSTD */
    int codec_level;          /* zstd; 0 = 3 */
    size_t row_group_rows;    /* 0 = 1,048,576 */
    size_t page_rows;         /* 0 = 20,000 */
    uint64_t row_group_text;  /* bytes of text of one column, past which a row group ends early; 0 = 1 GiB */
    bool no_dictionary;
    bool no_statistics; /* nor page index: for fixtures that test their absence */
    bool no_page_index;
};

struct parquet_writer;

/* `storage` is borrowed; the caller finishes it after parquet_writer_finish. */
kith_error *parquet_writer_new(struct storage_writer *storage, struct schema *schema,
                               const struct parquet_write_options *options, struct parquet_writer **out) _must_check_;
void parquet_writer_free(struct parquet_writer *writer);
DEFINE_CLEANUP(parquet_writer_free, struct parquet_writer)

/* Rows are gathered until a row group is full. */
kith_error *parquet_writer_write(struct parquet_writer *writer, struct batch *batch) _must_check_;
/* Ends the current row group early; no empty group is written. */
kith_error *parquet_writer_flush(struct parquet_writer *writer) _must_check_;
/* Writes what is left and the footer. */
kith_error *parquet_writer_finish(struct parquet_writer *writer) _must_check_;

#endif
