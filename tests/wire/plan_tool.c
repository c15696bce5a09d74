/*
 * Plans as bytes on standard output and input, for datafusion_plans.py:
 *
 *     plan_tool test NUMBER        a plan of plans.h
 *     plan_tool sql GLOB QUERY     the plan of a query over the table t of the given files
 *     plan_tool show               reads a plan and prints it
 *
 * Exit status 3 when what is asked for is not implemented, 1 for any other error.
 */
#include "plan/optimizer.h"
#include "sql/statement.h"
#include "wire/plan_codec.h"
#include "wire/plans.h"

#include <stdio.h>
#include <stdlib.h>

enum { PARTITIONS = 2, NOT_IMPLEMENTED_STATUS = 3 };

struct catalog {
    struct sql_catalog base; /* first: its functions cast back */
    const char *pattern;
};

static kith_error *open_table(struct sql_catalog *catalog, const char *pattern, struct table **out)
{
    return table_open(pattern, out);
}

static kith_error *find_table(struct sql_catalog *catalog, const char *name, struct table **out)
{
    *out = NULL;
    return strcmp(name, "t") == 0 ? table_open(((struct catalog *)catalog)->pattern, out) : NULL;
}

static size_t table_names(struct sql_catalog *catalog, const char *const **out)
{
    static const char *const names[] = {"t"};
    *out = names;
    return ARRAY_SIZE(names);
}

static kith_error *send(const struct physical_plan *plan)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    TRY(plan_encode(plan, &bytes));
    fwrite(bytes.data, 1, bytes.length, stdout);
    return NULL;
}

static kith_error *send_query(const char *pattern, const char *sql)
{
    struct catalog catalog = {{find_table, open_table, table_names}, pattern};
    struct settings settings;
    struct statement statement;
    struct physical_plan *plan;
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    settings_init(&settings);
    TRY(settings_set(&settings, SETTING_TARGET_PARTITIONS, "2"));
    TRY(sql_parse(str_of(sql), &script));
    struct sql_syntax syntax = sql_script_statement(script, 0);
    TRY(sql_bind(&syntax, &catalog.base, &settings, &arena, &statement));
    TRY(optimizer_run(&arena, &settings, &statement.plan));
    TRY(physical_plan_create(&arena, &settings, PARTITIONS, statement.plan, &plan));
    return send(plan);
}

static kith_error *send_test_plan(size_t number)
{
    struct physical_plan *plan;
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    TRY(test_plan(number, &arena, &plan));
    return send(plan);
}

static kith_error *show(void)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0}, text = {0};
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    struct physical_plan *plan;
    char part[4096];
    for (size_t count; (count = fread(part, 1, sizeof part, stdin)) > 0;)
        TRY(strbuf_append(&bytes, part, count));
    TRY(plan_decode((const uint8_t *)bytes.data, bytes.length, &arena, &plan));
    TRY(physical_plan_format(plan, &text));
    printf("%s", strbuf_text(&text));
    return NULL;
}

int main(int count, char **arguments)
{
    kith_error *error = NULL;
    if (count == 3 && strcmp(arguments[1], "test") == 0)
        error = send_test_plan(strtoul(arguments[2], NULL, 10));
    else if (count == 4 && strcmp(arguments[1], "sql") == 0)
        error = send_query(arguments[2], arguments[3]);
    else if (count == 2 && strcmp(arguments[1], "show") == 0)
        error = show();
    else
        return 2;
    if (error == NULL)
        return 0;
    char text[1024];
    fprintf(stderr, "%s\n", error_describe(error, text, sizeof text));
    int status = kith_error_code(error) == KITH_ERROR_NOT_IMPLEMENTED ? NOT_IMPLEMENTED_STATUS : 1;
    error_free(error);
    return status;
}
