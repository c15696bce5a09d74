#include "columnar/scalar.h"
#include "compute/cast_parts.h"
#include "compute/decimal.h"

#include <math.h>
#include <stdlib.h>

#define DEFINE_WIDEN(name, from_type, to_type)                                              \
    KERNEL_VARIANTS static void name(const void *from_values, void *to_values, size_t rows) \
    {                                                                                       \
        const from_type *from = from_values;                                                \
        to_type *to = to_values;                                                            \
        for (size_t row = 0; row < rows; row++)                                             \
            to[row] = (to_type)from[row];                                                   \
    }

DEFINE_WIDEN(int8_to_int16, int8_t, int16_t)
DEFINE_WIDEN(int8_to_int32, int8_t, int32_t)
DEFINE_WIDEN(int8_to_int64, int8_t, int64_t)
DEFINE_WIDEN(int16_to_int32, int16_t, int32_t)
DEFINE_WIDEN(int16_to_int64, int16_t, int64_t)
DEFINE_WIDEN(int32_to_int64, int32_t, int64_t)
DEFINE_WIDEN(uint8_to_int64, uint8_t, int64_t)
DEFINE_WIDEN(uint16_to_int64, uint16_t, int64_t)
DEFINE_WIDEN(uint32_to_int64, uint32_t, int64_t)
DEFINE_WIDEN(int32_to_float64, int32_t, double)
DEFINE_WIDEN(int64_to_float64, int64_t, double)
DEFINE_WIDEN(uint32_to_float64, uint32_t, double)
DEFINE_WIDEN(uint64_to_float64, uint64_t, double)
DEFINE_WIDEN(float32_to_float64, float, double)

bool cast_widen(const struct cast *cast)
{
    static const struct {
        enum type_id from, to;
        void (*run)(const void *from_values, void *to_values, size_t rows);
    } pairs[] = {
        {TYPE_INT8, TYPE_INT16, int8_to_int16},         {TYPE_INT8, TYPE_INT32, int8_to_int32},
        {TYPE_INT8, TYPE_INT64, int8_to_int64},         {TYPE_INT16, TYPE_INT32, int16_to_int32},
        {TYPE_INT16, TYPE_INT64, int16_to_int64},       {TYPE_INT32, TYPE_INT64, int32_to_int64},
        {TYPE_UINT8, TYPE_INT64, uint8_to_int64},       {TYPE_UINT16, TYPE_INT64, uint16_to_int64},
        {TYPE_UINT32, TYPE_INT64, uint32_to_int64},     {TYPE_INT32, TYPE_FLOAT64, int32_to_float64},
        {TYPE_INT64, TYPE_FLOAT64, int64_to_float64},   {TYPE_UINT32, TYPE_FLOAT64, uint32_to_float64},
        {TYPE_UINT64, TYPE_FLOAT64, uint64_to_float64}, {TYPE_FLOAT32, TYPE_FLOAT64, float32_to_float64},
    };
    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
        if (pairs[i].from == cast->from->type.id && pairs[i].to == cast->to->id) {
            pairs[i].run(array_values(cast->from), cast->result->values->data, cast->rows);
            return true;
        }
    }
    return false;
}

/* A number of any type: a scaled integer or a float. */
struct number {
    bool is_float;
    double real;
    __int128 unscaled;
    int scale;
};

static struct number number_at(const struct array *array, size_t row)
{
    struct scalar value = scalar_from_array(array, row);
    switch ((int)array->type.id) {
    case TYPE_BOOL:
        return (struct number){.unscaled = value.boolean};
    case TYPE_FLOAT16:
        return (struct number){.is_float = true, .real = float16_to_double((uint16_t)value.uint64)};
    case TYPE_FLOAT32:
        return (struct number){.is_float = true, .real = (double)value.float32};
    case TYPE_FLOAT64:
        return (struct number){.is_float = true, .real = value.float64};
    case TYPE_DECIMAL64:
        return (struct number){.unscaled = value.int64, .scale = array->type.scale};
    case TYPE_DECIMAL128:
        return (struct number){.unscaled = value.decimal, .scale = array->type.scale};
    case TYPE_UINT8:
    case TYPE_UINT16:
    case TYPE_UINT32:
    case TYPE_UINT64:
        return (struct number){.unscaled = value.uint64};
    default:
        return (struct number){.unscaled = value.int64};
    }
}

/* Powers of ten up to 10^22 are exact, so one rounding happens where the unscaled value is exact as well. */
static double to_double(const struct number *number)
{
    if (number->is_float)
        return number->real;
    if (number->scale == 0)
        return (double)number->unscaled;
    double power = (double)decimal_power(abs(number->scale));
    return number->scale > 0 ? (double)number->unscaled / power : (double)number->unscaled * power;
}

static enum parse_result store_integer(const struct cast *cast, size_t row, const struct number *number)
{
    __int128 value;
    if (number->is_float) {
        double rounded = nearbyint(number->real);
        if (!(rounded > -0x1p64 && rounded < 0x1p64))
            return PARSE_OUT_OF_RANGE;
        value = (__int128)rounded;
    } else if (!decimal_rescale(number->unscaled, number->scale, 0, &value)) {
        return PARSE_OUT_OF_RANGE;
    }
    return kernel_store_integer(cast->result, row, value) ? PARSE_OK : PARSE_OUT_OF_RANGE;
}

static enum parse_result store_decimal(const struct cast *cast, size_t row, const struct number *number)
{
    __int128 value;
    if (number->is_float) {
        double power = (double)decimal_power(abs(cast->to->scale));
        double scaled = round(cast->to->scale >= 0 ? number->real * power : number->real / power);
        if (!(scaled > -1e38 && scaled < 1e38))
            return PARSE_OUT_OF_RANGE;
        value = (__int128)scaled;
    } else if (!decimal_rescale(number->unscaled, number->scale, cast->to->scale, &value)) {
        return PARSE_OUT_OF_RANGE;
    }
    if (!decimal_fits(value, cast->to->precision))
        return PARSE_OUT_OF_RANGE;
    decimal_store(cast->result, row, value);
    return PARSE_OK;
}

enum parse_result cast_number(const struct cast *cast, size_t row)
{
    struct number number = number_at(cast->from, row);
    struct array *result = cast->result;
    switch ((int)cast->to->id) {
    case TYPE_BOOL:
        bitmap_assign(result->values->data, row, number.is_float ? number.real != 0 : number.unscaled != 0);
        return PARSE_OK;
    case TYPE_FLOAT32: {
        double value = to_double(&number);
        float narrow = (float)value;
        ((float *)(void *)result->values->data)[row] = narrow;
        return isinf(narrow) && !isinf(value) ? PARSE_OUT_OF_RANGE : PARSE_OK;
    }
    case TYPE_FLOAT64:
        ((double *)(void *)result->values->data)[row] = to_double(&number);
        return PARSE_OK;
    case TYPE_DECIMAL64:
    case TYPE_DECIMAL128:
        return store_decimal(cast, row, &number);
    default:
        return store_integer(cast, row, &number);
    }
}
