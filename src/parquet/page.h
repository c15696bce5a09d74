/*
 * Pages: their headers, and what is inside of them once decompressed. A page's sizes and counts are checked here
 * against each other and against the limits; whether its levels and values are what the counts say is found out by
 * those who decode them.
 */
#ifndef KITH_PARQUET_PAGE_H
#define KITH_PARQUET_PAGE_H

#include "parquet/codec.h"

enum page_kind { PAGE_DATA = 0, PAGE_INDEX = 1, PAGE_DICTIONARY = 2, PAGE_DATA_V2 = 3, PAGE_OTHER };

struct page_header {
    enum page_kind kind;
    size_t header_bytes;
    size_t compressed_bytes, uncompressed_bytes;
    bool has_crc;
    uint32_t crc;
    /* Of data and dictionary pages: */
    uint32_t value_count; /* NULLs included */
    enum parquet_encoding encoding;
    enum parquet_encoding level_encoding; /* of definition levels; RLE in V2 */
    /* Of V2 data pages: */
    size_t repetition_bytes, definition_bytes; /* levels lie before the values, never compressed */
    bool compressed;
};

/* Parses the header at the start of `bytes`, which lies at `offset` of the file. When the bytes end inside of it the
 * error is CORRUPT and *ran_out is set: with more of the file it may parse. Errors do not name the file. */
kith_error *page_header_parse(const uint8_t *bytes, size_t length, uint64_t offset, struct page_header *out,
                              bool *ran_out) _must_check_;

/* Where pages are decompressed to; grows and is kept. At least PAGE_SLACK bytes after the page may be read. */
enum { PAGE_SLACK = 64 };
struct page_buffer {
    uint8_t *data;
    size_t capacity;
};
kith_error *page_buffer_reserve(struct page_buffer *buffer, size_t size) _must_check_;
void page_buffer_reset(struct page_buffer *buffer);
DEFINE_VALUE_CLEANUP(page_buffer_reset, struct page_buffer)

struct page_body {
    const uint8_t *definition_levels; /* of V2 pages only; in V1 they are the beginning of `values` */
    size_t definition_bytes;
    const uint8_t *values;
    size_t value_bytes;
};

/* `bytes` (header->compressed_bytes of them, and PAGE_SLACK readable ones behind) follow the header in the file. The
 * body points into them or into `buffer`. */
kith_error *page_decompress(const struct page_header *header, enum parquet_codec codec, struct codec_context *context,
                            const uint8_t *bytes, struct page_buffer *buffer, struct page_body *out) _must_check_;

/* CORRUPT when the header has a CRC-32 and the bytes another. */
kith_error *page_verify(const struct page_header *header, const uint8_t *bytes) _must_check_;

#endif
