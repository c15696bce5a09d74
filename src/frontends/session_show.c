#include "frontends/session_show.h"

#include "columnar/builder.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_COLUMNS = 4 };

/* A table of text columns in the making. */
struct text_table {
    size_t count;
    const char *const *names;
    struct array_builder *builders[MOST_COLUMNS];
    size_t rows;
};

static void text_table_reset(struct text_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        array_builder_free(table->builders[i]);
}
DEFINE_VALUE_CLEANUP(text_table_reset, struct text_table)

static kith_error *text_table_init(struct text_table *table, const char *const *names, size_t count)
{
    const struct data_type text = type_of(TYPE_UTF8);
    table->names = names;
    for (table->count = 0; table->count < count; table->count++)
        TRY(array_builder_new(&text, &table->builders[table->count]));
    return NULL;
}

static kith_error *text_table_add(struct text_table *table, const struct str *cells)
{
    for (size_t i = 0; i < table->count; i++)
        TRY(array_builder_append_string(table->builders[i], cells[i]));
    table->rows++;
    return NULL;
}

static kith_error *finish_columns(struct text_table *table, struct array **columns, struct schema *schema,
                                  struct batch **out)
{
    for (size_t i = 0; i < table->count; i++)
        TRY(array_builder_finish(table->builders[i], &columns[i]));
    return batch_new(schema, columns, table->rows, out);
}

static kith_error *text_table_send(struct text_table *table, struct session_sink *sink)
{
    struct field fields[MOST_COLUMNS] = {0};
    struct array *columns[MOST_COLUMNS] = {NULL};
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    for (size_t i = 0; i < table->count; i++)
        fields[i] = (struct field){.name = (char *)(uintptr_t)table->names[i], .type = type_of(TYPE_UTF8)};
    TRY(schema_new(fields, table->count, &schema));
    kith_error *error = finish_columns(table, columns, schema, &batch);
    for (size_t i = 0; i < table->count; i++)
        array_unref(columns[i]);
    TRY(error);
    TRY(sink->begin(sink, schema));
    TRY(sink->batch(sink, batch));
    return sink->end(sink, table->rows);
}

kith_error *session_show_setting(const struct settings *settings, enum setting setting, struct session_sink *sink)
{
    _cleanup_(text_table_reset) struct text_table table = {0};
    char value[64];
    settings_format(settings, setting, value, sizeof value);
    TRY(text_table_init(&table, &setting_infos[setting].name, 1));
    TRY(text_table_add(&table, &(struct str){value, strlen(value)}));
    return text_table_send(&table, sink);
}

kith_error *session_show_settings(const struct settings *settings, struct session_sink *sink)
{
    static const char *const names[] = {"name", "value", "description"};
    _cleanup_(text_table_reset) struct text_table table = {0};
    TRY(text_table_init(&table, names, ARRAY_SIZE(names)));
    for (int i = 0; i < SETTING_COUNT; i++) {
        char value[64];
        settings_format(settings, (enum setting)i, value, sizeof value);
        const struct str cells[] = {str_of(setting_infos[i].name), str_of(value), str_of(setting_infos[i].doc)};
        TRY(text_table_add(&table, cells));
    }
    return text_table_send(&table, sink);
}

kith_error *session_show_tables(const struct catalog *catalog, struct session_sink *sink)
{
    static const char *const names[] = {"name", "files", "rows", "location"};
    _cleanup_(text_table_reset) struct text_table table = {0};
    TRY(text_table_init(&table, names, ARRAY_SIZE(names)));
    for (size_t i = 0; i < catalog->names.length; i++) {
        const struct table *entry = catalog->tables.items[i];
        char files[32], rows[32];
        snprintf(files, sizeof files, "%zu", entry->file_count);
        snprintf(rows, sizeof rows, "%" PRIu64, entry->row_count);
        const struct str cells[] = {str_of(catalog->names.items[i]), str_of(files), str_of(rows),
                                    str_of(entry->pattern)};
        TRY(text_table_add(&table, cells));
    }
    return text_table_send(&table, sink);
}
