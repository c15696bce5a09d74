#include "frontends/cli/report.h"

#include "base/limits.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a line that are shown on each side of the place. */
enum { SHOWN_BEFORE = 60, SHOWN_AFTER = 60 };

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static size_t count_characters(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += !continues_character(text[i]);
    return count;
}

/* The line around byte `offset`, cut where it is long, with a caret below it. Columns are counted in characters. */
static void print_place(const char *sql, size_t offset)
{
    size_t length = strlen(sql), place = MIN(offset, length);
    size_t start = place, end = place, line = 1;
    while (start > 0 && sql[start - 1] != '\n' && (place - start < SHOWN_BEFORE || continues_character(sql[start])))
        start--;
    while (end < length && sql[end] != '\n' && (end - place < SHOWN_AFTER || continues_character(sql[end])))
        end++;
    for (size_t i = 0; i < start; i++)
        line += sql[i] == '\n';
    int indent = fprintf(stderr, "LINE %zu: ", line);
    bool cut = start > 0 && sql[start - 1] != '\n';
    size_t column = (size_t)indent + 3 * cut + count_characters(sql + start, place - start);
    fprintf(stderr, "%s%.*s%s\n%*s^\n", cut ? "..." : "", (int)(end - start), sql + start,
            end < length && sql[end] != '\n' ? "..." : "", (int)column, "");
}

void report_error(const kith_error *error, const char *sql)
{
    char text[2 * LIMIT_ERROR_MESSAGE_BYTES];
    fprintf(stderr, "ERROR: %s\n", error_describe(error, text, sizeof text));
    size_t position = kith_error_position(error);
    if (sql != NULL && position > 0)
        print_place(sql, position - 1);
    if (kith_error_hint(error) != NULL)
        fprintf(stderr, "HINT: %s\n", kith_error_hint(error));
}
