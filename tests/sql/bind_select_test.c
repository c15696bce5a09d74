#include "sql/binding.h"

#define SCAN "TableScan: t projection=[id, small, price, score, name, flag, day, at, Mixed, Twice, TWICE]\n"

/* The sort of `SELECT list FROM t ORDER BY order`. */
static void check_sort_with(const char *nulls, const char *list, const char *order, const char *expected)
{
    _cleanup_(binding_reset) struct binding binding;
    _cleanup_(strbuf_reset) struct strbuf sql = {0}, text = {0};
    binding_init(&binding);
    if (nulls != NULL)
        assert_ok(settings_set(&binding.settings, SETTING_DEFAULT_NULL_ORDERING, nulls));
    assert_ok(strbuf_printf(&sql, "SELECT %s FROM t ORDER BY %s", list, order));
    assert_ok(bind_sql(&binding, strbuf_text(&sql)));
    const struct logical_plan *sort = find_node(binding.statement.plan, LOGICAL_SORT);
    if (sort != NULL)
        assert_ok(sort_exprs_format(sort->sort.exprs, sort->sort.count, &text));
    assert_string_equal(strbuf_text(&text), expected);
}

static void check_sort(const char *list, const char *order, const char *expected)
{
    check_sort_with(NULL, list, order, expected);
}

static void order_by_takes_a_position_a_name_of_the_select_list_or_an_expression(void **state)
{
    check_sort("id, price", "2", "price@2 ASC NULLS LAST");
    check_sort("*", "3", "price@2 ASC NULLS LAST");
    check_sort("id + 1 AS next", "next", "id@0 + 1 ASC NULLS LAST");
    check_sort("-id AS id", "id", "(- id@0) ASC NULLS LAST");
    check_sort("-id AS id", "id + 0", "id@0 + 0 ASC NULLS LAST"); /* inside an expression: the table's column */
    check_sort("id", "price * 2, name DESC", "price@2 * 2 ASC NULLS LAST, name@4 DESC");
    check_sort("id AS \"Key\"", "\"Key\"", "id@0 ASC NULLS LAST");
    check_sort("id AS x, id AS x", "x", "id@0 ASC NULLS LAST");
}

static void a_wrong_sort_target_is_refused_where_it_stands(void **state)
{
    check_refused("SELECT id, price FROM t ORDER BY 3", KITH_ERROR_INVALID_ARGUMENT, "positions from 1 to 2", "3");
    check_refused("SELECT id FROM t ORDER BY 0", KITH_ERROR_INVALID_ARGUMENT, "positions from 1 to 1", "0");
    check_refused("SELECT id FROM t ORDER BY id, -1", KITH_ERROR_INVALID_ARGUMENT, "positions", "-1");
    check_refused("SELECT id FROM t ORDER BY 'id'", KITH_ERROR_INVALID_ARGUMENT, "positions", "'id'");
    check_refused("SELECT id AS x, price AS x FROM t ORDER BY x", KITH_ERROR_AMBIGUOUS_COLUMN, "\"x\" fits several",
                  "x");
    check_refused("SELECT id FROM t ORDER BY id USING <", KITH_ERROR_NOT_IMPLEMENTED, "USING", "id USING");
}

/* PostgreSQL puts NULL last ascending and first descending, as if it were the largest value; DuckDB last always. */
static void nulls_are_where_the_query_or_else_the_setting_says(void **state)
{
    check_sort("id", "id, price DESC", "id@0 ASC NULLS LAST, price@2 DESC");
    check_sort("id", "id NULLS FIRST, price DESC NULLS LAST", "id@0 ASC NULLS FIRST, price@2 DESC NULLS LAST");
    check_sort_with("nulls_max", "id", "id, price DESC", "id@0 ASC NULLS LAST, price@2 DESC");
    check_sort_with("nulls_min", "id", "id, price DESC", "id@0 ASC NULLS FIRST, price@2 DESC NULLS LAST");
    check_sort_with("nulls_first", "id", "id, price DESC", "id@0 ASC NULLS FIRST, price@2 DESC");
    check_sort_with("nulls_last", "id", "id, price DESC", "id@0 ASC NULLS LAST, price@2 DESC NULLS LAST");
    check_sort_with("nulls_first", "id", "id NULLS LAST", "id@0 ASC NULLS LAST");
}

static void a_constant_orders_nothing(void **state)
{
    check_sort("1 AS one, id", "one", "");
    check_sort("1 AS one, id", "one, id", "id@0 ASC NULLS LAST");
}

static void sort_and_limit_are_below_the_projection(void **state)
{
    check_plan("SELECT id + 1 FROM t WHERE flag ORDER BY price DESC LIMIT 5 OFFSET 2", "Projection: id@0 + 1\n"
                                                                                       "  Limit: skip=2, fetch=5\n"
                                                                                       "    Sort: price@2 DESC\n"
                                                                                       "      Filter: flag@5\n"
                                                                                       "        " SCAN);
    check_plan("SELECT 1", "Projection: 1\n  EmptyRelation: rows=1\n");
    check_plan("SELECT FROM t", "Projection: \n  " SCAN);
}

/* The limit of `SELECT 1 FROM t suffix`. */
static void check_limit(const char *suffix, const char *expected)
{
    _cleanup_(binding_reset) struct binding binding;
    _cleanup_(strbuf_reset) struct strbuf sql = {0}, text = {0};
    binding_init(&binding);
    assert_ok(strbuf_printf(&sql, "SELECT 1 FROM t %s", suffix));
    assert_ok(bind_sql(&binding, strbuf_text(&sql)));
    const struct logical_plan *limit = find_node(binding.statement.plan, LOGICAL_LIMIT);
    if (limit != NULL)
        assert_ok(strbuf_printf(&text, "%d %d", (int)limit->limit.offset, (int)limit->limit.fetch));
    assert_string_equal(strbuf_text(&text), expected);
}

static void limit_and_offset_take_constants_and_null_is_none(void **state)
{
    check_limit("LIMIT 5", "0 5");
    check_limit("LIMIT 0", "0 0");
    check_limit("LIMIT 2 + 3 OFFSET 10 - 1", "9 5");
    check_limit("OFFSET 3", "3 -1");
    check_limit("OFFSET 3 ROWS FETCH NEXT 2 ROWS ONLY", "3 2");
    check_limit("FETCH FIRST ROW ONLY", "0 1");
    check_limit("LIMIT ALL", "");
    check_limit("LIMIT NULL OFFSET NULL", "");
    check_limit("LIMIT ALL OFFSET 0", "");
    check_limit("LIMIT '7'", "0 7");
    check_limit("LIMIT CAST(NULL AS int)", "");
}

static void a_limit_that_is_no_row_count_is_refused_where_it_stands(void **state)
{
    check_refused("SELECT 1 FROM t LIMIT -1", KITH_ERROR_INVALID_ARGUMENT, "LIMIT must not be negative", "-1");
    check_refused("SELECT 1 FROM t OFFSET 1 - 2", KITH_ERROR_INVALID_ARGUMENT, "OFFSET must not be negative", "1 - 2");
    check_refused("SELECT 1 FROM t LIMIT 'x'", KITH_ERROR_INVALID_TEXT, "x", "'x'");
    check_refused("SELECT 1 FROM t LIMIT id", KITH_ERROR_INVALID_ARGUMENT, "LIMIT must not read columns", "id");
    check_refused("SELECT 1 FROM t LIMIT 1/0", KITH_ERROR_DIVISION_BY_ZERO, "division by zero", "1/0");
    check_refused("SELECT 1 FROM t FETCH FIRST 1 ROW WITH TIES", KITH_ERROR_SYNTAX, "", NULL);
    check_refused("SELECT id FROM t ORDER BY id FETCH FIRST 1 ROW WITH TIES", KITH_ERROR_NOT_IMPLEMENTED, "WITH TIES",
                  "TIES");
}

static void what_is_not_implemented_is_named_where_it_stands(void **state)
{
    static const struct {
        const char *sql, *what, *at;
    } refusals[] = {
        {"SELECT 1 UNION SELECT 2", "UNION without ALL", "UNION"},
        {"SELECT 1 INTERSECT SELECT 2", "INTERSECT", "INTERSECT"},
        {"SELECT 1 EXCEPT SELECT 2", "EXCEPT", "EXCEPT"},
        {"WITH RECURSIVE x AS (SELECT 1) SELECT id FROM t", "WITH RECURSIVE", "RECURSIVE"},
        {"WITH x AS (DELETE FROM t) SELECT id FROM t", "WITH of anything but SELECT", "x AS"},
        {"SELECT 1 FROM LATERAL (SELECT 1) AS x", "LATERAL", "LATERAL"},
        {"SELECT DISTINCT id FROM t", "SELECT DISTINCT", "DISTINCT"},
        {"SELECT id FROM t GROUP BY id", "GROUP BY", "GROUP"},
        {"SELECT 1 FROM t HAVING true", "HAVING", "HAVING"},
        {"SELECT id FROM t WINDOW w AS (ORDER BY id)", "WINDOW", "WINDOW"},
        {"VALUES (1)", "VALUES", "VALUES"},
        {"SELECT id INTO x FROM t", "SELECT INTO", "INTO"},
        {"SELECT id FROM t FOR UPDATE", "FOR UPDATE", "FOR"},
        {"SELECT 1 FROM t, t AS u", "joins", "FROM"},
        {"SELECT 1 FROM t JOIN t AS u ON true", "joins", "JOIN"},
        {"SELECT 1 FROM t TABLESAMPLE SYSTEM (1)", "this form of FROM", "FROM"},
        {"SELECT id, count(*) FROM t", "aggregate functions", "count"},
        {"SELECT id, sum(id) FROM t", "aggregate functions", "sum"},
        {"SELECT id, row_number() OVER () FROM t", "window functions", "row_number"},
        {"SELECT id, (SELECT 1) FROM t", "a subquery in an expression", "(SELECT 1)"},
        {"SELECT id FROM t WHERE id IN (SELECT 1)", "a subquery in an expression", "IN"},
        {"SELECT id FROM t WHERE EXISTS (SELECT 1)", "a subquery in an expression", "EXISTS"},
        {"SELECT id + $1 FROM t", "a parameter", "$1"},
        {"SELECT id, ARRAY[1] FROM t", "this kind of expression", "ARRAY"},
        {"SELECT id, ROW(1, 2) FROM t", "this kind of expression", "ROW"},
        {"SELECT id, name COLLATE \"C\" FROM t", "this kind of expression", "COLLATE"},
        {"SELECT id, current_date FROM t", "this kind of expression", "current_date"},
        {"SELECT id, name SIMILAR TO 'x' FROM t", "this form of expression", "SIMILAR"},
        {"SELECT id FROM t WHERE id BETWEEN SYMMETRIC 2 AND 1", "this form of expression", "BETWEEN"},
        {"SELECT id FROM t WHERE id = ANY (ARRAY[1])", "this form of expression", "="},
        {"SELECT id, name LIKE 'x' ESCAPE '!' FROM t", "LIKE with ESCAPE", "LIKE"},
        {"SELECT id, @ id FROM t", "this prefix operator", "@"},
        {"INSERT INTO t VALUES (1)", "this kind of statement", "INSERT"},
        {"CREATE TABLE x (a int)", "this kind of statement", "CREATE"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
        check_refused(refusals[i].sql, KITH_ERROR_NOT_IMPLEMENTED, refusals[i].what, refusals[i].at);
}

static void deep_expressions_are_refused_by_the_limit(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf sql = {0};
    assert_ok(strbuf_append_text(&sql, "SELECT 1"));
    for (int i = 0; i < 300; i++)
        assert_ok(strbuf_append_text(&sql, "+1"));
    check_refused(strbuf_text(&sql), KITH_ERROR_LIMIT, "SQL_NESTING", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_by_takes_a_position_a_name_of_the_select_list_or_an_expression),
        cmocka_unit_test(a_wrong_sort_target_is_refused_where_it_stands),
        cmocka_unit_test(nulls_are_where_the_query_or_else_the_setting_says),
        cmocka_unit_test(a_constant_orders_nothing),
        cmocka_unit_test(sort_and_limit_are_below_the_projection),
        cmocka_unit_test(limit_and_offset_take_constants_and_null_is_none),
        cmocka_unit_test(a_limit_that_is_no_row_count_is_refused_where_it_stands),
        cmocka_unit_test(what_is_not_implemented_is_named_where_it_stands),
        cmocka_unit_test(deep_expressions_are_refused_by_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
