/*
 * Footers of the Parquet project's own test files (parquet-testing), which many writers wrote. The numbers are those
 * that pyarrow 26.0 reports.
 */
#include "testing.h"

#include "parquet/file.h"

#include <stdlib.h>

static const char *folder;

static const struct {
    const char *file;
    int64_t rows;
    size_t columns, row_groups;
} expected[] = {
    {"alltypes_dictionary.parquet", 2, 11, 1},
    {"alltypes_plain.parquet", 8, 11, 1},
    {"alltypes_plain.snappy.parquet", 2, 11, 1},
    {"alltypes_tiny_pages.parquet", 7300, 13, 1},
    {"alltypes_tiny_pages_plain.parquet", 7300, 13, 1},
    {"binary.parquet", 12, 1, 1},
    {"binary_truncated_min_max.parquet", 12, 6, 1},
    {"byte_array_decimal.parquet", 24, 1, 1},
    {"byte_stream_split.zstd.parquet", 300, 2, 1},
    {"byte_stream_split_extended.gzip.parquet", 200, 14, 1},
    {"column_chunk_key_value_metadata.parquet", 0, 2, 1},
    {"concatenated_gzip_members.parquet", 513, 1, 1},
    {"data_index_bloom_encoding_stats.parquet", 14, 1, 1},
    {"data_index_bloom_encoding_with_length.parquet", 14, 1, 1},
    {"datapage_v1-corrupt-checksum.parquet", 5120, 2, 1},
    {"datapage_v1-snappy-compressed-checksum.parquet", 5120, 2, 1},
    {"datapage_v1-uncompressed-checksum.parquet", 5120, 2, 1},
    {"datapage_v2.snappy.parquet", 5, 5, 1},
    {"datapage_v2_empty_datapage.snappy.parquet", 1, 1, 1},
    {"delta_binary_packed.parquet", 200, 66, 1},
    {"delta_byte_array.parquet", 1000, 9, 1},
    {"delta_encoding_optional_column.parquet", 100, 17, 1},
    {"delta_encoding_required_column.parquet", 100, 17, 1},
    {"delta_length_byte_array.parquet", 1000, 1, 1},
    {"dict-page-offset-zero.parquet", 39, 1, 1},
    {"encrypt_columns_plaintext_footer.parquet.encrypted", 50, 8, 1},
    {"fixed_length_byte_array.parquet", 1000, 1, 1},
    {"fixed_length_decimal.parquet", 24, 1, 1},
    {"fixed_length_decimal_legacy.parquet", 24, 1, 1},
    {"float16_nonzeros_and_nans.parquet", 8, 1, 1},
    {"float16_zeros_and_nans.parquet", 3, 1, 1},
    {"floating_orders_nan_count.parquet", 50, 6, 5},
    {"geospatial/crs-arbitrary-value.parquet", 1, 2, 1},
    {"geospatial/crs-default.parquet", 1, 2, 1},
    {"geospatial/crs-geography.parquet", 1, 2, 1},
    {"geospatial/crs-projjson.parquet", 1, 2, 1},
    {"geospatial/crs-srid.parquet", 1, 2, 1},
    {"geospatial/geography-lines.parquet", 499, 2, 50},
    {"geospatial/geography-points.parquet", 500, 2, 50},
    {"geospatial/geography-polygons.parquet", 500, 2, 50},
    {"geospatial/geospatial-with-nan.parquet", 3, 3, 1},
    {"geospatial/geospatial.parquet", 196, 3, 31},
    {"hadoop_lz4_compressed.parquet", 4, 3, 1},
    {"hadoop_lz4_compressed_larger.parquet", 10000, 1, 1},
    {"int32_decimal.parquet", 24, 1, 1},
    {"int32_with_null_pages.parquet", 1000, 1, 1},
    {"int64_decimal.parquet", 24, 1, 1},
    {"int96_from_spark.parquet", 6, 1, 1},
    {"large_string_map.brotli.parquet", 2, 2, 1},
    {"list_columns.parquet", 3, 2, 1},
    {"lz4_raw_compressed.parquet", 4, 3, 1},
    {"lz4_raw_compressed_larger.parquet", 10000, 1, 1},
    {"map_no_value.parquet", 3, 4, 1},
    {"nan_in_stats.parquet", 2, 1, 1},
    {"nation.dict-malformed.parquet", 25, 4, 1},
    {"nested_lists.snappy.parquet", 3, 2, 1},
    {"nested_maps.snappy.parquet", 6, 5, 1},
    {"nested_structs.rust.parquet", 1, 216, 1},
    {"non_hadoop_lz4_compressed.parquet", 4, 3, 1},
    {"nonnullable.impala.parquet", 1, 13, 1},
    {"null_list.parquet", 1, 1, 1},
    {"nullable.impala.parquet", 7, 13, 1},
    {"nulls.snappy.parquet", 8, 1, 1},
    {"old_list_structure.parquet", 1, 1, 1},
    {"overflow_i16_page_cnt.parquet", 40000, 1, 1},
    {"page_v2_empty_compressed.parquet", 10, 1, 1},
    {"plain-dict-uncompressed-checksum.parquet", 1000, 2, 1},
    {"repeated_no_annotation.parquet", 6, 3, 1}, /* pyarrow shows the footer's total, which is wrong */
    {"repeated_primitive_no_list.parquet", 4, 4, 1},
    {"rle-dict-snappy-checksum.parquet", 1000, 2, 1},
    {"rle-dict-uncompressed-corrupt-checksum.parquet", 1000, 2, 1},
    {"rle_boolean_encoding.parquet", 68, 1, 1},
    {"single_nan.parquet", 1, 1, 1},
    {"sort_columns.parquet", 6, 2, 2},
    {"unknown-logical-type.parquet", 3, 2, 1},
};

static kith_error *open_file(const char *name, struct parquet_file **out)
{
    char path[4096];
    _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
    snprintf(path, sizeof path, "%s/parquet-testing/%s", folder, name);
    TRY(storage_open(path, &storage));
    return parquet_file_open(storage, out);
}

static void every_file_opens_with_the_rows_columns_and_row_groups_it_has(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        char name[256];
        _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
        snprintf(name, sizeof name, "data/%s", expected[i].file);
        assert_ok(open_file(name, &file));
        if (file->metadata->row_count != expected[i].rows || file->metadata->column_count != expected[i].columns ||
            file->metadata->row_group_count != expected[i].row_groups)
            fail_msg("%s: %lld rows, %zu columns, %zu row groups", name, (long long)file->metadata->row_count,
                     file->metadata->column_count, file->metadata->row_group_count);
    }
}

/* Bounds of a page lie within those of its row group; pages have all of the rows and of the NULLs. */
static void check_index(struct parquet_file *file, size_t group, size_t column, size_t *pages)
{
    _cleanup_(parquet_page_index_free) struct parquet_page_index *index = NULL;
    struct column_statistics all;
    uint64_t bytes_read = 0, rows = 0, nulls = 0;
    bool nulls_known = true;
    assert_ok(parquet_page_index_read(file, group, column, &bytes_read, &index));
    if (index == NULL || index->statistics == NULL)
        return;
    parquet_row_group_statistics(file, group, column, &all);
    for (size_t i = 0; i < index->page_count; i++) {
        const struct column_statistics *page = &index->statistics[i];
        rows += page->row_count;
        nulls += page->null_count;
        nulls_known = nulls_known && page->has_null_count;
        if (page->has_min && all.has_min && all.min_exact)
            assert_true(scalar_compare(&page->min, &all.min) >= 0 || !page->min_exact);
        if (page->has_max && all.has_max && all.max_exact)
            assert_true(scalar_compare(&page->max, &all.max) <= 0 || !page->max_exact);
    }
    assert_int_equal(rows, all.row_count);
    if (nulls_known && all.has_null_count)
        assert_int_equal(nulls, all.null_count);
    *pages += index->page_count;
}

static void page_indexes_agree_with_their_row_groups(void **state)
{
    size_t pages = 0;
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        char name[256];
        _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
        snprintf(name, sizeof name, "data/%s", expected[i].file);
        assert_ok(open_file(name, &file));
        for (size_t group = 0; group < file->metadata->row_group_count; group++)
            for (size_t column = 0; column < file->schema->field_count; column++)
                check_index(file, group, file->columns[column], &pages);
    }
    assert_true(pages > 1000);
}

static void assert_bounds(const char *name, size_t column, const char *min, bool min_exact, const char *max,
                          bool max_exact)
{
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    struct column_statistics statistics;
    assert_ok(open_file(name, &file));
    parquet_row_group_statistics(file, 0, column, &statistics);
    assert_true(statistics.has_min && statistics.has_max);
    assert_true(str_equal(statistics.min.string, str_of(min)) && statistics.min_exact == min_exact);
    assert_true(str_equal(statistics.max.string, str_of(max)) && statistics.max_exact == max_exact);
}

/* The bounds are those that DuckDB 2.0 shows; parquet-testing's README says which are cut. */
static void truncated_bounds_say_that_they_are(void **state)
{
    static const char file[] = "data/binary_truncated_min_max.parquet";
    assert_bounds(file, 0, "Al", false, "Kf", false);
    assert_bounds(file, 2, "Al", false, "\xF0\x9F\x9A\x80Kevin Bacon", true);
    assert_bounds(file, 3, "Al", false, "\xFF\xFF\x01\x02", true);
    assert_bounds(file, 5, "Al", true, "Ke", true);
}

static void bounds_of_nan_are_not_used(void **state)
{
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    struct column_statistics statistics;
    assert_ok(open_file("data/nan_in_stats.parquet", &file));
    parquet_row_group_statistics(file, 0, 0, &statistics);
    assert_false(statistics.has_min || statistics.has_max);
    assert_true(statistics.may_have_nan);
}

static void encrypted_footers_are_refused_by_that_name(void **state)
{
    static const char *const names[] = {
        "encrypt_columns_and_footer",
        "encrypt_columns_and_footer_aad",
        "encrypt_columns_and_footer_bloom_filter",
        "encrypt_columns_and_footer_ctr",
        "encrypt_columns_and_footer_disable_aad_storage",
        "external_key_material_java",
        "uniform_encryption",
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char name[256];
        struct parquet_file *file = NULL;
        snprintf(name, sizeof name, "data/%s.parquet.encrypted", names[i]);
        assert_fails(open_file(name, &file), KITH_ERROR_NOT_IMPLEMENTED, "is encrypted");
    }
}

static void a_readable_footer_names_the_columns_that_are_encrypted(void **state)
{
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    assert_ok(open_file("data/encrypt_columns_plaintext_footer.parquet.encrypted", &file));
    for (size_t i = 0; i < file->metadata->column_count; i++) {
        const struct parquet_column *column = &file->metadata->columns[i];
        bool encrypted = strcmp(column->path, "double_field") == 0 || strcmp(column->path, "float_field") == 0;
        if (encrypted)
            assert_string_equal(column->unreadable_reason, "it is encrypted");
        else if (strcmp(column->path, "int64_field") != 0)
            assert_true(column->readable);
    }
}

static void a_damaged_footer_is_refused(void **state)
{
    struct parquet_file *file = NULL;
    assert_fails(open_file("bad_data/PARQUET-1481.parquet", &file), KITH_ERROR_CORRUPT,
                 "-7 is no physical type that the format has");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_opens_with_the_rows_columns_and_row_groups_it_has),
        cmocka_unit_test(page_indexes_agree_with_their_row_groups),
        cmocka_unit_test(truncated_bounds_say_that_they_are),
        cmocka_unit_test(bounds_of_nan_are_not_used),
        cmocka_unit_test(encrypted_footers_are_refused_by_that_name),
        cmocka_unit_test(a_readable_footer_names_the_columns_that_are_encrypted),
        cmocka_unit_test(a_damaged_footer_is_refused),
    };
    folder = getenv("KITH_OUTSIDE");
    if (folder == NULL)
        return 77;
    return cmocka_run_group_tests_name("parquet/corpus_metadata", tests, NULL, NULL);
}
