#include "columnar/scalar.h"
#include "compute/cast.h"
#include "compute/decimal.h"
#include "expr/functions_table.h"

#include <math.h>

static kith_error *require_numbers(const struct data_type *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!type_is_numeric(arguments[i].id) || arguments[i].id == TYPE_FLOAT16)
            return function_type_error(arguments, count);
    return NULL;
}

kith_error *function_resolve_abs(const struct data_type *arguments, const struct scalar *const *constants, size_t count,
                                 struct data_type *out)
{
    TRY(require_numbers(arguments, count));
    *out = arguments[0];
    return NULL;
}

/* Functions that are computed in floating point: Float32 stays, every other number becomes Float64. */
kith_error *function_resolve_float(const struct data_type *arguments, const struct scalar *const *constants,
                                   size_t count, struct data_type *out)
{
    TRY(require_numbers(arguments, count));
    bool all_narrow = true;
    for (size_t i = 0; i < count; i++)
        all_narrow &= arguments[i].id == TYPE_FLOAT32;
    *out = type_of(all_narrow ? TYPE_FLOAT32 : TYPE_FLOAT64);
    return NULL;
}

/* ceil and floor: floats and integers keep their type, decimals lose their fraction. One digit more, for 9.5. */
kith_error *function_resolve_whole(const struct data_type *arguments, const struct scalar *const *constants,
                                   size_t count, struct data_type *out)
{
    TRY(require_numbers(arguments, count));
    *out = arguments[0];
    if (type_is_decimal(out->id) && out->scale > 0)
        *out = type_decimal((uint8_t)MAX(1, MIN(out->precision - out->scale + 1, (int)DECIMAL128_MAX_PRECISION)), 0);
    return NULL;
}

/* round(x, digits): a decimal has as many digits after the point as are asked for by a constant. */
kith_error *function_resolve_round(const struct data_type *arguments, const struct scalar *const *constants,
                                   size_t count, struct data_type *out)
{
    TRY(require_numbers(arguments, 1));
    if (count == 2 && !type_is_integer(arguments[1].id))
        return function_type_error(arguments, count);
    *out = arguments[0];
    if (!type_is_decimal(out->id) || out->scale <= 0)
        return NULL;
    int scale = count == 1 ? 0 : out->scale;
    if (count == 2 && constants != NULL && constants[1] != NULL && !constants[1]->is_null)
        scale = (int)MAX((int64_t)0, MIN(constants[1]->int64, (int64_t)out->scale));
    int precision = MIN(out->precision - out->scale + scale + 1, (int)DECIMAL128_MAX_PRECISION);
    *out = type_decimal((uint8_t)MAX(1, precision), (int8_t)scale);
    return NULL;
}

/* x as Float64, whatever its type. */
static kith_error *as_doubles(const struct datum *operand, size_t rows, const struct selection *selection,
                              struct datum *out)
{
    const struct data_type real = type_of(TYPE_FLOAT64);
    struct datum column = datum_of(operand->array);
    out->constant = operand->constant;
    return cast_run(&column, &real, false, operand->constant ? 1 : rows, operand->constant ? NULL : selection,
                    &out->array);
}

static double real_at(const struct datum *datum, size_t row)
{
    return ((const double *)array_values(datum->array))[datum_row(datum, row)];
}

static void store_real(struct array *result, size_t row, double value)
{
    if (result->type.id == TYPE_FLOAT32)
        ((float *)(void *)result->values->data)[row] = (float)value;
    else
        ((double *)(void *)result->values->data)[row] = value;
}

/* A value that a function has no real number for is an error (PostgreSQL, DataFusion), unless it was NaN before. */
static kith_error *not_real(const char *name, const struct datum *operand, size_t row)
{
    char shown[64];
    return error_new(KITH_ERROR_OUT_OF_RANGE, "%s(%s) is no real number", name,
                     kernel_show(operand, row, shown, sizeof shown));
}

static kith_error *run_real(const char *name, double (*function)(double), const struct datum *arguments, size_t rows,
                            const struct selection *selection, const struct data_type *type, struct array **out)
{
    _cleanup_(datum_reset) struct datum values = {0};
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(as_doubles(&arguments[0], rows, selection, &values));
    TRY(kernel_new_zeroed_result(type, rows, &result));
    TRY(kernel_unite_validity(result, &values, 1));
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        if (array_is_null(result, row))
            continue;
        double argument = real_at(&values, row), value = function(argument);
        if (isnan(value) && !isnan(argument))
            return not_real(name, &arguments[0], row);
        store_real(result, row, value);
    }
    *out = TAKE(result);
    return NULL;
}

static double sign_of(double x)
{
    return x != x ? x : (double)((x > 0) - (x < 0));
}

#define DEFINE_REAL_FUNCTION(name, shown, function)                                                               \
    kith_error *name(const struct datum *arguments, size_t count, size_t rows, const struct selection *selection, \
                     const struct data_type *type, struct array **out)                                            \
    {                                                                                                             \
        return run_real(shown, function, arguments, rows, selection, type, out);                                  \
    }

DEFINE_REAL_FUNCTION(function_run_sqrt, "sqrt", sqrt)
DEFINE_REAL_FUNCTION(function_run_exp, "exp", exp)
DEFINE_REAL_FUNCTION(function_run_ln, "ln", log)
DEFINE_REAL_FUNCTION(function_run_log10, "log10", log10)
DEFINE_REAL_FUNCTION(function_run_signum, "signum", sign_of)

kith_error *function_run_power(const struct datum *arguments, size_t count, size_t rows,
                               const struct selection *selection, const struct data_type *type, struct array **out)
{
    _cleanup_(datum_reset) struct datum base = {0}, exponent = {0};
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(as_doubles(&arguments[0], rows, selection, &base));
    TRY(as_doubles(&arguments[1], rows, selection, &exponent));
    TRY(kernel_new_zeroed_result(type, rows, &result));
    TRY(kernel_unite_validity(result, (struct datum[]){base, exponent}, 2));
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        if (array_is_null(result, row))
            continue;
        double x = real_at(&base, row), y = real_at(&exponent, row), value = pow(x, y);
        if (isnan(value) && !isnan(x) && !isnan(y))
            return not_real("power", &arguments[0], row);
        store_real(result, row, value);
    }
    *out = TAKE(result);
    return NULL;
}

static __int128 absolute(__int128 value)
{
    return value < 0 ? -value : value;
}

/* Stores |value|; false when it does not fit, which only the most negative integer does. */
static bool store_absolute(struct array *result, size_t row, const struct scalar *value)
{
    switch ((int)result->type.id) {
    case TYPE_FLOAT32:
        store_real(result, row, fabs((double)value->float32));
        return true;
    case TYPE_FLOAT64:
        store_real(result, row, fabs(value->float64));
        return true;
    case TYPE_DECIMAL64:
        decimal_store(result, row, absolute(value->int64));
        return true;
    case TYPE_DECIMAL128:
        if (!decimal_fits(value->decimal, DECIMAL128_MAX_PRECISION))
            return false;
        decimal_store(result, row, absolute(value->decimal));
        return true;
    default:
        return kernel_store_integer(
            result, row, type_is_signed_integer(result->type.id) ? absolute(value->int64) : (__int128)value->uint64);
    }
}

kith_error *function_run_abs(const struct datum *arguments, size_t count, size_t rows,
                             const struct selection *selection, const struct data_type *type, struct array **out)
{
    const struct array *from = arguments[0].array;
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_zeroed_result(type, rows, &result));
    TRY(kernel_unite_validity(result, arguments, 1));
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        if (array_is_null(result, row))
            continue;
        struct scalar value = scalar_from_array(from, row);
        char shown[64], name[128];
        if (!store_absolute(result, row, &value))
            return error_new(KITH_ERROR_OUT_OF_RANGE, "abs(%s) does not fit %s",
                             kernel_show(&arguments[0], row, shown, sizeof shown),
                             type_format(type, name, sizeof name));
    }
    *out = TAKE(result);
    return NULL;
}

enum rounding { ROUND_DOWN, ROUND_UP, ROUND_NEAREST };

static __int128 divide_by_rounding(__int128 value, __int128 divisor, enum rounding rounding)
{
    if (rounding == ROUND_NEAREST)
        return decimal_divide_rounded(value, divisor);
    __int128 quotient = value / divisor, rest = value % divisor;
    if (rounding == ROUND_UP)
        return quotient + (rest > 0);
    return quotient - (rest < 0);
}

/* A scaled integer rounded to `digits` after the point (before it when negative), at the result's scale. */
static bool round_scaled(__int128 value, int scale, int64_t digits, enum rounding rounding, int result_scale,
                         __int128 *out)
{
    int64_t dropped = scale - digits;
    if (dropped > DECIMAL128_MAX_PRECISION) {
        *out = 0;
        return true;
    }
    if (dropped <= 0)
        return decimal_rescale(value, scale, result_scale, out);
    __int128 rounded = divide_by_rounding(value, decimal_power((int)dropped), rounding);
    return decimal_rescale(rounded, (int)digits, result_scale, out);
}

static double round_real(double value, int64_t digits, enum rounding rounding)
{
    if (rounding != ROUND_NEAREST)
        return rounding == ROUND_UP ? ceil(value) : floor(value);
    if (digits == 0)
        return round(value);
    if (digits > 300 || digits < -300)
        return digits > 0 ? value : 0;
    double power = pow(10, (double)(digits > 0 ? digits : -digits));
    double scaled = digits > 0 ? value * power : value / power;
    /* A number so large has no digits there. */
    if (!isfinite(scaled))
        return value;
    return digits > 0 ? round(scaled) / power : round(scaled) * power;
}

static bool round_row(const struct datum *operand, size_t row, int64_t digits, enum rounding rounding,
                      struct array *result)
{
    const struct data_type *type = &operand->array->type;
    struct scalar value = scalar_from_array(operand->array, datum_row(operand, row));
    if (type_is_float(type->id)) {
        double real = type->id == TYPE_FLOAT32 ? (double)value.float32 : value.float64;
        store_real(result, row, round_real(real, digits, rounding));
        return true;
    }
    bool is_unsigned = type_is_integer(type->id) && !type_is_signed_integer(type->id);
    __int128 number = is_unsigned ? (__int128)value.uint64 : (__int128)value.int64;
    if (type->id == TYPE_DECIMAL128)
        number = value.decimal;
    int scale = type_is_decimal(type->id) ? type->scale : 0;
    int result_scale = type_is_decimal(type->id) ? result->type.scale : 0;
    if (!round_scaled(number, scale, digits, rounding, result_scale, &number))
        return false;
    if (!type_is_decimal(type->id))
        return kernel_store_integer(result, row, number);
    if (!decimal_fits(number, result->type.precision))
        return false;
    decimal_store(result, row, number);
    return true;
}

static kith_error *run_rounding(enum rounding rounding, const struct datum *arguments, size_t count, size_t rows,
                                const struct selection *selection, const struct data_type *type, struct array **out)
{
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_zeroed_result(type, rows, &result));
    TRY(kernel_unite_validity(result, arguments, count));
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        char shown[64], name[128];
        if (array_is_null(result, row))
            continue;
        int64_t digits = 0;
        if (count == 2)
            digits = scalar_from_array(arguments[1].array, datum_row(&arguments[1], row)).int64;
        if (!round_row(&arguments[0], row, digits, rounding, result))
            return error_new(KITH_ERROR_OUT_OF_RANGE, "%s rounded to %lld digits does not fit %s",
                             kernel_show(&arguments[0], row, shown, sizeof shown), (long long)digits,
                             type_format(type, name, sizeof name));
    }
    *out = TAKE(result);
    return NULL;
}

kith_error *function_run_ceil(const struct datum *arguments, size_t count, size_t rows,
                              const struct selection *selection, const struct data_type *type, struct array **out)
{
    return run_rounding(ROUND_UP, arguments, count, rows, selection, type, out);
}

kith_error *function_run_floor(const struct datum *arguments, size_t count, size_t rows,
                               const struct selection *selection, const struct data_type *type, struct array **out)
{
    return run_rounding(ROUND_DOWN, arguments, count, rows, selection, type, out);
}

/* Half away from zero (DataFusion, DuckDB; PostgreSQL rounds floats half to even). */
kith_error *function_run_round(const struct datum *arguments, size_t count, size_t rows,
                               const struct selection *selection, const struct data_type *type, struct array **out)
{
    return run_rounding(ROUND_NEAREST, arguments, count, rows, selection, type, out);
}
