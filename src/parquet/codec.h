/*
 * Compression of pages. A declared size is a promise to be checked, never believed: whoever calls allocates the
 * declared size (itself limited), and anything that does not decompress to exactly that many bytes is CORRUPT.
 *
 * However large a page is, the work is charged to the fiber's turn by chunks of at most a millisecond; a cancelled
 * query ends between two of them.
 */
#ifndef KITH_PARQUET_CODEC_H
#define KITH_PARQUET_CODEC_H

#include "base/strbuf.h"
#include "parquet/metadata.h"

/* What is kept from one page to the next, made when first needed. Zero-initialised is ready. Belongs to one fiber. */
struct codec_context {
    void *zstd_in, *zstd_out;
    void *inflate;
};
void codec_context_reset(struct codec_context *context);
/* Drops what takes more than `bytes`: a page of ordinary size leaves nothing such. */
void codec_context_trim(struct codec_context *context, size_t bytes);
DEFINE_VALUE_CLEANUP(codec_context_reset, struct codec_context)

/* "snappy", for errors; "unknown" for a number that the format does not have. */
const char *codec_name(enum parquet_codec codec);

/* CORRUPT when `in_size` bytes cannot possibly hold `out_size`, so that no memory is allocated for a lie. */
kith_error *codec_check_size(enum parquet_codec codec, const uint8_t *in, size_t in_size, size_t out_size) _must_check_;

/* Decompresses to exactly `out_size` bytes. LZO is NOT_IMPLEMENTED. */
kith_error *codec_decompress(struct codec_context *context, enum parquet_codec codec, const uint8_t *in, size_t in_size,
                             uint8_t *out, size_t out_size) _must_check_;

/* Appends the compressed bytes to `out`. For UNCOMPRESSED, SNAPPY and ZSTD (`level` 0 = 3); others are
 * NOT_IMPLEMENTED. */
kith_error *codec_compress(struct codec_context *context, enum parquet_codec codec, int level, const uint8_t *in,
                           size_t in_size, struct strbuf *out) _must_check_;

#endif
