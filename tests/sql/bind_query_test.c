/* Queries around queries: subqueries in FROM, WITH and UNION ALL. */
#include "sql/binding.h"

#define SCAN "TableScan: t projection=[id, small, price, score, name, flag, day, at, Mixed, Twice, TWICE]\n"

static void a_subquery_gives_its_select_list_under_its_alias(void **state)
{
    check_plan("SELECT s.x FROM (SELECT id + 1 AS x, name FROM t WHERE flag) AS s WHERE name = 'a'",
               "Projection: x@0\n"
               "  Filter: name@1 = a\n"
               "    Projection: id@0 + 1, name@4\n"
               "      Filter: flag@5\n"
               "        " SCAN);
    check_plan("SELECT * FROM (SELECT 1 AS x, 2 AS y) AS s", "Projection: x@0, y@1\n"
                                                             "  Projection: 1, 2\n"
                                                             "    EmptyRelation: rows=1\n");
    check_refused("SELECT id FROM (SELECT name FROM t) AS s", KITH_ERROR_UNDEFINED_COLUMN,
                  "there is no column \"id\" in table \"s\"", "id");
    check_refused("SELECT t.name FROM (SELECT name FROM t) AS s", KITH_ERROR_UNDEFINED_TABLE,
                  "there is no table \"t\" in FROM", "t.name");
    check_refused("SELECT 1 FROM (SELECT id FROM t WHERE s.id = 1) AS s", KITH_ERROR_UNDEFINED_TABLE,
                  "there is no table \"s\"", "s.id");
}

/* PostgreSQL: names for the first columns; the others keep theirs. */
static void an_alias_may_name_the_first_columns(void **state)
{
    check_plan("SELECT b, name FROM (SELECT id, price, name FROM t) AS s (a, b)",
               "Projection: b@1, name@2\n"
               "  Projection: id@0, price@2, name@4\n"
               "    " SCAN);
    check_plan("SELECT key, small FROM t AS s (key)",
               "Projection: key@0, small@1\n  TableScan: s projection=[id, small, "
               "price, score, name, flag, day, at, Mixed, Twice, TWICE]\n");
    check_refused("SELECT price FROM (SELECT id, price FROM t) AS s (a, b)", KITH_ERROR_UNDEFINED_COLUMN, "\"price\"",
                  "price");
    check_refused("SELECT 1 FROM (SELECT id FROM t) AS s (a, b)", KITH_ERROR_INVALID_ARGUMENT,
                  "table \"s\" has 1 columns, not 2", "s (a");
}

static void columns_of_one_name_are_two_columns(void **state)
{
    check_plan("SELECT * FROM (SELECT id AS x, small AS x FROM t) AS s", "Projection: x@0, x@1\n"
                                                                         "  Projection: id@0, small@1\n"
                                                                         "    " SCAN);
    check_plan("SELECT b FROM (SELECT id AS x, small AS x FROM t) AS s (a, b)", "Projection: b@1\n"
                                                                                "  Projection: id@0, small@1\n"
                                                                                "    " SCAN);
    check_refused("SELECT x FROM (SELECT id AS x, small AS x FROM t) AS s", KITH_ERROR_AMBIGUOUS_COLUMN,
                  "\"x\" fits 2 columns", "x");
}

static void with_names_queries_for_those_after_it(void **state)
{
    check_plan("WITH a AS (SELECT id AS x FROM t), b (y) AS (SELECT x + 1 FROM a) SELECT y FROM b",
               "Projection: y@0\n  Projection: x@0 + 1\n    Projection: id@0\n      " SCAN);
    /* An inner WITH hides an outer one, and any WITH a table. */
    check_plan("WITH t AS (SELECT id FROM t) SELECT * FROM (WITH t AS (SELECT id + 2 FROM t) SELECT * FROM t) AS s (z)",
               "Projection: z@0\n"
               "  Projection: id + 2@0\n"
               "    Projection: id@0 + 2\n"
               "      Projection: id@0\n"
               "        " SCAN);
    check_refused("WITH a AS (SELECT x FROM b), b AS (SELECT 1 AS x) SELECT 1", KITH_ERROR_UNDEFINED_TABLE,
                  "there is no table \"b\"", "b), b");
    check_refused("WITH a AS (SELECT 1), a AS (SELECT 2) SELECT 1", KITH_ERROR_SYNTAX, "\"a\" more than once",
                  "a AS (SELECT 2");
    check_refused("WITH unread AS (SELECT nothing FROM t) SELECT 1", KITH_ERROR_UNDEFINED_COLUMN, "\"nothing\"",
                  "nothing");
    check_refused("WITH a (x, y) AS (SELECT 1) SELECT 1 FROM a", KITH_ERROR_INVALID_ARGUMENT, "has 1 columns, not 2",
                  NULL);
    check_refused("SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a) AS s UNION ALL SELECT * FROM a",
                  KITH_ERROR_UNDEFINED_TABLE, "there is no table \"a\"", "a");
}

/* PostgreSQL evaluates a query of WITH once for all who read it. */
static void with_is_read_twice_only_where_both_must_see_the_same_rows(void **state)
{
    check_plan("WITH a AS (SELECT id FROM t) SELECT id FROM a UNION ALL SELECT id FROM a",
               "Union\n"
               "  Projection: id@0\n"
               "    Projection: id@0\n"
               "      " SCAN "  Projection: id@0\n"
               "    Projection: id@0\n"
               "      " SCAN);
    check_refused("WITH a AS (SELECT random() AS r) SELECT r FROM a UNION ALL SELECT r FROM a",
                  KITH_ERROR_NOT_IMPLEMENTED, "a volatile query of WITH twice", "a");
    check_refused(
        "WITH a AS NOT MATERIALIZED (SELECT id FROM t WHERE random() < 0.5) SELECT * FROM a UNION ALL SELECT * FROM a",
        KITH_ERROR_NOT_IMPLEMENTED, "a volatile query of WITH twice", NULL);
    check_refused("WITH a AS (SELECT id FROM t LIMIT 1) SELECT id FROM a UNION ALL SELECT id FROM a",
                  KITH_ERROR_NOT_IMPLEMENTED, "has a LIMIT twice", NULL);
    check_hint("WITH a AS (SELECT id FROM t LIMIT 1) SELECT id FROM a UNION ALL SELECT id FROM a",
               "a AS NOT MATERIALIZED");
    check_plan("WITH a AS NOT MATERIALIZED (SELECT 1 AS x LIMIT 1) SELECT x FROM a UNION ALL SELECT x FROM a",
               "Union\n"
               "  Projection: x@0\n    Projection: 1\n      Limit: skip=0, fetch=1\n        EmptyRelation: rows=1\n"
               "  Projection: x@0\n    Projection: 1\n      Limit: skip=0, fetch=1\n        EmptyRelation: rows=1\n");
    check_plan("WITH a AS (SELECT random() AS r) SELECT r FROM a", "Projection: r@0\n"
                                                                   "  Projection: random()\n"
                                                                   "    EmptyRelation: rows=1\n");
}

static void a_union_is_ordered_and_limited_as_a_whole(void **state)
{
    check_plan("SELECT id AS x, name FROM t UNION ALL SELECT id + 1, 'b' FROM t UNION ALL "
               "(SELECT id, name FROM t ORDER BY price LIMIT 3) ORDER BY name DESC, 1 LIMIT 2",
               "Limit: skip=0, fetch=2\n"
               "  Sort: name@1 DESC, x@0 ASC NULLS LAST\n"
               "    Union\n"
               "      Projection: id@0, name@4\n"
               "        " SCAN "      Projection: id@0 + 1, b\n"
               "        " SCAN "      Projection: id@0, name@4\n"
               "        Limit: skip=0, fetch=3\n"
               "          Sort: price@2 ASC NULLS LAST\n"
               "            " SCAN);
    check_refused("SELECT id FROM t UNION ALL SELECT id FROM t ORDER BY id + 1", KITH_ERROR_INVALID_ARGUMENT,
                  "names and positions of its columns", "id + 1");
    check_refused("SELECT id AS x FROM t UNION ALL SELECT id FROM t ORDER BY id", KITH_ERROR_UNDEFINED_COLUMN, "\"id\"",
                  "id");
    check_refused("SELECT id FROM t UNION ALL SELECT id, name FROM t", KITH_ERROR_SYNTAX,
                  "different numbers of columns: 1 and 2", "id, name");
}

/* The projection of the last member, whose types the others' are. */
static void check_coerced(const char *first, const char *second, const char *type, const char *expected)
{
    _cleanup_(binding_reset) struct binding binding;
    _cleanup_(strbuf_reset) struct strbuf sql = {0}, text = {0};
    char name[160];
    binding_init(&binding);
    assert_ok(strbuf_printf(&sql, "SELECT %s FROM t UNION ALL SELECT %s FROM t", first, second));
    assert_ok(bind_sql(&binding, strbuf_text(&sql)));
    const struct logical_plan *plan = binding.statement.plan;
    for (size_t i = 0; i < 2; i++) {
        assert_ok(strbuf_append_text(&text, i == 0 ? "" : " | "));
        assert_ok(expr_format(plan->inputs[i]->projection.exprs[0], &text));
        assert_true(type_equal(&plan->inputs[i]->schema->fields[0].type, &plan->schema->fields[0].type));
    }
    assert_string_equal(type_format(&plan->schema->fields[0].type, name, sizeof name), type);
    assert_string_equal(strbuf_text(&text), expected);
}

/* As PostgreSQL resolves them: the wider number, a text literal as whatever the others are, NULL as anything. */
static void the_columns_of_a_union_have_one_type(void **state)
{
    check_coerced("small", "id", "Int64", "CAST(small@1 AS Int64) | id@0");
    check_coerced("id", "score", "Float64", "CAST(id@0 AS Float64) | score@3");
    check_coerced("day", "'2020-02-29'", "Date32", "day@6 | 2020-02-29");
    check_coerced("NULL", "name", "Utf8", "NULL | name@4");
    check_coerced("'7'", "small", "Int16", "7 | small@1");
    check_refused("SELECT id FROM t UNION ALL SELECT name FROM t", KITH_ERROR_TYPE_MISMATCH, "no common type", "name");
    check_refused("SELECT id FROM t UNION ALL SELECT 'x'", KITH_ERROR_INVALID_TEXT, "x", "'x'");
    check_refused("SELECT day FROM t UNION ALL SELECT flag FROM t", KITH_ERROR_TYPE_MISMATCH, "column 1 of UNION ALL",
                  NULL);
}

static void a_unions_column_is_nullable_where_it_is_in_any_member(void **state)
{
    _cleanup_(binding_reset) struct binding binding;
    binding_init(&binding);
    assert_ok(bind_sql(&binding, "SELECT id, id FROM t UNION ALL SELECT Mixed, id FROM t"));
    assert_true(binding.statement.plan->schema->fields[0].nullable);
    assert_false(binding.statement.plan->schema->fields[1].nullable);
}

/* What is sorted by is what is given. */
static void a_volatile_sort_key_is_computed_once_below_the_sort(void **state)
{
    static const char below[] =
        "    Projection: id@0, small@1, price@2, score@3, name@4, flag@5, day@6, at@7, Mixed@8, "
        "Twice@9, TWICE@10, random()\n"
        "      " SCAN;
    _cleanup_(strbuf_reset) struct strbuf expected = {0}, other = {0};
    assert_ok(strbuf_printf(&expected, "Projection: key@11, id@0\n  Sort: key@11 ASC NULLS LAST\n%s", below));
    check_plan("SELECT random() AS r, id FROM t ORDER BY r", strbuf_text(&expected));
    check_plan("SELECT random(), id FROM t ORDER BY random()", strbuf_text(&expected));
    check_plan("SELECT random() AS r, id FROM t ORDER BY 1", strbuf_text(&expected));
    assert_ok(strbuf_printf(&other, "Projection: key@11, random()\n  Sort: key@11 ASC NULLS LAST\n%s", below));
    check_plan("SELECT random() AS r, random() AS s FROM t ORDER BY r", strbuf_text(&other));
}

static void nested(struct strbuf *sql, int levels)
{
    for (int i = 0; i < levels; i++)
        assert_ok(strbuf_append_text(sql, "SELECT * FROM ("));
    assert_ok(strbuf_append_text(sql, "SELECT id FROM t"));
    for (int i = 0; i < levels; i++)
        assert_ok(strbuf_append_text(sql, ") AS s"));
}

static void queries_nest_to_a_limit(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf some = {0}, many = {0}, chain = {0};
    _cleanup_(binding_reset) struct binding binding;
    binding_init(&binding);
    nested(&some, 40);
    assert_ok(bind_sql(&binding, strbuf_text(&some)));
    nested(&many, 80);
    check_refused(strbuf_text(&many), KITH_ERROR_LIMIT, "PLAN_NESTING", NULL);
    /* A chain of WITH nests as deeply, though its text does not. */
    assert_ok(strbuf_append_text(&chain, "WITH w0 AS (SELECT id FROM t)"));
    for (int i = 1; i < 80; i++)
        assert_ok(strbuf_printf(&chain, ", w%d AS (SELECT id FROM w%d)", i, i - 1));
    assert_ok(strbuf_append_text(&chain, " SELECT id FROM w79"));
    check_refused(strbuf_text(&chain), KITH_ERROR_LIMIT, "PLAN_NESTING", NULL);
}

static void with_that_doubles_at_each_step_is_refused_by_the_limit(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf sql = {0};
    assert_ok(strbuf_append_text(&sql, "WITH w0 AS (SELECT 1 AS x)"));
    for (int i = 1; i < 25; i++)
        assert_ok(strbuf_printf(&sql, ", w%d AS (SELECT x FROM w%d UNION ALL SELECT x FROM w%d)", i, i - 1, i - 1));
    assert_ok(strbuf_append_text(&sql, " SELECT x FROM w24"));
    check_refused(strbuf_text(&sql), KITH_ERROR_LIMIT, "QUERY_TABLES", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_subquery_gives_its_select_list_under_its_alias),
        cmocka_unit_test(an_alias_may_name_the_first_columns),
        cmocka_unit_test(columns_of_one_name_are_two_columns),
        cmocka_unit_test(with_names_queries_for_those_after_it),
        cmocka_unit_test(with_is_read_twice_only_where_both_must_see_the_same_rows),
        cmocka_unit_test(a_union_is_ordered_and_limited_as_a_whole),
        cmocka_unit_test(the_columns_of_a_union_have_one_type),
        cmocka_unit_test(a_unions_column_is_nullable_where_it_is_in_any_member),
        cmocka_unit_test(a_volatile_sort_key_is_computed_once_below_the_sort),
        cmocka_unit_test(queries_nest_to_a_limit),
        cmocka_unit_test(with_that_doubles_at_each_step_is_refused_by_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
