#include "compute/kernel.h"

#include "columnar/scalar.h"

#include <stdio.h>

enum type_id kernel_physical_type(const struct data_type *type)
{
    switch (type_is_dictionary(type) ? type->index : type->id) {
    case TYPE_BOOL:
    case TYPE_INT8:
    case TYPE_INT16:
    case TYPE_INT32:
    case TYPE_INT64:
    case TYPE_UINT8:
    case TYPE_UINT16:
    case TYPE_UINT32:
    case TYPE_UINT64:
    case TYPE_FLOAT16:
    case TYPE_FLOAT32:
    case TYPE_FLOAT64:
    case TYPE_DECIMAL128:
        return type_is_dictionary(type) ? type->index : type->id;
    case TYPE_DATE32:
    case TYPE_TIME32:
    case TYPE_INTERVAL_MONTHS:
        return TYPE_INT32;
    case TYPE_DECIMAL64:
    case TYPE_DATE64:
    case TYPE_TIME64:
    case TYPE_TIMESTAMP:
    case TYPE_DURATION:
        return TYPE_INT64;
    case TYPE_NULL:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_INTERVAL_MONTH_DAY_NANO:
    case TYPE_UTF8:
    case TYPE_LARGE_UTF8:
    case TYPE_UTF8_VIEW:
    case TYPE_BINARY:
    case TYPE_LARGE_BINARY:
    case TYPE_BINARY_VIEW:
    case TYPE_FIXED_SIZE_BINARY:
    case TYPE_LIST:
    case TYPE_STRUCT:
    case TYPE_MAP:
    case TYPE_COUNT:
        return TYPE_NULL;
    }
    return TYPE_NULL;
}

kith_error *kernel_new_result(const struct data_type *type, size_t rows, struct array **out)
{
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(array_new(type, rows, &result));
    if (type->id == TYPE_BOOL)
        TRY(buffer_new_zeroed(bitmap_bytes(rows), &result->values));
    else
        TRY(buffer_new(rows * type_width(type), &result->values));
    result->null_count = 0;
    *out = TAKE(result);
    return NULL;
}

kith_error *kernel_new_zeroed_result(const struct data_type *type, size_t rows, struct array **out)
{
    TRY(kernel_new_result(type, rows, out));
    memset((*out)->values->data, 0, (*out)->values->size);
    return NULL;
}

static void and_bits(uint8_t *out, const uint8_t *bits, size_t offset, size_t length)
{
    if (offset % 8 == 0) {
        bits += offset / 8;
        for (size_t i = 0; i < bitmap_bytes(length); i++)
            out[i] &= bits[i];
        return;
    }
    for (size_t i = 0; i < length; i++)
        if (!bitmap_get(bits, offset + i))
            bitmap_clear(out, i);
}

static kith_error *share_or_copy_validity(struct array *result, const struct array *operand)
{
    if (operand->offset == 0) {
        result->validity = buffer_ref(operand->validity);
        return NULL;
    }
    TRY(buffer_new_zeroed(bitmap_bytes(result->length), &result->validity));
    bitmap_copy(result->validity->data, 0, operand->validity->data, operand->offset, result->length);
    return NULL;
}

kith_error *kernel_unite_validity(struct array *result, const struct datum *operands, size_t count)
{
    bool shared = false;
    for (size_t i = 0; i < count; i++) {
        const struct array *operand = operands[i].array;
        if (operands[i].constant || operand->validity == NULL)
            continue;
        result->null_count = -1;
        if (result->validity == NULL) {
            TRY(share_or_copy_validity(result, operand));
            shared = true;
            continue;
        }
        if (shared)
            TRY(kernel_own_validity(result));
        shared = false;
        and_bits(result->validity->data, operand->validity->data, operand->offset, result->length);
    }
    return NULL;
}

kith_error *kernel_own_validity(struct array *result)
{
    _cleanup_(buffer_unref) struct buffer *own = NULL;
    TRY(buffer_new_zeroed(bitmap_bytes(result->length), &own));
    if (result->validity != NULL)
        bitmap_copy(own->data, 0, result->validity->data, 0, result->length);
    else
        bitmap_fill(own->data, 0, result->length, true);
    buffer_unref(result->validity);
    result->validity = TAKE(own);
    result->null_count = -1;
    return NULL;
}

char *kernel_show(const struct datum *datum, size_t row, char *out, size_t size)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct scalar value = scalar_from_array(datum->array, datum_row(datum, row));
    kith_error *error = scalar_format(&value, &text);
    if (error != NULL) {
        error_free(error);
        snprintf(out, size, "?");
        return out;
    }
    size_t shown = MIN(text.length, size > 4 ? size - 4 : 0);
    while (shown > 0 && shown < text.length && ((uint8_t)text.data[shown] & 0xC0) == 0x80)
        shown--;
    snprintf(out, size, "%.*s%s", (int)shown, strbuf_text(&text), shown < text.length ? "..." : "");
    return out;
}

kith_error *kernel_all_null(const struct data_type *type, size_t rows, struct array **out)
{
    return array_new_null(type, rows, out);
}

bool kernel_store_integer(struct array *result, size_t row, __int128 value)
{
    uint8_t *values = result->values->data;
    __int128 least, greatest;
    enum type_id physical = kernel_physical_type(&result->type);
    size_t bits = 8 * type_width(&result->type);
    bool is_signed = type_is_signed_integer(physical);
    greatest = ((__int128)1 << (bits - is_signed)) - 1;
    least = is_signed ? -greatest - 1 : 0;
    if (value < least || value > greatest)
        return false;
    uint64_t stored = (uint64_t)value;
    memcpy(values + row * (bits / 8), &stored, bits / 8);
    return true;
}
