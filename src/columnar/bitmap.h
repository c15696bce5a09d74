/*
 * Bits, least significant first, as Arrow packs validity and booleans.
 */
#ifndef KITH_COLUMNAR_BITMAP_H
#define KITH_COLUMNAR_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool bitmap_get(const uint8_t *bits, size_t i)
{
    return (bits[i >> 3] >> (i & 7)) & 1;
}

static inline void bitmap_set(uint8_t *bits, size_t i)
{
    bits[i >> 3] = (uint8_t)(bits[i >> 3] | (1u << (i & 7)));
}

static inline void bitmap_clear(uint8_t *bits, size_t i)
{
    bits[i >> 3] = (uint8_t)(bits[i >> 3] & ~(1u << (i & 7)));
}

static inline void bitmap_assign(uint8_t *bits, size_t i, bool value)
{
    uint8_t mask = (uint8_t)(1u << (i & 7));
    bits[i >> 3] = (uint8_t)((bits[i >> 3] & ~mask) | (value ? mask : 0));
}

static inline size_t bitmap_bytes(size_t bits)
{
    return bits / 8 + (bits % 8 != 0);
}

/* Ones among `length` bits from `offset`. */
size_t bitmap_count(const uint8_t *bits, size_t offset, size_t length);

/* Copies `length` bits between any two bit positions; other bits of `out` stay. */
void bitmap_copy(uint8_t *out, size_t out_offset, const uint8_t *bits, size_t offset, size_t length);

/* Keeps those of `length` bits of `out` that are also set in `bits`. */
void bitmap_and(uint8_t *out, size_t out_offset, const uint8_t *bits, size_t offset, size_t length);

/* Sets `length` bits from `offset` to `value`. */
void bitmap_fill(uint8_t *bits, size_t offset, size_t length, bool value);

#endif
