/*
 * Operators that bring partitions together, and limits.
 */
#include "exec/sources.h"

static void merge_by_k(struct bench *bench, int64_t fetch)
{
    bench->plan.sort.fetch = fetch;
    bench_operator(bench, PHYSICAL_SORT_PRESERVING_MERGE, merge_operator_new);
}

static void coalesce(struct bench *bench, int64_t fetch)
{
    bench->plan.limit.fetch = fetch;
    bench_operator(bench, PHYSICAL_COALESCE_PARTITIONS, coalesce_operator_new);
}

FIBER_TEST(of_equal_keys_the_lower_partition_goes_first)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 3);
    ADD_ROWS(&bench, 0, {1, 1}, {3, 2}, {3, 3});
    ADD_ROWS(&bench, 1, {1, 4}, {2, 5});
    ADD_ROWS(&bench, 1, {3, 6}, {NOTHING, 7});
    ADD_ROWS(&bench, 2, {1, 8}, {NOTHING, 9});
    merge_by_k(&bench, -1);
    bench_check(&bench, "1:1 1:4 1:8 2:5 3:2 3:3 3:6 NULL:7 NULL:9 ");
    return NULL;
}

struct keyed_row {
    int64_t k, v;
};

static int compare_rows(const void *a, const void *b)
{
    const struct keyed_row *x = a, *y = b;
    if (x->k != y->k)
        return x->k < y->k ? -1 : 1;
    return x->v < y->v ? -1 : x->v > y->v;
}

/* Partitions of random sorted rows, cut into batches, some empty; v numbers the rows by partition and place. */
static size_t add_sorted_partitions(struct bench *bench, uint64_t *random, size_t partitions, struct keyed_row *all)
{
    size_t total = 0;
    for (size_t i = 0; i < partitions; i++) {
        size_t rows = test_random(random) % 3 == 0 ? 0 : test_random(random) % 40, done = 0;
        int64_t batch[40][2], k = 0;
        for (size_t row = 0; row < rows; row++) {
            k += (int64_t)(test_random(random) % 3);
            batch[row][0] = all[total + row].k = k;
            batch[row][1] = all[total + row].v = (int64_t)(i * 1000 + row);
        }
        while (done < rows && bench->source.partitions[i].count + 1 < SOURCE_BATCHES) {
            size_t count = MIN(rows - done, test_random(random) % 9);
            bench_add(bench, i, batch + done, count);
            done += count;
        }
        bench_add(bench, i, batch + done, rows - done);
        total += rows;
    }
    qsort(all, total, sizeof *all, compare_rows);
    return total;
}

FIBER_TEST(a_merge_of_any_number_of_partitions_is_the_sort_of_all)
{
    uint64_t random = 12;
    for (int round = 0; round < 60; round++) {
        _cleanup_(bench_reset) struct bench bench;
        _cleanup_(strbuf_reset) struct strbuf expected = {0};
        struct keyed_row all[SOURCE_PARTITIONS * 40];
        size_t partitions = 1 + (size_t)round % SOURCE_PARTITIONS;
        bench_init(&bench, partitions);
        bench.context.settings.values[SETTING_BATCH_SIZE] = 1 + (int64_t)(test_random(&random) % 30);
        size_t total = add_sorted_partitions(&bench, &random, partitions, all);
        bool limited = test_random(&random) & 1;
        size_t fetch = test_random(&random) % 100;
        for (size_t i = 0; i < (limited ? MIN(total, fetch) : total); i++)
            assert_ok(strbuf_printf(&expected, "%d:%d ", (int)all[i].k, (int)all[i].v));
        merge_by_k(&bench, limited ? (int64_t)fetch : -1);
        bench_check(&bench, strbuf_text(&expected));
    }
    return NULL;
}

FIBER_TEST(an_error_in_one_partition_ends_the_merge)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 3);
    ADD_ROWS(&bench, 0, {1, 1});
    ADD_ROWS(&bench, 1, {2, 2});
    ADD_ROWS(&bench, 2, {3, 3});
    bench.source.partitions[1].end = SOURCE_FAILS;
    bench.source.partitions[2].end = SOURCE_HANGS;
    merge_by_k(&bench, -1);
    bench_check_fails(&bench, KITH_ERROR_IO, "the source failed");
    return NULL;
}

FIBER_TEST(a_merge_that_has_enough_stops_partitions_that_go_on)
{
    _cleanup_(bench_reset) struct bench bench;
    _cleanup_(stream_free) struct stream *stream = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    bench_init(&bench, 2);
    ADD_ROWS(&bench, 0, {1, 1}, {4, 2});
    ADD_ROWS(&bench, 1, {2, 3}, {5, 4});
    bench.source.partitions[0].end = bench.source.partitions[1].end = SOURCE_HANGS;
    merge_by_k(&bench, 3);
    assert_ok(operator_execute(bench.node, 0, &stream));
    assert_ok(stream_next(stream, &batch));
    assert_int_equal(batch_row_count(batch), 3);
    /* With the last row that is wanted, before anybody asks for more. */
    assert_int_equal(atomic_load(&bench.source.live_streams), 0);
    return NULL;
}

FIBER_TEST(a_merge_that_is_dropped_stops_partitions_that_go_on)
{
    _cleanup_(bench_reset) struct bench bench;
    _cleanup_(stream_free) struct stream *stream = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    bench_init(&bench, 3);
    for (size_t i = 0; i < 3; i++) {
        ADD_ROWS(&bench, i, {1, 1}, {4, 2});
        ADD_ROWS(&bench, i, {5, 1}, {6, 2});
        bench.source.partitions[i].end = SOURCE_HANGS;
    }
    bench.context.settings.values[SETTING_BATCH_SIZE] = 1;
    merge_by_k(&bench, -1);
    assert_ok(operator_execute(bench.node, 0, &stream));
    assert_ok(stream_next(stream, &batch));
    stream_free(TAKE(stream));
    assert_int_equal(atomic_load(&bench.source.live_streams), 0);
    return NULL;
}

FIBER_TEST(coalesced_partitions_give_all_rows)
{
    for (size_t partitions = 1; partitions <= SOURCE_PARTITIONS; partitions++) {
        _cleanup_(bench_reset) struct bench bench;
        _cleanup_(strbuf_reset) struct strbuf rows = {0};
        bench_init(&bench, partitions);
        for (size_t i = 0; i < partitions; i += 2) { /* every other one is empty */
            ADD_ROWS(&bench, i, {(int64_t)i, 0});
            ADD_ROWS(&bench, i, {(int64_t)i, 1});
        }
        coalesce(&bench, -1);
        assert_ok(bench_run(&bench, &rows));
        for (size_t i = 0; i < partitions; i += 2) {
            char row[16];
            for (int v = 0; v < 2; v++) {
                snprintf(row, sizeof row, "%zu:%d ", i, v);
                assert_non_null(strstr(strbuf_text(&rows), row));
            }
        }
        assert_int_equal(rows.length, (partitions + 1) / 2 * 2 * 4);
    }
    return NULL;
}

FIBER_TEST(a_coalesce_with_a_fetch_gives_so_many_rows_and_stops)
{
    _cleanup_(bench_reset) struct bench bench;
    _cleanup_(strbuf_reset) struct strbuf rows = {0};
    bench_init(&bench, 2);
    for (size_t i = 0; i < 2; i++) {
        ADD_ROWS(&bench, i, {1, 1}, {1, 1}, {1, 1});
        bench.source.partitions[i].end = SOURCE_HANGS;
    }
    coalesce(&bench, 5);
    assert_ok(bench_run(&bench, &rows));
    assert_string_equal(strbuf_text(&rows), "1:1 1:1 1:1 1:1 1:1 ");
    return NULL;
}

FIBER_TEST(an_error_in_one_partition_ends_the_coalesce)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 3);
    bench.source.partitions[0].end = SOURCE_HANGS;
    bench.source.partitions[2].end = SOURCE_FAILS;
    coalesce(&bench, -1);
    bench_check_fails(&bench, KITH_ERROR_IO, "the source failed");
    return NULL;
}

static kith_error *cancel_soon(void *argument)
{
    for (int i = 0; i < 20; i++)
        TRY(fiber_yield());
    cancel_token_cancel(argument, NULL);
    return NULL;
}

FIBER_TEST(a_cancelled_query_ends_waits_for_partitions)
{
    for (int merging = 0; merging <= 1; merging++) {
        _cleanup_(bench_reset) struct bench bench;
        struct fiber *fiber;
        bench_init(&bench, 3);
        for (size_t i = 0; i < 3; i++)
            bench.source.partitions[i].end = SOURCE_HANGS;
        if (merging)
            merge_by_k(&bench, -1);
        else
            coalesce(&bench, -1);
        assert_ok(spawn(cancel_soon, bench.cancel, &fiber));
        bench_check_fails(&bench, KITH_ERROR_CANCELLED, "cancelled");
        assert_ok(fiber_join(fiber));
    }
    return NULL;
}

static void limit(struct bench *bench, int64_t skip, int64_t fetch)
{
    bench->plan.limit.skip = skip;
    bench->plan.limit.fetch = fetch;
    bench_operator(bench, PHYSICAL_GLOBAL_LIMIT, limit_operator_new);
}

FIBER_TEST(a_limit_skips_and_fetches_across_batches)
{
    const struct {
        int64_t skip, fetch;
        const char *rows;
    } cases[] = {{0, -1, "1:1 2:2 3:3 4:4 5:5 6:6 "},
                 {0, 2, "1:1 2:2 "},
                 {1, 2, "2:2 3:3 "},
                 {3, 1, "4:4 "},
                 {4, 10, "5:5 6:6 "},
                 {6, -1, ""},
                 {100, 5, ""},
                 {0, 0, ""},
                 {2, 4, "3:3 4:4 5:5 6:6 "},
                 {INT64_MAX, 1, ""},
                 {5, INT64_MAX, "6:6 "}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(bench_reset) struct bench bench;
        bench_init(&bench, 1);
        ADD_ROWS(&bench, 0, {1, 1}, {2, 2}, {3, 3});
        ADD_ROWS(&bench, 0, {4, 4});
        ADD_ROWS(&bench, 0, {5, 5}, {6, 6});
        limit(&bench, cases[i].skip, cases[i].fetch);
        bench_check(&bench, cases[i].rows);
    }
    return NULL;
}

FIBER_TEST(a_limit_that_has_enough_pulls_no_more)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 1);
    ADD_ROWS(&bench, 0, {1, 1}, {2, 2});
    ADD_ROWS(&bench, 0, {3, 3});
    bench.source.partitions[0].end = SOURCE_HANGS;
    limit(&bench, 1, 1);
    bench_check(&bench, "2:2 ");
    assert_int_equal(atomic_load(&bench.source.pulled), 1);
    return NULL;
}

FIBER_TEST(a_limit_of_none_does_not_start_its_input)
{
    _cleanup_(bench_reset) struct bench bench;
    bench_init(&bench, 1);
    bench.source.partitions[0].end = SOURCE_FAILS;
    limit(&bench, 0, 0);
    bench_check(&bench, "");
    return NULL;
}

FIBER_TEST(a_filter_passes_over_batches_without_a_row_that_matches)
{
    _cleanup_(bench_reset) struct bench bench;
    const struct expr *three = NULL;
    struct scalar value = {.type = type_of(TYPE_INT64), .int64 = 3};
    bench_init(&bench, 1);
    ADD_ROWS(&bench, 0, {1, 1}, {2, 2});
    ADD_ROWS(&bench, 0, {4, 3}, {NOTHING, 4}, {3, 5}, {5, 6});
    ADD_ROWS(&bench, 0, {7, 7});
    assert_ok(expr_literal(&bench.arena, &value, &three));
    assert_ok(expr_binary(&bench.arena, OP_GT, bench.sort[0].expr, three, &bench.plan.filter.predicate));
    bench_operator(&bench, PHYSICAL_FILTER, filter_operator_new);
    bench_check(&bench, "4:3 5:6 7:7 ");
    return NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_equal_keys_the_lower_partition_goes_first),
        cmocka_unit_test(a_merge_of_any_number_of_partitions_is_the_sort_of_all),
        cmocka_unit_test(an_error_in_one_partition_ends_the_merge),
        cmocka_unit_test(a_merge_that_has_enough_stops_partitions_that_go_on),
        cmocka_unit_test(a_merge_that_is_dropped_stops_partitions_that_go_on),
        cmocka_unit_test(coalesced_partitions_give_all_rows),
        cmocka_unit_test(a_coalesce_with_a_fetch_gives_so_many_rows_and_stops),
        cmocka_unit_test(an_error_in_one_partition_ends_the_coalesce),
        cmocka_unit_test(a_cancelled_query_ends_waits_for_partitions),
        cmocka_unit_test(a_limit_skips_and_fetches_across_batches),
        cmocka_unit_test(a_limit_that_has_enough_pulls_no_more),
        cmocka_unit_test(a_limit_of_none_does_not_start_its_input),
        cmocka_unit_test(a_filter_passes_over_batches_without_a_row_that_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
