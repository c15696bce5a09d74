#include "compute/arithmetic.h"

#include "columnar/scalar.h"

#define DEFINE_NEGATE(name, type, unsigned_type)                                 \
    KERNEL_VARIANTS static void name(const type *values, type *out, size_t rows) \
    {                                                                            \
        for (size_t row = 0; row < rows; row++)                                  \
            out[row] = (type)(unsigned_type)(0 - (unsigned_type)values[row]);    \
    }

DEFINE_NEGATE(negate_int8, int8_t, uint8_t)
DEFINE_NEGATE(negate_int16, int16_t, uint16_t)
DEFINE_NEGATE(negate_int32, int32_t, uint32_t)
DEFINE_NEGATE(negate_int64, int64_t, uint64_t)
DEFINE_NEGATE(negate_int128, loose_int128, unsigned __int128)

#define DEFINE_NEGATE_FLOAT(name, type)                                          \
    KERNEL_VARIANTS static void name(const type *values, type *out, size_t rows) \
    {                                                                            \
        for (size_t row = 0; row < rows; row++)                                  \
            out[row] = -values[row];                                             \
    }

DEFINE_NEGATE_FLOAT(negate_float32, float)
DEFINE_NEGATE_FLOAT(negate_float64, double)

/* The most negative value, which is its own negation when it wraps. */
static bool is_least(const struct array *array, size_t row)
{
    struct scalar value = scalar_from_array(array, row);
    switch ((int)kernel_physical_type(&array->type)) {
    case TYPE_INT8:
        return value.int64 == INT8_MIN;
    case TYPE_INT16:
        return value.int64 == INT16_MIN;
    case TYPE_INT32:
        return value.int64 == INT32_MIN;
    case TYPE_INT64:
        return value.int64 == INT64_MIN;
    default:
        return false;
    }
}

static kith_error *check_least(const struct array *array, size_t rows, const struct selection *selection)
{
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        char type[128], shown[64];
        struct datum datum = datum_of((struct array *)(uintptr_t)array);
        if (!array_is_null(array, row) && is_least(array, row))
            return error_new(KITH_ERROR_OUT_OF_RANGE, "-(%s) does not fit %s",
                             kernel_show(&datum, row, shown, sizeof shown),
                             type_format(&array->type, type, sizeof type));
    }
    return NULL;
}

kith_error *arithmetic_negate_check(const struct data_type *type)
{
    bool fits = type_is_signed_integer(type->id) || (type_is_float(type->id) && type->id != TYPE_FLOAT16) ||
                type_is_decimal(type->id) || type->id == TYPE_DURATION || type->id == TYPE_INTERVAL_MONTHS;
    char name[128];
    return fits ? NULL
                : error_new(KITH_ERROR_TYPE_MISMATCH, "there is no negative of a %s",
                            type_format(type, name, sizeof name));
}

kith_error *arithmetic_negate(const struct datum *operand, size_t rows, const struct selection *selection,
                              struct array **out)
{
    const struct array *array = operand->array;
    TRY(arithmetic_negate_check(&array->type));
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_result(&array->type, rows, &result));
    TRY(kernel_unite_validity(result, operand, 1));
    const void *values = array_values(array);
    void *negated = result->values->data;
    switch ((int)kernel_physical_type(&array->type)) {
    case TYPE_INT8:
        negate_int8(values, negated, rows);
        break;
    case TYPE_INT16:
        negate_int16(values, negated, rows);
        break;
    case TYPE_INT32:
        negate_int32(values, negated, rows);
        break;
    case TYPE_INT64:
        negate_int64(values, negated, rows);
        break;
    case TYPE_DECIMAL128:
        negate_int128(values, negated, rows);
        break;
    case TYPE_FLOAT32:
        negate_float32(values, negated, rows);
        break;
    default:
        negate_float64(values, negated, rows);
        break;
    }
    if (!type_is_float(array->type.id))
        TRY(check_least(array, rows, selection));
    *out = TAKE(result);
    return NULL;
}
