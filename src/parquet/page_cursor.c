#include "parquet/page_cursor.h"

#include "base/limits.h"
#include "runtime/fiber.h"

enum {
    HEADER_BYTES = 512,            /* most page headers fit */
    SKIPPING_BYTES = 8 * 1024,     /* read at once when the page will likely be passed over */
    READ_AHEAD_FIRST = 128 * 1024, /* doubled with each read, as long as nothing is skipped, */
    READ_AHEAD_MOST = 1024 * 1024  /* up to where larger reads are no faster */
};

void page_cursor_init(struct page_cursor *cursor, struct storage_file *storage, const struct parquet_chunk *chunk,
                      uint64_t slack, uint64_t row_count, const struct parquet_page_index *index, bool verify_checksums,
                      struct workspace *workspace)
{
    *cursor = (struct page_cursor){.chunk = chunk,
                                   .index = index,
                                   .verify_checksums = verify_checksums,
                                   .workspace = workspace,
                                   .row_count = row_count,
                                   .rows_ahead = row_count,
                                   .next_offset = chunk->pages.offset,
                                   .page_offset = chunk->pages.offset,
                                   .read_ahead = READ_AHEAD_FIRST};
    uint64_t end = chunk->pages.offset + chunk->pages.length;
    byte_window_init(&cursor->window, storage, chunk->pages.offset, MIN(end + slack, storage->size),
                     &workspace->window);
    if (index != NULL && index->page_count > 0) {
        cursor->dictionary_offset = chunk->pages.offset;
        cursor->dictionary_end = index->pages[0].offset;
    }
}

static uint64_t rows_of_page(const struct page_cursor *cursor, size_t page)
{
    const struct parquet_page_location *at = &cursor->index->pages[page];
    uint64_t end = page + 1 < cursor->index->page_count ? at[1].first_row : cursor->row_count;
    return end - at->first_row;
}

/* By the index, passes over the pages that hold nothing but unwanted rows. */
static void pass_by_index(struct page_cursor *cursor, uint64_t *skip)
{
    for (; cursor->next_page < cursor->index->page_count; cursor->next_page++) {
        uint64_t rows = rows_of_page(cursor, cursor->next_page);
        if (rows > *skip)
            return;
        *skip -= rows;
        cursor->rows_ahead -= rows;
        cursor->pages_skipped++;
        cursor->read_ahead = 0;
    }
}

/* Bytes worth reading where the next page begins, given that `least` are needed. */
static size_t wanted_bytes(const struct page_cursor *cursor, size_t least, bool skipping)
{
    if (cursor->index != NULL)
        return MAX(least, cursor->read_ahead);
    return skipping ? MAX(least, (size_t)SKIPPING_BYTES) : MAX(cursor->read_ahead, (size_t)SKIPPING_BYTES);
}

/* Parses the header at page_offset, reading more until it is whole. `size` is the page's as its index says, or 0. */
static kith_error *read_header(struct page_cursor *cursor, size_t size, bool skipping)
{
    uint64_t left = cursor->window.end - cursor->page_offset;
    size_t needed = MAX((size_t)HEADER_BYTES, size);
    for (;; needed *= 2) {
        const uint8_t *bytes;
        bool ran_out;
        size_t length = (size_t)MIN((uint64_t)needed, left);
        TRY(byte_window_get(&cursor->window, cursor->page_offset, length, wanted_bytes(cursor, length, skipping),
                            &bytes));
        kith_error *error = page_header_parse(bytes, length, cursor->page_offset, &cursor->header, &ran_out);
        if (!ran_out || length == left)
            return error;
        error_free(error);
        if (needed > LIMIT_PARQUET_PAGE_HEADER_BYTES)
            return error_new(KITH_ERROR_LIMIT, "the page's header is longer than the limit PARQUET_PAGE_HEADER_BYTES");
    }
}

static kith_error *pages_end_early(const struct page_cursor *cursor)
{
    return error_new(KITH_ERROR_CORRUPT, "the pages end after %llu of %llu rows",
                     (unsigned long long)(cursor->row_count - cursor->rows_ahead),
                     (unsigned long long)cursor->row_count);
}

/* Finds the next page and reads its header. */
static kith_error *advance(struct page_cursor *cursor, bool skipping)
{
    size_t size = 0;
    if (cursor->index != NULL) {
        if (cursor->next_page == cursor->index->page_count)
            return pages_end_early(cursor);
        cursor->page_offset = cursor->index->pages[cursor->next_page].offset;
        size = cursor->index->pages[cursor->next_page].compressed_bytes;
    } else {
        cursor->page_offset = cursor->next_offset;
    }
    if (cursor->page_offset >= cursor->window.end)
        return pages_end_early(cursor);
    uint64_t read_before = cursor->window.bytes_read;
    TRY(read_header(cursor, size, skipping));
    if (cursor->window.bytes_read != read_before)
        cursor->read_ahead = MIN(MAX(cursor->read_ahead * 2, (size_t)READ_AHEAD_FIRST), (size_t)READ_AHEAD_MOST);
    size_t bytes = cursor->header.header_bytes + cursor->header.compressed_bytes;
    if (bytes > cursor->window.end - cursor->page_offset)
        return error_new(KITH_ERROR_CORRUPT, "a page of %zu bytes where %llu are left of the column chunk", bytes,
                         (unsigned long long)(cursor->window.end - cursor->page_offset));
    cursor->next_offset = cursor->page_offset + bytes;
    return NULL;
}

static bool is_data(const struct page_header *header)
{
    return header->kind == PAGE_DATA || header->kind == PAGE_DATA_V2;
}

static kith_error *check_rows(const struct page_cursor *cursor)
{
    uint32_t rows = cursor->header.value_count;
    if (rows > cursor->rows_ahead)
        return error_new(KITH_ERROR_CORRUPT, "a page of %u rows where the row group has %llu left", rows,
                         (unsigned long long)cursor->rows_ahead);
    if (cursor->index != NULL && rows != rows_of_page(cursor, cursor->next_page))
        return error_new(KITH_ERROR_CORRUPT, "a page of %u rows; the page index says %llu", rows,
                         (unsigned long long)rows_of_page(cursor, cursor->next_page));
    return NULL;
}

static kith_error *note_dictionary(struct page_cursor *cursor)
{
    if (cursor->dictionary_offset != cursor->dictionary_end)
        return error_new(KITH_ERROR_CORRUPT, "a second dictionary page in one column chunk");
    cursor->dictionary_offset = cursor->page_offset;
    cursor->dictionary_end = cursor->next_offset;
    return NULL;
}

kith_error *page_cursor_next(struct page_cursor *cursor, uint64_t *skip)
{
    for (;;) {
        if (cursor->index != NULL)
            pass_by_index(cursor, skip);
        TRY(advance(cursor, *skip > 0));
        if (is_data(&cursor->header)) {
            uint32_t rows = cursor->header.value_count;
            TRY(check_rows(cursor));
            cursor->next_page++;
            cursor->rows_ahead -= rows;
            if (rows > *skip)
                return NULL;
            *skip -= rows;
            cursor->pages_skipped += rows > 0;
            cursor->read_ahead = 0;
            TRY(coop_charge(1));
        } else if (cursor->index != NULL) {
            return error_new(KITH_ERROR_CORRUPT, "no data page where the page index says");
        } else if (cursor->header.kind == PAGE_DICTIONARY) {
            return note_dictionary(cursor);
        }
    }
}

kith_error *page_cursor_open(struct page_cursor *cursor, struct page_body *out)
{
    const struct page_header *header = &cursor->header;
    const uint8_t *bytes;
    size_t size = header->header_bytes + header->compressed_bytes;
    TRY(byte_window_get(&cursor->window, cursor->page_offset, size, MAX(size, cursor->read_ahead), &bytes));
    bytes += header->header_bytes;
    if (cursor->verify_checksums)
        TRY(page_verify(header, bytes));
    return page_decompress(header, cursor->chunk->codec, &cursor->workspace->codec, bytes, &cursor->workspace->page,
                           out);
}

kith_error *page_cursor_open_dictionary(struct page_cursor *cursor, struct page_header *header, struct page_body *out)
{
    uint64_t size = cursor->dictionary_end - cursor->dictionary_offset;
    const uint8_t *bytes;
    bool ran_out;
    if (size == 0)
        return error_new(KITH_ERROR_CORRUPT, "a dictionary-encoded page in a column chunk without a dictionary");
    if (size > (uint64_t)LIMIT_PARQUET_PAGE_BYTES + LIMIT_PARQUET_PAGE_HEADER_BYTES)
        return error_new(KITH_ERROR_LIMIT, "a dictionary page of %llu bytes: above the limit PARQUET_PAGE_BYTES",
                         (unsigned long long)size);
    TRY(byte_window_get_aside(&cursor->window, cursor->dictionary_offset, (size_t)size,
                              &cursor->workspace->dictionary_in, &bytes));
    TRY(page_header_parse(bytes, (size_t)size, cursor->dictionary_offset, header, &ran_out));
    if (header->kind != PAGE_DICTIONARY || header->compressed_bytes > size - header->header_bytes)
        return error_new(KITH_ERROR_CORRUPT, "no whole dictionary page at byte %llu, before the first data page",
                         (unsigned long long)cursor->dictionary_offset);
    bytes += header->header_bytes;
    if (cursor->verify_checksums)
        TRY(page_verify(header, bytes));
    return page_decompress(header, cursor->chunk->codec, &cursor->workspace->codec, bytes,
                           &cursor->workspace->dictionary_out, out);
}
