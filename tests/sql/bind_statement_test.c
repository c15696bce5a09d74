#include "sql/binding.h"

static struct statement bound(struct binding *binding, const char *sql)
{
    binding_init(binding);
    assert_ok(bind_sql(binding, sql));
    return binding->statement;
}

static void check_set(const char *sql, enum setting setting, const char *value)
{
    _cleanup_(binding_reset) struct binding binding;
    struct statement statement = bound(&binding, sql);
    assert_int_equal(statement.kind, STATEMENT_SET);
    assert_int_equal(statement.setting, setting);
    if (value == NULL)
        assert_null(statement.value);
    else
        assert_string_equal(statement.value, value);
}

static void set_takes_numbers_words_and_texts(void **state)
{
    check_set("SET execution.batch_size = 100", SETTING_BATCH_SIZE, "100");
    check_set("SET datafusion.execution.batch_size TO '100'", SETTING_BATCH_SIZE, "100");
    check_set("SET distributed.sibling_topk = on", SETTING_SIBLING_TOPK, "on");
    check_set("SET distributed.sibling_topk TO off", SETTING_SIBLING_TOPK, "off");
    check_set("SET execution.parquet.pruning = true", SETTING_PARQUET_PRUNING, "true");
    check_set("SET runtime.memory_limit = '64M'", SETTING_MEMORY_LIMIT, "64M");
    check_set("SET execution.parquet.compression = snappy", SETTING_PARQUET_COMPRESSION, "snappy");
}

static void reset_and_default_give_no_value(void **state)
{
    check_set("RESET execution.batch_size", SETTING_BATCH_SIZE, NULL);
    check_set("SET execution.batch_size TO DEFAULT", SETTING_BATCH_SIZE, NULL);
}

static void a_wrong_set_is_refused_where_it_goes_wrong(void **state)
{
    check_refused("SET execution.bach_size = 1", KITH_ERROR_UNDEFINED_SETTING, "bach_size", "execution");
    check_hint("SET execution.bach_size = 1", "execution.batch_size");
    check_refused("SET execution.batch_size = -5", KITH_ERROR_INVALID_ARGUMENT, "execution.batch_size", "-5");
    check_refused("SET execution.batch_size = many", KITH_ERROR_INVALID_ARGUMENT, "execution.batch_size", "many");
    check_refused("SET execution.batch_size = 1, 2", KITH_ERROR_SYNTAX, "SET takes one value", "2");
    check_refused("RESET ALL", KITH_ERROR_NOT_IMPLEMENTED, "this form of SET", "RESET");
    check_refused("SET TRANSACTION READ ONLY", KITH_ERROR_NOT_IMPLEMENTED, "this form of SET", "SET");
    check_refused("RESET nothing.like_it", KITH_ERROR_UNDEFINED_SETTING, "nothing.like_it", "nothing");
}

static void check_kind(const char *sql, enum statement_kind kind)
{
    _cleanup_(binding_reset) struct binding binding;
    assert_int_equal(bound(&binding, sql).kind, kind);
}

static void show_names_a_setting_or_all_or_tables(void **state)
{
    _cleanup_(binding_reset) struct binding binding;
    struct statement statement = bound(&binding, "SHOW execution.batch_size");
    assert_int_equal(statement.kind, STATEMENT_SHOW);
    assert_int_equal(statement.setting, SETTING_BATCH_SIZE);
    check_kind("SHOW ALL", STATEMENT_SHOW_ALL);
    check_kind("SHOW TABLES", STATEMENT_SHOW_TABLES);
    check_refused("SHOW execution.bach_size", KITH_ERROR_UNDEFINED_SETTING, "bach_size", "execution");
}

static void check_explain(const char *sql, bool analyze, bool verbose)
{
    _cleanup_(binding_reset) struct binding binding;
    struct statement statement = bound(&binding, sql);
    assert_int_equal(statement.kind, STATEMENT_EXPLAIN);
    assert_non_null(statement.plan);
    assert_int_equal(statement.explain.analyze, analyze);
    assert_int_equal(statement.explain.verbose, verbose);
}

static void explain_takes_analyze_and_verbose(void **state)
{
    check_explain("EXPLAIN SELECT 1", false, false);
    check_explain("EXPLAIN ANALYZE SELECT 1", true, false);
    check_explain("EXPLAIN VERBOSE SELECT 1", false, true);
    check_explain("EXPLAIN ANALYZE VERBOSE SELECT 1", true, true);
    check_explain("EXPLAIN (ANALYZE, VERBOSE off) SELECT 1", true, false);
    check_explain("EXPLAIN (ANALYZE false, VERBOSE 1) SELECT 1", false, true);
    check_refused("EXPLAIN (ANALYZE, BUFFERS) SELECT 1", KITH_ERROR_NOT_IMPLEMENTED, "no option \"buffers\"",
                  "BUFFERS");
    check_refused("EXPLAIN DELETE FROM t", KITH_ERROR_NOT_IMPLEMENTED, "this statement", NULL);
}

static void check_format(const char *sql, bool analyze, enum explain_format format)
{
    _cleanup_(binding_reset) struct binding binding;
    struct statement statement = bound(&binding, sql);
    assert_int_equal(statement.kind, STATEMENT_EXPLAIN);
    assert_int_equal(statement.explain.analyze, analyze);
    assert_int_equal(statement.explain.format, format);
}

static void explain_takes_a_format(void **state)
{
    check_format("EXPLAIN SELECT 1", false, EXPLAIN_TEXT);
    check_format("EXPLAIN (FORMAT text) SELECT 1", false, EXPLAIN_TEXT);
    check_format("EXPLAIN (FORMAT JSON) SELECT 1", false, EXPLAIN_JSON);
    check_format("EXPLAIN (ANALYZE, FORMAT 'json') SELECT 1", true, EXPLAIN_JSON);
    check_refused("EXPLAIN (FORMAT yaml) SELECT 1", KITH_ERROR_NOT_IMPLEMENTED, "TEXT and JSON are there", "FORMAT");
}

static void copy_writes_a_query_or_a_table_with_the_options_of_the_file(void **state)
{
    _cleanup_(binding_reset) struct binding binding;
    struct statement statement = bound(&binding, "COPY (SELECT id FROM t) TO 'a.parquet' (FORMAT parquet, COMPRESSION "
                                                 "snappy, ROW_GROUP_SIZE 1000)");
    assert_int_equal(statement.kind, STATEMENT_COPY_TO);
    assert_string_equal(statement.copy.path, "a.parquet");
    assert_int_equal(statement.plan->schema->field_count, 1);
    assert_int_equal(settings_get(&statement.copy.settings, SETTING_PARQUET_ROW_GROUP_ROWS), 1000);
    assert_int_equal(settings_get(&statement.copy.settings, SETTING_PARQUET_COMPRESSION), 1);
    /* The session's own settings are as they were. */
    assert_int_equal(settings_get(&binding.settings, SETTING_PARQUET_ROW_GROUP_ROWS), 1048576);

    _cleanup_(binding_reset) struct binding whole;
    assert_int_equal(bound(&whole, "COPY t TO 'a.parquet'").plan->schema->field_count, 11);
}

static void a_wrong_copy_is_refused_where_it_goes_wrong(void **state)
{
    check_refused("COPY t TO 'x' (FORMAT csv)", KITH_ERROR_NOT_IMPLEMENTED, "COPY in this format", "FORMAT");
    check_refused("COPY t TO 'x' (FORMAT parquet, HEADER)", KITH_ERROR_SYNTAX, "the option header needs a value",
                  "HEADER");
    check_refused("COPY t TO 'x' (HEADER true)", KITH_ERROR_INVALID_ARGUMENT, "no option \"header\"", "HEADER");
    check_refused("COPY t TO 'x' (COMPRESSION lzo)", KITH_ERROR_INVALID_ARGUMENT, "lzo", "COMPRESSION");
    check_refused("COPY t TO 'x' (ROW_GROUP_SIZE 0)", KITH_ERROR_INVALID_ARGUMENT, "max_row_group_size", "ROW_GROUP");
    check_refused("COPY t FROM 'x'", KITH_ERROR_NOT_IMPLEMENTED, "COPY other than to a file", "COPY");
    check_refused("COPY t TO STDOUT", KITH_ERROR_NOT_IMPLEMENTED, "COPY other than to a file", "COPY");
    check_refused("COPY t TO PROGRAM 'x'", KITH_ERROR_NOT_IMPLEMENTED, "COPY other than to a file", "COPY");
    check_refused("COPY t (id) TO 'x'", KITH_ERROR_NOT_IMPLEMENTED, "COPY of a list of columns", "COPY");
    check_refused("COPY nothing TO 'x'", KITH_ERROR_UNDEFINED_TABLE, "\"nothing\"", "nothing");
    check_refused("COPY (SELECT nam FROM t) TO 'x'", KITH_ERROR_UNDEFINED_COLUMN, "\"nam\"", "nam");
}

static void tables_are_created_and_dropped_by_name(void **state)
{
    _cleanup_(binding_reset) struct binding binding;
    struct statement statement =
        bound(&binding, "CREATE EXTERNAL TABLE IF NOT EXISTS x STORED AS PARQUET LOCATION 'y'");
    assert_int_equal(statement.kind, STATEMENT_CREATE_TABLE);
    assert_string_equal(statement.table.name, "x");
    assert_string_equal(statement.table.location, "y");
    assert_true(statement.table.if_exists);
    assert_false(statement.table.or_replace);

    _cleanup_(binding_reset) struct binding dropping;
    statement = bound(&dropping, "DROP TABLE IF EXISTS \"Orders\"");
    assert_int_equal(statement.kind, STATEMENT_DROP_TABLE);
    assert_string_equal(statement.table.name, "Orders");
    assert_true(statement.table.if_exists);

    check_refused("DROP TABLE a, b", KITH_ERROR_NOT_IMPLEMENTED, "several tables", "DROP");
    check_refused("DROP VIEW a", KITH_ERROR_NOT_IMPLEMENTED, "anything but a table", "DROP");
}

static void an_error_in_a_later_statement_is_at_its_place_in_the_script(void **state)
{
    _cleanup_(binding_reset) struct binding binding;
    binding_init(&binding);
    const char *sql = "SELECT 'ä;'; SELECT nam FROM t";
    assert_ok(sql_parse(str_of(sql), &binding.script));
    assert_int_equal(sql_script_count(binding.script), 2);
    struct sql_syntax syntax = sql_script_statement(binding.script, 1);
    _cleanup_(error_free) kith_error *error =
        sql_bind(&syntax, &binding.catalog, &binding.settings, &binding.plans, &binding.statement);
    assert_int_equal(kith_error_position(error) - 1, strstr(sql, "nam") - sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_takes_numbers_words_and_texts),
        cmocka_unit_test(reset_and_default_give_no_value),
        cmocka_unit_test(a_wrong_set_is_refused_where_it_goes_wrong),
        cmocka_unit_test(show_names_a_setting_or_all_or_tables),
        cmocka_unit_test(explain_takes_analyze_and_verbose),
        cmocka_unit_test(explain_takes_a_format),
        cmocka_unit_test(copy_writes_a_query_or_a_table_with_the_options_of_the_file),
        cmocka_unit_test(a_wrong_copy_is_refused_where_it_goes_wrong),
        cmocka_unit_test(tables_are_created_and_dropped_by_name),
        cmocka_unit_test(an_error_in_a_later_statement_is_at_its_place_in_the_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
