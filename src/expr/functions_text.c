#include "compute/text_case.h"
#include "compute/text_find.h"
#include "expr/functions_rows.h"

static bool all_text(const struct data_type *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!type_is_string(arguments[i].id))
            return false;
    return true;
}

/* Text in, text of the first argument's layout out. */
kith_error *function_resolve_text(const struct data_type *arguments, const struct scalar *const *constants,
                                  size_t count, struct data_type *out)
{
    if (!all_text(arguments, count))
        return function_type_error(arguments, count);
    *out = arguments[0];
    return NULL;
}

kith_error *function_resolve_text_test(const struct data_type *arguments, const struct scalar *const *constants,
                                       size_t count, struct data_type *out)
{
    if (!all_text(arguments, count))
        return function_type_error(arguments, count);
    *out = type_of(TYPE_BOOL);
    return NULL;
}

/* DataFusion's: Int64 for text of 64-bit offsets, otherwise Int32. */
kith_error *function_resolve_text_length(const struct data_type *arguments, const struct scalar *const *constants,
                                         size_t count, struct data_type *out)
{
    if (!all_text(arguments, count))
        return function_type_error(arguments, count);
    *out = type_of(arguments[0].id == TYPE_LARGE_UTF8 ? TYPE_INT64 : TYPE_INT32);
    return NULL;
}

kith_error *function_resolve_substr(const struct data_type *arguments, const struct scalar *const *constants,
                                    size_t count, struct data_type *out)
{
    bool fits = type_is_string(arguments[0].id);
    for (size_t i = 1; i < count; i++)
        fits &= type_is_integer(arguments[i].id);
    if (!fits)
        return function_type_error(arguments, count);
    *out = arguments[0];
    return NULL;
}

/* Bytes of the character that begins with `first`; text in arrays is valid UTF-8. */
static size_t character_bytes(char first)
{
    uint8_t byte = (uint8_t)first;
    return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

static size_t character_count(struct str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++)
        count += ((uint8_t)text.data[i] & 0xC0) != 0x80;
    return count;
}

static kith_error *lower_row(const struct function_rows *call, size_t row, struct strbuf *out)
{
    return text_append_lower(function_text(call, 0, row), out);
}

static kith_error *upper_row(const struct function_rows *call, size_t row, struct strbuf *out)
{
    return text_append_upper(function_text(call, 0, row), out);
}

static kith_error *length_row(const struct function_rows *call, size_t row, int64_t *out)
{
    *out = (int64_t)character_count(function_text(call, 0, row));
    return NULL;
}

static kith_error *octet_length_row(const struct function_rows *call, size_t row, int64_t *out)
{
    *out = (int64_t)function_text(call, 0, row).length;
    return NULL;
}

/* The byte at which character `index` begins, or the end. */
static size_t byte_of_character(struct str text, int64_t index)
{
    size_t at = 0;
    while (index > 0 && at < text.length) {
        at += character_bytes(text.data[at]);
        index--;
    }
    return MIN(at, text.length);
}

/* As in SQL: characters start .. start + count - 1 of a text whose first character has number 1, as far as they exist;
 * start may lie before the text. */
static kith_error *substr_row(const struct function_rows *call, size_t row, struct strbuf *out)
{
    struct str text = function_text(call, 0, row);
    int64_t start = function_integer(call, 1, row), end = INT64_MAX;
    if (call->count == 3) {
        int64_t count = function_integer(call, 2, row);
        if (count < 0)
            return error_new(KITH_ERROR_INVALID_ARGUMENT, "substr cannot take %lld characters", (long long)count);
        if (__builtin_add_overflow(start, count, &end))
            end = INT64_MAX;
    }
    start = MAX(start, (int64_t)1);
    if (end <= start)
        return NULL;
    size_t first = byte_of_character(text, start - 1);
    struct str rest = {text.data + first, text.length - first};
    return strbuf_append(out, rest.data, byte_of_character(rest, end - start));
}

/* Whether the character at `at` is one of `set`. */
static bool is_in_set(struct str text, size_t at, size_t length, struct str set)
{
    for (size_t i = 0; i < set.length; i += character_bytes(set.data[i]))
        if (i + length <= set.length && memcmp(set.data + i, text.data + at, length) == 0)
            return true;
    return false;
}

static struct str trim_left(struct str text, struct str set)
{
    while (text.length > 0) {
        size_t length = MIN(character_bytes(text.data[0]), text.length);
        if (!is_in_set(text, 0, length, set))
            break;
        text = (struct str){text.data + length, text.length - length};
    }
    return text;
}

static struct str trim_right(struct str text, struct str set)
{
    while (text.length > 0) {
        size_t at = text.length - 1;
        while (at > 0 && ((uint8_t)text.data[at] & 0xC0) == 0x80)
            at--;
        if (!is_in_set(text, at, text.length - at, set))
            break;
        text.length = at;
    }
    return text;
}

static kith_error *trim_row(const struct function_rows *call, size_t row, bool left, bool right, struct strbuf *out)
{
    struct str text = function_text(call, 0, row);
    struct str set = call->count == 2 ? function_text(call, 1, row) : str_of(" ");
    if (left)
        text = trim_left(text, set);
    if (right)
        text = trim_right(text, set);
    return strbuf_append(out, text.data, text.length);
}

static kith_error *btrim_row(const struct function_rows *call, size_t row, struct strbuf *out)
{
    return trim_row(call, row, true, true, out);
}

static kith_error *ltrim_row(const struct function_rows *call, size_t row, struct strbuf *out)
{
    return trim_row(call, row, true, false, out);
}

static kith_error *rtrim_row(const struct function_rows *call, size_t row, struct strbuf *out)
{
    return trim_row(call, row, false, true, out);
}

static kith_error *starts_with_row(const struct function_rows *call, size_t row, int64_t *out)
{
    struct str text = function_text(call, 0, row), part = function_text(call, 1, row);
    *out = text.length >= part.length && str_equal((struct str){text.data, part.length}, part);
    return NULL;
}

static kith_error *ends_with_row(const struct function_rows *call, size_t row, int64_t *out)
{
    struct str text = function_text(call, 0, row), part = function_text(call, 1, row);
    *out =
        text.length >= part.length && str_equal((struct str){text.data + text.length - part.length, part.length}, part);
    return NULL;
}

static kith_error *contains_row(const struct function_rows *call, size_t row, int64_t *out)
{
    struct str part = function_text(call, 1, row);
    *out = part.length == 0 || text_find(function_text(call, 0, row), part) != NULL;
    return NULL;
}

static kith_error *strpos_row(const struct function_rows *call, size_t row, int64_t *out)
{
    struct str text = function_text(call, 0, row), part = function_text(call, 1, row);
    if (part.length == 0) {
        *out = 1;
        return NULL;
    }
    const char *found = text_find(text, part);
    *out = found == NULL ? 0 : 1 + (int64_t)character_count((struct str){text.data, (size_t)(found - text.data)});
    return NULL;
}

static kith_error *replace_row(const struct function_rows *call, size_t row, struct strbuf *out)
{
    struct str text = function_text(call, 0, row), from = function_text(call, 1, row);
    struct str to = function_text(call, 2, row);
    while (from.length > 0) {
        const char *found = text_find(text, from);
        if (found == NULL)
            break;
        size_t before = (size_t)(found - text.data);
        TRY(strbuf_append(out, text.data, before));
        TRY(strbuf_append(out, to.data, to.length));
        text = (struct str){found + from.length, text.length - before - from.length};
    }
    return strbuf_append(out, text.data, text.length);
}

DEFINE_TEXT_FUNCTION(function_run_lower, lower_row)
DEFINE_TEXT_FUNCTION(function_run_upper, upper_row)
DEFINE_TEXT_FUNCTION(function_run_substr, substr_row)
DEFINE_TEXT_FUNCTION(function_run_btrim, btrim_row)
DEFINE_TEXT_FUNCTION(function_run_ltrim, ltrim_row)
DEFINE_TEXT_FUNCTION(function_run_rtrim, rtrim_row)
DEFINE_TEXT_FUNCTION(function_run_replace, replace_row)
DEFINE_INTEGER_FUNCTION(function_run_length, length_row)
DEFINE_INTEGER_FUNCTION(function_run_octet_length, octet_length_row)
DEFINE_INTEGER_FUNCTION(function_run_starts_with, starts_with_row)
DEFINE_INTEGER_FUNCTION(function_run_ends_with, ends_with_row)
DEFINE_INTEGER_FUNCTION(function_run_contains, contains_row)
DEFINE_INTEGER_FUNCTION(function_run_strpos, strpos_row)
