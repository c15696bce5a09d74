/*
 * Columns of the Parquet project's own test files (parquet-testing), read in small and large pieces, with skips and
 * selections, with and without page index and dictionaries: however they are read, the rows are those of the whole
 * column read at once, which outside_values.py holds against pyarrow.
 */
#include "testing.h"

#include "parquet/column_reader.h"

#include <stdlib.h>

static const char *folder;

static bool rows_equal(const struct array *a, size_t i, const struct array *b, size_t j)
{
    if (array_is_null(a, i) || array_is_null(b, j))
        return array_is_null(a, i) == array_is_null(b, j);
    if (a->type.id == TYPE_BOOL)
        return bitmap_get(a->values->data, a->offset + i) == bitmap_get(b->values->data, b->offset + j);
    if (a->type.id == TYPE_UTF8 || a->type.id == TYPE_BINARY)
        return str_equal(array_string(a, i), array_string(b, j));
    size_t width = type_width(&a->type);
    const uint8_t *left = array_values(a), *right = array_values(b);
    return memcmp(left + i * width, right + j * width, width) == 0;
}

struct column {
    struct parquet_file *file;
    size_t row_group, column;
    const struct parquet_page_index *index;
    struct array *whole;
};

static kith_error *new_reader(const struct column *column, bool with_index, bool keep_dictionary,
                              struct parquet_read_metrics *metrics, struct parquet_column_reader **out)
{
    const struct parquet_read_options options = {.keep_dictionary = keep_dictionary};
    return parquet_column_reader_new(column->file, column->row_group, column->column, with_index ? column->index : NULL,
                                     &options, metrics, out);
}

static void check_rows(const struct column *column, const struct array *array, size_t first,
                       const struct selection *selection)
{
    for (size_t i = 0; i < array->length; i++) {
        size_t row = first + (selection != NULL ? selection->rows[i] : i);
        if (!rows_equal(array, i, column->whole, row))
            fail_msg("%s: column %s: row %zu is not what it was", column->file->storage->path,
                     column->file->metadata->columns[column->column].path, row);
    }
}

/* Batches of up to `most` rows; every third is skipped and every other one read by selection, if `at_random`. */
static void check_batches(const struct column *column, size_t most, bool at_random, bool with_index,
                          bool keep_dictionary, uint64_t *seed)
{
    struct parquet_read_metrics metrics = {0};
    _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
    assert_ok(new_reader(column, with_index, keep_dictionary, &metrics, &reader));
    for (size_t at = 0, rows; at < column->whole->length; at += rows) {
        _cleanup_(array_unref) struct array *array = NULL;
        _cleanup_(selection_unref) struct selection *selection = NULL;
        rows = MIN(at_random ? 1 + test_random(seed) % most : most, column->whole->length - at);
        if (at_random && test_random(seed) % 3 == 0) {
            parquet_column_reader_skip(reader, rows);
            continue;
        }
        if (at_random && test_random(seed) % 2 == 0) {
            assert_ok(selection_new(rows, &selection));
            for (uint32_t i = 0; i < rows; i++)
                if (test_random(seed) % 5 == 0)
                    selection->rows[selection->count++] = i;
        }
        assert_ok(parquet_column_reader_read(reader, rows, selection, &array));
        check_rows(column, array, at, selection);
    }
}

static void check_column(struct parquet_file *file, size_t row_group, size_t number, uint64_t *seed)
{
    static const size_t sizes[] = {1, 7, 1024, 8192};
    struct column column = {.file = file, .row_group = row_group, .column = number};
    _cleanup_(parquet_page_index_free) struct parquet_page_index *index = NULL;
    _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
    _cleanup_(array_unref) struct array *whole = NULL;
    struct parquet_read_metrics metrics = {0};
    uint64_t bytes_read = 0;
    assert_ok(parquet_page_index_read(file, row_group, number, &bytes_read, &index));
    assert_ok(new_reader(&column, false, false, &metrics, &reader));
    assert_ok(
        parquet_column_reader_read(reader, (size_t)file->metadata->row_groups[row_group].row_count, NULL, &whole));
    assert_int_equal(metrics.pages_skipped, 0);
    column.index = index;
    column.whole = whole;
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        for (unsigned way = 0; way < 8; way++)
            check_batches(&column, sizes[i], way & 1, way & 2, way & 4, seed);
}

static void however_columns_are_read_the_rows_are_the_same(void **state)
{
    static const char *const names[] = {"alltypes_dictionary",
                                        "alltypes_plain",
                                        "alltypes_plain.snappy",
                                        "alltypes_tiny_pages",
                                        "alltypes_tiny_pages_plain",
                                        "binary",
                                        "byte_array_decimal",
                                        "byte_stream_split.zstd",
                                        "byte_stream_split_extended.gzip",
                                        "concatenated_gzip_members",
                                        "data_index_bloom_encoding_stats",
                                        "datapage_v1-snappy-compressed-checksum",
                                        "datapage_v2.snappy",
                                        "datapage_v2_empty_datapage.snappy",
                                        "delta_binary_packed",
                                        "delta_byte_array",
                                        "delta_encoding_optional_column",
                                        "delta_encoding_required_column",
                                        "delta_length_byte_array",
                                        "dict-page-offset-zero",
                                        "fixed_length_byte_array",
                                        "fixed_length_decimal",
                                        "fixed_length_decimal_legacy",
                                        "float16_nonzeros_and_nans",
                                        "floating_orders_nan_count",
                                        "hadoop_lz4_compressed_larger",
                                        "int32_decimal",
                                        "int32_with_null_pages",
                                        "int96_from_spark",
                                        "lz4_raw_compressed_larger",
                                        "nation.dict-malformed",
                                        "non_hadoop_lz4_compressed",
                                        "overflow_i16_page_cnt",
                                        "page_v2_empty_compressed",
                                        "rle-dict-snappy-checksum",
                                        "rle_boolean_encoding",
                                        "sort_columns"};
    uint64_t seed = 17;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char path[4096];
        _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
        _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
        snprintf(path, sizeof path, "%s/parquet-testing/data/%s.parquet", folder, names[i]);
        assert_ok(storage_open(path, &storage));
        assert_ok(parquet_file_open(storage, &file));
        for (size_t row_group = 0; row_group < file->metadata->row_group_count; row_group++)
            for (size_t k = 0; k < file->schema->field_count; k++)
                check_column(file, row_group, file->columns[k], &seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(however_columns_are_read_the_rows_are_the_same),
    };
    folder = getenv("KITH_OUTSIDE");
    return folder == NULL ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
