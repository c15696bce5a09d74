#include "compute/like.h"

#include "base/alloc.h"
#include "compute/text_case.h"
#include "compute/text_find.h"
#include "compute/text_reader.h"

/* What a pattern turns out to be; all but the last need no matcher. */
enum like_class { LIKE_EQUAL, LIKE_PREFIX, LIKE_SUFFIX, LIKE_CONTAINS, LIKE_GENERAL };

struct like_pattern {
    enum like_class class;
    bool case_insensitive;
    struct str literal; /* of the first four classes: the pattern's text without escapes */
    struct str prefix;  /* constant text before the first wildcard */
    bool whole;
    struct str pattern;
    char *bytes; /* owned, what all of these point into */
};

/* One element of a pattern: a wildcard or a literal code point. */
struct element {
    enum { ELEMENT_ANY_TEXT, ELEMENT_ANY_ONE, ELEMENT_LITERAL } kind;
    struct str bytes; /* of a literal: the bytes of its code point, escape removed */
    size_t width;     /* bytes in the pattern */
};

/* Length in bytes of the code point at `text`, by its first byte; broken UTF-8 counts byte by byte. */
static size_t character_bytes(const char *text, size_t left)
{
    uint8_t first = (uint8_t)text[0];
    size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return MIN(length, left);
}

static struct element element_at(struct str pattern, size_t at)
{
    char c = pattern.data[at];
    if (c == '%')
        return (struct element){.kind = ELEMENT_ANY_TEXT, .width = 1};
    if (c == '_')
        return (struct element){.kind = ELEMENT_ANY_ONE, .width = 1};
    size_t escape = c == '\\' && at + 1 < pattern.length;
    size_t length = character_bytes(pattern.data + at + escape, pattern.length - at - escape);
    return (struct element){
        .kind = ELEMENT_LITERAL, .bytes = {pattern.data + at + escape, length}, .width = escape + length};
}

static bool characters_equal(struct str a, struct str b, bool case_insensitive)
{
    return case_insensitive ? text_lower_character(a) == text_lower_character(b) : str_equal(a, b);
}

/* The first place from `at` where the pattern after a % may match: where it goes on with a byte that stands for itself,
 * the next such byte. The end of the text when there is none. */
static size_t next_candidate(struct str pattern, size_t after, struct str text, size_t at, bool case_insensitive)
{
    if (case_insensitive || after >= pattern.length)
        return at;
    char first = pattern.data[after];
    if (first == '%' || first == '_' || first == '\\')
        return at;
    const char *found = (const char *)memchr(text.data + at, first, text.length - at);
    return found != NULL ? (size_t)(found - text.data) : text.length;
}

/* Matches greedily and, when stuck, lets the last % take one more character: earlier ones need no second look, because
 * taking as little as possible there leaves the most for the rest. */
static bool matches_general(struct str pattern, struct str text, bool case_insensitive)
{
    size_t p = 0, t = 0, resume_pattern = SIZE_MAX, resume_text = 0;
    while (t < text.length) {
        size_t length = character_bytes(text.data + t, text.length - t);
        if (p < pattern.length) {
            struct element element = element_at(pattern, p);
            if (element.kind == ELEMENT_ANY_TEXT) {
                p += element.width;
                resume_pattern = p;
                resume_text = t = next_candidate(pattern, p, text, t, case_insensitive);
                continue;
            }
            if (element.kind == ELEMENT_ANY_ONE ||
                characters_equal(element.bytes, (struct str){text.data + t, length}, case_insensitive)) {
                p += element.width;
                t += length;
                continue;
            }
        }
        if (resume_pattern == SIZE_MAX)
            return false;
        resume_text += character_bytes(text.data + resume_text, text.length - resume_text);
        resume_text = next_candidate(pattern, resume_pattern, text, resume_text, case_insensitive);
        t = resume_text;
        p = resume_pattern;
    }
    while (p < pattern.length && pattern.data[p] == '%')
        p++;
    return p == pattern.length;
}

/* Wildcards of the pattern in order of appearance tell its class. */
static void classify(struct like_pattern *like, char *literal)
{
    size_t used = 0, elements_before_text = 0;
    bool any_one = false, inner = false, leading = false, trailing = false, seen_wildcard = false;
    for (size_t at = 0; at < like->pattern.length;) {
        struct element element = element_at(like->pattern, at);
        at += element.width;
        if (element.kind == ELEMENT_LITERAL) {
            inner |= trailing;
            trailing = false;
            memcpy(literal + used, element.bytes.data, element.bytes.length);
            used += element.bytes.length;
            if (!seen_wildcard)
                like->prefix.length = used;
            elements_before_text++;
            continue;
        }
        seen_wildcard = true;
        any_one |= element.kind == ELEMENT_ANY_ONE;
        if (elements_before_text == 0)
            leading = true;
        else
            trailing = true;
    }
    like->literal = (struct str){literal, used};
    like->prefix.data = literal;
    like->whole = !seen_wildcard && !like->case_insensitive;
    if (like->case_insensitive) {
        like->prefix.length = 0;
        like->class = LIKE_GENERAL;
    } else if (any_one || inner) {
        like->class = LIKE_GENERAL;
    } else if (!leading && !trailing) {
        like->class = LIKE_EQUAL;
    } else if (leading && trailing) {
        like->class = LIKE_CONTAINS;
    } else if (leading) {
        like->class = used == 0 ? LIKE_CONTAINS : LIKE_SUFFIX;
    } else {
        like->class = LIKE_PREFIX;
    }
}

kith_error *like_compile(struct str pattern, bool case_insensitive, struct like_pattern **out)
{
    _cleanup_(like_pattern_free) struct like_pattern *like = NULL;
    TRY(NEW(&like));
    TRY(alloc_zeroed(2 * pattern.length + 1, 1, &like->bytes));
    if (pattern.length > 0)
        memcpy(like->bytes, pattern.data, pattern.length);
    like->pattern = (struct str){like->bytes, pattern.length};
    like->case_insensitive = case_insensitive;
    classify(like, like->bytes + pattern.length);
    *out = TAKE(like);
    return NULL;
}

void like_pattern_free(struct like_pattern *pattern)
{
    if (pattern == NULL)
        return;
    free(pattern->bytes);
    free(pattern);
}

bool like_matches(const struct like_pattern *pattern, struct str text)
{
    struct str literal = pattern->literal;
    switch (pattern->class) {
    case LIKE_EQUAL:
        return str_equal(text, literal);
    case LIKE_PREFIX:
        return text.length >= literal.length && memcmp(text.data, literal.data, literal.length) == 0;
    case LIKE_SUFFIX:
        return text.length >= literal.length &&
               memcmp(text.data + text.length - literal.length, literal.data, literal.length) == 0;
    case LIKE_CONTAINS:
        return literal.length == 0 || text_find(text, literal) != NULL;
    case LIKE_GENERAL:
        return matches_general(pattern->pattern, text, pattern->case_insensitive);
    }
    UNREACHABLE();
}

struct str like_prefix(const struct like_pattern *pattern, bool *whole)
{
    *whole = pattern->whole;
    return pattern->prefix;
}

kith_error *like_run(const struct datum *text, const struct like_pattern *pattern, bool negated, size_t rows,
                     const struct selection *selection, struct array **out)
{
    const struct data_type boolean = type_of(TYPE_BOOL);
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_result(&boolean, rows, &result));
    TRY(kernel_unite_validity(result, text, 1));
    struct text_reader reader = text_reader_of(text->array);
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        if (!array_is_null(result, row) && like_matches(pattern, text_at(&reader, row)) != negated)
            bitmap_set(result->values->data, row);
    }
    *out = TAKE(result);
    return NULL;
}

kith_error *like_run_patterns(const struct datum *text, const struct datum *patterns, bool case_insensitive,
                              bool negated, size_t rows, const struct selection *selection, struct array **out)
{
    const struct data_type boolean = type_of(TYPE_BOOL);
    if (datum_is_null_constant(text) || datum_is_null_constant(patterns))
        return kernel_all_null(&boolean, rows, out);
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_result(&boolean, rows, &result));
    TRY(kernel_unite_validity(result, (struct datum[]){*text, *patterns}, 2));
    struct text_reader texts = text_reader_of(text->array), wanted = text_reader_of(patterns->array);
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        if (array_is_null(result, row))
            continue;
        struct str value = text_at(&texts, datum_row(text, row));
        struct str pattern = text_at(&wanted, datum_row(patterns, row));
        if (matches_general(pattern, value, case_insensitive) != negated)
            bitmap_set(result->values->data, row);
    }
    *out = TAKE(result);
    return NULL;
}
