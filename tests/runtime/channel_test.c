#include "fibers.h"

#include "runtime/channel.h"
#include "runtime/sync.h"

#include <pthread.h>

/* Items are numbers: NULL cannot be sent, so counting starts at 1. */
static void *item(uintptr_t number)
{
    return (void *)number; /* NOLINT(performance-no-int-to-ptr) */
}

static kith_error *send_number(struct channel *channel, uintptr_t number)
{
    bool sent = false;
    TRY(channel_send(channel, item(number), &sent));
    EXPECT(sent);
    return NULL;
}

struct pair {
    struct channel *there;
    struct channel *back;
};

enum { ROUNDS = 2000 };

static kith_error *answer(void *argument)
{
    struct pair *pair = argument;
    for (;;) {
        void *received = NULL;
        TRY(channel_recv(pair->there, &received));
        if (received == NULL)
            break;
        TRY(send_number(pair->back, (uintptr_t)received + 1));
    }
    channel_close(pair->back, NULL);
    return NULL;
}

static kith_error *ping_pong(void *argument)
{
    struct pair *pair = argument;
    struct fiber *fiber = NULL;
    TRY(spawn(answer, pair, &fiber));
    for (uintptr_t i = 1; i <= ROUNDS; i++) {
        void *received = NULL;
        TRY(send_number(pair->there, i));
        TRY(channel_recv(pair->back, &received));
        EXPECT((uintptr_t)received == i + 1);
    }
    channel_close(pair->there, NULL);
    void *received = item(1);
    TRY(channel_recv(pair->back, &received));
    EXPECT(received == NULL);
    return fiber_join(fiber);
}

static void two_fibers_play_ping_pong_on_any_number_of_threads(void **state)
{
    for (size_t threads = 1; threads <= 4; threads++) {
        struct pair pair = {0};
        assert_ok(channel_new(1, NULL, &pair.there));
        assert_ok(channel_new(3, NULL, &pair.back));
        run_on(threads, ping_pong, &pair);
        channel_unref(pair.there);
        channel_unref(pair.back);
    }
}

struct crowd {
    struct channel *channel;
    size_t senders;
    size_t receivers;
    size_t each;
    atomic_size_t next_sender;
    atomic_size_t left;
    atomic_uint seen[8 * 500 + 1];
};

static kith_error *send_a_share(void *argument)
{
    struct crowd *crowd = argument;
    uintptr_t first = atomic_fetch_add(&crowd->next_sender, 1) * crowd->each + 1;
    for (uintptr_t i = first; i < first + crowd->each; i++)
        TRY(send_number(crowd->channel, i));
    if (atomic_fetch_sub(&crowd->left, 1) == 1)
        channel_close(crowd->channel, NULL);
    return NULL;
}

static kith_error *receive_to_the_end(void *argument)
{
    struct crowd *crowd = argument;
    for (;;) {
        void *received = NULL;
        TRY(channel_recv(crowd->channel, &received));
        if (received == NULL)
            return NULL;
        atomic_fetch_add(&crowd->seen[(uintptr_t)received], 1);
        TRY(coop_charge(1));
    }
}

static kith_error *run_crowd(void *argument)
{
    struct crowd *crowd = argument;
    struct fiber *fibers[16];
    size_t count = 0;
    for (size_t i = 0; i < crowd->receivers; i++)
        TRY(spawn(receive_to_the_end, crowd, &fibers[count++]));
    for (size_t i = 0; i < crowd->senders; i++)
        TRY(spawn(send_a_share, crowd, &fibers[count++]));
    while (count > 0)
        TRY(fiber_join(fibers[--count]));
    return NULL;
}

static void every_item_of_many_senders_reaches_one_of_many_receivers(void **state)
{
    static struct crowd crowd;
    for (size_t threads = 1; threads <= 4; threads++) {
        for (size_t capacity = 1; capacity <= 100; capacity *= 10) {
            memset(&crowd, 0, sizeof crowd);
            crowd.senders = 8;
            crowd.receivers = threads;
            crowd.each = 500;
            atomic_store(&crowd.left, crowd.senders);
            assert_ok(channel_new(capacity, NULL, &crowd.channel));
            run_on(threads, run_crowd, &crowd);
            channel_unref(crowd.channel);
            for (size_t i = 1; i <= crowd.senders * crowd.each; i++)
                assert_int_equal(atomic_load(&crowd.seen[i]), 1);
        }
    }
}

static void try_calls_tell_full_empty_and_closed(void **state)
{
    _cleanup_(channel_unref) struct channel *channel = NULL;
    assert_ok(channel_new(2, NULL, &channel));
    void *received = NULL;
    assert_false(channel_try_recv(channel, &received));
    assert_true(channel_try_send(channel, item(1)));
    assert_true(channel_try_send(channel, item(2)));
    assert_false(channel_try_send(channel, item(3)));
    assert_true(channel_try_recv(channel, &received));
    assert_ptr_equal(received, item(1));
    assert_true(channel_try_send(channel, item(4)));
    assert_false(channel_is_closed(channel));
    channel_close(channel, NULL);
    assert_true(channel_is_closed(channel));
    assert_false(channel_try_send(channel, item(5)));
    assert_true(channel_try_recv(channel, &received));
    assert_ptr_equal(received, item(2));
    assert_true(channel_try_recv(channel, &received));
    assert_ptr_equal(received, item(4));
    assert_false(channel_try_recv(channel, &received));
}

static kith_error *receive_what_is_queued_and_then_the_error(void *argument)
{
    struct channel *channel = argument;
    TRY(send_number(channel, 1));
    TRY(send_number(channel, 2));
    channel_close(channel, error_new(KITH_ERROR_UNAVAILABLE, "the worker has gone"));
    channel_close(channel, error_new(KITH_ERROR_IO, "too late"));
    bool sent = true;
    TRY(channel_send(channel, item(3), &sent));
    EXPECT(!sent);
    for (uintptr_t i = 1; i <= 2; i++) {
        void *received = NULL;
        TRY(channel_recv(channel, &received));
        EXPECT(received == item(i));
    }
    for (size_t i = 0; i < 3; i++) {
        void *received = NULL;
        EXPECT_FAILS(channel_recv(channel, &received), KITH_ERROR_UNAVAILABLE);
    }
    return NULL;
}

static void closing_with_an_error_tells_each_receiver_once_it_is_drained(void **state)
{
    _cleanup_(channel_unref) struct channel *channel = NULL;
    assert_ok(channel_new(2, NULL, &channel));
    run_on(1, receive_what_is_queued_and_then_the_error, channel);
}

static kith_error *expect_to_be_refused(void *argument)
{
    bool sent = true;
    TRY(channel_send(argument, item(9), &sent));
    EXPECT(!sent);
    return NULL;
}

static kith_error *close_on_waiting_senders(void *argument)
{
    struct channel *channel = argument;
    struct fiber *fibers[3];
    TRY(send_number(channel, 1));
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(spawn(expect_to_be_refused, channel, &fibers[i]));
    TRY(fiber_yield());
    channel_close(channel, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(fiber_join(fibers[i]));
    return NULL;
}

static void closing_wakes_waiting_senders(void **state)
{
    for (size_t threads = 1; threads <= 2; threads++) {
        _cleanup_(channel_unref) struct channel *channel = NULL;
        assert_ok(channel_new(1, NULL, &channel));
        run_on(threads, close_on_waiting_senders, channel);
    }
}

static size_t freed;

static void count_freed(void *freed_item)
{
    freed += (uintptr_t)freed_item;
}

static void items_that_nobody_received_are_freed_with_the_channel(void **state)
{
    struct channel *channel = NULL;
    assert_ok(channel_new(3, count_freed, &channel));
    void *received = NULL;
    for (uintptr_t i = 1; i <= 3; i++)
        assert_true(channel_try_send(channel, item(i)));
    assert_true(channel_try_recv(channel, &received));
    assert_true(channel_try_send(channel, item(4))); /* wraps around */
    struct channel *second = channel_ref(channel);
    channel_unref(channel);
    freed = 0;
    channel_unref(second);
    assert_int_equal(freed, 2 + 3 + 4);
}

static void *send_from_a_thread(void *argument)
{
    for (uintptr_t i = 1; i <= 100;) {
        if (channel_try_send(argument, item(i)))
            i++;
        else
            sched_yield();
    }
    channel_close(argument, NULL);
    return NULL;
}

static kith_error *receive_a_hundred(void *argument)
{
    for (uintptr_t i = 1; i <= 101; i++) {
        void *received = NULL;
        TRY(channel_recv(argument, &received));
        EXPECT((uintptr_t)received == i % 101);
    }
    return NULL;
}

static void a_thread_outside_can_send_with_try(void **state)
{
    _cleanup_(channel_unref) struct channel *channel = NULL;
    assert_ok(channel_new(4, NULL, &channel));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, send_from_a_thread, channel), 0);
    run_on(2, receive_a_hundred, channel);
    pthread_join(thread, NULL);
}

/* A sends ten items to a sleeping B on the same thread: B runs when A waits, not in between. */
static kith_error *receive_ten(void *argument)
{
    for (uintptr_t i = 1; i <= 10; i++) {
        void *received = NULL;
        TRY(channel_recv(argument, &received));
        EXPECT((uintptr_t)received == i);
    }
    return NULL;
}

static kith_error *send_ten_in_one_turn(void *argument)
{
    struct fiber *fiber = NULL;
    TRY(spawn(receive_ten, argument, &fiber));
    TRY(fiber_yield());
    void *received = NULL;
    for (uintptr_t i = 1; i <= 10; i++)
        TRY(send_number(argument, i));
    EXPECT(channel_try_recv(argument, &received) && received == item(1));
    channel_close(argument, NULL);
    EXPECT_FAILS(fiber_join(fiber), KITH_ERROR_INTERNAL); /* it missed the first */
    return NULL;
}

static void sending_does_not_hand_the_thread_over(void **state)
{
    _cleanup_(channel_unref) struct channel *channel = NULL;
    assert_ok(channel_new(10, NULL, &channel));
    run_on(1, send_ten_in_one_turn, channel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_fibers_play_ping_pong_on_any_number_of_threads),
        cmocka_unit_test(every_item_of_many_senders_reaches_one_of_many_receivers),
        cmocka_unit_test(try_calls_tell_full_empty_and_closed),
        cmocka_unit_test(closing_with_an_error_tells_each_receiver_once_it_is_drained),
        cmocka_unit_test(closing_wakes_waiting_senders),
        cmocka_unit_test(items_that_nobody_received_are_freed_with_the_channel),
        cmocka_unit_test(a_thread_outside_can_send_with_try),
        cmocka_unit_test(sending_does_not_hand_the_thread_over),
    };
    return cmocka_run_group_tests_name("runtime/channel", tests, NULL, NULL);
}
