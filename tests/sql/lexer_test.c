#include "testing.h"

#include "sql/lexer.h"

/* The text's tokens, one a line, with their kinds. */
static void check_tokens(const char *sql, const char *expected)
{
    static const char *const kinds[] = {"end", "word", "quoted", "string", "number", "symbol"};
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct lexer lexer = {.text = str_of(sql)};
    for (;;) {
        struct token token = lexer_next(&lexer);
        if (token.kind == TOKEN_END)
            break;
        assert_ptr_equal(token.text.data, sql + token.offset);
        assert_ok(strbuf_printf(&text, "%s[%.*s] ", kinds[token.kind], (int)token.text.length, token.text.data));
    }
    assert_string_equal(strbuf_text(&text), expected);
}

static void words_numbers_and_symbols_are_told_apart(void **state)
{
    check_tokens("SELECT a_1$, 12 FROM t;",
                 "word[SELECT] word[a_1$] symbol[,] number[12] word[FROM] word[t] symbol[;] ");
    check_tokens("1.5e-3+.5 1e5-2", "number[1.5e-3] symbol[+] symbol[.] number[5] number[1e5] symbol[-] number[2] ");
    check_tokens("größe", "word[größe] ");
    check_tokens("", "");
    check_tokens(" \t\r\n", "");
}

static void a_doubled_quote_does_not_end_a_string(void **state)
{
    check_tokens("'it''s' 'b'", "string['it''s'] string['b'] ");
    check_tokens("\"a\"\"b\"c", "quoted[\"a\"\"b\"] word[c] ");
}

static void a_backslash_escapes_only_in_an_escape_string(void **state)
{
    check_tokens("'a\\' b", "string['a\\'] word[b] ");
    check_tokens("E'a\\' b' c", "string[E'a\\' b'] word[c] ");
    check_tokens("e'\\\\' c", "string[e'\\\\'] word[c] ");
}

static void a_dollar_string_ends_at_its_own_tag(void **state)
{
    check_tokens("$$a;'b$$ c", "string[$$a;'b$$] word[c] ");
    check_tokens("$x$ $$ $y$ $x$ c", "string[$x$ $$ $y$ $x$] word[c] ");
    /* $1 is a parameter, and a word may contain dollars. */
    check_tokens("$1 a$b$c", "symbol[$] number[1] word[a$b$c] ");
}

static void comments_are_passed_over_and_block_comments_nest(void **state)
{
    check_tokens("a -- b ' ;\nc", "word[a] word[c] ");
    check_tokens("a -- b\rc", "word[a] word[c] ");
    check_tokens("a /* b /* ; */ ' */ c", "word[a] word[c] ");
    check_tokens("a/**/b", "word[a] word[b] ");
    check_tokens("a - - b / c", "word[a] symbol[-] symbol[-] word[b] symbol[/] word[c] ");
}

static void what_is_unterminated_runs_to_the_end(void **state)
{
    check_tokens("'a b", "string['a b] ");
    check_tokens("'a''", "string['a''] ");
    check_tokens("\"a b", "quoted[\"a b] ");
    check_tokens("E'a\\", "string[E'a\\] ");
    check_tokens("$x$ a $y$", "string[$x$ a $y$] ");
    check_tokens("a /* b", "word[a] ");
    check_tokens("a /* /* */", "word[a] ");
    check_tokens("a --", "word[a] ");
}

static void check_value(const char *token_text, const char *expected)
{
    _cleanup_(strbuf_reset) struct strbuf value = {0};
    struct lexer lexer = {.text = str_of(token_text)};
    struct token token = lexer_next(&lexer);
    assert_int_equal(token.text.length, strlen(token_text));
    assert_ok(token_value(&token, &value));
    assert_string_equal(strbuf_text(&value), expected);
}

static void a_tokens_value_is_what_is_between_the_quotes(void **state)
{
    check_value("'it''s'", "it's");
    check_value("''", "");
    check_value("\"My\"\"Table\"", "My\"Table");
    check_value("MyTable", "mytable");
    check_value("$$it's$$", "it's");
    check_value("$tag$a$$b$tag$", "a$$b");
    check_value("E'it\\'s \\\\ ''here'''", "it's \\ 'here'");
    check_value("e'\\n\\t\\x'", "\n\tx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_numbers_and_symbols_are_told_apart),
        cmocka_unit_test(a_doubled_quote_does_not_end_a_string),
        cmocka_unit_test(a_backslash_escapes_only_in_an_escape_string),
        cmocka_unit_test(a_dollar_string_ends_at_its_own_tag),
        cmocka_unit_test(comments_are_passed_over_and_block_comments_nest),
        cmocka_unit_test(what_is_unterminated_runs_to_the_end),
        cmocka_unit_test(a_tokens_value_is_what_is_between_the_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
