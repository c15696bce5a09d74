/*
 * RLE / bit-packed hybrid: runs of one repeated value and runs of bit-packed values, mixed. Levels, dictionary indices
 * and (RLE-encoded) booleans are stored this way. The decoder borrows its bytes. Callers that gain from knowing a
 * run as a whole (a bitmap, a fill) take runs; the others take values.
 *
 * See the Parquet format, Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
 */
#ifndef KITH_PARQUET_ENCODING_RLE_H
#define KITH_PARQUET_ENCODING_RLE_H

#include "base/error.h"

#include <stdint.h>

struct rle_decoder {
    const uint8_t *at, *end; /* the next run's header */
    unsigned width;          /* bits of a value */
    size_t run_left;         /* values left of the current run */
    bool packed;
    uint32_t value;      /* of a repeated run */
    const uint8_t *bits; /* of a packed run, */
    size_t bit;          /* with the position of its next value */
};

struct rle_run {
    size_t count;
    bool packed;
    uint32_t value;            /* of a repeated run; may be wider than the decoder's width in a corrupt file */
    const uint8_t *bits, *end; /* packed: bytes that hold the values, */
    size_t bit;                /* and where in them the first is */
};

/* CORRUPT when `width` is above 32. */
kith_error *rle_init(struct rle_decoder *decoder, const uint8_t *bytes, size_t length, unsigned width) _must_check_;

/* 1 to `limit` (above 0) values of one run. CORRUPT at the end of the bytes. */
kith_error *rle_next(struct rle_decoder *decoder, size_t limit, struct rle_run *out) _must_check_;

kith_error *rle_read(struct rle_decoder *decoder, size_t count, uint32_t *out) _must_check_;
kith_error *rle_skip(struct rle_decoder *decoder, size_t count) _must_check_;

/* Values of width 1 as bits, written from bit `offset` of `bits` unless it is NULL; *ones is their sum. CORRUPT when a
 * run repeats another value than 0 or 1. */
kith_error *rle_read_bits(struct rle_decoder *decoder, size_t count, uint8_t *bits, size_t offset,
                          size_t *ones) _must_check_;

#endif
