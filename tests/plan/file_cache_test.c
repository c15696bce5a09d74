#include "testing.h"

#include "temporary.h"

#include "base/limits.h"
#include "columnar/builder.h"
#include "parquet/writer.h"
#include "plan/file_cache.h"

static void write_numbers(const char *path, size_t rows)
{
    const struct data_type type = type_of(TYPE_FLOAT64);
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    _cleanup_(array_unref) struct array *array = NULL;
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    _cleanup_(storage_writer_free) struct storage_writer *storage = NULL;
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    const struct parquet_write_options options = {.no_statistics = true};
    assert_ok(array_builder_new(&type, &builder));
    for (size_t i = 0; i < rows; i++)
        assert_ok(array_builder_append_double(builder, (double)i));
    assert_ok(array_builder_finish(builder, &array));
    assert_ok(schema_new(&(struct field){.name = (char *)(uintptr_t) "x", .type = type}, 1, &schema));
    assert_ok(batch_new(schema, &array, rows, &batch));
    assert_ok(storage_create(path, &storage));
    assert_ok(parquet_writer_new(storage, schema, &options, &writer));
    assert_ok(parquet_writer_write(writer, batch));
    assert_ok(parquet_writer_finish(writer));
    assert_ok(storage_writer_finish(storage));
}

static struct parquet_file *get(struct file_cache *cache, const char *path)
{
    _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
    struct parquet_file *file = NULL;
    assert_ok(storage_open(path, &storage));
    assert_ok(file_cache_get(cache, storage, &file));
    return file;
}

static void a_file_is_opened_once_for_each_of_its_versions(void **state)
{
    _cleanup_(file_cache_free) struct file_cache *cache = NULL;
    assert_ok(file_cache_new(&cache));
    write_numbers("a.parquet", 10);
    _cleanup_(parquet_file_unref) struct parquet_file *first = get(cache, "a.parquet");
    _cleanup_(parquet_file_unref) struct parquet_file *again = get(cache, "a.parquet");
    assert_ptr_equal(first, again);
    write_numbers("a.parquet", 11);
    _cleanup_(parquet_file_unref) struct parquet_file *changed = get(cache, "a.parquet");
    assert_ptr_not_equal(first, changed);
    assert_int_equal(changed->metadata->row_count, 11);
    assert_int_equal(file_cache_count(cache), 2);
}

static void no_more_files_are_kept_than_the_limit_says(void **state)
{
    _cleanup_(file_cache_free) struct file_cache *cache = NULL;
    assert_ok(file_cache_new(&cache));
    write_numbers("kept.parquet", 3);
    write_numbers("other.parquet", 3);
    for (int i = 0; i < LIMIT_CACHED_FILES + 10; i++) {
        char path[32];
        snprintf(path, sizeof path, "%d.parquet", i);
        assert_int_equal(link("other.parquet", path), 0);
        parquet_file_unref(get(cache, path));
        parquet_file_unref(get(cache, "kept.parquet"));
    }
    assert_int_equal(file_cache_count(cache), LIMIT_CACHED_FILES);
    _cleanup_(parquet_file_unref) struct parquet_file *kept = get(cache, "kept.parquet");
    assert_int_equal(file_cache_count(cache), LIMIT_CACHED_FILES);
    assert_int_equal(kept->metadata->row_count, 3);
}

static void what_was_learned_about_nan_stays_with_the_file(void **state)
{
    _cleanup_(file_cache_free) struct file_cache *cache = NULL;
    struct column_statistics statistics;
    assert_ok(file_cache_new(&cache));
    write_numbers("a.parquet", 10);
    _cleanup_(parquet_file_unref) struct parquet_file *file = get(cache, "a.parquet");
    parquet_row_group_statistics(file, 0, 0, &statistics);
    assert_true(statistics.may_have_nan);
    parquet_file_note_no_nan(file, 0, 0);
    _cleanup_(parquet_file_unref) struct parquet_file *again = get(cache, "a.parquet");
    parquet_row_group_statistics(again, 0, 0, &statistics);
    assert_false(statistics.may_have_nan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_opened_once_for_each_of_its_versions, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(no_more_files_are_kept_than_the_limit_says, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(what_was_learned_about_nan_stays_with_the_file, temporary_folder_enter,
                                        temporary_folder_leave),
    };
    return cmocka_run_group_tests_name("plan/file_cache", tests, NULL, NULL);
}
