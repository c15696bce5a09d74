#include "sql/binding.h"

static void names_match_exactly_or_else_without_regard_to_case(void **state)
{
    check_filter("id = 1", "id@0 = 1");
    check_filter("ID = 1", "id@0 = 1");
    check_filter("mixed = 1", "Mixed@8 = 1");
    check_filter("\"Mixed\" = 1", "Mixed@8 = 1");
    check_filter("\"TWICE\" = 1", "TWICE@10 = 1");
    check_filter("\"Twice\" = 1", "Twice@9 = 1");
}

static void a_name_that_fits_two_columns_but_for_case_is_ambiguous(void **state)
{
    check_refused("SELECT twice FROM t", KITH_ERROR_AMBIGUOUS_COLUMN, "\"twice\" fits 2 columns of table \"t\"",
                  "twice");
    check_hint("SELECT twice FROM t", "Quote the name");
}

static void a_qualified_name_must_name_the_table_or_its_alias(void **state)
{
    check_filter("t.id = 1", "id@0 = 1");
    check_filter("T.id = 1", "id@0 = 1");
    check_plan("SELECT x.id FROM t AS x", "Projection: id@0\n  TableScan: x projection=[id, small, price, score, name, "
                                          "flag, day, at, Mixed, Twice, TWICE]\n");
    check_refused("SELECT t.id FROM t AS x", KITH_ERROR_UNDEFINED_TABLE, "\"t\" in FROM", "t.id");
    check_refused("SELECT o.id FROM t", KITH_ERROR_UNDEFINED_TABLE, "\"o\" in FROM", "o.id");
    check_refused("SELECT o.* FROM t", KITH_ERROR_UNDEFINED_TABLE, "\"o\" in FROM", "o.*");
    check_refused("SELECT a.b.c FROM t", KITH_ERROR_NOT_IMPLEMENTED, "more than two parts", "a.b.c");
}

static void an_unknown_column_is_said_with_the_nearest_name(void **state)
{
    check_refused("SELECT id, prise FROM t", KITH_ERROR_UNDEFINED_COLUMN, "there is no column \"prise\" in table \"t\"",
                  "prise");
    check_hint("SELECT prise FROM t", "Did you mean \"price\"?");
    check_refused("SELECT 'ä', id FROM t WHERE\n nam = 'x'", KITH_ERROR_UNDEFINED_COLUMN, "\"nam\"", "nam = ");
    check_refused("SELECT id FROM t ORDER BY nothing", KITH_ERROR_UNDEFINED_COLUMN, "\"nothing\"", "nothing");
    check_refused("SELECT a", KITH_ERROR_UNDEFINED_COLUMN, "the query has no FROM", "a");
}

static void an_unknown_table_is_said_with_the_nearest_name_or_how_to_name_files(void **state)
{
    check_refused("SELECT 1 FROM orders", KITH_ERROR_UNDEFINED_TABLE, "there is no table \"orders\"", "orders");
    check_hint("SELECT 1 FROM orders", "Did you mean \"Orders\"?");
    check_hint("SELECT 1 FROM lineitem", "read_parquet");
    check_refused("SELECT 1 FROM other.t", KITH_ERROR_UNDEFINED_TABLE, "\"other.t\"", "other.t");
    check_plan(
        "SELECT id FROM public.t LIMIT 1",
        "Projection: id@0\n  Limit: skip=0, fetch=1\n    TableScan: t projection=[id, small, price, score, name, "
        "flag, day, at, Mixed, Twice, TWICE]\n");
}

static void read_parquet_is_a_table(void **state)
{
    check_plan("SELECT id FROM read_parquet('x') WHERE flag",
               "Projection: id@0\n  Filter: flag@5\n    TableScan: read_parquet projection=[id, small, price, score, "
               "name, flag, day, at, Mixed, Twice, TWICE]\n");
    check_refused("SELECT * FROM read_parquet('missing.parquet')", KITH_ERROR_NOT_FOUND, "missing.parquet",
                  "read_parquet");
    check_refused("SELECT * FROM read_csv('x')", KITH_ERROR_UNDEFINED_FUNCTION, "\"read_csv\"", "read_csv");
    check_refused("SELECT * FROM read_parquet(1)", KITH_ERROR_UNDEFINED_FUNCTION, "these arguments", "read_parquet");
    check_hint("SELECT * FROM read_parquet()", "read_parquet('folder/*.parquet')");
}

static void an_unknown_function_is_said_with_the_nearest_name(void **state)
{
    check_refused("SELECT 1 + lenght(name) FROM t", KITH_ERROR_UNDEFINED_FUNCTION, "\"lenght\"", "lenght");
    check_hint("SELECT lenght(name) FROM t", "Did you mean \"length\"?");
    check_refused("SELECT id @ 1 FROM t", KITH_ERROR_UNDEFINED_FUNCTION, "there is no operator @", "@");
}

/* The names of the result's columns, joined by |. */
static void check_names(const char *sql, const char *expected)
{
    _cleanup_(binding_reset) struct binding binding;
    _cleanup_(strbuf_reset) struct strbuf names = {0};
    binding_init(&binding);
    assert_ok(bind_sql(&binding, sql));
    const struct schema *schema = binding.statement.plan->schema;
    for (size_t i = 0; i < schema->field_count; i++)
        assert_ok(strbuf_printf(&names, "%s%s", i == 0 ? "" : "|", schema->fields[i].name));
    assert_string_equal(strbuf_text(&names), expected);
}

static void a_column_without_alias_is_named_as_it_is_written(void **state)
{
    check_names("SELECT id, MIXED, t.id, id AS Key, id AS \"Key\", id key2 FROM t", "id|Mixed|id|key|Key|key2");
    check_names("SELECT id+1, Lower( name ) , (id + 1) * 2 FROM t", "id+1|Lower( name )|(id + 1) * 2");
    check_names("SELECT 'a,b', 1 /* , */ + 2 FROM t", "'a,b'|1 /* , */ + 2");
    check_names("SELECT id IS DISTINCT FROM 1, id FROM t", "id IS DISTINCT FROM 1|id");
    check_names("SELECT extract(year FROM day), id FROM t", "extract(year FROM day)|id");
    check_names("SELECT CASE WHEN flag THEN 1 ELSE 2 END FROM t", "CASE WHEN flag THEN 1 ELSE 2 END");
    check_names("SELECT 1", "1");
    check_names("SELECT 1 LIMIT 1", "1");
    check_names("SELECT * FROM t", "id|small|price|score|name|flag|day|at|Mixed|Twice|TWICE");
    check_names("SELECT t.*, id FROM t", "id|small|price|score|name|flag|day|at|Mixed|Twice|TWICE|id");
    check_names("COPY (SELECT id+1, id-1 FROM t) TO 'x'", "id+1|id-1");
    check_names("COPY (SELECT 1+1) TO 'x'", "1+1");
}

static void a_star_needs_a_table_and_stands_alone(void **state)
{
    check_refused("SELECT *", KITH_ERROR_SYNTAX, "SELECT * needs a FROM", "*");
    check_refused("SELECT 1 + t.* FROM t", KITH_ERROR_SYNTAX, "stands only alone", "t.*");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_match_exactly_or_else_without_regard_to_case),
        cmocka_unit_test(a_name_that_fits_two_columns_but_for_case_is_ambiguous),
        cmocka_unit_test(a_qualified_name_must_name_the_table_or_its_alias),
        cmocka_unit_test(an_unknown_column_is_said_with_the_nearest_name),
        cmocka_unit_test(an_unknown_table_is_said_with_the_nearest_name_or_how_to_name_files),
        cmocka_unit_test(read_parquet_is_a_table),
        cmocka_unit_test(an_unknown_function_is_said_with_the_nearest_name),
        cmocka_unit_test(a_column_without_alias_is_named_as_it_is_written),
        cmocka_unit_test(a_star_needs_a_table_and_stands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
