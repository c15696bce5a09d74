#include "columnar/utf8.h"
#include "wire/protobuf.h"
#include "wire/scalar_codec.h"
#include "wire/type_codec.h"

#include <inttypes.h>

#define KIND(name)      DATAFUSION_COMMON__SCALAR_VALUE__KIND_##name
#define TIME32(name)    DATAFUSION_COMMON__SCALAR_TIME32_VALUE__KIND_##name
#define TIME64(name)    DATAFUSION_COMMON__SCALAR_TIME64_VALUE__KIND_##name
#define TIMESTAMP(name) DATAFUSION_COMMON__SCALAR_TIMESTAMP_VALUE__KIND_##name

static const char *kind_name(const DatafusionCommon__ScalarValue *message)
{
    return protobuf_field_name(&datafusion_common__scalar_value__descriptor, (unsigned)message->kind_case);
}

static kith_error *missing(const char *what)
{
    return error_new(KITH_ERROR_CORRUPT, "a value in the message lacks its %s", what);
}

static kith_error *decode_signed(enum type_id id, int64_t value, int64_t least, int64_t most, struct scalar *out)
{
    if (value < least || value > most)
        return error_new(KITH_ERROR_CORRUPT, "the value %" PRId64 " in the message does not fit its type", value);
    *out = (struct scalar){.type = type_of(id), .int64 = value};
    return NULL;
}

static kith_error *decode_unsigned(enum type_id id, uint64_t value, uint64_t most, struct scalar *out)
{
    if (value > most)
        return error_new(KITH_ERROR_CORRUPT, "the value %" PRIu64 " in the message does not fit its type", value);
    *out = (struct scalar){.type = type_of(id), .uint64 = value};
    return NULL;
}

static kith_error *copy_bytes(const ProtobufCBinaryData *bytes, struct arena *arena, struct scalar *out)
{
    char *copy;
    TRY(arena_string(arena, (const char *)bytes->data, bytes->len, &copy));
    out->string = (struct str){copy, bytes->len};
    return NULL;
}

static kith_error *decode_text(enum type_id id, const ProtobufCBinaryData *bytes, struct arena *arena,
                               struct scalar *out)
{
    *out = (struct scalar){.type = type_of(id)};
    if (type_is_string(id) && !utf8_is_valid(bytes->data, bytes->len))
        return error_new(KITH_ERROR_CORRUPT, "a text of %zu bytes in the message is not UTF-8", bytes->len);
    return copy_bytes(bytes, arena, out);
}

static kith_error *decode_fixed_size_binary(const DatafusionCommon__ScalarFixedSizeBinary *message, struct arena *arena,
                                            struct scalar *out)
{
    if (message->length < 0 || message->values.len != (size_t)message->length)
        return error_new(KITH_ERROR_CORRUPT, "a value of %zu bytes in the message where its type has %" PRId32,
                         message->values.len, message->length);
    *out = (struct scalar){.type = type_of(TYPE_FIXED_SIZE_BINARY)};
    out->type.byte_width = message->length;
    return copy_bytes(&message->values, arena, out);
}

static __int128 load_big_endian(const ProtobufCBinaryData *bytes)
{
    unsigned __int128 value = bytes->len > 0 && (bytes->data[0] & 0x80) != 0 ? ~(unsigned __int128)0 : 0;
    for (size_t i = 0; i < bytes->len; i++)
        value = value << 8 | bytes->data[i];
    return (__int128)value;
}

static kith_error *decode_decimal(enum type_id id, const DatafusionCommon__ScalarDecimal *message, struct scalar *out)
{
    bool is_small = id == TYPE_DECIMAL64;
    int64_t most = is_small ? DECIMAL64_MAX_PRECISION : DECIMAL128_MAX_PRECISION;
    if (message->precision < 1 || message->precision > most || message->scale < INT8_MIN ||
        message->scale > message->precision)
        return error_new(KITH_ERROR_CORRUPT, "a decimal in the message has %" PRId64 " digits and the scale %" PRId64,
                         message->precision, message->scale);
    if (message->value.len != (is_small ? 8 : 16))
        return error_new(KITH_ERROR_CORRUPT, "a decimal in the message has %zu bytes", message->value.len);
    *out = (struct scalar){.type = type_of(id)};
    out->type.precision = (uint8_t)message->precision;
    out->type.scale = (int8_t)message->scale;
    if (is_small)
        out->int64 = (int64_t)load_big_endian(&message->value);
    else
        out->decimal = load_big_endian(&message->value);
    return NULL;
}

static kith_error *decode_time32(const DatafusionCommon__ScalarTime32Value *message, struct scalar *out)
{
    if (message->kind_case == TIME32(_NOT_SET))
        return missing("time");
    *out = (struct scalar){.type = type_of(TYPE_TIME32), .int64 = message->second};
    out->type.unit = message->kind_case == TIME32(SECOND) ? UNIT_SECOND : UNIT_MILLISECOND;
    return NULL;
}

static kith_error *decode_time64(const DatafusionCommon__ScalarTime64Value *message, struct scalar *out)
{
    if (message->kind_case == TIME64(_NOT_SET))
        return missing("time");
    *out = (struct scalar){.type = type_of(TYPE_TIME64), .int64 = message->microsecond};
    out->type.unit = message->kind_case == TIME64(MICROSECOND) ? UNIT_MICROSECOND : UNIT_NANOSECOND;
    return NULL;
}

static kith_error *decode_timestamp(const DatafusionCommon__ScalarTimestampValue *message, struct scalar *out)
{
    static const enum time_unit units[] = {
        [TIMESTAMP(SECOND)] = UNIT_SECOND,
        [TIMESTAMP(MILLISECOND)] = UNIT_MILLISECOND,
        [TIMESTAMP(MICROSECOND)] = UNIT_MICROSECOND,
        [TIMESTAMP(NANOSECOND)] = UNIT_NANOSECOND,
    };
    if (message->kind_case == TIMESTAMP(_NOT_SET))
        return missing("timestamp");
    if (strlen(message->timezone) >= TIMEZONE_BYTES)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a time zone of %zu bytes; names of up to %d are known",
                         strlen(message->timezone), TIMEZONE_BYTES - 1);
    *out = (struct scalar){.type = type_timestamp(units[message->kind_case], message->timezone),
                           .int64 = message->microsecond};
    return NULL;
}

static kith_error *decode_duration(enum time_unit unit, int64_t value, struct scalar *out)
{
    *out = (struct scalar){.type = type_of(TYPE_DURATION), .int64 = value};
    out->type.unit = unit;
    return NULL;
}

static kith_error *decode_interval(const DatafusionCommon__ScalarValue *message, struct scalar *out)
{
    if (message->kind_case == KIND(INTERVAL_DAY_TIME)) {
        const DatafusionCommon__ScalarIntervalDayTimeValue *value = message->interval_day_time;
        *out = (struct scalar){.type = type_of(TYPE_INTERVAL_DAY_TIME)};
        out->interval.days = value->days;
        out->interval.nanoseconds = (int64_t)value->milliseconds * 1000000;
        return NULL;
    }
    const DatafusionCommon__ScalarIntervalMonthDayNanoValue *value = message->interval_month_day_nano;
    *out = (struct scalar){.type = type_of(TYPE_INTERVAL_MONTH_DAY_NANO)};
    out->interval.months = value->months;
    out->interval.days = value->days;
    out->interval.nanoseconds = value->nanos;
    return NULL;
}

static kith_error *decode_null(const DatafusionCommon__ArrowType *message, struct scalar *out)
{
    struct data_type type;
    TRY(type_decode(message, &type));
    TRY(type_require_flat(&type));
    type = type_decoded(&type);
    *out = scalar_null(&type);
    return NULL;
}

static kith_error *decode_number(const DatafusionCommon__ScalarValue *message, struct scalar *out)
{
    switch ((int)message->kind_case) {
    case KIND(BOOLEAN):
        *out = (struct scalar){.type = type_of(TYPE_BOOL), .boolean = message->boolean != 0};
        return NULL;
    case KIND(INT8):
        return decode_signed(TYPE_INT8, message->int8, INT8_MIN, INT8_MAX, out);
    case KIND(INT16):
        return decode_signed(TYPE_INT16, message->int16, INT16_MIN, INT16_MAX, out);
    case KIND(INT32):
        return decode_signed(TYPE_INT32, message->int32, INT32_MIN, INT32_MAX, out);
    case KIND(INT64):
        return decode_signed(TYPE_INT64, message->int64, INT64_MIN, INT64_MAX, out);
    case KIND(UINT8):
        return decode_unsigned(TYPE_UINT8, message->uint8, UINT8_MAX, out);
    case KIND(UINT16):
        return decode_unsigned(TYPE_UINT16, message->uint16, UINT16_MAX, out);
    case KIND(UINT32):
        return decode_unsigned(TYPE_UINT32, message->uint32, UINT32_MAX, out);
    case KIND(UINT64):
        return decode_unsigned(TYPE_UINT64, message->uint64, UINT64_MAX, out);
    case KIND(FLOAT16):
        return decode_unsigned(TYPE_FLOAT16, message->float16, UINT16_MAX, out);
    case KIND(FLOAT32):
        *out = (struct scalar){.type = type_of(TYPE_FLOAT32), .float32 = message->float32};
        return NULL;
    case KIND(FLOAT64):
        *out = (struct scalar){.type = type_of(TYPE_FLOAT64), .float64 = message->float64};
        return NULL;
    case KIND(DATE32):
        return decode_signed(TYPE_DATE32, message->date32, INT32_MIN, INT32_MAX, out);
    case KIND(DATE64):
        return decode_signed(TYPE_DATE64, message->date64, INT64_MIN, INT64_MAX, out);
    case KIND(INTERVAL_YEAR_MONTH):
        return decode_signed(TYPE_INTERVAL_MONTHS, message->interval_year_month, INT32_MIN, INT32_MAX, out);
    case KIND(_NOT_SET):
        return error_new(KITH_ERROR_CORRUPT, "a value in the message is empty");
    default:
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a value of type %s is not implemented", kind_name(message));
    }
}

/* Everything but a dictionary. */
static kith_error *decode_value(const DatafusionCommon__ScalarValue *message, struct arena *arena, struct scalar *out)
{
    switch ((int)message->kind_case) {
    case KIND(NULL_VALUE):
        return decode_null(message->null_value, out);
    case KIND(UTF8):
        return decode_text(TYPE_UTF8, &message->utf8, arena, out);
    case KIND(LARGE_UTF8):
        return decode_text(TYPE_LARGE_UTF8, &message->large_utf8, arena, out);
    case KIND(UTF8_VIEW):
        return decode_text(TYPE_UTF8_VIEW, &message->utf8_view, arena, out);
    case KIND(BINARY):
        return decode_text(TYPE_BINARY, &message->binary, arena, out);
    case KIND(LARGE_BINARY):
        return decode_text(TYPE_LARGE_BINARY, &message->large_binary, arena, out);
    case KIND(BINARY_VIEW):
        return decode_text(TYPE_BINARY_VIEW, &message->binary_view, arena, out);
    case KIND(FIXED_SIZE_BINARY):
        return decode_fixed_size_binary(message->fixed_size_binary, arena, out);
    case KIND(DECIMAL64):
        return decode_decimal(TYPE_DECIMAL64, message->decimal64, out);
    case KIND(DECIMAL128):
        return decode_decimal(TYPE_DECIMAL128, message->decimal128, out);
    case KIND(TIME32):
        return decode_time32(message->time32, out);
    case KIND(TIME64):
        return decode_time64(message->time64, out);
    case KIND(TIMESTAMP):
        return decode_timestamp(message->timestamp, out);
    case KIND(DURATION_SECOND):
        return decode_duration(UNIT_SECOND, message->duration_second, out);
    case KIND(DURATION_MILLISECOND):
        return decode_duration(UNIT_MILLISECOND, message->duration_millisecond, out);
    case KIND(DURATION_MICROSECOND):
        return decode_duration(UNIT_MICROSECOND, message->duration_microsecond, out);
    case KIND(DURATION_NANOSECOND):
        return decode_duration(UNIT_NANOSECOND, message->duration_nanosecond, out);
    case KIND(INTERVAL_DAY_TIME):
    case KIND(INTERVAL_MONTH_DAY_NANO):
        return decode_interval(message, out);
    default:
        return decode_number(message, out);
    }
}

kith_error *scalar_decode(const DatafusionCommon__ScalarValue *message, struct arena *arena, struct scalar *out)
{
    if (message->kind_case != KIND(DICTIONARY))
        return decode_value(message, arena, out);
    const DatafusionCommon__ScalarValue *value = message->dictionary->value;
    if (value == NULL)
        return missing("dictionary's value");
    if (value->kind_case == KIND(DICTIONARY))
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a dictionary of dictionaries");
    return decode_value(value, arena, out);
}
