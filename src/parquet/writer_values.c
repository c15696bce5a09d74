#include "base/alloc.h"
#include "parquet/writer_parts.h"

enum { MILLISECONDS_PER_DAY = 86400000, LENGTH_BYTES = 4 };

static int64_t load_integer(const struct array *array, size_t i)
{
    const uint8_t *at = array->values->data + (array->offset + i) * type_width(&array->type);
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    switch (type_width(&array->type)) {
    case 1:
        memcpy(&i8, at, sizeof i8);
        return i8;
    case 2:
        memcpy(&i16, at, sizeof i16);
        return i16;
    case 4:
        memcpy(&i32, at, sizeof i32);
        return i32;
    default:
        memcpy(&i64, at, sizeof i64);
        return i64;
    }
}

/* An integer, date or time as the file counts it. Unsigned ones keep their bits: narrow ones are widened with zeros. */
static kith_error *convert_integer(const struct writer_type *type, const struct array *array, size_t i, int64_t *out)
{
    enum type_id id = array->type.id;
    *out = load_integer(array, i);
    if (id == TYPE_UINT8)
        *out &= UINT8_MAX;
    if (id == TYPE_UINT16)
        *out &= UINT16_MAX;
    bool overflow = false;
    if (id == TYPE_DATE64) {
        int64_t days = *out / MILLISECONDS_PER_DAY;
        *out = days - (*out % MILLISECONDS_PER_DAY < 0);
    } else if ((id == TYPE_TIME32 || id == TYPE_TIMESTAMP) && array->type.unit == UNIT_SECOND) {
        overflow = __builtin_mul_overflow(*out, 1000, out);
    }
    if (overflow || (id != TYPE_UINT32 && type->width == 4 && (*out < INT32_MIN || *out > INT32_MAX)))
        return error_new(KITH_ERROR_OUT_OF_RANGE, "a value of column \"%.100s\" is outside what the file can hold",
                         type->column.path);
    return NULL;
}

/* Big-endian, the low `width` bytes. */
static kith_error *convert_decimal(const struct writer_type *type, const struct array *array, size_t i, uint8_t *out)
{
    __int128 value;
    memcpy(&value, array->values->data + (array->offset + i) * sizeof value, sizeof value);
    for (size_t at = type->width; at-- > 0; value >>= 8)
        out[at] = (uint8_t)value;
    /* What is left must be copies of the sign. */
    if (value == ((out[0] & 0x80) != 0 ? -1 : 0) || type->width == sizeof value)
        return NULL;
    return error_new(KITH_ERROR_OUT_OF_RANGE, "a value of column \"%.100s\" has more than its type's %d digits",
                     type->column.path, type->column.type.precision);
}

static kith_error *convert(const struct writer_type *type, const struct array *array, size_t i, uint8_t *out)
{
    enum type_id id = array->type.id;
    if (id == TYPE_BOOL) {
        *out = bitmap_get(array->values->data, array->offset + i);
        return NULL;
    }
    if (id == TYPE_DECIMAL128)
        return convert_decimal(type, array, i, out);
    if (type_is_float(id) || id == TYPE_FIXED_SIZE_BINARY) {
        memcpy(out, array->values->data + (array->offset + i) * type->width, type->width);
        return NULL;
    }
    int64_t wide;
    TRY(convert_integer(type, array, i, &wide));
    /* Little-endian: the low bytes come first. */
    memcpy(out, &wide, type->width);
    return NULL;
}

kith_error *writer_values_make(const struct writer_type *type, const struct array *array, struct writer_values *out)
{
    size_t nulls = array->type.id == TYPE_NULL ? array->length : array_null_count(array);
    if (nulls > 0 && !type->column.nullable)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "column \"%.100s\" is declared NOT NULL but has a NULL",
                         type->column.path);
    *out = (struct writer_values){.type = type};
    size_t count = array->length - nulls;
    if (count == 0)
        return NULL;
    if (type->column.physical == PARQUET_BYTE_ARRAY)
        TRY(NEW_ARRAY(&out->strings, count));
    else
        TRY(alloc_zeroed(count, type->width, &out->fixed));
    for (size_t i = 0; i < array->length; i++) {
        if (array_is_null(array, i))
            continue;
        if (out->strings != NULL)
            out->strings[out->count] = array_string(array, i);
        else
            TRY(convert(type, array, i, out->fixed + out->count * type->width));
        out->count++;
    }
    return NULL;
}

void writer_values_reset(struct writer_values *values)
{
    free(values->fixed);
    free(values->strings);
}

uint64_t writer_plain_bytes(const struct writer_values *values, size_t first, size_t end)
{
    uint64_t bytes = 0;
    if (values->type->column.physical == PARQUET_BOOLEAN)
        return bitmap_bytes(end - first);
    if (values->type->column.physical != PARQUET_BYTE_ARRAY)
        return (uint64_t)(end - first) * values->type->width;
    for (size_t i = first; i < end; i++)
        bytes += LENGTH_BYTES + values->strings[i].length;
    return bytes;
}

static void pack_bits(const uint8_t *flags, size_t count, char *out)
{
    memset(out, 0, bitmap_bytes(count));
    for (size_t i = 0; i < count; i++)
        bitmap_assign((uint8_t *)out, i, flags[i] != 0);
}

kith_error *writer_append_plain(const struct writer_values *values, size_t first, size_t end, struct strbuf *out)
{
    char *at;
    uint64_t bytes = writer_plain_bytes(values, first, end);
    if (first == end)
        return NULL;
    TRY(strbuf_reserve(out, bytes, &at));
    out->length += bytes;
    if (values->type->column.physical == PARQUET_BOOLEAN) {
        pack_bits(values->fixed + first, end - first, at);
    } else if (values->type->column.physical != PARQUET_BYTE_ARRAY) {
        memcpy(at, values->fixed + first * values->type->width, bytes);
    } else {
        for (size_t i = first; i < end; i++) {
            uint32_t length = (uint32_t)values->strings[i].length;
            at = mempcpy(at, &length, sizeof length);
            if (length > 0)
                at = mempcpy(at, values->strings[i].data, length);
        }
    }
    return NULL;
}
