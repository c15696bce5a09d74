#include "exec/files.h"

static const char *const DIGITS[] = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};

/* Rows a = first, first - 1, …; b is a's digit as a text; three rows a row group. */
static void write_rows(const char *path, int64_t first, size_t count)
{
    static const struct parquet_write_options options = {.codec = PARQUET_UNCOMPRESSED, .row_group_rows = 3};
    const char *texts[16];
    for (size_t i = 0; i < count; i++)
        texts[i] = DIGITS[(size_t)(first - (int64_t)i) % ARRAY_SIZE(DIGITS)];
    WRITE(path, &options, {"a", sequence(first, -1, count)}, {"b", column_of_texts(type_of(TYPE_UTF8), texts, count)});
}

static void columns_that_do_not_decide_are_read_for_the_chosen_rows_alone(void **state)
{
    write_rows("t/1.parquet", 8, 9);
    write_rows("t/2.parquet", 19, 7);
    _cleanup_(query_run_reset) struct query_run late =
        query_run_of("SELECT b, a, b AS c FROM t WHERE a <> 18 ORDER BY a DESC LIMIT 2 OFFSET 3");
    _cleanup_(query_run_reset) struct query_run at_once = query_run_of(late.sql);
    query_set(&at_once, SETTING_TOPK_FETCH_ROWS, "4");
    assert_ok(query_run(&late));
    assert_ok(query_run(&at_once));
    assert_string_equal(strbuf_text(&late.rows), "five|15|five\nfour|14|four\n");
    assert_string_equal(strbuf_text(&at_once.rows), strbuf_text(&late.rows));
    assert_non_null(strstr(strbuf_text(&late.plan), "FetchColumnsExec: [b]"));
    assert_null(strstr(strbuf_text(&at_once.plan), "FetchColumnsExec"));
}

static void what_filters_and_keys_need_is_read_at_once(void **state)
{
    write_rows("t.parquet", 9, 10);
    _cleanup_(query_run_reset) struct query_run run =
        query_run_of("SELECT a, b FROM t WHERE b <> 'nine' ORDER BY a * 2 DESC LIMIT 3");
    assert_ok(query_run(&run));
    assert_string_equal(strbuf_text(&run.rows), "8|eight\n7|seven\n6|six\n");
}

static void a_column_that_a_file_lacks_is_null_when_it_is_fetched(void **state)
{
    write_rows("t/1.parquet", 4, 5);
    WRITE("t/2.parquet", NULL, {"a", LONGS(7, 2, 3)});
    check_rows("SELECT b, a FROM t ORDER BY a DESC, b LIMIT 6", "NULL|7\nfour|4\nthree|3\nNULL|3\ntwo|2\nNULL|2\n");
}

static void fewer_rows_than_asked_for_and_none_at_all_are_fetched(void **state)
{
    write_rows("t.parquet", 3, 4);
    check_rows("SELECT b FROM t WHERE a > 1 ORDER BY a LIMIT 100", "two\nthree\n");
    check_rows("SELECT b FROM t WHERE a > 100 ORDER BY a LIMIT 100", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(columns_that_do_not_decide_are_read_for_the_chosen_rows_alone),
        FILE_TEST(what_filters_and_keys_need_is_read_at_once),
        FILE_TEST(a_column_that_a_file_lacks_is_null_when_it_is_fetched),
        FILE_TEST(fewer_rows_than_asked_for_and_none_at_all_are_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
