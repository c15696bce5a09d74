#include "fibers.h"

#include "runtime/channel.h"
#include "runtime/sync.h"

#include <pthread.h>

/* A condition that fibers wait for and others make true. */
struct gate {
    pthread_mutex_t mutex;
    struct wait_list list;
    size_t passes; /* how many may still pass */
    size_t passed;
    int64_t deadline_ns;
    struct fake_clock clock;
    struct runtime *runtime;
    char log[64];
    atomic_size_t logged;
};

static void gate_init(struct gate *gate)
{
    *gate = (struct gate){.mutex = PTHREAD_MUTEX_INITIALIZER, .deadline_ns = WAIT_FOREVER};
    fake_clock_init(&gate->clock);
}

static kith_error *pass(void *argument)
{
    struct gate *gate = argument;
    kith_error *error = NULL;
    pthread_mutex_lock(&gate->mutex);
    while (error == NULL && gate->passes == 0)
        error = wait_list_wait(&gate->list, &gate->mutex, gate->deadline_ns);
    if (error == NULL) {
        gate->passes--;
        gate->passed++;
    }
    pthread_mutex_unlock(&gate->mutex);
    return error;
}

static void open_gate(struct gate *gate, size_t passes)
{
    pthread_mutex_lock(&gate->mutex);
    gate->passes += passes;
    if (passes == 1)
        wait_list_wake_one(&gate->list);
    else
        wait_list_wake_all(&gate->list);
    pthread_mutex_unlock(&gate->mutex);
}

static kith_error *open_one_by_one_and_then_for_all(void *argument)
{
    struct gate *gate = argument;
    struct fiber *fibers[30];
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(spawn(pass, gate, &fibers[i]));
    for (size_t i = 0; i < 10; i++) {
        open_gate(gate, 1);
        TRY(fiber_yield());
    }
    open_gate(gate, 20);
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(fiber_join(fibers[i]));
    EXPECT(gate->passed == 30 && gate->passes == 0 && gate->list.first == NULL);
    return NULL;
}

static void waking_one_and_all_lets_everyone_pass(void **state)
{
    for (size_t threads = 1; threads <= 4; threads++) {
        struct gate gate;
        gate_init(&gate);
        run_on(threads, open_one_by_one_and_then_for_all, &gate);
    }
}

static void *pass_in_a_thread(void *argument)
{
    return pass(argument);
}

static kith_error *open_for_two(void *argument)
{
    open_gate(argument, 1);
    open_gate(argument, 1);
    return NULL;
}

static void threads_outside_the_runtime_can_wait_too(void **state)
{
    for (size_t i = 0; i < 20; i++) {
        struct gate gate;
        gate_init(&gate);
        pthread_t threads[2];
        for (size_t t = 0; t < 2; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, pass_in_a_thread, &gate), 0);
        run_on(1, open_for_two, &gate);
        for (size_t t = 0; t < 2; t++) {
            void *error = NULL;
            pthread_join(threads[t], &error);
            assert_ok(error);
        }
        assert_int_equal(gate.passed, 2);
    }
}

static void a_thread_outside_times_out_at_its_deadline(void **state)
{
    struct gate gate;
    gate_init(&gate);
    int64_t start = clock_monotonic_ns(&system_clock);
    gate.deadline_ns = start + 5 * NANOSECONDS_PER_MILLISECOND;
    assert_fails(pass(&gate), KITH_ERROR_TIMEOUT, "deadline");
    assert_true(clock_monotonic_ns(&system_clock) >= gate.deadline_ns);
    assert_null(gate.list.first);
}

/* Runs `function` with a clock that only the test moves. */
static void run_on_fake_clock(fiber_function function, struct gate *gate)
{
    gate_init(gate);
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    assert_ok(runtime_new(&(struct runtime_options){.threads = 1, .clock = &gate->clock.clock}, &runtime));
    gate->runtime = runtime;
    assert_ok(runtime_run(runtime, function, gate));
    assert_int_equal(runtime_live_fibers(runtime), 0);
}

struct sleeper {
    struct gate *gate;
    int64_t until_ns;
    char name;
};

static kith_error *sleep_and_log(void *argument)
{
    struct sleeper *sleeper = argument;
    TRY(sleep_until(sleeper->until_ns));
    sleeper->gate->log[atomic_fetch_add(&sleeper->gate->logged, 1)] = sleeper->name;
    return NULL;
}

static kith_error *wake_sleepers_in_order(void *argument)
{
    struct gate *gate = argument;
    /* Names in the order of the deadlines; spawned in another. */
    struct sleeper sleepers[] = {
        {gate, 700, 'g'}, {gate, 300, 'c'}, {gate, 500, 'e'}, {gate, 100, 'a'},
        {gate, 600, 'f'}, {gate, 200, 'b'}, {gate, 400, 'd'},
    };
    struct fiber *fibers[ARRAY_SIZE(sleepers)];
    for (size_t i = 0; i < ARRAY_SIZE(sleepers); i++)
        TRY(spawn(sleep_and_log, &sleepers[i], &fibers[i]));
    TRY(fiber_yield());
    EXPECT(atomic_load(&gate->logged) == 0);
    for (size_t step = 1; step <= 7; step++) {
        fake_clock_advance(&gate->clock, gate->runtime, 100);
        while (atomic_load(&gate->logged) < step)
            TRY(fiber_yield());
    }
    for (size_t i = 0; i < ARRAY_SIZE(sleepers); i++)
        TRY(fiber_join(fibers[i]));
    EXPECT(strcmp(gate->log, "abcdefg") == 0);
    return NULL;
}

static void sleepers_wake_in_the_order_of_their_deadlines(void **state)
{
    struct gate gate;
    run_on_fake_clock(wake_sleepers_in_order, &gate);
}

static kith_error *let_one_time_out(void *argument)
{
    struct gate *gate = argument;
    struct fiber *late = NULL, *in_time = NULL;
    gate->deadline_ns = 1000;
    TRY(spawn(pass, gate, &late));
    TRY(fiber_yield());
    gate->deadline_ns = 2000;
    TRY(spawn(pass, gate, &in_time));
    TRY(fiber_yield());
    fake_clock_advance(&gate->clock, gate->runtime, 1500);
    EXPECT_FAILS(fiber_join(late), KITH_ERROR_TIMEOUT);
    open_gate(gate, 1);
    TRY(fiber_join(in_time));
    EXPECT(gate->passed == 1);
    /* A deadline that has passed already. */
    gate->deadline_ns = 1200;
    EXPECT_FAILS(pass(gate), KITH_ERROR_TIMEOUT);
    TRY(sleep_until(1200));
    return NULL;
}

static void a_wait_times_out_at_its_deadline_and_not_before(void **state)
{
    struct gate gate;
    run_on_fake_clock(let_one_time_out, &gate);
}

static kith_error *receive_until(void *argument)
{
    struct gate *gate = argument;
    _cleanup_(channel_unref) struct channel *channel = NULL;
    TRY(channel_new(1, NULL, &channel));
    void *item = NULL;
    EXPECT_FAILS(channel_recv_until(channel, 1, &item), KITH_ERROR_TIMEOUT);
    EXPECT(channel_try_send(channel, gate));
    TRY(channel_recv_until(channel, 1, &item)); /* what is there needs no wait */
    EXPECT(item == gate);
    return NULL;
}

static void receiving_with_a_deadline_times_out_only_when_empty(void **state)
{
    struct gate gate;
    run_on_fake_clock(receive_until, &gate);
}

/* Against the timer heap: many deadlines added and removed in random order. */
static kith_error *wait_for_either(void *argument)
{
    struct sleeper *sleeper = argument;
    kith_error *error = NULL;
    struct gate *gate = sleeper->gate;
    pthread_mutex_lock(&gate->mutex);
    while (error == NULL && gate->passes == 0)
        error = wait_list_wait(&gate->list, &gate->mutex, sleeper->until_ns);
    pthread_mutex_unlock(&gate->mutex);
    bool timed_out = error != NULL;
    error_free(error);
    EXPECT(timed_out == (sleeper->name == 't'));
    return NULL;
}

enum { WAITERS = 500 };

static kith_error *time_out_half(void *argument)
{
    struct gate *gate = argument;
    static struct sleeper sleepers[WAITERS];
    static struct fiber *fibers[WAITERS];
    uint64_t seed = 7;
    for (size_t i = 0; i < WAITERS; i++) {
        int64_t until = 100 + (int64_t)(test_random(&seed) % 1000);
        sleepers[i] = (struct sleeper){gate, until, until <= 501 ? 't' : 'w'};
        TRY(spawn(wait_for_either, &sleepers[i], &fibers[i]));
    }
    TRY(fiber_yield());
    for (size_t step = 0; step < 50; step++)
        fake_clock_advance(&gate->clock, gate->runtime, 10);
    for (size_t i = 0; i < WAITERS; i++) {
        if (sleepers[i].name == 't')
            TRY(fiber_join(fibers[i]));
    }
    open_gate(gate, WAITERS);
    for (size_t i = 0; i < WAITERS; i++) {
        if (sleepers[i].name == 'w')
            TRY(fiber_join(fibers[i]));
    }
    return NULL;
}

static void of_many_waits_exactly_those_time_out_whose_deadline_came(void **state)
{
    struct gate gate;
    run_on_fake_clock(time_out_half, &gate);
}

static kith_error *sleep_two_milliseconds(void *argument)
{
    const struct clock *clock = runtime_clock(runtime_current());
    int64_t until = clock_monotonic_ns(clock) + 2 * NANOSECONDS_PER_MILLISECOND;
    TRY(sleep_until(until));
    EXPECT(clock_monotonic_ns(clock) >= until);
    return NULL;
}

static kith_error *sleep_in_parallel(void *argument)
{
    struct fiber *fibers[20];
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(spawn(sleep_two_milliseconds, NULL, &fibers[i]));
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(fiber_join(fibers[i]));
    return NULL;
}

static void sleeping_on_the_machines_clock_ends_after_the_deadline(void **state)
{
    run_on(1, sleep_in_parallel, NULL);
    run_on(2, sleep_in_parallel, NULL);
}

static kith_error *sleep_an_hour(void *argument)
{
    return sleep_until(clock_monotonic_ns(&system_clock) + 3600 * NANOSECONDS_PER_SECOND);
}

static kith_error *sleep_less_than_another(void *argument)
{
    struct fiber *fiber = NULL;
    _cleanup_(cancel_token_unref) struct cancel_token *token = NULL;
    TRY(cancel_token_new(NULL, &token));
    TRY(fiber_spawn(runtime_current(), &(struct fiber_options){.cancel = token}, sleep_an_hour, NULL, &fiber));
    TRY(fiber_yield());
    TRY(sleep_two_milliseconds(NULL));
    cancel_token_cancel(token, NULL);
    EXPECT_FAILS(fiber_join(fiber), KITH_ERROR_CANCELLED);
    return NULL;
}

static void a_nearer_deadline_is_kept_though_a_later_one_came_first(void **state)
{
    run_on(1, sleep_less_than_another, NULL);
}

/* A yielding fiber must not keep timers from those that wait for one. */
static kith_error *yield_until_set(void *argument)
{
    while (!atomic_load((atomic_bool *)argument))
        TRY(fiber_yield());
    return NULL;
}

static kith_error *sleep_and_set(void *argument)
{
    TRY(sleep_two_milliseconds(NULL));
    atomic_store((atomic_bool *)argument, true);
    return NULL;
}

static kith_error *sleep_beside_one_yielder(void *argument)
{
    struct fiber *sleeper = NULL;
    atomic_store((atomic_bool *)argument, false);
    TRY(spawn(sleep_and_set, argument, &sleeper));
    TRY(yield_until_set(argument));
    return fiber_join(sleeper);
}

static kith_error *sleep_beside_two_yielders(void *argument)
{
    struct fiber *yielder = NULL, *sleeper = NULL;
    atomic_store((atomic_bool *)argument, false);
    TRY(spawn(sleep_and_set, argument, &sleeper));
    TRY(spawn(yield_until_set, argument, &yielder));
    TRY(yield_until_set(argument));
    TRY(fiber_join(yielder));
    return fiber_join(sleeper);
}

static void yielding_fibers_do_not_starve_timers(void **state)
{
    atomic_bool flag;
    run_on(1, sleep_beside_one_yielder, &flag);
    run_on(1, sleep_beside_two_yielders, &flag);
}

/* Wake-ups, deadlines and cancellations race for the same waiters. Those that may give up hand a pass that they got on
 * to the next; so if none is lost, all that wait for ever pass in the end. */
struct race {
    struct gate gate;
    atomic_uint_fast64_t seed;
};

static kith_error *wait_a_moment(void *argument)
{
    struct race *race = argument;
    uint64_t seed = atomic_fetch_add(&race->seed, 1);
    int64_t deadline_ns = clock_monotonic_ns(&system_clock) + (int64_t)(test_random(&seed) % 200000);
    kith_error *error = NULL;
    pthread_mutex_lock(&race->gate.mutex);
    while (error == NULL && race->gate.passes == 0)
        error = wait_list_wait(&race->gate.list, &race->gate.mutex, deadline_ns);
    if (error == NULL)
        wait_list_wake_one(&race->gate.list);
    pthread_mutex_unlock(&race->gate.mutex);
    EXPECT(error == NULL || kith_error_code(error) == KITH_ERROR_TIMEOUT ||
           kith_error_code(error) == KITH_ERROR_CANCELLED);
    error_free(error);
    return NULL;
}

static kith_error *race_for_passes(void *argument)
{
    struct race *race = argument;
    struct fiber *fibers[60];
    _cleanup_(cancel_token_unref) struct cancel_token *token = NULL;
    TRY(cancel_token_new(NULL, &token));
    const struct fiber_options cancellable = {.cancel = token};
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++) {
        bool for_ever = i % 3 == 0;
        TRY(fiber_spawn(runtime_current(), i % 3 == 1 ? &cancellable : NULL, for_ever ? pass : wait_a_moment,
                        for_ever ? (void *)&race->gate : (void *)race, &fibers[i]));
    }
    for (size_t i = 0; i < ARRAY_SIZE(fibers) / 3; i++) {
        TRY(fiber_yield());
        if (i == 10)
            cancel_token_cancel(token, NULL);
        open_gate(&race->gate, 1);
    }
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(fiber_join(fibers[i]));
    EXPECT(race->gate.passed == ARRAY_SIZE(fibers) / 3 && race->gate.list.first == NULL);
    return NULL;
}

static void no_wake_up_is_lost_to_a_deadline_or_a_cancellation(void **state)
{
    for (size_t i = 0; i < 60; i++) {
        struct race race = {.seed = i * 1000};
        gate_init(&race.gate);
        run_on(1 + i % 4, race_for_passes, &race);
    }
}

/* Fibers that sleep, yield and pass items on as a seed tells them, on one thread and a clock moved by one of them. */
struct simulation {
    struct gate gate;
    struct channel *channel;
    uint64_t log; /* a hash over who did what when */
    size_t left;
};

static kith_error *act_at_random(void *argument)
{
    struct simulation *simulation = argument;
    uint64_t seed = simulation->left--;
    const uint64_t name = seed;
    for (size_t i = 0; i < 50; i++) {
        void *item = NULL;
        bool sent = false;
        switch (test_random(&seed) % 4) {
        case 0:
            TRY(sleep_until(atomic_load(&simulation->gate.clock.now_ns) + (int64_t)(test_random(&seed) % 50)));
            break;
        case 1:
            TRY(fiber_yield());
            break;
        case 2:
            TRY(channel_send(simulation->channel, simulation, &sent));
            break;
        default:
            error_free(
                channel_recv_until(simulation->channel, atomic_load(&simulation->gate.clock.now_ns) + 20, &item));
            break;
        }
        simulation->log = simulation->log * 31 + name * 4 + (item != NULL ? 2 : 0) + (sent ? 1 : 0);
    }
    return NULL;
}

static kith_error *simulate(void *argument)
{
    struct simulation *simulation = CONTAINER_OF((struct gate *)argument, struct simulation, gate);
    struct fiber *fibers[20];
    simulation->left = ARRAY_SIZE(fibers);
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(spawn(act_at_random, simulation, &fibers[i]));
    while (runtime_live_fibers(simulation->gate.runtime) > 1) {
        TRY(fiber_yield());
        fake_clock_advance(&simulation->gate.clock, simulation->gate.runtime, 10);
        void *item = NULL;
        channel_try_recv(simulation->channel, &item); /* so that no sender waits for ever */
    }
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(fiber_join(fibers[i]));
    return NULL;
}

static void one_thread_and_one_clock_give_the_same_order_every_time(void **state)
{
    uint64_t first = 0;
    for (size_t i = 0; i < 5; i++) {
        struct simulation simulation = {0};
        assert_ok(channel_new(3, NULL, &simulation.channel));
        run_on_fake_clock(simulate, &simulation.gate);
        channel_unref(simulation.channel);
        if (i == 0)
            first = simulation.log;
        assert_true(simulation.log == first);
    }
}

struct rounds {
    struct barrier *barrier;
    size_t parties;
    atomic_size_t arrivals;
};

static kith_error *pass_rounds(void *argument)
{
    struct rounds *rounds = argument;
    for (size_t round = 1; round <= 200; round++) {
        atomic_fetch_add(&rounds->arrivals, 1);
        TRY(barrier_wait(rounds->barrier));
        EXPECT(atomic_load(&rounds->arrivals) >= round * rounds->parties);
        EXPECT(atomic_load(&rounds->arrivals) <= (round + 1) * rounds->parties - 1 || round == 200);
    }
    return NULL;
}

static kith_error *run_rounds(void *argument)
{
    struct rounds *rounds = argument;
    struct fiber *fibers[8];
    for (size_t i = 0; i < rounds->parties; i++)
        TRY(spawn(pass_rounds, rounds, &fibers[i]));
    for (size_t i = 0; i < rounds->parties; i++)
        TRY(fiber_join(fibers[i]));
    return NULL;
}

static void nobody_passes_a_barrier_before_all_have_come(void **state)
{
    for (size_t threads = 1; threads <= 4; threads++) {
        struct rounds rounds = {.parties = 2 * threads};
        assert_ok(barrier_new(rounds.parties, &rounds.barrier));
        run_on(threads, run_rounds, &rounds);
        barrier_free(rounds.barrier);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waking_one_and_all_lets_everyone_pass),
        cmocka_unit_test(threads_outside_the_runtime_can_wait_too),
        cmocka_unit_test(a_thread_outside_times_out_at_its_deadline),
        cmocka_unit_test(sleepers_wake_in_the_order_of_their_deadlines),
        cmocka_unit_test(a_wait_times_out_at_its_deadline_and_not_before),
        cmocka_unit_test(receiving_with_a_deadline_times_out_only_when_empty),
        cmocka_unit_test(of_many_waits_exactly_those_time_out_whose_deadline_came),
        cmocka_unit_test(sleeping_on_the_machines_clock_ends_after_the_deadline),
        cmocka_unit_test(a_nearer_deadline_is_kept_though_a_later_one_came_first),
        cmocka_unit_test(yielding_fibers_do_not_starve_timers),
        cmocka_unit_test(no_wake_up_is_lost_to_a_deadline_or_a_cancellation),
        cmocka_unit_test(one_thread_and_one_clock_give_the_same_order_every_time),
        cmocka_unit_test(nobody_passes_a_barrier_before_all_have_come),
    };
    return cmocka_run_group_tests_name("runtime/sync", tests, NULL, NULL);
}
