#include "frontends/cli/print.h"

#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <utf8proc.h>

/* Rows that are held back to find the widths of columns. */
enum { ROWS_HELD = 10000 };

struct printer {
    struct session_sink sink;
    enum print_format format;
    struct schema *schema;
    struct strbuf text;    /* of the value at hand */
    struct strbuf cells;   /* texts of the held rows, one after another */
    VEC(size_t) cell_ends; /* in `cells` */
    size_t *widths;        /* characters; NULL before the first row is printed */
    bool header_printed;
};

static size_t display_width(struct str text)
{
    size_t width = 0;
    utf8proc_int32_t codepoint;
    for (size_t i = 0; i < text.length;) {
        utf8proc_ssize_t n =
            utf8proc_iterate((const utf8proc_uint8_t *)text.data + i, (utf8proc_ssize_t)(text.length - i), &codepoint);
        if (n <= 0) {
            width++;
            i++;
            continue;
        }
        width += (size_t)MAX(utf8proc_charwidth(codepoint), 0);
        i += (size_t)n;
    }
    return width;
}

static kith_error *check_output(void)
{
    return ferror(stdout) ? error_from_errno(errno, "cannot write to standard output") : NULL;
}

static struct str cell(const struct printer *printer, size_t i)
{
    size_t start = i == 0 ? 0 : printer->cell_ends.items[i - 1];
    return (struct str){strbuf_text(&printer->cells) + start, printer->cell_ends.items[i] - start};
}

static bool aligns_right(const struct data_type *type)
{
    return type_is_numeric(type->id);
}

static void print_padded(struct str text, size_t width, bool right)
{
    size_t padding = width - MIN(width, display_width(text));
    if (right)
        printf("%*s", (int)padding, "");
    fwrite(text.data, 1, text.length, stdout);
    if (!right)
        printf("%*s", (int)padding, "");
}

static void print_header(struct printer *printer)
{
    size_t columns = printer->schema->field_count;
    for (size_t i = 0; i < columns; i++) {
        fputs(i == 0 ? " " : " | ", stdout);
        print_padded(str_of(printer->schema->fields[i].name), i + 1 == columns ? 0 : printer->widths[i], false);
    }
    putchar('\n');
    for (size_t i = 0; i < columns; i++) {
        fputs(i == 0 ? "-" : "-+-", stdout);
        for (size_t j = 0; j < printer->widths[i]; j++)
            putchar('-');
    }
    fputs("-\n", stdout);
}

static size_t next_column(const struct printer *printer, size_t column)
{
    return column + 1 == printer->schema->field_count ? 0 : column + 1;
}

static kith_error *find_widths(struct printer *printer)
{
    size_t columns = printer->schema->field_count;
    TRY(NEW_ARRAY(&printer->widths, columns + 1));
    for (size_t i = 0; i < columns; i++)
        printer->widths[i] = display_width(str_of(printer->schema->fields[i].name));
    for (size_t i = 0, column = 0; i < printer->cell_ends.length; i++, column = next_column(printer, column))
        printer->widths[column] = MAX(printer->widths[column], display_width(cell(printer, i)));
    return NULL;
}

/* Prints the rows held and forgets them. */
static kith_error *print_held(struct printer *printer)
{
    size_t columns = printer->schema->field_count;
    if (printer->widths == NULL)
        TRY(find_widths(printer));
    if (!printer->header_printed)
        print_header(printer);
    printer->header_printed = true;
    for (size_t i = 0, column = 0; i < printer->cell_ends.length; i++, column = next_column(printer, column)) {
        bool last = column + 1 == columns;
        bool right = aligns_right(&printer->schema->fields[column].type);
        fputs(column == 0 ? " " : " | ", stdout);
        /* No blanks at the end of a line. */
        print_padded(cell(printer, i), last && !right ? 0 : printer->widths[column], right);
        if (last)
            putchar('\n');
    }
    printer->cell_ends.length = 0;
    printer->cells.length = 0;
    return check_output();
}

/* Control characters would break the table, or act on the terminal: \n, \t and \r, the others as \x1b. */
static kith_error *append_visible(struct strbuf *out, struct str text)
{
    size_t done = 0;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c >= ' ' && c != 0x7f)
            continue;
        TRY(strbuf_append(out, text.data + done, i - done));
        done = i + 1;
        if (c == '\n' || c == '\t' || c == '\r')
            TRY(strbuf_append_text(out, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r"));
        else
            TRY(strbuf_printf(out, "\\x%02x", c));
    }
    return strbuf_append(out, text.data + done, text.length - done);
}

static kith_error *append_cells(struct printer *printer, struct array *const *columns, size_t row)
{
    for (size_t i = 0; i < printer->schema->field_count; i++) {
        struct scalar value = scalar_from_array(columns[i], row);
        printer->text.length = 0;
        TRY(scalar_format(&value, &printer->text));
        TRY(append_visible(&printer->cells, (struct str){strbuf_text(&printer->text), printer->text.length}));
        TRY(vec_push(&printer->cell_ends, printer->cells.length));
    }
    return NULL;
}

static kith_error *print_csv_text(struct str text)
{
    bool quote = text.length == 0;
    for (size_t i = 0; i < text.length && !quote; i++)
        quote = strchr(",\"\r\n", text.data[i]) != NULL;
    if (!quote) {
        fwrite(text.data, 1, text.length, stdout);
        return NULL;
    }
    putchar('"');
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '"')
            putchar('"');
        putchar(text.data[i]);
    }
    putchar('"');
    return NULL;
}

/* NULL is an empty field, an empty text "". */
static kith_error *print_csv_row(struct printer *printer, struct array *const *columns, size_t row)
{
    for (size_t i = 0; i < printer->schema->field_count; i++) {
        struct scalar value = scalar_from_array(columns[i], row);
        if (i > 0)
            putchar(',');
        if (value.is_null)
            continue;
        printer->text.length = 0;
        TRY(scalar_format(&value, &printer->text));
        TRY(print_csv_text((struct str){strbuf_text(&printer->text), printer->text.length}));
    }
    putchar('\n');
    return NULL;
}

static kith_error *sink_begin(struct session_sink *sink, struct schema *schema)
{
    struct printer *printer = CONTAINER_OF(sink, struct printer, sink);
    schema_unref(printer->schema);
    printer->schema = schema_ref(schema);
    free(TAKE(printer->widths));
    printer->header_printed = false;
    if (printer->format == PRINT_TABLE)
        return NULL;
    for (size_t i = 0; i < schema->field_count; i++) {
        if (i > 0)
            putchar(',');
        TRY(print_csv_text(str_of(schema->fields[i].name)));
    }
    putchar('\n');
    fflush(stdout); /* whoever reads knows that the query runs */
    return check_output();
}

static kith_error *sink_batch(struct session_sink *sink, struct batch *batch)
{
    struct printer *printer = CONTAINER_OF(sink, struct printer, sink);
    _cleanup_(batch_unref) struct batch *compact = NULL;
    TRY(batch_compact(batch, &compact));
    for (size_t row = 0; row < compact->rows; row++) {
        if (printer->format == PRINT_CSV)
            TRY(print_csv_row(printer, compact->columns, row));
        else
            TRY(append_cells(printer, compact->columns, row));
    }
    if (printer->format == PRINT_TABLE && printer->cell_ends.length >= ROWS_HELD * printer->schema->field_count)
        TRY(print_held(printer));
    return check_output();
}

static kith_error *sink_end(struct session_sink *sink, uint64_t rows)
{
    struct printer *printer = CONTAINER_OF(sink, struct printer, sink);
    if (printer->format == PRINT_TABLE) {
        TRY(print_held(printer));
        printf("(%" PRIu64 " row%s)\n\n", rows, rows == 1 ? "" : "s");
    }
    fflush(stdout);
    return check_output();
}

static kith_error *sink_text(struct session_sink *sink, const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
    return check_output();
}

static kith_error *sink_done(struct session_sink *sink, const char *tag)
{
    struct printer *printer = CONTAINER_OF(sink, struct printer, sink);
    if (printer->format == PRINT_TABLE)
        printf("%s\n", tag);
    fflush(stdout);
    return check_output();
}

kith_error *printer_new(enum print_format format, struct printer **out)
{
    TRY(NEW(out));
    (*out)->format = format;
    (*out)->sink = (struct session_sink){
        .begin = sink_begin, .batch = sink_batch, .end = sink_end, .text = sink_text, .done = sink_done};
    return NULL;
}

void printer_free(struct printer *printer)
{
    if (printer == NULL)
        return;
    schema_unref(printer->schema);
    strbuf_reset(&printer->text);
    strbuf_reset(&printer->cells);
    vec_reset(&printer->cell_ends);
    free(printer->widths);
    free(printer);
}

struct session_sink *printer_sink(struct printer *printer)
{
    return &printer->sink;
}
