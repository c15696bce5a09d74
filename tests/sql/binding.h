/*
 * A catalog with one table that has no files, and checks of what a statement is bound to. The table:
 *
 *     t(id BIGINT NOT NULL, small SMALLINT, price DECIMAL(15,2), score DOUBLE, name TEXT, flag BOOLEAN, day DATE,
 *       at TIMESTAMP, "Mixed" INTEGER, "Twice" INTEGER, "TWICE" INTEGER)
 */
#ifndef KITH_TESTS_SQL_BINDING_H
#define KITH_TESTS_SQL_BINDING_H

#include "testing.h"

#include "plan/physical.h"
#include "sql/statement.h"

struct binding {
    struct sql_catalog catalog; /* first: the catalog's functions cast back */
    struct settings settings;
    struct schema *schema;
    struct sql_script *script;
    struct plan_arena plans;
    struct statement statement;
};

static inline kith_error *binding_open(struct sql_catalog *catalog, const char *pattern, struct table **out)
{
    if (strcmp(pattern, "missing.parquet") == 0)
        return error_new(KITH_ERROR_NOT_FOUND, "there is no file \"%s\"", pattern);
    return table_open_files(NULL, 0, ((struct binding *)catalog)->schema, NULL, out);
}

static inline kith_error *binding_find(struct sql_catalog *catalog, const char *name, struct table **out)
{
    *out = NULL;
    return strcmp(name, "t") == 0 || strcmp(name, "Orders") == 0 ? binding_open(catalog, name, out) : NULL;
}

static inline size_t binding_names(struct sql_catalog *catalog, const char *const **out)
{
    static const char *const names[] = {"t", "Orders"};
    *out = names;
    return ARRAY_SIZE(names);
}

static inline void binding_init(struct binding *binding)
{
    const struct field fields[] = {
        {.name = (char[]){"id"}, .type = type_of(TYPE_INT64)},
        {.name = (char[]){"small"}, .type = type_of(TYPE_INT16), .nullable = true},
        {.name = (char[]){"price"}, .type = type_decimal(15, 2), .nullable = true},
        {.name = (char[]){"score"}, .type = type_of(TYPE_FLOAT64), .nullable = true},
        {.name = (char[]){"name"}, .type = type_of(TYPE_UTF8), .nullable = true},
        {.name = (char[]){"flag"}, .type = type_of(TYPE_BOOL), .nullable = true},
        {.name = (char[]){"day"}, .type = type_of(TYPE_DATE32), .nullable = true},
        {.name = (char[]){"at"}, .type = type_timestamp(UNIT_MICROSECOND, ""), .nullable = true},
        {.name = (char[]){"Mixed"}, .type = type_of(TYPE_INT32), .nullable = true},
        {.name = (char[]){"Twice"}, .type = type_of(TYPE_INT32), .nullable = true},
        {.name = (char[]){"TWICE"}, .type = type_of(TYPE_INT32), .nullable = true},
    };
    *binding = (struct binding){.catalog = {binding_find, binding_open, binding_names}};
    settings_init(&binding->settings);
    assert_ok(schema_new(fields, ARRAY_SIZE(fields), &binding->schema));
}

static inline void binding_reset(struct binding *binding)
{
    plan_arena_reset(&binding->plans);
    sql_script_free(binding->script);
    schema_unref(binding->schema);
}
DEFINE_VALUE_CLEANUP(binding_reset, struct binding)

/* Parses and binds a text of one statement. */
static inline kith_error *_must_check_ bind_sql(struct binding *binding, const char *sql)
{
    TRY(sql_parse(str_of(sql), &binding->script));
    assert_int_equal(sql_script_count(binding->script), 1);
    struct sql_syntax syntax = sql_script_statement(binding->script, 0);
    return sql_bind(&syntax, &binding->catalog, &binding->settings, &binding->plans, &binding->statement);
}

/* The plan as bound, one node a line; a setting may be given that the session has. */
static inline void check_plan_with(enum setting setting, const char *value, const char *sql, const char *expected)
{
    _cleanup_(binding_reset) struct binding binding;
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    binding_init(&binding);
    if (value != NULL)
        assert_ok(settings_set(&binding.settings, setting, value));
    assert_ok(bind_sql(&binding, sql));
    assert_ok(logical_plan_format(binding.statement.plan, &text));
    assert_string_equal(strbuf_text(&text), expected);
}

static inline void check_plan(const char *sql, const char *expected)
{
    check_plan_with(SETTING_COUNT, NULL, sql, expected);
}

static inline struct logical_plan *find_node(struct logical_plan *plan, enum logical_kind kind)
{
    while (plan != NULL && plan->kind != kind)
        plan = plan->input_count == 0 ? NULL : plan->inputs[0];
    return plan;
}

static inline void check_text_of(const struct expr *expr, const char *expected)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    assert_ok(expr_format(expr, &text));
    assert_string_equal(strbuf_text(&text), expected);
}

/* The condition after WHERE, as EXPLAIN prints it. */
static inline void check_filter(const char *condition, const char *expected)
{
    _cleanup_(binding_reset) struct binding binding;
    _cleanup_(strbuf_reset) struct strbuf sql = {0};
    binding_init(&binding);
    assert_ok(strbuf_printf(&sql, "SELECT id FROM t WHERE %s", condition));
    assert_ok(bind_sql(&binding, strbuf_text(&sql)));
    const struct logical_plan *filter = find_node(binding.statement.plan, LOGICAL_FILTER);
    assert_non_null(filter);
    check_text_of(filter->filter.predicate, expected);
}

/* An expression of the select list and its type, "id@0 + 1 Int64". */
static inline void check_expr(const char *expression, const char *expected)
{
    _cleanup_(binding_reset) struct binding binding;
    _cleanup_(strbuf_reset) struct strbuf sql = {0}, text = {0};
    char type[160];
    binding_init(&binding);
    assert_ok(strbuf_printf(&sql, "SELECT %s FROM t", expression));
    assert_ok(bind_sql(&binding, strbuf_text(&sql)));
    const struct expr *expr = binding.statement.plan->projection.exprs[0];
    assert_ok(expr_format(expr, &text));
    assert_ok(strbuf_printf(&text, " %s", type_format(&expr->type, type, sizeof type)));
    assert_string_equal(strbuf_text(&text), expected);
}

/* The statement must be refused with this code, `part` of a message and, unless NULL, at the place in the text where
 * `at` begins. */
static inline void check_refused(const char *sql, enum kith_code code, const char *part, const char *at)
{
    _cleanup_(binding_reset) struct binding binding;
    binding_init(&binding);
    _cleanup_(error_free) kith_error *error = bind_sql(&binding, sql);
    if (error == NULL)
        fail_msg("%s: succeeded, expected %s", sql, error_code_name(code));
    char text[1024];
    error_describe(error, text, sizeof text);
    if (kith_error_code(error) != code || strstr(text, part) == NULL)
        fail_msg("%s: %s: %s; expected %s with \"%s\"", sql, error_code_name(kith_error_code(error)), text,
                 error_code_name(code), part);
    size_t position = kith_error_position(error);
    if (at != NULL && (position == 0 || position > strlen(sql) + 1 ||
                       strncmp(sql + position - 1, at, strlen(at)) != 0 || (*at == '\0' && sql[position - 1] != '\0')))
        fail_msg("%s: %s, at \"%s\", expected at \"%s\"", sql, text, position == 0 ? "(nowhere)" : sql + position - 1,
                 at);
}

/* … with this hint. */
static inline void check_hint(const char *sql, const char *hint)
{
    _cleanup_(binding_reset) struct binding binding;
    binding_init(&binding);
    _cleanup_(error_free) kith_error *error = bind_sql(&binding, sql);
    assert_non_null(error);
    const char *given = kith_error_hint(error);
    if (given == NULL || strstr(given, hint) == NULL)
        fail_msg("%s: hint \"%s\", expected \"%s\"", sql, given == NULL ? "(none)" : given, hint);
}

#endif
