/*
 * Walks the pages of one column chunk, reading as little of the file as it can: with a page index, pages that are
 * passed over are not read at all; without one, only their headers are. Bytes are read ahead in growing pieces as long
 * as pages are opened one after the other. Belongs to one fiber.
 *
 * Hostile files: the pages of a chunk have to add up to the rows of its row group and lie within the chunk.
 */
#ifndef KITH_PARQUET_PAGE_CURSOR_H
#define KITH_PARQUET_PAGE_CURSOR_H

#include "parquet/byte_window.h"
#include "parquet/column_reader.h"
#include "parquet/page.h"
#include "parquet/workspace.h"

struct page_cursor {
    const struct parquet_chunk *chunk;
    const struct parquet_page_index *index; /* NULL = none */
    bool verify_checksums;
    struct byte_window window;
    struct workspace *workspace;                /* borrowed */
    uint64_t dictionary_offset, dictionary_end; /* equal = none known of */
    uint64_t row_count;                         /* of the row group */
    uint64_t rows_ahead;                        /* in pages after the current one */
    uint64_t next_offset;                       /* without an index: of the next page */
    size_t next_page;                           /* with one: its number */
    size_t read_ahead;                          /* bytes to read at once */
    uint64_t pages_skipped;

    uint64_t page_offset; /* of the current page, or the one that an error is about */
    struct page_header header;
};

/* All arguments are borrowed for the cursor's life. The last page may reach `slack` bytes past the chunk as the footer
 * has it. */
void page_cursor_init(struct page_cursor *cursor, struct storage_file *storage, const struct parquet_chunk *chunk,
                      uint64_t slack, uint64_t row_count, const struct parquet_page_index *index, bool verify_checksums,
                      struct workspace *workspace);

/* Goes to the next data page, or to the dictionary page where that comes along (cursor->header.kind tells). `*skip`
 * rows are not wanted: pages that hold nothing else are passed over and their rows taken off it. There must be a row to
 * come after those. */
kith_error *page_cursor_next(struct page_cursor *cursor, uint64_t *skip) _must_check_;

/* Reads and decompresses the current data page; the body is valid until page_cursor_next. */
kith_error *page_cursor_open(struct page_cursor *cursor, struct page_body *out) _must_check_;

/* Reads and decompresses the dictionary page, wherever the cursor is. CORRUPT when there is none. The body is valid
 * until this is called again. */
kith_error *page_cursor_open_dictionary(struct page_cursor *cursor, struct page_header *header,
                                        struct page_body *out) _must_check_;

#endif
