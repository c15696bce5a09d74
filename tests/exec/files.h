/*
 * Parquet files written by hand for tests of tables, plans and scans: columns named a, b, c, … of integers or texts.
 */
#ifndef KITH_TESTS_EXEC_FILES_H
#define KITH_TESTS_EXEC_FILES_H

#include "compute/columns.h"
#include "exec/queries.h"

struct file_column {
    const char *name;
    struct array *values; /* taken */
};

static inline void write_columns(const char *path, const struct parquet_write_options *options,
                                 const struct file_column *columns, size_t count)
{
    static const struct parquet_write_options defaults = {.codec = PARQUET_UNCOMPRESSED};
    struct field fields[8] = {0};
    struct array *arrays[8];
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    for (size_t i = 0; i < count; i++) {
        arrays[i] = columns[i].values;
        fields[i] = (struct field){.name = (char *)(uintptr_t)columns[i].name,
                                   .type = arrays[i]->type,
                                   .nullable = array_null_count(arrays[i]) > 0};
    }
    assert_ok(schema_new(fields, count, &schema));
    assert_ok(batch_new(schema, arrays, arrays[0]->length, &batch));
    write_parquet(path, batch, options != NULL ? options : &defaults);
    for (size_t i = 0; i < count; i++)
        array_unref(arrays[i]);
}
#define WRITE(path, options, ...)                                               \
    write_columns((path), (options), (const struct file_column[]){__VA_ARGS__}, \
                  sizeof((const struct file_column[]){__VA_ARGS__}) / sizeof(struct file_column))

#define LONGS(...) INTS(type_of(TYPE_INT64), __VA_ARGS__)

/* first, first + step, … */
static inline struct array *sequence(int64_t first, int64_t step, size_t count)
{
    _cleanup_free_ int64_t *values = NULL;
    assert_ok(NEW_ARRAY(&values, count));
    for (size_t i = 0; i < count; i++)
        values[i] = first + step * (int64_t)i;
    return column_of_ints(type_of(TYPE_INT64), values, count);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, temporary_folder_enter, temporary_folder_leave)

#endif
