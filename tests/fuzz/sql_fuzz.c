/* SQL from any text: parsed, bound to a small table, optimised and planned. An error's place is in the text. */
#include "fuzz/fuzz.h"

#include "plan/optimizer.h"
#include "plan/physical.h"
#include "sql/statement.h"

static struct schema *table_schema;

static kith_error *open_table(struct sql_catalog *catalog, const char *name, struct table **out)
{
    return table_open_files(NULL, 0, table_schema, NULL, out);
}

static size_t table_names(struct sql_catalog *catalog, const char *const **out)
{
    static const char *const names[] = {"t"};
    *out = names;
    return ARRAY_SIZE(names);
}

static kith_error *plan(const struct settings *settings, struct plan_arena *arena, struct statement *statement)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct physical_plan *physical;
    if (statement->plan == NULL)
        return NULL;
    TRY(logical_plan_format(statement->plan, &text));
    TRY(optimizer_run(arena, settings, &statement->plan));
    TRY(logical_plan_format(statement->plan, &text));
    TRY(physical_plan_create(arena, settings, 2, statement->plan, &physical));
    return physical_plan_format(physical, &text);
}

static kith_error *bind_all(struct str text)
{
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    struct sql_catalog catalog = {open_table, open_table, table_names};
    struct settings settings;
    settings_init(&settings);
    TRY(sql_parse(text, &script));
    for (size_t i = 0; i < sql_script_count(script); i++) {
        _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
        struct statement statement;
        struct sql_syntax syntax = sql_script_statement(script, i);
        ASSERT(syntax.offset + syntax.text.length <= text.length);
        TRY(sql_bind(&syntax, &catalog, &settings, &arena, &statement));
        TRY(plan(&settings, &arena, &statement));
    }
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct field fields[] = {
        {.name = (char[]){"id"}, .type = type_of(TYPE_INT64)},
        {.name = (char[]){"price"}, .type = type_decimal(15, 2), .nullable = true},
        {.name = (char[]){"score"}, .type = type_of(TYPE_FLOAT64), .nullable = true},
        {.name = (char[]){"name"}, .type = type_of(TYPE_UTF8), .nullable = true},
        {.name = (char[]){"flag"}, .type = type_of(TYPE_BOOL), .nullable = true},
        {.name = (char[]){"at"}, .type = type_timestamp(UNIT_MICROSECOND, ""), .nullable = true},
    };
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(error_free) kith_error *error = schema_new(fields, ARRAY_SIZE(fields), &schema);
    if (error != NULL)
        return 0;
    table_schema = schema;
    error = bind_all((struct str){(const char *)data, size});
    ASSERT(error == NULL || kith_error_position(error) <= size + 1);
    return 0;
}
