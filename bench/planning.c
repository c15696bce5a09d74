/*
 * How long planning keeps its thread: many files, many row groups, long lists. Each step runs in a runtime of its own,
 * of one thread, and prints the thread's processor time, the turns that it took, and the longest of them.
 *
 *     bench/planning FOLDER [FILES [ROW_GROUPS [VALUES]]]
 *
 * The tables are written to the folder, unless they are there.
 */
#include "base/alloc.h"
#include "cluster/query.h"
#include "columnar/builder.h"
#include "parquet/writer.h"
#include "runtime/turns.h"
#include "sql/statement.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { COLUMNS = 50, SMALL_COLUMNS = 3, SMALL_ROWS = 100 };

static kith_error *make_column(size_t column, size_t rows, struct array **out)
{
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    const struct data_type type = type_of(TYPE_INT64);
    TRY(array_builder_new(&type, &builder));
    for (size_t row = 0; row < rows; row++)
        TRY(array_builder_append_int(builder, (int64_t)(row * 7919 % 10007 + column)));
    return array_builder_finish(builder, out);
}

static kith_error *make_batch(size_t columns, size_t rows, struct batch **out)
{
    struct field fields[COLUMNS] = {0};
    struct array *arrays[COLUMNS] = {0};
    char names[COLUMNS][8];
    _cleanup_(schema_unref) struct schema *schema = NULL;
    kith_error *error = NULL;
    for (size_t i = 0; i < columns && error == NULL; i++) {
        snprintf(names[i], sizeof names[i], "c%zu", i);
        fields[i] = (struct field){.name = names[i], .type = type_of(TYPE_INT64)};
        error = make_column(i, rows, &arrays[i]);
    }
    if (error == NULL)
        error = schema_new(fields, columns, &schema);
    if (error == NULL)
        error = batch_new(schema, arrays, rows, out);
    for (size_t i = 0; i < columns; i++)
        array_unref(arrays[i]);
    return error;
}

static kith_error *write_file(const char *path, size_t columns, size_t rows, size_t row_group_rows)
{
    _cleanup_(storage_writer_free) struct storage_writer *storage = NULL;
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    const struct parquet_write_options options = {.codec = PARQUET_UNCOMPRESSED, .row_group_rows = row_group_rows};
    if (access(path, F_OK) == 0)
        return NULL;
    TRY(make_batch(columns, rows, &batch));
    TRY(storage_create(path, &storage));
    TRY(parquet_writer_new(storage, batch->schema, &options, &writer));
    TRY(parquet_writer_write(writer, batch));
    TRY(parquet_writer_finish(writer));
    return storage_writer_finish(storage);
}

/* One file under many names. */
static kith_error *write_many(const char *folder, size_t files)
{
    char first[512], name[512];
    mkdir(folder, 0777);
    snprintf(first, sizeof first, "%s/0.parquet", folder);
    TRY(write_file(first, SMALL_COLUMNS, SMALL_ROWS, 0));
    for (size_t i = 1; i < files; i++) {
        snprintf(name, sizeof name, "%s/%zu.parquet", folder, i);
        if (link(first, name) != 0 && errno != EEXIST)
            return error_from_errno(errno, "cannot link \"%s\"", name);
    }
    return NULL;
}

static kith_error *no_open(struct sql_catalog *catalog, const char *pattern, struct table **out)
{
    return error_new(KITH_ERROR_UNDEFINED_TABLE, "the only table is t");
}

struct one_table {
    struct sql_catalog catalog;
    struct table *table;
};

static kith_error *find_table(struct sql_catalog *catalog, const char *name, struct table **out)
{
    *out = table_ref(CONTAINER_OF(catalog, struct one_table, catalog)->table);
    return NULL;
}

static size_t no_names(struct sql_catalog *catalog, const char *const **out)
{
    *out = NULL;
    return 0;
}

struct step {
    const char *pattern; /* to be opened, or */
    const char *sql;     /* to be run, or NULL: the table is closed */
    struct table **table;
    struct turn_account account;
    double ms;
};

static kith_error *run_query(const struct step *step)
{
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(query_free) struct query *query = NULL;
    struct one_table tables = {{find_table, no_open, no_names}, *step->table};
    struct query_options options = {.runtime = runtime_current(), .arena = &arena};
    struct statement statement;
    settings_init(&options.settings);
    TRY(sql_parse(str_of(step->sql), &script));
    struct sql_syntax syntax = sql_script_statement(script, 0);
    TRY(sql_bind(&syntax, &tables.catalog, &options.settings, &arena, &statement));
    TRY(query_new(&options, statement.plan, &query));
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(query_next(query, &batch));
        if (batch == NULL)
            return NULL;
    }
}

/* Time in which the machine ran something else is no part of a turn. */
static int64_t processor_time_ns(const struct clock *clock)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * NANOSECONDS_PER_SECOND + used.tv_nsec;
}

static const struct clock processor_clock = {.monotonic_ns = processor_time_ns, .wall_ns = processor_time_ns};

static kith_error *run_step(void *argument)
{
    struct step *step = argument;
    kith_error *error = NULL;
    int64_t start = processor_time_ns(NULL);
    step->account.name = "planning";
    struct turn_account *before = fiber_enter(&step->account);
    if (step->pattern != NULL)
        error = table_open(step->pattern, step->table);
    else if (step->sql != NULL)
        error = run_query(step);
    else
        table_unref(TAKE(*step->table));
    fiber_leave(before);
    step->ms = (double)(processor_time_ns(NULL) - start) / 1e6;
    return error;
}

static kith_error *measure(const char *name, struct step step)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    struct runtime_turns turns;
    TRY(runtime_new(&(struct runtime_options){.threads = 1, .clock = &processor_clock}, &runtime));
    TRY(runtime_run(runtime, run_step, &step));
    runtime_read_turns(runtime, &turns);
    printf("%-44s %10.1f %10llu %12.2f\n", name, step.ms, (unsigned long long)turns.turns,
           (double)turns.longest_ns / 1e6);
    fflush(stdout);
    return NULL;
}

/* SELECT … WHERE c0 IN (0, 3, 6, …) */
static kith_error *make_list(size_t values, struct strbuf *out)
{
    TRY(strbuf_append_text(out, "SELECT c0 FROM t WHERE c0 IN ("));
    for (size_t i = 0; i < values; i++)
        TRY(strbuf_printf(out, "%s%zu", i == 0 ? "" : ", ", 3 * i));
    return strbuf_append_text(out, ") ORDER BY c1 LIMIT 10");
}

static const char topk[] = "SELECT c0, c1 FROM t WHERE c2 >= 0 ORDER BY c0 DESC, c1 LIMIT 10";

static kith_error *measure_all(const char *folder, size_t files, size_t row_groups, size_t values)
{
    char many[400], wide[400];
    struct table *table;
    _cleanup_(strbuf_reset) struct strbuf list = {0};
    snprintf(many, sizeof many, "%s/many-%zu", folder, files);
    snprintf(wide, sizeof wide, "%s/wide-%zu.parquet", folder, row_groups);
    TRY(write_many(many, files));
    TRY(write_file(wide, COLUMNS, row_groups, 1));
    TRY(make_list(values, &list));
    printf("%-44s %10s %10s %12s\n", "", "ms", "turns", "longest, ms");
    TRY(measure("many files: opening", (struct step){.pattern = many, .table = &table}));
    TRY(measure("many files: Top-K", (struct step){.sql = topk, .table = &table}));
    TRY(measure("many files: closing", (struct step){.table = &table}));
    TRY(measure("many row groups of 50 columns: opening", (struct step){.pattern = wide, .table = &table}));
    TRY(measure("many row groups of 50 columns: Top-K", (struct step){.sql = topk, .table = &table}));
    TRY(measure("IN list of many values", (struct step){.sql = strbuf_text(&list), .table = &table}));
    return measure("many row groups of 50 columns: closing", (struct step){.table = &table});
}

static size_t argument_or(int argc, char **argv, int i, size_t otherwise)
{
    return argc > i ? strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: planning FOLDER [FILES [ROW_GROUPS [VALUES]]]\n");
        return 2;
    }
    mkdir(argv[1], 0777);
    _cleanup_(error_free) kith_error *error =
        measure_all(argv[1], argument_or(argc, argv, 2, 19500), argument_or(argc, argv, 3, 10000),
                    argument_or(argc, argv, 4, 24000));
    if (error == NULL)
        return 0;
    fprintf(stderr, "%s\n", kith_error_message(error));
    return 1;
}
