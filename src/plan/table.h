/*
 * A table: a name for Parquet files of one schema. Opening it reads every footer once; the files stay open for the
 * table's life, so that planning and scanning parse no footer again. Immutable after table_open; reference-counted.
 *
 * Schemas of the files are merged by column name: a column that some file lacks is nullable and NULL there; a column
 * whose type has grown from file to file has the type that holds every value of each exactly (compute/widen.h), and
 * scans widen what they read; where there is no such type the table is refused with two files' names. Where a file has
 * several columns of one name, they are told apart by their order.
 */
#ifndef KITH_PLAN_TABLE_H
#define KITH_PLAN_TABLE_H

#include "parquet/file.h"

struct table_file {
    struct parquet_file *file;
    char *path;
    int64_t modified_ns;
    ptrdiff_t *columns; /* of each table column: its index in the file's metadata->columns, or -1 */
};

struct table {
    struct refcount refs;
    char *pattern;
    struct schema *schema;
    size_t file_count;
    struct table_file *files;
    uint64_t row_count;
    uint64_t compressed_bytes;
};

/* Opens what `pattern` names (storage_glob), many footers at a time. */
kith_error *table_open(const char *pattern, struct table **out) _must_check_;
/* Opens the given files of a table whose schema is known: a task's share of it, on the worker. A file that has changed
 * since the plan was made, or whose columns do not widen to the schema's, is refused. */
struct scan_file;
struct file_cache; /* NULL = every file is opened anew */
kith_error *table_open_files(const struct scan_file *files, size_t count, struct schema *schema,
                             struct file_cache *cache, struct table **out) _must_check_;
struct table *table_ref(struct table *table);
void table_unref(struct table *table);
DEFINE_CLEANUP(table_unref, struct table)

/* Statistics of table column `column` in one row group of one file, in the column's type in the table; a column that
 * the file lacks is all NULL. */
void table_row_group_statistics(const struct table *table, size_t file, size_t row_group, size_t column,
                                struct column_statistics *out);
/* What a file says of table column `column`, in the column's type in the table. */
void table_widen_statistics(const struct table *table, size_t column, struct column_statistics *statistics);

#endif
