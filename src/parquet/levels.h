/*
 * Definition levels of a flat column, read as validity: a value is there where the level is the column's maximum. (A
 * smaller one says which of the groups around it is missing, which a flat column does not tell apart.) With a
 * maximum of 1 the levels are the bits of the validity bitmap themselves.
 */
#ifndef KITH_PARQUET_LEVELS_H
#define KITH_PARQUET_LEVELS_H

#include "parquet/encoding_bit_packed.h"
#include "parquet/encoding_rle.h"
#include "parquet/page.h"

struct level_reader {
    uint32_t maximum; /* 0 = required: nothing is stored */
    bool bit_packed;
    struct rle_decoder rle;
    struct bit_packed_decoder packed; /* the deprecated encoding */
};

/* Takes the levels of a page off `body`. Borrows its bytes. */
kith_error *level_reader_init(struct level_reader *reader, const struct page_header *header, uint32_t maximum,
                              struct page_body *body) _must_check_;

/* Validity of the next `count` rows from bit 0 of `bits` on, and how many values are there. `bits` may be NULL, and is
 * not written when the column is required. */
kith_error *level_reader_read(struct level_reader *reader, size_t count, uint8_t *bits, size_t *present) _must_check_;

#endif
