#include "sources.h"

#include "exec/batch_split.h"

/* Runs `name`_body as a fiber of one thread under each policy. */
#define POLICY_TEST(name)                                                       \
    static kith_error *name##_body(void *argument);                             \
    static void name(void **state)                                              \
    {                                                                           \
        setenv("CMOCKA_TEST_ABORT", "1", 1);                                    \
        for (int64_t policy = COOP_SHARED; policy <= COOP_PER_STREAM; policy++) \
            run_in_order(name##_body, &policy);                                 \
    }                                                                           \
    static kith_error *name##_body(void *argument)

static void init(struct bench *bench, const void *policy)
{
    bench_init(bench, 1);
    bench->context.settings.values[SETTING_COOPERATION] = *(const int64_t *)policy;
}

/* A batch of rows 0:0, 1:1, … */
static void add_rows(struct bench *bench, size_t count)
{
    static int64_t rows[8192][2];
    assert_true(count <= ARRAY_SIZE(rows));
    for (size_t i = 0; i < count; i++)
        rows[i][0] = rows[i][1] = (int64_t)i;
    bench_add(bench, 0, rows, count);
}

static struct batch *added(struct bench *bench, size_t i)
{
    return bench->source.partitions[0].batches[i];
}

static struct stream *split_of(struct bench *bench, size_t rows)
{
    struct stream *source = NULL, *split = NULL;
    assert_ok(operator_execute(&bench->source.node, 0, &source));
    assert_ok(batch_split_stream_new(source, rows, operator_coop(&bench->source.node), &bench->metrics[0], &split));
    return split;
}

static uint64_t slices_counted(const struct bench *bench)
{
    return metric_get(&bench->metrics[0], METRIC_BATCHES_SPLIT);
}

POLICY_TEST(a_large_batch_comes_as_slices_in_order_that_share_its_columns)
{
    _cleanup_(bench_reset) struct bench bench;
    init(&bench, argument);
    add_rows(&bench, 1000);
    _cleanup_(stream_free) struct stream *stream = split_of(&bench, 3);
    for (size_t row = 0; row < 1000; row += 3) {
        _cleanup_(batch_unref) struct batch *slice = NULL;
        TRY(stream_next(stream, &slice));
        EXPECT(slice != NULL && slice->offset == row && batch_row_count(slice) == MIN((size_t)3, 1000 - row));
        EXPECT(slice->columns == added(&bench, 0)->columns);
    }
    struct batch *end = NULL;
    TRY(stream_next(stream, &end));
    EXPECT(end == NULL);
    EXPECT(slices_counted(&bench) == 334);
    return NULL;
}

POLICY_TEST(batches_that_are_small_enough_pass_as_they_are_empty_ones_too)
{
    _cleanup_(bench_reset) struct bench bench;
    init(&bench, argument);
    static const size_t sizes[] = {10, 0, 1, 0, 9};
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        add_rows(&bench, sizes[i]);
    _cleanup_(stream_free) struct stream *stream = split_of(&bench, 10);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(stream_next(stream, &batch));
        EXPECT(batch == added(&bench, i));
    }
    EXPECT(slices_counted(&bench) == 0);
    return NULL;
}

POLICY_TEST(a_slice_of_a_selection_has_so_many_selected_rows)
{
    _cleanup_(bench_reset) struct bench bench;
    _cleanup_(selection_unref) struct selection *selection = NULL;
    init(&bench, argument);
    add_rows(&bench, 1000);
    TRY(selection_new(500, &selection));
    for (; selection->count < 500; selection->count++)
        selection->rows[selection->count] = 2 * (uint32_t)selection->count;
    struct batch *selected = NULL;
    TRY(batch_select(added(&bench, 0), selection, &selected));
    batch_unref(added(&bench, 0));
    bench.source.partitions[0].batches[0] = selected;
    _cleanup_(stream_free) struct stream *stream = split_of(&bench, 7);
    int64_t expected = 0;
    for (;;) {
        _cleanup_(batch_unref) struct batch *slice = NULL, *compact = NULL;
        TRY(stream_next(stream, &slice));
        if (slice == NULL)
            break;
        EXPECT(batch_row_count(slice) <= 7);
        TRY(batch_compact(slice, &compact));
        for (size_t i = 0; i < compact->rows; i++, expected += 2)
            EXPECT(scalar_from_array(compact->columns[0], i).int64 == expected);
    }
    EXPECT(expected == 1000);
    return NULL;
}

POLICY_TEST(an_error_comes_after_the_slices_before_it_and_is_the_end)
{
    _cleanup_(bench_reset) struct bench bench;
    init(&bench, argument);
    add_rows(&bench, 5);
    bench.source.partitions[0].end = SOURCE_FAILS;
    _cleanup_(stream_free) struct stream *stream = split_of(&bench, 2);
    for (size_t i = 0; i < 3; i++) {
        _cleanup_(batch_unref) struct batch *slice = NULL;
        TRY(stream_next(stream, &slice));
        EXPECT(slice != NULL);
    }
    struct batch *none = NULL;
    EXPECT_FAILS(stream_next(stream, &none), KITH_ERROR_IO);
    TRY(stream_next(stream, &none));
    EXPECT(none == NULL);
    return NULL;
}

POLICY_TEST(slices_are_counted_when_the_stream_is_freed_among_them)
{
    _cleanup_(bench_reset) struct bench bench;
    init(&bench, argument);
    add_rows(&bench, 100);
    struct stream *stream = split_of(&bench, 10);
    for (size_t i = 0; i < 4; i++) {
        _cleanup_(batch_unref) struct batch *slice = NULL;
        TRY(stream_next(stream, &slice));
    }
    stream_free(stream);
    EXPECT(slices_counted(&bench) == 4);
    return NULL;
}

struct other {
    size_t turns;
    bool stop;
};

static kith_error *count_turns(void *argument)
{
    struct other *other = argument;
    for (;;) {
        TRY(fiber_yield());
        if (other->stop)
            return NULL;
        other->turns++;
    }
}

/* Turns that another fiber has while a stream is drained whose source has `batches` of `slices` times 2 rows. */
static kith_error *count_turns_beside(const void *policy, size_t batches, size_t slices, size_t *out)
{
    _cleanup_(bench_reset) struct bench bench;
    struct other other = {0};
    struct fiber *fiber;
    init(&bench, policy);
    for (size_t i = 0; i < batches; i++)
        add_rows(&bench, 2 * slices);
    TRY(spawn(count_turns, &other, &fiber));
    TRY(fiber_yield()); /* from now on it counts */
    _cleanup_(stream_free) struct stream *stream = split_of(&bench, 2);
    for (size_t i = 0; i < batches * slices; i++) {
        _cleanup_(batch_unref) struct batch *slice = NULL;
        TRY(stream_next(stream, &slice));
        EXPECT(slice != NULL);
    }
    *out = other.turns;
    other.stop = true;
    return fiber_join(fiber);
}

POLICY_TEST(slices_out_of_one_batch_give_others_a_turn_within_the_budget)
{
    size_t turns;
    TRY(count_turns_beside(argument, 1, 20 * COOP_BUDGET + 1, &turns));
    EXPECT(turns == 20);
    return NULL;
}

/* 15 batches of 8 slices cost 120 units; were first slices charged twice, they would cost 135. */
POLICY_TEST(the_first_slice_of_a_batch_is_paid_by_its_pull)
{
    size_t turns;
    TRY(count_turns_beside(argument, 15, 8, &turns));
    EXPECT(turns == 0);
    return NULL;
}

POLICY_TEST(a_cancelled_query_gets_no_further_slice)
{
    _cleanup_(bench_reset) struct bench bench;
    init(&bench, argument);
    add_rows(&bench, 8000);
    _cleanup_(stream_free) struct stream *stream = split_of(&bench, 1);
    for (size_t i = 0; i < 4000; i++) {
        _cleanup_(batch_unref) struct batch *slice = NULL;
        TRY(stream_next(stream, &slice));
    }
    cancel_token_cancel(bench.cancel, NULL);
    struct batch *none = NULL;
    EXPECT_FAILS(stream_next(stream, &none), KITH_ERROR_CANCELLED);
    EXPECT(none == NULL);
    return NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_batch_comes_as_slices_in_order_that_share_its_columns),
        cmocka_unit_test(batches_that_are_small_enough_pass_as_they_are_empty_ones_too),
        cmocka_unit_test(a_slice_of_a_selection_has_so_many_selected_rows),
        cmocka_unit_test(an_error_comes_after_the_slices_before_it_and_is_the_end),
        cmocka_unit_test(slices_are_counted_when_the_stream_is_freed_among_them),
        cmocka_unit_test(slices_out_of_one_batch_give_others_a_turn_within_the_budget),
        cmocka_unit_test(the_first_slice_of_a_batch_is_paid_by_its_pull),
        cmocka_unit_test(a_cancelled_query_gets_no_further_slice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
