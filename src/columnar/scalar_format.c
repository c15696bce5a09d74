/*
 * scalar_format: values as text, in the spelling of DuckDB and, but for blobs and dates BC, of PostgreSQL.
 */
#include "columnar/scalar.h"

#include "base/clock.h"
#include "columnar/calendar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Significant digits that are always enough, and those that a decimal of so many digits always survives. */
enum { DOUBLE_DIGITS = 17, DOUBLE_SAFE_DIGITS = 15, FLOAT_DIGITS = 9, FLOAT_SAFE_DIGITS = 6 };

struct decimal_digits {
    char digits[DOUBLE_DIGITS + 1]; /* no trailing zeros but for the number 0 */
    int count;
    int exponent; /* of the first digit */
};

/* The C library's "d.ddde+xx", whatever the decimal point of the locale; true if it reads back as `value`. */
static bool digits_of(double value, bool single, int precision, struct decimal_digits *out)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", precision - 1, value);
    const char *exponent = strchr(text, 'e');
    out->count = 0;
    for (const char *c = text; c < exponent; c++)
        if (*c >= '0' && *c <= '9')
            out->digits[out->count++] = *c;
    while (out->count > 1 && out->digits[out->count - 1] == '0')
        out->count--;
    out->exponent = (int)strtol(exponent + 1, NULL, 10);
    return single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* Fewest digits that read back as the same number. A number of up to 15 (6) digits comes out of the first try as it is;
 * subnormal ones may need fewer than that, so all lengths are tried. */
static struct decimal_digits shortest_digits(double value, bool single)
{
    bool subnormal = value != 0 && value < (single ? (double)__FLT_MIN__ : __DBL_MIN__);
    int most = single ? FLOAT_DIGITS : DOUBLE_DIGITS;
    struct decimal_digits digits;
    for (int precision = subnormal ? 1 : (single ? FLOAT_SAFE_DIGITS : DOUBLE_SAFE_DIGITS);; precision++)
        if (digits_of(value, single, precision, &digits) || precision == most)
            return digits;
}

static kith_error *format_float(double value, bool single, struct strbuf *out)
{
    enum { LEAST_PLAIN = -4, MOST_PLAIN = 15 };
    if (isnan(value))
        return strbuf_append_text(out, "nan");
    if (signbit(value))
        TRY(strbuf_append_text(out, "-"));
    if (isinf(value))
        return strbuf_append_text(out, "inf");
    struct decimal_digits d = shortest_digits(fabs(value), single);
    if (d.exponent < LEAST_PLAIN || d.exponent > MOST_PLAIN) {
        const char *point = d.count > 1 ? "." : "";
        return strbuf_printf(out, "%c%s%.*se%+03d", d.digits[0], point, d.count - 1, d.digits + 1, d.exponent);
    }
    if (d.exponent < 0) {
        TRY(strbuf_append_text(out, "0."));
        TRY(strbuf_append_fill(out, '0', (size_t)(-d.exponent - 1)));
        return strbuf_append(out, d.digits, (size_t)d.count);
    }
    int whole = d.exponent + 1, known = d.count < whole ? d.count : whole;
    TRY(strbuf_append(out, d.digits, (size_t)known));
    TRY(strbuf_append_fill(out, '0', (size_t)(whole - known)));
    if (d.count <= whole)
        return strbuf_append_text(out, ".0");
    return strbuf_printf(out, ".%.*s", d.count - whole, d.digits + whole);
}

static kith_error *format_decimal(__int128 value, int scale, struct strbuf *out)
{
    /* A 128-bit number has 39 digits; a scale may put up to 127 zeros before or after them. */
    enum { MOST_DIGITS = 40, MOST_SCALE = 128 };
    char reversed[MOST_DIGITS + MOST_SCALE];
    unsigned __int128 magnitude = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
    int count = 0;
    for (; magnitude > 0; magnitude /= 10)
        reversed[count++] = (char)('0' + (int)(magnitude % 10));
    bool zero = count == 0;
    while (count < scale + 1)
        reversed[count++] = '0';
    if (count == 0)
        reversed[count++] = '0';
    if (value < 0)
        TRY(strbuf_append_text(out, "-"));
    for (int i = count - 1; i >= 0; i--) {
        TRY(strbuf_append(out, &reversed[i], 1));
        if (i == scale && scale > 0)
            TRY(strbuf_append_text(out, "."));
    }
    return scale < 0 && !zero ? strbuf_append_fill(out, '0', (size_t)-scale) : NULL;
}

static kith_error *format_date(int64_t days, struct strbuf *out)
{
    struct civil_date date = calendar_from_days(days);
    bool before_christ = date.year <= 0;
    long long year = before_christ ? 1 - (long long)date.year : (long long)date.year;
    return strbuf_printf(out, "%04lld-%02d-%02d%s", year, date.month, date.day, before_christ ? " (BC)" : "");
}

/* HH:MM:SS and the digits of the fraction that are needed; hours may be any number. */
static kith_error *format_clock(uint64_t units, uint64_t units_per_second, struct strbuf *out)
{
    uint64_t seconds = units / units_per_second, fraction = units % units_per_second;
    TRY(strbuf_printf(out, "%02llu:%02u:%02u", (unsigned long long)(seconds / 3600), (unsigned)(seconds / 60 % 60),
                      (unsigned)(seconds % 60)));
    if (fraction == 0)
        return NULL;
    int digits = 0;
    for (uint64_t unit = units_per_second; unit > 1; unit /= 10)
        digits++;
    for (; fraction % 10 == 0; fraction /= 10)
        digits--;
    return strbuf_printf(out, ".%0*llu", digits, (unsigned long long)fraction);
}

static kith_error *format_signed_clock(int64_t units, int64_t units_per_second, struct strbuf *out)
{
    if (units < 0)
        TRY(strbuf_append_text(out, "-"));
    uint64_t magnitude = units < 0 ? -(uint64_t)units : (uint64_t)units;
    return format_clock(magnitude, (uint64_t)units_per_second, out);
}

static kith_error *format_timestamp(const struct scalar *scalar, struct strbuf *out)
{
    int64_t per_second = calendar_units_per_second(scalar->type.unit), of_day;
    int64_t days = calendar_divide(scalar->int64, per_second * SECONDS_PER_DAY, &of_day);
    TRY(format_date(days, out));
    TRY(strbuf_append_text(out, " "));
    TRY(format_clock((uint64_t)of_day, (uint64_t)per_second, out));
    return scalar->type.timezone[0] == '\0' ? NULL : strbuf_append_text(out, "+00");
}

static kith_error *format_part(int64_t count, const char *unit, const char **separator, struct strbuf *out)
{
    if (count == 0)
        return NULL;
    bool one = count == 1 || count == -1;
    TRY(strbuf_printf(out, "%s%lld %s%s", *separator, (long long)count, unit, one ? "" : "s"));
    *separator = " ";
    return NULL;
}

static kith_error *format_interval(int64_t months, int64_t days, int64_t nanoseconds, struct strbuf *out)
{
    const char *separator = "";
    TRY(format_part(months / 12, "year", &separator, out));
    TRY(format_part(months % 12, "month", &separator, out));
    TRY(format_part(days, "day", &separator, out));
    if (nanoseconds == 0 && *separator != '\0')
        return NULL;
    TRY(strbuf_append_text(out, separator));
    return format_signed_clock(nanoseconds, NANOSECONDS_PER_SECOND, out);
}

static kith_error *format_binary(struct str bytes, struct strbuf *out)
{
    for (size_t i = 0; i < bytes.length; i++) {
        unsigned char c = (unsigned char)bytes.data[i];
        bool plain = c >= ' ' && c <= '~' && c != '\\' && c != '\'' && c != '"';
        TRY(plain ? strbuf_append(out, &c, 1) : strbuf_printf(out, "\\x%02X", c));
    }
    return NULL;
}

static kith_error *format_temporal(const struct scalar *scalar, struct strbuf *out)
{
    enum { MILLISECONDS_PER_DAY = SECONDS_PER_DAY * 1000 };
    int64_t value = scalar->int64, rest;
    enum type_id id = scalar->type.id;
    if (id == TYPE_DATE32)
        return format_date(value, out);
    if (id == TYPE_DATE64)
        return format_date(calendar_divide(value, MILLISECONDS_PER_DAY, &rest), out);
    if (id == TYPE_TIMESTAMP)
        return format_timestamp(scalar, out);
    if (id == TYPE_INTERVAL_MONTHS)
        return format_interval(value, 0, 0, out);
    if (id == TYPE_INTERVAL_DAY_TIME || id == TYPE_INTERVAL_MONTH_DAY_NANO)
        return format_interval(scalar->interval.months, scalar->interval.days, scalar->interval.nanoseconds, out);
    /* A time of day or a duration. */
    return format_signed_clock(value, calendar_units_per_second(scalar->type.unit), out);
}

kith_error *scalar_format(const struct scalar *scalar, struct strbuf *out)
{
    enum type_id id = scalar->type.id;
    if (scalar->is_null)
        return strbuf_append_text(out, "NULL");
    if (id == TYPE_BOOL)
        return strbuf_append_text(out, scalar->boolean ? "true" : "false");
    if (type_is_string(id))
        return strbuf_append(out, scalar->string.data, scalar->string.length);
    if (type_is_binary(id))
        return format_binary(scalar->string, out);
    if (id == TYPE_FLOAT16)
        return format_float(float16_to_double((uint16_t)scalar->uint64), true, out);
    if (id == TYPE_FLOAT32)
        return format_float((double)scalar->float32, true, out);
    if (id == TYPE_FLOAT64)
        return format_float(scalar->float64, false, out);
    if (id == TYPE_DECIMAL128)
        return format_decimal(scalar->decimal, scalar->type.scale, out);
    if (id == TYPE_DECIMAL64)
        return format_decimal(scalar->int64, scalar->type.scale, out);
    if (type_is_temporal(id))
        return format_temporal(scalar, out);
    if (type_is_signed_integer(id))
        return strbuf_printf(out, "%lld", (long long)scalar->int64);
    return strbuf_printf(out, "%llu", (unsigned long long)scalar->uint64);
}
