#include "columnar/c_data_format.h"

#include <stdio.h>
#include <stdlib.h>

enum { UNIT_COUNT = 4, MOST_BYTE_WIDTH = 1 << 28 };

/* In the order of enum time_unit. */
static const char unit_letters[] = "smun";

/* Types whose format has no parameters. */
static const struct plain_format {
    const char *text;
    enum type_id id;
} plain_formats[] = {
    {"n", TYPE_NULL},
    {"b", TYPE_BOOL},
    {"c", TYPE_INT8},
    {"s", TYPE_INT16},
    {"i", TYPE_INT32},
    {"l", TYPE_INT64},
    {"C", TYPE_UINT8},
    {"S", TYPE_UINT16},
    {"I", TYPE_UINT32},
    {"L", TYPE_UINT64},
    {"e", TYPE_FLOAT16},
    {"f", TYPE_FLOAT32},
    {"g", TYPE_FLOAT64},
    {"tdD", TYPE_DATE32},
    {"tdm", TYPE_DATE64},
    {"tiM", TYPE_INTERVAL_MONTHS},
    {"tiD", TYPE_INTERVAL_DAY_TIME},
    {"tin", TYPE_INTERVAL_MONTH_DAY_NANO},
    {"u", TYPE_UTF8},
    {"U", TYPE_LARGE_UTF8},
    {"vu", TYPE_UTF8_VIEW},
    {"z", TYPE_BINARY},
    {"Z", TYPE_LARGE_BINARY},
    {"vz", TYPE_BINARY_VIEW},
    {"+l", TYPE_LIST},
    {"+s", TYPE_STRUCT},
    {"+m", TYPE_MAP},
};

void c_data_format_write(const struct data_type *type, char *out)
{
    char unit = unit_letters[type->unit];
    for (size_t i = 0; i < sizeof plain_formats / sizeof plain_formats[0]; i++)
        if (plain_formats[i].id == type->id) {
            snprintf(out, C_DATA_FORMAT_BYTES, "%s", plain_formats[i].text);
            return;
        }
    if (type->id == TYPE_DECIMAL128)
        snprintf(out, C_DATA_FORMAT_BYTES, "d:%d,%d", type->precision, type->scale);
    else if (type->id == TYPE_DECIMAL64)
        snprintf(out, C_DATA_FORMAT_BYTES, "d:%d,%d,64", type->precision, type->scale);
    else if (type->id == TYPE_FIXED_SIZE_BINARY)
        snprintf(out, C_DATA_FORMAT_BYTES, "w:%d", (int)type->byte_width);
    else if (type->id == TYPE_TIMESTAMP)
        snprintf(out, C_DATA_FORMAT_BYTES, "ts%c:%s", unit, type->timezone);
    else if (type->id == TYPE_DURATION)
        snprintf(out, C_DATA_FORMAT_BYTES, "tD%c", unit);
    else
        snprintf(out, C_DATA_FORMAT_BYTES, "tt%c", unit);
}

static kith_error *malformed(const char *format)
{
    return error_new(KITH_ERROR_CORRUPT, "\"%.40s\" is not a format of Arrow's C data interface", format);
}

static kith_error *not_implemented(const char *format)
{
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "a column of format \"%.40s\" in Arrow's C data interface", format);
}

/* A decimal number in `least` to `most` up to the end of the text or one of `ends`; moves *text past it. */
static bool read_number(const char **text, long least, long most, const char *ends, long *out)
{
    char *end;
    *out = strtol(*text, &end, 10);
    bool digits = end != *text && (**text == '-' || (**text >= '0' && **text <= '9'));
    bool ended = *end == '\0' || strchr(ends, *end) != NULL;
    *text = end;
    return digits && ended && *out >= least && *out <= most;
}

static kith_error *read_decimal(const char *format, struct data_type *out)
{
    const char *text = format + 2;
    long precision, scale, bits = 128;
    if (!read_number(&text, 1, 76, ",", &precision) || *text++ != ',')
        return malformed(format);
    if (!read_number(&text, INT8_MIN, INT8_MAX, ",", &scale))
        return malformed(format);
    if (*text == ',') {
        text++;
        if (!read_number(&text, 1, 1024, "", &bits))
            return malformed(format);
    }
    if (bits != 64 && bits != 128)
        return not_implemented(format);
    if (precision > (bits == 64 ? DECIMAL64_MAX_PRECISION : DECIMAL128_MAX_PRECISION))
        return malformed(format);
    *out = (struct data_type){
        .id = bits == 64 ? TYPE_DECIMAL64 : TYPE_DECIMAL128, .precision = (uint8_t)precision, .scale = (int8_t)scale};
    return NULL;
}

static kith_error *read_temporal(const char *format, struct data_type *out)
{
    const char *unit = format[2] == '\0' ? NULL : strchr(unit_letters, format[2]);
    if (unit == NULL)
        return malformed(format);
    *out = (struct data_type){.unit = (enum time_unit)(unit - unit_letters)};
    if (format[1] == 's') {
        if (format[3] != ':')
            return malformed(format);
        if (strlen(format + 4) >= TIMEZONE_BYTES)
            return error_new(KITH_ERROR_LIMIT, "time zone \"%.60s\" is longer than %d bytes", format + 4,
                             TIMEZONE_BYTES - 1);
        *out = type_timestamp(out->unit, format + 4);
        return NULL;
    }
    if (format[3] != '\0')
        return malformed(format);
    bool fine = out->unit == UNIT_MICROSECOND || out->unit == UNIT_NANOSECOND;
    out->id = format[1] == 'D' ? TYPE_DURATION : fine ? TYPE_TIME64 : TYPE_TIME32;
    return NULL;
}

kith_error *c_data_format_read(const char *format, struct data_type *out)
{
    if (format == NULL)
        return error_new(KITH_ERROR_CORRUPT, "a column without format in Arrow's C data interface");
    for (size_t i = 0; i < sizeof plain_formats / sizeof plain_formats[0]; i++)
        if (strcmp(plain_formats[i].text, format) == 0) {
            *out = type_of(plain_formats[i].id);
            return NULL;
        }
    if (strncmp(format, "d:", 2) == 0)
        return read_decimal(format, out);
    if (strncmp(format, "w:", 2) == 0) {
        const char *text = format + 2;
        long width;
        if (!read_number(&text, 0, MOST_BYTE_WIDTH, "", &width))
            return malformed(format);
        *out = (struct data_type){.id = TYPE_FIXED_SIZE_BINARY, .byte_width = (int32_t)width};
        return NULL;
    }
    if (strncmp(format, "ts", 2) == 0 || strncmp(format, "tD", 2) == 0 || strncmp(format, "tt", 2) == 0)
        return read_temporal(format, out);
    return format[0] == '+' ? not_implemented(format) : malformed(format);
}
