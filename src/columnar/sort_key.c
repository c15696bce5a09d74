/*
 * The format of a sort key: which types have one, how wide it is, and the keys of scalars. The keys of whole
 * columns are in sort_key_encode.c.
 */
#include "columnar/sort_key.h"

#include "columnar/sort_key_value.h"

kith_error *sort_key_check_type(const struct data_type *type)
{
    /* An interval has no order of its own: a month is more than 27 days and less than 32. */
    if (!type_is_nested(type->id) && type->id != TYPE_INTERVAL_DAY_TIME && type->id != TYPE_INTERVAL_MONTH_DAY_NANO)
        return NULL;
    char name[128];
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "ordering by a column of type %s",
                     type_format(type, name, sizeof name));
}

size_t sort_key_fixed_width(const struct data_type *types, size_t count)
{
    size_t width = 0;
    for (size_t i = 0; i < count; i++) {
        struct data_type decoded = type_decoded(&types[i]);
        enum type_layout layout = type_layout(&decoded);
        if (layout == LAYOUT_FIXED)
            width += 1 + type_width(&decoded);
        else if (layout == LAYOUT_BITS)
            width += 2;
        else if (layout == LAYOUT_NULL)
            width += 1;
        else
            return 0;
    }
    return width;
}

/* The value's bytes of a non-null scalar of fixed width, at most 16, ascending; gives their number. */
static size_t store_fixed(const struct scalar *scalar, uint8_t *out)
{
    enum type_id id = scalar->type.id;
    if (id == TYPE_BOOL) {
        *out = scalar->boolean;
        return 1;
    }
    if (id == TYPE_FLOAT16) {
        key_store16(out, key_of_float16((uint16_t)scalar->uint64));
        return 2;
    }
    if (id == TYPE_FLOAT32) {
        key_store32(out, key_of_float32(scalar->float32));
        return 4;
    }
    if (id == TYPE_FLOAT64) {
        key_store64(out, key_of_float64(scalar->float64));
        return 8;
    }
    if (id == TYPE_DECIMAL128) {
        key_store64(out, key_of_int64((int64_t)(scalar->decimal >> 64)));
        key_store64(out + 8, (uint64_t)scalar->decimal);
        return 16;
    }
    /* Integers and what is stored as one: the last bytes of the 8-byte form, with the sign flipped where it now is. */
    uint8_t wide[8];
    size_t width = type_width(&scalar->type);
    bool is_signed = !type_is_integer(id) || type_is_signed_integer(id);
    key_store64(wide, is_signed ? (uint64_t)scalar->int64 : scalar->uint64);
    memcpy(out, wide + sizeof wide - width, width);
    if (is_signed)
        out[0] ^= 0x80;
    return width;
}

static kith_error *append_escaped(struct str string, struct strbuf *out)
{
    for (size_t i = 0; i < string.length; i++) {
        TRY(strbuf_append(out, &string.data[i], 1));
        if (string.data[i] == '\0')
            TRY(strbuf_append_fill(out, (char)0xff, 1));
    }
    return strbuf_append_fill(out, 0, 2);
}

static kith_error *append_value(const struct scalar *scalar, struct strbuf *out)
{
    if (scalar->type.id == TYPE_FIXED_SIZE_BINARY)
        return strbuf_append(out, scalar->string.data, scalar->string.length);
    if (type_is_string(scalar->type.id) || type_is_binary(scalar->type.id))
        return append_escaped(scalar->string, out);
    uint8_t bytes[16];
    return strbuf_append(out, bytes, store_fixed(scalar, bytes));
}

kith_error *sort_key_encode_scalars(const struct scalar *values, const struct sort_order *orders, size_t count,
                                    struct strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct scalar *value = &values[i];
        TRY(sort_key_check_type(&value->type));
        if (value->is_null) {
            /* A fixed-width key keeps its width. */
            size_t width = sort_key_fixed_width(&value->type, 1);
            TRY(strbuf_append_fill(out, orders[i].nulls_first ? KEY_NULL_FIRST : KEY_NULL_LAST, 1));
            TRY(strbuf_append_fill(out, 0, width == 0 ? 0 : width - 1));
            continue;
        }
        TRY(strbuf_append_fill(out, KEY_VALID, 1));
        size_t start = out->length;
        TRY(append_value(value, out));
        for (size_t at = start; orders[i].descending && at < out->length; at++)
            out->data[at] = (char)~out->data[at];
    }
    return NULL;
}

int sort_order_compare(const struct scalar *a, const struct scalar *b, struct sort_order order)
{
    if (a->is_null || b->is_null) {
        int nulls_last = a->is_null - b->is_null;
        return order.nulls_first ? -nulls_last : nulls_last;
    }
    int ascending = scalar_compare(a, b);
    return order.descending ? (ascending < 0) - (ascending > 0) : ascending;
}
