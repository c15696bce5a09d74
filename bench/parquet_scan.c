/*
 * How fast columns of a Parquet file are decoded on one thread, batch by batch, with nothing done to the values:
 * gigabytes of file and of array, and million rows, for each second on the processor. Prints the best of five runs for
 * each column named, or for all that can be read.
 *   usage: parquet_scan [--dictionary] [--every N] FILE [COLUMN…]
 * --dictionary leaves strings dictionary-encoded; --every N selects one of N rows.
 */
#include "base/clock.h"
#include "parquet/column_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 5, BATCH_ROWS = 8192 };

struct scan {
    struct parquet_file *file;
    bool keep_dictionary;
    struct selection *selection; /* NULL = all rows */
};

struct result {
    int64_t ns, cpu_ns;
    struct parquet_read_metrics metrics;
    uint64_t array_bytes;
};

static kith_error *scan_row_group(const struct scan *scan, size_t row_group, size_t column, struct result *result)
{
    const struct parquet_read_options options = {.keep_dictionary = scan->keep_dictionary};
    _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
    uint64_t left = (uint64_t)scan->file->metadata->row_groups[row_group].row_count;
    TRY(parquet_column_reader_new(scan->file, row_group, column, NULL, &options, &result->metrics, &reader));
    for (size_t rows; left > 0; left -= rows) {
        _cleanup_(array_unref) struct array *array = NULL;
        rows = (size_t)MIN(left, (uint64_t)BATCH_ROWS);
        TRY(parquet_column_reader_read(reader, rows, rows == BATCH_ROWS ? scan->selection : NULL, &array));
        result->array_bytes += array_memory_bytes(array);
    }
    return NULL;
}

/* On a busy machine the time on the processor says more than the time that passed. */
static int64_t cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * NANOSECONDS_PER_SECOND + used.tv_nsec;
}

static kith_error *scan_column(const struct scan *scan, size_t column, struct result *best)
{
    *best = (struct result){.cpu_ns = INT64_MAX};
    for (int run = 0; run < RUNS; run++) {
        struct result result = {0};
        int64_t start = clock_monotonic_ns(&system_clock), cpu_start = cpu_ns();
        for (size_t i = 0; i < scan->file->metadata->row_group_count; i++)
            TRY(scan_row_group(scan, i, column, &result));
        result.ns = clock_monotonic_ns(&system_clock) - start;
        result.cpu_ns = cpu_ns() - cpu_start;
        if (result.cpu_ns < best->cpu_ns)
            *best = result;
    }
    return NULL;
}

static kith_error *measure(const struct scan *scan, char **names, int name_count)
{
    printf("%-16s %8s %8s %9s %10s %11s %8s\n", "column", "ms", "CPU ms", "decode ms", "file GB/s", "array GB/s",
           "Mrows/s");
    for (size_t i = 0; i < scan->file->schema->field_count; i++) {
        const char *name = scan->file->schema->fields[i].name;
        bool wanted = name_count == 0;
        for (int k = 0; k < name_count; k++)
            wanted |= strcmp(names[k], name) == 0;
        if (!wanted)
            continue;
        struct result result;
        TRY(scan_column(scan, scan->file->columns[i], &result));
        double ns = (double)result.cpu_ns;
        printf("%-16s %8.1f %8.1f %9.1f %10.2f %11.2f %8.1f\n", name, (double)result.ns / 1e6, ns / 1e6,
               (double)result.metrics.decode_ns / 1e6, (double)result.metrics.bytes_read / ns,
               (double)result.array_bytes / ns, (double)scan->file->metadata->row_count * 1e3 / ns);
    }
    return NULL;
}

static kith_error *select_every(size_t stride, struct selection **out)
{
    TRY(selection_new(BATCH_ROWS, out));
    for (size_t row = 0; row < BATCH_ROWS; row += stride)
        (*out)->rows[(*out)->count++] = (uint32_t)row;
    return NULL;
}

static kith_error *run(int count, char **arguments)
{
    struct scan scan = {0};
    _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    _cleanup_(selection_unref) struct selection *selection = NULL;
    int at = 1;
    for (; at < count && arguments[at][0] == '-'; at++) {
        if (strcmp(arguments[at], "--dictionary") == 0)
            scan.keep_dictionary = true;
        else if (strcmp(arguments[at], "--every") == 0 && at + 1 < count)
            TRY(select_every(MAX(strtoul(arguments[++at], NULL, 10), 1ul), &selection));
    }
    if (at >= count)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "usage: parquet_scan [--dictionary] [--every N] FILE [COLUMN…]");
    TRY(storage_open(arguments[at], &storage));
    TRY(parquet_file_open(storage, &file));
    scan.file = file;
    scan.selection = selection;
    return measure(&scan, arguments + at + 1, count - at - 1);
}

int main(int count, char **arguments)
{
    _cleanup_(error_free) kith_error *error = run(count, arguments);
    if (error == NULL)
        return 0;
    char text[1024];
    fprintf(stderr, "%s\n", error_describe(error, text, sizeof text));
    return 1;
}
