#include "storage/pattern.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

bool pattern_is_glob(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

/* The code point at *text, which moves past it; a byte that is not UTF-8 counts as a character of its own. */
static uint32_t next_character(const char **text)
{
    const unsigned char *bytes = (const unsigned char *)*text;
    size_t more = bytes[0] >= 0xF0 ? 3 : bytes[0] >= 0xE0 ? 2 : bytes[0] >= 0xC0 ? 1 : 0;
    uint32_t code = more == 0 ? bytes[0] : bytes[0] & (0x3Fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            more = 0;
            code = bytes[0];
            break;
        }
        code = code << 6 | (bytes[i] & 0x3F);
    }
    *text += more + 1;
    return code;
}

/* *set is past the "[". False when there is no closing "]", then "[" stands for itself and *set stays. */
static bool match_set(const char **set, uint32_t character, bool *matched)
{
    const char *at = *set;
    bool negated = *at == '!' || *at == '^';
    at += negated;
    bool found = false;
    for (const char *first = at; *at != ']' || at == first;) {
        if (*at == '\0')
            return false;
        uint32_t low = next_character(&at);
        uint32_t high = low;
        if (at[0] == '-' && at[1] != ']' && at[1] != '\0') {
            at++;
            high = next_character(&at);
        }
        found |= low <= character && character <= high;
    }
    *set = at + 1;
    *matched = found != negated;
    return true;
}

/* Whether one character of the pattern other than "*" accepts one of the name; both move past it. */
static bool match_one(const char **pattern, const char **name)
{
    uint32_t character = next_character(name);
    char special = **pattern;
    if (special == '?') {
        (*pattern)++;
        return true;
    }
    if (special == '[') {
        const char *set = *pattern + 1;
        bool matched;
        if (match_set(&set, character, &matched)) {
            *pattern = set;
            return matched;
        }
    }
    if (special == '\\' && (*pattern)[1] != '\0')
        (*pattern)++;
    return next_character(pattern) == character;
}

bool pattern_matches(const char *pattern, const char *name)
{
    if (name[0] == '.' && pattern[0] != '.' && strncmp(pattern, "\\.", 2) != 0)
        return false;
    /* On a mismatch only the latest star need take one character more: what an earlier one could give, it can too. */
    const char *after_star = NULL, *star_end = NULL;
    while (*name != '\0') {
        if (*pattern == '*') {
            after_star = ++pattern;
            star_end = name;
            continue;
        }
        if (*pattern != '\0' && match_one(&pattern, &name))
            continue;
        if (after_star == NULL)
            return false;
        pattern = after_star;
        next_character(&star_end);
        name = star_end;
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
