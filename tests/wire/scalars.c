#include "wire/scalars.h"

#include <math.h>

#define TEXT(text)                              \
    {                                           \
        .data = text, .length = sizeof text - 1 \
    }
#define DECIMAL(digits, places) .precision = (digits), .scale = (places)
#define NO_VALUE(...)                          \
    {                                          \
        .type = {__VA_ARGS__}, .is_null = true \
    }

static const struct scalar values[] = {
    {.type = {.id = TYPE_BOOL}, .boolean = true},
    {.type = {.id = TYPE_BOOL}, .boolean = false},
    {.type = {.id = TYPE_INT8}, .int64 = INT8_MIN},
    {.type = {.id = TYPE_INT16}, .int64 = INT16_MIN},
    {.type = {.id = TYPE_INT32}, .int64 = INT32_MIN},
    {.type = {.id = TYPE_INT64}, .int64 = INT64_MIN},
    {.type = {.id = TYPE_INT64}, .int64 = 0},
    {.type = {.id = TYPE_UINT8}, .uint64 = UINT8_MAX},
    {.type = {.id = TYPE_UINT16}, .uint64 = UINT16_MAX},
    {.type = {.id = TYPE_UINT32}, .uint64 = UINT32_MAX},
    {.type = {.id = TYPE_UINT64}, .uint64 = UINT64_MAX},
    {.type = {.id = TYPE_FLOAT16}, .uint64 = 0x3c01},
    {.type = {.id = TYPE_FLOAT32}, .float32 = -0.0F},
    {.type = {.id = TYPE_FLOAT64}, .float64 = -0.0},
    {.type = {.id = TYPE_FLOAT64}, .float64 = NAN},
    {.type = {.id = TYPE_DECIMAL64, DECIMAL(15, 2)}, .int64 = -123456},
    {.type = {.id = TYPE_DECIMAL128, DECIMAL(38, 10)}, .decimal = -((__int128)1 << 100)},
    {.type = {.id = TYPE_DATE32}, .int64 = -719528},
    {.type = {.id = TYPE_DATE64}, .int64 = 86400000},
    {.type = {.id = TYPE_TIME32, .unit = UNIT_SECOND}, .int64 = 86399},
    {.type = {.id = TYPE_TIME32, .unit = UNIT_MILLISECOND}, .int64 = 0},
    {.type = {.id = TYPE_TIME64, .unit = UNIT_MICROSECOND}, .int64 = 1},
    {.type = {.id = TYPE_TIME64, .unit = UNIT_NANOSECOND}, .int64 = 86399999999999},
    {.type = {.id = TYPE_TIMESTAMP, .unit = UNIT_SECOND}, .int64 = -1},
    {.type = {.id = TYPE_TIMESTAMP, .unit = UNIT_MILLISECOND, .timezone = "UTC"}, .int64 = 0},
    {.type = {.id = TYPE_TIMESTAMP, .unit = UNIT_MICROSECOND, .timezone = "Europe/Vienna"}, .int64 = INT64_MAX},
    {.type = {.id = TYPE_TIMESTAMP, .unit = UNIT_NANOSECOND}, .int64 = INT64_MIN},
    {.type = {.id = TYPE_DURATION, .unit = UNIT_SECOND}, .int64 = 1},
    {.type = {.id = TYPE_DURATION, .unit = UNIT_MILLISECOND}, .int64 = 2},
    {.type = {.id = TYPE_DURATION, .unit = UNIT_MICROSECOND}, .int64 = 3},
    {.type = {.id = TYPE_DURATION, .unit = UNIT_NANOSECOND}, .int64 = -4},
    {.type = {.id = TYPE_INTERVAL_MONTHS}, .int64 = -12},
    {.type = {.id = TYPE_INTERVAL_DAY_TIME}, .interval = {.days = -3, .nanoseconds = 5000000}},
    {.type = {.id = TYPE_INTERVAL_MONTH_DAY_NANO}, .interval = {.months = 1, .days = -2, .nanoseconds = 3}},
    {.type = {.id = TYPE_UTF8}, .string = TEXT("")},
    {.type = {.id = TYPE_UTF8}, .string = TEXT("a\0b")},
    {.type = {.id = TYPE_LARGE_UTF8}, .string = TEXT("gr\xc3\xbc\xc3\x9f")},
    {.type = {.id = TYPE_UTF8_VIEW}, .string = TEXT("a text longer than a view holds inside")},
    {.type = {.id = TYPE_BINARY}, .string = TEXT("\xff\0\xfe")},
    {.type = {.id = TYPE_LARGE_BINARY}, .string = TEXT("\x80")},
    {.type = {.id = TYPE_BINARY_VIEW}, .string = TEXT("")},
    {.type = {.id = TYPE_FIXED_SIZE_BINARY, .byte_width = 3}, .string = TEXT("\0\1\2")},
    NO_VALUE(.id = TYPE_NULL),
    NO_VALUE(.id = TYPE_BOOL),
    NO_VALUE(.id = TYPE_INT8),
    NO_VALUE(.id = TYPE_INT64),
    NO_VALUE(.id = TYPE_FLOAT16),
    NO_VALUE(.id = TYPE_FLOAT32),
    NO_VALUE(.id = TYPE_UTF8),
    NO_VALUE(.id = TYPE_UTF8_VIEW),
    NO_VALUE(.id = TYPE_LARGE_BINARY),
    NO_VALUE(.id = TYPE_FIXED_SIZE_BINARY, .byte_width = 16),
    NO_VALUE(.id = TYPE_DECIMAL64, DECIMAL(18, 0)),
    NO_VALUE(.id = TYPE_DECIMAL128, DECIMAL(20, -3)),
    NO_VALUE(.id = TYPE_DATE32),
    NO_VALUE(.id = TYPE_TIME32, .unit = UNIT_MILLISECOND),
    NO_VALUE(.id = TYPE_TIME64, .unit = UNIT_NANOSECOND),
    NO_VALUE(.id = TYPE_TIMESTAMP, .unit = UNIT_NANOSECOND, .timezone = "+02:00"),
    NO_VALUE(.id = TYPE_DURATION, .unit = UNIT_SECOND),
    NO_VALUE(.id = TYPE_INTERVAL_MONTHS),
    NO_VALUE(.id = TYPE_INTERVAL_DAY_TIME),
    NO_VALUE(.id = TYPE_INTERVAL_MONTH_DAY_NANO),
};

size_t test_scalars(const struct scalar **out)
{
    *out = values;
    return ARRAY_SIZE(values);
}

bool test_scalars_equal(const struct scalar *a, const struct scalar *b)
{
    if (!type_equal(&a->type, &b->type) || a->is_null != b->is_null)
        return false;
    if (a->is_null)
        return true;
    if (type_is_string(a->type.id) || type_is_binary(a->type.id))
        return str_equal(a->string, b->string);
    uint8_t a_bytes[16] = {0}, b_bytes[16] = {0};
    size_t width = scalar_store(a, a_bytes);
    return width == scalar_store(b, b_bytes) && memcmp(a_bytes, b_bytes, width) == 0;
}
