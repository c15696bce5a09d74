/*
 * Making room for NULLs: values that lie side by side are moved, in place and from the last one back, to the places
 * that a bitmap marks. Places of NULLs become zeros. `present` is the number of bits set.
 */
#ifndef KITH_PARQUET_SPREAD_H
#define KITH_PARQUET_SPREAD_H

#include <stddef.h>
#include <stdint.h>

/* `count` places of `width` bytes, the first `present` of which hold the values. */
void spread_fixed(uint8_t *values, size_t width, const uint8_t *bits, size_t count, size_t present);

/* The same for booleans from bit `offset` of `values`. */
void spread_bits(uint8_t *values, size_t offset, const uint8_t *bits, size_t count, size_t present);

/* Offsets of strings: offsets[0] is the beginning of the first, offsets[1..present] are the ends of those there are;
 * then offsets[1..count] are the ends of all, NULLs being empty. */
void spread_ends(int32_t *offsets, const uint8_t *bits, size_t count, size_t present);

#endif
