/*
 * How one value of each fixed-width type becomes an unsigned number that orders the same way; written big-endian it is
 * the value's part of a sort key (sort_key.h). Private to the two files that write keys: of columns, and of scalars.
 */
#ifndef KITH_COLUMNAR_SORT_KEY_VALUE_H
#define KITH_COLUMNAR_SORT_KEY_VALUE_H

#include <stdint.h>
#include <string.h>

/* A column's first byte in each key. */
enum { KEY_NULL_FIRST = 0, KEY_VALID = 1, KEY_NULL_LAST = 2 };

static inline uint8_t key_of_int8(int8_t value)
{
    return (uint8_t)((uint8_t)value ^ 0x80);
}

static inline uint16_t key_of_int16(int16_t value)
{
    return (uint16_t)((uint16_t)value ^ 0x8000);
}

static inline uint32_t key_of_int32(int32_t value)
{
    return (uint32_t)value ^ UINT32_C(0x80000000);
}

static inline uint64_t key_of_int64(int64_t value)
{
    return (uint64_t)value ^ UINT64_C(0x8000000000000000);
}

static inline uint8_t key_of_uint8(uint8_t value)
{
    return value;
}

static inline uint16_t key_of_uint16(uint16_t value)
{
    return value;
}

static inline uint32_t key_of_uint32(uint32_t value)
{
    return value;
}

static inline uint64_t key_of_uint64(uint64_t value)
{
    return value;
}

/* Floats: both zeros become +0, every NaN the quiet positive one; then negative numbers are complemented and positive
 * ones get the sign bit, so that the bits order as the numbers do. */
static inline uint16_t key_of_float16(uint16_t bits)
{
    if ((bits & 0x7fff) > 0x7c00)
        bits = 0x7e00;
    else if (bits == 0x8000)
        bits = 0;
    return (uint16_t)(bits & 0x8000 ? ~bits : bits | 0x8000);
}

static inline uint32_t key_of_float32(float value)
{
    value = value != value ? __builtin_nanf("") : value + 0.0F;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ ((uint32_t)((int32_t)bits >> 31) | UINT32_C(0x80000000));
}

static inline uint64_t key_of_float64(double value)
{
    value = value != value ? __builtin_nan("") : value + 0.0;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ ((uint64_t)((int64_t)bits >> 63) | UINT64_C(0x8000000000000000));
}

static inline void key_store8(uint8_t *out, uint8_t key)
{
    *out = key;
}

static inline void key_store16(uint8_t *out, uint16_t key)
{
    key = __builtin_bswap16(key);
    memcpy(out, &key, sizeof key);
}

static inline void key_store32(uint8_t *out, uint32_t key)
{
    key = __builtin_bswap32(key);
    memcpy(out, &key, sizeof key);
}

static inline void key_store64(uint8_t *out, uint64_t key)
{
    key = __builtin_bswap64(key);
    memcpy(out, &key, sizeof key);
}

#endif
