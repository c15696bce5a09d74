#include "testing.h"

#include "base/memory_pool.h"

static void a_reservation_past_the_limit_is_refused_and_changes_nothing(void **state)
{
    _cleanup_(memory_pool_free) struct memory_pool *pool = NULL;
    assert_ok(memory_pool_new(100, &pool));
    _cleanup_(reservation_release) struct reservation a = reservation_make(pool, "Top-K");
    _cleanup_(reservation_release) struct reservation b = reservation_make(pool, "sort");
    assert_ok(reservation_resize(&a, 60));
    assert_fails(reservation_resize(&b, 41), KITH_ERROR_OUT_OF_MEMORY, "sort needs 41 more bytes");
    assert_int_equal(memory_pool_used(pool), 60);
    assert_ok(reservation_resize(&a, 10));
    assert_ok(reservation_resize(&b, 41));
    assert_int_equal(memory_pool_used(pool), 51);
    assert_int_equal(memory_pool_peak(pool), 60);
}

static void releasing_gives_everything_back(void **state)
{
    _cleanup_(memory_pool_free) struct memory_pool *pool = NULL;
    assert_ok(memory_pool_new(0, &pool));
    struct reservation a = reservation_make(pool, "x");
    assert_ok(reservation_resize(&a, (size_t)1 << 40));
    reservation_release(&a);
    reservation_release(&a);
    assert_int_equal(memory_pool_used(pool), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reservation_past_the_limit_is_refused_and_changes_nothing),
        cmocka_unit_test(releasing_gives_everything_back),
    };
    return cmocka_run_group_tests_name("base/memory_pool", tests, NULL, NULL);
}
