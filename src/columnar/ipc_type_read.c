#include "columnar/ipc_type.h"

#include "columnar/ipc_format.h"

static const char *const tag_names[] = {
    [IPC_TYPE_NULL] = "Null",
    [IPC_TYPE_INT] = "Int",
    [IPC_TYPE_FLOATING_POINT] = "FloatingPoint",
    [IPC_TYPE_BINARY] = "Binary",
    [IPC_TYPE_UTF8] = "Utf8",
    [IPC_TYPE_BOOL] = "Bool",
    [IPC_TYPE_DECIMAL] = "Decimal",
    [IPC_TYPE_DATE] = "Date",
    [IPC_TYPE_TIME] = "Time",
    [IPC_TYPE_TIMESTAMP] = "Timestamp",
    [IPC_TYPE_INTERVAL] = "Interval",
    [IPC_TYPE_LIST] = "List",
    [IPC_TYPE_STRUCT] = "Struct",
    [IPC_TYPE_UNION] = "Union",
    [IPC_TYPE_FIXED_SIZE_BINARY] = "FixedSizeBinary",
    [IPC_TYPE_FIXED_SIZE_LIST] = "FixedSizeList",
    [IPC_TYPE_MAP] = "Map",
    [IPC_TYPE_DURATION] = "Duration",
    [IPC_TYPE_LARGE_BINARY] = "LargeBinary",
    [IPC_TYPE_LARGE_UTF8] = "LargeUtf8",
    [IPC_TYPE_LARGE_LIST] = "LargeList",
    [IPC_TYPE_RUN_END_ENCODED] = "RunEndEncoded",
    [IPC_TYPE_BINARY_VIEW] = "BinaryView",
    [IPC_TYPE_UTF8_VIEW] = "Utf8View",
    [IPC_TYPE_LIST_VIEW] = "ListView",
    [IPC_TYPE_LARGE_LIST_VIEW] = "LargeListView",
};

/* Types that say nothing but their name; TYPE_COUNT for the others. */
static enum type_id plain_type(enum ipc_type tag)
{
    static const struct {
        enum ipc_type tag;
        enum type_id id;
    } plain[] = {
        {IPC_TYPE_NULL, TYPE_NULL},
        {IPC_TYPE_BOOL, TYPE_BOOL},
        {IPC_TYPE_UTF8, TYPE_UTF8},
        {IPC_TYPE_LARGE_UTF8, TYPE_LARGE_UTF8},
        {IPC_TYPE_UTF8_VIEW, TYPE_UTF8_VIEW},
        {IPC_TYPE_BINARY, TYPE_BINARY},
        {IPC_TYPE_LARGE_BINARY, TYPE_LARGE_BINARY},
        {IPC_TYPE_BINARY_VIEW, TYPE_BINARY_VIEW},
        {IPC_TYPE_LIST, TYPE_LIST},
        {IPC_TYPE_STRUCT, TYPE_STRUCT},
        {IPC_TYPE_MAP, TYPE_MAP},
    };
    for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
        if (plain[i].tag == tag)
            return plain[i].id;
    }
    return TYPE_COUNT;
}

static kith_error *bad_parameter(const char *type, const char *parameter, int64_t value)
{
    return error_new(KITH_ERROR_CORRUPT, "type %s with %s %lld, which Arrow does not have", type, parameter,
                     (long long)value);
}

static kith_error *unsupported_width(const char *type, int64_t width)
{
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "type %s of %lld bits", type, (long long)width);
}

kith_error *ipc_type_read_int(const struct flatbuf_table *table, enum type_id *out)
{
    int64_t width, is_signed;
    TRY(flatbuf_read_int(table, INT_BIT_WIDTH, 4, 0, &width));
    TRY(flatbuf_read_int(table, INT_SIGNED, 1, 0, &is_signed));
    switch (width) {
    case 8:
        *out = is_signed ? TYPE_INT8 : TYPE_UINT8;
        return NULL;
    case 16:
        *out = is_signed ? TYPE_INT16 : TYPE_UINT16;
        return NULL;
    case 32:
        *out = is_signed ? TYPE_INT32 : TYPE_UINT32;
        return NULL;
    case 64:
        *out = is_signed ? TYPE_INT64 : TYPE_UINT64;
        return NULL;
    default:
        return bad_parameter("Int", "bit width", width);
    }
}

static kith_error *read_decimal(const struct flatbuf_table *table, struct data_type *out)
{
    int64_t precision, scale, width;
    TRY(flatbuf_read_int(table, DECIMAL_PRECISION, 4, 0, &precision));
    TRY(flatbuf_read_int(table, DECIMAL_SCALE, 4, 0, &scale));
    TRY(flatbuf_read_int(table, DECIMAL_BIT_WIDTH, 4, DECIMAL_DEFAULT_BIT_WIDTH, &width));
    if (width != 64 && width != 128)
        return unsupported_width("Decimal", width);
    int64_t most = width == 64 ? DECIMAL64_MAX_PRECISION : DECIMAL128_MAX_PRECISION;
    if (precision < 1 || precision > most)
        return bad_parameter(width == 64 ? "Decimal64" : "Decimal128", "precision", precision);
    if (scale < INT8_MIN || scale > INT8_MAX)
        return bad_parameter("Decimal", "scale", scale);
    out->id = width == 64 ? TYPE_DECIMAL64 : TYPE_DECIMAL128;
    out->precision = (uint8_t)precision;
    out->scale = (int8_t)scale;
    return NULL;
}

static kith_error *read_unit(const struct flatbuf_table *table, unsigned field, int64_t absent, const char *type,
                             enum time_unit *out)
{
    int64_t unit;
    TRY(flatbuf_read_int(table, field, 2, absent, &unit));
    if (unit < UNIT_SECOND || unit > UNIT_NANOSECOND)
        return bad_parameter(type, "unit", unit);
    *out = (enum time_unit)unit;
    return NULL;
}

static kith_error *read_time(const struct flatbuf_table *table, struct data_type *out)
{
    int64_t width;
    TRY(read_unit(table, TIME_UNIT, IPC_DEFAULT_UNIT, "Time", &out->unit));
    TRY(flatbuf_read_int(table, TIME_BIT_WIDTH, 4, TIME_DEFAULT_BIT_WIDTH, &width));
    if (width != (out->unit <= UNIT_MILLISECOND ? 32 : 64))
        return bad_parameter("Time", "a bit width that does not fit its unit,", width);
    out->id = width == 32 ? TYPE_TIME32 : TYPE_TIME64;
    return NULL;
}

static kith_error *read_timestamp(const struct flatbuf_table *table, struct data_type *out)
{
    struct str timezone;
    TRY(read_unit(table, TIMESTAMP_UNIT, 0, "Timestamp", &out->unit));
    TRY(flatbuf_read_string(table, TIMESTAMP_TIMEZONE, &timezone));
    if (timezone.length >= TIMEZONE_BYTES)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "time zone name of %zu bytes; the longest is %d", timezone.length,
                         TIMEZONE_BYTES - 1);
    if (timezone.length > 0 && memchr(timezone.data, '\0', timezone.length) != NULL)
        return error_new(KITH_ERROR_CORRUPT, "time zone name with a NUL byte in it");
    out->id = TYPE_TIMESTAMP;
    if (timezone.length > 0)
        memcpy(out->timezone, timezone.data, timezone.length);
    return NULL;
}

static kith_error *read_floating_point(const struct flatbuf_table *table, struct data_type *out)
{
    static const enum type_id ids[] = {
        [PRECISION_HALF] = TYPE_FLOAT16,
        [PRECISION_SINGLE] = TYPE_FLOAT32,
        [PRECISION_DOUBLE] = TYPE_FLOAT64,
    };
    int64_t precision;
    TRY(flatbuf_read_int(table, TYPE_PARAMETER, 2, PRECISION_HALF, &precision));
    if (precision < 0 || precision >= (int64_t)ARRAY_SIZE(ids))
        return bad_parameter("FloatingPoint", "precision", precision);
    out->id = ids[precision];
    return NULL;
}

static kith_error *read_date(const struct flatbuf_table *table, struct data_type *out)
{
    int64_t unit;
    TRY(flatbuf_read_int(table, TYPE_PARAMETER, 2, DATE_MILLISECOND, &unit));
    if (unit != DATE_DAY && unit != DATE_MILLISECOND)
        return bad_parameter("Date", "unit", unit);
    out->id = unit == DATE_DAY ? TYPE_DATE32 : TYPE_DATE64;
    return NULL;
}

static kith_error *read_interval(const struct flatbuf_table *table, struct data_type *out)
{
    static const enum type_id ids[] = {
        [INTERVAL_YEAR_MONTH] = TYPE_INTERVAL_MONTHS,
        [INTERVAL_DAY_TIME] = TYPE_INTERVAL_DAY_TIME,
        [INTERVAL_MONTH_DAY_NANO] = TYPE_INTERVAL_MONTH_DAY_NANO,
    };
    int64_t unit;
    TRY(flatbuf_read_int(table, TYPE_PARAMETER, 2, INTERVAL_YEAR_MONTH, &unit));
    if (unit < 0 || unit >= (int64_t)ARRAY_SIZE(ids))
        return bad_parameter("Interval", "unit", unit);
    out->id = ids[unit];
    return NULL;
}

static kith_error *read_fixed_size_binary(const struct flatbuf_table *table, struct data_type *out)
{
    int64_t width;
    TRY(flatbuf_read_int(table, TYPE_PARAMETER, 4, 0, &width));
    if (width < 0)
        return bad_parameter("FixedSizeBinary", "byte width", width);
    out->id = TYPE_FIXED_SIZE_BINARY;
    out->byte_width = (int32_t)width;
    return NULL;
}

kith_error *ipc_type_read(int64_t tag, const struct flatbuf_table *table, struct data_type *out)
{
    *out = (struct data_type){0};
    if (tag <= 0 || tag >= (int64_t)ARRAY_SIZE(tag_names))
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "Arrow type number %lld", (long long)tag);
    if (table->bytes == NULL)
        return error_new(KITH_ERROR_CORRUPT, "type %s without its table", tag_names[tag]);
    enum type_id plain = plain_type((enum ipc_type)tag);
    if (plain != TYPE_COUNT) {
        out->id = plain;
        return NULL;
    }
    switch (tag) {
    case IPC_TYPE_INT:
        return ipc_type_read_int(table, &out->id);
    case IPC_TYPE_FLOATING_POINT:
        return read_floating_point(table, out);
    case IPC_TYPE_DECIMAL:
        return read_decimal(table, out);
    case IPC_TYPE_DATE:
        return read_date(table, out);
    case IPC_TYPE_TIME:
        return read_time(table, out);
    case IPC_TYPE_TIMESTAMP:
        return read_timestamp(table, out);
    case IPC_TYPE_INTERVAL:
        return read_interval(table, out);
    case IPC_TYPE_DURATION:
        out->id = TYPE_DURATION;
        return read_unit(table, TYPE_PARAMETER, IPC_DEFAULT_UNIT, "Duration", &out->unit);
    case IPC_TYPE_FIXED_SIZE_BINARY:
        return read_fixed_size_binary(table, out);
    default:
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "type %s", tag_names[tag]);
    }
}
