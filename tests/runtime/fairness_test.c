/*
 * Who runs next. One thread, and a clock that only the fibers move, so that every run gives the same order.
 */
#include "fibers.h"

#include "runtime/channel.h"
#include "runtime/run_queue.h"

enum { MOST_FIBERS = 64 };

struct order {
    struct fake_clock clock;
    char log[4096];
    size_t length;
    struct channel *channel;
    struct cancel_token *queries[MOST_FIBERS];
};

struct worker_fiber {
    struct order *order;
    char letter;
    size_t turns;
    int64_t turn_ns;
    struct fiber *fiber;
};

static void note(struct order *order, char letter)
{
    assert_true(order->length < sizeof order->log - 1);
    order->log[order->length++] = letter;
}

static void work(struct order *order, int64_t ns)
{
    atomic_fetch_add(&order->clock.now_ns, ns);
}

/* Runs `main_function` with its order on one thread. */
static void run_ordered(fiber_function main_function, struct order *order)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    *order = (struct order){0};
    fake_clock_init(&order->clock);
    assert_ok(runtime_new(&(struct runtime_options){.threads = 1, .clock = &order->clock.clock}, &runtime));
    assert_ok(runtime_run(runtime, main_function, order));
    assert_int_equal(runtime_live_fibers(runtime), 0);
    for (size_t i = 0; i < MOST_FIBERS; i++)
        cancel_token_unref(order->queries[i]);
}

/* Computes for a while and offers the thread, so many times. */
static kith_error *compute(void *argument)
{
    struct worker_fiber *self = argument;
    for (size_t i = 0; i < self->turns; i++) {
        TRY(coop_charge(1)); /* from here on the turn is timed */
        note(self->order, self->letter);
        work(self->order, self->turn_ns);
        TRY(coop_charge(1));
    }
    return NULL;
}

static kith_error *start(struct worker_fiber *fiber, struct cancel_token *query)
{
    const struct fiber_options options = {.cancel = query};
    return fiber_spawn(runtime_current(), &options, compute, fiber, &fiber->fiber);
}

static kith_error *new_query(struct order *order, size_t number)
{
    TRY(cancel_token_new(NULL, &order->queries[number]));
    return cancel_token_share_time(order->queries[number], runtime_current());
}

static kith_error *join_all(struct worker_fiber *fibers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        TRY(fiber_join(fibers[i].fiber));
    return NULL;
}

static kith_error *run_thirty_beside_two(void *argument)
{
    struct order *order = argument;
    struct worker_fiber fibers[32];
    TRY(new_query(order, 0));
    TRY(new_query(order, 1));
    for (size_t i = 0; i < 32; i++) {
        fibers[i] = (struct worker_fiber){
            .order = order, .letter = i < 30 ? 'a' : 'b', .turns = i < 30 ? 1 : 15, .turn_ns = SHARE_QUANTUM_NS};
        TRY(start(&fibers[i], order->queries[i < 30 ? 0 : 1]));
    }
    return join_all(fibers, 32);
}

static void many_fibers_of_one_query_get_no_more_than_two_of_another(void **state)
{
    struct order order;
    run_ordered(run_thirty_beside_two, &order);
    assert_string_equal(order.log, "abababababababababababababababababababababababababababababab");
}

static kith_error *run_short_turns_beside_long_ones(void *argument)
{
    struct order *order = argument;
    struct worker_fiber fibers[2] = {
        {.order = order, .letter = 'a', .turns = 40, .turn_ns = SHARE_QUANTUM_NS / 10},
        {.order = order, .letter = 'B', .turns = 4, .turn_ns = SHARE_QUANTUM_NS},
    };
    TRY(new_query(order, 0));
    TRY(new_query(order, 1));
    for (size_t i = 0; i < 2; i++)
        TRY(start(&fibers[i], order->queries[i]));
    return join_all(fibers, 2);
}

static void queries_have_equal_time_however_short_their_turns(void **state)
{
    struct order order;
    run_ordered(run_short_turns_beside_long_ones, &order);
    assert_string_equal(order.log, "aaaaaaaaaaBaaaaaaaaaaBaaaaaaaaaaBaaaaaaaaaaB");
}

static kith_error *wait_for_item(void *argument)
{
    struct worker_fiber *self = argument;
    for (size_t i = 0; i < self->turns; i++) {
        void *item;
        TRY(channel_recv(self->order->channel, &item));
        TRY(coop_charge(1));
        note(self->order, self->letter);
        work(self->order, self->turn_ns);
    }
    return NULL;
}

static kith_error *wake_in_the_middle(void *argument)
{
    struct worker_fiber *self = argument;
    bool sent = true;
    for (size_t i = 0; i < self->turns && sent; i++) {
        TRY(coop_charge(1));
        note(self->order, self->letter);
        TRY(channel_send(self->order->channel, self, &sent));
        work(self->order, self->turn_ns);
        TRY(coop_charge(1));
    }
    return NULL;
}

static kith_error *run_waker_beside_computing(struct order *order, struct worker_fiber *fibers, size_t count)
{
    TRY(channel_new(100, NULL, &order->channel));
    TRY(spawn(wait_for_item, &fibers[0], &fibers[0].fiber));
    TRY(fiber_yield());
    TRY(spawn(wake_in_the_middle, &fibers[1], &fibers[1].fiber));
    for (size_t i = 2; i < count; i++)
        TRY(start(&fibers[i], NULL));
    kith_error *error = join_all(fibers, count);
    channel_unref(order->channel);
    return error;
}

static kith_error *wake_a_short_one(void *argument)
{
    struct order *order = argument;
    struct worker_fiber fibers[] = {
        {.order = order, .letter = '!', .turns = 2, .turn_ns = SHARE_QUANTUM_NS / 10},
        {.order = order, .letter = 'w', .turns = 2, .turn_ns = SHARE_QUANTUM_NS},
        {.order = order, .letter = 'x', .turns = 2, .turn_ns = SHARE_QUANTUM_NS},
        {.order = order, .letter = 'y', .turns = 2, .turn_ns = SHARE_QUANTUM_NS},
        {.order = order, .letter = 'z', .turns = 2, .turn_ns = SHARE_QUANTUM_NS},
    };
    return run_waker_beside_computing(order, fibers, ARRAY_SIZE(fibers));
}

static void who_wakes_up_for_little_goes_before_all_that_compute(void **state)
{
    struct order order;
    run_ordered(wake_a_short_one, &order);
    assert_string_equal(order.log, "wxyz!w!xyz");
}

static kith_error *wake_a_long_one(void *argument)
{
    struct order *order = argument;
    struct worker_fiber fibers[] = {
        {.order = order, .letter = '!', .turns = 4, .turn_ns = SHARE_QUANTUM_NS},
        {.order = order, .letter = 'w', .turns = 4, .turn_ns = SHARE_QUANTUM_NS},
        {.order = order, .letter = 'x', .turns = 3, .turn_ns = SHARE_QUANTUM_NS},
        {.order = order, .letter = 'y', .turns = 3, .turn_ns = SHARE_QUANTUM_NS},
    };
    return run_waker_beside_computing(order, fibers, ARRAY_SIZE(fibers));
}

static void who_wakes_up_for_much_has_its_turn_like_the_others(void **state)
{
    struct order order;
    size_t counts[128] = {0};
    run_ordered(wake_a_long_one, &order);
    /* In no prefix has it run more than once more often than another that still has something to do. */
    for (size_t i = 0; i < order.length; i++) {
        counts[(unsigned char)order.log[i]]++;
        assert_true(counts['x'] == 3 || counts['!'] <= counts['x'] + 1);
        assert_true(counts['y'] == 3 || counts['!'] <= counts['y'] + 1);
    }
    assert_int_equal(counts['!'], 4);
}

struct chain {
    struct order *order;
    size_t left;
    struct fiber *fibers[MOST_FIBERS];
};

static kith_error *spawn_another(void *argument)
{
    struct chain *chain = argument;
    note(chain->order, '.');
    return chain->left == 0 ? NULL : spawn(spawn_another, chain, &chain->fibers[--chain->left]);
}

static kith_error *run_beside_ever_new_fibers(void *argument)
{
    struct order *order = argument;
    struct chain chain = {.order = order, .left = MOST_FIBERS};
    struct worker_fiber computing = {.order = order, .letter = 'c', .turns = 3, .turn_ns = SHARE_QUANTUM_NS};
    struct fiber *first;
    TRY(spawn(spawn_another, &chain, &first));
    TRY(start(&computing, NULL));
    TRY(fiber_join(first));
    for (size_t i = MOST_FIBERS; i-- > 0;)
        TRY(fiber_join(chain.fibers[i]));
    return fiber_join(computing.fiber);
}

static void ever_new_fibers_do_not_starve_one_that_computes(void **state)
{
    struct order order;
    run_ordered(run_beside_ever_new_fibers, &order);
    assert_true(strrchr(order.log, 'c') < strrchr(order.log, '.'));
}

static kith_error *offer_the_thread(void *argument)
{
    struct order *order = argument;
    struct worker_fiber other = {.order = order, .letter = 'o', .turns = 1};
    TRY(start(&other, NULL));
    TRY(coop_charge(1)); /* from here on the turn is timed */
    work(order, SHARE_QUANTUM_NS - 1);
    TRY(coop_charge(1));
    note(order, '1'); /* it has time left */
    work(order, 1);
    TRY(coop_charge(1));
    note(order, '2');
    return fiber_join(other.fiber);
}

static void a_turn_ends_after_its_time_when_others_wait(void **state)
{
    struct order order;
    run_ordered(offer_the_thread, &order);
    assert_string_equal(order.log, "1o2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_fibers_of_one_query_get_no_more_than_two_of_another),
        cmocka_unit_test(queries_have_equal_time_however_short_their_turns),
        cmocka_unit_test(who_wakes_up_for_little_goes_before_all_that_compute),
        cmocka_unit_test(who_wakes_up_for_much_has_its_turn_like_the_others),
        cmocka_unit_test(ever_new_fibers_do_not_starve_one_that_computes),
        cmocka_unit_test(a_turn_ends_after_its_time_when_others_wait),
    };
    return cmocka_run_group_tests_name("runtime/fairness", tests, NULL, NULL);
}
