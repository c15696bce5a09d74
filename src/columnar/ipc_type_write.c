#include "columnar/ipc_type.h"

kith_error *ipc_type_write_int(struct flatbuf_writer *writer, enum type_id id, flatbuf_ref *out)
{
    struct data_type plain = type_of(id);
    struct flatbuf_slot slots[INT_FIELDS] = {
        [INT_BIT_WIDTH] = flatbuf_int(4, (int64_t)type_width(&plain) * 8),
        [INT_SIGNED] = flatbuf_int(1, type_is_signed_integer(id)),
    };
    return flatbuf_write_table(writer, slots, INT_FIELDS, out);
}

static kith_error *write_decimal(struct flatbuf_writer *writer, const struct data_type *type, flatbuf_ref *out)
{
    struct flatbuf_slot slots[DECIMAL_FIELDS] = {
        [DECIMAL_PRECISION] = flatbuf_int(4, type->precision),
        [DECIMAL_SCALE] = flatbuf_int(4, type->scale),
        [DECIMAL_BIT_WIDTH] = flatbuf_int(4, type->id == TYPE_DECIMAL64 ? 64 : 128),
    };
    return flatbuf_write_table(writer, slots, DECIMAL_FIELDS, out);
}

static kith_error *write_time(struct flatbuf_writer *writer, const struct data_type *type, flatbuf_ref *out)
{
    struct flatbuf_slot slots[TIME_FIELDS] = {
        [TIME_UNIT] = flatbuf_int(2, type->unit),
        [TIME_BIT_WIDTH] = flatbuf_int(4, type->id == TYPE_TIME32 ? 32 : 64),
    };
    return flatbuf_write_table(writer, slots, TIME_FIELDS, out);
}

static kith_error *write_timestamp(struct flatbuf_writer *writer, const struct data_type *type, flatbuf_ref *out)
{
    flatbuf_ref timezone = 0;
    if (type->timezone[0] != '\0')
        TRY(flatbuf_write_string(writer, str_of(type->timezone), &timezone));
    struct flatbuf_slot slots[TIMESTAMP_FIELDS] = {
        [TIMESTAMP_UNIT] = flatbuf_int(2, type->unit),
        [TIMESTAMP_TIMEZONE] = flatbuf_offset(timezone),
    };
    return flatbuf_write_table(writer, slots, TIMESTAMP_FIELDS, out);
}

static kith_error *write_parameter(struct flatbuf_writer *writer, size_t width, int64_t value, flatbuf_ref *out)
{
    struct flatbuf_slot slot = flatbuf_int(width, value);
    return flatbuf_write_table(writer, &slot, 1, out);
}

static enum ipc_type type_tag(enum type_id id)
{
    static const enum ipc_type tags[TYPE_COUNT] = {
        [TYPE_NULL] = IPC_TYPE_NULL,
        [TYPE_BOOL] = IPC_TYPE_BOOL,
        [TYPE_INT8... TYPE_UINT64] = IPC_TYPE_INT,
        [TYPE_FLOAT16... TYPE_FLOAT64] = IPC_TYPE_FLOATING_POINT,
        [TYPE_DECIMAL64... TYPE_DECIMAL128] = IPC_TYPE_DECIMAL,
        [TYPE_DATE32... TYPE_DATE64] = IPC_TYPE_DATE,
        [TYPE_TIME32... TYPE_TIME64] = IPC_TYPE_TIME,
        [TYPE_TIMESTAMP] = IPC_TYPE_TIMESTAMP,
        [TYPE_DURATION] = IPC_TYPE_DURATION,
        [TYPE_INTERVAL_MONTHS... TYPE_INTERVAL_MONTH_DAY_NANO] = IPC_TYPE_INTERVAL,
        [TYPE_UTF8] = IPC_TYPE_UTF8,
        [TYPE_LARGE_UTF8] = IPC_TYPE_LARGE_UTF8,
        [TYPE_UTF8_VIEW] = IPC_TYPE_UTF8_VIEW,
        [TYPE_BINARY] = IPC_TYPE_BINARY,
        [TYPE_LARGE_BINARY] = IPC_TYPE_LARGE_BINARY,
        [TYPE_BINARY_VIEW] = IPC_TYPE_BINARY_VIEW,
        [TYPE_FIXED_SIZE_BINARY] = IPC_TYPE_FIXED_SIZE_BINARY,
        [TYPE_LIST] = IPC_TYPE_LIST,
        [TYPE_STRUCT] = IPC_TYPE_STRUCT,
        [TYPE_MAP] = IPC_TYPE_MAP,
    };
    return tags[id];
}

static kith_error *write_interval(struct flatbuf_writer *writer, enum type_id id, flatbuf_ref *out)
{
    enum interval_unit unit = id == TYPE_INTERVAL_MONTHS     ? INTERVAL_YEAR_MONTH
                              : id == TYPE_INTERVAL_DAY_TIME ? INTERVAL_DAY_TIME
                                                             : INTERVAL_MONTH_DAY_NANO;
    return write_parameter(writer, 2, unit, out);
}

static kith_error *write_floating_point(struct flatbuf_writer *writer, enum type_id id, flatbuf_ref *out)
{
    enum floating_precision precision = id == TYPE_FLOAT16   ? PRECISION_HALF
                                        : id == TYPE_FLOAT32 ? PRECISION_SINGLE
                                                             : PRECISION_DOUBLE;
    return write_parameter(writer, 2, precision, out);
}

kith_error *ipc_type_write(struct flatbuf_writer *writer, const struct data_type *type, enum ipc_type *out_tag,
                           flatbuf_ref *out_table)
{
    *out_tag = type_tag(type->id);
    switch ((int)*out_tag) {
    case IPC_TYPE_INT:
        return ipc_type_write_int(writer, type->id, out_table);
    case IPC_TYPE_FLOATING_POINT:
        return write_floating_point(writer, type->id, out_table);
    case IPC_TYPE_DECIMAL:
        return write_decimal(writer, type, out_table);
    case IPC_TYPE_DATE:
        return write_parameter(writer, 2, type->id == TYPE_DATE32 ? DATE_DAY : DATE_MILLISECOND, out_table);
    case IPC_TYPE_TIME:
        return write_time(writer, type, out_table);
    case IPC_TYPE_TIMESTAMP:
        return write_timestamp(writer, type, out_table);
    case IPC_TYPE_INTERVAL:
        return write_interval(writer, type->id, out_table);
    case IPC_TYPE_DURATION:
        return write_parameter(writer, 2, type->unit, out_table);
    case IPC_TYPE_FIXED_SIZE_BINARY:
        return write_parameter(writer, 4, type->byte_width, out_table);
    default:
        return flatbuf_write_table(writer, NULL, 0, out_table);
    }
}
