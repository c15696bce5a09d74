#include "parquet/conversion.h"

#include "parquet/bit_unpack.h"

static size_t physical_width(const struct parquet_column *column)
{
    switch (column->physical) {
    case PARQUET_INT32:
    case PARQUET_FLOAT:
        return 4;
    case PARQUET_INT64:
    case PARQUET_DOUBLE:
        return 8;
    case PARQUET_INT96:
        return 12;
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        return column->type_length > 0 ? (size_t)column->type_length : 0;
    case PARQUET_BOOLEAN:
    case PARQUET_BYTE_ARRAY:
        return 0;
    }
    return 0;
}

static bool choose_kind(const struct parquet_column *column, size_t in_width, enum conversion_kind *out)
{
    const struct data_type *type = &column->type;
    size_t out_width = type_width(type);
    bool decimal = type_is_decimal(type->id);
    bool bytes = column->physical == PARQUET_BYTE_ARRAY || column->physical == PARQUET_FIXED_LEN_BYTE_ARRAY;
    if (type->id == TYPE_NULL)
        *out = CONVERT_NOTHING;
    else if (column->physical == PARQUET_BOOLEAN && type->id == TYPE_BOOL)
        *out = CONVERT_BITS;
    else if (column->physical == PARQUET_BYTE_ARRAY && (type->id == TYPE_UTF8 || type->id == TYPE_BINARY))
        *out = CONVERT_STRINGS;
    else if (column->physical == PARQUET_INT96 && type->id == TYPE_TIMESTAMP && type->unit == UNIT_NANOSECOND)
        *out = CONVERT_INT96;
    else if (bytes && decimal)
        *out = out_width == 8 ? CONVERT_DECIMAL_TO_64 : CONVERT_DECIMAL_TO_128;
    else if (column->physical == PARQUET_INT32 && decimal)
        *out = out_width == 8 ? CONVERT_INT32_TO_64 : CONVERT_INT32_TO_128;
    else if (column->physical == PARQUET_INT64 && decimal && out_width == 16)
        *out = CONVERT_INT64_TO_128;
    else if (column->physical == PARQUET_INT32 && type_is_integer(type->id) && out_width < 4)
        *out = out_width == 1 ? CONVERT_INT32_TO_8 : CONVERT_INT32_TO_16;
    else if (in_width > 0 && in_width == out_width && column->physical != PARQUET_INT96)
        *out = CONVERT_COPY;
    else
        return false;
    return true;
}

kith_error *conversion_choose(const struct parquet_column *column, struct conversion *out)
{
    *out = (struct conversion){.in_width = physical_width(column), .out_width = type_width(&column->type)};
    bool fixed = column->physical != PARQUET_BOOLEAN && column->physical != PARQUET_BYTE_ARRAY;
    if (choose_kind(column, out->in_width, &out->kind) && (!fixed || out->in_width > 0))
        return NULL;
    char name[128];
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "reading physical type %d of %d bytes as %s", (int)column->physical,
                     column->type_length, type_format(&column->type, name, sizeof name));
}

/* The low bytes of a big-endian two's complement number, sign-extended; false when the rest is more than sign. */
static bool read_big_endian(const uint8_t *bytes, size_t length, size_t width, __int128 *out)
{
    bool negative = length > 0 && (bytes[0] & 0x80) != 0;
    unsigned __int128 value = negative ? ~(unsigned __int128)0 : 0;
    size_t extra = length > width ? length - width : 0;
    for (size_t i = 0; i < extra; i++)
        if (bytes[i] != (negative ? 0xff : 0))
            return false;
    for (size_t i = extra; i < length; i++)
        value = value << 8 | bytes[i];
    *out = (__int128)value;
    return extra == 0 || ((bytes[extra] & 0x80) != 0) == negative;
}

static kith_error *convert_decimal(const struct conversion *conversion, const uint8_t *bytes, size_t length,
                                   uint8_t *out)
{
    __int128 value;
    if (_unlikely_(!read_big_endian(bytes, length, conversion->out_width, &value)))
        return error_new(KITH_ERROR_OUT_OF_RANGE, "a decimal of %zu bytes does not fit %zu bits", length,
                         conversion->out_width * 8);
    memcpy(out, &value, conversion->out_width);
    return NULL;
}

/* Days are Julian, with day 2,440,588 the first of 1970, and nanoseconds count from midnight. Days outside of what 64
 * bits of nanoseconds hold wrap around, as they do in other readers. */
static void convert_int96(const uint8_t *in, size_t count, uint8_t *out)
{
    const uint64_t day = UINT64_C(86400000000000);
    for (size_t i = 0; i < count; i++) {
        uint64_t days = (uint64_t)((int64_t)load_u32(in + i * 12 + 8) - 2440588);
        uint64_t instant = days * day + load_u64(in + i * 12);
        memcpy(out + i * 8, &instant, sizeof instant);
    }
}

static void widen_to_128(const uint8_t *in, size_t in_width, size_t count, uint8_t *out)
{
    for (size_t i = 0; i < count; i++) {
        __int128 value = in_width == 4 ? (int32_t)load_u32(in + i * 4) : (int64_t)load_u64(in + i * 8);
        memcpy(out + i * 16, &value, sizeof value);
    }
}

kith_error *convert_fixed(const struct conversion *conversion, const uint8_t *in, size_t count, uint8_t *out)
{
    switch (conversion->kind) {
    case CONVERT_COPY:
        memcpy(out, in, count * conversion->in_width);
        return NULL;
    case CONVERT_INT32_TO_8:
        for (size_t i = 0; i < count; i++)
            out[i] = in[i * 4];
        return NULL;
    case CONVERT_INT32_TO_16:
        for (size_t i = 0; i < count; i++)
            memcpy(out + i * 2, in + i * 4, 2);
        return NULL;
    case CONVERT_INT32_TO_64:
        for (size_t i = 0; i < count; i++) {
            int64_t value = (int32_t)load_u32(in + i * 4);
            memcpy(out + i * 8, &value, sizeof value);
        }
        return NULL;
    case CONVERT_INT32_TO_128:
    case CONVERT_INT64_TO_128:
        widen_to_128(in, conversion->in_width, count, out);
        return NULL;
    case CONVERT_INT96:
        convert_int96(in, count, out);
        return NULL;
    case CONVERT_DECIMAL_TO_64:
    case CONVERT_DECIMAL_TO_128:
        for (size_t i = 0; i < count; i++)
            TRY(convert_decimal(conversion, in + i * conversion->in_width, conversion->in_width,
                                out + i * conversion->out_width));
        return NULL;
    case CONVERT_NOTHING:
    case CONVERT_BITS:
    case CONVERT_STRINGS:
        break;
    }
    UNREACHABLE();
}

kith_error *convert_slices(const struct conversion *conversion, const struct str *in, size_t count, uint8_t *out)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *bytes = (const uint8_t *)in[i].data;
        if (conversion->in_width > 0 && in[i].length != conversion->in_width)
            return error_new(KITH_ERROR_CORRUPT, "a value of %zu bytes where all have %zu", in[i].length,
                             conversion->in_width);
        if (conversion->in_width > 0)
            TRY(convert_fixed(conversion, bytes, 1, out + i * conversion->out_width));
        else
            TRY(convert_decimal(conversion, bytes, in[i].length, out + i * conversion->out_width));
    }
    return NULL;
}
