#include "base/strbuf.h"

#include "base/alloc.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

int str_compare(struct str a, struct str b)
{
    size_t shared = MIN(a.length, b.length);
    int order = shared == 0 ? 0 : memcmp(a.data, b.data, shared);
    if (order != 0)
        return order;
    return a.length < b.length ? -1 : a.length > b.length;
}

size_t str_distance(struct str a, struct str b, size_t limit)
{
    enum { LONGEST = 64 };
    if (a.length > LONGEST || b.length > LONGEST)
        return str_equal(a, b) ? 0 : limit;

    /* Wagner and Fischer, "The String-to-String Correction Problem" (1974), keeping one row. */
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= b.length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.length; j++) {
            size_t above = row[j];
            bool same = tolower((unsigned char)a.data[i - 1]) == tolower((unsigned char)b.data[j - 1]);
            row[j] = MIN(MIN(row[j] + 1, row[j - 1] + 1), diagonal + (same ? 0 : 1));
            diagonal = above;
        }
    }
    return MIN(row[b.length], limit);
}

const char *str_nearest(const char *given, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t best = strlen(given) / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        size_t distance = str_distance(str_of(given), str_of(candidates[i]), best);
        if (distance < best) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

kith_error *strbuf_reserve(struct strbuf *buffer, size_t extra, char **out)
{
    size_t needed;
    if (__builtin_add_overflow(buffer->length, extra, &needed) || needed == SIZE_MAX)
        return error_out_of_memory();
    if (buffer->limit != 0 && needed > buffer->limit)
        return error_new(KITH_ERROR_LIMIT, "text of %zu bytes is longer than the limit of %zu", needed, buffer->limit);
    if (needed + 1 > buffer->capacity) {
        size_t capacity = MAX(needed + 1, buffer->capacity + buffer->capacity / 2);
        capacity = MAX(capacity, (size_t)64);
        TRY(alloc_resize(&buffer->data, capacity, 1));
        buffer->capacity = capacity;
        buffer->data[buffer->length] = '\0';
    }
    *out = buffer->data + buffer->length;
    return NULL;
}

kith_error *strbuf_append(struct strbuf *buffer, const void *data, size_t length)
{
    char *end;
    TRY(strbuf_reserve(buffer, length, &end));
    if (length > 0)
        memcpy(end, data, length);
    end[length] = '\0';
    buffer->length += length;
    return NULL;
}

kith_error *strbuf_append_text(struct strbuf *buffer, const char *text)
{
    return strbuf_append(buffer, text, strlen(text));
}

kith_error *strbuf_append_fill(struct strbuf *buffer, char c, size_t count)
{
    char *end;
    TRY(strbuf_reserve(buffer, count, &end));
    memset(end, c, count);
    end[count] = '\0';
    buffer->length += count;
    return NULL;
}

kith_error *strbuf_printf(struct strbuf *buffer, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *end = NULL;
    kith_error *error = length < 0 ? error_new(KITH_ERROR_INTERNAL, "cannot format \"%s\"", format)
                                   : strbuf_reserve(buffer, (size_t)length, &end);
    if (error == NULL) {
        vsnprintf(end, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
    return error;
}

const char *strbuf_text(const struct strbuf *buffer)
{
    return buffer->data == NULL ? "" : buffer->data;
}

char *strbuf_take(struct strbuf *buffer)
{
    char *data = buffer->data;
    *buffer = (struct strbuf){.limit = buffer->limit};
    return data;
}

void strbuf_reset(struct strbuf *buffer)
{
    free(buffer->data);
    *buffer = (struct strbuf){.limit = buffer->limit};
}
