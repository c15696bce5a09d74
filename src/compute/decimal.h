/*
 * Numbers of the decimal types as 128-bit integers times a power of ten: rescaling, division, checks. Up to 38 digits;
 * what has more is refused by every function here, so that results always fit DECIMAL128.
 */
#ifndef KITH_COMPUTE_DECIMAL_H
#define KITH_COMPUTE_DECIMAL_H

#include "compute/kernel.h"

/* 10^exponent for 0..38. */
__int128 decimal_power(int exponent);

/* Digits of the longest value of an integer type. */
int integer_digits(enum type_id id);

/* Whether |value| has at most `precision` digits (0..38). */
static inline bool decimal_fits(__int128 value, int precision)
{
    __int128 limit = decimal_power(precision);
    return value < limit && value > -limit;
}

/* numerator / denominator rounded half away from zero; denominator is not 0 and neither is INT128_MIN. */
__int128 decimal_divide_rounded(__int128 numerator, __int128 denominator);

/* The same number with another scale: rounded half away from zero when digits are lost; false when it has more than 38
 * digits then. */
bool decimal_rescale(__int128 value, int from_scale, int to_scale, __int128 *out);

/* Element `row` of an array of DECIMAL64 or DECIMAL128. */
static inline __int128 decimal_load(const struct array *array, size_t row)
{
    if (array->type.id == TYPE_DECIMAL64)
        return ((const int64_t *)array_values(array))[row];
    return ((const loose_int128 *)array_values(array))[row];
}

/* Into an array of offset 0. A value that was checked against the type's precision fits. */
static inline void decimal_store(struct array *array, size_t row, __int128 value)
{
    if (array->type.id == TYPE_DECIMAL64)
        ((int64_t *)(void *)array->values->data)[row] = (int64_t)value;
    else
        ((loose_int128 *)(void *)array->values->data)[row] = value;
}

#endif
