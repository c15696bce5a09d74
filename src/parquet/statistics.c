#include "parquet/statistics.h"

#include "parquet/file.h"

#include <math.h>
#include <string.h>

/* Little-endian, as PLAIN stores numbers. `length` is at most 8. */
static uint64_t load_unsigned(struct str bytes)
{
    uint64_t value = 0;
    for (size_t i = bytes.length; i-- > 0;)
        value = value << 8 | (unsigned char)bytes.data[i];
    return value;
}

static bool load_signed(struct str bytes, size_t width, int64_t *out)
{
    if (bytes.length != width)
        return false;
    uint64_t value = load_unsigned(bytes);
    *out = width == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
    return true;
}

/* Big-endian two's complement of any length: bytes in front that only repeat the sign are allowed. */
static bool load_decimal(struct str bytes, __int128 *out)
{
    if (bytes.length == 0)
        return false;
    bool negative = (signed char)bytes.data[0] < 0;
    unsigned char sign = negative ? 0xFF : 0x00;
    size_t at = 0;
    while (bytes.length - at > sizeof *out) {
        if ((unsigned char)bytes.data[at++] != sign)
            return false;
    }
    if (at > 0 && ((signed char)bytes.data[at] < 0) != negative)
        return false;
    unsigned __int128 value = negative ? ~(unsigned __int128)0 : 0;
    for (; at < bytes.length; at++)
        value = value << 8 | (unsigned char)bytes.data[at];
    *out = (__int128)value;
    return true;
}

static bool decode_integer(const struct parquet_column *column, struct str bytes, struct scalar *out)
{
    static const int64_t lowest[] = {[TYPE_INT8] = INT8_MIN, [TYPE_INT16] = INT16_MIN};
    static const int64_t highest[] = {
        [TYPE_INT8] = INT8_MAX, [TYPE_INT16] = INT16_MAX, [TYPE_UINT8] = UINT8_MAX, [TYPE_UINT16] = UINT16_MAX};
    enum type_id id = column->type.id;
    size_t width = column->physical == PARQUET_INT32 ? 4 : 8;
    if (!load_signed(bytes, width, &out->int64))
        return false;
    if (id == TYPE_UINT32 || id == TYPE_UINT64)
        out->uint64 = load_unsigned(bytes);
    if (id == TYPE_INT8 || id == TYPE_INT16)
        return out->int64 >= lowest[id] && out->int64 <= highest[id];
    if (id == TYPE_UINT8 || id == TYPE_UINT16)
        return out->int64 >= 0 && out->int64 <= highest[id];
    return true;
}

/* Zero has two signs that compare equal, but writers that did not know put either as a bound: the bound is moved to the
 * sign that covers both (ColumnOrder, rule of the compatibility list). False for NaN. */
static bool decode_float(const struct parquet_column *column, struct str bytes, bool is_min, struct scalar *out)
{
    if (column->type.id == TYPE_FLOAT32) {
        if (bytes.length != sizeof out->float32)
            return false;
        memcpy(&out->float32, bytes.data, sizeof out->float32);
        if (out->float32 == 0)
            out->float32 = is_min ? -0.0F : 0.0F;
        return !isnan(out->float32);
    }
    if (column->type.id == TYPE_FLOAT64) {
        if (bytes.length != sizeof out->float64)
            return false;
        memcpy(&out->float64, bytes.data, sizeof out->float64);
        if (out->float64 == 0)
            out->float64 = is_min ? -0.0 : 0.0;
        return !isnan(out->float64);
    }
    /* binary16: 1 bit sign, 5 bits exponent, 10 bits fraction */
    if (bytes.length != 2)
        return false;
    out->uint64 = load_unsigned(bytes);
    if ((out->uint64 & 0x7FFF) == 0)
        out->uint64 = is_min ? 0x8000 : 0;
    return (out->uint64 & 0x7FFF) <= 0x7C00;
}

/* How the bytes are laid out follows from the physical type, where the value goes from the Arrow type. */
static bool decode_decimal(const struct parquet_column *column, struct str bytes, struct scalar *out)
{
    __int128 value;
    if (column->physical == PARQUET_INT32 || column->physical == PARQUET_INT64) {
        int64_t narrow;
        if (!load_signed(bytes, column->physical == PARQUET_INT32 ? 4 : 8, &narrow))
            return false;
        value = narrow;
    } else if (column->physical == PARQUET_FIXED_LEN_BYTE_ARRAY && bytes.length != (size_t)column->type_length) {
        return false;
    } else if (!load_decimal(bytes, &value)) {
        return false;
    }
    if (column->type.id == TYPE_DECIMAL128) {
        out->decimal = value;
        return true;
    }
    out->int64 = (int64_t)value;
    return value >= INT64_MIN && value <= INT64_MAX;
}

static bool decode_bound(const struct parquet_column *column, struct str bytes, bool is_min, struct scalar *out)
{
    enum type_id id = column->type.id;
    *out = (struct scalar){.type = column->type};
    if (id == TYPE_BOOL) {
        if (bytes.length != 1 || (unsigned char)bytes.data[0] > 1)
            return false;
        out->boolean = bytes.data[0] == 1;
        return true;
    }
    if (type_is_float(id))
        return decode_float(column, bytes, is_min, out);
    if (type_is_decimal(id))
        return decode_decimal(column, bytes, out);
    if (column->physical == PARQUET_INT32 || column->physical == PARQUET_INT64)
        return decode_integer(column, bytes, out);
    if (id == TYPE_FIXED_SIZE_BINARY && bytes.length != (size_t)column->type.byte_width)
        return false;
    out->string = bytes;
    return type_is_string(id) || type_is_binary(id);
}

/* A bound that is malformed, or crossed with the other, proves that the file does not mean what we think, so neither is
 * used. The same goes for NaN: comparisons that let it in may have let other values slip. */
static void decode_bounds(const struct parquet_column *column, const struct statistics_bytes *bytes,
                          struct column_statistics *out)
{
    bool min_valid = bytes->has_min && decode_bound(column, bytes->min, true, &out->min);
    bool max_valid = bytes->has_max && decode_bound(column, bytes->max, false, &out->max);
    bool fault = min_valid != bytes->has_min || max_valid != bytes->has_max ||
                 (min_valid && max_valid && scalar_compare(&out->min, &out->max) > 0);
    out->has_min = min_valid && !fault;
    out->has_max = max_valid && !fault;
    out->min_exact = out->has_min && bytes->min_exact;
    out->max_exact = out->has_max && bytes->max_exact;
}

void statistics_decode(const struct parquet_column *column, const struct statistics_bytes *bytes,
                       struct column_statistics *out)
{
    *out = (struct column_statistics){.row_count = bytes->row_count};
    if (bytes->null_count >= 0 && (uint64_t)bytes->null_count <= bytes->row_count) {
        out->has_null_count = true;
        out->null_count = (uint64_t)bytes->null_count;
    }
    if (!column->nullable || column->type.id == TYPE_NULL) {
        out->has_null_count = true; /* by the schema */
        out->null_count = column->nullable ? bytes->row_count : 0;
    }
    out->may_have_nan = type_is_float(column->type.id) && bytes->nan_count != 0;
    decode_bounds(column, bytes, out);
}

void parquet_row_group_statistics(const struct parquet_file *file, size_t row_group, size_t column_index,
                                  struct column_statistics *out)
{
    const struct parquet_column *column = &file->metadata->columns[column_index];
    const struct parquet_row_group *group = &file->metadata->row_groups[row_group];
    const struct parquet_raw_statistics *raw = &group->chunks[column_index].statistics;
    struct statistics_bytes bytes = {
        .null_count = raw->has_null_count ? raw->null_count : -1,
        .nan_count = parquet_file_has_no_nan(file, row_group, column_index) ? 0
                     : raw->has_nan_count                                   ? raw->nan_count
                                                                            : -1,
        .row_count = (uint64_t)group->row_count,
    };
    if (column->order_defined && (raw->has_min || raw->has_max)) {
        bytes.has_min = raw->has_min;
        bytes.has_max = raw->has_max;
        bytes.min = raw->min;
        bytes.max = raw->max;
        bytes.min_exact = raw->min_exact;
        bytes.max_exact = raw->max_exact;
    } else if (column->legacy_order_defined) {
        bytes.has_min = raw->has_legacy_min;
        bytes.has_max = raw->has_legacy_max;
        bytes.min = raw->legacy_min;
        bytes.max = raw->legacy_max;
        bytes.min_exact = bytes.max_exact = true;
    }
    statistics_decode(column, &bytes, out);
}
