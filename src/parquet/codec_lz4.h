/*
 * The LZ4 codecs of Parquet. LZ4_RAW is one LZ4 block. The older name LZ4 never said what it means, so three things
 * are found under it: Hadoop's framing (blocks, each behind two big-endian sizes), a bare block, and an LZ4 frame.
 */
#ifndef KITH_PARQUET_CODEC_LZ4_H
#define KITH_PARQUET_CODEC_LZ4_H

#include "base/error.h"

#include <stdint.h>

/* One block of exactly `out_size` bytes. */
kith_error *lz4_decompress_raw(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size) _must_check_;

/* Whichever of the three gives exactly `out_size` bytes. */
kith_error *lz4_decompress_any(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size) _must_check_;

#endif
