/*
 * A window over a range of a file: bytes are read in pieces as large as the caller asks for and kept while the window
 * moves forward, so that nothing is read twice. Belongs to one fiber; reads may suspend.
 */
#ifndef KITH_PARQUET_BYTE_WINDOW_H
#define KITH_PARQUET_BYTE_WINDOW_H

#include "parquet/page.h"
#include "storage/storage.h"

struct byte_window {
    struct storage_file *storage; /* borrowed */
    uint64_t begin, end;          /* the range that may be read */
    struct page_buffer *memory;   /* borrowed */
    uint64_t offset;              /* of what `memory` holds */
    size_t length;
    uint64_t bytes_read; /* so far */
    int64_t read_ns;     /* time spent reading */
};

/* Empty, over a range of the file, with memory to use for as long as the window lives. */
void byte_window_init(struct byte_window *window, struct storage_file *storage, uint64_t begin, uint64_t end,
                      struct page_buffer *memory);

/* *out points at the `needed` bytes at `offset` (CORRUPT if the range ends before), valid until the next call, with
 * PAGE_SLACK readable bytes behind them. If they have to be read, up to `wanted` bytes are. */
kith_error *byte_window_get(struct byte_window *window, uint64_t offset, size_t needed, size_t wanted,
                            const uint8_t **out) _must_check_;

/* The same without moving the window: from the window if it has them, else read into `aside`. */
kith_error *byte_window_get_aside(struct byte_window *window, uint64_t offset, size_t needed, struct page_buffer *aside,
                                  const uint8_t **out) _must_check_;

#endif
