/*
 * The LZ4 codecs of Parquet. LZ4_RAW is one LZ4 block. The older name LZ4 never said what it means, so three things
 * are found under it: Hadoop's framing (blocks, each behind two big-endian sizes), a bare block, and an LZ4 frame.
 *
 * Large blocks are decompressed in chunks that are charged to the fiber's turn; those of at most FRAME_WHOLE_BYTES
 * (columnar/frames.h), as nearly all are, by one call of the library.
 */
#ifndef KITH_PARQUET_CODEC_LZ4_H
#define KITH_PARQUET_CODEC_LZ4_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* One block of exactly `out_size` bytes. */
kith_error *lz4_decompress_raw(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size) _must_check_;

/* Whichever of the three gives exactly `out_size` bytes. */
kith_error *lz4_decompress_any(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size) _must_check_;

/* One block of at most `out_size` bytes, of which *written are there; *valid unless it is malformed. Errors are those
 * of coop_charge. */
kith_error *lz4_decompress_block_in_chunks(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                                           bool *valid, size_t *written) _must_check_;

#endif
