#include "urgent.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "runtime/sync.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static kith_error *fail_with_argument(void *argument)
{
    return error_new(KITH_ERROR_CORRUPT, "%s", (const char *)argument);
}

static void running_gives_the_error_of_the_main_fiber(void **state)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    assert_ok(runtime_new(&(struct runtime_options){.threads = 2}, &runtime));
    char text[] = "no magic";
    assert_fails(runtime_run(runtime, fail_with_argument, text), KITH_ERROR_CORRUPT, "no magic");
    assert_null(runtime_current());
    assert_null(fiber_current());
}

static kith_error *join_a_failing_fiber(void *argument)
{
    struct fiber *fiber = NULL;
    TRY(spawn(fail_with_argument, argument, &fiber));
    EXPECT_FAILS(fiber_join(fiber), KITH_ERROR_CORRUPT);
    return NULL;
}

static void joining_gives_the_error_of_the_joined_fiber(void **state)
{
    char text[] = "x";
    for (size_t threads = 1; threads <= 3; threads++)
        run_on(threads, join_a_failing_fiber, text);
}

static kith_error *count_up(void *argument)
{
    atomic_fetch_add((atomic_size_t *)argument, 1);
    TRY(fiber_yield());
    atomic_fetch_add((atomic_size_t *)argument, 1);
    return NULL;
}

enum { THOUSANDS = 3000 };

static kith_error *spawn_thousands(void *argument)
{
    static struct fiber *fibers[THOUSANDS];
    for (size_t i = 0; i < THOUSANDS; i++)
        TRY(spawn(count_up, argument, &fibers[i]));
    EXPECT(runtime_live_fibers(runtime_current()) <= THOUSANDS + 1);
    for (size_t i = 0; i < THOUSANDS; i++)
        TRY(fiber_join(fibers[i]));
    return NULL;
}

static void thousands_of_fibers_run_to_their_end(void **state)
{
    for (size_t threads = 1; threads <= 4; threads++) {
        atomic_size_t count = 0;
        run_on(threads, spawn_thousands, &count);
        assert_int_equal(atomic_load(&count), 2 * THOUSANDS);
    }
}

static void fibers_can_be_spawned_and_joined_from_outside(void **state)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    assert_ok(runtime_new(&(struct runtime_options){.threads = 2}, &runtime));
    struct fiber *fibers[20];
    atomic_size_t count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        assert_ok(fiber_spawn(runtime, NULL, count_up, &count, &fibers[i]));
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        assert_ok(fiber_join(fibers[i]));
    assert_int_equal(atomic_load(&count), 2 * ARRAY_SIZE(fibers));
    assert_int_equal(runtime_live_fibers(runtime), 0);
}

/* Blocks its thread until `threads` fibers do, so all can pass only if each has a thread to itself. */
static kith_error *block_the_thread(void *argument)
{
    pthread_barrier_wait(argument);
    return NULL;
}

struct stealing {
    size_t threads;
    pthread_barrier_t all_threads;
};

static kith_error *spawn_one_a_thread(void *argument)
{
    struct stealing *stealing = argument;
    struct fiber *fibers[8];
    for (size_t i = 0; i < stealing->threads; i++)
        TRY(spawn(block_the_thread, &stealing->all_threads, &fibers[i]));
    for (size_t i = 0; i < stealing->threads; i++)
        TRY(fiber_join(fibers[i]));
    return NULL;
}

static void idle_threads_steal_what_one_thread_spawns(void **state)
{
    for (size_t threads = 1; threads <= 8; threads++) {
        struct stealing stealing = {.threads = threads};
        pthread_barrier_init(&stealing.all_threads, NULL, (unsigned)threads);
        for (size_t i = 0; i < 50; i++)
            run_on(threads, spawn_one_a_thread, &stealing);
        pthread_barrier_destroy(&stealing.all_threads);
    }
}

static kith_error *spawn_two_and_block(void *argument)
{
    struct fiber *meets_this = NULL, *second = NULL;
    atomic_size_t count = 0;
    TRY(spawn(block_the_thread, argument, &meets_this));
    TRY(spawn(count_up, &count, &second));
    pthread_barrier_wait(argument);
    TRY(fiber_join(meets_this));
    return fiber_join(second);
}

static void an_idle_thread_comes_when_two_wait_behind_a_running_fiber(void **state)
{
    pthread_barrier_t both;
    pthread_barrier_init(&both, NULL, 2);
    for (size_t i = 0; i < 50; i++)
        run_on(2, spawn_two_and_block, &both);
    pthread_barrier_destroy(&both);
}

static kith_error *set_flag(void *argument)
{
    atomic_store((atomic_bool *)argument, true);
    return NULL;
}

static kith_error *compute_until_flag(void *argument)
{
    struct fiber *fiber = NULL;
    TRY(spawn(set_flag, argument, &fiber));
    /* With nobody to steal the other fiber this loop would charge its way to a yield, and that end it too; so charge
     * nothing: only the charge's look at the backlog can help. */
    while (!atomic_load((atomic_bool *)argument))
        TRY(coop_charge(0));
    return fiber_join(fiber);
}

static void a_fiber_behind_one_that_computes_is_taken_by_an_idle_thread(void **state)
{
    atomic_bool flag = false;
    run_on(2, compute_until_flag, &flag);
    assert_true(atomic_load(&flag));
}

struct turns {
    char log[1024];
    size_t length;
};

static void note(struct turns *turns, char what)
{
    turns->log[turns->length++] = what;
}

static kith_error *charge_as(struct turns *turns, char what)
{
    for (size_t i = 0; i < 300; i++) {
        note(turns, what);
        TRY(coop_charge(1));
    }
    return NULL;
}

static kith_error *charge_as_a(void *argument)
{
    return charge_as(argument, 'a');
}

static kith_error *charge_as_b(void *argument)
{
    return charge_as(argument, 'b');
}

static kith_error *run_a_and_b(void *argument)
{
    struct fiber *a = NULL, *b = NULL;
    TRY(spawn(charge_as_a, argument, &a));
    TRY(spawn(charge_as_b, argument, &b));
    TRY(fiber_join(a));
    return fiber_join(b);
}

static void computing_fibers_take_turns_of_128_charges(void **state)
{
    struct turns turns = {0};
    run_in_order(run_a_and_b, &turns);
    assert_int_equal(turns.length, 600);
    char expected[601] = "";
    for (size_t i = 0; i < 600; i++)
        expected[i] = i < 128 ? 'a' : i < 256 ? 'b' : i < 384 ? 'a' : i < 512 ? 'b' : i < 556 ? 'a' : 'b';
    assert_memory_equal(turns.log, expected, 600);
}

static kith_error *charge_much_at_once(void *argument)
{
    note(argument, '1');
    TRY(coop_charge(1000));
    note(argument, '2');
    return NULL;
}

static kith_error *spawn_two_that_charge_much(void *argument)
{
    struct fiber *a = NULL, *b = NULL;
    TRY(spawn(charge_much_at_once, argument, &a));
    TRY(spawn(charge_much_at_once, argument, &b));
    TRY(fiber_join(a));
    return fiber_join(b);
}

static kith_error *compute_beside_an_urgent_fiber(void *argument)
{
    struct urgent_test *test = argument;
    struct fiber *urgent, *other;
    atomic_size_t count = 0;
    TRY(spawn(serve_urgently, test, &urgent));
    TRY(fiber_yield());
    TRY(spawn(count_up, &count, &other));
    wake_urgent(test);
    EXPECT(!test->served);
    TRY(coop_charge(1));
    EXPECT(test->served);
    TRY(fiber_join(other));
    return fiber_join(urgent);
}

static void a_computing_fiber_makes_way_for_an_urgent_one_at_its_next_charge(void **state)
{
    struct urgent_test test = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    run_in_order(compute_beside_an_urgent_fiber, &test);
}

static void charging_more_than_the_budget_yields_once(void **state)
{
    struct turns turns = {0};
    run_in_order(spawn_two_that_charge_much, &turns);
    assert_int_equal(turns.length, 4);
    assert_memory_equal(turns.log, "1122", 4);
}

static void charging_outside_a_fiber_does_nothing(void **state)
{
    assert_ok(coop_charge(100000));
    assert_ok(fiber_yield());
}

/* Volatile, as the compiler assumes that the rounding mode never changes and moves divisions across the change. */
static double third(void)
{
    volatile double one = 1.0, three = 3.0;
    volatile double result = one / three;
    return result;
}

static kith_error *round_upward(void *argument)
{
    fesetround(FE_UPWARD);
    const double upward = third(); /* not compared with the nearest: valgrind always rounds to that */
    for (size_t i = 0; i < 100; i++) {
        TRY(fiber_yield());
        EXPECT(fegetround() == FE_UPWARD);
        EXPECT(third() == upward);
    }
    return NULL;
}

static kith_error *round_to_nearest(void *argument)
{
    const double nearest = third();
    for (size_t i = 0; i < 100; i++) {
        TRY(fiber_yield());
        EXPECT(fegetround() == FE_TONEAREST);
        EXPECT(third() == nearest);
    }
    return NULL;
}

static kith_error *round_differently(void *argument)
{
    struct fiber *fibers[4];
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(spawn(i % 2 == 0 ? round_upward : round_to_nearest, NULL, &fibers[i]));
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(fiber_join(fibers[i]));
    return NULL;
}

static void the_rounding_mode_belongs_to_the_fiber(void **state)
{
    run_on(1, round_differently, NULL);
    run_on(2, round_differently, NULL);
}

struct migration {
    pthread_barrier_t both;
    bool migrated;
};

static kith_error *meet(void *argument)
{
    pthread_barrier_wait(&((struct migration *)argument)->both);
    return NULL;
}

/* Its thread is taken by the other fiber, so that it can only go on with another. */
static kith_error *use_errno_on_two_threads(void *argument)
{
    struct migration *migration = argument;
    struct fiber *fiber = NULL;
    TRY(spawn(meet, migration, &fiber));
    pid_t thread = gettid(); /* not pthread_self, whose result the compiler keeps as it does that of errno */
    const int *before = &errno;
    errno = E2BIG;
    TRY(fiber_yield());
    pthread_barrier_wait(&migration->both);
    bool migrated = gettid() != thread;
    EXPECT((before != &errno) == migrated);
    migration->migrated |= migrated;
    return fiber_join(fiber);
}

static void errno_is_that_of_the_thread_the_fiber_is_on(void **state)
{
    struct migration migration = {0};
    pthread_barrier_init(&migration.both, NULL, 2);
    /* An idle thread may take the other fiber instead. */
    while (!migration.migrated)
        run_on(2, use_errno_on_two_threads, &migration);
    pthread_barrier_destroy(&migration.both);
}

/* More values than there are registers, so that some are in callee-saved ones and some in memory across the switch. */
static kith_error *keep_values(void *argument)
{
    uint64_t seed = (uintptr_t)argument;
    uint64_t a = test_random(&seed), b = test_random(&seed), c = test_random(&seed), d = test_random(&seed);
    double e = (double)test_random(&seed), f = (double)test_random(&seed);
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t sum = a + b + c + d + i;
        double product = e * f;
        TRY(fiber_yield());
        EXPECT(sum == a + b + c + d + i);
        EXPECT(product == e * f);
    }
    return NULL;
}

static kith_error *keep_values_in_many(void *argument)
{
    struct fiber *fibers[16];
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(spawn(keep_values, &fibers[i], &fibers[i]));
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(fiber_join(fibers[i]));
    return NULL;
}

static void values_survive_switches(void **state)
{
    for (size_t threads = 1; threads <= 3; threads++)
        run_on(threads, keep_values_in_many, NULL);
}

static __attribute__((noinline)) size_t overflow_the_stack(volatile char *above, size_t depth)
{
    volatile char frame[4096];
    frame[0] = above[0];
    if (depth == 0)
        return 0;
    size_t below = overflow_the_stack(frame, depth - 1);
    return below + (size_t)frame[0];
}

static kith_error *overflow(void *argument)
{
    volatile char start = 1;
    size_t depth = (size_t)LIMIT_FIBER_STACK_BYTES / 4096 + 4;
    return overflow_the_stack(&start, depth) == 0 ? NULL : error_out_of_memory();
}

static void overflowing_the_stack_faults(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* their frames and stacks are larger, and they report the fault themselves */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    skip();
#endif
#endif
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
        signal(SIGSEGV, SIG_DFL); /* cmocka's handler would report it as a failed test */
        struct runtime *runtime = NULL;
        error_free(runtime_new(&(struct runtime_options){.threads = 1}, &runtime));
        error_free(runtime_run(runtime, overflow, NULL));
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void running_out_of_memory_is_an_error(void **state)
{
    struct runtime *runtime = NULL;
    size_t failures = 0;
    for (size_t n = 1; runtime == NULL; n++) {
        alloc_fail_after(n);
        kith_error *error = runtime_new(&(struct runtime_options){.threads = 2}, &runtime);
        alloc_fail_after(0);
        if (error != NULL)
            assert_fails(error, KITH_ERROR_OUT_OF_MEMORY, "out of memory");
        failures += runtime == NULL;
    }
    assert_true(failures > 0);

    struct fiber *fiber = NULL;
    atomic_size_t count = 0;
    alloc_fail_after(1);
    assert_fails(fiber_spawn(runtime, NULL, count_up, &count, &fiber), KITH_ERROR_OUT_OF_MEMORY, "out of memory");
    alloc_fail_after(0);
    assert_int_equal(runtime_live_fibers(runtime), 0);
    runtime_free(runtime);
    assert_int_equal(atomic_load(&count), 0);
}

static void freeing_a_runtime_waits_for_its_fibers(void **state)
{
    struct runtime *runtime = NULL;
    assert_ok(runtime_new(&(struct runtime_options){.threads = 2}, &runtime));
    struct fiber *fibers[50];
    atomic_size_t count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        assert_ok(fiber_spawn(runtime, NULL, count_up, &count, &fibers[i]));
    runtime_free(runtime);
    assert_int_equal(atomic_load(&count), 2 * ARRAY_SIZE(fibers));
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        assert_ok(fiber_join(fibers[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_gives_the_error_of_the_main_fiber),
        cmocka_unit_test(joining_gives_the_error_of_the_joined_fiber),
        cmocka_unit_test(thousands_of_fibers_run_to_their_end),
        cmocka_unit_test(fibers_can_be_spawned_and_joined_from_outside),
        cmocka_unit_test(idle_threads_steal_what_one_thread_spawns),
        cmocka_unit_test(an_idle_thread_comes_when_two_wait_behind_a_running_fiber),
        cmocka_unit_test(a_fiber_behind_one_that_computes_is_taken_by_an_idle_thread),
        cmocka_unit_test(computing_fibers_take_turns_of_128_charges),
        cmocka_unit_test(a_computing_fiber_makes_way_for_an_urgent_one_at_its_next_charge),
        cmocka_unit_test(charging_more_than_the_budget_yields_once),
        cmocka_unit_test(charging_outside_a_fiber_does_nothing),
        cmocka_unit_test(the_rounding_mode_belongs_to_the_fiber),
        cmocka_unit_test(errno_is_that_of_the_thread_the_fiber_is_on),
        cmocka_unit_test(values_survive_switches),
        cmocka_unit_test(overflowing_the_stack_faults),
        cmocka_unit_test(running_out_of_memory_is_an_error),
        cmocka_unit_test(freeing_a_runtime_waits_for_its_fibers),
    };
    return cmocka_run_group_tests_name("runtime/fiber", tests, NULL, NULL);
}
