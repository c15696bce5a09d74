#include "testing.h"

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"

static void text_grows_and_stays_terminated(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf buffer = {0};
    assert_string_equal(strbuf_text(&buffer), "");
    for (int i = 0; i < 100; i++)
        assert_ok(strbuf_printf(&buffer, "%d,", i));
    assert_ok(strbuf_append_fill(&buffer, '-', 3));
    assert_int_equal(buffer.length, 10 * 2 + 90 * 3 + 3);
    assert_string_equal(buffer.data + buffer.length - 6, "99,---");
}

static void growing_past_the_limit_is_refused(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf buffer = {.limit = 4};
    assert_ok(strbuf_append_text(&buffer, "abcd"));
    assert_fails(strbuf_append_text(&buffer, "e"), KITH_ERROR_LIMIT, "limit of 4");
    assert_string_equal(buffer.data, "abcd");
}

static void the_nearest_name_is_proposed_only_if_it_is_near(void **state)
{
    const char *const names[] = {"l_orderkey", "l_partkey", "l_comment"};
    assert_string_equal(str_nearest("l_oderkey", names, 3), "l_orderkey");
    assert_string_equal(str_nearest("L_COMENT", names, 3), "l_comment");
    assert_null(str_nearest("zzz", names, 3));
}

static void comparison_is_bytewise_with_prefixes_first(void **state)
{
    assert_true(str_compare(str_of("a"), str_of("ab")) < 0);
    assert_true(str_compare(str_of("b"), str_of("ab")) > 0);
    assert_true(str_compare(str_of("\xff"), str_of("a")) > 0);
    assert_int_equal(str_compare(str_of(""), str_of("")), 0);
}

static void an_arena_gives_zeroed_memory_up_to_its_limit(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {.limit = 10000};
    char *block;
    assert_ok(arena_alloc(&arena, 4000, 1, &block));
    for (int i = 0; i < 4000; i++)
        assert_int_equal(block[i], 0);
    char *text;
    assert_ok(arena_printf(&arena, &text, "%s-%d", "x", 5));
    assert_string_equal(text, "x-5");
    assert_fails(arena_alloc(&arena, 9000, 1, &block), KITH_ERROR_LIMIT, "10000 bytes");
}

static void a_vector_keeps_what_was_pushed(void **state)
{
    VEC(int) numbers = {0};
    for (int i = 0; i < 1000; i++)
        assert_ok(vec_push(&numbers, i));
    for (int i = 999; i >= 0; i--)
        assert_int_equal(vec_pop(&numbers), i);
    vec_reset(&numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows_and_stays_terminated),
        cmocka_unit_test(growing_past_the_limit_is_refused),
        cmocka_unit_test(the_nearest_name_is_proposed_only_if_it_is_near),
        cmocka_unit_test(comparison_is_bytewise_with_prefixes_first),
        cmocka_unit_test(an_arena_gives_zeroed_memory_up_to_its_limit),
        cmocka_unit_test(a_vector_keeps_what_was_pushed),
    };
    return cmocka_run_group_tests_name("base/strbuf", tests, NULL, NULL);
}
