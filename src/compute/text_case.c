#include "compute/text_case.h"

#include <utf8proc.h>

typedef utf8proc_int32_t map_character(utf8proc_int32_t code);

static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((uint8_t)text.data[i] >= 0x80)
            return false;
    return true;
}

static kith_error *map_characters(struct str text, map_character *map, struct strbuf *out)
{
    for (size_t at = 0; at < text.length;) {
        utf8proc_int32_t code;
        utf8proc_uint8_t encoded[4];
        utf8proc_ssize_t used =
            utf8proc_iterate((const utf8proc_uint8_t *)text.data + at, (utf8proc_ssize_t)(text.length - at), &code);
        if (used <= 0) {
            TRY(strbuf_append(out, text.data + at++, 1));
            continue;
        }
        at += (size_t)used;
        TRY(strbuf_append(out, encoded, (size_t)utf8proc_encode_char(map(code), encoded)));
    }
    return NULL;
}

/* `first` to `last` are the ASCII letters that change; upper and lower case differ in one bit. */
static kith_error *map_text(struct str text, char first, char last, map_character *map, struct strbuf *out)
{
    char *room;
    if (!is_ascii(text))
        return map_characters(text, map, out);
    TRY(strbuf_reserve(out, text.length + 1, &room));
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        room[i] = c >= first && c <= last ? (char)(c ^ 0x20) : c;
    }
    room[text.length] = '\0';
    out->length += text.length;
    return NULL;
}

kith_error *text_append_lower(struct str text, struct strbuf *out)
{
    return map_text(text, 'A', 'Z', utf8proc_tolower, out);
}

kith_error *text_append_upper(struct str text, struct strbuf *out)
{
    return map_text(text, 'a', 'z', utf8proc_toupper, out);
}

int32_t text_lower_character(struct str character)
{
    utf8proc_int32_t code;
    if (character.length == 1 && (uint8_t)character.data[0] < 0x80) {
        char c = character.data[0];
        return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
    }
    if (utf8proc_iterate((const utf8proc_uint8_t *)character.data, (utf8proc_ssize_t)character.length, &code) < 0)
        return -(int32_t)(uint8_t)character.data[0];
    return utf8proc_tolower(code);
}
