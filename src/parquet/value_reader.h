/*
 * The values of one data page, whatever their encoding: one after the other, or passed over. NULLs are not among them.
 * Which of the functions may be called follows from the physical type and the encoding: for a page that
 * uses the dictionary it is always value_reader_indices.
 */
#ifndef KITH_PARQUET_VALUE_READER_H
#define KITH_PARQUET_VALUE_READER_H

#include "parquet/encoding_byte_stream_split.h"
#include "parquet/encoding_delta_strings.h"
#include "parquet/encoding_plain.h"
#include "parquet/encoding_rle.h"
#include "parquet/metadata.h"

enum value_source {
    VALUES_DICTIONARY,
    VALUES_PLAIN,
    VALUES_BITS,     /* booleans, plain */
    VALUES_RLE_BITS, /* booleans, run-length encoded */
    VALUES_DELTA,
    VALUES_SPLIT,
    VALUES_SLICES, /* byte arrays, plain */
    VALUES_DELTA_LENGTH,
    VALUES_DELTA_STRINGS
};

struct value_reader {
    enum value_source source;
    size_t width; /* bytes of a fixed-width physical value */
    union {
        struct plain_decoder plain;
        struct plain_bits bits;
        struct rle_decoder rle;
        struct delta_decoder delta;
        struct byte_stream_split_decoder split;
        struct delta_length_decoder delta_length;
    };
    struct delta_strings_decoder delta_strings; /* keeps its memory from page to page */
};

/* Begins a page, whose `length` bytes are borrowed. `width` is that of the physical type, 0 for booleans and byte
 * arrays. An encoding that the type cannot have, or that is unknown, is NOT_IMPLEMENTED. */
kith_error *value_reader_start(struct value_reader *reader, enum parquet_type physical, size_t width,
                               enum parquet_encoding encoding, const uint8_t *bytes, size_t length) _must_check_;
void value_reader_reset(struct value_reader *reader);
DEFINE_VALUE_CLEANUP(value_reader_reset, struct value_reader)

/* Whether values come as slices: byte arrays, and fixed-length ones in DELTA_BYTE_ARRAY. */
static inline bool value_reader_has_slices(const struct value_reader *reader)
{
    return reader->source >= VALUES_SLICES;
}

kith_error *value_reader_skip(struct value_reader *reader, size_t count) _must_check_;

/* Values of a fixed width: *values is where they are in the page, or else `scratch`, into which they were decoded. */
kith_error *value_reader_fixed(struct value_reader *reader, size_t count, uint8_t *scratch,
                               const uint8_t **values) _must_check_;

/* Booleans, to bit `offset` of `out`. */
kith_error *value_reader_bits(struct value_reader *reader, size_t count, uint8_t *out, size_t offset) _must_check_;

/* At most VALUE_SLICES byte arrays, valid until the next call and readable 32 bytes past their end. */
enum { VALUE_SLICES = 256 };
kith_error *value_reader_slices(struct value_reader *reader, size_t count, struct str *out) _must_check_;

/* Dictionary indices, not checked against the dictionary. */
kith_error *value_reader_indices(struct value_reader *reader, size_t count, uint32_t *out) _must_check_;

#endif
