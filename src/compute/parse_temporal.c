#include "columnar/calendar.h"
#include "compute/parse.h"
#include "compute/parse_text.h"

enum { NANOSECONDS_PER_SECOND = 1000000000 };

/* Takes a date off the front. */
static enum parse_result take_date(struct str *text, int64_t *days)
{
    bool negative = parse_sign(text);
    size_t year_digits = parse_digit_count(*text);
    int32_t year, month, day;
    if (year_digits < 4 || year_digits > 6 || !parse_digits(text, year_digits, &year))
        return PARSE_INVALID;
    if (!parse_character(text, '-') || !parse_digits(text, 2, &month) || !parse_character(text, '-') ||
        !parse_digits(text, 2, &day))
        return PARSE_INVALID;
    year = negative ? -year : year;
    if (month < 1 || month > 12 || day < 1 || day > calendar_days_in_month(year, month))
        return PARSE_OUT_OF_RANGE;
    *days = calendar_to_days((struct civil_date){year, month, day});
    return PARSE_OK;
}

/* Takes up to nine digits after a point, as nanoseconds. */
static bool take_fraction(struct str *text, int64_t *nanoseconds)
{
    size_t digits = parse_digit_count(*text);
    int32_t value;
    if (digits == 0 || digits > 9 || !parse_digits(text, digits, &value))
        return false;
    *nanoseconds = value;
    for (size_t i = digits; i < 9; i++)
        *nanoseconds *= 10;
    return true;
}

static enum parse_result take_time(struct str *text, int64_t *seconds, int64_t *nanoseconds)
{
    int32_t hour, minute, second = 0;
    *nanoseconds = 0;
    if (!parse_digits(text, 2, &hour) || !parse_character(text, ':') || !parse_digits(text, 2, &minute))
        return PARSE_INVALID;
    if (parse_character(text, ':')) {
        if (!parse_digits(text, 2, &second))
            return PARSE_INVALID;
        if (parse_character(text, '.') && !take_fraction(text, nanoseconds))
            return PARSE_INVALID;
    }
    if (hour > 23 || minute > 59 || second > 59)
        return PARSE_OUT_OF_RANGE;
    *seconds = hour * 3600 + minute * 60 + second;
    return PARSE_OK;
}

/* +HH, +HHMM, +HH:MM */
static bool take_offset(struct str text, int32_t *out)
{
    int32_t hours, minutes = 0;
    if (text.length == 0 || (text.data[0] != '+' && text.data[0] != '-'))
        return false;
    bool negative = parse_sign(&text);
    if (!parse_digits(&text, 2, &hours))
        return false;
    if (text.length > 0) {
        (void)parse_character(&text, ':');
        if (!parse_digits(&text, 2, &minutes))
            return false;
    }
    if (text.length > 0 || hours > 23 || minutes > 59)
        return false;
    *out = (hours * 3600 + minutes * 60) * (negative ? -1 : 1);
    return true;
}

bool parse_fixed_offset(struct str zone, int32_t *out)
{
    static const char *const names[] = {"", "utc", "z", "gmt", "etc/utc"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (parse_is_word(zone, names[i])) {
            *out = 0;
            return true;
        }
    }
    return take_offset(zone, out);
}

enum parse_result parse_date(struct str text, int32_t *out)
{
    int64_t days;
    text = parse_trim(text);
    enum parse_result result = take_date(&text, &days);
    if (result != PARSE_OK)
        return result;
    *out = (int32_t)days;
    return text.length == 0 ? PARSE_OK : PARSE_INVALID;
}

enum parse_result parse_time(struct str text, enum time_unit unit, int64_t *out)
{
    int64_t seconds, nanoseconds;
    text = parse_trim(text);
    enum parse_result result = take_time(&text, &seconds, &nanoseconds);
    if (result != PARSE_OK)
        return result;
    int64_t units = calendar_units_per_second(unit);
    *out = seconds * units + nanoseconds / (NANOSECONDS_PER_SECOND / units);
    return text.length == 0 ? PARSE_OK : PARSE_INVALID;
}

/* Seconds and the fraction in units; the first second of the range of nanoseconds has a product that overflows though
 * its sum does not, so both go through 128 bits. */
static enum parse_result join(int64_t seconds, int64_t nanoseconds, enum time_unit unit, int64_t *out)
{
    int64_t units = calendar_units_per_second(unit);
    __int128 total = (__int128)seconds * units + nanoseconds / (NANOSECONDS_PER_SECOND / units);
    if (total < INT64_MIN || total > INT64_MAX)
        return PARSE_OUT_OF_RANGE;
    *out = (int64_t)total;
    return PARSE_OK;
}

enum parse_result parse_timestamp(struct str text, enum time_unit unit, int32_t offset_seconds, int64_t *out)
{
    int64_t days, seconds = 0, nanoseconds = 0;
    text = parse_trim(text);
    enum parse_result result = take_date(&text, &days);
    if (result != PARSE_OK)
        return result;
    if (text.length > 0) {
        if (!parse_character(&text, 'T') && !parse_character(&text, 't') && !parse_character(&text, ' '))
            return PARSE_INVALID;
        result = take_time(&text, &seconds, &nanoseconds);
        if (result != PARSE_OK)
            return result;
    }
    text = parse_trim(text);
    if (text.length > 0 && !parse_fixed_offset(text, &offset_seconds))
        return PARSE_INVALID;
    return join(days * SECONDS_PER_DAY + seconds - offset_seconds, nanoseconds, unit, out);
}

const char *parse_expected(const struct data_type *type)
{
    switch ((int)type->id) {
    case TYPE_DATE32:
    case TYPE_DATE64:
        return "YYYY-MM-DD";
    case TYPE_TIME32:
    case TYPE_TIME64:
        return "HH:MM:SS";
    case TYPE_TIMESTAMP:
        return "YYYY-MM-DD HH:MM:SS";
    case TYPE_BOOL:
        return "true or false";
    default:
        return "";
    }
}
