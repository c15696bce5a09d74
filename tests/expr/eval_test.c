#include "expr/trees.h"

/* Selected rows of the batch after the filter, by number. */
static void check_filter(const struct expr *expr, struct batch *batch, const uint32_t *rows, size_t count)
{
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    _cleanup_(batch_unref) struct batch *filtered = NULL;
    assert_ok(evaluator_new(expr, &evaluator));
    assert_ok(evaluator_filter(evaluator, batch, &filtered));
    assert_int_equal(batch_row_count(filtered), count);
    for (size_t k = 0; k < count; k++)
        assert_int_equal(selected_row(filtered->selection, k), rows[k]);
}

static void an_operand_is_evaluated_only_where_it_decides(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(array_unref) struct array *values = INTS(type_of(TYPE_INT64), 0, 5, NOTHING, 20, 0, 3);
    _cleanup_(batch_unref) struct batch *batch = batch_of(&values, 1);
    const struct expr *a = column(&arena, batch, 0), *zero = integer(&arena, 0);
    const struct expr *quotient = binary(&arena, OP_DIVIDE, integer(&arena, 10), a);
    const struct expr *large = binary(&arena, OP_GE, quotient, integer(&arena, 2));
    const struct expr *both = logical(&arena, EXPR_AND, binary(&arena, OP_NE, a, zero), large);
    const struct expr *either = logical(&arena, EXPR_OR, binary(&arena, OP_EQ, a, zero), large);
    check_values(both, batch, "false,true,NULL,false,false,true");
    check_values(either, batch, "true,true,NULL,false,true,true");
    check_filter(both, batch, (const uint32_t[]){1, 5}, 2);
    check_filter(either, batch, (const uint32_t[]){0, 1, 4, 5}, 4);

    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    struct batch *out = NULL;
    assert_ok(evaluator_new(logical(&arena, EXPR_AND, large, binary(&arena, OP_NE, a, zero)), &evaluator));
    assert_fails(evaluator_filter(evaluator, batch, &out), KITH_ERROR_DIVISION_BY_ZERO, "evaluating 10 / a@0");
}

static void case_evaluates_the_branch_that_is_taken(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(array_unref) struct array *values = INTS(type_of(TYPE_INT64), 0, 5, NOTHING, 20);
    _cleanup_(batch_unref) struct batch *batch = batch_of(&values, 1);
    const struct expr *a = column(&arena, batch, 0), *choice = NULL, *texts = NULL;
    const struct expr *is_zero = binary(&arena, OP_EQ, a, integer(&arena, 0));
    const struct expr *is_small = binary(&arena, OP_LT, a, integer(&arena, 10));
    const struct expr *quotient = binary(&arena, OP_DIVIDE, integer(&arena, 10), a);
    assert_ok(expr_case(&arena, (const struct expr *[]){is_zero, integer(&arena, -1), quotient}, 3, &choice));
    check_values(choice, batch, "-1,2,NULL,0");
    assert_ok(expr_case(
        &arena, (const struct expr *[]){is_zero, text(&arena, "none"), is_small, text(&arena, "a few, not many")}, 4,
        &texts));
    check_values(texts, batch, "none,a few, not many,NULL,NULL");
    check_values(CALL(&arena, "coalesce", a, binary(&arena, OP_ADD, integer(&arena, 7), integer(&arena, 0))), batch,
                 "0,5,7,20");
    /* 1 / 0 is not computed, since no row needs it. */
    const struct expr *failing = binary(&arena, OP_DIVIDE, integer(&arena, 1), integer(&arena, 0));
    check_values(CALL(&arena, "coalesce", a, integer(&arena, 8), failing), batch, "0,5,8,20");
}

static void errors_of_rows_that_are_not_selected_do_not_matter(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(array_unref) struct array *values = INTS(type_of(TYPE_INT64), 0, 5, INT64_MAX, 20);
    _cleanup_(batch_unref) struct batch *batch = batch_of(&values, 1);
    _cleanup_(batch_unref) struct batch *some = batch_selected(batch, (const uint32_t[]){1, 3}, 2);
    const struct expr *a = column(&arena, batch, 0), *placed = NULL;
    const struct expr *sum = binary(&arena, OP_ADD, a, integer(&arena, 1));
    assert_ok(expr_at(&arena, sum, 42, &placed));
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    _cleanup_(array_unref) struct array *result = NULL;
    assert_ok(evaluator_new(placed, &evaluator));
    assert_ok(evaluator_run(evaluator, some, &result));
    assert_int_equal(((const int64_t *)array_values(result))[1], 6);
    assert_int_equal(((const int64_t *)array_values(result))[3], 21);
    struct array *none = NULL;
    kith_error *error = evaluator_run(evaluator, batch, &none);
    assert_int_equal(kith_error_code(error), KITH_ERROR_OUT_OF_RANGE);
    assert_int_equal(kith_error_position(error), 43);
    error_free(error);
}

static void constants_are_computed_once_and_spread(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(array_unref) struct array *values = INTS(type_of(TYPE_INT64), 0, 5);
    _cleanup_(batch_unref) struct batch *batch = batch_of(&values, 1);
    const struct expr *sum = binary(&arena, OP_ADD, integer(&arena, 2), integer(&arena, 3));
    check_values(sum, batch, "5,5");
    check_constant(sum, "5");
    check_constant(binary(&arena, OP_CONCAT, text(&arena, "a"), text(&arena, "b")), "ab");
    check_constant(binary(&arena, OP_CONCAT, text(&arena, "a"), null_of(&arena, TYPE_UTF8)), "NULL");
    check_constant(unary(&arena, EXPR_IS_NULL, null_of(&arena, TYPE_INT64)), "true");
    check_constant(logical(&arena, EXPR_OR, null_of(&arena, TYPE_BOOL), binary(&arena, OP_EQ, sum, sum)), "true");
    check_filter(binary(&arena, OP_EQ, sum, integer(&arena, 5)), batch, (const uint32_t[]){0, 1}, 2);
    check_filter(null_of(&arena, TYPE_BOOL), batch, NULL, 0);
    struct scalar none;
    assert_fails(expr_evaluate_constant(column(&arena, batch, 0), &arena, &none), KITH_ERROR_INVALID_ARGUMENT,
                 "constant");
}

static void a_filter_that_keeps_all_gives_the_batch_itself(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(array_unref) struct array *values = INTS(type_of(TYPE_INT64), 1, 5);
    _cleanup_(batch_unref) struct batch *batch = batch_of(&values, 1), *filtered = NULL;
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    assert_ok(evaluator_new(binary(&arena, OP_GT, column(&arena, batch, 0), integer(&arena, 0)), &evaluator));
    assert_ok(evaluator_filter(evaluator, batch, &filtered));
    assert_ptr_equal(filtered, batch);
}

/* PostgreSQL: SELECT x IN (1, NULL), x NOT IN (1, NULL), x IN (1, x + 0) FROM (VALUES (1), (2), (NULL)) AS t(x) */
static void in_lists_know_null(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(array_unref) struct array *values = INTS(type_of(TYPE_INT64), 1, 2, NOTHING);
    _cleanup_(batch_unref) struct batch *batch = batch_of(&values, 1);
    const struct expr *a = column(&arena, batch, 0), *in = NULL, *one = integer(&arena, 1);
    const struct expr *null = null_of(&arena, TYPE_INT64), *same = binary(&arena, OP_ADD, a, integer(&arena, 0));
    assert_ok(expr_in_list(&arena, (const struct expr *[]){a, one, null}, 3, false, &in));
    check_values(in, batch, "true,NULL,NULL");
    check_filter(in, batch, (const uint32_t[]){0}, 1);
    assert_ok(expr_in_list(&arena, (const struct expr *[]){a, one, null}, 3, true, &in));
    check_values(in, batch, "false,NULL,NULL");
    assert_ok(expr_in_list(&arena, (const struct expr *[]){a, one, same}, 3, false, &in));
    check_values(in, batch, "true,true,NULL");
    assert_ok(expr_in_list(&arena, (const struct expr *[]){integer(&arena, 2), one, same}, 3, true, &in));
    check_values(in, batch, "true,false,NULL");
}

/* Trees over (a, b: Int64; c, d: Utf8) that may fail only by division. */
static const struct expr *sample_tree(struct arena *arena, const struct batch *batch, uint64_t *random, int depth)
{
    const struct expr *c = column(arena, batch, 2), *out = NULL, *left = NULL, *right = NULL;
    if (depth > 0) {
        left = sample_tree(arena, batch, random, depth - 1);
        right = sample_tree(arena, batch, random, depth - 1);
    }
    enum binary_operator operation = (enum binary_operator)(test_random(random) % (OP_IS_NOT_DISTINCT + 1));
    switch (depth == 0 ? test_random(random) % 5 : 5 + test_random(random) % 4) {
    case 0:
        return binary(arena, operation, column(arena, batch, 0), integer(arena, (int64_t)(test_random(random) % 20)));
    case 1:
        return binary(arena, operation, column(arena, batch, 0), column(arena, batch, 1));
    case 2:
        return binary(arena, operation, c, text(arena, "v3"));
    case 3:
        assert_ok(expr_like(arena, c, text(arena, "%1%"), test_random(random) % 2, false, &out));
        return out;
    case 4:
        assert_ok(expr_in_list(arena, (const struct expr *[]){c, text(arena, "v2"), text(arena, "v11")}, 3,
                               test_random(random) % 2, &out));
        return out;
    case 5:
        return unary(arena, EXPR_NOT, left);
    case 6:
        assert_ok(expr_case(arena, (const struct expr *[]){left, right, unary(arena, EXPR_IS_NULL, c)}, 3, &out));
        return out;
    case 7:
        return logical(arena, EXPR_OR, left, right);
    default:
        return logical(arena, EXPR_AND, left, right);
    }
}

static struct array *sample_texts(uint64_t *random, size_t rows)
{
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    struct data_type type = type_of(TYPE_UTF8);
    struct array *array = NULL;
    assert_ok(array_builder_new(&type, &builder));
    for (size_t i = 0; i < rows; i++) {
        char value[16];
        snprintf(value, sizeof value, "v%d", (int)(test_random(random) % 14));
        if (test_random(random) % 7 == 0)
            assert_ok(array_builder_append_null(builder));
        else
            assert_ok(array_builder_append_string(builder, str_of(value)));
    }
    assert_ok(array_builder_finish(builder, &array));
    return array;
}

static struct array *sample_small_ints(uint64_t *random, size_t rows)
{
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    struct data_type type = type_of(TYPE_INT64);
    struct array *array = NULL;
    assert_ok(array_builder_new(&type, &builder));
    for (size_t i = 0; i < rows; i++)
        assert_ok(test_random(random) % 7 == 0
                      ? array_builder_append_null(builder)
                      : array_builder_append_int(builder, (int64_t)(test_random(random) % 20)));
    assert_ok(array_builder_finish(builder, &array));
    return array;
}

/* A dictionary with the given values of a column, one a row, in reverse order, so that indices are not row numbers. */
static struct array *encode(struct array *plain)
{
    struct data_type type = type_of(TYPE_INT32);
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    _cleanup_(array_unref) struct array *indices = NULL, *values = NULL;
    _cleanup_free_ uint32_t *rows = NULL;
    struct array *encoded = NULL;
    assert_ok(NEW_ARRAY(&rows, plain->length));
    assert_ok(array_builder_new(&type, &builder));
    for (size_t i = 0; i < plain->length; i++) {
        rows[i] = (uint32_t)(plain->length - 1 - i);
        assert_ok(array_builder_append_int(builder, (int64_t)(plain->length - 1 - i)));
    }
    assert_ok(array_builder_finish(builder, &indices));
    assert_ok(array_take(plain, rows, plain->length, &values));
    assert_ok(array_new_dictionary(indices, values, &encoded));
    return encoded;
}

/* Of each selected row: evaluated alone, in a batch of one row, where nothing is skipped or shared. */
static int truth_alone(const struct expr *expr, struct batch *batch, size_t row)
{
    _cleanup_(batch_unref) struct batch *all = NULL, *one = NULL;
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    _cleanup_(array_unref) struct array *value = NULL;
    assert_ok(batch_select(batch, NULL, &all));
    assert_ok(batch_slice(all, row, 1, &one));
    assert_ok(evaluator_new(expr, &evaluator));
    assert_ok(evaluator_run(evaluator, one, &value));
    return array_is_null(value, 0) ? -1 : bitmap_get(value->values->data, value->offset);
}

static void check_tree(const struct expr *expr, struct batch *batch)
{
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    _cleanup_(array_unref) struct array *values = NULL;
    _cleanup_(batch_unref) struct batch *filtered = NULL;
    assert_ok(evaluator_new(expr, &evaluator));
    assert_ok(evaluator_run(evaluator, batch, &values));
    assert_ok(evaluator_filter(evaluator, batch, &filtered));
    size_t passed = 0;
    for (size_t k = 0; k < batch_row_count(batch); k++) {
        size_t row = selected_row(batch->selection, k);
        int want = truth_alone(expr, batch, row);
        int got = array_is_null(values, row) ? -1 : bitmap_get(values->values->data, values->offset + row);
        if (want != got) {
            _cleanup_(strbuf_reset) struct strbuf shown = {0};
            assert_ok(expr_format(expr, &shown));
            fail_msg("%s: row %zu is %d, alone %d", strbuf_text(&shown), row, got, want);
        }
        if (want == 1)
            assert_int_equal(selected_row(filtered->selection, passed++), row);
    }
    assert_int_equal(batch_row_count(filtered), passed);
}

static void batches_selections_and_dictionaries_give_what_rows_alone_give(void **state)
{
    uint64_t random = 5;
    for (int round = 0; round < 120; round++) {
        _cleanup_(arena_reset) struct arena arena = {0};
        size_t rows = 1 + test_random(&random) % 90;
        _cleanup_(array_unref) struct array *a = sample_small_ints(&random, rows),
                                            *b = sample_small_ints(&random, rows);
        _cleanup_(array_unref) struct array *c = sample_texts(&random, rows), *c_encoded = encode(c),
                                            *a_encoded = encode(a);
        _cleanup_(batch_unref) struct batch *plain = batch_of((struct array *[]){a, b, c}, 3);
        _cleanup_(batch_unref) struct batch *encoded = batch_of((struct array *[]){a_encoded, b, c_encoded}, 3);
        _cleanup_(selection_unref) struct selection *some = sample_selection(&random, rows, 1 + round % 6);
        _cleanup_(batch_unref) struct batch *plain_some = NULL, *encoded_some = NULL;
        assert_ok(batch_select(plain, some, &plain_some));
        assert_ok(batch_select(encoded, some, &encoded_some));
        const struct expr *tree = sample_tree(&arena, plain, &random, round % 4);
        check_tree(tree, plain);
        check_tree(tree, plain_some);
        check_tree(tree, encoded);
        check_tree(tree, encoded_some);
    }
}

/* A dictionary value that no selected row has may not fail the query: 'x' is no integer. */
static void unused_dictionary_values_do_not_fail(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(array_unref) struct array *plain = TEXTS("12", "x", NULL, "7"), *encoded = encode(plain);
    _cleanup_(batch_unref) struct batch *batch = batch_of(&encoded, 1);
    _cleanup_(batch_unref) struct batch *good = batch_selected(batch, (const uint32_t[]){0, 2, 3}, 3);
    const struct expr *number = cast_to(&arena, column(&arena, batch, 0), type_of(TYPE_INT64));
    check_filter(binary(&arena, OP_GT, number, integer(&arena, 10)), good, (const uint32_t[]){0}, 1);
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    struct array *none = NULL;
    assert_ok(evaluator_new(number, &evaluator));
    assert_fails(evaluator_run(evaluator, batch, &none), KITH_ERROR_INVALID_TEXT, "\"x\" is no Int64");
}

static void a_column_comes_as_it_is(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(array_unref) struct array *plain = TEXTS("12", "x"), *encoded = encode(plain), *result = NULL;
    _cleanup_(batch_unref) struct batch *batch = batch_of(&encoded, 1);
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    const struct expr *a = column(&arena, batch, 0);
    assert_false(type_is_dictionary(&a->type));
    assert_ok(evaluator_new(a, &evaluator));
    assert_ok(evaluator_run(evaluator, batch, &result));
    assert_ptr_equal(result->dictionary, encoded->dictionary);
}

/* Each allocation of building and running fails once. What was made until then is freed, which leak checkers see. */
struct evaluation {
    const struct expr *expr;
    struct batch *batch;
};

static kith_error *build_and_run(void *state)
{
    const struct evaluation *evaluation = state;
    struct batch *batch = evaluation->batch;
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    _cleanup_(array_unref) struct array *values = NULL;
    _cleanup_(batch_unref) struct batch *filtered = NULL;
    TRY(evaluator_new(evaluation->expr, &evaluator));
    TRY(evaluator_run(evaluator, batch, &values));
    return evaluator_filter(evaluator, batch, &filtered);
}

static void running_out_of_memory_is_an_error_at_any_place(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    uint64_t random = 8;
    _cleanup_(array_unref) struct array *a = sample_small_ints(&random, 40), *b = sample_small_ints(&random, 40);
    _cleanup_(array_unref) struct array *c = sample_texts(&random, 40), *encoded = encode(c);
    _cleanup_(batch_unref) struct batch *batch = batch_of((struct array *[]){a, b, encoded}, 3);
    const struct expr *x = column(&arena, batch, 0), *y = column(&arena, batch, 1), *z = column(&arena, batch, 2);
    const struct expr *like = NULL, *in = NULL, *choice = NULL;
    assert_ok(expr_like(&arena, CALL(&arena, "upper", z), text(&arena, "V%1"), false, false, &like));
    assert_ok(expr_in_list(&arena, (const struct expr *[]){z, text(&arena, "v2"), text(&arena, "v3")}, 3, true, &in));
    const struct expr *sum = binary(&arena, OP_ADD, x, CALL(&arena, "coalesce", y, integer(&arena, 3)));
    const struct expr *shown = cast_to(&arena, sum, type_of(TYPE_UTF8));
    const struct expr *equal = binary(&arena, OP_EQ, binary(&arena, OP_CONCAT, text(&arena, "v"), shown), z);
    assert_ok(expr_case(&arena, (const struct expr *[]){like, in, equal}, 3, &choice));
    const struct expr *tree =
        logical(&arena, EXPR_OR, choice, logical(&arena, EXPR_AND, in, unary(&arena, EXPR_NOT, like)));
    assert_survives_without_memory(build_and_run, (&(struct evaluation){tree, batch}), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operand_is_evaluated_only_where_it_decides),
        cmocka_unit_test(case_evaluates_the_branch_that_is_taken),
        cmocka_unit_test(errors_of_rows_that_are_not_selected_do_not_matter),
        cmocka_unit_test(constants_are_computed_once_and_spread),
        cmocka_unit_test(a_filter_that_keeps_all_gives_the_batch_itself),
        cmocka_unit_test(in_lists_know_null),
        cmocka_unit_test(batches_selections_and_dictionaries_give_what_rows_alone_give),
        cmocka_unit_test(unused_dictionary_values_do_not_fail),
        cmocka_unit_test(a_column_comes_as_it_is),
        cmocka_unit_test(running_out_of_memory_is_an_error_at_any_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
