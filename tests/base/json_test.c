#include "testing.h"

#include "base/json.h"

#include <stdint.h>

static void objects_and_arrays_nest_with_commas_between_members(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct json_writer json = json_writer_make(&text);
    assert_ok(json_begin_object(&json, NULL));
    assert_ok(json_begin_object(&json, "empty"));
    assert_ok(json_end_object(&json));
    assert_ok(json_begin_array(&json, "list"));
    assert_ok(json_count(&json, NULL, UINT64_MAX));
    assert_ok(json_integer(&json, NULL, INT64_MIN));
    assert_ok(json_begin_object(&json, NULL));
    assert_ok(json_bool(&json, "yes", true));
    assert_ok(json_bool(&json, "no", false));
    assert_ok(json_end_object(&json));
    assert_ok(json_end_array(&json));
    assert_ok(json_text(&json, "last", "x"));
    assert_ok(json_end_object(&json));
    assert_string_equal(strbuf_text(&text), "{\n"
                                            "  \"empty\": {},\n"
                                            "  \"list\": [\n"
                                            "    18446744073709551615,\n"
                                            "    -9223372036854775808,\n"
                                            "    {\n"
                                            "      \"yes\": true,\n"
                                            "      \"no\": false\n"
                                            "    }\n"
                                            "  ],\n"
                                            "  \"last\": \"x\"\n"
                                            "}");
}

static void check_text(const char *given, const char *expected)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct json_writer json = json_writer_make(&text);
    assert_ok(json_text(&json, NULL, given));
    assert_string_equal(strbuf_text(&text), expected);
}

/* RFC 8259, section 7. */
static void quotes_backslashes_and_control_characters_are_escaped(void **state)
{
    check_text("", "\"\"");
    check_text("a\"b\\c", "\"a\\\"b\\\\c\"");
    check_text("tab\tline\nend\x1f", "\"tab\\u0009line\\u000aend\\u001f\"");
}

/* RFC 3629, section 4: overlong forms, surrogates and what exceeds U+10FFFF are no UTF-8. */
static void bytes_that_are_no_utf8_become_the_replacement_character(void **state)
{
    check_text("ä€\xf0\x9f\x98\x80", "\"ä€\xf0\x9f\x98\x80\"");
    check_text("a\xff"
               "b",
               "\"a\\ufffdb\"");
    check_text("\xc0\xaf", "\"\\ufffd\\ufffd\"");
    check_text("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
    check_text("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    check_text("\xe2\x82", "\"\\ufffd\\ufffd\"");
    check_text("\xe2\x82x", "\"\\ufffd\\ufffdx\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_and_arrays_nest_with_commas_between_members),
        cmocka_unit_test(quotes_backslashes_and_control_characters_are_escaped),
        cmocka_unit_test(bytes_that_are_no_utf8_become_the_replacement_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
