#include "wire/type_codec.h"

#include "wire/protobuf.h"

#include <inttypes.h>

#define KIND(name) DATAFUSION_COMMON__ARROW_TYPE__KIND_##name

/* Types without parameters, which DataFusion sends as an empty message each. */
static const struct {
    enum type_id id;
    DatafusionCommon__ArrowType__KindCase kind;
} plain_types[] = {
    {TYPE_NULL, KIND(NULL)},
    {TYPE_BOOL, KIND(BOOLEAN)},
    {TYPE_INT8, KIND(INT8)},
    {TYPE_INT16, KIND(INT16)},
    {TYPE_INT32, KIND(INT32)},
    {TYPE_INT64, KIND(INT64)},
    {TYPE_UINT8, KIND(UINT8)},
    {TYPE_UINT16, KIND(UINT16)},
    {TYPE_UINT32, KIND(UINT32)},
    {TYPE_UINT64, KIND(UINT64)},
    {TYPE_FLOAT16, KIND(FLOAT16)},
    {TYPE_FLOAT32, KIND(FLOAT32)},
    {TYPE_FLOAT64, KIND(FLOAT64)},
    {TYPE_DATE32, KIND(DATE32)},
    {TYPE_DATE64, KIND(DATE64)},
    {TYPE_UTF8, KIND(UTF8)},
    {TYPE_LARGE_UTF8, KIND(LARGE_UTF8)},
    {TYPE_UTF8_VIEW, KIND(UTF8_VIEW)},
    {TYPE_BINARY, KIND(BINARY)},
    {TYPE_LARGE_BINARY, KIND(LARGE_BINARY)},
    {TYPE_BINARY_VIEW, KIND(BINARY_VIEW)},
};

static kith_error *new_type(struct arena *arena, DatafusionCommon__ArrowType__KindCase kind,
                            DatafusionCommon__ArrowType **out)
{
    TRY(protobuf_new(arena, &datafusion_common__arrow_type__descriptor, out));
    (*out)->kind_case = kind;
    return NULL;
}

static kith_error *encode_plain(const struct data_type *type, struct arena *arena, DatafusionCommon__ArrowType **out)
{
    for (size_t i = 0; i < ARRAY_SIZE(plain_types); i++) {
        if (plain_types[i].id != type->id)
            continue;
        TRY(new_type(arena, plain_types[i].kind, out));
        /* All members of the union that hold an empty message lie in one place. */
        return protobuf_new(arena, &datafusion_common__empty_message__descriptor, &(*out)->null);
    }
    char name[128];
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "type %s in a plan", type_format(type, name, sizeof name));
}

static kith_error *encode_unit(DatafusionCommon__ArrowType__KindCase kind, enum time_unit unit, struct arena *arena,
                               DatafusionCommon__ArrowType **out)
{
    TRY(new_type(arena, kind, out));
    (*out)->duration = (DatafusionCommon__TimeUnit)unit;
    return NULL;
}

static kith_error *encode_interval(DatafusionCommon__IntervalUnit unit, struct arena *arena,
                                   DatafusionCommon__ArrowType **out)
{
    TRY(new_type(arena, KIND(INTERVAL), out));
    (*out)->interval = unit;
    return NULL;
}

static kith_error *encode_timestamp(const struct data_type *type, struct arena *arena,
                                    DatafusionCommon__ArrowType **out)
{
    DatafusionCommon__Timestamp *timestamp;
    TRY(protobuf_new(arena, &datafusion_common__timestamp__descriptor, &timestamp));
    timestamp->time_unit = (DatafusionCommon__TimeUnit)type->unit;
    TRY(arena_string(arena, type->timezone, strlen(type->timezone), &timestamp->timezone));
    TRY(new_type(arena, KIND(TIMESTAMP), out));
    (*out)->timestamp = timestamp;
    return NULL;
}

static kith_error *encode_decimal(DatafusionCommon__ArrowType__KindCase kind, const struct data_type *type,
                                  struct arena *arena, DatafusionCommon__ArrowType **out)
{
    DatafusionCommon__DecimalType *decimal;
    TRY(protobuf_new(arena, &datafusion_common__decimal_type__descriptor, &decimal));
    decimal->precision = type->precision;
    decimal->scale = type->scale;
    TRY(new_type(arena, kind, out));
    (*out)->decimal128 = decimal;
    return NULL;
}

static kith_error *encode_decoded(const struct data_type *type, struct arena *arena, DatafusionCommon__ArrowType **out)
{
    switch ((int)type->id) {
    case TYPE_TIME32:
        return encode_unit(KIND(TIME32), type->unit, arena, out);
    case TYPE_TIME64:
        return encode_unit(KIND(TIME64), type->unit, arena, out);
    case TYPE_DURATION:
        return encode_unit(KIND(DURATION), type->unit, arena, out);
    case TYPE_TIMESTAMP:
        return encode_timestamp(type, arena, out);
    case TYPE_INTERVAL_MONTHS:
        return encode_interval(DATAFUSION_COMMON__INTERVAL_UNIT__YEAR_MONTH, arena, out);
    case TYPE_INTERVAL_DAY_TIME:
        return encode_interval(DATAFUSION_COMMON__INTERVAL_UNIT__DAY_TIME, arena, out);
    case TYPE_INTERVAL_MONTH_DAY_NANO:
        return encode_interval(DATAFUSION_COMMON__INTERVAL_UNIT__MONTH_DAY_NANO, arena, out);
    case TYPE_DECIMAL64:
        return encode_decimal(KIND(DECIMAL64), type, arena, out);
    case TYPE_DECIMAL128:
        return encode_decimal(KIND(DECIMAL128), type, arena, out);
    case TYPE_FIXED_SIZE_BINARY:
        TRY(new_type(arena, KIND(FIXED_SIZE_BINARY), out));
        (*out)->fixed_size_binary = type->byte_width;
        return NULL;
    default:
        return encode_plain(type, arena, out);
    }
}

kith_error *type_encode(const struct data_type *type, struct arena *arena, DatafusionCommon__ArrowType **out)
{
    if (!type_is_dictionary(type))
        return encode_decoded(type, arena, out);
    DatafusionCommon__DictionaryType *dictionary;
    struct data_type index = type_of(type->index), value = type_decoded(type);
    TRY(protobuf_new(arena, &datafusion_common__dictionary_type__descriptor, &dictionary));
    TRY(encode_decoded(&index, arena, &dictionary->key));
    TRY(encode_decoded(&value, arena, &dictionary->value));
    TRY(new_type(arena, KIND(DICTIONARY), out));
    (*out)->dictionary = dictionary;
    return NULL;
}

static kith_error *decode_unit(enum type_id id, int given, enum time_unit least, enum time_unit most,
                               struct data_type *out)
{
    if (given < (int)least || given > (int)most)
        return error_new(KITH_ERROR_CORRUPT, "a type in the plan has the time unit %d", given);
    *out = type_of(id);
    out->unit = (enum time_unit)given;
    return NULL;
}

static kith_error *decode_timestamp(const DatafusionCommon__Timestamp *message, struct data_type *out)
{
    TRY(decode_unit(TYPE_TIMESTAMP, (int)message->time_unit, UNIT_SECOND, UNIT_NANOSECOND, out));
    size_t length = strlen(message->timezone);
    if (length >= sizeof out->timezone)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a time zone of %zu bytes; names of up to %zu are known", length,
                         sizeof out->timezone - 1);
    memcpy(out->timezone, message->timezone, length);
    return NULL;
}

static kith_error *decode_decimal(enum type_id id, int most, const DatafusionCommon__DecimalType *message,
                                  struct data_type *out)
{
    if (message->precision < 1 || message->precision > (uint32_t)most || message->scale < INT8_MIN ||
        message->scale > (int32_t)message->precision)
        return error_new(KITH_ERROR_CORRUPT, "a decimal type in the plan has %" PRIu32 " digits and the scale %" PRId32,
                         message->precision, message->scale);
    *out = type_of(id);
    out->precision = (uint8_t)message->precision;
    out->scale = (int8_t)message->scale;
    return NULL;
}

static kith_error *decode_interval(int unit, struct data_type *out)
{
    static const enum type_id ids[] = {TYPE_INTERVAL_MONTHS, TYPE_INTERVAL_DAY_TIME, TYPE_INTERVAL_MONTH_DAY_NANO};
    if (unit < 0 || unit >= (int)ARRAY_SIZE(ids))
        return error_new(KITH_ERROR_CORRUPT, "a type in the plan has the interval unit %d", unit);
    *out = type_of(ids[unit]);
    return NULL;
}

static kith_error *decode_dictionary(const DatafusionCommon__DictionaryType *message, struct data_type *out)
{
    struct data_type index, value;
    if (message->key == NULL || message->value == NULL)
        return error_new(KITH_ERROR_CORRUPT, "a dictionary type in the plan lacks its key or value type");
    /* Two levels at most: a value that is a dictionary itself is refused before it is looked into. */
    if (message->value->kind_case == KIND(DICTIONARY) || message->key->kind_case == KIND(DICTIONARY))
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a dictionary of dictionaries");
    TRY(type_decode(message->key, &index));
    TRY(type_decode(message->value, &value));
    if (!type_is_integer(index.id) || type_is_nested(value.id) || value.id == TYPE_NULL)
        return error_new(KITH_ERROR_CORRUPT, "a dictionary type in the plan has no integer key or no flat value type");
    *out = value;
    out->index = index.id;
    return NULL;
}

static kith_error *decode_plain(const DatafusionCommon__ArrowType *message, struct data_type *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(plain_types); i++) {
        if (plain_types[i].kind != message->kind_case)
            continue;
        *out = type_of(plain_types[i].id);
        return NULL;
    }
    if (message->kind_case == KIND(_NOT_SET))
        return error_new(KITH_ERROR_CORRUPT, "a type in the plan is empty");
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "type %s is not implemented",
                     protobuf_field_name(&datafusion_common__arrow_type__descriptor, (unsigned)message->kind_case));
}

kith_error *type_decode(const DatafusionCommon__ArrowType *message, struct data_type *out)
{
    switch ((int)message->kind_case) {
    case KIND(FIXED_SIZE_BINARY):
        if (message->fixed_size_binary < 0)
            return error_new(KITH_ERROR_CORRUPT, "a type in the plan has values of %" PRId32 " bytes",
                             message->fixed_size_binary);
        *out = type_of(TYPE_FIXED_SIZE_BINARY);
        out->byte_width = message->fixed_size_binary;
        return NULL;
    case KIND(TIME32):
        return decode_unit(TYPE_TIME32, (int)message->time32, UNIT_SECOND, UNIT_MILLISECOND, out);
    case KIND(TIME64):
        return decode_unit(TYPE_TIME64, (int)message->time64, UNIT_MICROSECOND, UNIT_NANOSECOND, out);
    case KIND(DURATION):
        return decode_unit(TYPE_DURATION, (int)message->duration, UNIT_SECOND, UNIT_NANOSECOND, out);
    case KIND(TIMESTAMP):
        return decode_timestamp(message->timestamp, out);
    case KIND(INTERVAL):
        return decode_interval((int)message->interval, out);
    case KIND(DECIMAL64):
        return decode_decimal(TYPE_DECIMAL64, DECIMAL64_MAX_PRECISION, message->decimal64, out);
    case KIND(DECIMAL128):
        return decode_decimal(TYPE_DECIMAL128, DECIMAL128_MAX_PRECISION, message->decimal128, out);
    case KIND(DICTIONARY):
        return decode_dictionary(message->dictionary, out);
    case KIND(LIST):
        *out = type_of(TYPE_LIST);
        return NULL;
    case KIND(STRUCT_TYPE):
        *out = type_of(TYPE_STRUCT);
        return NULL;
    case KIND(MAP):
        *out = type_of(TYPE_MAP);
        return NULL;
    default:
        return decode_plain(message, out);
    }
}

kith_error *type_require_flat(const struct data_type *type)
{
    char name[128];
    if (!type_is_nested(type->id))
        return NULL;
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a value of the nested type %s in a plan",
                     type_format(type, name, sizeof name));
}
