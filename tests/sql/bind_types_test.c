#include "sql/binding.h"

/* Expected types follow PostgreSQL where it has the type, and DuckDB and DataFusion otherwise. */
static void literals_have_the_type_that_holds_what_is_written(void **state)
{
    check_expr("1", "1 Int64");
    check_expr("-1", "-1 Int64");
    check_expr("9223372036854775807", "9223372036854775807 Int64");
    check_expr("-9223372036854775808", "-9223372036854775808 Int64");
    check_expr("9223372036854775808", "9223372036854775808 Decimal128(19, 0)");
    check_expr("1.50", "1.50 Decimal64(3, 2)");
    check_expr("-1.50", "-1.50 Decimal64(3, 2)");
    check_expr("0.001", "0.001 Decimal64(3, 3)");
    check_expr("1e3", "1000.0 Float64");
    check_expr("'it''s'", "it's Utf8");
    check_expr("E'a\\tb'", "a\tb Utf8");
    check_expr("true", "true Boolean");
    check_expr("NULL", "NULL Null");
    check_expr("DATE '2020-02-29'", "2020-02-29 Date32");
    check_expr("TIMESTAMP '2020-02-29 12:00:00.5'", "2020-02-29 12:00:00.5 Timestamp(Microsecond)");
    check_refused("SELECT 1e400", KITH_ERROR_OUT_OF_RANGE, "1e400", "1e400");
    check_refused("SELECT B'1'", KITH_ERROR_NOT_IMPLEMENTED, "bit string", "B'1'");
}

static void types_are_those_of_postgresql_and_duckdb(void **state)
{
    check_expr("CAST(id AS int)", "CAST(id@0 AS Int32) Int32");
    check_expr("id::smallint", "CAST(id@0 AS Int16) Int16");
    check_expr("id::real", "CAST(id@0 AS Float32) Float32");
    check_expr("id::double precision", "CAST(id@0 AS Float64) Float64");
    check_expr("id::text", "CAST(id@0 AS Utf8) Utf8");
    check_expr("id::varchar(10)", "CAST(id@0 AS Utf8) Utf8");
    check_expr("id::numeric", "CAST(id@0 AS Decimal128(38, 10)) Decimal128(38, 10)");
    check_expr("id::numeric(5)", "CAST(id@0 AS Decimal64(5, 0)) Decimal64(5, 0)");
    check_expr("id::decimal(20,2)", "CAST(id@0 AS Decimal128(20, 2)) Decimal128(20, 2)");
    check_expr("day::timestamp", "CAST(day@6 AS Timestamp(Microsecond)) Timestamp(Microsecond)");
    check_expr("day::timestamp(9)", "CAST(day@6 AS Timestamp(Nanosecond)) Timestamp(Nanosecond)");
    check_expr("at::timestamptz", "CAST(at@7 AS Timestamp(Microsecond, \"UTC\")) Timestamp(Microsecond, "
                                  "\"UTC\")");
    check_expr("id::bigint", "id@0 Int64");
    check_refused("SELECT id::decimal(39,2) FROM t", KITH_ERROR_INVALID_ARGUMENT, "precision of 1 to 38", "decimal");
    check_refused("SELECT id::decimal(3,5) FROM t", KITH_ERROR_INVALID_ARGUMENT, "scale of 0", "decimal");
    check_refused("SELECT day::timestamp(12) FROM t", KITH_ERROR_INVALID_ARGUMENT, "0 to 9 digits", "timestamp");
    check_refused("SELECT id::bigit FROM t", KITH_ERROR_NOT_IMPLEMENTED, "there is no type \"bigit\"", "bigit");
    check_hint("SELECT id::bigit FROM t", "Did you mean \"bigint\"?");
    check_refused("SELECT id::int[] FROM t", KITH_ERROR_NOT_IMPLEMENTED, "array type", "int[]");
}

/* A cast on a column would stand in the way of its statistics. */
static void a_literal_that_fits_takes_the_columns_type_so_that_no_cast_is_on_the_column(void **state)
{
    check_filter("small < 5", "small@1 < 5");
    check_filter("5 > small", "5 > small@1");
    check_filter("price > 100", "price@2 > 100.00");
    check_filter("price > 1.5", "price@2 > 1.50");
    check_filter("price > -1.5", "price@2 > -1.50");
    check_filter("id < 5.0", "id@0 < 5");
    check_filter("id = '5'", "id@0 = 5");
    check_filter("score > 1", "score@3 > 1.0");
    check_filter("score > 0.1", "score@3 > 0.1");
    check_filter("day >= '2020-01-31'", "day@6 >= 2020-01-31");
    check_filter("day >= TIMESTAMP '2020-01-31 00:00:00'", "day@6 >= 2020-01-31");
    check_filter("at >= DATE '2020-01-31'", "at@7 >= 2020-01-31 00:00:00");
    check_filter("at >= '2020-01-31 01:02:03'", "at@7 >= 2020-01-31 01:02:03");
    check_filter("small IN (1, 2, NULL)", "small@1 IN ([1, 2, NULL])");
    check_filter("price BETWEEN 1 AND 2.5", "price@2 >= 1.00 AND price@2 <= 2.50");
    check_filter("flag = 'true'", "flag@5 = true");
}

static void a_literal_that_does_not_fit_makes_the_column_be_cast(void **state)
{
    check_filter("small < 100000", "CAST(small@1 AS Int64) < 100000");
    check_filter("id < 5.5", "CAST(id@0 AS Decimal128(20, 1)) < 5.5");
    check_filter("price > 1.555", "CAST(price@2 AS Decimal64(16, 3)) > 1.555");
    check_filter("day > TIMESTAMP '2020-01-31 12:00:00'",
                 "CAST(day@6 AS Timestamp(Microsecond)) > 2020-01-31 12:00:00");
    check_filter("id = score", "CAST(id@0 AS Float64) = score@3");
    check_filter("small = id", "CAST(small@1 AS Int64) = id@0");
    check_filter("day = at", "CAST(day@6 AS Timestamp(Microsecond)) = at@7");
}

static void arithmetic_meets_at_a_common_type(void **state)
{
    check_expr("small + 1", "small@1 + 1 Int16");
    check_expr("id + small", "id@0 + CAST(small@1 AS Int64) Int64");
    check_expr("id / 2", "id@0 / 2 Int64");
    check_expr("score * 2", "score@3 * 2.0 Float64");
    check_expr("price * 2", "price@2 * 2 Decimal64(17, 2)");
    check_expr("price * 1.5", "price@2 * 1.5 Decimal64(18, 3)");
    check_expr("price + 1", "price@2 + 1 Decimal64(16, 2)");
    check_expr("1 - price", "1 - price@2 Decimal64(16, 2)");
    check_expr("price * -100", "price@2 * -100 Decimal128(19, 2)");
    check_expr("price * id", "price@2 * CAST(id@0 AS Decimal128(19, 0)) Decimal128(35, 2)");
    check_expr("price * 0.5e0", "CAST(price@2 AS Float64) * 0.5 Float64");
    check_expr("day + 1", "day@6 + 1 Date32");
    check_expr("day - day", "day@6 - day@6 Int64");
    check_expr("name || id", "name@4 || CAST(id@0 AS Utf8) Utf8");
    check_expr("mod(id, 3)", "id@0 % 3 Int64");
}

static void case_and_coalesce_give_one_type(void **state)
{
    check_expr("CASE WHEN flag THEN 1 ELSE 2.5 END", "CASE WHEN flag@5 THEN 1.0 ELSE 2.5 END Decimal128(20, 1)");
    check_expr("CASE WHEN flag THEN small END", "CASE WHEN flag@5 THEN small@1 END Int16");
    check_expr("CASE small WHEN 1 THEN 'a' ELSE 'b' END", "CASE WHEN small@1 = 1 THEN a ELSE b END Utf8");
    check_expr("CASE WHEN flag THEN day ELSE '2020-01-01' END",
               "CASE WHEN flag@5 THEN day@6 ELSE 2020-01-01 END Date32");
    check_expr("coalesce(small, id, NULL)", "coalesce(CAST(small@1 AS Int64), id@0, NULL) Int64");
    check_refused("SELECT id, CASE WHEN flag THEN 1 ELSE name END FROM t", KITH_ERROR_TYPE_MISMATCH,
                  "no common type of Int64 and Utf8", "CASE");
    check_refused("SELECT 1 + coalesce(id, name) FROM t", KITH_ERROR_TYPE_MISMATCH, "Int64 and Utf8", "coalesce");
    check_refused("SELECT 1 + greatest(id, name) FROM t", KITH_ERROR_TYPE_MISMATCH, "Int64 and Utf8", "greatest");
}

static void a_literal_that_is_not_of_its_type_is_refused_where_it_stands(void **state)
{
    check_refused("SELECT id FROM t WHERE id = 'abc'", KITH_ERROR_INVALID_TEXT, "abc", "'abc'");
    check_refused("SELECT id FROM t WHERE id IN (1, 'abc')", KITH_ERROR_INVALID_TEXT, "abc", "'abc'");
    check_refused("SELECT id FROM t WHERE day < '2020-02-30'", KITH_ERROR_OUT_OF_RANGE, "2020-02-30", "'2020-02-30'");
    check_refused("SELECT CAST('x' AS int)", KITH_ERROR_INVALID_TEXT, "x", "'x'");
    check_refused("SELECT 'ä', DATE 'x'", KITH_ERROR_INVALID_TEXT, "x", "'x'");
}

static void what_cannot_be_compared_is_refused(void **state)
{
    check_refused("SELECT id FROM t WHERE name > 5", KITH_ERROR_TYPE_MISMATCH, "cannot compare Utf8 and Int64", "name");
    check_hint("SELECT id FROM t WHERE name > 5", "cast");
    check_refused("SELECT id FROM t WHERE flag = 1", KITH_ERROR_TYPE_MISMATCH, "cannot compare Boolean and Int64",
                  "flag");
    check_refused("SELECT id FROM t WHERE day = 5", KITH_ERROR_TYPE_MISMATCH, "Date32 and Int64", "day");
    check_refused("SELECT name + 1 FROM t", KITH_ERROR_TYPE_MISMATCH, "Utf8", "name");
    check_refused("SELECT -name FROM t", KITH_ERROR_TYPE_MISMATCH, "Utf8", "-name");
    check_refused("SELECT id LIKE 'x' FROM t", KITH_ERROR_TYPE_MISMATCH, "LIKE", "id LIKE");
}

static void a_condition_must_be_boolean(void **state)
{
    check_refused("SELECT id FROM t WHERE id", KITH_ERROR_TYPE_MISMATCH,
                  "WHERE takes a condition, not a value of type "
                  "Int64",
                  "id");
    check_refused("SELECT id FROM t WHERE flag AND name", KITH_ERROR_TYPE_MISMATCH, "AND takes a condition", "name");
    check_refused("SELECT id FROM t WHERE NOT (id + 1)", KITH_ERROR_TYPE_MISMATCH, "NOT takes a condition", "id + 1");
    check_refused("SELECT CASE WHEN 1 THEN 2 END", KITH_ERROR_TYPE_MISMATCH, "WHEN takes a condition", "1 THEN");
    check_refused("SELECT id FROM t WHERE id IS TRUE", KITH_ERROR_TYPE_MISMATCH, "IS takes a condition", "id IS");
    check_filter("NULL", "NULL");
    check_filter("flag OR NULL", "flag@5 OR NULL");
}

static void conditions_are_bound_to_their_meaning(void **state)
{
    check_filter("id BETWEEN 1 AND 3", "id@0 >= 1 AND id@0 <= 3");
    check_filter("id NOT BETWEEN 1 AND 3", "id@0 < 1 OR id@0 > 3");
    check_filter("id NOT IN (1, 2)", "id@0 NOT IN ([1, 2])");
    check_filter("name IS NULL AND flag IS NOT NULL", "name@4 IS NULL AND flag@5 IS NOT NULL");
    check_filter("flag IS TRUE", "flag@5 IS NOT DISTINCT FROM true");
    check_filter("flag IS NOT FALSE", "flag@5 IS DISTINCT FROM false");
    check_filter("flag IS UNKNOWN", "flag@5 IS NULL");
    check_filter("flag IS NOT UNKNOWN", "flag@5 IS NOT NULL");
    check_filter("id IS DISTINCT FROM NULL", "id@0 IS DISTINCT FROM NULL");
    check_filter("name LIKE 'a%'", "name@4 LIKE a%");
    check_filter("name NOT ILIKE 'a%'", "name@4 NOT ILIKE a%");
    check_filter("name LIKE lower('A%')", "name@4 LIKE lower(A%)");
    check_filter("flag AND id = 1 AND id = 2 OR NOT flag", "flag@5 AND id@0 = 1 AND id@0 = 2 OR NOT flag@5");
    check_filter("id <> 1 AND id != 2", "id@0 != 1 AND id@0 != 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_have_the_type_that_holds_what_is_written),
        cmocka_unit_test(types_are_those_of_postgresql_and_duckdb),
        cmocka_unit_test(a_literal_that_fits_takes_the_columns_type_so_that_no_cast_is_on_the_column),
        cmocka_unit_test(a_literal_that_does_not_fit_makes_the_column_be_cast),
        cmocka_unit_test(arithmetic_meets_at_a_common_type),
        cmocka_unit_test(case_and_coalesce_give_one_type),
        cmocka_unit_test(a_literal_that_is_not_of_its_type_is_refused_where_it_stands),
        cmocka_unit_test(what_cannot_be_compared_is_refused),
        cmocka_unit_test(a_condition_must_be_boolean),
        cmocka_unit_test(conditions_are_bound_to_their_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
