#include "testing.h"

#include "storage/pattern.h"

static void a_star_matches_any_run_and_may_need_to_give_back(void **state)
{
    assert_true(pattern_matches("*.parquet", "a.parquet"));
    assert_true(pattern_matches("*a*b", "aXaXb"));
    assert_true(pattern_matches("*", "x"));
    assert_true(pattern_matches("a*", "a"));
    assert_false(pattern_matches("*.parquet", "a.parquet.crc"));
    assert_false(pattern_matches("a*b*c", "aXbX"));
    assert_false(pattern_matches("", "a"));
}

static void a_question_mark_is_one_character_of_utf8(void **state)
{
    assert_true(pattern_matches("a?c", "abc"));
    assert_true(pattern_matches("a?c", "a\xC3\xA9"
                                       "c"));
    assert_true(pattern_matches("?", "\xE2\x82\xAC"));
    assert_true(pattern_matches("??", "\xE2\x82")); /* not UTF-8: two characters */
    assert_false(pattern_matches("a?c", "ac"));
}

static void sets_take_ranges_negation_and_a_bracket_in_first_place(void **state)
{
    assert_true(pattern_matches("part-[0-9][ab].x", "part-7b.x"));
    assert_false(pattern_matches("part-[0-9]", "part-a"));
    assert_true(pattern_matches("[!a-c]", "d"));
    assert_false(pattern_matches("[^a-c]", "b"));
    assert_true(pattern_matches("[]x]", "]"));
    assert_true(pattern_matches("[a-]", "-"));
    assert_true(pattern_matches("[\xC3\xA0-\xC3\xBC]", "\xC3\xA9"));
    assert_true(pattern_matches("[ab", "[ab")); /* no closing bracket: a literal */
}

static void a_backslash_makes_the_next_character_literal(void **state)
{
    assert_true(pattern_matches("a\\*", "a*"));
    assert_false(pattern_matches("a\\*", "ab"));
    assert_true(pattern_matches("\\[x]", "[x]"));
}

static void a_leading_dot_must_be_asked_for(void **state)
{
    assert_false(pattern_matches("*", ".hidden"));
    assert_false(pattern_matches("?hidden", ".hidden"));
    assert_true(pattern_matches(".*", ".hidden"));
}

static void many_stars_do_not_take_exponential_time(void **state)
{
    char name[2001];
    memset(name, 'a', 2000);
    name[2000] = '\0';
    assert_false(pattern_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_star_matches_any_run_and_may_need_to_give_back),
        cmocka_unit_test(a_question_mark_is_one_character_of_utf8),
        cmocka_unit_test(sets_take_ranges_negation_and_a_bracket_in_first_place),
        cmocka_unit_test(a_backslash_makes_the_next_character_literal),
        cmocka_unit_test(a_leading_dot_must_be_asked_for),
        cmocka_unit_test(many_stars_do_not_take_exponential_time),
    };
    return cmocka_run_group_tests_name("storage/pattern", tests, NULL, NULL);
}
