#include "testing.h"

#include "base/alloc.h"
#include "columnar/buffer.h"

static size_t released;

static void count_release(void *owner)
{
    released += *(const size_t *)owner;
}

static void a_buffer_is_aligned_and_padded_with_zeros(void **state)
{
    for (size_t size = 0; size < 300; size += 37) {
        _cleanup_(buffer_unref) struct buffer *buffer = NULL;
        assert_ok(buffer_new(size, &buffer));
        assert_int_equal(buffer->size, size);
        assert_int_equal((uintptr_t)buffer->data % 64, 0);
        memset(buffer->data, 1, size);
        for (size_t i = 0; i < 64; i++)
            assert_int_equal(buffer->data[size + i], 0);
    }
}

static void memory_of_others_is_given_back_with_the_last_reference(void **state)
{
    size_t one = 1;
    struct buffer *buffer = NULL;
    released = 0;
    assert_ok(buffer_wrap("abc", 3, count_release, &one, &buffer));
    assert_memory_equal(buffer->data, "abc", 3);
    buffer_ref(buffer);
    buffer_unref(buffer);
    assert_int_equal(released, 0);
    buffer_unref(buffer);
    assert_int_equal(released, 1);
}

static void on_error_the_caller_keeps_its_memory(void **state)
{
    size_t one = 1;
    struct buffer *buffer = NULL;
    released = 0;
    alloc_fail_after(1);
    assert_fails(buffer_wrap("abc", 3, count_release, &one, &buffer), KITH_ERROR_OUT_OF_MEMORY, "");
    assert_int_equal(released, 0);
    _cleanup_free_ char *bytes = NULL;
    assert_ok(alloc_string("abc", 3, &bytes));
    alloc_fail_after(1);
    assert_fails(buffer_wrap_allocated(bytes, 3, &buffer), KITH_ERROR_OUT_OF_MEMORY, "");
    assert_ok(buffer_wrap_allocated(bytes, 3, &buffer));
    assert_ptr_equal(buffer->data, TAKE(bytes));
    buffer_unref(buffer);
}

static void a_size_that_cannot_be_had_is_an_error(void **state)
{
    struct buffer *buffer = NULL;
    assert_fails(buffer_new(SIZE_MAX - 8, &buffer), KITH_ERROR_OUT_OF_MEMORY, "");
    assert_fails(buffer_new_zeroed((size_t)PTRDIFF_MAX, &buffer), KITH_ERROR_OUT_OF_MEMORY, "");
    assert_null(buffer_ref(NULL));
    buffer_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_is_aligned_and_padded_with_zeros),
        cmocka_unit_test(memory_of_others_is_given_back_with_the_last_reference),
        cmocka_unit_test(on_error_the_caller_keeps_its_memory),
        cmocka_unit_test(a_size_that_cannot_be_had_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
