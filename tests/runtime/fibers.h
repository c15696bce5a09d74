/*
 * For tests of and on fibers. A failing cmocka assertion leaves by longjmp, which must not cross from a fiber's stack
 * to the test's: inside fibers EXPECT returns an error, which the test sees when it joins or runs the fiber.
 */
#ifndef KITH_TESTS_RUNTIME_FIBERS_H
#define KITH_TESTS_RUNTIME_FIBERS_H

#include "testing.h"

#include "runtime/fiber.h"
#include "runtime/runtime.h"

#include <stdatomic.h>

#define EXPECT(condition)                                                                                \
    do {                                                                                                 \
        if (!(condition))                                                                                \
            return error_new(KITH_ERROR_INTERNAL, "%s:%d: expected %s", __FILE__, __LINE__, #condition); \
    } while (0)

/* The call must fail with `code`; for use inside fibers. */
#define EXPECT_FAILS(call, code)                                                                               \
    do {                                                                                                       \
        kith_error *expect_error_ = (call);                                                                    \
        enum kith_code expect_code_ = expect_error_ == NULL ? KITH_OK : kith_error_code(expect_error_);        \
        error_free(expect_error_);                                                                             \
        if (expect_code_ != (code))                                                                            \
            return error_new(KITH_ERROR_INTERNAL, "%s:%d: %s gave %s, expected %s", __FILE__, __LINE__, #call, \
                             error_code_name(expect_code_), error_code_name(code));                            \
    } while (0)

/* A clock that stands still until the test moves it. */
struct fake_clock {
    struct clock clock;
    _Atomic int64_t now_ns;
};

static inline int64_t fake_clock_now(const struct clock *clock)
{
    return atomic_load(&CONTAINER_OF((struct clock *)(uintptr_t)clock, struct fake_clock, clock)->now_ns);
}

static inline void fake_clock_init(struct fake_clock *fake)
{
    fake->clock = (struct clock){.monotonic_ns = fake_clock_now, .wall_ns = fake_clock_now};
    atomic_init(&fake->now_ns, 1);
}

/* Runs `function(argument)` as the main fiber of a runtime of `threads` threads, in which it must succeed and leave no
 * fiber behind. */
static inline void run_on(size_t threads, fiber_function function, void *argument)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    assert_ok(runtime_new(&(struct runtime_options){.threads = threads}, &runtime));
    assert_ok(runtime_run(runtime, function, argument));
    assert_int_equal(runtime_live_fibers(runtime), 0);
}

/* The same on one thread for which time stands still, so that fibers run in the same order every time. */
static inline void run_in_order(fiber_function function, void *argument)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    struct fake_clock clock;
    fake_clock_init(&clock);
    assert_ok(runtime_new(&(struct runtime_options){.threads = 1, .clock = &clock.clock}, &runtime));
    assert_ok(runtime_run(runtime, function, argument));
    assert_int_equal(runtime_live_fibers(runtime), 0);
}

static inline kith_error *spawn(fiber_function function, void *argument, struct fiber **out)
{
    return fiber_spawn(runtime_current(), NULL, function, argument, out);
}

static inline void fake_clock_advance(struct fake_clock *fake, struct runtime *runtime, int64_t by_ns)
{
    atomic_fetch_add(&fake->now_ns, by_ns);
    runtime_clock_advanced(runtime);
}

/* A test whose body runs as a fiber of two threads, and leaves no fiber behind. cmocka cannot jump out of a fiber's
 * stack, so a check that fails there ends the program, after its message. */
#define FIBER_TEST(name)                            \
    static kith_error *name##_body(void *argument); \
    static void name(void **state)                  \
    {                                               \
        setenv("CMOCKA_TEST_ABORT", "1", 1);        \
        run_on(2, name##_body, NULL);               \
    }                                               \
    static kith_error *name##_body(void *argument)

#endif
