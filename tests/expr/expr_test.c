#include "expr/trees.h"

#include "base/limits.h"

static struct batch *sample_batch(void)
{
    _cleanup_(array_unref) struct array *a = INTS(type_of(TYPE_INT64), 1, 2);
    _cleanup_(array_unref) struct array *b = INTS(type_of(TYPE_INT64), 3, 4);
    _cleanup_(array_unref) struct array *c = TEXTS("x", NULL);
    return batch_of((struct array *[]){a, b, c}, 3);
}

static void check_format(const struct expr *expr, const char *expected)
{
    _cleanup_(strbuf_reset) struct strbuf shown = {0};
    assert_ok(expr_format(expr, &shown));
    assert_string_equal(strbuf_text(&shown), expected);
}

static void chains_of_and_are_one_node(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(batch_unref) struct batch *batch = sample_batch();
    const struct expr *a = binary(&arena, OP_GT, column(&arena, batch, 0), integer(&arena, 1));
    const struct expr *b = binary(&arena, OP_LT, column(&arena, batch, 1), integer(&arena, 9));
    const struct expr *chain =
        logical(&arena, EXPR_AND, logical(&arena, EXPR_AND, a, b), logical(&arena, EXPR_OR, a, b));
    assert_int_equal(chain->operand_count, 3);
    assert_int_equal(chain->depth, 4);
    check_format(chain, "a@0 > 1 AND b@1 < 9 AND (a@0 > 1 OR b@1 < 9)");
    const struct expr *alone = NULL;
    assert_ok(expr_logical(&arena, EXPR_AND, &a, 1, &alone));
    assert_ptr_equal(alone, a);
}

static void text_has_the_parentheses_it_needs(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(batch_unref) struct batch *batch = sample_batch();
    const struct expr *a = column(&arena, batch, 0), *b = column(&arena, batch, 1), *c = column(&arena, batch, 2);
    const struct expr *one = integer(&arena, 1), *like = NULL, *in = NULL, *choice = NULL;
    const struct expr *sum = binary(&arena, OP_ADD, a, one);
    check_format(binary(&arena, OP_MULTIPLY, sum, b), "(a@0 + 1) * b@1");
    check_format(binary(&arena, OP_ADD, binary(&arena, OP_MULTIPLY, a, b), one), "a@0 * b@1 + 1");
    check_format(binary(&arena, OP_SUBTRACT, a, binary(&arena, OP_SUBTRACT, b, one)), "a@0 - (b@1 - 1)");
    check_format(binary(&arena, OP_SUBTRACT, binary(&arena, OP_SUBTRACT, a, b), one), "a@0 - b@1 - 1");
    assert_ok(expr_like(&arena, c, text(&arena, "%a%"), true, false, &like));
    check_format(like, "c@2 NOT LIKE %a%");
    check_format(unary(&arena, EXPR_NOT, logical(&arena, EXPR_OR, like, like)),
                 "NOT (c@2 NOT LIKE %a% OR c@2 NOT LIKE %a%)");
    assert_ok(expr_in_list(&arena, (const struct expr *[]){sum, one, b}, 3, false, &in));
    check_format(in, "a@0 + 1 IN ([1, b@1])");
    assert_ok(expr_case(&arena, (const struct expr *[]){in, a, b}, 3, &choice));
    check_format(choice, "CASE WHEN a@0 + 1 IN ([1, b@1]) THEN a@0 ELSE b@1 END");
    check_format(cast_to(&arena, unary(&arena, EXPR_NEGATIVE, a), type_of(TYPE_INT32)), "CAST((- a@0) AS Int32)");
    check_format(unary(&arena, EXPR_IS_NOT_NULL, CALL(&arena, "coalesce", a, b)), "coalesce(a@0, b@1) IS NOT NULL");
}

static void operator_names_are_read_back(void **state)
{
    for (int i = OP_EQ; i <= OP_CONCAT; i++) {
        enum binary_operator operation;
        assert_ok(binary_operator_from_name(binary_operator_name((enum binary_operator)i), &operation));
        assert_int_equal(operation, i);
    }
    enum binary_operator operation;
    assert_fails(binary_operator_from_name("<=>", &operation), KITH_ERROR_NOT_IMPLEMENTED, "<=>");
}

static void operands_that_do_not_fit_are_refused(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(batch_unref) struct batch *batch = sample_batch();
    const struct expr *a = column(&arena, batch, 0), *c = column(&arena, batch, 2), *out = NULL;
    struct data_type list = type_of(TYPE_LIST);
    assert_fails(expr_binary(&arena, OP_EQ, a, c, &out), KITH_ERROR_TYPE_MISMATCH, "Int64 with Utf8");
    assert_fails(expr_binary(&arena, OP_ADD, a, c, &out), KITH_ERROR_TYPE_MISMATCH, "Int64 + Utf8");
    assert_fails(expr_binary(&arena, OP_CONCAT, a, c, &out), KITH_ERROR_TYPE_MISMATCH, "Int64 and Utf8");
    assert_fails(expr_logical(&arena, EXPR_AND, (const struct expr *[]){a, a}, 2, &out), KITH_ERROR_TYPE_MISMATCH,
                 "Boolean, not Int64");
    assert_fails(expr_unary(&arena, EXPR_NEGATIVE, c, &out), KITH_ERROR_TYPE_MISMATCH, "Utf8");
    assert_fails(expr_like(&arena, a, c, false, false, &out), KITH_ERROR_TYPE_MISMATCH, "Int64");
    assert_fails(expr_in_list(&arena, (const struct expr *[]){a, c}, 2, false, &out), KITH_ERROR_TYPE_MISMATCH, "Utf8");
    assert_fails(expr_cast(&arena, EXPR_CAST, a, &list, &out), KITH_ERROR_NOT_IMPLEMENTED, "Int64 to List");
    assert_fails(expr_case(&arena, (const struct expr *[]){a, a}, 2, &out), KITH_ERROR_TYPE_MISMATCH, "WHEN");
    assert_fails(expr_column(&arena, batch->schema, 3, &out), KITH_ERROR_UNDEFINED_COLUMN, "column 3");
}

static void depth_is_limited(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    const struct expr *expr = integer(&arena, 1);
    for (int depth = 1; depth < LIMIT_SQL_NESTING; depth++)
        expr = unary(&arena, EXPR_NEGATIVE, expr);
    const struct expr *out = NULL;
    assert_fails(expr_unary(&arena, EXPR_NEGATIVE, expr, &out), KITH_ERROR_LIMIT, "SQL_NESTING");
    check_constant(expr, "-1");
}

static void nullability_follows_the_operands(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(batch_unref) struct batch *batch = sample_batch();
    const struct expr *a = column(&arena, batch, 0), *one = integer(&arena, 1), *choice = NULL;
    assert_true(binary(&arena, OP_ADD, a, one)->nullable);
    assert_false(binary(&arena, OP_ADD, one, one)->nullable);
    assert_false(binary(&arena, OP_IS_DISTINCT, a, one)->nullable);
    assert_false(unary(&arena, EXPR_IS_NULL, a)->nullable);
    assert_false(CALL(&arena, "coalesce", a, one)->nullable);
    const struct expr *yes = binary(&arena, OP_EQ, one, one);
    assert_ok(expr_case(&arena, (const struct expr *[]){yes, one}, 2, &choice));
    assert_true(choice->nullable);
    assert_ok(expr_case(&arena, (const struct expr *[]){yes, one, one}, 3, &choice));
    assert_false(choice->nullable);
}

static void columns_are_found_and_moved(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(batch_unref) struct batch *batch = sample_batch();
    const struct expr *a = column(&arena, batch, 0), *b = column(&arena, batch, 1);
    const struct expr *expr = binary(&arena, OP_ADD, a, binary(&arena, OP_MULTIPLY, b, integer(&arena, 2)));
    bool used[3] = {false};
    expr_columns(expr, used);
    assert_true(used[0] && used[1] && !used[2]);
    const struct expr *moved = NULL, *back = NULL;
    assert_ok(expr_remap(&arena, expr, (const size_t[]){5, 0, SIZE_MAX}, &moved));
    check_format(moved, "a@5 + b@0 * 2");
    assert_false(expr_equal(expr, moved));
    assert_ok(expr_remap(&arena, moved, (const size_t[]){1, 9, 9, 9, 9, 0}, &back));
    assert_true(expr_equal(expr, back));
    assert_ok(expr_remap(&arena, expr, (const size_t[]){0, SIZE_MAX, 2}, &moved));
    assert_null(moved);
    assert_false(expr_is_constant(expr));
}

static void columns_are_replaced_by_what_a_projection_computes(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(batch_unref) struct batch *batch = sample_batch();
    const struct expr *a = column(&arena, batch, 0), *b = column(&arena, batch, 1), *result = NULL;
    const struct expr *computed[] = {binary(&arena, OP_ADD, b, integer(&arena, 1)), a};
    const struct expr *expr = binary(&arena, OP_MULTIPLY, a, binary(&arena, OP_ADD, b, integer(&arena, 2)));
    assert_ok(expr_substitute(&arena, expr, computed, &result));
    check_format(result, "(b@1 + 1) * (a@0 + 2)");
    assert_int_equal(result->depth, 3);
    assert_ok(expr_substitute(&arena, integer(&arena, 2), computed, &result));
    check_format(result, "2");
}

static void a_result_too_large_or_too_deep_is_not_made(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(batch_unref) struct batch *batch = sample_batch();
    const struct expr *a = column(&arena, batch, 0), *twice = binary(&arena, OP_ADD, a, a), *wide = twice, *deep = a;
    const struct expr *wider = twice;
    for (int i = 0; i < 8; i++) {
        assert_non_null(wider);
        wide = wider;
        assert_ok(expr_substitute(&arena, twice, &wide, &wider));
    }
    assert_null(wider); /* 1023 nodes */
    for (int i = 0; i < 200; i++)
        deep = unary(&arena, EXPR_NEGATIVE, deep);
    const struct expr *deeper = NULL;
    assert_ok(expr_substitute(&arena, deep, &a, &deeper));
    assert_non_null(deeper);
    assert_ok(expr_substitute(&arena, deep, &deep, &deeper));
    assert_null(deeper);
}

static void equality_sees_operators_types_and_literals(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    const struct expr *one = integer(&arena, 1), *two = integer(&arena, 2), *placed = NULL;
    const struct expr *sum = binary(&arena, OP_ADD, one, two);
    assert_true(expr_equal(sum, binary(&arena, OP_ADD, integer(&arena, 1), integer(&arena, 2))));
    assert_false(expr_equal(sum, binary(&arena, OP_SUBTRACT, one, two)));
    assert_false(expr_equal(sum, binary(&arena, OP_ADD, two, one)));
    assert_false(expr_equal(one, null_of(&arena, TYPE_INT64)));
    assert_false(expr_equal(null_of(&arena, TYPE_INT32), null_of(&arena, TYPE_INT64)));
    assert_ok(expr_at(&arena, sum, 17, &placed));
    assert_true(expr_equal(sum, placed));
    assert_int_equal(placed->sql_offset, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_of_and_are_one_node),
        cmocka_unit_test(text_has_the_parentheses_it_needs),
        cmocka_unit_test(operator_names_are_read_back),
        cmocka_unit_test(operands_that_do_not_fit_are_refused),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(nullability_follows_the_operands),
        cmocka_unit_test(columns_are_found_and_moved),
        cmocka_unit_test(columns_are_replaced_by_what_a_projection_computes),
        cmocka_unit_test(a_result_too_large_or_too_deep_is_not_made),
        cmocka_unit_test(equality_sees_operators_types_and_literals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
