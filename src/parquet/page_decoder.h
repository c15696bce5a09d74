/*
 * Decodes the rows of one open data page into a column_output: definition levels, values in whatever encoding, only
 * the selected ones where the encoding allows, converted to Arrow's types. Rows are taken in order; those passed over
 * cost nothing until a row after them is read. Belongs to one fiber.
 */
#ifndef KITH_PARQUET_PAGE_DECODER_H
#define KITH_PARQUET_PAGE_DECODER_H

#include "parquet/column_output.h"
#include "parquet/dictionary.h"
#include "parquet/levels.h"
#include "parquet/value_reader.h"

enum { DECODER_ROWS = 2048 }; /* rows decoded at once, so that what is between the steps stays in the cache */

struct page_decoder {
    const struct parquet_column *column;
    struct conversion conversion;
    struct dictionary dictionary; /* of the chunk; loaded by whoever opens pages */
    bool keep_dictionary;
    struct level_reader levels;
    struct value_reader values;
    uint64_t skip;     /* rows of the page to pass over first */
    size_t piece_rows; /* DECODER_ROWS, or fewer when values are wide */
    /* Of the rows being decoded: */
    uint8_t validity[DECODER_ROWS / 8];          /* all of them */
    uint8_t selected_validity[DECODER_ROWS / 8]; /* the selected ones */
    uint32_t positions[DECODER_ROWS];            /* of the selected values among those that are there */
    uint32_t indices[DECODER_ROWS];
    struct str slices[VALUE_SLICES];
    struct page_buffer *scratch; /* borrowed: physical values, twice piece_rows of them */
};

/* The decoder is zero-initialised; `scratch` is lent to it. NOT_IMPLEMENTED when the column's type cannot be read. */
kith_error *page_decoder_init(struct page_decoder *decoder, const struct parquet_column *column, bool keep_dictionary,
                              struct page_buffer *scratch) _must_check_;
void page_decoder_reset(struct page_decoder *decoder);

static inline bool page_uses_dictionary(const struct page_header *header)
{
    return header->encoding == PARQUET_PLAIN_DICTIONARY || header->encoding == PARQUET_RLE_DICTIONARY;
}

/* Begins a page; `body` is borrowed until the next one. */
kith_error *page_decoder_start(struct page_decoder *decoder, const struct page_header *header,
                               struct page_body *body) _must_check_;

/* Decodes the next `rows` rows, or with `selected` those `count` of them, ascending, which are numbered from
 * `first_row`. */
kith_error *page_decoder_read(struct page_decoder *decoder, size_t rows, const uint32_t *selected, size_t count,
                              size_t first_row, struct column_output *output) _must_check_;

#endif
