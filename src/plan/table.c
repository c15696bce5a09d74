#include "plan/table.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "compute/widen.h"
#include "plan/file_cache.h"
#include "plan/physical.h"
#include "runtime/fiber.h"

#include <inttypes.h>
#include <stdatomic.h>

enum { FOOTERS_AT_ONCE = 16 };

/* Of what is done for each of many in a few nanoseconds. What is done for each file is charged for each. */
enum { ROW_GROUPS_A_CHARGE = 4096, PATHS_A_CHARGE = 256 };

struct opening {
    struct table *table;
    struct file_cache *cache; /* or NULL */
    atomic_size_t next;
};

static kith_error *open_file(struct table_file *file, struct file_cache *cache)
{
    _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
    TRY(storage_open(file->path, &storage));
    return cache != NULL ? file_cache_get(cache, storage, &file->file) : parquet_file_open(storage, &file->file);
}

/* Takes files off the list until there are none left, so that slow footers hold up nobody else. */
static kith_error *open_files(void *argument)
{
    struct opening *opening = argument;
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&opening->next, 1, memory_order_relaxed);
        if (i >= opening->table->file_count)
            return NULL;
        TRY(open_file(&opening->table->files[i], opening->cache));
        TRY(coop_charge(1));
    }
}

static kith_error *open_all(struct table *table, struct file_cache *cache)
{
    struct opening opening = {.table = table, .cache = cache};
    struct runtime *runtime = runtime_current();
    size_t fibers = runtime == NULL ? 0 : MIN(table->file_count - 1, (size_t)FOOTERS_AT_ONCE);
    struct fiber *helpers[FOOTERS_AT_ONCE];
    kith_error *error = NULL;
    size_t started = 0;
    while (started < fibers && error == NULL) {
        const struct fiber_options options = {.name = "open table"};
        error = fiber_spawn(runtime, &options, open_files, &opening, &helpers[started]);
        started += error == NULL;
    }
    if (error == NULL)
        error = open_files(&opening);
    for (size_t i = 0; i < started; i++) {
        kith_error *helper_error = fiber_join(helpers[i]);
        if (error == NULL)
            error = helper_error;
        else
            error_free(helper_error);
    }
    return error;
}

static kith_error *conflicting_types(const struct table *table, size_t file, const struct field *field,
                                     const struct field *earlier)
{
    char given[160], expected[160];
    return error_hint(error_new(KITH_ERROR_TYPE_MISMATCH,
                                "column \"%s\" has type %s in \"%s\" but type %s in \"%s\" or another file before it",
                                field->name, type_format(&field->type, given, sizeof given), table->files[file].path,
                                type_format(&earlier->type, expected, sizeof expected), table->files[0].path),
                      "No type holds every value of both exactly. Make a table of each kind of file, and cast in a "
                      "UNION ALL of them.");
}

/* Of fields that have a name in common, the first of one list is the first of the other, and so on. Gives the place in
 * `fields` of what matches others[i], or `count`. */
static size_t find_field(const struct field *fields, size_t count, const struct field *others, size_t i)
{
    const char *name = others[i].name;
    size_t before = 0, place = 0;
    for (size_t j = 0; j < i; j++)
        before += strcmp(others[j].name, name) == 0;
    for (; place < count; place++)
        if (strcmp(fields[place].name, name) == 0 && before-- == 0)
            break;
    return place;
}

/* For each of `others`, the place of what matches it in `fields`, or `count`. */
static kith_error *match_fields(const struct field *fields, size_t count, const struct field *others,
                                size_t other_count, size_t *places)
{
    enum { FIELDS_A_CHARGE = 16 }; /* each takes COLUMNS comparisons of names at most */
    bool alike = true;             /* so far; most files have the same columns */
    for (size_t i = 0; i < other_count; i++) {
        alike = alike && i < count && strcmp(fields[i].name, others[i].name) == 0;
        places[i] = alike ? i : count == 0 ? 0 : find_field(fields, count, others, i);
        if (!alike)
            TRY(coop_charge_every(FIELDS_A_CHARGE, i));
    }
    return NULL;
}

/* Adds the file's columns to `fields`, which borrow their names from the files. */
static kith_error *merge_fields(const struct table *table, size_t file, struct field *fields, size_t *count)
{
    const struct schema *schema = table->files[file].file->schema;
    _cleanup_free_ size_t *places = NULL;
    _cleanup_free_ bool *found = NULL;
    size_t before = *count;
    TRY(NEW_ARRAY(&places, schema->field_count));
    TRY(NEW_ARRAY(&found, before));
    TRY(match_fields(fields, before, schema->fields, schema->field_count, places));
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct field *field = &schema->fields[i];
        struct field *earlier = &fields[places[i]];
        if (places[i] < before) {
            if (!type_widen(&earlier->type, &field->type, &earlier->type))
                return conflicting_types(table, file, field, earlier);
            earlier->nullable = earlier->nullable || field->nullable;
            found[places[i]] = true;
            continue;
        }
        if (*count == LIMIT_COLUMNS)
            return error_new(KITH_ERROR_LIMIT,
                             "\"%s\" and the files before it have more than %d columns (limit COLUMNS)",
                             table->files[file].path, LIMIT_COLUMNS);
        fields[*count] = *field;
        fields[(*count)++].nullable = field->nullable || file > 0;
    }
    /* What an earlier file had and this one has not is NULL here. */
    for (size_t i = 0; i < before; i++)
        fields[i].nullable = fields[i].nullable || !found[i];
    return NULL;
}

static kith_error *map_columns(struct table *table, size_t file)
{
    const struct schema *schema = table->files[file].file->schema;
    size_t count = table->schema->field_count;
    _cleanup_free_ size_t *places = NULL;
    TRY(NEW_ARRAY(&places, count));
    TRY(NEW_ARRAY(&table->files[file].columns, count));
    TRY(match_fields(schema->fields, schema->field_count, table->schema->fields, count, places));
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &table->schema->fields[i];
        table->files[file].columns[i] = -1;
        if (places[i] == schema->field_count)
            continue;
        if (!type_holds(&field->type, &schema->fields[places[i]].type))
            return conflicting_types(table, file, &schema->fields[places[i]], field);
        table->files[file].columns[i] = (ptrdiff_t)table->files[file].file->columns[places[i]];
    }
    return NULL;
}

static kith_error *merge_schemas(struct table *table)
{
    _cleanup_free_ struct field *fields = NULL;
    size_t count = 0;
    TRY(NEW_ARRAY(&fields, LIMIT_COLUMNS));
    for (size_t i = 0; i < table->file_count; i++) {
        TRY(merge_fields(table, i, fields, &count));
        TRY(coop_charge(1));
    }
    TRY(schema_new(fields, count, &table->schema));
    for (size_t i = 0; i < table->file_count; i++) {
        const struct parquet_metadata *metadata = table->files[i].file->metadata;
        TRY(map_columns(table, i));
        TRY(coop_charge(1));
        table->row_count += (uint64_t)metadata->row_count;
        for (size_t j = 0; j < metadata->row_group_count; j++) {
            table->compressed_bytes += metadata->row_groups[j].compressed_bytes;
            TRY(coop_charge_every(ROW_GROUPS_A_CHARGE, j));
        }
    }
    return NULL;
}

static kith_error *table_new(const char *pattern, size_t file_count, struct table **out)
{
    _cleanup_(table_unref) struct table *table = NULL;
    TRY(NEW(&table));
    refcount_init(&table->refs);
    TRY(alloc_string(pattern, strlen(pattern), &table->pattern));
    TRY(NEW_ARRAY(&table->files, file_count));
    table->file_count = file_count;
    *out = TAKE(table);
    return NULL;
}

kith_error *table_open(const char *pattern, struct table **out)
{
    _cleanup_(file_list_reset) struct file_list list = {0};
    _cleanup_(table_unref) struct table *table = NULL;
    TRY(storage_glob(pattern, &list));
    TRY(table_new(pattern, list.count, &table));
    for (size_t i = 0; i < list.count; i++) {
        table->files[i].path = TAKE(list.entries[i].path);
        table->files[i].modified_ns = list.entries[i].modified_ns;
        TRY(coop_charge_every(PATHS_A_CHARGE, i));
    }
    TRY(open_all(table, NULL));
    TRY(merge_schemas(table));
    *out = TAKE(table);
    return NULL;
}

static kith_error *check_file(const struct table *table, size_t file, const struct scan_file *expected)
{
    if (table->files[file].file->storage->size != expected->size)
        return error_new(KITH_ERROR_CORRUPT,
                         "\"%s\" has %" PRIu64 " bytes here but had %" PRIu64
                         " when the query was planned: it has changed, "
                         "or is another file on this machine",
                         expected->path, table->files[file].file->storage->size, expected->size);
    return NULL;
}

kith_error *table_open_files(const struct scan_file *files, size_t count, struct schema *schema,
                             struct file_cache *cache, struct table **out)
{
    _cleanup_(table_unref) struct table *table = NULL;
    TRY(table_new("", count, &table));
    table->schema = schema_ref(schema);
    for (size_t i = 0; i < count; i++) {
        TRY(alloc_string(files[i].path, strlen(files[i].path), &table->files[i].path));
        TRY(coop_charge_every(PATHS_A_CHARGE, i));
    }
    if (count > 0)
        TRY(open_all(table, cache));
    for (size_t i = 0; i < count; i++) {
        TRY(check_file(table, i, &files[i]));
        TRY(map_columns(table, i));
        TRY(coop_charge(1));
    }
    *out = TAKE(table);
    return NULL;
}

struct table *table_ref(struct table *table)
{
    refcount_take(&table->refs);
    return table;
}

void table_unref(struct table *table)
{
    if (table == NULL || !refcount_drop(&table->refs))
        return;
    for (size_t i = 0; i < table->file_count; i++) {
        parquet_file_unref(table->files[i].file);
        free(table->files[i].path);
        free(table->files[i].columns);
        coop_give_way(1); /* a file was closed */
    }
    free(table->files);
    free(table->pattern);
    schema_unref(table->schema);
    free(table);
}

void table_widen_statistics(const struct table *table, size_t column, struct column_statistics *statistics)
{
    const struct data_type *type = &table->schema->fields[column].type;
    struct scalar narrow = statistics->min;
    if (statistics->has_min && !type_equal_decoded(&narrow.type, type))
        statistics->has_min = scalar_widen(&narrow, type, &statistics->min);
    narrow = statistics->max;
    if (statistics->has_max && !type_equal_decoded(&narrow.type, type))
        statistics->has_max = scalar_widen(&narrow, type, &statistics->max);
}

void table_row_group_statistics(const struct table *table, size_t file, size_t row_group, size_t column,
                                struct column_statistics *out)
{
    const struct table_file *source = &table->files[file];
    if (source->columns[column] >= 0) {
        parquet_row_group_statistics(source->file, row_group, (size_t)source->columns[column], out);
        table_widen_statistics(table, column, out);
        return;
    }
    uint64_t rows = (uint64_t)source->file->metadata->row_groups[row_group].row_count;
    *out = (struct column_statistics){.has_null_count = true, .null_count = rows, .row_count = rows};
}
