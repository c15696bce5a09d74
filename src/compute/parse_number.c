#include "compute/decimal.h"
#include "compute/parse.h"
#include "compute/parse_text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum parse_result parse_boolean(struct str text, bool *out)
{
    static const char *const words[][2] = {{"false", "true"}, {"f", "t"},    {"no", "yes"},
                                           {"n", "y"},        {"off", "on"}, {"0", "1"}};
    text = parse_trim(text);
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        for (int value = 0; value < 2; value++) {
            if (parse_is_word(text, words[i][value])) {
                *out = value != 0;
                return PARSE_OK;
            }
        }
    }
    return PARSE_INVALID;
}

enum parse_result parse_integer(struct str text, __int128 least, __int128 greatest, __int128 *out)
{
    text = parse_trim(text);
    bool negative = parse_sign(&text);
    if (text.length == 0 || parse_digit_count(text) != text.length)
        return PARSE_INVALID;
    __int128 value = 0;
    for (size_t i = 0; i < text.length; i++) {
        value = value * 10 + (text.data[i] - '0');
        if (value > (__int128)UINT64_MAX)
            return PARSE_OUT_OF_RANGE;
    }
    value = negative ? -value : value;
    *out = value;
    return value < least || value > greatest ? PARSE_OUT_OF_RANGE : PARSE_OK;
}

/* The parts of a number in decimal notation; digits of both parts count as one row of digits. */
struct notation {
    bool negative;
    struct str whole, fraction;
    int64_t exponent; /* of ten, clamped to +-100000 */
};

static bool scan_exponent(struct str *text, int64_t *exponent)
{
    *exponent = 0;
    if (!parse_character(text, 'e') && !parse_character(text, 'E'))
        return true;
    bool negative = parse_sign(text);
    size_t digits = parse_digit_count(*text);
    if (digits == 0)
        return false;
    for (size_t i = 0; i < digits; i++)
        if (*exponent < 100000)
            *exponent = *exponent * 10 + (text->data[i] - '0');
    parse_skip(text, digits);
    if (negative)
        *exponent = -*exponent;
    return true;
}

static bool scan_notation(struct str text, struct notation *out)
{
    text = parse_trim(text);
    out->negative = parse_sign(&text);
    size_t digits = parse_digit_count(text);
    out->whole = (struct str){text.data, digits};
    parse_skip(&text, digits);
    out->fraction = (struct str){text.data, 0};
    if (parse_character(&text, '.')) {
        digits = parse_digit_count(text);
        out->fraction = (struct str){text.data, digits};
        parse_skip(&text, digits);
    }
    if (out->whole.length + out->fraction.length == 0)
        return false;
    return scan_exponent(&text, &out->exponent) && text.length == 0;
}

static int digit_at(const struct notation *notation, int64_t i)
{
    int64_t whole = (int64_t)notation->whole.length;
    if (i < whole)
        return notation->whole.data[i] - '0';
    return i - whole < (int64_t)notation->fraction.length ? notation->fraction.data[i - whole] - '0' : 0;
}

enum parse_result parse_decimal(struct str text, int precision, int scale, __int128 *out)
{
    struct notation notation;
    if (!scan_notation(text, &notation))
        return PARSE_INVALID;
    int64_t digits = (int64_t)(notation.whole.length + notation.fraction.length);
    /* Digits of the unscaled value; those after are rounded away. */
    int64_t kept = (int64_t)notation.whole.length + notation.exponent + scale;
    __int128 value = 0;
    for (int64_t i = 0; i < kept; i++) {
        if (i >= digits && value == 0)
            break;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit_at(&notation, i), &value) || !decimal_fits(value, precision))
            return PARSE_OUT_OF_RANGE;
    }
    if (kept >= 0 && kept < digits && digit_at(&notation, kept) >= 5)
        value++;
    *out = notation.negative ? -value : value;
    return decimal_fits(value, precision) ? PARSE_OK : PARSE_OUT_OF_RANGE;
}

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static bool parse_special_float(struct str text, double *out)
{
    text = parse_trim(text);
    if (parse_is_word(text, "nan")) {
        *out = NAN;
        return true;
    }
    bool negative = parse_sign(&text);
    if (!parse_is_word(text, "inf") && !parse_is_word(text, "infinity"))
        return false;
    *out = negative ? -INFINITY : INFINITY;
    return true;
}

enum parse_result parse_float(struct str text, double *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct notation notation;
    char copy[1200]; /* a double is settled by at most 767 significant digits */
    if (parse_special_float(text, out))
        return PARSE_OK;
    if (!scan_notation(text, &notation))
        return PARSE_INVALID;
    text = parse_trim(text);
    if (text.length >= sizeof copy)
        return PARSE_OUT_OF_RANGE;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    pthread_once(&once, make_c_locale);
    errno = 0;
    *out = c_locale != (locale_t)0 ? strtod_l(copy, NULL, c_locale) : strtod(copy, NULL);
    return errno == ERANGE && isinf(*out) ? PARSE_OUT_OF_RANGE : PARSE_OK;
}
