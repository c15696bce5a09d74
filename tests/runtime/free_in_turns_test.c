#include "runtime/free_in_turns.h"

#include "runtime/chunks.h"

#include "base/alloc.h"

static kith_error *allocate_and_free(void *argument)
{
    const size_t *bytes = argument;
    unsigned char *memory;
    TRY(NEW_ARRAY(&memory, *bytes));
    memset(memory, 1, *bytes);
    free_in_turns(memory);
    return NULL;
}

static void large_memory_is_given_back_in_chunks(void **state)
{
    size_t bytes = 64 << 20, chunks;
    assert_ok(run_in_chunks(allocate_and_free, &bytes, 0, &chunks));
    assert_in_range(chunks, 16, 20);
}

static void a_cancelled_fiber_gives_all_of_it_back(void **state)
{
    size_t bytes = 64 << 20, chunks;
    assert_ok(run_in_chunks(allocate_and_free, &bytes, 2, &chunks));
    assert_in_range(chunks, 16, 20);
}

static void what_is_small_or_nothing_is_freed_at_once(void **state)
{
    size_t bytes = 1000, chunks;
    assert_ok(run_in_chunks(allocate_and_free, &bytes, 0, &chunks));
    assert_in_range(chunks, 1, 2);
    free_in_turns(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_memory_is_given_back_in_chunks),
        cmocka_unit_test(a_cancelled_fiber_gives_all_of_it_back),
        cmocka_unit_test(what_is_small_or_nothing_is_freed_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
