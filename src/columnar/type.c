#include "columnar/type.h"

#include <stdio.h>

enum type_class { CLASS_OTHER, CLASS_SIGNED, CLASS_UNSIGNED, CLASS_FLOAT, CLASS_DECIMAL, CLASS_TEMPORAL };

static const struct type_info {
    const char *name;
    size_t width;
    enum type_layout layout;
    enum type_class class;
    bool has_unit;
} infos[TYPE_COUNT] = {
    [TYPE_NULL] = {"Null", 0, LAYOUT_NULL, CLASS_OTHER, false},
    [TYPE_BOOL] = {"Boolean", 0, LAYOUT_BITS, CLASS_OTHER, false},
    [TYPE_INT8] = {"Int8", 1, LAYOUT_FIXED, CLASS_SIGNED, false},
    [TYPE_INT16] = {"Int16", 2, LAYOUT_FIXED, CLASS_SIGNED, false},
    [TYPE_INT32] = {"Int32", 4, LAYOUT_FIXED, CLASS_SIGNED, false},
    [TYPE_INT64] = {"Int64", 8, LAYOUT_FIXED, CLASS_SIGNED, false},
    [TYPE_UINT8] = {"UInt8", 1, LAYOUT_FIXED, CLASS_UNSIGNED, false},
    [TYPE_UINT16] = {"UInt16", 2, LAYOUT_FIXED, CLASS_UNSIGNED, false},
    [TYPE_UINT32] = {"UInt32", 4, LAYOUT_FIXED, CLASS_UNSIGNED, false},
    [TYPE_UINT64] = {"UInt64", 8, LAYOUT_FIXED, CLASS_UNSIGNED, false},
    [TYPE_FLOAT16] = {"Float16", 2, LAYOUT_FIXED, CLASS_FLOAT, false},
    [TYPE_FLOAT32] = {"Float32", 4, LAYOUT_FIXED, CLASS_FLOAT, false},
    [TYPE_FLOAT64] = {"Float64", 8, LAYOUT_FIXED, CLASS_FLOAT, false},
    [TYPE_DECIMAL64] = {"Decimal64", 8, LAYOUT_FIXED, CLASS_DECIMAL, false},
    [TYPE_DECIMAL128] = {"Decimal128", 16, LAYOUT_FIXED, CLASS_DECIMAL, false},
    [TYPE_DATE32] = {"Date32", 4, LAYOUT_FIXED, CLASS_TEMPORAL, false},
    [TYPE_DATE64] = {"Date64", 8, LAYOUT_FIXED, CLASS_TEMPORAL, false},
    [TYPE_TIME32] = {"Time32", 4, LAYOUT_FIXED, CLASS_TEMPORAL, true},
    [TYPE_TIME64] = {"Time64", 8, LAYOUT_FIXED, CLASS_TEMPORAL, true},
    [TYPE_TIMESTAMP] = {"Timestamp", 8, LAYOUT_FIXED, CLASS_TEMPORAL, true},
    [TYPE_DURATION] = {"Duration", 8, LAYOUT_FIXED, CLASS_TEMPORAL, true},
    [TYPE_INTERVAL_MONTHS] = {"Interval(YearMonth)", 4, LAYOUT_FIXED, CLASS_TEMPORAL, false},
    [TYPE_INTERVAL_DAY_TIME] = {"Interval(DayTime)", 8, LAYOUT_FIXED, CLASS_TEMPORAL, false},
    [TYPE_INTERVAL_MONTH_DAY_NANO] = {"Interval(MonthDayNano)", 16, LAYOUT_FIXED, CLASS_TEMPORAL, false},
    [TYPE_UTF8] = {"Utf8", 0, LAYOUT_OFFSETS32, CLASS_OTHER, false},
    [TYPE_LARGE_UTF8] = {"LargeUtf8", 0, LAYOUT_OFFSETS64, CLASS_OTHER, false},
    [TYPE_UTF8_VIEW] = {"Utf8View", 0, LAYOUT_VIEW, CLASS_OTHER, false},
    [TYPE_BINARY] = {"Binary", 0, LAYOUT_OFFSETS32, CLASS_OTHER, false},
    [TYPE_LARGE_BINARY] = {"LargeBinary", 0, LAYOUT_OFFSETS64, CLASS_OTHER, false},
    [TYPE_BINARY_VIEW] = {"BinaryView", 0, LAYOUT_VIEW, CLASS_OTHER, false},
    [TYPE_FIXED_SIZE_BINARY] = {"FixedSizeBinary", 0, LAYOUT_FIXED, CLASS_OTHER, false},
    [TYPE_LIST] = {"List", 0, LAYOUT_LIST, CLASS_OTHER, false},
    [TYPE_STRUCT] = {"Struct", 0, LAYOUT_STRUCT, CLASS_OTHER, false},
    [TYPE_MAP] = {"Map", 0, LAYOUT_LIST, CLASS_OTHER, false},
};

struct data_type type_timestamp(enum time_unit unit, const char *timezone)
{
    struct data_type type = {.id = TYPE_TIMESTAMP, .unit = unit};
    snprintf(type.timezone, sizeof type.timezone, "%s", timezone == NULL ? "" : timezone);
    return type;
}

struct data_type type_decimal(uint8_t precision, int8_t scale)
{
    enum type_id id = precision <= DECIMAL64_MAX_PRECISION ? TYPE_DECIMAL64 : TYPE_DECIMAL128;
    return (struct data_type){.id = id, .precision = precision, .scale = scale};
}

struct data_type type_decoded(const struct data_type *type)
{
    struct data_type decoded = *type;
    decoded.index = TYPE_NULL;
    decoded.dictionary_ordered = false;
    return decoded;
}

bool type_equal(const struct data_type *a, const struct data_type *b)
{
    return a->index == b->index && type_equal_decoded(a, b);
}

bool type_equal_decoded(const struct data_type *a, const struct data_type *b)
{
    if (a->id != b->id)
        return false;
    if (infos[a->id].has_unit && a->unit != b->unit)
        return false;
    if (a->id == TYPE_TIMESTAMP && strcmp(a->timezone, b->timezone) != 0)
        return false;
    if (type_is_decimal(a->id) && (a->precision != b->precision || a->scale != b->scale))
        return false;
    return a->id != TYPE_FIXED_SIZE_BINARY || a->byte_width == b->byte_width;
}

size_t type_width(const struct data_type *type)
{
    if (type_is_dictionary(type))
        return infos[type->index].width;
    return type->id == TYPE_FIXED_SIZE_BINARY ? (size_t)type->byte_width : infos[type->id].width;
}

enum type_layout type_layout(const struct data_type *type)
{
    return type_is_dictionary(type) ? LAYOUT_FIXED : infos[type->id].layout;
}

bool type_is_integer(enum type_id id)
{
    return infos[id].class == CLASS_SIGNED || infos[id].class == CLASS_UNSIGNED;
}

bool type_is_signed_integer(enum type_id id)
{
    return infos[id].class == CLASS_SIGNED;
}

bool type_is_float(enum type_id id)
{
    return infos[id].class == CLASS_FLOAT;
}

bool type_is_decimal(enum type_id id)
{
    return infos[id].class == CLASS_DECIMAL;
}

bool type_is_numeric(enum type_id id)
{
    return type_is_integer(id) || type_is_float(id) || type_is_decimal(id);
}

bool type_is_string(enum type_id id)
{
    return id == TYPE_UTF8 || id == TYPE_LARGE_UTF8 || id == TYPE_UTF8_VIEW;
}

bool type_is_binary(enum type_id id)
{
    return id == TYPE_BINARY || id == TYPE_LARGE_BINARY || id == TYPE_BINARY_VIEW || id == TYPE_FIXED_SIZE_BINARY;
}

bool type_is_view(enum type_id id)
{
    return id == TYPE_UTF8_VIEW || id == TYPE_BINARY_VIEW;
}

bool type_is_temporal(enum type_id id)
{
    return infos[id].class == CLASS_TEMPORAL;
}

bool type_is_nested(enum type_id id)
{
    return infos[id].layout == LAYOUT_LIST || infos[id].layout == LAYOUT_STRUCT;
}

static void format_decoded(const struct data_type *type, char *out, size_t size)
{
    static const char *const units[] = {"Second", "Millisecond", "Microsecond", "Nanosecond"};
    const char *name = infos[type->id].name;
    if (type_is_decimal(type->id))
        snprintf(out, size, "%s(%u, %d)", name, type->precision, type->scale);
    else if (type->id == TYPE_FIXED_SIZE_BINARY)
        snprintf(out, size, "%s(%d)", name, (int)type->byte_width);
    else if (type->id == TYPE_TIMESTAMP && type->timezone[0] != '\0')
        snprintf(out, size, "%s(%s, \"%s\")", name, units[type->unit], type->timezone);
    else if (infos[type->id].has_unit)
        snprintf(out, size, "%s(%s)", name, units[type->unit]);
    else
        snprintf(out, size, "%s", name);
}

char *type_format(const struct data_type *type, char *out, size_t size)
{
    char decoded[96];
    format_decoded(type, decoded, sizeof decoded);
    if (type_is_dictionary(type))
        snprintf(out, size, "Dictionary(%s, %s)", infos[type->index].name, decoded);
    else
        snprintf(out, size, "%s", decoded);
    return out;
}
