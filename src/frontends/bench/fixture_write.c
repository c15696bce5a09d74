#include "base/alloc.h"
#include "columnar/builder.h"
#include "frontends/bench/fixture.h"
#include "parquet/writer.h"
#include "runtime/fiber.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH_ROWS = 8192 };

static const enum type_id column_types[FIXTURE_COLUMNS] = {TYPE_INT64, TYPE_INT64,   TYPE_BOOL,
                                                           TYPE_INT32, TYPE_FLOAT64, TYPE_UTF8};

/* The columns that the layout has. */
struct fixture_schema {
    struct schema *schema;
    enum fixture_column columns[FIXTURE_COLUMNS];
};

static kith_error *make_schema(const struct fixture *fixture, struct fixture_schema *out)
{
    struct field fields[FIXTURE_COLUMNS] = {0};
    size_t count = 0;
    for (int i = 0; i < FIXTURE_COLUMNS; i++) {
        if (!fixture_has_column(fixture->layout, (enum fixture_column)i))
            continue;
        out->columns[count] = (enum fixture_column)i;
        fields[count].name = (char *)(uintptr_t)fixture_column_names[i]; /* copied below */
        fields[count++].type = type_of(column_types[i]);
    }
    return schema_new(fields, count, &out->schema);
}

static kith_error *append_value(struct array_builder *builder, enum fixture_column column,
                                const struct fixture_row *row)
{
    const struct scalar excluded = {.type = type_of(TYPE_BOOL), .boolean = row->excluded};
    switch (column) {
    case FIXTURE_SCORE:
        return array_builder_append_int(builder, row->score);
    case FIXTURE_ID:
        return array_builder_append_int(builder, row->id);
    case FIXTURE_EXCLUDED:
        return array_builder_append(builder, &excluded);
    case FIXTURE_TAG:
        return array_builder_append_int(builder, row->tag);
    case FIXTURE_VAL:
        return array_builder_append_double(builder, row->val);
    case FIXTURE_PAYLOAD:
        return array_builder_append_string(builder, (struct str){row->payload, sizeof row->payload});
    case FIXTURE_COLUMNS:
        break;
    }
    UNREACHABLE();
}

static kith_error *make_column(const struct fixture_row *rows, size_t count, enum fixture_column column,
                               struct array **out)
{
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    const struct data_type type = type_of(column_types[column]);
    TRY(array_builder_new(&type, &builder));
    for (size_t i = 0; i < count; i++)
        TRY(append_value(builder, column, &rows[i]));
    return array_builder_finish(builder, out);
}

static kith_error *write_batch(const struct fixture_schema *schema, const struct fixture_row *rows, size_t count,
                               struct parquet_writer *writer)
{
    struct array *columns[FIXTURE_COLUMNS] = {0};
    _cleanup_(batch_unref) struct batch *batch = NULL;
    kith_error *error = NULL;
    for (size_t i = 0; i < schema->schema->field_count && error == NULL; i++)
        error = make_column(rows, count, schema->columns[i], &columns[i]);
    if (error == NULL)
        error = batch_new(schema->schema, columns, count, &batch);
    for (size_t i = 0; i < FIXTURE_COLUMNS; i++)
        array_unref(columns[i]);
    return error != NULL ? error : parquet_writer_write(writer, batch);
}

static kith_error *write_group(const struct fixture *fixture, const struct fixture_schema *schema, size_t file,
                               size_t group, struct parquet_writer *writer)
{
    _cleanup_free_ struct fixture_row *rows = NULL;
    bool has_payload = fixture_has_column(fixture->layout, FIXTURE_PAYLOAD);
    TRY(NEW_ARRAY(&rows, BATCH_ROWS));
    for (size_t start = 0; start < fixture->group_rows; start += BATCH_ROWS) {
        size_t count = MIN(fixture->group_rows - start, (size_t)BATCH_ROWS);
        for (size_t i = 0; i < count; i++) {
            rows[i] = fixture_row(fixture, file, group, start + i);
            if (has_payload)
                fixture_fill_payload(&rows[i]);
        }
        TRY(write_batch(schema, rows, count, writer));
        TRY(coop_charge(1));
    }
    return parquet_writer_flush(writer);
}

static kith_error *write_file(const struct fixture *fixture, const struct fixture_schema *schema, size_t file,
                              const char *path)
{
    _cleanup_(storage_writer_free) struct storage_writer *storage = NULL;
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    const struct parquet_write_options options = {
        .codec = fixture->zstd ? PARQUET_ZSTD : PARQUET_UNCOMPRESSED,
        .row_group_rows = fixture->group_rows,
        .page_rows = FIXTURE_PAGE_ROWS,
        .no_dictionary = true,
    };
    TRY(storage_create(path, &storage));
    TRY(parquet_writer_new(storage, schema->schema, &options, &writer));
    for (size_t group = 0; group < fixture->groups; group++)
        TRY(write_group(fixture, schema, file, group, writer));
    TRY(parquet_writer_finish(writer));
    return storage_writer_finish(storage);
}

/* The folders on the way to a file. */
static kith_error *make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int failed = mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : errno;
        if (failed != 0)
            return error_from_errno(failed, "cannot make the folder \"%s\"", path);
        *slash = '/';
    }
    return NULL;
}

kith_error *fixture_write(const struct fixture *fixture)
{
    struct fixture_schema schema = {0};
    char path[512];
    TRY(make_schema(fixture, &schema));
    kith_error *error = NULL;
    for (size_t file = 0; file < fixture->files && error == NULL; file++) {
        error = fixture_path(fixture, file, 0, path);
        if (error == NULL)
            error = make_folders(path);
        if (error == NULL && access(path, R_OK) != 0)
            error = write_file(fixture, &schema, file, path);
    }
    schema_unref(schema.schema);
    return error;
}
