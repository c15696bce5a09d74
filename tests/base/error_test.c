#include "testing.h"

#include "base/alloc.h"

static void a_wrapped_error_keeps_code_position_and_hint_of_its_cause(void **state)
{
    kith_error *error = error_new(KITH_ERROR_CORRUPT, "page header ends early");
    error = error_hint(error_at(error, 6), "Copy the file again.");
    error = error_wrap(error, "reading \"%s\"", "a.parquet");

    char text[256];
    assert_string_equal(error_describe(error, text, sizeof text), "reading \"a.parquet\": page header ends early");
    assert_int_equal(kith_error_code(error), KITH_ERROR_CORRUPT);
    assert_int_equal(kith_error_position(error), 7);
    assert_string_equal(kith_error_hint(error), "Copy the file again.");
    assert_string_equal(kith_error_sqlstate(error), "XX001");
    kith_error_free(error);
}

static void wrapping_success_gives_success(void **state)
{
    assert_null(error_wrap(NULL, "context"));
    assert_null(error_at(NULL, 3));
    assert_null(error_hint(NULL, "hint"));
}

static void the_first_position_wins(void **state)
{
    kith_error *error = error_at(error_at(error_new(KITH_ERROR_SYNTAX, "x"), 10), 20);
    assert_int_equal(kith_error_position(error), 11);
    kith_error_free(error);
}

static void a_copy_is_equal_and_independent(void **state)
{
    kith_error *error = error_wrap(error_hint(error_new(KITH_ERROR_IO, "inner"), "do that"), "outer");
    kith_error *copy = error_copy(error);
    kith_error_free(error);
    char text[64];
    assert_string_equal(error_describe(copy, text, sizeof text), "outer: inner");
    assert_string_equal(kith_error_hint(copy), "do that");
    kith_error_free(copy);
}

static void a_missing_file_is_told_apart_from_other_io_errors(void **state)
{
    assert_fails(error_from_errno(2, "opening x"), KITH_ERROR_NOT_FOUND, "opening x: No such file");
    assert_fails(error_from_errno(13, "opening x"), KITH_ERROR_IO, "opening x: Permission denied");
}

static kith_error *allocate_twice(void)
{
    _cleanup_free_ char *first = NULL;
    _cleanup_free_ char *second = NULL;
    TRY(alloc_zeroed(10, 1, &first));
    TRY(alloc_zeroed(10, 1, &second));
    return NULL;
}

static void the_nth_allocation_can_be_made_to_fail(void **state)
{
    for (size_t n = 1; n <= 2; n++) {
        alloc_fail_after(n);
        assert_fails(allocate_twice(), KITH_ERROR_OUT_OF_MEMORY, "out of memory");
    }
    alloc_fail_after(3);
    assert_ok(allocate_twice());
    alloc_fail_after(0);
}

static void a_size_that_overflows_is_out_of_memory(void **state)
{
    void *pointer;
    assert_fails(alloc_zeroed(SIZE_MAX / 2, 4, &pointer), KITH_ERROR_OUT_OF_MEMORY, "");
    assert_fails(alloc_aligned(SIZE_MAX, &pointer), KITH_ERROR_OUT_OF_MEMORY, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrapped_error_keeps_code_position_and_hint_of_its_cause),
        cmocka_unit_test(wrapping_success_gives_success),
        cmocka_unit_test(the_first_position_wins),
        cmocka_unit_test(a_copy_is_equal_and_independent),
        cmocka_unit_test(a_missing_file_is_told_apart_from_other_io_errors),
        cmocka_unit_test(the_nth_allocation_can_be_made_to_fail),
        cmocka_unit_test(a_size_that_overflows_is_out_of_memory),
    };
    return cmocka_run_group_tests_name("base/error", tests, NULL, NULL);
}
