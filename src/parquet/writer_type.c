#include "parquet/writer_parts.h"

static kith_error *not_storable(const struct field *field, const char *why)
{
    char name[128];
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "column \"%.100s\" of type %s cannot be written: %s", field->name,
                     type_format(&field->type, name, sizeof name), why);
}

static void store_as(struct schema_element *element, enum parquet_type physical, enum annotation_kind kind)
{
    element->type = physical;
    element->annotation.kind = kind;
}

static void store_integer(struct schema_element *element, int32_t bit_width, bool is_signed)
{
    /* Plain INT32 and INT64 need no annotation. */
    bool plain = is_signed && bit_width >= 32;
    store_as(element, bit_width == 64 ? PARQUET_INT64 : PARQUET_INT32, plain ? ANNOTATION_NONE : ANNOTATION_INTEGER);
    element->annotation.bit_width = bit_width;
    element->annotation.is_signed = is_signed;
}

static void store_fixed(struct schema_element *element, int32_t width, enum annotation_kind kind)
{
    store_as(element, PARQUET_FIXED_LEN_BYTE_ARRAY, kind);
    element->type_length = width;
}

/* Bytes that hold every number of so many digits: the least n with 2^(8n - 1) > 10^digits - 1. */
static int32_t decimal_bytes(uint8_t digits)
{
    unsigned __int128 limit = 1;
    for (uint8_t i = 0; i < digits; i++)
        limit *= 10;
    int32_t bytes = 1;
    while (bytes < 16 && ((unsigned __int128)1 << (8 * bytes - 1)) < limit)
        bytes++;
    return bytes;
}

static void store_decimal(struct schema_element *element, const struct data_type *type)
{
    enum { INT32_DIGITS = 9 };
    if (type->id == TYPE_DECIMAL128)
        store_fixed(element, decimal_bytes(type->precision), ANNOTATION_DECIMAL);
    else
        store_as(element, type->precision <= INT32_DIGITS ? PARQUET_INT32 : PARQUET_INT64, ANNOTATION_DECIMAL);
    element->annotation.precision = type->precision;
    element->annotation.scale = type->scale;
}

/* The format has no seconds: they are stored as milliseconds. */
static void store_time(struct schema_element *element, const struct data_type *type)
{
    enum time_unit unit = type->unit == UNIT_SECOND ? UNIT_MILLISECOND : type->unit;
    if (type->id == TYPE_TIMESTAMP)
        store_as(element, PARQUET_INT64, ANNOTATION_TIMESTAMP);
    else
        store_as(element, type->id == TYPE_TIME32 ? PARQUET_INT32 : PARQUET_INT64, ANNOTATION_TIME);
    element->annotation.unit = unit;
    element->annotation.utc = type->id == TYPE_TIMESTAMP && type->timezone[0] != '\0';
}

static kith_error *choose(const struct field *field, struct schema_element *element)
{
    const struct data_type *type = &field->type;
    switch (type->id) {
    case TYPE_NULL:
        store_as(element, PARQUET_INT32, ANNOTATION_NULL);
        return NULL;
    case TYPE_BOOL:
        store_as(element, PARQUET_BOOLEAN, ANNOTATION_NONE);
        return NULL;
    case TYPE_INT8:
    case TYPE_INT16:
    case TYPE_INT32:
    case TYPE_INT64:
    case TYPE_UINT8:
    case TYPE_UINT16:
    case TYPE_UINT32:
    case TYPE_UINT64:
        store_integer(element, 8 * (int32_t)type_width(type), type_is_signed_integer(type->id));
        return NULL;
    case TYPE_FLOAT16:
        store_fixed(element, 2, ANNOTATION_FLOAT16);
        return NULL;
    case TYPE_FLOAT32:
        store_as(element, PARQUET_FLOAT, ANNOTATION_NONE);
        return NULL;
    case TYPE_FLOAT64:
        store_as(element, PARQUET_DOUBLE, ANNOTATION_NONE);
        return NULL;
    case TYPE_DECIMAL64:
    case TYPE_DECIMAL128:
        if (type->scale < 0 || type->scale > type->precision)
            return not_storable(field, "the format wants a scale between 0 and the precision");
        store_decimal(element, type);
        return NULL;
    case TYPE_DATE32:
    case TYPE_DATE64:
        store_as(element, PARQUET_INT32, ANNOTATION_DATE);
        return NULL;
    case TYPE_TIME32:
    case TYPE_TIME64:
    case TYPE_TIMESTAMP:
        store_time(element, type);
        return NULL;
    case TYPE_UTF8:
    case TYPE_LARGE_UTF8:
    case TYPE_UTF8_VIEW:
        store_as(element, PARQUET_BYTE_ARRAY, ANNOTATION_STRING);
        return NULL;
    case TYPE_BINARY:
    case TYPE_LARGE_BINARY:
    case TYPE_BINARY_VIEW:
        store_as(element, PARQUET_BYTE_ARRAY, ANNOTATION_NONE);
        return NULL;
    case TYPE_FIXED_SIZE_BINARY:
        if (type->byte_width <= 0)
            return not_storable(field, "the format has no values of no bytes");
        store_fixed(element, type->byte_width, ANNOTATION_NONE);
        return NULL;
    case TYPE_DURATION:
        return not_storable(field, "the format has no durations; cast it to an integer");
    case TYPE_INTERVAL_MONTHS:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_INTERVAL_MONTH_DAY_NANO:
        return not_storable(field, "the format's intervals have no sign and no nanoseconds");
    case TYPE_LIST:
    case TYPE_STRUCT:
    case TYPE_MAP:
    case TYPE_COUNT:
        break;
    }
    return not_storable(field, "nested columns are not supported");
}

static size_t physical_width(const struct schema_element *element)
{
    switch (element->type) {
    case PARQUET_BOOLEAN:
        return 1;
    case PARQUET_INT32:
    case PARQUET_FLOAT:
        return 4;
    case PARQUET_INT64:
    case PARQUET_DOUBLE:
        return 8;
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        return (size_t)element->type_length;
    case PARQUET_INT96:
    case PARQUET_BYTE_ARRAY:
        break;
    }
    return 0;
}

kith_error *writer_type_of(const struct field *field, struct writer_type *out)
{
    bool optional = field->nullable || field->type.id == TYPE_NULL;
    *out = (struct writer_type){.element = {.name = str_of(field->name),
                                            .has_type = true,
                                            .has_repetition = true,
                                            .repetition = optional ? REPETITION_OPTIONAL : REPETITION_REQUIRED}};
    TRY(choose(field, &out->element));
    out->width = physical_width(&out->element);
    out->column.path = field->name;
    column_resolve_type(&out->element, &out->column);
    out->column.nullable = optional;
    out->column.max_definition_level = optional;
    return NULL;
}
