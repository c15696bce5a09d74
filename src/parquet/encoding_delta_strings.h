/*
 * DELTA_BYTE_ARRAY: each byte array as the length of the prefix it shares with the one before, and the rest of it.
 * Prefix lengths are delta-encoded, the rests are DELTA_LENGTH_BYTE_ARRAY. The decoder borrows its bytes; values
 * are put together in memory of its own and stay valid until the next read.
 */
#ifndef KITH_PARQUET_ENCODING_DELTA_STRINGS_H
#define KITH_PARQUET_ENCODING_DELTA_STRINGS_H

#include "parquet/encoding_delta_length.h"

struct delta_strings_decoder {
    struct delta_decoder prefixes;
    struct delta_length_decoder suffixes;
    char *last; /* the value before the next one */
    size_t last_length, last_capacity;
    char *values; /* of the last read */
    size_t values_capacity;
    size_t uncharged; /* bytes put together, for coop_charge_bytes */
};

/* The decoder is zero-initialised or was used before (its memory is kept). */
kith_error *delta_strings_init(struct delta_strings_decoder *decoder, const uint8_t *bytes, size_t length) _must_check_;
void delta_strings_reset(struct delta_strings_decoder *decoder);
DEFINE_VALUE_CLEANUP(delta_strings_reset, struct delta_strings_decoder)

/* At most DELTA_STRINGS_CHUNK values. `out` may be NULL to pass over them. Values of one read that are longer than
 * STRING_BATCH_BYTES together are a LIMIT error. At least 64 bytes after each value may be read. */
enum { DELTA_STRINGS_CHUNK = 256 };
kith_error *delta_strings_read(struct delta_strings_decoder *decoder, size_t count, struct str *out) _must_check_;

#endif
