#include "base/json.h"

#include <inttypes.h>

/* The length of the UTF-8 sequence that begins there (RFC 3629), 0 when none does. */
static size_t sequence_length(const unsigned char *bytes, size_t left)
{
    static const struct {
        unsigned char first_least, first_most, second_least, second_most;
        size_t length;
    } forms[] = {
        {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
        {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
        {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    if (bytes[0] < 0x80)
        return 1;
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        if (bytes[0] < forms[i].first_least || bytes[0] > forms[i].first_most)
            continue;
        if (left < forms[i].length || bytes[1] < forms[i].second_least || bytes[1] > forms[i].second_most)
            return 0;
        for (size_t j = 2; j < forms[i].length; j++)
            if ((bytes[j] & 0xC0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

static kith_error *append_quoted(struct strbuf *out, const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t left = strlen(text);
    TRY(strbuf_append_text(out, "\""));
    while (left > 0) {
        size_t length = sequence_length(bytes, left);
        if (length == 0)
            TRY(strbuf_append_text(out, "\\ufffd"));
        else if (*bytes == '"' || *bytes == '\\')
            TRY(strbuf_printf(out, "\\%c", *bytes));
        else if (*bytes < 0x20)
            TRY(strbuf_printf(out, "\\u%04x", *bytes));
        else
            TRY(strbuf_append(out, bytes, length));
        bytes += MAX(length, (size_t)1);
        left -= MAX(length, (size_t)1);
    }
    return strbuf_append_text(out, "\"");
}

static kith_error *begin_line(struct json_writer *writer)
{
    if (writer->depth == 0)
        return NULL;
    TRY(strbuf_append_text(writer->out, "\n"));
    return strbuf_append_fill(writer->out, ' ', 2 * writer->depth);
}

static kith_error *begin_value(struct json_writer *writer, const char *key)
{
    if (writer->has_members)
        TRY(strbuf_append_text(writer->out, ","));
    writer->has_members = true;
    TRY(begin_line(writer));
    if (key == NULL)
        return NULL;
    TRY(append_quoted(writer->out, key));
    return strbuf_append_text(writer->out, ": ");
}

static kith_error *begin(struct json_writer *writer, const char *key, const char *bracket)
{
    TRY(begin_value(writer, key));
    writer->depth++;
    writer->has_members = false;
    return strbuf_append_text(writer->out, bracket);
}

static kith_error *end(struct json_writer *writer, const char *bracket)
{
    bool empty = !writer->has_members;
    writer->depth--;
    writer->has_members = true;
    if (!empty && writer->depth == 0)
        TRY(strbuf_append_text(writer->out, "\n"));
    else if (!empty)
        TRY(begin_line(writer));
    return strbuf_append_text(writer->out, bracket);
}

kith_error *json_begin_object(struct json_writer *writer, const char *key)
{
    return begin(writer, key, "{");
}

kith_error *json_end_object(struct json_writer *writer)
{
    return end(writer, "}");
}

kith_error *json_begin_array(struct json_writer *writer, const char *key)
{
    return begin(writer, key, "[");
}

kith_error *json_end_array(struct json_writer *writer)
{
    return end(writer, "]");
}

kith_error *json_text(struct json_writer *writer, const char *key, const char *value)
{
    TRY(begin_value(writer, key));
    return append_quoted(writer->out, value);
}

kith_error *json_integer(struct json_writer *writer, const char *key, int64_t value)
{
    TRY(begin_value(writer, key));
    return strbuf_printf(writer->out, "%" PRId64, value);
}

kith_error *json_count(struct json_writer *writer, const char *key, uint64_t value)
{
    TRY(begin_value(writer, key));
    return strbuf_printf(writer->out, "%" PRIu64, value);
}

kith_error *json_bool(struct json_writer *writer, const char *key, bool value)
{
    TRY(begin_value(writer, key));
    return strbuf_append_text(writer->out, value ? "true" : "false");
}
