/*
 * Prints the statistics of each row group and readable column of a Parquet file, for outside_statistics.py:
 *     usage: parquet_statistics FILE
 * A line has, separated by tabs: row group, column (in the file's order), min, max ("-" where there is none), "exact"
 * or "cut" for each, number of NULLs or "-". Numbers are in decimal, floating-point ones with all their digits, a
 * binary16 as its bits; strings are in hexadecimal.
 */
#include "parquet/file.h"

#include <inttypes.h>
#include <stdio.h>

static void print_string(struct str text)
{
    putchar('\t');
    for (size_t i = 0; i < text.length; i++)
        printf("%02x", (unsigned char)text.data[i]);
}

static kith_error *print_scalar(bool has, const struct scalar *scalar)
{
    enum type_id id = scalar->type.id;
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    if (!has)
        printf("\t-");
    else if (type_is_string(id) || type_is_binary(id))
        print_string(scalar->string);
    else if (id == TYPE_FLOAT32)
        printf("\t%.17g", (double)scalar->float32);
    else if (id == TYPE_FLOAT64)
        printf("\t%.17g", scalar->float64);
    else if (id == TYPE_BOOL)
        printf("\t%d", scalar->boolean);
    else if (id == TYPE_FLOAT16 || (type_is_integer(id) && !type_is_signed_integer(id)))
        printf("\t%" PRIu64, scalar->uint64);
    else if (!type_is_decimal(id))
        printf("\t%" PRId64, scalar->int64);
    else {
        TRY(scalar_format(scalar, &text));
        printf("\t%s", strbuf_text(&text));
    }
    return NULL;
}

static kith_error *print_statistics(const struct column_statistics *statistics)
{
    TRY(print_scalar(statistics->has_min, &statistics->min));
    TRY(print_scalar(statistics->has_max, &statistics->max));
    printf("\t%s\t%s", statistics->min_exact ? "exact" : "cut", statistics->max_exact ? "exact" : "cut");
    if (statistics->has_null_count)
        printf("\t%" PRIu64 "\n", statistics->null_count);
    else
        printf("\t-\n");
    return NULL;
}

static kith_error *print_file(const char *path)
{
    _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    TRY(storage_open(path, &storage));
    TRY(parquet_file_open(storage, &file));
    for (size_t group = 0; group < file->metadata->row_group_count; group++) {
        for (size_t i = 0; i < file->schema->field_count; i++) {
            struct column_statistics statistics;
            parquet_row_group_statistics(file, group, file->columns[i], &statistics);
            printf("%zu\t%zu", group, file->columns[i]);
            TRY(print_statistics(&statistics));
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    _cleanup_(error_free) kith_error *error = print_file(argv[1]);
    char text[1024];
    if (error != NULL)
        fprintf(stderr, "parquet_statistics: %s\n", error_describe(error, text, sizeof text));
    return error != NULL;
}
