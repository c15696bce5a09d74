#include "urgent.h"

#include "runtime/coop.h"
#include "runtime/sync.h"
#include "runtime/turns.h"

#include <pthread.h>

static const enum coop_policy policies[] = {COOP_SHARED, COOP_SHARED_WITH_FALLBACK, COOP_PER_STREAM};

/* What two fibers did, a letter for each batch that they handed out. */
struct test {
    enum coop_policy policy;
    struct cancel_token *token;
    size_t log_length;
    char log[8192];
};

static kith_error *hand_out(struct test *test, struct coop *coop, char letter, size_t batches)
{
    for (size_t i = 0; i < batches; i++) {
        test->log[test->log_length++] = letter;
        TRY(coop_hand_out(coop));
    }
    return NULL;
}

static kith_error *hand_out_as_b(void *argument)
{
    struct test *test = argument;
    struct coop coop = coop_make(test->policy, NULL);
    return hand_out(test, &coop, 'b', 2560);
}

/* Length of the run of equal letters that begins at `start`. */
static size_t run_from(const struct test *test, size_t start)
{
    size_t end = start;
    while (end < test->log_length && test->log[end] == test->log[start])
        end++;
    return end - start;
}

static void run_beside_b(struct test *test, fiber_function main)
{
    test->log_length = 0;
    run_in_order(main, test);
}

struct urgent_hand_out {
    struct urgent_test urgent;
    enum coop_policy policy;
};

static kith_error *hand_out_beside_b(void *argument)
{
    struct test *test = argument;
    struct coop coop = coop_make(test->policy, NULL);
    struct fiber *b;
    TRY(spawn(hand_out_as_b, test, &b));
    TRY(hand_out(test, &coop, 'a', 2560));
    return fiber_join(b);
}

/* However quickly they follow each other, and so however many are granted without a look. */
static void fibers_that_hand_out_take_turns_of_128_batches(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        struct test test = {.policy = policies[i]};
        run_beside_b(&test, hand_out_beside_b);
        assert_int_equal(test.log_length, 5120);
        for (size_t start = 0; start < test.log_length; start += COOP_BUDGET)
            assert_int_equal(run_from(&test, start), COOP_BUDGET);
    }
}

static kith_error *charge_work_for_each_batch(void *argument)
{
    struct test *test = argument;
    struct coop coop = coop_make(test->policy, NULL);
    struct fiber *b;
    TRY(spawn(hand_out_as_b, test, &b));
    for (size_t i = 0; i < 256; i++) {
        TRY(coop_charge(1));
        TRY(hand_out(test, &coop, 'a', 1));
    }
    return fiber_join(b);
}

static void work_and_batches_are_charged_to_one_budget(void **state)
{
    struct test test = {.policy = COOP_SHARED};
    run_beside_b(&test, charge_work_for_each_batch);
    assert_int_equal(run_from(&test, 0), COOP_BUDGET / 2);
    assert_int_equal(run_from(&test, COOP_BUDGET / 2), COOP_BUDGET);
}

static kith_error *wait_between_batches(void *argument)
{
    struct test *test = argument;
    struct coop coop = coop_make(test->policy, NULL);
    struct fiber *b;
    TRY(spawn(hand_out_as_b, test, &b));
    for (size_t i = 0; i < 3; i++) {
        TRY(hand_out(test, &coop, 'a', COOP_BUDGET - 1));
        TRY(fiber_yield());
    }
    return fiber_join(b);
}

static void after_a_wait_the_budget_is_full_again(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        struct test test = {.policy = policies[i]};
        run_beside_b(&test, wait_between_batches);
        size_t start = 0;
        for (size_t round = 0; round < 3; round++) {
            assert_int_equal(run_from(&test, start), COOP_BUDGET - 1);
            start += COOP_BUDGET - 1;
            assert_true(run_from(&test, start) >= COOP_BUDGET); /* b is alone in the end */
            start += COOP_BUDGET;
        }
    }
}

static kith_error *hand_out_alone_then_beside_b(void *argument)
{
    struct test *test = argument;
    struct coop coop = coop_make(test->policy, NULL);
    struct runtime_turns before, after;
    struct fiber *b;
    for (size_t extra = 0; extra < 3 * COOP_BUDGET; extra += COOP_BUDGET / 2 + 1) {
        runtime_read_turns(runtime_current(), &before);
        for (size_t i = 0; i < 100 * COOP_BUDGET + extra; i++)
            TRY(coop_hand_out(&coop));
        runtime_read_turns(runtime_current(), &after);
        EXPECT(after.turns - before.turns >= 100);
        test->log_length = 0;
        TRY(spawn(hand_out_as_b, test, &b));
        TRY(hand_out(test, &coop, 'a', COOP_BUDGET + 1));
        TRY(fiber_join(b));
        EXPECT(run_from(test, 0) <= COOP_BUDGET);
    }
    return NULL;
}

/* While it is alone, units of several turns are granted at once. */
static void a_fiber_that_was_alone_gives_way_at_the_end_of_its_turn(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        struct test test = {.policy = policies[i]};
        run_beside_b(&test, hand_out_alone_then_beside_b);
    }
}

static kith_error *hand_out_of_two_streams(void *argument)
{
    struct test *test = argument;
    struct coop first = coop_make(COOP_PER_STREAM, NULL), second = coop_make(test->policy, NULL);
    struct fiber *b;
    TRY(spawn(hand_out_as_b, test, &b));
    for (size_t i = 0; i < 1000; i++) {
        TRY(hand_out(test, &first, 'a', 1));
        TRY(hand_out(test, &second, 'a', 1));
    }
    return fiber_join(b);
}

/* Two that count apart must not cover for each other, each believing that the other has let others run. */
static void streams_of_one_fiber_that_count_apart_yield_within_a_budget_each(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        struct test test = {.policy = policies[i]};
        run_beside_b(&test, hand_out_of_two_streams);
        size_t start = 0;
        for (; run_from(&test, start) > 0; start += run_from(&test, start))
            assert_true(test.log[start] == 'b' || run_from(&test, start) <= 2 * COOP_BUDGET);
        assert_int_equal(start, 2000 + 2560);
    }
}

static void outside_a_fiber_only_streams_that_count_for_themselves_give_way(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        struct coop coop = coop_make(policies[i], NULL);
        for (size_t batch = 1; batch <= 3 * COOP_BUDGET; batch++) {
            assert_ok(coop_hand_out(&coop));
            size_t used = policies[i] == COOP_SHARED ? 0 : batch % COOP_BUDGET;
            assert_int_equal(coop.left, COOP_BUDGET - used);
        }
    }
}

static void a_cancelled_stream_hands_out_nothing_on_a_thread(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        _cleanup_(cancel_token_unref) struct cancel_token *token = NULL;
        assert_ok(cancel_token_new(NULL, &token));
        struct coop coop = coop_make(policies[i], token);
        assert_ok(coop_hand_out(&coop));
        cancel_token_cancel(token, NULL);
        assert_fails(coop_hand_out(&coop), KITH_ERROR_CANCELLED, "cancelled");
    }
}

static kith_error *cancel_between_batches(void *argument)
{
    struct test *test = argument;
    struct coop coop = coop_make(test->policy, test->token);
    TRY(hand_out(test, &coop, 'a', 5000)); /* so that many are granted */
    cancel_token_cancel(test->token, NULL);
    EXPECT_FAILS(coop_hand_out(&coop), KITH_ERROR_CANCELLED);
    return NULL;
}

static kith_error *cancel_the_fiber_between_batches(void *argument)
{
    struct test *test = argument;
    struct coop coop = coop_make(test->policy, NULL);
    TRY(hand_out(test, &coop, 'a', 5000));
    cancel_token_cancel(test->token, NULL);
    EXPECT_FAILS(coop_hand_out(&coop), KITH_ERROR_CANCELLED);
    return NULL;
}

static kith_error *run_under_the_token(void *argument)
{
    struct test *test = argument;
    struct fiber *fiber;
    const struct fiber_options options = {.cancel = test->token};
    TRY(fiber_spawn(runtime_current(), &options, cancel_the_fiber_between_batches, test, &fiber));
    return fiber_join(fiber);
}

static void cancelling_ends_the_handing_out_at_the_next_batch(void **state)
{
    for (size_t i = 0; i < 2 * ARRAY_SIZE(policies); i++) {
        struct test test = {.policy = policies[i / 2]};
        assert_ok(cancel_token_new(NULL, &test.token));
        run_in_order(i % 2 == 0 ? cancel_between_batches : run_under_the_token, &test);
        cancel_token_unref(test.token);
    }
}

static kith_error *hand_out_beside_an_urgent_fiber(void *argument)
{
    struct urgent_hand_out *given = argument;
    struct urgent_test *test = &given->urgent;
    struct coop coop = coop_make(given->policy, NULL);
    struct fiber *urgent;
    TRY(spawn(serve_urgently, test, &urgent));
    TRY(fiber_yield());
    for (size_t i = 0; i < 5000; i++)
        TRY(coop_hand_out(&coop));
    wake_urgent(test);
    EXPECT(!test->served);
    TRY(coop_hand_out(&coop));
    EXPECT(test->served);
    return fiber_join(urgent);
}

static void who_hands_out_makes_way_for_an_urgent_fiber_at_the_next_batch(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        struct urgent_hand_out test = {.urgent.mutex = PTHREAD_MUTEX_INITIALIZER, .policy = policies[i]};
        run_in_order(hand_out_beside_an_urgent_fiber, &test);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fibers_that_hand_out_take_turns_of_128_batches),
        cmocka_unit_test(work_and_batches_are_charged_to_one_budget),
        cmocka_unit_test(after_a_wait_the_budget_is_full_again),
        cmocka_unit_test(a_fiber_that_was_alone_gives_way_at_the_end_of_its_turn),
        cmocka_unit_test(streams_of_one_fiber_that_count_apart_yield_within_a_budget_each),
        cmocka_unit_test(outside_a_fiber_only_streams_that_count_for_themselves_give_way),
        cmocka_unit_test(a_cancelled_stream_hands_out_nothing_on_a_thread),
        cmocka_unit_test(cancelling_ends_the_handing_out_at_the_next_batch),
        cmocka_unit_test(who_hands_out_makes_way_for_an_urgent_fiber_at_the_next_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
