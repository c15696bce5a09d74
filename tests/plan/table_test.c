#include "exec/files.h"
#include "runtime/fibers.h"

static void check_schema(const struct table *table, const char *expected)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    for (size_t i = 0; i < table->schema->field_count; i++) {
        const struct field *field = &table->schema->fields[i];
        char type[128];
        assert_ok(strbuf_printf(&text, "%s%s %s%s", i == 0 ? "" : ", ", field->name,
                                type_format(&field->type, type, sizeof type), field->nullable ? "" : " NOT NULL"));
    }
    assert_string_equal(strbuf_text(&text), expected);
}

static void columns_are_merged_by_name_and_nullable_where_some_file_lacks_them(void **state)
{
    _cleanup_(table_unref) struct table *table = NULL;
    WRITE("t/1.parquet", NULL, {"a", LONGS(1, 2)}, {"b", TEXTS("x", "y")});
    WRITE("t/2.parquet", NULL, {"c", LONGS(5)}, {"a", LONGS(6)});
    WRITE("t/3.parquet", NULL, {"a", LONGS(7, 8, 9)}, {"b", TEXTS("u", NULL, "w")});
    assert_ok(table_open("t", &table));
    assert_int_equal(table->file_count, 3);
    assert_int_equal(table->row_count, 6);
    assert_true(table->compressed_bytes > 0);
    check_schema(table, "a Int64 NOT NULL, b Utf8, c Int64");
    assert_int_equal(table->files[1].columns[0], 1);
    assert_int_equal(table->files[1].columns[1], -1);
    assert_int_equal(table->files[1].columns[2], 0);
}

static void a_column_that_only_a_later_file_has_is_nullable(void **state)
{
    _cleanup_(table_unref) struct table *table = NULL;
    WRITE("t/1.parquet", NULL, {"a", LONGS(1)});
    WRITE("t/2.parquet", NULL, {"a", LONGS(1)}, {"b", LONGS(1)});
    assert_ok(table_open("t", &table));
    check_schema(table, "a Int64 NOT NULL, b Int64");
}

static void columns_of_one_name_are_told_apart_by_their_order(void **state)
{
    _cleanup_(table_unref) struct table *table = NULL;
    WRITE("t/1.parquet", NULL, {"a", LONGS(1)}, {"a", TEXTS("x")});
    WRITE("t/2.parquet", NULL, {"b", LONGS(1)}, {"a", LONGS(2)}, {"a", TEXTS("y")}, {"a", LONGS(3)});
    WRITE("t/3.parquet", NULL, {"a", LONGS(4)});
    assert_ok(table_open("t", &table));
    check_schema(table, "a Int64 NOT NULL, a Utf8, b Int64, a Int64");
    assert_int_equal(table->files[1].columns[0], 1);
    assert_int_equal(table->files[1].columns[1], 2);
    assert_int_equal(table->files[1].columns[3], 3);
    assert_int_equal(table->files[2].columns[1], -1);
    check_rows("SELECT * FROM t ORDER BY 1 DESC LIMIT 2", "4|NULL|NULL|NULL\n2|y|1|3\n");
}

static void a_column_of_two_types_is_refused_with_both_files(void **state)
{
    struct table *table = NULL;
    WRITE("t/1.parquet", NULL, {"a", LONGS(1)});
    WRITE("t/2.parquet", NULL, {"a", TEXTS("x")});
    assert_fails(table_open("t", &table), KITH_ERROR_TYPE_MISMATCH,
                 "column \"a\" has type Utf8 in \"t/2.parquet\" but type Int64 in \"t/1.parquet\"");
}

static void a_column_that_grew_has_the_type_that_holds_all(void **state)
{
    _cleanup_(table_unref) struct table *table = NULL;
    struct column_statistics statistics;
    WRITE("t/1.parquet", NULL, {"a", INTS(type_of(TYPE_INT32), 7, -3)}, {"d", INTS(type_decimal(9, 2), 150, NOTHING)});
    WRITE("t/2.parquet", NULL, {"a", LONGS(1LL << 40)}, {"d", INTS(type_decimal(9, 4), -20000)});
    WRITE("t/3.parquet", NULL, {"a", INTS(type_of(TYPE_UINT16), 65535)});
    assert_ok(table_open("t", &table));
    check_schema(table, "a Int64 NOT NULL, d Decimal64(11, 4)");
    table_row_group_statistics(table, 0, 0, 0, &statistics);
    assert_int_equal(statistics.min.type.id, TYPE_INT64);
    assert_int_equal(statistics.min.int64, -3);
    assert_int_equal(statistics.max.int64, 7);
    table_row_group_statistics(table, 0, 0, 1, &statistics);
    assert_int_equal(statistics.max.int64, 15000);
    check_rows("SELECT a, d FROM t ORDER BY a", "-3|NULL\n7|1.5000\n65535|NULL\n1099511627776|-2.0000\n");
    check_rows("SELECT a FROM t WHERE a > 10 ORDER BY a LIMIT 1", "65535\n");
    check_rows("SELECT a, d FROM t WHERE d IS NOT NULL ORDER BY d DESC LIMIT 1", "7|1.5000\n");
}

static void what_is_missing_or_no_parquet_file_is_named(void **state)
{
    struct table *table = NULL;
    assert_fails(table_open("nothing/*.parquet", &table), KITH_ERROR_NOT_FOUND, "nothing/*.parquet");
    assert_int_equal(temporary_file("text.parquet", "hello, world", 12), 0);
    assert_fails(table_open("text.parquet", &table), KITH_ERROR_CORRUPT, "text.parquet");
    assert_int_equal(temporary_file("empty.parquet", "", 0), 0);
    assert_fails(table_open("empty.parquet", &table), KITH_ERROR_CORRUPT, "empty.parquet");
}

static kith_error *open_many(void *argument)
{
    _cleanup_(table_unref) struct table *table = NULL;
    TRY(table_open("t", &table));
    assert_int_equal(table->row_count, 120);
    return NULL;
}

static kith_error *open_many_with_a_bad_one(void *argument)
{
    struct table *table = NULL;
    assert_fails(table_open("t", &table), KITH_ERROR_CORRUPT, "t/77.parquet");
    return NULL;
}

static void many_files_are_opened_side_by_side(void **state)
{
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    for (int i = 0; i < 40; i++) {
        char path[32];
        snprintf(path, sizeof path, "t/%02d.parquet", i);
        WRITE(path, NULL, {"a", LONGS(i, i + 1, i + 2)});
    }
    run_on(2, open_many, NULL);
    assert_int_equal(temporary_file("t/77.parquet", "PAR1\xc8\0\0\0PAR1", 12), 0);
    run_on(2, open_many_with_a_bad_one, NULL);
}

static void a_column_that_a_file_lacks_is_all_null_by_its_statistics(void **state)
{
    _cleanup_(table_unref) struct table *table = NULL;
    struct column_statistics statistics;
    WRITE("t/1.parquet", NULL, {"a", LONGS(3, 5)}, {"b", LONGS(1, 2)});
    WRITE("t/2.parquet", NULL, {"a", LONGS(7, 9, 8)});
    assert_ok(table_open("t", &table));
    table_row_group_statistics(table, 1, 0, 1, &statistics);
    assert_true(statistics_all_null(&statistics));
    assert_int_equal(statistics.row_count, 3);
    table_row_group_statistics(table, 1, 0, 0, &statistics);
    assert_int_equal(statistics.min.int64, 7);
    assert_int_equal(statistics.max.int64, 9);
    assert_false(statistics_may_have_null(&statistics));
}

/* A task's share of a table: the files as the plan describes them. */
static struct scan_file planned_file(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (struct scan_file){.path = path, .size = (uint64_t)status.st_size};
}

static void planned_files_are_opened_with_the_plans_schema(void **state)
{
    _cleanup_(table_unref) struct table *all = NULL, *share = NULL;
    WRITE("t/1.parquet", NULL, {"a", LONGS(1)}, {"b", LONGS(1)});
    WRITE("t/2.parquet", NULL, {"a", LONGS(2)});
    assert_ok(table_open("t", &all));
    struct scan_file file = planned_file("t/2.parquet");
    assert_ok(table_open_files(&file, 1, all->schema, NULL, &share));
    check_schema(share, "a Int64 NOT NULL, b Int64");
    assert_int_equal(share->files[0].columns[1], -1);
}

static void a_file_that_changed_since_the_plan_was_made_is_refused(void **state)
{
    _cleanup_(table_unref) struct table *table = NULL;
    struct table *share = NULL;
    WRITE("t/1.parquet", NULL, {"a", LONGS(1)});
    assert_ok(table_open("t", &table));
    struct scan_file file = planned_file("t/1.parquet");
    WRITE("t/1.parquet", NULL, {"a", LONGS(1, 2, 3, 4, 5, 6, 7, 8)});
    assert_fails(table_open_files(&file, 1, table->schema, NULL, &share), KITH_ERROR_CORRUPT, "it has changed");
    WRITE("t/1.parquet", NULL, {"a", TEXTS("x")});
    file = planned_file("t/1.parquet");
    assert_fails(table_open_files(&file, 1, table->schema, NULL, &share), KITH_ERROR_TYPE_MISMATCH,
                 "\"a\" has type Utf8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(columns_are_merged_by_name_and_nullable_where_some_file_lacks_them),
        FILE_TEST(a_column_that_only_a_later_file_has_is_nullable),
        FILE_TEST(columns_of_one_name_are_told_apart_by_their_order),
        FILE_TEST(a_column_of_two_types_is_refused_with_both_files),
        FILE_TEST(a_column_that_grew_has_the_type_that_holds_all),
        FILE_TEST(what_is_missing_or_no_parquet_file_is_named),
        FILE_TEST(many_files_are_opened_side_by_side),
        FILE_TEST(a_column_that_a_file_lacks_is_all_null_by_its_statistics),
        FILE_TEST(planned_files_are_opened_with_the_plans_schema),
        FILE_TEST(a_file_that_changed_since_the_plan_was_made_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
