#include "fibers.h"

#include "base/limits.h"
#include "base/log.h"
#include "runtime/turns.h"

static const int64_t too_long_ns = (LIMIT_TURN_MILLISECONDS + 1) * NANOSECONDS_PER_MILLISECOND;

/* A runtime of one thread whose time only the fibers move. */
struct timed {
    struct fake_clock clock;
    struct runtime *runtime;
    struct turn_account account, inner;
    struct runtime_turns turns;
};

static void run_timed(fiber_function function, struct timed *timed)
{
    *timed = (struct timed){.account = {.name = "SortExec"}, .inner = {.name = "FilterExec"}};
    fake_clock_init(&timed->clock);
    assert_ok(runtime_new(&(struct runtime_options){.threads = 1, .clock = &timed->clock.clock}, &timed->runtime));
    assert_ok(runtime_run(timed->runtime, function, timed));
    runtime_read_turns(timed->runtime, &timed->turns);
    runtime_free(timed->runtime);
}

static void work(struct timed *timed, int64_t ns)
{
    atomic_fetch_add(&timed->clock.now_ns, ns);
}

static kith_error *yield_forever(void *argument)
{
    atomic_bool *stop = argument;
    while (!atomic_load(stop))
        TRY(fiber_yield());
    return NULL;
}

static kith_error *take_three_turns(void *argument)
{
    struct timed *timed = argument;
    struct fiber *other;
    atomic_bool stop = false;
    TRY(spawn(yield_forever, &stop, &other));
    struct turn_account *before = fiber_enter(&timed->account);
    EXPECT(before == NULL);
    work(timed, 700);
    TRY(fiber_yield());
    work(timed, 900);
    TRY(coop_charge(COOP_BUDGET)); /* all that there is: a forced yield */
    before = fiber_enter(&timed->inner);
    EXPECT(before == &timed->account);
    work(timed, 300);
    TRY(fiber_yield());
    fiber_leave(before);
    fiber_leave(NULL);
    atomic_store(&stop, true);
    return fiber_join(other);
}

static void turns_are_counted_to_what_the_fiber_does(void **state)
{
    struct timed timed;
    run_timed(take_three_turns, &timed);
    assert_int_equal(timed.account.turns, 2);
    assert_int_equal(timed.account.forced_yields, 1);
    assert_int_equal(timed.account.longest_ns, 900);
    assert_int_equal(timed.inner.turns, 1);
    assert_int_equal(timed.inner.forced_yields, 0);
    assert_int_equal(timed.inner.longest_ns, 300);
    assert_int_equal(timed.turns.forced_yields, 1);
    assert_int_equal(timed.turns.longest_ns, 900);
    assert_true(timed.turns.turns >= 6);
    assert_int_equal(timed.turns.too_long, 0);
}

static kith_error *hold_the_thread(void *argument)
{
    struct timed *timed = argument;
    fiber_enter(&timed->account);
    work(timed, too_long_ns);
    fiber_leave(NULL);
    return NULL;
}

static void a_turn_longer_than_the_limit_is_logged(void **state)
{
    struct timed timed;
    run_timed(hold_the_thread, &timed);
    assert_int_equal(timed.turns.too_long, 1);
    assert_int_equal(timed.turns.longest_ns, too_long_ns);
}

static kith_error *charge_on_the_way(void *argument)
{
    struct timed *timed = argument;
    fiber_enter(&timed->account);
    for (size_t i = 0; i < 10 * COOP_BUDGET; i++) {
        work(timed, too_long_ns / 2);
        TRY(coop_charge(1));
    }
    fiber_leave(NULL);
    return NULL;
}

static void a_fiber_that_charges_on_its_way_keeps_no_thread_too_long(void **state)
{
    struct timed timed;
    run_timed(charge_on_the_way, &timed);
    assert_int_equal(timed.turns.too_long, 0);
    assert_true(timed.account.turns > 10);
}

static kith_error *spin_until_seen(void *argument)
{
    struct turn_account account = {.name = "a loop without an end"};
    struct runtime_turns turns = {0};
    fiber_enter(&account);
    while (turns.too_long == 0)
        runtime_read_turns(runtime_current(), &turns);
    fiber_leave(NULL);
    return NULL;
}

static void a_turn_that_does_not_end_is_logged(void **state)
{
    run_on(1, spin_until_seen, NULL);
}

static void outside_a_fiber_nothing_is_counted(void **state)
{
    struct turn_account account = {.name = "ProjectionExec"};
    assert_null(fiber_enter(&account));
    fiber_leave(NULL);
    assert_int_equal(account.turns, 0);
}

int main(void)
{
    log_set_level(LOG_LEVEL_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_counted_to_what_the_fiber_does),
        cmocka_unit_test(a_turn_longer_than_the_limit_is_logged),
        cmocka_unit_test(a_fiber_that_charges_on_its_way_keeps_no_thread_too_long),
        cmocka_unit_test(a_turn_that_does_not_end_is_logged),
        cmocka_unit_test(outside_a_fiber_nothing_is_counted),
    };
    return cmocka_run_group_tests_name("runtime/turns", tests, NULL, NULL);
}
