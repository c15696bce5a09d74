#include "compute/widen.h"

#include "compute/cast.h"
#include "compute/decimal.h"

static bool widen_integers(const struct data_type *a, const struct data_type *b, struct data_type *out)
{
    static const enum type_id signed_of_bytes[] = {
        [1] = TYPE_INT8, [2] = TYPE_INT16, [4] = TYPE_INT32, [8] = TYPE_INT64};
    bool a_signed = type_is_signed_integer(a->id), b_signed = type_is_signed_integer(b->id);
    if (a_signed == b_signed) {
        *out = type_width(a) >= type_width(b) ? *a : *b;
        return true;
    }
    const struct data_type *with_sign = a_signed ? a : b, *without = a_signed ? b : a;
    size_t needed = MAX(type_width(with_sign), 2 * type_width(without));
    if (needed > 8)
        return false;
    *out = type_of(signed_of_bytes[needed]);
    return true;
}

/* A float's significand has 24 or 53 bits. */
static bool widen_float(const struct data_type *number, const struct data_type *other, struct data_type *out)
{
    if (type_is_float(other->id)) {
        *out = type_width(number) >= type_width(other) ? *number : *other;
        return true;
    }
    if (!type_is_integer(other->id) || type_width(other) > 4)
        return false;
    *out = type_of(type_width(other) <= 2 && number->id != TYPE_FLOAT64 ? TYPE_FLOAT32 : TYPE_FLOAT64);
    return true;
}

static bool widen_decimal(const struct data_type *decimal, const struct data_type *other, struct data_type *out)
{
    if (!type_is_decimal(other->id) && !type_is_integer(other->id))
        return false;
    bool other_has_scale = type_is_decimal(other->id);
    int other_scale = other_has_scale ? other->scale : 0;
    int other_whole = other_has_scale ? other->precision - other->scale : integer_digits(other->id);
    int scale = MAX((int)decimal->scale, other_scale);
    int precision = scale + MAX(decimal->precision - decimal->scale, other_whole);
    if (precision > DECIMAL128_MAX_PRECISION)
        return false;
    *out = type_decimal((uint8_t)precision, (int8_t)scale);
    return true;
}

bool type_widen(const struct data_type *a, const struct data_type *b, struct data_type *out)
{
    if (type_equal(a, b) || b->id == TYPE_NULL) {
        *out = *a;
        return true;
    }
    if (a->id == TYPE_NULL) {
        *out = *b;
        return true;
    }
    if (type_is_dictionary(a) || type_is_dictionary(b))
        return false;
    if (type_is_integer(a->id) && type_is_integer(b->id))
        return widen_integers(a, b, out);
    if (type_is_float(a->id) || type_is_float(b->id))
        return type_is_float(a->id) ? widen_float(a, b, out) : widen_float(b, a, out);
    if (type_is_decimal(a->id) || type_is_decimal(b->id))
        return type_is_decimal(a->id) ? widen_decimal(a, b, out) : widen_decimal(b, a, out);
    return false;
}

bool type_holds(const struct data_type *wide, const struct data_type *narrow)
{
    struct data_type both;
    return type_widen(wide, narrow, &both) && type_equal(&both, wide);
}

/* Of an integer or a decimal. */
static __int128 whole_value(const struct scalar *scalar)
{
    if (scalar->type.id == TYPE_DECIMAL128)
        return scalar->decimal;
    bool has_sign = type_is_signed_integer(scalar->type.id) || scalar->type.id == TYPE_DECIMAL64;
    return has_sign ? (__int128)scalar->int64 : (__int128)scalar->uint64;
}

static double float_value(const struct scalar *scalar)
{
    if (scalar->type.id == TYPE_FLOAT16)
        return float16_to_double((uint16_t)scalar->uint64);
    if (scalar->type.id == TYPE_FLOAT32)
        return (double)scalar->float32;
    return scalar->type.id == TYPE_FLOAT64 ? scalar->float64 : (double)whole_value(scalar);
}

static bool widen_to_decimal(const struct scalar *scalar, struct scalar *out)
{
    int scale = type_is_decimal(scalar->type.id) ? scalar->type.scale : 0;
    __int128 value;
    if (!decimal_rescale(whole_value(scalar), scale, out->type.scale, &value) ||
        !decimal_fits(value, out->type.precision))
        return false;
    if (out->type.id == TYPE_DECIMAL128)
        out->decimal = value;
    else
        out->int64 = (int64_t)value;
    return true;
}

bool scalar_widen(const struct scalar *scalar, const struct data_type *to, struct scalar *out)
{
    *out = *scalar;
    out->type = *to;
    if (scalar->is_null || type_equal(&scalar->type, to))
        return true;
    if (type_is_decimal(to->id))
        return widen_to_decimal(scalar, out);
    if (to->id == TYPE_FLOAT64)
        out->float64 = float_value(scalar);
    else if (to->id == TYPE_FLOAT32)
        out->float32 = (float)float_value(scalar);
    else if (type_is_signed_integer(to->id))
        out->int64 = (int64_t)whole_value(scalar);
    else
        out->uint64 = (uint64_t)whole_value(scalar);
    return true;
}

kith_error *array_widen(struct array *array, const struct data_type *to, struct array **out)
{
    const struct datum operand = datum_of(array);
    return cast_run(&operand, to, false, array->length, NULL, out);
}
