/*
 * Decompression of snappy's raw format. The library's decoder, as Debian builds it, calls memmove for each of the few
 * bytes that an element stands for; this one copies in whole vectors and takes a literal and the copy after it in one
 * step, which makes it a fifth to a third faster on columns of numbers and text. Compression is left to the library.
 *
 * See snappy's format_description.txt.
 */
#ifndef KITH_PARQUET_CODEC_SNAPPY_H
#define KITH_PARQUET_CODEC_SNAPPY_H

#include "base/error.h"

#include <stdint.h>

/* To exactly `out_size` bytes; anything else is CORRUPT. */
kith_error *snappy_decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size) _must_check_;

#endif
