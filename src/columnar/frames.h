/*
 * zstd and LZ4 frames that lie in memory as a whole, compressed and decompressed in chunks: each is charged to the
 * fiber's turn (runtime/coop.h), which is also where a cancelled query ends in the middle of one. What is at most
 * FRAME_WHOLE_BYTES when decompressed is one chunk, by the library's call for whole frames: that is what pages and
 * buffers are, as nearly everybody writes them.
 *
 * A block of an LZ4 frame (4 MiB at most) is not cut, nor is a zstd frame whose window is larger than 128 MiB, for
 * which the library would have to allocate as much again: that runs on a thread of its own (runtime/io.h).
 *
 * Malformed data is told in a frames_result, for the caller to make an error of: errors of the calls themselves are
 * cancellation and memory. Contexts belong to one fiber.
 */
#ifndef KITH_COLUMNAR_FRAMES_H
#define KITH_COLUMNAR_FRAMES_H

#include "base/error.h"

#include <lz4frame.h>
#include <zstd.h>

/* A MiB, which writers aim at, and what they overshoot it by. */
enum { FRAME_WHOLE_BYTES = 5 * 256 * 1024 };

struct frames_result {
    size_t size;         /* bytes decompressed */
    const char *problem; /* NULL = all frames are whole, and nothing is behind them */
};

/* One zstd frame after another until the end of `in`; `out_size` bytes at most. */
kith_error *zstd_frames_decompress(ZSTD_DCtx *context, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                                   struct frames_result *result) _must_check_;

/* One LZ4 frame. */
kith_error *lz4_frame_decompress(LZ4F_dctx *context, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                                 struct frames_result *result) _must_check_;

/* One frame, which says how long its content is. There is room for ZSTD_compressBound(in_size) bytes. */
kith_error *zstd_frame_compress(ZSTD_CCtx *context, int level, const uint8_t *in, size_t in_size, uint8_t *out,
                                size_t *out_size) _must_check_;

/* There is room for lz4_frame_bound(in_size) bytes. */
kith_error *lz4_frame_compress(const uint8_t *in, size_t in_size, uint8_t *out, size_t *out_size) _must_check_;
size_t lz4_frame_bound(size_t in_size);

#endif
