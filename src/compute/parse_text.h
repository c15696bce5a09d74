/*
 * Scanning helpers of parse_*.c alone.
 */
#ifndef KITH_COMPUTE_PARSE_TEXT_H
#define KITH_COMPUTE_PARSE_TEXT_H

#include "base/strbuf.h"

static inline bool parse_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool parse_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline struct str parse_trim(struct str text)
{
    while (text.length > 0 && parse_is_space(text.data[0])) {
        text.data++;
        text.length--;
    }
    while (text.length > 0 && parse_is_space(text.data[text.length - 1]))
        text.length--;
    return text;
}

/* Drops `count` bytes from the front. */
static inline void parse_skip(struct str *text, size_t count)
{
    text->data += count;
    text->length -= count;
}

/* Takes a leading + or -; gives whether it was -. */
static inline bool parse_sign(struct str *text)
{
    bool negative = text->length > 0 && text->data[0] == '-';
    if (negative || (text->length > 0 && text->data[0] == '+'))
        parse_skip(text, 1);
    return negative;
}

static inline bool parse_character(struct str *text, char c)
{
    if (text->length == 0 || text->data[0] != c)
        return false;
    parse_skip(text, 1);
    return true;
}

static inline size_t parse_digit_count(struct str text)
{
    size_t count = 0;
    while (count < text.length && parse_is_digit(text.data[count]))
        count++;
    return count;
}

/* Exactly `count` digits, up to 9. */
static inline bool parse_digits(struct str *text, size_t count, int32_t *out)
{
    int32_t value = 0;
    if (parse_digit_count(*text) < count)
        return false;
    for (size_t i = 0; i < count; i++)
        value = value * 10 + (text->data[i] - '0');
    parse_skip(text, count);
    *out = value;
    return true;
}

/* ASCII case is ignored; `word` is in lower case. */
static inline bool parse_is_word(struct str text, const char *word)
{
    size_t length = strlen(word);
    if (text.length != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text.data[i];
        if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != word[i])
            return false;
    }
    return true;
}

#endif
