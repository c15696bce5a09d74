#include "testing.h"

#include "net/base64.h"
#include "net/grpc_status.h"

static void base64_follows_the_rfc(void **state)
{
    /* RFC 4648, section 10. */
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
        _cleanup_(strbuf_reset) struct strbuf text = {0};
        _cleanup_(strbuf_reset) struct strbuf padded = {0};
        _cleanup_(strbuf_reset) struct strbuf plain = {0};
        assert_ok(base64_encode(str_of(pairs[i][0]), &text));
        assert_int_equal(strncmp(strbuf_text(&text), pairs[i][1], text.length), 0);
        assert_int_equal(text.length, strcspn(pairs[i][1], "="));
        assert_ok(base64_decode(str_of(pairs[i][1]), &padded));
        assert_string_equal(strbuf_text(&padded), pairs[i][0]);
        assert_ok(base64_decode((struct str){strbuf_text(&text), text.length}, &plain));
        assert_string_equal(strbuf_text(&plain), pairs[i][0]);
    }
}

static void what_is_not_base64_is_refused(void **state)
{
    static const char *const bad[] = {"A", "AAAAA", "A?==", "===", "Zg=g", "Z g="};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        _cleanup_(strbuf_reset) struct strbuf out = {0};
        assert_fails(base64_decode(str_of(bad[i]), &out), KITH_ERROR_PROTOCOL, "base64");
    }
}

/* The error as the other side gets it. */
static kith_error *cross(kith_error *take_error)
{
    _cleanup_(headers_reset) struct headers trailers = {0};
    kith_error *error = grpc_status_write(take_error, &trailers);
    error_free(take_error);
    return error != NULL ? error : grpc_status_read(&trailers, 200, "worker w:1");
}

static void ok_is_no_error(void **state)
{
    assert_null(cross(NULL));
}

static void every_code_crosses(void **state)
{
    for (int code = 1; code <= KITH_ERROR_AMBIGUOUS_COLUMN; code++) {
        kith_error *error = cross(error_new((enum kith_code)code, "message %d", code));
        assert_non_null(error);
        assert_int_equal(kith_error_code(error), code);
        assert_null(kith_error_hint(error));
        assert_int_equal(kith_error_position(error), 0);
        error_free(error);
    }
}

static void a_very_long_error_is_cut_not_lost(void **state)
{
    char text[4000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    kith_error *error = error_new(KITH_ERROR_CORRUPT, "%s", text);
    for (int i = 0; i < 30; i++)
        error = error_wrap(error, "level %d %s", i, text);
    _cleanup_(headers_reset) struct headers trailers = {0};
    assert_ok(grpc_status_write(error, &trailers));
    error_free(error);
    assert_true(trailers.size < 12000);
    error = grpc_status_read(&trailers, 200, "w");
    assert_int_equal(kith_error_code(error), KITH_ERROR_CORRUPT);
    assert_int_equal(strncmp(kith_error_message(error), "level 29 aaaa", 13), 0);
    error_free(error);
}

static kith_error *read_fields(const char *const (*fields)[2], size_t count, unsigned http_status)
{
    _cleanup_(headers_reset) struct headers trailers = {0};
    for (size_t i = 0; i < count; i++)
        assert_ok(headers_add_text(&trailers, fields[i][0], fields[i][1]));
    return grpc_status_read(&trailers, http_status, "worker w:1");
}

static void statuses_of_others_become_the_nearest_code(void **state)
{
    static const char *const not_found[][2] = {{"grpc-status", "5"}, {"grpc-message", "no %C3%A4%2"}};
    assert_fails(read_fields(not_found, 2, 200), KITH_ERROR_NOT_FOUND, "no \xC3\xA4%2");
    static const char *const exhausted[][2] = {{"grpc-status", "8"}};
    assert_fails(read_fields(exhausted, 1, 200), KITH_ERROR_LIMIT, "worker w:1");
    static const char *const unknown[][2] = {{"grpc-status", "99"}, {"grpc-message", "odd"}};
    assert_fails(read_fields(unknown, 2, 200), KITH_ERROR_INTERNAL, "odd");
    static const char *const malformed[][2] = {{"grpc-status", "4x"}};
    assert_fails(read_fields(malformed, 1, 200), KITH_ERROR_PROTOCOL, "4x");
    static const char *const empty[][2] = {{"grpc-status", ""}};
    assert_fails(read_fields(empty, 1, 200), KITH_ERROR_PROTOCOL, "empty");
    assert_fails(read_fields(NULL, 0, 200), KITH_ERROR_PROTOCOL, "without a grpc-status");
    assert_fails(read_fields(NULL, 0, 503), KITH_ERROR_UNAVAILABLE, "503");
    assert_fails(read_fields(NULL, 0, 404), KITH_ERROR_PROTOCOL, "404");
}

static void a_damaged_kith_error_leaves_the_plain_status(void **state)
{
    _cleanup_(headers_reset) struct headers whole = {0};
    kith_error *sent = error_hint(error_new(KITH_ERROR_SYNTAX, "near \"form\""), "from");
    assert_ok(grpc_status_write(sent, &whole));
    error_free(sent);
    struct str text;
    assert_true(headers_find(&whole, "kith-error-bin", &text));
    for (size_t length = 0; length < text.length; length++) {
        char cut[200];
        snprintf(cut, sizeof cut, "%.*s", (int)length, text.data);
        const char *const fields[][2] = {
            {"grpc-status", "3"}, {"grpc-message", "near \"form\""}, {"kith-error-bin", cut}};
        kith_error *error = read_fields(fields, 3, 200);
        assert_string_equal(kith_error_message(error), "near \"form\"");
        error_free(error);
    }
}

static void timeouts_are_written_with_eight_digits_at_most(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {{0, "1n"},
                 {1, "1n"},
                 {99999998, "99999998n"},
                 {100000001, "100001u"},
                 {5000000000, "5000000u"},
                 {INT64_C(3600) * 1000000000, "3600000m"},
                 {INT64_MAX, "99999999M"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[16];
        grpc_timeout_write(cases[i].ns, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void timeouts_are_read_in_every_unit(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"7n", 7},
                {"7u", 7000},
                {"7m", 7000000},
                {"7S", 7000000000},
                {"7M", 420000000000},
                {"2H", 7200000000000},
                {"99999999H", INT64_MAX}};
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        int64_t ns;
        assert_ok(grpc_timeout_read(str_of(good[i].text), &ns));
        assert_int_equal(ns, good[i].ns);
    }
    static const char *const bad[] = {"", "S", "5", "5s", "123456789n", "-1S", "1 S", "1SS", "1.5S"};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        int64_t ns;
        assert_fails(grpc_timeout_read(str_of(bad[i]), &ns), KITH_ERROR_PROTOCOL, "grpc-timeout");
    }
}

static void headers_have_a_limit(void **state)
{
    _cleanup_(headers_reset) struct headers headers = {.limit = 100};
    assert_ok(headers_add_text(&headers, "name", "value"));
    assert_ok(headers_add_text(&headers, "name", "again"));
    assert_fails(headers_add_text(&headers, "name", "third"), KITH_ERROR_LIMIT, "GRPC_HEADER_BYTES");
    assert_int_equal(headers.spans.length, 2);
    assert_true(str_equal(headers_value(&headers, 1), str_of("again")));
    struct str value;
    assert_true(headers_find(&headers, "name", &value) && str_equal(value, str_of("value")));
    assert_false(headers_find(&headers, "nam", &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_follows_the_rfc),
        cmocka_unit_test(what_is_not_base64_is_refused),
        cmocka_unit_test(ok_is_no_error),
        cmocka_unit_test(every_code_crosses),
        cmocka_unit_test(a_very_long_error_is_cut_not_lost),
        cmocka_unit_test(statuses_of_others_become_the_nearest_code),
        cmocka_unit_test(a_damaged_kith_error_leaves_the_plain_status),
        cmocka_unit_test(timeouts_are_written_with_eight_digits_at_most),
        cmocka_unit_test(timeouts_are_read_in_every_unit),
        cmocka_unit_test(headers_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
