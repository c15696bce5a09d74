#include "testing.h"

#include "parquet/workspace.h"

#include <pthread.h>

static void memory_comes_back_to_the_next_reader(void **state)
{
    struct workspace_cache cache = {.slots = {NULL}};
    struct workspace *first, *second;
    assert_ok(workspace_take(&cache, &first));
    assert_ok(page_buffer_reserve(&first->page, 1000));
    const uint8_t *memory = first->page.data;
    workspace_give(&cache, first);
    assert_ok(workspace_take(&cache, &second));
    assert_ptr_equal(second->page.data, memory);
    assert_ok(page_buffer_reserve(&second->page, WORKSPACE_BUFFER_BYTES + 1));
    workspace_give(&cache, second);
    assert_ok(workspace_take(&cache, &first));
    assert_null(first->page.data); /* too large to keep */
    workspace_give(&cache, first);
    workspace_cache_reset(&cache);
}

enum { THREADS = 4, ROUNDS = 5000, HELD = 30 }; /* together more than the cache holds */

/* A workspace that two threads held at once would be found with the other's mark in it; TSan would tell, too. Gives
 * NULL when all went well. */
static void *take_and_give(void *argument)
{
    static char fault;
    struct workspace_cache *cache = argument;
    struct workspace *held[HELD];
    void *result = NULL;
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = 1 + (size_t)round % HELD;
        for (size_t i = 0; i < count; i++) {
            kith_error *error = workspace_take(cache, &held[i]);
            if (error != NULL) {
                error_free(error);
                return &fault;
            }
            held[i]->page.capacity = (uintptr_t)&held[i];
        }
        for (size_t i = 0; i < count; i++) {
            if (held[i]->page.capacity != (uintptr_t)&held[i])
                result = &fault;
            held[i]->page.capacity = 0;
            workspace_give(cache, held[i]);
        }
    }
    return result;
}

static void threads_never_share_a_workspace(void **state)
{
    struct workspace_cache cache = {.slots = {NULL}};
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &cache), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *fault;
        assert_int_equal(pthread_join(threads[i], &fault), 0);
        assert_null(fault);
    }
    workspace_cache_reset(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_comes_back_to_the_next_reader),
        cmocka_unit_test(threads_never_share_a_workspace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
