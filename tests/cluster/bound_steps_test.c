#include "testing.h"

#include "cluster/bound_steps.h"

#include "base/limits.h"

static const struct sort_order descending = {.descending = true};

static struct scalar number(int64_t value)
{
    return (struct scalar){.type = {.id = TYPE_INT64}, .int64 = value};
}

/* Steps of row groups whose best values are these, weakest first. */
static struct bound_steps steps_of(struct arena *arena, const int64_t *best, size_t count)
{
    struct bound_steps steps;
    struct scalar *values;
    const struct scalar **pointers;
    assert_ok(ARENA_NEW_ARRAY(arena, &values, count));
    assert_ok(ARENA_NEW_ARRAY(arena, &pointers, count));
    for (size_t i = 0; i < count; i++) {
        values[i] = number(best[i]);
        pointers[i] = &values[i];
    }
    assert_ok(bound_steps_choose(arena, descending, pointers, count, &steps));
    return steps;
}

static size_t passed(const struct bound_steps *steps, int64_t value)
{
    const struct scalar scalar = number(value);
    return bound_steps_passed(steps, &scalar);
}

static void a_bound_passes_the_row_groups_that_have_nothing_better(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    struct bound_steps steps = steps_of(&arena, (const int64_t[]){10, 20, 30}, 3);
    assert_int_equal(passed(&steps, 9), 0);
    assert_int_equal(passed(&steps, 10), 1);
    assert_int_equal(passed(&steps, 29), 2);
    assert_int_equal(passed(&steps, 30), 3);
    assert_int_equal(passed(&steps, INT64_MAX), 3);
}

static void equal_values_are_one_step_and_none_is_never_passed(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    struct bound_steps equal = steps_of(&arena, (const int64_t[]){7, 7, 7, 8}, 4);
    struct bound_steps none = steps_of(&arena, NULL, 0);
    assert_int_equal(equal.count, 2);
    assert_int_equal(passed(&equal, 7), 1);
    assert_int_equal(passed(&none, INT64_MAX), 0);
}

static void null_is_better_than_any_value_where_it_comes_first(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    const struct sort_order nulls_first = {.descending = true, .nulls_first = true};
    const struct scalar ten = number(10), null = scalar_null(&ten.type), *best[] = {&ten, &null};
    struct bound_steps steps;
    assert_ok(bound_steps_choose(&arena, nulls_first, best, 2, &steps));
    assert_int_equal(passed(&steps, INT64_MAX), 1);
    assert_int_equal(bound_steps_passed(&steps, &null), 2);
}

/* However many row groups there are, a bound that rules out a quarter of those that are left passes a step. */
static void of_many_row_groups_a_quarter_of_the_rest_is_a_step(void **state)
{
    static const size_t counts[] = {1, 4, 5, 100, 1000000};
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
        _cleanup_(arena_reset) struct arena arena = {0};
        size_t count = counts[i], next = 0;
        int64_t *best;
        assert_ok(ARENA_NEW_ARRAY(&arena, &best, count));
        for (size_t j = 0; j < count; j++)
            best[j] = (int64_t)j;
        struct bound_steps steps = steps_of(&arena, best, count);
        assert_in_range(steps.count, 1, LIMIT_BOUND_STEPS);
        for (size_t j = 0; j < steps.count; j++) {
            size_t at = (size_t)steps.values[j].int64;
            assert_in_range(at, 0, next);
            next = at + MAX((count - at) / 4, (size_t)1);
        }
        assert_int_equal(next, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_passes_the_row_groups_that_have_nothing_better),
        cmocka_unit_test(equal_values_are_one_step_and_none_is_never_passed),
        cmocka_unit_test(null_is_better_than_any_value_where_it_comes_first),
        cmocka_unit_test(of_many_row_groups_a_quarter_of_the_rest_is_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
