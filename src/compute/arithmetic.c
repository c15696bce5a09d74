#include "compute/arithmetic.h"

#include "compute/arithmetic_parts.h"
#include "compute/decimal.h"

const char *arithmetic_operator_symbol(enum arithmetic_operator operation)
{
    static const char *const symbols[] = {"+", "-", "*", "/", "%"};
    return symbols[operation];
}

static bool is_date(enum type_id id)
{
    return id == TYPE_DATE32 || id == TYPE_DATE64;
}

static bool is_interval(enum type_id id)
{
    return id == TYPE_INTERVAL_MONTHS || id == TYPE_INTERVAL_DAY_TIME || id == TYPE_INTERVAL_MONTH_DAY_NANO;
}

/* The result of temporal operands; false when there is none. */
static bool temporal_result_type(enum arithmetic_operator operation, const struct data_type *left,
                                 const struct data_type *right, struct data_type *out)
{
    bool adds = operation == ARITHMETIC_ADD, subtracts = operation == ARITHMETIC_SUBTRACT;
    if (!adds && !subtracts)
        return false;
    bool point = is_date(left->id) || left->id == TYPE_TIMESTAMP;
    bool same_unit = left->unit == right->unit;
    if (point && is_interval(right->id))
        *out = *left;
    else if (is_date(left->id) && type_is_integer(right->id))
        *out = *left;
    else if (left->id == TYPE_TIMESTAMP && right->id == TYPE_DURATION && same_unit)
        *out = *left;
    else if (subtracts && is_date(left->id) && left->id == right->id)
        *out = type_of(TYPE_INT64);
    else if (subtracts && left->id == TYPE_TIMESTAMP && right->id == TYPE_TIMESTAMP && same_unit)
        *out = (struct data_type){.id = TYPE_DURATION, .unit = left->unit};
    else if (left->id == TYPE_DURATION && right->id == TYPE_DURATION && same_unit)
        *out = *left;
    else if (adds && (is_date(right->id) || right->id == TYPE_TIMESTAMP) && !point)
        return temporal_result_type(operation, right, left, out);
    else
        return false;
    return true;
}

static bool decimal_result_type(enum arithmetic_operator operation, const struct data_type *left,
                                const struct data_type *right, struct data_type *out)
{
    int p1 = left->precision, s1 = left->scale, p2 = right->precision, s2 = right->scale;
    int precision = 0, scale = 0;
    switch (operation) {
    case ARITHMETIC_ADD:
    case ARITHMETIC_SUBTRACT:
        scale = MAX(s1, s2);
        precision = MAX(p1 - s1, p2 - s2) + scale + 1;
        break;
    case ARITHMETIC_MULTIPLY:
        scale = s1 + s2;
        precision = p1 + p2 + 1;
        break;
    case ARITHMETIC_DIVIDE:
        scale = MIN(s1 + 4, (int)DECIMAL128_MAX_PRECISION);
        precision = p1 - s1 + s2 + scale;
        break;
    case ARITHMETIC_MODULO:
        scale = MAX(s1, s2);
        precision = MIN(p1 - s1, p2 - s2) + scale;
        break;
    }
    if (scale > DECIMAL128_MAX_PRECISION || scale < -DECIMAL128_MAX_PRECISION)
        return false;
    precision = MAX(1, MIN(precision, (int)DECIMAL128_MAX_PRECISION));
    *out = type_decimal((uint8_t)precision, (int8_t)scale);
    return true;
}

kith_error *arithmetic_result_type(enum arithmetic_operator operation, const struct data_type *left,
                                   const struct data_type *right, struct data_type *out)
{
    bool found = false;
    if (type_is_decimal(left->id) && type_is_decimal(right->id)) {
        found = decimal_result_type(operation, left, right, out);
    } else if (type_is_numeric(left->id) && left->id == right->id && left->id != TYPE_FLOAT16) {
        *out = *left;
        found = true;
    } else {
        found = temporal_result_type(operation, left, right, out);
    }
    if (found)
        return NULL;
    char left_name[128], right_name[128];
    return error_new(KITH_ERROR_TYPE_MISMATCH, "there is no %s %s %s", type_format(left, left_name, sizeof left_name),
                     arithmetic_operator_symbol(operation), type_format(right, right_name, sizeof right_name));
}

kith_error *arithmetic_out_of_range(const struct arithmetic *arithmetic, size_t row)
{
    char left[64], right[64], type[128];
    return error_new(
        KITH_ERROR_OUT_OF_RANGE, "%s %s %s does not fit %s", kernel_show(arithmetic->left, row, left, sizeof left),
        arithmetic_operator_symbol(arithmetic->operation), kernel_show(arithmetic->right, row, right, sizeof right),
        type_format(&arithmetic->result->type, type, sizeof type));
}

kith_error *arithmetic_division_by_zero(const struct arithmetic *arithmetic, size_t row)
{
    char left[64];
    return error_new(KITH_ERROR_DIVISION_BY_ZERO, "division by zero: %s %s 0",
                     kernel_show(arithmetic->left, row, left, sizeof left),
                     arithmetic_operator_symbol(arithmetic->operation));
}

kith_error *arithmetic_run(enum arithmetic_operator operation, const struct datum *left, const struct datum *right,
                           size_t rows, const struct selection *selection, struct array **out)
{
    struct data_type type;
    TRY(arithmetic_result_type(operation, &left->array->type, &right->array->type, &type));
    if (datum_is_null_constant(left) || datum_is_null_constant(right))
        return kernel_all_null(&type, rows, out);
    _cleanup_(array_unref) struct array *result = NULL;
    enum type_id left_id = left->array->type.id, right_id = right->array->type.id;
    if (type_is_float(left_id) || (type_is_integer(left_id) && selection_is_dense(selection, rows)))
        TRY(kernel_new_result(&type, rows, &result));
    else
        TRY(kernel_new_zeroed_result(&type, rows, &result));
    TRY(kernel_unite_validity(result, (struct datum[]){*left, *right}, 2));
    struct arithmetic arithmetic = {operation, left, right, rows, selection, result};
    if (type_is_decimal(left_id))
        TRY(arithmetic_decimal(&arithmetic));
    else if (type_is_float(left_id))
        TRY(arithmetic_float(&arithmetic));
    else if (type_is_integer(left_id) && type_is_integer(right_id))
        TRY(arithmetic_integer(&arithmetic));
    else
        TRY(arithmetic_temporal(&arithmetic));
    *out = TAKE(result);
    return NULL;
}
