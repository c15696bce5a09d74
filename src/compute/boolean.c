#include "compute/boolean.h"

/* The value and validity bits of an operand from bit 0; a constant is spread out (a bit a row). */
struct bits {
    struct buffer *values, *validity;
};

static void bits_reset(struct bits *bits)
{
    buffer_unref(bits->values);
    buffer_unref(bits->validity);
}
DEFINE_VALUE_CLEANUP(bits_reset, struct bits)

static kith_error *filled(bool value, size_t rows, struct buffer **out)
{
    TRY(buffer_new(bitmap_bytes(rows), out));
    memset((*out)->data, value ? 0xFF : 0, (*out)->size);
    return NULL;
}

static kith_error *bits_at_zero(struct buffer *buffer, size_t offset, size_t rows, struct buffer **out)
{
    if (offset == 0) {
        *out = buffer_ref(buffer);
        return NULL;
    }
    TRY(buffer_new_zeroed(bitmap_bytes(rows), out));
    bitmap_copy((*out)->data, 0, buffer->data, offset, rows);
    return NULL;
}

static kith_error *bits_of(const struct datum *operand, size_t rows, struct bits *out)
{
    const struct array *array = operand->array;
    if (array->type.id == TYPE_NULL || datum_is_null_constant(operand)) {
        TRY(filled(false, rows, &out->values));
        return filled(false, rows, &out->validity);
    }
    if (operand->constant)
        return filled(bitmap_get(array->values->data, array->offset), rows, &out->values);
    TRY(bits_at_zero(array->values, array->offset, rows, &out->values));
    if (array->validity != NULL)
        TRY(bits_at_zero(array->validity, array->offset, rows, &out->validity));
    return NULL;
}

/* AND over (value, valid) pairs: false where either is a valid false, true where both are valid and true, else NULL. OR
 * is the same with the values complemented going in and coming out (De Morgan holds in Kleene's logic). */
kith_error *boolean_combine(enum boolean_operator operation, const struct datum *left, const struct datum *right,
                            size_t rows, struct array **out)
{
    const struct data_type boolean = type_of(TYPE_BOOL);
    _cleanup_(bits_reset) struct bits a = {0}, b = {0};
    TRY(bits_of(left, rows, &a));
    TRY(bits_of(right, rows, &b));
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_result(&boolean, rows, &result));
    bool nullable = a.validity != NULL || b.validity != NULL;
    if (nullable) {
        TRY(buffer_new(bitmap_bytes(rows), &result->validity));
        result->null_count = -1;
    }
    uint8_t flip = operation == BOOLEAN_OR ? 0xFF : 0;
    for (size_t i = 0; i < bitmap_bytes(rows); i++) {
        uint8_t x = a.values->data[i] ^ flip, y = b.values->data[i] ^ flip;
        uint8_t x_valid = a.validity != NULL ? a.validity->data[i] : 0xFF;
        uint8_t y_valid = b.validity != NULL ? b.validity->data[i] : 0xFF;
        uint8_t is_true = x & x_valid & y & y_valid;
        uint8_t is_false = (uint8_t)((~x & x_valid) | (~y & y_valid));
        result->values->data[i] = is_true ^ flip;
        if (nullable)
            result->validity->data[i] = is_true | is_false;
    }
    *out = TAKE(result);
    return NULL;
}

kith_error *boolean_not(const struct datum *operand, size_t rows, struct array **out)
{
    const struct data_type boolean = type_of(TYPE_BOOL);
    _cleanup_(bits_reset) struct bits bits = {0};
    TRY(bits_of(operand, rows, &bits));
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_result(&boolean, rows, &result));
    for (size_t i = 0; i < bitmap_bytes(rows); i++)
        result->values->data[i] = (uint8_t)~bits.values->data[i];
    if (bits.validity != NULL) {
        result->validity = TAKE(bits.validity);
        result->null_count = -1;
    }
    *out = TAKE(result);
    return NULL;
}

kith_error *boolean_is_null(const struct datum *operand, bool negated, size_t rows, struct array **out)
{
    const struct data_type boolean = type_of(TYPE_BOOL);
    const struct array *array = operand->array;
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_result(&boolean, rows, &result));
    uint8_t *bits = result->values->data;
    if (operand->constant || array->dictionary != NULL || array->validity == NULL) {
        for (size_t row = 0; row < rows; row++)
            bitmap_assign(bits, row, datum_is_null(operand, row) != negated);
    } else {
        bitmap_copy(bits, 0, array->validity->data, array->offset, rows);
        for (size_t i = 0; i < bitmap_bytes(rows) && !negated; i++)
            bits[i] = (uint8_t)~bits[i];
    }
    *out = TAKE(result);
    return NULL;
}
