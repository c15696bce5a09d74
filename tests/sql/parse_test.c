#include "testing.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "sql/parse.h"

#include <stdlib.h>

/* Parses a text that must be refused; gives the error's 0-based byte offset. */
static size_t refused_at(const char *sql, enum kith_code code, const char *part)
{
    struct sql_script *script = NULL;
    _cleanup_(error_free) kith_error *error = sql_parse(str_of(sql), &script);
    assert_null(script);
    char text[1024];
    if (error == NULL)
        fail_msg("%.80s: succeeded", sql);
    error_describe(error, text, sizeof text);
    if (kith_error_code(error) != code || strstr(text, part) == NULL)
        fail_msg("%.80s: %s: %s", sql, error_code_name(kith_error_code(error)), text);
    return kith_error_position(error) - 1;
}

static void check_statements(const char *sql, size_t count, ...)
{
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    va_list expected;
    assert_ok(sql_parse(str_of(sql), &script));
    assert_int_equal(sql_script_count(script), count);
    va_start(expected, count);
    for (size_t i = 0; i < count; i++) {
        struct sql_syntax syntax = sql_script_statement(script, i);
        const char *text = va_arg(expected, const char *);
        assert_int_equal(syntax.text.length, strlen(text));
        assert_memory_equal(syntax.text.data, text, syntax.text.length);
        assert_memory_equal(sql + syntax.offset, text, syntax.text.length);
        assert_true((syntax.node != NULL) != (syntax.external_table != NULL));
    }
    va_end(expected);
}

static void a_script_is_cut_at_semicolons_outside_of_strings_and_comments(void **state)
{
    check_statements("SELECT 1", 1, "SELECT 1");
    check_statements("SELECT ';'; SELECT 2 ;", 2, "SELECT ';'", "SELECT 2 ");
    check_statements("SELECT $$a;b$$ /* ; */; SELECT \"x;y\" FROM t -- ;\n", 2, "SELECT $$a;b$$ /* ; */",
                     "SELECT \"x;y\" FROM t -- ;\n");
    check_statements("SELECT E'\\';'; SELECT 2", 2, "SELECT E'\\';'", "SELECT 2");
}

static void empty_statements_are_none(void **state)
{
    check_statements("", 0);
    check_statements(" ;; -- nothing\n ; /* ; */", 0);
    check_statements("; SELECT 1;;", 1, "SELECT 1");
}

static void a_syntax_error_is_at_its_byte_in_the_script(void **state)
{
    assert_int_equal(refused_at("SELECT 1 FROM FROM t", KITH_ERROR_SYNTAX, "at or near \"FROM\""), 14);
    assert_int_equal(refused_at("SELECT 1; SELECT 'ä', 2 FROM FROM", KITH_ERROR_SYNTAX, "at or near \"FROM\""), 30);
    assert_int_equal(refused_at("SELECT 'ä€😀' 5", KITH_ERROR_SYNTAX, "at or near \"5\""), 19);
    assert_int_equal(refused_at("SELECT (1", KITH_ERROR_SYNTAX, "end of input"), 9);
    assert_int_equal(refused_at("SELECT 1;\n SELECT 'abc", KITH_ERROR_SYNTAX, "unterminated quoted string"), 18);
    refused_at("SELECT \"\"", KITH_ERROR_SYNTAX, "zero-length");
}

static void text_that_is_not_utf8_does_no_harm(void **state)
{
    struct sql_script *script = NULL;
    error_free(sql_parse(str_of("SELECT '\xff\xc3'"), &script));
    sql_script_free(script);
    script = NULL;
    error_free(sql_parse(str_of("SELECT \xff\xc3 FROM FROM"), &script));
    sql_script_free(script);
}

static void a_nul_byte_is_refused_where_it_is(void **state)
{
    struct sql_script *script = NULL;
    _cleanup_(error_free) kith_error *error = sql_parse((struct str){"SELECT \0 1", 10}, &script);
    assert_int_equal(kith_error_code(error), KITH_ERROR_SYNTAX);
    assert_int_equal(kith_error_position(error) - 1, 7);
}

/* `prefix`, then `part` repeated, then `suffix`, must be parsed or refused by the limit; freed by the caller. */
static char *repeated(const char *prefix, const char *part, size_t count, const char *suffix)
{
    size_t size = strlen(prefix) + strlen(part) * count + strlen(suffix) + 1;
    char *text = malloc(size), *end = text;
    assert_non_null(text);
    end = stpcpy(end, prefix);
    for (size_t i = 0; i < count; i++)
        end = stpcpy(end, part);
    stpcpy(end, suffix);
    return text;
}

static void check_survives(const char *prefix, const char *part, size_t count, const char *suffix)
{
    _cleanup_free_ char *sql = repeated(prefix, part, count, suffix);
    struct sql_script *script = NULL;
    kith_error *error = sql_parse(str_of(sql), &script);
    if (error != NULL && kith_error_code(error) != KITH_ERROR_LIMIT && kith_error_code(error) != KITH_ERROR_SYNTAX)
        fail_msg("%s × %zu: %s", part, count, error_code_name(kith_error_code(error)));
    error_free(error);
    sql_script_free(script);
}

static void check_limit(const char *prefix, const char *part, size_t count, const char *suffix, const char *limit)
{
    _cleanup_free_ char *sql = repeated(prefix, part, count, suffix);
    refused_at(sql, KITH_ERROR_LIMIT, limit);
}

static void depth_is_refused_by_its_limit_and_never_overflows_the_stack(void **state)
{
    check_limit("SELECT 1", "+1", 24000, "", "SQL_NESTING");
    check_limit("SELECT 1", "+1", 30000, "", "SQL_TOKENS");
    check_limit("SELECT ", "NOT ", 40000, "true", "SQL_NESTING");
    check_limit("SELECT ", "- ", 40000, "1", "SQL_NESTING");
    check_limit("SELECT 1", "::int", 15000, "", "SQL_NESTING");
    check_limit("SELECT ", "(", 400, "1", "SQL_NESTING");
    check_limit("SELECT ", "CASE WHEN true THEN ", 10000, "1", "SQL_NESTING");
    check_limit("SELECT ", "f(", 300, "1", "SQL_NESTING");
    check_survives("SELECT ", "[", 45000, "");
    check_survives("SELECT ", "ARRAY[", 20000, "1");
    check_survives("SELECT a", ".a", 20000, "");
    check_survives("SELECT a", "[1]", 12000, "");
    check_survives("SELECT a", " COLLATE c", 20000, "");
    check_survives("SELECT a", " IS NULL", 20000, "");
    check_survives("SELECT a", " AT TIME ZONE 'UTC'", 10000, "");
    check_survives("SELECT 1", " UNION SELECT 1", 12000, "");
    check_survives("", "EXPLAIN ", 40000, "SELECT 1");
    check_survives("", "CREATE ", 40000, "");
}

static void what_is_wide_but_not_deep_is_parsed(void **state)
{
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    _cleanup_free_ char *sql = repeated("SELECT 1 WHERE a", " AND a", 20000, "");
    assert_ok(sql_parse(str_of(sql), &script));
    _cleanup_(sql_script_free) struct sql_script *list = NULL;
    _cleanup_free_ char *in = repeated("SELECT 1 WHERE a IN (1", ",1", 20000, ")");
    assert_ok(sql_parse(str_of(in), &list));
    _cleanup_(sql_script_free) struct sql_script *nested = NULL;
    _cleanup_free_ char *parentheses = repeated("SELECT ", "(", 256, "1");
    _cleanup_free_ char *closed = repeated(parentheses, ")", 256, "");
    assert_ok(sql_parse(str_of(closed), &nested));
}

static void a_text_over_the_byte_limit_is_refused(void **state)
{
    check_limit("SELECT '", "x", LIMIT_SQL_BYTES, "'", "SQL_BYTES");
    check_survives("SELECT '", "x", LIMIT_SQL_BYTES - 9, "'");
}

static const struct sql_external_table *parse_external(const char *sql, struct sql_script **out)
{
    assert_ok(sql_parse(str_of(sql), out));
    assert_int_equal(sql_script_count(*out), 1);
    struct sql_syntax syntax = sql_script_statement(*out, 0);
    assert_non_null(syntax.external_table);
    return syntax.external_table;
}

static void check_external(const char *sql, const char *name, const char *location, bool or_replace, bool if_not_exists)
{
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    const struct sql_external_table *table = parse_external(sql, &script);
    assert_string_equal(table->name, name);
    assert_string_equal(table->location, location);
    assert_int_equal(table->or_replace, or_replace);
    assert_int_equal(table->if_not_exists, if_not_exists);
}

static void create_external_table_names_files(void **state)
{
    check_external("CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION 'a/*.parquet'", "t", "a/*.parquet", false,
                   false);
    check_external("create or replace external table T location 'it''s' stored as parquet", "t", "it's", true, false);
    check_external("/* c */ CREATE EXTERNAL TABLE IF NOT EXISTS \"My T\" STORED AS PARQUET LOCATION $$x$$", "My T", "x",
                   false, true);
}

static void a_wrong_create_external_table_is_refused_where_it_goes_wrong(void **state)
{
    assert_int_equal(refused_at("CREATE EXTERNAL TABLE", KITH_ERROR_SYNTAX, "the table's name"), 21);
    assert_int_equal(refused_at("CREATE EXTERNAL TABLE t", KITH_ERROR_SYNTAX, "LOCATION"), 23);
    assert_int_equal(refused_at("SELECT 1; CREATE EXTERNAL TABEL t", KITH_ERROR_SYNTAX, "\"TABEL\": expected table"),
                     26);
    assert_int_equal(refused_at("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'x'", KITH_ERROR_SYNTAX, "parquet"),
                     34);
    assert_int_equal(refused_at("CREATE EXTERNAL TABLE t LOCATION x", KITH_ERROR_SYNTAX, "a quoted file"), 33);
    assert_int_equal(refused_at("CREATE EXTERNAL TABLE t (a int) LOCATION 'x'", KITH_ERROR_SYNTAX, "\"(\""), 24);
    assert_int_equal(refused_at("CREATE EXTERNAL TABLE IF EXISTS t LOCATION 'x'", KITH_ERROR_SYNTAX, "not"), 25);
    assert_int_equal(refused_at("CREATE EXTERNAL TABLE t LOCATION 'x' LOCATION 'y'", KITH_ERROR_SYNTAX, "\"LOCATION\""),
                     37);
    assert_int_equal(refused_at("CREATE EXTERNAL TABLE t LOCATION 'x''", KITH_ERROR_SYNTAX, "quote is not closed"), 33);
    assert_int_equal(refused_at("CREATE EXTERNAL TABLE t LOCATION $a$x$a", KITH_ERROR_SYNTAX, "quote is not closed"),
                     33);
    assert_int_equal(refused_at("CREATE EXTERNAL TABLE \"t", KITH_ERROR_SYNTAX, "quote is not closed"), 22);
    refused_at("CREATE EXTERNAL TABLE t LOCATION 'x' PARTITIONED BY (a)", KITH_ERROR_SYNTAX, "\"PARTITIONED\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_is_cut_at_semicolons_outside_of_strings_and_comments),
        cmocka_unit_test(empty_statements_are_none),
        cmocka_unit_test(a_syntax_error_is_at_its_byte_in_the_script),
        cmocka_unit_test(text_that_is_not_utf8_does_no_harm),
        cmocka_unit_test(a_nul_byte_is_refused_where_it_is),
        cmocka_unit_test(depth_is_refused_by_its_limit_and_never_overflows_the_stack),
        cmocka_unit_test(what_is_wide_but_not_deep_is_parsed),
        cmocka_unit_test(a_text_over_the_byte_limit_is_refused),
        cmocka_unit_test(create_external_table_names_files),
        cmocka_unit_test(a_wrong_create_external_table_is_refused_where_it_goes_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
