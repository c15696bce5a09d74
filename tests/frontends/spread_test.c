#include "frontends/bench/spread.h"

#include "testing.h"

/* Ranks of the 95 % confidence range of a median, from the binomial distribution: for 10 values P(X <= 1) = 11/1024,
 * and P(X <= 2) = 56/1024 is over 2.5 %. Those of 20 and 50 are in tables of the sign test. */
static void the_range_of_a_median_follows_from_the_binomial_distribution(void **state)
{
    assert_int_equal(spread_rank(5), 0);
    assert_int_equal(spread_rank(6), 1);
    assert_int_equal(spread_rank(10), 2);
    assert_int_equal(spread_rank(20), 6);
    assert_int_equal(spread_rank(50), 18);
}

/* sqrt(n) / 2 is the standard deviation: of 1000 values, 500 - 1.96 * 15.8 = 469, and 2,000 do not underflow. */
static void many_values_have_a_range_near_that_of_the_normal_distribution(void **state)
{
    assert_in_range(spread_rank(1000), 468, 470);
    assert_in_range(spread_rank(2000), 956, 957);
}

static void values_are_ordered_whatever_order_they_came_in(void **state)
{
    double values[] = {7, 1, 5, 3, 9, 11, 13, 15, 19, 17};
    struct spread spread = spread_of(values, 10);
    assert_true(spread.median == 10 && spread.least == 1 && spread.most == 19);
    assert_true(spread.is_known && spread.low == 3 && spread.high == 17);
}

static void a_few_values_say_nothing_of_the_true_median(void **state)
{
    double values[] = {3, 1, 2};
    struct spread spread = spread_of(values, 3);
    assert_true(spread.median == 2 && !spread.is_known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_range_of_a_median_follows_from_the_binomial_distribution),
        cmocka_unit_test(many_values_have_a_range_near_that_of_the_normal_distribution),
        cmocka_unit_test(values_are_ordered_whatever_order_they_came_in),
        cmocka_unit_test(a_few_values_say_nothing_of_the_true_median),
    };
    return cmocka_run_group_tests_name("frontends/spread", tests, NULL, NULL);
}
