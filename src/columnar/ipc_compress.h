/*
 * Compression of IPC body buffers, one by one: int64 length of the original (little-endian), then one LZ4 frame or zstd
 * frame; a length of -1 means that the bytes follow as they are. A buffer that does not shrink is sent so. For
 * the IPC files only.
 *
 * A compressor and a decompressor are reused for all buffers of a stream and belong to one fiber.
 */
#ifndef KITH_COLUMNAR_IPC_COMPRESS_H
#define KITH_COLUMNAR_IPC_COMPRESS_H

#include "columnar/buffer.h"
#include "columnar/ipc.h"

enum { IPC_COMPRESS_PREFIX_BYTES = 8, IPC_NOT_COMPRESSED = -1 };

struct ipc_compressor;
kith_error *ipc_compressor_new(enum ipc_compression compression, struct ipc_compressor **out) _must_check_;
void ipc_compressor_free(struct ipc_compressor *compressor);
DEFINE_CLEANUP(ipc_compressor_free, struct ipc_compressor)

/* Room that ipc_compress needs for a buffer of `size` bytes, prefix included. */
size_t ipc_compress_bound(const struct ipc_compressor *compressor, size_t size);
/* Writes prefix and frame (or the bytes themselves) to `out`, which has that room. */
kith_error *ipc_compress(struct ipc_compressor *compressor, const uint8_t *data, size_t size, uint8_t *out,
                         size_t *out_size) _must_check_;

struct ipc_decompressor;
kith_error *ipc_decompressor_new(struct ipc_decompressor **out) _must_check_;
void ipc_decompressor_free(struct ipc_decompressor *decompressor);
DEFINE_CLEANUP(ipc_decompressor_free, struct ipc_decompressor)

/* Expands the `frame` of `length` bytes to exactly `size` bytes of a new buffer; CORRUPT when it has another size. */
kith_error *ipc_decompress(struct ipc_decompressor *decompressor, enum ipc_compression compression,
                           const uint8_t *frame, size_t length, size_t size, struct buffer **out) _must_check_;

#endif
