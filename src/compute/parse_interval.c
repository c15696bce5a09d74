#include "compute/parse.h"
#include "compute/parse_text.h"

#include <strings.h>

/* What one of a unit is: months and days have no fixed length, so they are kept apart from time. */
struct interval_unit {
    const char *names[4];
    int32_t months, days;
    int64_t nanoseconds;
};

static const struct interval_unit interval_units[] = {
    {{"year", "years", "y", "yr"}, 12, 0, 0},
    {{"month", "months", "mon", "mons"}, 1, 0, 0},
    {{"week", "weeks", "w"}, 0, 7, 0},
    {{"day", "days", "d"}, 0, 1, 0},
    {{"hour", "hours", "h", "hr"}, 0, 0, INT64_C(3600000000000)},
    {{"minute", "minutes", "min", "mins"}, 0, 0, INT64_C(60000000000)},
    {{"second", "seconds", "s", "sec"}, 0, 0, INT64_C(1000000000)},
    {{"millisecond", "milliseconds", "ms"}, 0, 0, 1000000},
    {{"microsecond", "microseconds", "us"}, 0, 0, 1000},
    {{"nanosecond", "nanoseconds", "ns"}, 0, 0, 1},
};

static const struct interval_unit *find_unit(struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(interval_units); i++)
        for (size_t j = 0; j < ARRAY_SIZE(interval_units[i].names) && interval_units[i].names[j] != NULL; j++)
            if (strlen(interval_units[i].names[j]) == name.length &&
                strncasecmp(interval_units[i].names[j], name.data, name.length) == 0)
                return &interval_units[i];
    return NULL;
}

static struct str take_word(struct str *text)
{
    struct str word = {text->data, 0};
    while (text->length > 0 && !parse_is_space(text->data[0]) && !parse_is_digit(text->data[0]) &&
           text->data[0] != '-' && text->data[0] != '+') {
        word.length++;
        parse_skip(text, 1);
    }
    return word;
}

/* Adds count * each; false on overflow. */
static bool add_units(const struct interval_unit *unit, int64_t count, struct interval *out)
{
    int64_t months, days, nanoseconds;
    if (__builtin_mul_overflow(count, unit->months, &months) || __builtin_mul_overflow(count, unit->days, &days) ||
        __builtin_mul_overflow(count, unit->nanoseconds, &nanoseconds))
        return false;
    return !__builtin_add_overflow(out->months, months, &out->months) &&
           !__builtin_add_overflow(out->days, days, &out->days) &&
           !__builtin_add_overflow(out->nanoseconds, nanoseconds, &out->nanoseconds);
}

/* Digits after a point, in billionths. */
static bool take_fraction(struct str *text, int64_t *billionths)
{
    size_t digits = parse_digit_count(*text);
    *billionths = 0;
    if (digits == 0 || digits > 9)
        return false;
    for (size_t i = 0; i < 9; i++) {
        *billionths *= 10;
        if (i < digits) {
            *billionths += text->data[0] - '0';
            parse_skip(text, 1);
        }
    }
    return true;
}

/* A fraction is of time only; that of a day is of 24 hours. */
static bool add_fraction(const struct interval_unit *unit, int64_t billionths, int64_t sign, struct interval *out)
{
    int64_t whole = unit->days == 1 ? INT64_C(86400000000000) : unit->nanoseconds;
    if (billionths == 0)
        return true;
    if (whole == 0)
        return false;
    __int128 part = (__int128)whole * billionths / 1000000000 * sign;
    return !__builtin_add_overflow(out->nanoseconds, (int64_t)part, &out->nanoseconds);
}

/* The rest of HH:MM[:SS[.fraction]] after the hours. */
static enum parse_result take_clock(struct str *text, int64_t hours, int64_t sign, struct interval *out)
{
    int32_t minutes, seconds = 0;
    int64_t billionths = 0;
    if (!parse_digits(text, 2, &minutes))
        return PARSE_INVALID;
    if (parse_character(text, ':') &&
        (!parse_digits(text, 2, &seconds) || (parse_character(text, '.') && !take_fraction(text, &billionths))))
        return PARSE_INVALID;
    if (minutes > 59 || seconds > 59)
        return PARSE_OUT_OF_RANGE;
    bool fits = add_units(find_unit(str_of("hour")), sign * hours, out) &&
                add_units(find_unit(str_of("minute")), sign * minutes, out) &&
                add_units(find_unit(str_of("second")), sign * seconds, out) &&
                add_units(find_unit(str_of("nanosecond")), sign * billionths, out);
    return fits ? PARSE_OK : PARSE_OUT_OF_RANGE;
}

/* One "3 days", "-1.5 hours" or "04:05:06" off the front. */
static enum parse_result take_part(struct str *text, const char *default_unit, struct interval *out)
{
    int64_t sign = parse_sign(text) ? -1 : 1, count = 0, billionths = 0;
    size_t digits = parse_digit_count(*text);
    if (digits == 0 || digits > 18)
        return digits == 0 ? PARSE_INVALID : PARSE_OUT_OF_RANGE;
    for (size_t i = 0; i < digits; i++)
        count = count * 10 + (text->data[i] - '0');
    parse_skip(text, digits);
    if (parse_character(text, ':'))
        return take_clock(text, count, sign, out);
    if (parse_character(text, '.') && !take_fraction(text, &billionths))
        return PARSE_INVALID;
    *text = parse_trim(*text);
    struct str word = take_word(text);
    const struct interval_unit *unit = find_unit(word.length == 0 ? str_of(default_unit) : word);
    if (unit == NULL)
        return PARSE_INVALID;
    return add_units(unit, sign * count, out) && add_fraction(unit, billionths, sign, out) ? PARSE_OK
                                                                                           : PARSE_OUT_OF_RANGE;
}

enum parse_result parse_interval(struct str text, const char *default_unit, struct interval *out)
{
    *out = (struct interval){0};
    text = parse_trim(text);
    if (text.length == 0)
        return PARSE_INVALID;
    while (text.length > 0) {
        enum parse_result result = take_part(&text, default_unit, out);
        if (result != PARSE_OK)
            return result;
        text = parse_trim(text);
    }
    bool fits =
        out->months >= INT32_MIN && out->months <= INT32_MAX && out->days >= INT32_MIN && out->days <= INT32_MAX;
    return fits ? PARSE_OK : PARSE_OUT_OF_RANGE;
}
