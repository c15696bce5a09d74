#include "wire/protobuf.h"
#include "wire/scalar_codec.h"
#include "wire/type_codec.h"

#define KIND(name)      DATAFUSION_COMMON__SCALAR_VALUE__KIND_##name
#define TIME32(name)    DATAFUSION_COMMON__SCALAR_TIME32_VALUE__KIND_##name
#define TIME64(name)    DATAFUSION_COMMON__SCALAR_TIME64_VALUE__KIND_##name
#define TIMESTAMP(name) DATAFUSION_COMMON__SCALAR_TIMESTAMP_VALUE__KIND_##name

static ProtobufCBinaryData borrow(struct str bytes)
{
    return (ProtobufCBinaryData){bytes.length, (uint8_t *)(uintptr_t)bytes.data};
}

static kith_error *encode_null(const struct scalar *scalar, struct arena *arena, DatafusionCommon__ScalarValue *out)
{
    out->kind_case = KIND(NULL_VALUE);
    return type_encode(&scalar->type, arena, &out->null_value);
}

static void encode_text(const struct scalar *scalar, DatafusionCommon__ScalarValue *out)
{
    static const DatafusionCommon__ScalarValue__KindCase kinds[] = {
        [TYPE_UTF8] = KIND(UTF8),     [TYPE_LARGE_UTF8] = KIND(LARGE_UTF8),     [TYPE_UTF8_VIEW] = KIND(UTF8_VIEW),
        [TYPE_BINARY] = KIND(BINARY), [TYPE_LARGE_BINARY] = KIND(LARGE_BINARY), [TYPE_BINARY_VIEW] = KIND(BINARY_VIEW),
    };
    out->kind_case = kinds[scalar->type.id];
    out->utf8 = borrow(scalar->string);
}

static kith_error *encode_fixed_size_binary(const struct scalar *scalar, struct arena *arena,
                                            DatafusionCommon__ScalarValue *out)
{
    out->kind_case = KIND(FIXED_SIZE_BINARY);
    TRY(protobuf_new(arena, &datafusion_common__scalar_fixed_size_binary__descriptor, &out->fixed_size_binary));
    out->fixed_size_binary->values = borrow(scalar->string);
    out->fixed_size_binary->length = scalar->type.byte_width;
    return NULL;
}

static kith_error *encode_decimal(const struct scalar *scalar, struct arena *arena, DatafusionCommon__ScalarValue *out)
{
    bool is_small = scalar->type.id == TYPE_DECIMAL64;
    size_t width = is_small ? 8 : 16;
    unsigned __int128 value = is_small ? (unsigned __int128)scalar->int64 : (unsigned __int128)scalar->decimal;
    DatafusionCommon__ScalarDecimal *decimal;
    char *bytes;
    TRY(protobuf_new(arena, &datafusion_common__scalar_decimal__descriptor, &decimal));
    TRY(arena_alloc(arena, width, 1, &bytes));
    for (size_t i = 0; i < width; i++)
        bytes[width - 1 - i] = (char)(uint8_t)(value >> (8 * i));
    decimal->value = borrow((struct str){bytes, width});
    decimal->precision = scalar->type.precision;
    decimal->scale = scalar->type.scale;
    out->kind_case = is_small ? KIND(DECIMAL64) : KIND(DECIMAL128);
    out->decimal128 = decimal;
    return NULL;
}

static kith_error *encode_time(const struct scalar *scalar, struct arena *arena, DatafusionCommon__ScalarValue *out)
{
    if (scalar->type.id == TYPE_TIME32) {
        out->kind_case = KIND(TIME32);
        TRY(protobuf_new(arena, &datafusion_common__scalar_time32_value__descriptor, &out->time32));
        out->time32->kind_case = scalar->type.unit == UNIT_SECOND ? TIME32(SECOND) : TIME32(MILLISECOND);
        out->time32->second = (int32_t)scalar->int64;
        return NULL;
    }
    out->kind_case = KIND(TIME64);
    TRY(protobuf_new(arena, &datafusion_common__scalar_time64_value__descriptor, &out->time64));
    out->time64->kind_case = scalar->type.unit == UNIT_MICROSECOND ? TIME64(MICROSECOND) : TIME64(NANOSECOND);
    out->time64->microsecond = scalar->int64;
    return NULL;
}

static kith_error *encode_timestamp(const struct scalar *scalar, struct arena *arena,
                                    DatafusionCommon__ScalarValue *out)
{
    static const DatafusionCommon__ScalarTimestampValue__KindCase kinds[] = {
        [UNIT_SECOND] = TIMESTAMP(SECOND),
        [UNIT_MILLISECOND] = TIMESTAMP(MILLISECOND),
        [UNIT_MICROSECOND] = TIMESTAMP(MICROSECOND),
        [UNIT_NANOSECOND] = TIMESTAMP(NANOSECOND),
    };
    DatafusionCommon__ScalarTimestampValue *timestamp;
    TRY(protobuf_new(arena, &datafusion_common__scalar_timestamp_value__descriptor, &timestamp));
    timestamp->kind_case = kinds[scalar->type.unit];
    timestamp->microsecond = scalar->int64;
    TRY(arena_string(arena, scalar->type.timezone, strlen(scalar->type.timezone), &timestamp->timezone));
    out->kind_case = KIND(TIMESTAMP);
    out->timestamp = timestamp;
    return NULL;
}

static void encode_duration(const struct scalar *scalar, DatafusionCommon__ScalarValue *out)
{
    static const DatafusionCommon__ScalarValue__KindCase kinds[] = {
        [UNIT_SECOND] = KIND(DURATION_SECOND),
        [UNIT_MILLISECOND] = KIND(DURATION_MILLISECOND),
        [UNIT_MICROSECOND] = KIND(DURATION_MICROSECOND),
        [UNIT_NANOSECOND] = KIND(DURATION_NANOSECOND),
    };
    out->kind_case = kinds[scalar->type.unit];
    out->duration_second = scalar->int64;
}

static kith_error *encode_interval(const struct scalar *scalar, struct arena *arena, DatafusionCommon__ScalarValue *out)
{
    if (scalar->type.id == TYPE_INTERVAL_DAY_TIME) {
        out->kind_case = KIND(INTERVAL_DAY_TIME);
        TRY(protobuf_new(arena, &datafusion_common__scalar_interval_day_time_value__descriptor,
                         &out->interval_day_time));
        out->interval_day_time->days = scalar->interval.days;
        out->interval_day_time->milliseconds = (int32_t)(scalar->interval.nanoseconds / 1000000);
        return NULL;
    }
    out->kind_case = KIND(INTERVAL_MONTH_DAY_NANO);
    TRY(protobuf_new(arena, &datafusion_common__scalar_interval_month_day_nano_value__descriptor,
                     &out->interval_month_day_nano));
    out->interval_month_day_nano->months = scalar->interval.months;
    out->interval_month_day_nano->days = scalar->interval.days;
    out->interval_month_day_nano->nanos = scalar->interval.nanoseconds;
    return NULL;
}

static void set_int32(DatafusionCommon__ScalarValue *out, DatafusionCommon__ScalarValue__KindCase kind, int64_t value)
{
    out->kind_case = kind;
    out->int32 = (int32_t)value;
}

static void set_int64(DatafusionCommon__ScalarValue *out, DatafusionCommon__ScalarValue__KindCase kind, int64_t value)
{
    out->kind_case = kind;
    out->int64 = value;
}

static void set_uint32(DatafusionCommon__ScalarValue *out, DatafusionCommon__ScalarValue__KindCase kind, uint64_t value)
{
    out->kind_case = kind;
    out->uint32 = (uint32_t)value;
}

/* False for a type that is no plain number. */
static bool encode_number(const struct scalar *scalar, DatafusionCommon__ScalarValue *out)
{
    switch ((int)scalar->type.id) {
    case TYPE_BOOL:
        out->kind_case = KIND(BOOLEAN);
        out->boolean = scalar->boolean;
        return true;
    case TYPE_INT8:
        set_int32(out, KIND(INT8), scalar->int64);
        return true;
    case TYPE_INT16:
        set_int32(out, KIND(INT16), scalar->int64);
        return true;
    case TYPE_INT32:
        set_int32(out, KIND(INT32), scalar->int64);
        return true;
    case TYPE_DATE32:
        set_int32(out, KIND(DATE32), scalar->int64);
        return true;
    case TYPE_INTERVAL_MONTHS:
        set_int32(out, KIND(INTERVAL_YEAR_MONTH), scalar->int64);
        return true;
    case TYPE_INT64:
        set_int64(out, KIND(INT64), scalar->int64);
        return true;
    case TYPE_DATE64:
        set_int64(out, KIND(DATE64), scalar->int64);
        return true;
    case TYPE_UINT8:
        set_uint32(out, KIND(UINT8), scalar->uint64);
        return true;
    case TYPE_UINT16:
        set_uint32(out, KIND(UINT16), scalar->uint64);
        return true;
    case TYPE_UINT32:
        set_uint32(out, KIND(UINT32), scalar->uint64);
        return true;
    case TYPE_FLOAT16:
        set_uint32(out, KIND(FLOAT16), scalar->uint64);
        return true;
    case TYPE_UINT64:
        out->kind_case = KIND(UINT64);
        out->uint64 = scalar->uint64;
        return true;
    case TYPE_FLOAT32:
        out->kind_case = KIND(FLOAT32);
        out->float32 = scalar->float32;
        return true;
    case TYPE_FLOAT64:
        out->kind_case = KIND(FLOAT64);
        out->float64 = scalar->float64;
        return true;
    default:
        return false;
    }
}

static kith_error *encode_value(const struct scalar *scalar, struct arena *arena, DatafusionCommon__ScalarValue *out)
{
    char name[128];
    if (encode_number(scalar, out))
        return NULL;
    switch ((int)scalar->type.id) {
    case TYPE_UTF8:
    case TYPE_LARGE_UTF8:
    case TYPE_UTF8_VIEW:
    case TYPE_BINARY:
    case TYPE_LARGE_BINARY:
    case TYPE_BINARY_VIEW:
        encode_text(scalar, out);
        return NULL;
    case TYPE_FIXED_SIZE_BINARY:
        return encode_fixed_size_binary(scalar, arena, out);
    case TYPE_DECIMAL64:
    case TYPE_DECIMAL128:
        return encode_decimal(scalar, arena, out);
    case TYPE_TIME32:
    case TYPE_TIME64:
        return encode_time(scalar, arena, out);
    case TYPE_TIMESTAMP:
        return encode_timestamp(scalar, arena, out);
    case TYPE_DURATION:
        encode_duration(scalar, out);
        return NULL;
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_INTERVAL_MONTH_DAY_NANO:
        return encode_interval(scalar, arena, out);
    default:
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a value of type %s in a plan",
                         type_format(&scalar->type, name, sizeof name));
    }
}

kith_error *scalar_encode(const struct scalar *scalar, struct arena *arena, DatafusionCommon__ScalarValue **out)
{
    TRY(protobuf_new(arena, &datafusion_common__scalar_value__descriptor, out));
    return scalar->is_null ? encode_null(scalar, arena, *out) : encode_value(scalar, arena, *out);
}
