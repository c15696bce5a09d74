#include "compute/decimal.h"

__int128 decimal_power(int exponent)
{
    static const int64_t powers[] = {
        INT64_C(1),
        INT64_C(10),
        INT64_C(100),
        INT64_C(1000),
        INT64_C(10000),
        INT64_C(100000),
        INT64_C(1000000),
        INT64_C(10000000),
        INT64_C(100000000),
        INT64_C(1000000000),
        INT64_C(10000000000),
        INT64_C(100000000000),
        INT64_C(1000000000000),
        INT64_C(10000000000000),
        INT64_C(100000000000000),
        INT64_C(1000000000000000),
        INT64_C(10000000000000000),
        INT64_C(100000000000000000),
        INT64_C(1000000000000000000),
    };
    ASSERT(exponent >= 0 && exponent <= DECIMAL128_MAX_PRECISION);
    if (exponent <= 18)
        return powers[exponent];
    if (exponent <= 36)
        return (__int128)powers[18] * powers[exponent - 18];
    return (__int128)powers[18] * powers[18] * powers[exponent - 36];
}

__int128 decimal_divide_rounded(__int128 numerator, __int128 denominator)
{
    __int128 quotient = numerator / denominator;
    __int128 remainder = numerator % denominator;
    __int128 rest = remainder < 0 ? -remainder : remainder;
    __int128 size = denominator < 0 ? -denominator : denominator;
    /* rest >= size - rest is 2 * rest >= size without overflow. */
    if (rest >= size - rest)
        quotient += (numerator < 0) == (denominator < 0) ? 1 : -1;
    return quotient;
}

bool decimal_rescale(__int128 value, int from_scale, int to_scale, __int128 *out)
{
    int shift = to_scale - from_scale;
    if (!decimal_fits(value, DECIMAL128_MAX_PRECISION))
        return false;
    if (shift >= 0) {
        if (value == 0 || shift == 0) {
            *out = value;
            return true;
        }
        if (shift > DECIMAL128_MAX_PRECISION || __builtin_mul_overflow(value, decimal_power(shift), out))
            return false;
        return decimal_fits(*out, DECIMAL128_MAX_PRECISION);
    }
    /* 10^39 is out of the table, and less than half of it is lost anyway. */
    *out = -shift > DECIMAL128_MAX_PRECISION ? 0 : decimal_divide_rounded(value, decimal_power(-shift));
    return true;
}

int integer_digits(enum type_id id)
{
    switch ((int)id) {
    case TYPE_INT8:
    case TYPE_UINT8:
        return 3;
    case TYPE_INT16:
    case TYPE_UINT16:
        return 5;
    case TYPE_INT32:
    case TYPE_UINT32:
        return 10;
    case TYPE_INT64:
        return 19;
    default:
        return 20;
    }
}
