#include "compute/columns.h"
#include "compute/like.h"

/* By recursion over both texts, character by character: slow and plain. */
static bool twin(const char *pattern, const char *text)
{
    if (*pattern == '\0')
        return *text == '\0';
    if (*pattern == '%')
        return twin(pattern + 1, text) || (*text != '\0' && twin(pattern, text + 1));
    if (*text == '\0')
        return false;
    if (*pattern == '_') {
        do
            text++;
        while (((uint8_t)*text & 0xC0) == 0x80);
        return twin(pattern + 1, text);
    }
    if (*pattern == '\\' && pattern[1] != '\0')
        pattern++;
    return *pattern == *text && twin(pattern + 1, text + 1);
}

static bool like(const char *pattern, const char *text, bool case_insensitive)
{
    _cleanup_(like_pattern_free) struct like_pattern *compiled = NULL;
    assert_ok(like_compile(str_of(pattern), case_insensitive, &compiled));
    return like_matches(compiled, str_of(text));
}

/* DuckDB 1.x and PostgreSQL: SELECT 'é' LIKE '_', 'ab' LIKE 'a%b%', 'abc' LIKE '%b', '' LIKE '%', 'aXbXc' LIKE 'a%b_c';
 * backslash escapes as PostgreSQL and DataFusion have them: 'a%c' LIKE 'a\%c', 'abc' LIKE 'a\_c', 'a\' LIKE 'a\' */
static void wildcards_and_escapes(void **state)
{
    assert_true(like("_", "é", false));
    assert_true(like("a%b%", "ab", false));
    assert_false(like("%b", "abc", false));
    assert_true(like("%", "", false));
    assert_true(like("", "", false));
    assert_false(like("", "a", false));
    assert_true(like("a%b_c", "aXbXc", false));
    assert_true(like("a\\%c", "a%c", false));
    assert_false(like("a\\%c", "abc", false));
    assert_false(like("a\\_c", "abc", false));
    assert_true(like("a\\\\", "a\\", false));
    assert_true(like("a\\", "a\\", false));
    assert_true(like("%\\%%", "5% off", false));
}

/* SELECT 'ÄB' ILIKE 'äb', 'straße' ILIKE 'STRASSE' (PostgreSQL, DuckDB: true, false) */
static void ilike_ignores_the_case_of_any_alphabet(void **state)
{
    assert_true(like("äb", "ÄB", true));
    assert_true(like("%ΣΙΓ%", "ασιγβ", true));
    assert_true(like("a_C", "Abc", true));
    assert_false(like("STRASSE", "straße", true));
}

static void every_pattern_class_agrees_with_the_twin(void **state)
{
    static const char *const pieces[] = {"a", "b", "%", "_", "é", "\\%", "\\_", "ab", "%%"};
    static const char *const letters[] = {"a", "b", "é", "%", "_", "ab", "ba"};
    uint64_t random = 6;
    for (int round = 0; round < 60000; round++) {
        _cleanup_(strbuf_reset) struct strbuf pattern = {0}, text = {0};
        for (size_t n = test_random(&random) % 7; n > 0; n--)
            assert_ok(strbuf_append_text(&pattern, pieces[test_random(&random) % ARRAY_SIZE(pieces)]));
        for (size_t n = test_random(&random) % 9; n > 0; n--)
            assert_ok(strbuf_append_text(&text, letters[test_random(&random) % ARRAY_SIZE(letters)]));
        if (like(strbuf_text(&pattern), strbuf_text(&text), false) != twin(strbuf_text(&pattern), strbuf_text(&text)))
            fail_msg("\"%s\" LIKE \"%s\"", strbuf_text(&text), strbuf_text(&pattern));
    }
}

static void the_prefix_is_what_comes_before_the_first_wildcard(void **state)
{
    _cleanup_(like_pattern_free) struct like_pattern *some = NULL, *whole = NULL, *folded = NULL;
    bool is_whole;
    assert_ok(like_compile(str_of("a\\%b%c"), false, &some));
    assert_true(str_equal(like_prefix(some, &is_whole), str_of("a%b")));
    assert_false(is_whole);
    assert_ok(like_compile(str_of("abc"), false, &whole));
    assert_true(str_equal(like_prefix(whole, &is_whole), str_of("abc")));
    assert_true(is_whole);
    assert_ok(like_compile(str_of("abc%"), true, &folded));
    assert_int_equal(like_prefix(folded, &is_whole).length, 0);
}

static void columns_of_patterns_and_nulls(void **state)
{
    _cleanup_(array_unref) struct array *texts = TEXTS("abc", "abc", NULL, "xyz"),
                                        *patterns = TEXTS("a%", "%b", "%", NULL);
    _cleanup_(array_unref) struct array *by_row = NULL, *by_one = NULL;
    _cleanup_(like_pattern_free) struct like_pattern *pattern = NULL;
    struct datum text = datum_of(texts), wanted = datum_of(patterns);
    assert_ok(like_run_patterns(&text, &wanted, false, false, 4, NULL, &by_row));
    assert_column(by_row, "true,false,NULL,NULL");
    assert_ok(like_compile(str_of("%b%"), false, &pattern));
    assert_ok(like_run(&text, pattern, true, 4, NULL, &by_one));
    assert_column(by_one, "false,false,NULL,true");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wildcards_and_escapes),
        cmocka_unit_test(ilike_ignores_the_case_of_any_alphabet),
        cmocka_unit_test(every_pattern_class_agrees_with_the_twin),
        cmocka_unit_test(the_prefix_is_what_comes_before_the_first_wildcard),
        cmocka_unit_test(columns_of_patterns_and_nulls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
