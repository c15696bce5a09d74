#include "frontends/cli/report.h"

#include "base/limits.h"

#include <stdio.h>
#include <string.h>

/* The line around byte `offset`, with a caret below it. Columns are counted in characters. */
static void print_place(const char *sql, size_t offset)
{
    size_t length = strlen(sql);
    size_t start = MIN(offset, length), end = start;
    size_t line = 1, column = 0;
    while (start > 0 && sql[start - 1] != '\n')
        start--;
    while (end < length && sql[end] != '\n')
        end++;
    for (size_t i = 0; i < start; i++)
        line += sql[i] == '\n';
    for (size_t i = start; i < MIN(offset, end); i++)
        column += ((unsigned char)sql[i] & 0xC0) != 0x80;
    int indent = fprintf(stderr, "LINE %zu: ", line);
    fprintf(stderr, "%.*s\n%*s^\n", (int)(end - start), sql + start, indent + (int)column, "");
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
