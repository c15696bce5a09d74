#include "parquet/metadata_parse.h"

#include <string.h>

/* ConvertedType's numbers (parquet.thrift). */
enum converted_type {
    CONVERTED_UTF8 = 0,
    CONVERTED_MAP = 1,
    CONVERTED_MAP_KEY_VALUE = 2,
    CONVERTED_LIST = 3,
    CONVERTED_ENUM = 4,
    CONVERTED_DECIMAL = 5,
    CONVERTED_DATE = 6,
    CONVERTED_TIME_MILLIS = 7,
    CONVERTED_TIME_MICROS = 8,
    CONVERTED_TIMESTAMP_MILLIS = 9,
    CONVERTED_TIMESTAMP_MICROS = 10,
    CONVERTED_UINT_8 = 11,
    CONVERTED_UINT_64 = 14,
    CONVERTED_INT_8 = 15,
    CONVERTED_INT_64 = 18,
    CONVERTED_JSON = 19,
    CONVERTED_BSON = 20,
    CONVERTED_INTERVAL = 21
};

/* Timestamps of the older annotation have no time zone here: the format calls them UTC, but writers put local times
 * under it, and pyarrow, DuckDB and DataFusion all read them without. */
kith_error *annotation_read_converted(struct thrift_reader *reader, const struct thrift_field *field,
                                      struct annotation *out)
{
    static const struct annotation translations[] = {
        [CONVERTED_UTF8] = {.kind = ANNOTATION_STRING},
        [CONVERTED_MAP] = {.kind = ANNOTATION_MAP},
        [CONVERTED_MAP_KEY_VALUE] = {.kind = ANNOTATION_MAP},
        [CONVERTED_LIST] = {.kind = ANNOTATION_LIST},
        [CONVERTED_ENUM] = {.kind = ANNOTATION_ENUM},
        [CONVERTED_DECIMAL] = {.kind = ANNOTATION_DECIMAL},
        [CONVERTED_DATE] = {.kind = ANNOTATION_DATE},
        [CONVERTED_TIME_MILLIS] = {.kind = ANNOTATION_TIME, .unit = UNIT_MILLISECOND},
        [CONVERTED_TIME_MICROS] = {.kind = ANNOTATION_TIME, .unit = UNIT_MICROSECOND},
        [CONVERTED_TIMESTAMP_MILLIS] = {.kind = ANNOTATION_TIMESTAMP, .unit = UNIT_MILLISECOND},
        [CONVERTED_TIMESTAMP_MICROS] = {.kind = ANNOTATION_TIMESTAMP, .unit = UNIT_MICROSECOND},
        [CONVERTED_JSON] = {.kind = ANNOTATION_JSON},
        [CONVERTED_BSON] = {.kind = ANNOTATION_BSON},
        [CONVERTED_INTERVAL] = {.kind = ANNOTATION_INTERVAL},
    };
    int32_t number;
    TRY(thrift_read_i32(reader, field, &number));
    if (number < 0 || number > CONVERTED_INTERVAL)
        return thrift_corrupt(reader, "%d is no converted type that the format has", number);
    if (number >= CONVERTED_UINT_8 && number <= CONVERTED_INT_64) {
        bool is_signed = number >= CONVERTED_INT_8;
        int32_t first = is_signed ? CONVERTED_INT_8 : CONVERTED_UINT_8;
        *out =
            (struct annotation){.kind = ANNOTATION_INTEGER, .is_signed = is_signed, .bit_width = 8 << (number - first)};
    } else {
        *out = translations[number];
    }
    return NULL;
}

static kith_error *read_time_unit(struct thrift_reader *reader, const struct thrift_field *field, enum time_unit *out)
{
    struct thrift_field unit = {0};
    bool found = false;
    TRY(thrift_expect_struct(reader, field));
    for (;;) {
        TRY(thrift_next_field(reader, &unit));
        if (unit.type == THRIFT_STOP)
            break;
        if (unit.id < 1 || unit.id > 3)
            return thrift_corrupt(reader, "%d is no unit of time that the format has", unit.id);
        *out = unit.id == 1 ? UNIT_MILLISECOND : unit.id == 2 ? UNIT_MICROSECOND : UNIT_NANOSECOND;
        found = true;
        TRY(thrift_skip(reader, &unit));
    }
    return found ? NULL : thrift_corrupt(reader, "a time has no unit");
}

static kith_error *read_bit_width(struct thrift_reader *reader, const struct thrift_field *field, int32_t *out)
{
    if (field->type != THRIFT_I8 || thrift_left(reader) == 0)
        return thrift_corrupt(reader, "an integer's width is no byte");
    *out = *reader->at++;
    return NULL;
}

/* The fields of all parameterised members of the union: their ids and types do not clash but for the kind. */
static kith_error *read_parameters(struct thrift_reader *reader, struct annotation *out)
{
    struct thrift_field field = {0};
    for (;;) {
        TRY(thrift_next_field(reader, &field));
        if (field.type == THRIFT_STOP)
            return NULL;
        bool first = field.id == 1, second = field.id == 2;
        bool is_time = out->kind == ANNOTATION_TIME || out->kind == ANNOTATION_TIMESTAMP;
        if (out->kind == ANNOTATION_DECIMAL && first)
            TRY(thrift_read_i32(reader, &field, &out->scale));
        else if (out->kind == ANNOTATION_DECIMAL && second)
            TRY(thrift_read_i32(reader, &field, &out->precision));
        else if (is_time && first)
            TRY(thrift_read_bool(reader, &field, &out->utc));
        else if (is_time && second)
            TRY(read_time_unit(reader, &field, &out->unit));
        else if (out->kind == ANNOTATION_INTEGER && first)
            TRY(read_bit_width(reader, &field, &out->bit_width));
        else if (out->kind == ANNOTATION_INTEGER && second)
            TRY(thrift_read_bool(reader, &field, &out->is_signed));
        else
            TRY(thrift_skip(reader, &field));
    }
}

kith_error *annotation_read_logical(struct thrift_reader *reader, const struct thrift_field *field,
                                    struct annotation *out)
{
    struct thrift_field member = {0};
    TRY(thrift_expect_struct(reader, field));
    *out = (struct annotation){0};
    for (;;) {
        TRY(thrift_next_field(reader, &member));
        if (member.type == THRIFT_STOP)
            return NULL;
        bool known =
            member.id >= ANNOTATION_STRING && member.id < ANNOTATION_UNKNOWN && member.id != ANNOTATION_INTERVAL;
        *out = (struct annotation){.kind = known ? (enum annotation_kind)member.id : ANNOTATION_UNKNOWN};
        if (known && member.type == THRIFT_STRUCT)
            TRY(read_parameters(reader, out));
        else
            TRY(thrift_skip(reader, &member));
    }
}

/* Digits that a two's complement number of `bytes` bytes can always hold: floor(log10(2^(8 bytes - 1) - 1)). */
static int32_t decimal_digits(int32_t bytes)
{
    return bytes >= 17 ? INT32_MAX : (int32_t)((8 * bytes - 1) * 0.30102999566398120);
}

static const char *resolve_decimal(const struct schema_element *element, struct parquet_column *column)
{
    const struct annotation *annotation = &element->annotation;
    int32_t precision = annotation->precision, scale = annotation->scale, most = INT32_MAX;
    switch (element->type) {
    case PARQUET_INT32:
        most = 9;
        break;
    case PARQUET_INT64:
        most = 18;
        break;
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        most = decimal_digits(element->type_length);
        break;
    case PARQUET_BYTE_ARRAY:
        break;
    case PARQUET_BOOLEAN:
    case PARQUET_INT96:
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        return "a decimal is stored in a type that cannot hold one";
    }
    if (precision < 1 || scale < 0 || scale > precision || precision > most)
        return "the precision and scale of a decimal do not fit each other or the type they are stored in";
    if (precision > DECIMAL128_MAX_PRECISION)
        return "decimals of more than 38 digits are not supported";
    /* By digits alone: files of one table may store the same decimal in different ways. */
    column->type = type_decimal((uint8_t)precision, (int8_t)scale);
    column->legacy_order_defined = element->type == PARQUET_INT32 || element->type == PARQUET_INT64;
    return NULL;
}

static const char *resolve_integer(const struct schema_element *element, struct parquet_column *column)
{
    static const enum type_id ids[4][2] = {
        {TYPE_UINT8, TYPE_INT8}, {TYPE_UINT16, TYPE_INT16}, {TYPE_UINT32, TYPE_INT32}, {TYPE_UINT64, TYPE_INT64}};
    int32_t width = element->annotation.bit_width;
    int row = width == 8 ? 0 : width == 16 ? 1 : width == 32 ? 2 : width == 64 ? 3 : -1;
    if (row < 0 || element->type != (row == 3 ? PARQUET_INT64 : PARQUET_INT32))
        return "an integer's width does not fit the type it is stored in";
    column->type = type_of(ids[row][element->annotation.is_signed]);
    column->legacy_order_defined = element->annotation.is_signed;
    return NULL;
}

static const char *resolve_time(const struct schema_element *element, struct parquet_column *column)
{
    const struct annotation *annotation = &element->annotation;
    bool millis = annotation->unit == UNIT_MILLISECOND;
    column->legacy_order_defined = true;
    if (annotation->kind == ANNOTATION_TIMESTAMP) {
        column->type = type_timestamp(annotation->unit, annotation->utc ? "UTC" : "");
        return element->type == PARQUET_INT64 ? NULL : "a timestamp is not stored in 64 bits";
    }
    column->type = type_of(millis ? TYPE_TIME32 : TYPE_TIME64);
    column->type.unit = annotation->unit;
    return element->type == (millis ? PARQUET_INT32 : PARQUET_INT64) ? NULL : "a time is stored in a wrong width";
}

static struct data_type fixed_size_binary(int32_t width)
{
    struct data_type type = type_of(TYPE_FIXED_SIZE_BINARY);
    type.byte_width = width;
    return type;
}

/* Without an annotation, or with one that adds nothing. */
static void resolve_physical(const struct schema_element *element, struct parquet_column *column)
{
    column->legacy_order_defined = true;
    switch (element->type) {
    case PARQUET_BOOLEAN:
        column->type = type_of(TYPE_BOOL);
        return;
    case PARQUET_INT32:
        column->type = type_of(TYPE_INT32);
        return;
    case PARQUET_INT64:
        column->type = type_of(TYPE_INT64);
        return;
    case PARQUET_FLOAT:
        column->type = type_of(TYPE_FLOAT32);
        return;
    case PARQUET_DOUBLE:
        column->type = type_of(TYPE_FLOAT64);
        return;
    case PARQUET_INT96:
        column->type = type_timestamp(UNIT_NANOSECOND, "");
        column->order_defined = column->legacy_order_defined = false;
        return;
    case PARQUET_BYTE_ARRAY:
        column->type = type_of(TYPE_BINARY);
        column->legacy_order_defined = false;
        return;
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        column->type = fixed_size_binary(element->type_length);
        column->legacy_order_defined = false;
        return;
    }
}

/* A type that one physical type alone may carry. */
static const char *resolve_to(const struct schema_element *element, enum parquet_type physical, int32_t length,
                              struct data_type type, struct parquet_column *column)
{
    column->type = type;
    if (element->type != physical || (length != 0 && element->type_length != length))
        return "its logical type does not fit the type it is stored in";
    return NULL;
}

static const char *resolve(const struct schema_element *element, struct parquet_column *column)
{
    switch (element->annotation.kind) {
    case ANNOTATION_STRING:
    case ANNOTATION_ENUM:
    case ANNOTATION_JSON:
        return resolve_to(element, PARQUET_BYTE_ARRAY, 0, type_of(TYPE_UTF8), column);
    case ANNOTATION_BSON:
        return resolve_to(element, PARQUET_BYTE_ARRAY, 0, type_of(TYPE_BINARY), column);
    case ANNOTATION_UUID:
        return resolve_to(element, PARQUET_FIXED_LEN_BYTE_ARRAY, 16, fixed_size_binary(16), column);
    case ANNOTATION_FLOAT16:
        return resolve_to(element, PARQUET_FIXED_LEN_BYTE_ARRAY, 2, type_of(TYPE_FLOAT16), column);
    case ANNOTATION_DATE:
        column->legacy_order_defined = true;
        return resolve_to(element, PARQUET_INT32, 0, type_of(TYPE_DATE32), column);
    case ANNOTATION_INTERVAL:
        column->order_defined = false;
        return resolve_to(element, PARQUET_FIXED_LEN_BYTE_ARRAY, 12, fixed_size_binary(12), column);
    case ANNOTATION_NULL:
        column->order_defined = false;
        column->type = type_of(TYPE_NULL);
        return NULL;
    case ANNOTATION_DECIMAL:
        return resolve_decimal(element, column);
    case ANNOTATION_INTEGER:
        return resolve_integer(element, column);
    case ANNOTATION_TIME:
    case ANNOTATION_TIMESTAMP:
        return resolve_time(element, column);
    case ANNOTATION_NONE:
        resolve_physical(element, column);
        return NULL;
    case ANNOTATION_MAP:
    case ANNOTATION_LIST:
    case ANNOTATION_VARIANT:
    case ANNOTATION_GEOMETRY:
    case ANNOTATION_GEOGRAPHY:
    case ANNOTATION_VECTOR:
    case ANNOTATION_UNKNOWN:
        break;
    }
    resolve_physical(element, column);
    column->order_defined = column->legacy_order_defined = false;
    return NULL;
}

void column_resolve_type(const struct schema_element *element, struct parquet_column *column)
{
    column->physical = element->type;
    column->type_length = element->type == PARQUET_FIXED_LEN_BYTE_ARRAY ? element->type_length : 0;
    column->order_defined = true;
    column->legacy_order_defined = false;
    column->unreadable_reason = resolve(element, column);
    column->readable = column->unreadable_reason == NULL;
    if (!column->readable) {
        resolve_physical(element, column);
        column->order_defined = column->legacy_order_defined = false;
    }
}
