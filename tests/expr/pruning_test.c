#include "expr/containers.h"

#include "expr/pruning.h"

/* Columns of the random test: a BIGINT, b DOUBLE, c TEXT, d BOOLEAN. */
static struct array *random_column(uint64_t *random, size_t column, size_t rows)
{
    static const enum type_id ids[] = {TYPE_INT64, TYPE_FLOAT64, TYPE_UTF8, TYPE_BOOL};
    static const double doubles[] = {-1.5, -0.0, 0.0, 1.0, 2.5, __builtin_nan(""), __builtin_inf()};
    static const char *const texts[] = {"", "a", "ab", "ab_", "abc", "ab%", "b", "b\x7f", "foo_x", "fooyx", "zzzz"};
    struct data_type type = type_of(ids[column]);
    struct array *array = NULL;
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    /* Few values a container, so that constants and lists of NULL are common. */
    uint64_t base = test_random(random), spread = 1 + test_random(random) % 4, nulls = test_random(random) % 3;
    assert_ok(array_builder_new(&type, &builder));
    for (size_t row = 0; row < rows; row++) {
        uint64_t pick = base + test_random(random) % spread;
        struct scalar value = {.type = type, .is_null = nulls > 0 && test_random(random) % (nulls == 1 ? 4 : 1) == 0};
        if (column == 0)
            value.int64 = (int64_t)(pick % 9) - 4;
        else if (column == 1)
            value.float64 = doubles[pick % ARRAY_SIZE(doubles)];
        else if (column == 2)
            value.string = str_of(texts[pick % ARRAY_SIZE(texts)]);
        else
            value.boolean = pick % 2;
        assert_ok(array_builder_append(builder, &value));
    }
    assert_ok(array_builder_finish(builder, &array));
    return array;
}

/* A value such as the column has, or NULL. */
static const struct expr *random_literal(uint64_t *random, struct arena *arena, size_t column)
{
    _cleanup_(array_unref) struct array *one = random_column(random, column, 1);
    struct scalar value = scalar_from_array(one, 0), kept;
    const struct expr *expr = NULL;
    assert_ok(scalar_copy(&value, arena, &kept));
    assert_ok(expr_literal(arena, &kept, &expr));
    return expr;
}

static const struct expr *random_comparison(uint64_t *random, struct arena *arena, struct batch *batch)
{
    size_t index = test_random(random) % 3;
    enum binary_operator operation = (enum binary_operator)(test_random(random) % (OP_IS_NOT_DISTINCT + 1));
    const struct expr *left = column(arena, batch, index), *right = random_literal(random, arena, index);
    bool mirrored = test_random(random) % 3 == 0;
    return binary(arena, operation, mirrored ? right : left, mirrored ? left : right);
}

static const struct expr *random_in_list(uint64_t *random, struct arena *arena, struct batch *batch)
{
    /* Long lists are put in order first. */
    const struct expr *operands[40], *expr = NULL;
    size_t index = test_random(random) % 3, most = test_random(random) % 2 == 0 ? 4 : ARRAY_SIZE(operands) - 1;
    size_t count = 2 + test_random(random) % (most - 1);
    operands[0] = column(arena, batch, index);
    for (size_t i = 1; i < count; i++)
        operands[i] = random_literal(random, arena, index);
    assert_ok(expr_in_list(arena, operands, count, test_random(random) & 1, &expr));
    return expr;
}

static const struct expr *random_like(uint64_t *random, struct arena *arena, struct batch *batch)
{
    static const char *const patterns[] = {"",    "%",     "a%",      "ab", "ab\\_%", "ab\\%",
                                           "b_%", "foo_%", "foo\\_%", "%x", "zzz%",   "c%"};
    const struct expr *expr = NULL;
    assert_ok(expr_like(arena, column(arena, batch, 2),
                        text(arena, patterns[test_random(random) % ARRAY_SIZE(patterns)]), test_random(random) & 1,
                        test_random(random) % 4 == 0, &expr));
    return expr;
}

static const struct expr *random_predicate(uint64_t *random, struct arena *arena, struct batch *batch, unsigned depth)
{
    const struct expr *left, *right;
    switch (test_random(random) % (depth == 0 ? 6 : 9)) {
    case 0:
        return unary(arena, EXPR_IS_NULL, column(arena, batch, test_random(random) % 4));
    case 1:
        return unary(arena, EXPR_IS_NOT_NULL, column(arena, batch, test_random(random) % 4));
    case 2:
        return column(arena, batch, 3);
    case 3:
        return random_in_list(random, arena, batch);
    case 4:
        return random_like(random, arena, batch);
    case 6:
        return unary(arena, EXPR_NOT, random_predicate(random, arena, batch, depth - 1));
    case 7:
    case 8:
        left = random_predicate(random, arena, batch, depth - 1);
        right = random_predicate(random, arena, batch, depth - 1);
        return logical(arena, test_random(random) & 1 ? EXPR_AND : EXPR_OR, left, right);
    default:
        return random_comparison(random, arena, batch);
    }
}

static size_t count_true(const struct expr *predicate, struct batch *batch)
{
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    _cleanup_(array_unref) struct array *values = NULL;
    size_t count = 0;
    assert_ok(evaluator_new(predicate, &evaluator));
    assert_ok(evaluator_run(evaluator, batch, &values));
    for (size_t i = 0; i < values->length; i++) {
        struct scalar value = scalar_from_array(values, i);
        count += !value.is_null && value.boolean;
    }
    return count;
}

static void fail_verdict(const struct expr *predicate, const char *verdict, size_t matching, size_t rows)
{
    _cleanup_(strbuf_reset) struct strbuf shown = {0};
    assert_ok(expr_format(predicate, &shown));
    fail_msg("%s: verdict %s, but %zu of %zu rows match", strbuf_text(&shown), verdict, matching, rows);
}

static void verdicts_hold_for_the_rows_whatever_the_statistics_leave_out(void **state)
{
    uint64_t random = 17;
    size_t verdicts[3] = {0};
    for (int round = 0; round < 20000; round++) {
        _cleanup_(arena_reset) struct arena arena = {0};
        _cleanup_(batch_unref) struct batch *batch = NULL;
        struct array *arrays[CONTAINER_COLUMNS];
        struct container container;
        size_t rows = 1 + test_random(&random) % 6;
        for (size_t i = 0; i < CONTAINER_COLUMNS; i++)
            arrays[i] = random_column(&random, i, rows);
        batch = batch_of(arrays, CONTAINER_COLUMNS);
        container_init(&container, arrays, CONTAINER_COLUMNS);
        for (size_t i = 0; i < CONTAINER_COLUMNS; i++)
            forget_something(&random, &container.columns[i], container.strings[i]);

        const struct expr *predicate = random_predicate(&random, &arena, batch, 3);
        enum prune_verdict verdict = expr_prune(predicate, &container.source);
        size_t matching = count_true(predicate, batch);
        verdicts[verdict]++;
        if (verdict == PRUNE_NONE_MATCH && matching > 0)
            fail_verdict(predicate, "none", matching, rows);
        if (verdict == PRUNE_ALL_MATCH && matching < rows)
            fail_verdict(predicate, "all", matching, rows);
        for (size_t i = 0; i < CONTAINER_COLUMNS; i++)
            array_unref(arrays[i]);
    }
    /* The test is worth something only if proofs are common. */
    assert_true(verdicts[PRUNE_NONE_MATCH] > 1500);
    assert_true(verdicts[PRUNE_ALL_MATCH] > 1500);
}

/* One column of a container, and verdicts on it. */
struct fixture {
    struct arena arena;
    struct batch *batch;
    struct container container;
};

static void fixture_init(struct fixture *fixture, struct array *take_array)
{
    _cleanup_(array_unref) struct array *array = take_array;
    *fixture = (struct fixture){.batch = batch_of(&array, 1)};
    container_init(&fixture->container, fixture->batch->columns, 1);
}

static void fixture_reset(struct fixture *fixture)
{
    batch_unref(fixture->batch);
    arena_reset(&fixture->arena);
}
DEFINE_VALUE_CLEANUP(fixture_reset, struct fixture)

static const struct expr *fixture_column(struct fixture *fixture)
{
    return column(&fixture->arena, fixture->batch, 0);
}

static enum prune_verdict compare_with(struct fixture *fixture, enum binary_operator operation, struct scalar value)
{
    const struct expr *literal = NULL;
    assert_ok(expr_literal(&fixture->arena, &value, &literal));
    return expr_prune(binary(&fixture->arena, operation, fixture_column(fixture), literal), &fixture->container.source);
}

static struct scalar of_double(double value)
{
    return (struct scalar){.type = type_of(TYPE_FLOAT64), .float64 = value};
}

static struct scalar of_int(int64_t value)
{
    return (struct scalar){.type = type_of(TYPE_INT64), .int64 = value};
}

static enum prune_verdict null_test(struct fixture *fixture, enum expr_kind kind)
{
    return expr_prune(unary(&fixture->arena, kind, fixture_column(fixture)), &fixture->container.source);
}

static enum prune_verdict like(struct fixture *fixture, const char *pattern)
{
    const struct expr *expr = NULL;
    assert_ok(expr_like(&fixture->arena, fixture_column(fixture), text(&fixture->arena, pattern), false, false, &expr));
    return expr_prune(expr, &fixture->container.source);
}

static void a_range_without_the_value_matches_none_and_one_within_matches_all(void **state)
{
    _cleanup_(fixture_reset) struct fixture fixture;
    fixture_init(&fixture, INTS(type_of(TYPE_INT64), 5, 7, 9));
    assert_int_equal(compare_with(&fixture, OP_LT, of_int(5)), PRUNE_NONE_MATCH);
    assert_int_equal(compare_with(&fixture, OP_LE, of_int(5)), PRUNE_SOME_MATCH);
    assert_int_equal(compare_with(&fixture, OP_GT, of_int(9)), PRUNE_NONE_MATCH);
    assert_int_equal(compare_with(&fixture, OP_GE, of_int(9)), PRUNE_SOME_MATCH);
    assert_int_equal(compare_with(&fixture, OP_EQ, of_int(4)), PRUNE_NONE_MATCH);
    assert_int_equal(compare_with(&fixture, OP_EQ, of_int(6)), PRUNE_SOME_MATCH);
    assert_int_equal(compare_with(&fixture, OP_NE, of_int(4)), PRUNE_ALL_MATCH);
    assert_int_equal(compare_with(&fixture, OP_LT, of_int(10)), PRUNE_ALL_MATCH);
    assert_int_equal(compare_with(&fixture, OP_GE, of_int(5)), PRUNE_ALL_MATCH);
}

/* Writers leave NaN out of min and max; it is the largest value. */
static void a_column_that_may_hold_nan_is_not_bounded_by_its_maximum(void **state)
{
    _cleanup_(fixture_reset) struct fixture fixture;
    fixture_init(&fixture, DOUBLES(1.0, __builtin_nan("")));
    assert_int_equal(compare_with(&fixture, OP_GT, of_double(2)), PRUNE_SOME_MATCH);
    assert_int_equal(compare_with(&fixture, OP_EQ, of_double(1)), PRUNE_SOME_MATCH);
    assert_int_equal(compare_with(&fixture, OP_EQ, of_double(__builtin_nan(""))), PRUNE_SOME_MATCH);
    assert_int_equal(compare_with(&fixture, OP_LT, of_double(1)), PRUNE_NONE_MATCH);
    assert_int_equal(compare_with(&fixture, OP_GE, of_double(1)), PRUNE_ALL_MATCH);
    fixture.container.columns[0].may_have_nan = false;
    assert_int_equal(compare_with(&fixture, OP_GT, of_double(2)), PRUNE_NONE_MATCH);
    assert_int_equal(compare_with(&fixture, OP_EQ, of_double(1)), PRUNE_ALL_MATCH);
}

static void signed_zeros_are_equal(void **state)
{
    _cleanup_(fixture_reset) struct fixture fixture;
    fixture_init(&fixture, DOUBLES(-0.0));
    assert_int_equal(compare_with(&fixture, OP_EQ, of_double(0.0)), PRUNE_ALL_MATCH);
    assert_int_equal(compare_with(&fixture, OP_LT, of_double(0.0)), PRUNE_NONE_MATCH);
    assert_int_equal(compare_with(&fixture, OP_GE, of_double(0.0)), PRUNE_ALL_MATCH);
}

static void an_unknown_null_count_is_neither_no_nulls_nor_only_nulls(void **state)
{
    _cleanup_(fixture_reset) struct fixture fixture;
    fixture_init(&fixture, INTS(type_of(TYPE_INT64), 5, 5));
    assert_int_equal(null_test(&fixture, EXPR_IS_NULL), PRUNE_NONE_MATCH);
    assert_int_equal(null_test(&fixture, EXPR_IS_NOT_NULL), PRUNE_ALL_MATCH);
    fixture.container.columns[0].has_null_count = false;
    assert_int_equal(null_test(&fixture, EXPR_IS_NULL), PRUNE_SOME_MATCH);
    assert_int_equal(null_test(&fixture, EXPR_IS_NOT_NULL), PRUNE_SOME_MATCH);
    /* A LIMIT may not count the rows of such a group as matching. */
    assert_int_equal(compare_with(&fixture, OP_EQ, of_int(5)), PRUNE_SOME_MATCH);
    assert_int_equal(compare_with(&fixture, OP_EQ, of_int(6)), PRUNE_NONE_MATCH);
}

static void a_column_of_nulls_alone_matches_no_comparison(void **state)
{
    _cleanup_(fixture_reset) struct fixture fixture;
    fixture_init(&fixture, INTS(type_of(TYPE_INT64), NOTHING, NOTHING));
    assert_int_equal(compare_with(&fixture, OP_EQ, of_int(5)), PRUNE_NONE_MATCH);
    assert_int_equal(compare_with(&fixture, OP_NE, of_int(5)), PRUNE_NONE_MATCH);
    assert_int_equal(null_test(&fixture, EXPR_IS_NULL), PRUNE_ALL_MATCH);
    assert_int_equal(null_test(&fixture, EXPR_IS_NOT_NULL), PRUNE_NONE_MATCH);
    assert_int_equal(compare_with(&fixture, OP_IS_DISTINCT, of_int(5)), PRUNE_SOME_MATCH);
}

static void some_nulls_keep_a_group_from_matching_as_a_whole(void **state)
{
    _cleanup_(fixture_reset) struct fixture fixture;
    fixture_init(&fixture, INTS(type_of(TYPE_INT64), 5, NOTHING));
    assert_int_equal(compare_with(&fixture, OP_EQ, of_int(5)), PRUNE_SOME_MATCH);
    assert_int_equal(compare_with(&fixture, OP_EQ, of_int(6)), PRUNE_NONE_MATCH);
}

static void without_statistics_nothing_is_proven(void **state)
{
    _cleanup_(fixture_reset) struct fixture fixture;
    fixture_init(&fixture, INTS(type_of(TYPE_INT64), 5));
    fixture.container.columns[0] = (struct column_statistics){.row_count = 1};
    for (enum binary_operator operation = OP_EQ; operation <= OP_IS_NOT_DISTINCT; operation++)
        assert_int_equal(compare_with(&fixture, operation, of_int(6)), PRUNE_SOME_MATCH);
}

static void a_comparison_with_null_matches_no_row(void **state)
{
    _cleanup_(fixture_reset) struct fixture fixture;
    fixture_init(&fixture, INTS(type_of(TYPE_INT64), 5));
    struct data_type type = type_of(TYPE_INT64);
    assert_int_equal(compare_with(&fixture, OP_EQ, scalar_null(&type)), PRUNE_NONE_MATCH);
    assert_int_equal(compare_with(&fixture, OP_NE, scalar_null(&type)), PRUNE_NONE_MATCH);
}

static void an_escaped_wildcard_is_part_of_the_prefix(void **state)
{
    _cleanup_(fixture_reset) struct fixture fixture;
    fixture_init(&fixture, TEXTS("foo_a", "foo_b"));
    assert_int_equal(like(&fixture, "foo\\_%"), PRUNE_SOME_MATCH);
    assert_int_equal(like(&fixture, "foo\\%%"), PRUNE_NONE_MATCH);
    assert_int_equal(like(&fixture, "fop%"), PRUNE_NONE_MATCH);
    assert_int_equal(like(&fixture, "fon%"), PRUNE_NONE_MATCH);
    assert_int_equal(like(&fixture, "%b"), PRUNE_SOME_MATCH);
    assert_int_equal(like(&fixture, "foo_a"), PRUNE_SOME_MATCH);
}

static void cut_bounds_of_texts_prove_no_less_and_no_more(void **state)
{
    _cleanup_(fixture_reset) struct fixture fixture;
    fixture_init(&fixture, TEXTS("abcdef"));
    struct column_statistics *known = &fixture.container.columns[0];
    known->min.string = str_of("abc");
    known->max.string = str_of("abd");
    known->min_exact = known->max_exact = false;
    struct scalar value = {.type = type_of(TYPE_UTF8), .string = str_of("abcdef")};
    assert_int_equal(compare_with(&fixture, OP_EQ, value), PRUNE_SOME_MATCH);
    assert_int_equal(like(&fixture, "abcde%"), PRUNE_SOME_MATCH);
    value.string = str_of("abe");
    assert_int_equal(compare_with(&fixture, OP_GE, value), PRUNE_NONE_MATCH);
    value.string = str_of("abb");
    assert_int_equal(compare_with(&fixture, OP_LE, value), PRUNE_NONE_MATCH);
    /* Equal bounds that were cut are no constant. */
    known->max.string = str_of("abc");
    value.string = str_of("abc");
    known->has_max = false;
    assert_int_equal(compare_with(&fixture, OP_EQ, value), PRUNE_SOME_MATCH);
}

static void what_cannot_be_analysed_is_unknown(void **state)
{
    _cleanup_(fixture_reset) struct fixture fixture;
    fixture_init(&fixture, INTS(type_of(TYPE_INT64), 5));
    struct arena *arena = &fixture.arena;
    const struct expr *a = fixture_column(&fixture);
    const struct expr *sum = binary(arena, OP_ADD, a, integer(arena, 1));
    assert_int_equal(expr_prune(binary(arena, OP_EQ, sum, integer(arena, 1)), &fixture.container.source),
                     PRUNE_SOME_MATCH);
    assert_int_equal(expr_prune(binary(arena, OP_LT, a, a), &fixture.container.source), PRUNE_SOME_MATCH);
    /* … but does not hide what the other side of an AND proves. */
    const struct expr *unknown = binary(arena, OP_EQ, sum, integer(arena, 1));
    const struct expr *never = binary(arena, OP_EQ, a, integer(arena, 1));
    assert_int_equal(expr_prune(logical(arena, EXPR_AND, unknown, never), &fixture.container.source), PRUNE_NONE_MATCH);
    assert_int_equal(expr_prune(logical(arena, EXPR_OR, unknown, never), &fixture.container.source), PRUNE_SOME_MATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_hold_for_the_rows_whatever_the_statistics_leave_out),
        cmocka_unit_test(a_range_without_the_value_matches_none_and_one_within_matches_all),
        cmocka_unit_test(a_column_that_may_hold_nan_is_not_bounded_by_its_maximum),
        cmocka_unit_test(signed_zeros_are_equal),
        cmocka_unit_test(an_unknown_null_count_is_neither_no_nulls_nor_only_nulls),
        cmocka_unit_test(a_column_of_nulls_alone_matches_no_comparison),
        cmocka_unit_test(some_nulls_keep_a_group_from_matching_as_a_whole),
        cmocka_unit_test(without_statistics_nothing_is_proven),
        cmocka_unit_test(a_comparison_with_null_matches_no_row),
        cmocka_unit_test(an_escaped_wildcard_is_part_of_the_prefix),
        cmocka_unit_test(cut_bounds_of_texts_prove_no_less_and_no_more),
        cmocka_unit_test(what_cannot_be_analysed_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
