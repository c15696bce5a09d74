#include "fibers.h"

#include "runtime/large_stack.h"

#include <sys/mman.h>
#include <unistd.h>

enum { FRAME_BYTES = 4096, DEEP_BYTES = 32 << 20 };

/* Uses a frame a level; not a tail call, as the frame is read afterwards. */
__attribute__((noinline)) static size_t recurse(const volatile char *above, size_t depth)
{
    volatile char frame[FRAME_BYTES];
    frame[0] = above[0];
    size_t below = depth == 0 ? 0 : recurse(frame, depth - 1);
    return below + (size_t)frame[0];
}

static kith_error *go_deep(void *argument)
{
    volatile char one = 1;
    *(size_t *)argument = recurse(&one, DEEP_BYTES / FRAME_BYTES);
    return NULL;
}

static kith_error *call_deep(void *argument)
{
    size_t levels = 0;
    TRY(call_on_large_stack(go_deep, &levels));
    EXPECT(levels == DEEP_BYTES / FRAME_BYTES + 1);
    return NULL;
}

static void a_call_goes_deeper_than_the_stacks_of_threads_and_fibers(void **state)
{
    assert_ok(call_deep(NULL));
    run_on(1, call_deep, NULL);
}

static kith_error *refuse(void *argument)
{
    return error_new(KITH_ERROR_SYNTAX, "%s", (const char *)argument);
}

static void the_error_of_the_function_is_given(void **state)
{
    char text[] = "no such thing";
    assert_fails(call_on_large_stack(refuse, text), KITH_ERROR_SYNTAX, "no such thing");
}

static kith_error *note_address(void *argument)
{
    volatile char here = 0;
    *(uintptr_t *)argument = (uintptr_t)&here;
    return NULL;
}

static kith_error *nest(void *argument)
{
    uintptr_t *addresses = argument;
    TRY(note_address(&addresses[0]));
    TRY(call_on_large_stack(note_address, &addresses[1]));
    return note_address(&addresses[2]);
}

static void calls_nest_each_on_a_stack_of_its_own(void **state)
{
    uintptr_t addresses[3] = {0};
    assert_ok(call_on_large_stack(nest, addresses));
    uintptr_t apart = MAX(addresses[0], addresses[1]) - MIN(addresses[0], addresses[1]);
    assert_true(apart >= LARGE_STACK_BYTES / 2);
    assert_true(addresses[2] > addresses[0] - FRAME_BYTES && addresses[2] < addresses[0] + FRAME_BYTES);
}

/* How many of the pages from `top` down are in memory. */
static kith_error *count_resident(uintptr_t top, size_t bytes, size_t *out)
{
    static unsigned char there[DEEP_BYTES / 4096];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    EXPECT(bytes % page == 0 && bytes / page <= sizeof there);
    EXPECT(mincore((void *)(top / page * page - bytes), bytes, there) == 0);
    *out = 0;
    for (size_t i = 0; i < bytes / page; i++)
        *out += there[i] & 1;
    return NULL;
}

static kith_error *stack_is_kept_without_its_memory(void *argument)
{
    uintptr_t first, second;
    size_t resident;
    TRY(call_on_large_stack(note_address, &first));
    TRY(call_deep(NULL));
    TRY(call_on_large_stack(note_address, &second));
    EXPECT(first == second);
    TRY(count_resident(first - (1 << 20), DEEP_BYTES / 2, &resident));
    EXPECT(resident == 0);
    return NULL;
}

static void a_runtime_keeps_the_stack_but_not_what_a_deep_call_has_touched(void **state)
{
    run_on(1, stack_is_kept_without_its_memory, NULL);
}

enum { CALLERS = 8, CALLS = 50 };

static kith_error *call_often(void *argument)
{
    for (size_t i = 0; i < CALLS; i++) {
        uintptr_t address;
        TRY(call_on_large_stack(note_address, &address));
        TRY(fiber_yield());
    }
    return NULL;
}

static kith_error *many_callers(void *argument)
{
    struct fiber *fibers[CALLERS];
    for (size_t i = 0; i < CALLERS; i++)
        TRY(spawn(call_often, NULL, &fibers[i]));
    for (size_t i = 0; i < CALLERS; i++)
        TRY(fiber_join(fibers[i]));
    return NULL;
}

static void fibers_of_several_threads_may_call_at_once(void **state)
{
    run_on(3, many_callers, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_goes_deeper_than_the_stacks_of_threads_and_fibers),
        cmocka_unit_test(the_error_of_the_function_is_given),
        cmocka_unit_test(calls_nest_each_on_a_stack_of_its_own),
        cmocka_unit_test(a_runtime_keeps_the_stack_but_not_what_a_deep_call_has_touched),
        cmocka_unit_test(fibers_of_several_threads_may_call_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
