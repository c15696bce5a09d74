#include "exec/sources.h"

#include "base/limits.h"

static void sort_by_k(struct bench *bench, int64_t fetch, bool descending, bool nulls_first)
{
    bench->sort[0].order = (struct sort_order){.descending = descending, .nulls_first = nulls_first};
    bench->plan.sort.fetch = fetch;
    bench_operator(bench, PHYSICAL_SORT, sort_operator_new);
}

FIBER_TEST(rows_of_equal_keys_keep_the_order_they_came_in)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 1);
    ADD_ROWS(&bench, 0, {2, 1}, {1, 2}, {2, 3});
    ADD_ROWS(&bench, 0, {1, 4}, {NOTHING, 5}, {2, 6}, {NOTHING, 7});
    sort_by_k(&bench, -1, false, false);
    bench_check(&bench, "1:2 1:4 2:1 2:3 2:6 NULL:5 NULL:7 ");
    return NULL;
}

FIBER_TEST(nulls_and_direction_are_as_asked)
{
    const struct {
        bool descending, nulls_first;
        const char *all, *best;
    } cases[] = {{false, false, "1:2 2:1 NULL:3 ", "1:2 2:1 "},
                 {false, true, "NULL:3 1:2 2:1 ", "NULL:3 1:2 "},
                 {true, false, "2:1 1:2 NULL:3 ", "2:1 1:2 "},
                 {true, true, "NULL:3 2:1 1:2 ", "NULL:3 2:1 "}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        for (int topk = 0; topk <= 1; topk++) {
            _cleanup_(bench_reset) struct bench bench;
            bench_init(&bench, 1);
            ADD_ROWS(&bench, 0, {2, 1}, {1, 2}, {NOTHING, 3});
            sort_by_k(&bench, topk ? 2 : -1, cases[i].descending, cases[i].nulls_first);
            bench_check(&bench, topk ? cases[i].best : cases[i].all);
        }
    }
    return NULL;
}

FIBER_TEST(a_second_key_decides_ties)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 1);
    ADD_ROWS(&bench, 0, {1, 1}, {1, 3}, {0, 9});
    ADD_ROWS(&bench, 0, {1, 2}, {1, 4});
    bench.sort[1].order.descending = true;
    bench.plan.sort.count = 2;
    sort_by_k(&bench, 3, false, false);
    bench_check(&bench, "0:9 1:4 1:3 ");
    return NULL;
}

FIBER_TEST(a_row_that_ties_with_the_last_does_not_enter_a_topk)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 1);
    ADD_ROWS(&bench, 0, {5, 1}, {5, 2}, {5, 3});
    ADD_ROWS(&bench, 0, {5, 4}, {6, 5}, {5, 6});
    sort_by_k(&bench, 3, false, false);
    bench_check(&bench, "5:1 5:2 5:3 ");
    return NULL;
}

FIBER_TEST(topk_of_more_rows_than_there_are_gives_all)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 1);
    ADD_ROWS(&bench, 0, {3, 1}, {1, 2});
    sort_by_k(&bench, 1000000, false, false);
    bench_check(&bench, "1:2 3:1 ");
    return NULL;
}

FIBER_TEST(topk_of_no_rows_pulls_nothing)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 1);
    ADD_ROWS(&bench, 0, {3, 1});
    sort_by_k(&bench, 0, false, false);
    bench_check(&bench, "");
    assert_int_equal(atomic_load(&bench.source.pulled), 0);
    return NULL;
}

FIBER_TEST(an_empty_input_gives_nothing)
{
    for (int topk = 0; topk <= 1; topk++) {
        _cleanup_(bench_reset) struct bench bench;
        bench_init(&bench, 1);
        sort_by_k(&bench, topk ? 5 : -1, false, false);
        bench_check(&bench, "");
    }
    return NULL;
}

FIBER_TEST(topk_of_more_rows_than_the_limit_is_refused)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 1);
    sort_by_k(&bench, (int64_t)LIMIT_TOPK_ROWS + 1, false, false);
    bench_check_fails(&bench, KITH_ERROR_LIMIT, "TOPK_ROWS");
    return NULL;
}

FIBER_TEST(memory_is_asked_for_and_a_refusal_names_who_asked)
{
    for (int topk = 0; topk <= 1; topk++) {
        _cleanup_(bench_reset) struct bench bench;
        bench_init(&bench, 1);
        ADD_ROWS(&bench, 0, {3, 1}, {1, 2});
        memory_pool_free(bench.pool);
        assert_ok(memory_pool_new(16, &bench.pool));
        bench.context.pool = bench.pool;
        sort_by_k(&bench, topk ? 5 : -1, false, false);
        bench_check_fails(&bench, KITH_ERROR_OUT_OF_MEMORY, topk ? "Top-K" : "sort");
    }
    return NULL;
}

FIBER_TEST(an_error_below_comes_through)
{
    for (int topk = 0; topk <= 1; topk++) {
        _cleanup_(bench_reset) struct bench bench;
        bench_init(&bench, 1);
        ADD_ROWS(&bench, 0, {3, 1});
        bench.source.partitions[0].end = SOURCE_FAILS;
        sort_by_k(&bench, topk ? 5 : -1, false, false);
        bench_check_fails(&bench, KITH_ERROR_IO, "the source failed");
    }
    return NULL;
}

/* More rows than one run of the full sort; keys repeat, so that stability shows. */
enum { MANY = 100000 };

FIBER_TEST(runs_are_merged_into_one_stable_order)
{
    _cleanup_(bench_reset) struct bench bench;
    static int64_t rows[MANY / 10][2];
    uint64_t random = 8;
    bench_init(&bench, 1);
    for (size_t batch = 0; batch < 10; batch++) {
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
            rows[i][0] = (int64_t)(test_random(&random) % 5000);
            rows[i][1] = (int64_t)(batch * ARRAY_SIZE(rows) + i);
        }
        bench_add(&bench, 0, rows, ARRAY_SIZE(rows));
    }
    sort_by_k(&bench, -1, false, false);
    _cleanup_(stream_free) struct stream *stream = NULL;
    assert_ok(operator_execute(bench.node, 0, &stream));
    int64_t previous[2] = {-1, -1};
    size_t count = 0;
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        assert_ok(stream_next(stream, &batch));
        if (batch == NULL)
            break;
        for (size_t i = 0; i < batch->rows; i++, count++) {
            int64_t k = scalar_from_array(batch->columns[0], i).int64,
                    v = scalar_from_array(batch->columns[1], i).int64;
            assert_true(k > previous[0] || (k == previous[0] && v > previous[1]));
            previous[0] = k;
            previous[1] = v;
        }
    }
    assert_int_equal(count, MANY);
    stream_free(TAKE(stream));
    return NULL;
}

FIBER_TEST(a_cancelled_query_ends_a_sort_on_a_fiber_of_another_token)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 1);
    ADD_ROWS(&bench, 0, {3, 1}, {1, 2});
    sort_by_k(&bench, -1, false, false);
    cancel_token_cancel(bench.cancel, NULL);
    bench_check_fails(&bench, KITH_ERROR_CANCELLED, "cancelled");
    return NULL;
}

/* The bound that the partitions of a Top-K share. */
FIBER_TEST(topk_publishes_its_worst_key_once_it_is_full)
{
    _cleanup_(bench_reset) struct bench bench;
    struct dynamic_filter *filters[1] = {NULL};
    bench_init(&bench, 1);
    ADD_ROWS(&bench, 0, {5, 1}, {9, 2}, {NOTHING, 3});
    ADD_ROWS(&bench, 0, {1, 4}, {7, 5});
    assert_ok(dynamic_filter_new(3, bench.sort, 1, &filters[0]));
    bench.context.filters = filters;
    bench.context.filter_count = 1;
    bench.plan.sort.filter_id = 3;
    sort_by_k(&bench, 2, false, false);
    bench_check(&bench, "1:4 5:1 ");
    _cleanup_(bound_unref) struct bound *bound = dynamic_filter_slot(filters[0], BOUND_LOCAL);
    assert_int_equal(bound->values[0].int64, 5);
    struct dynamic_filter_counters counters;
    dynamic_filter_counters(filters[0], &counters);
    assert_int_equal(counters.produced, 2);
    dynamic_filter_unref(filters[0]);
    return NULL;
}

FIBER_TEST(a_remote_bound_keeps_rows_out_that_it_is_stronger_than)
{
    _cleanup_(bench_reset) struct bench bench;
    struct dynamic_filter *filters[1] = {NULL};
    struct bound *bound = NULL;
    struct scalar four = {.type = type_of(TYPE_INT64), .int64 = 4};
    bool stronger;
    bench_init(&bench, 1);
    ADD_ROWS(&bench, 0, {5, 1}, {4, 2}, {3, 3});
    assert_ok(dynamic_filter_new(3, bench.sort, 1, &filters[0]));
    assert_ok(bound_new(&four, &bench.sort[0].order, 1, 0, &bound));
    dynamic_filter_offer(filters[0], BOUND_REMOTE, bound, &stronger);
    bound_unref(bound);
    bench.context.filters = filters;
    bench.context.filter_count = 1;
    bench.plan.sort.filter_id = 3;
    sort_by_k(&bench, 3, false, false);
    bench_check(&bench, "3:3 "); /* rows no better than 4 are somewhere else */
    dynamic_filter_unref(filters[0]);
    return NULL;
}

static void offer_remote_four(void *filter)
{
    struct bound *bound = NULL;
    struct scalar four = {.type = type_of(TYPE_INT64), .int64 = 4};
    struct sort_order ascending = {0};
    bool stronger;
    assert_ok(bound_new(&four, &ascending, 1, 0, &bound));
    dynamic_filter_offer(filter, BOUND_REMOTE, bound, &stronger);
    bound_unref(bound);
}

FIBER_TEST(rows_held_that_are_worse_than_a_late_bound_are_not_handed_out_and_those_that_equal_it_are)
{
    _cleanup_(bench_reset) struct bench bench;
    struct dynamic_filter *filters[1] = {NULL};
    bench_init(&bench, 1);
    ADD_ROWS(&bench, 0, {5, 1}, {4, 2}, {3, 3}, {NOTHING, 4});
    assert_ok(dynamic_filter_new(3, bench.sort, 1, &filters[0]));
    bench.source.partitions[0].at_end = offer_remote_four;
    bench.source.partitions[0].end_context = filters[0];
    bench.context.filters = filters;
    bench.context.filter_count = 1;
    bench.plan.sort.filter_id = 3;
    sort_by_k(&bench, 5, false, false);
    bench_check(&bench, "3:3 4:2 ");
    assert_int_equal(metric_get(&bench.metrics[0], METRIC_ROWS_PRUNED_REMOTE), 2);
    dynamic_filter_unref(filters[0]);
    return NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_equal_keys_keep_the_order_they_came_in),
        cmocka_unit_test(nulls_and_direction_are_as_asked),
        cmocka_unit_test(a_second_key_decides_ties),
        cmocka_unit_test(a_row_that_ties_with_the_last_does_not_enter_a_topk),
        cmocka_unit_test(topk_of_more_rows_than_there_are_gives_all),
        cmocka_unit_test(topk_of_no_rows_pulls_nothing),
        cmocka_unit_test(an_empty_input_gives_nothing),
        cmocka_unit_test(topk_of_more_rows_than_the_limit_is_refused),
        cmocka_unit_test(memory_is_asked_for_and_a_refusal_names_who_asked),
        cmocka_unit_test(an_error_below_comes_through),
        cmocka_unit_test(runs_are_merged_into_one_stable_order),
        cmocka_unit_test(a_cancelled_query_ends_a_sort_on_a_fiber_of_another_token),
        cmocka_unit_test(topk_publishes_its_worst_key_once_it_is_full),
        cmocka_unit_test(a_remote_bound_keeps_rows_out_that_it_is_stronger_than),
        cmocka_unit_test(rows_held_that_are_worse_than_a_late_bound_are_not_handed_out_and_those_that_equal_it_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
