/*
 * DELTA_BINARY_PACKED: integers as differences from the one before, in blocks with a common minimum difference and
 * miniblocks of a common bit width. Differences wrap around, so all arithmetic is on unsigned numbers. The decoder
 * borrows its bytes; it is also what the lengths of both DELTA byte array encodings are read with.
 *
 * See the Parquet format, Encodings.md, "Delta Encoding"; the idea is Lemire and Boytsov, "Decoding billions of
 * integers per second through vectorization", 2012.
 */
#ifndef KITH_PARQUET_ENCODING_DELTA_H
#define KITH_PARQUET_ENCODING_DELTA_H

#include "base/error.h"

#include <stdint.h>

enum { DELTA_CHUNK = 32 }; /* values decoded at once; miniblocks are multiples of it */

struct delta_decoder {
    const uint8_t *at, *end;
    unsigned bits;             /* of a value: 32 or 64 */
    uint64_t total;            /* values that the header declares */
    uint64_t left;             /* of these, not yet decoded */
    uint64_t miniblock_values; /* per miniblock */
    uint64_t miniblocks;       /* per block */
    uint64_t next_miniblock;   /* in the current block */
    const uint8_t *widths;     /* of the current block's miniblocks */
    uint64_t miniblock_left;   /* values of the current miniblock that are not decoded, padding included */
    unsigned width;            /* of the current miniblock; `at` is where its next values are */
    uint64_t minimum_delta;
    uint64_t last;
    bool first_pending;
    unsigned chunk_at, chunk_end;
    uint64_t chunk[DELTA_CHUNK]; /* decoded and not yet handed out */
};

/* `bits` is 32 or 64; wider miniblocks are CORRUPT. */
kith_error *delta_init(struct delta_decoder *decoder, const uint8_t *bytes, size_t length, unsigned bits) _must_check_;

/* Asking for more values than the header declares is CORRUPT. `out` may be NULL to pass over them. The function has to
 * be that of the decoder's `bits`. */
kith_error *delta_read32(struct delta_decoder *decoder, size_t count, uint32_t *out) _must_check_;
kith_error *delta_read64(struct delta_decoder *decoder, size_t count, uint64_t *out) _must_check_;

/* Where the encoded values end and what follows them begins: walks the block headers of a fresh decoder's copy. */
kith_error *delta_find_end(const struct delta_decoder *decoder, const uint8_t **out) _must_check_;

#endif
