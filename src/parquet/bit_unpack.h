/*
 * Bit-packed integers as Parquet lays them out: least significant bit first, values one after the other without
 * padding. Both RLE runs and delta miniblocks are made of them. Blocks of 32 values have code of their own for each
 * width; everything else goes through a padded copy, so that no byte at or past `end` is ever touched.
 */
#ifndef KITH_PARQUET_BIT_UNPACK_H
#define KITH_PARQUET_BIT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "Parquet's integers are copied from memory as they are");

static inline uint32_t load_u32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint64_t load_u64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* `count` values of `width` bits (0..32), the first at bit `bit` of `in`. The caller has checked that all of them lie
 * before `end`, up to where bytes may be read; the farther that is, the less has to be copied. */
void bit_unpack32(const uint8_t *in, const uint8_t *end, size_t bit, unsigned width, size_t count, uint32_t *out);

/* The same for widths 0..64. */
void bit_unpack64(const uint8_t *in, const uint8_t *end, size_t bit, unsigned width, size_t count, uint64_t *out);

/* Reads an unsigned LEB128 number at *at and moves past it. False when it is cut short or longer than 64 bits. */
bool varint_read(const uint8_t **at, const uint8_t *end, uint64_t *out);

/* Zigzag: 0, -1, 1, -2, … are numbered 0, 1, 2, 3, …; the result is in two's complement. */
static inline uint64_t zigzag_decode(uint64_t value)
{
    return (value >> 1) ^ (UINT64_C(0) - (value & 1));
}

#endif
