/* What other readers make of the files is writer_interop.py's to test; here is what only the bytes show, and errors. */
#include "testing.h"

#include "base/alloc.h"
#include "columnar/builder.h"
#include "parquet/encoding_rle.h"
#include "parquet/file.h"
#include "parquet/writer.h"
#include "parquet/writer_parts.h"
#include "temporary.h"

/* One column of a file to be written. */
struct column {
    struct data_type type;
    bool required;
    struct array_builder *builder;
};

static struct column column_of(struct data_type type)
{
    struct column column = {.type = type};
    assert_ok(array_builder_new(&type, &column.builder));
    return column;
}

static void put_string(struct column *column, const void *bytes, size_t length)
{
    assert_ok(array_builder_append_string(column->builder, (struct str){bytes, length}));
}

static void put_repeated(struct column *column, const char *text, size_t times)
{
    _cleanup_(strbuf_reset) struct strbuf buffer = {0};
    for (size_t i = 0; i < times; i++)
        assert_ok(strbuf_append_text(&buffer, text));
    put_string(column, strbuf_text(&buffer), buffer.length);
}

static kith_error *make_batch(struct column *column, struct batch **out)
{
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(array_unref) struct array *array = NULL;
    char name[] = "a";
    struct field field = {.name = name, .type = column->type, .nullable = !column->required};
    TRY(schema_new(&field, 1, &schema));
    TRY(array_builder_finish(column->builder, &array));
    return batch_new(schema, &array, array->length, out);
}

static kith_error *write_batch(struct batch *batch, const struct parquet_write_options *options)
{
    _cleanup_(storage_writer_free) struct storage_writer *storage = NULL;
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    TRY(storage_create("out.parquet", &storage));
    TRY(parquet_writer_new(storage, batch->schema, options, &writer));
    TRY(parquet_writer_write(writer, batch));
    TRY(parquet_writer_finish(writer));
    return storage_writer_finish(storage);
}

static kith_error *open_written(struct parquet_file **out)
{
    _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
    TRY(storage_open("out.parquet", &storage));
    return parquet_file_open(storage, out);
}

static kith_error *write_column(struct column *column, const struct parquet_write_options *options)
{
    _cleanup_(batch_unref) struct batch *batch = NULL;
    kith_error *error = make_batch(column, &batch);
    array_builder_free(column->builder);
    TRY(error);
    return write_batch(batch, options);
}

/* Writes the column with default options and gives the bounds of its one row group. */
static struct column_statistics written_statistics(struct column *column, struct parquet_file **file)
{
    const struct parquet_write_options options = {0};
    struct column_statistics statistics;
    assert_ok(write_column(column, &options));
    assert_ok(open_written(file));
    parquet_row_group_statistics(*file, 0, 0, &statistics);
    return statistics;
}

#define WRITTEN(column)                                             \
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL; \
    struct column_statistics statistics = written_statistics(&(column), &file)

static void row_groups_and_pages_have_the_rows_asked_for(void **state)
{
    const struct parquet_write_options options = {.row_group_rows = 300, .page_rows = 50, .codec = PARQUET_SNAPPY};
    static const int64_t rows[] = {300, 300, 300, 100};
    struct column column = column_of(type_of(TYPE_INT64));
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    _cleanup_(parquet_page_index_free) struct parquet_page_index *index = NULL;
    uint64_t bytes_read = 0;
    for (int64_t i = 0; i < 1000; i++)
        assert_ok(array_builder_append_int(column.builder, i));
    assert_ok(write_column(&column, &options));
    assert_ok(open_written(&file));
    assert_int_equal(file->metadata->row_group_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(file->metadata->row_groups[i].row_count, rows[i]);
    assert_ok(parquet_page_index_read(file, 1, 0, &bytes_read, &index));
    assert_int_equal(index->page_count, 6);
    assert_int_equal(index->pages[5].first_row, 250);
    assert_int_equal(index->statistics[5].min.int64, 550);
    assert_int_equal(index->statistics[5].max.int64, 599);
}

static void long_strings_end_a_page_before_its_rows_do(void **state)
{
    const struct parquet_write_options options = {.no_dictionary = true};
    struct column column = column_of(type_of(TYPE_BINARY));
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    _cleanup_(parquet_page_index_free) struct parquet_page_index *index = NULL;
    uint64_t bytes_read = 0;
    for (int i = 0; i < 10; i++)
        put_repeated(&column, "0123456789", 50000);
    assert_ok(write_column(&column, &options));
    assert_ok(open_written(&file));
    assert_ok(parquet_page_index_read(file, 0, 0, &bytes_read, &index));
    assert_int_equal(index->page_count, 4); /* the page that reaches 1 MiB ends: 3, 3, 3 and 1 of 500 kB */
}

static void a_selection_is_what_is_written(void **state)
{
    const struct parquet_write_options options = {0};
    struct column column = column_of(type_of(TYPE_INT32));
    _cleanup_(batch_unref) struct batch *batch = NULL, *selected = NULL;
    _cleanup_(selection_unref) struct selection *selection = NULL;
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    struct column_statistics statistics;
    for (int64_t i = 0; i < 10; i++)
        assert_ok(array_builder_append_int(column.builder, i));
    assert_ok(make_batch(&column, &batch));
    array_builder_free(column.builder);
    assert_ok(selection_new(2, &selection));
    selection->rows[selection->count++] = 4;
    selection->rows[selection->count++] = 7;
    assert_ok(batch_select(batch, selection, &selected));
    assert_ok(write_batch(selected, &options));
    assert_ok(open_written(&file));
    assert_int_equal(file->metadata->row_count, 2);
    parquet_row_group_statistics(file, 0, 0, &statistics);
    assert_int_equal(statistics.min.int64, 4);
    assert_int_equal(statistics.max.int64, 7);
}

static void a_flush_ends_a_row_group_and_never_writes_an_empty_one(void **state)
{
    const struct parquet_write_options options = {0};
    struct column column = column_of(type_of(TYPE_INT32));
    _cleanup_(batch_unref) struct batch *batch = NULL;
    _cleanup_(storage_writer_free) struct storage_writer *storage = NULL;
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    assert_ok(array_builder_append_int(column.builder, 1));
    assert_ok(make_batch(&column, &batch));
    array_builder_free(column.builder);
    assert_ok(storage_create("out.parquet", &storage));
    assert_ok(parquet_writer_new(storage, batch->schema, &options, &writer));
    assert_ok(parquet_writer_flush(writer));
    assert_ok(parquet_writer_write(writer, batch));
    assert_ok(parquet_writer_write(writer, batch));
    assert_ok(parquet_writer_flush(writer));
    assert_ok(parquet_writer_flush(writer));
    assert_ok(parquet_writer_write(writer, batch));
    assert_ok(parquet_writer_finish(writer));
    assert_fails(parquet_writer_write(writer, batch), KITH_ERROR_INTERNAL, "finished");
    assert_ok(storage_writer_finish(storage));
    assert_ok(open_written(&file));
    assert_int_equal(file->metadata->row_group_count, 2);
    assert_int_equal(file->metadata->row_groups[0].row_count, 2);
    assert_int_equal(file->metadata->row_groups[1].row_count, 1);
}

static void a_row_group_ends_before_its_text_is_too_long(void **state)
{
    const struct parquet_write_options options = {.row_group_text = 1000};
    struct column column = column_of(type_of(TYPE_UTF8));
    _cleanup_(batch_unref) struct batch *batch = NULL;
    _cleanup_(storage_writer_free) struct storage_writer *storage = NULL;
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    put_repeated(&column, "0123456789", 30);
    assert_ok(make_batch(&column, &batch));
    array_builder_free(column.builder);
    assert_ok(storage_create("out.parquet", &storage));
    assert_ok(parquet_writer_new(storage, batch->schema, &options, &writer));
    for (int i = 0; i < 7; i++)
        assert_ok(parquet_writer_write(writer, batch)); /* 300 bytes each */
    assert_ok(parquet_writer_finish(writer));
    assert_ok(storage_writer_finish(storage));
    assert_ok(open_written(&file));
    assert_int_equal(file->metadata->row_group_count, 3);
    assert_int_equal(file->metadata->row_groups[0].row_count, 3);
    assert_int_equal(file->metadata->row_groups[2].row_count, 1);
}

static void a_column_may_be_dictionary_encoded_in_memory(void **state)
{
    const struct parquet_write_options options = {0};
    struct column values = column_of(type_of(TYPE_UTF8)), indices = column_of(type_of(TYPE_INT32));
    _cleanup_(array_unref) struct array *value_array = NULL, *index_array = NULL, *array = NULL;
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    struct column_statistics statistics;
    put_string(&values, "x", 1);
    put_string(&values, "y", 1);
    for (int i = 0; i < 10; i++)
        assert_ok(array_builder_append_int(indices.builder, i % 2));
    assert_ok(array_builder_finish(values.builder, &value_array));
    assert_ok(array_builder_finish(indices.builder, &index_array));
    array_builder_free(values.builder);
    array_builder_free(indices.builder);
    assert_ok(array_new_dictionary(index_array, value_array, &array));
    char name[] = "a";
    struct field field = {.name = name, .type = array->type, .nullable = true};
    assert_ok(schema_new(&field, 1, &schema));
    assert_ok(batch_new(schema, &array, 10, &batch));
    assert_ok(write_batch(batch, &options));
    assert_ok(open_written(&file));
    parquet_row_group_statistics(file, 0, 0, &statistics);
    assert_int_equal(file->schema->fields[0].type.id, TYPE_UTF8);
    assert_true(str_equal(statistics.min.string, str_of("x")) && str_equal(statistics.max.string, str_of("y")));
}

static void nan_is_counted_and_left_out_of_bounds(void **state)
{
    struct column column = column_of(type_of(TYPE_FLOAT64));
    assert_ok(array_builder_append_double(column.builder, 2));
    assert_ok(array_builder_append_double(column.builder, __builtin_nan("")));
    assert_ok(array_builder_append_double(column.builder, -5));
    WRITTEN(column);
    const struct parquet_raw_statistics *raw = &file->metadata->row_groups[0].chunks[0].statistics;
    assert_true(raw->has_nan_count && raw->nan_count == 1);
    assert_true(statistics.may_have_nan);
    assert_true(statistics.min.float64 == -5);
    assert_true(statistics.max.float64 == 2);
}

/* ColumnOrder in parquet.thrift: the min is written as -0.0 and the max as +0.0, whichever the values are. */
static void a_zero_bound_gets_the_sign_that_covers_both(void **state)
{
    struct column column = column_of(type_of(TYPE_FLOAT32));
    assert_ok(array_builder_append_double(column.builder, 0.0));
    WRITTEN(column);
    const struct parquet_raw_statistics *raw = &file->metadata->row_groups[0].chunks[0].statistics;
    assert_memory_equal(raw->min.data, "\0\0\0\x80", 4);
    assert_memory_equal(raw->max.data, "\0\0\0\0", 4);
    assert_false(statistics.may_have_nan);
}

/* The same place: a column index has bounds for every page that is not all NULL, and NaN is none. */
static void a_page_of_nan_alone_leaves_the_chunk_without_column_index(void **state)
{
    const struct parquet_write_options options = {.page_rows = 2};
    struct column column = column_of(type_of(TYPE_FLOAT64));
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    for (int i = 0; i < 4; i++)
        assert_ok(array_builder_append_double(column.builder, i < 2 ? 1 : __builtin_nan("")));
    assert_ok(write_column(&column, &options));
    assert_ok(open_written(&file));
    assert_int_equal(file->metadata->row_groups[0].chunks[0].column_index.length, 0);
    assert_true(file->metadata->row_groups[0].chunks[0].offset_index.length > 0);
}

static void nulls_are_counted_and_a_column_of_them_has_no_bounds(void **state)
{
    struct column column = column_of(type_of(TYPE_UTF8));
    for (int i = 0; i < 3; i++)
        assert_ok(array_builder_append_null(column.builder));
    WRITTEN(column);
    assert_true(statistics_all_null(&statistics));
    assert_false(statistics.has_min || statistics.has_max);
}

static void bounds_of_decimals_are_signed_in_any_width(void **state)
{
    static const uint8_t precisions[] = {5, 18, 30};
    for (size_t i = 0; i < ARRAY_SIZE(precisions); i++) {
        struct data_type type = type_of(TYPE_DECIMAL128);
        type.precision = precisions[i];
        struct column column = column_of(type);
        assert_ok(array_builder_append_int(column.builder, -1));
        assert_ok(array_builder_append_int(column.builder, 255));
        WRITTEN(column);
        _cleanup_(strbuf_reset) struct strbuf text = {0};
        assert_ok(scalar_format(&statistics.min, &text));
        assert_ok(strbuf_append_text(&text, " "));
        assert_ok(scalar_format(&statistics.max, &text));
        assert_string_equal(strbuf_text(&text), "-1 255");
    }
}

static void bounds_of_unsigned_numbers_use_the_high_bit_as_value(void **state)
{
    struct column number = column_of(type_of(TYPE_UINT32));
    assert_ok(array_builder_append_int(number.builder, 1));
    assert_ok(array_builder_append_int(number.builder, 0xFFFFFFFF));
    WRITTEN(number);
    assert_int_equal(statistics.min.uint64, 1);
    assert_int_equal(statistics.max.uint64, 0xFFFFFFFF);
}

static void assert_text(struct str found, const char *text, size_t times, const char *end)
{
    _cleanup_(strbuf_reset) struct strbuf expected = {0};
    for (size_t i = 0; i < times; i++)
        assert_ok(strbuf_append_text(&expected, text));
    assert_ok(strbuf_append_text(&expected, end));
    assert_int_equal(found.length, expected.length);
    assert_memory_equal(found.data, expected.data, expected.length);
}

static void long_strings_are_cut_into_bounds(void **state)
{
    struct column column = column_of(type_of(TYPE_UTF8));
    put_repeated(&column, "b", 100);
    put_repeated(&column, "a", 65);
    WRITTEN(column);
    assert_text(statistics.min.string, "a", 64, "");
    assert_text(statistics.max.string, "b", 63, "c");
    assert_false(statistics.min_exact || statistics.max_exact);
}

static void bounds_are_cut_between_characters(void **state)
{
    struct column column = column_of(type_of(TYPE_UTF8));
    put_repeated(&column, "\xE2\x82\xAC", 30); /* 21 euro signs are 63 bytes */
    WRITTEN(column);
    assert_text(statistics.min.string, "\xE2\x82\xAC", 21, "");
    assert_text(statistics.max.string, "\xE2\x82\xAC", 20, "\xE2\x82\xAD");
}

static void a_character_that_cannot_be_raised_is_dropped(void **state)
{
    struct column column = column_of(type_of(TYPE_UTF8));
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    assert_ok(strbuf_append_text(&text, "x\xED\x9F\xBF")); /* U+D7FF, before the surrogates */
    for (int i = 0; i < 20; i++)
        assert_ok(strbuf_append_text(&text, "\xF4\x8F\xBF\xBF")); /* U+10FFFF, the last */
    put_string(&column, text.data, text.length);
    WRITTEN(column);
    assert_text(statistics.max.string, "", 0, "x\xEE\x80\x80"); /* U+E000 */
}

static void what_cannot_be_raised_at_all_is_kept_whole(void **state)
{
    struct column column = column_of(type_of(TYPE_BINARY));
    put_repeated(&column, "\xFF", 70);
    WRITTEN(column);
    assert_int_equal(statistics.max.string.length, 70);
    assert_true(statistics.max_exact);
    assert_false(statistics.min_exact);
}

static void a_dictionary_is_written_only_where_it_pays(void **state)
{
    for (int repeated = 0; repeated < 2; repeated++) {
        struct column column = column_of(type_of(TYPE_INT64));
        for (int64_t i = 0; i < 1000; i++)
            assert_ok(array_builder_append_int(column.builder, repeated ? i % 10 : i));
        WRITTEN(column);
        assert_true(statistics.has_min);
        assert_int_equal(file->metadata->row_groups[0].chunks[0].has_dictionary, repeated);
    }
}

static void options_leave_out_statistics_and_indexes(void **state)
{
    const struct parquet_write_options options = {.no_statistics = true};
    struct column column = column_of(type_of(TYPE_INT64));
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    struct column_statistics statistics;
    assert_ok(array_builder_append_int(column.builder, 1));
    assert_ok(write_column(&column, &options));
    assert_ok(open_written(&file));
    parquet_row_group_statistics(file, 0, 0, &statistics);
    assert_false(statistics.has_min || statistics.has_max || statistics.has_null_count);
    assert_int_equal(file->metadata->row_groups[0].chunks[0].offset_index.length, 0);
}

static void assert_refused(struct data_type type, int64_t value, enum kith_code code, const char *part)
{
    const struct parquet_write_options options = {0};
    struct column column = column_of(type);
    assert_ok(array_builder_append_int(column.builder, value));
    assert_fails(write_column(&column, &options), code, part);
}

static void what_the_format_cannot_hold_is_refused(void **state)
{
    struct data_type duration = type_of(TYPE_DURATION), date = type_of(TYPE_DATE64), decimal = type_decimal(20, 0);
    assert_refused(duration, 1, KITH_ERROR_NOT_IMPLEMENTED, "column \"a\" of type Duration(Second) cannot be written");
    assert_refused(type_timestamp(UNIT_SECOND, ""), INT64_MAX / 10, KITH_ERROR_OUT_OF_RANGE, "column \"a\"");
    assert_refused(date, INT64_MAX, KITH_ERROR_OUT_OF_RANGE, "column \"a\"");
    decimal.precision = 2;
    decimal.id = TYPE_DECIMAL128;
    assert_refused(decimal, 128, KITH_ERROR_OUT_OF_RANGE, "more than its type's 2 digits");
    decimal.scale = -1;
    assert_refused(decimal, 1, KITH_ERROR_NOT_IMPLEMENTED, "scale");
}

static void a_null_in_a_required_column_is_refused(void **state)
{
    const struct parquet_write_options options = {0};
    struct column column = column_of(type_of(TYPE_INT32));
    column.required = true;
    assert_ok(array_builder_append_null(column.builder));
    assert_fails(write_column(&column, &options), KITH_ERROR_INVALID_ARGUMENT, "NOT NULL");
}

static void other_codecs_are_refused(void **state)
{
    const struct parquet_write_options options = {.codec = PARQUET_BROTLI};
    struct column column = column_of(type_of(TYPE_INT32));
    assert_ok(array_builder_append_int(column.builder, 1));
    assert_fails(write_column(&column, &options), KITH_ERROR_NOT_IMPLEMENTED, "brotli");
}

static void runs_read_back_as_the_values_they_were(void **state)
{
    uint64_t random = 11;
    for (int round = 0; round < 300; round++) {
        unsigned width = 1 + (unsigned)(test_random(&random) % 32);
        size_t count = test_random(&random) % 2000;
        uint32_t values[2000], found[2000];
        _cleanup_(strbuf_reset) struct strbuf bytes = {0};
        for (size_t i = 0; i < count;) {
            size_t run = test_random(&random) % 4 == 0 ? test_random(&random) % 40 : 1;
            uint32_t value = (uint32_t)(test_random(&random) >> (64 - width));
            for (; run > 0 && i < count; run--)
                values[i++] = value;
        }
        assert_ok(writer_append_rle(values, count, width, &bytes));
        struct rle_decoder decoder;
        assert_ok(rle_init(&decoder, (const uint8_t *)strbuf_text(&bytes), bytes.length, width));
        assert_ok(rle_read(&decoder, count, found));
        assert_memory_equal(values, found, count * sizeof *values);
    }
}

/* Encodings.md: the bit-packed example of the values 0 to 7 in three bits, and a run of one value. */
static void runs_are_those_of_the_specification(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    const uint32_t ascending[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint32_t repeated[] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
    assert_ok(writer_append_rle(ascending, 8, 3, &bytes));
    assert_ok(writer_append_rle(repeated, 10, 3, &bytes));
    assert_int_equal(bytes.length, 6);
    assert_memory_equal(bytes.data, "\x03\x88\xC6\xFA\x14\x04", 6);
}

static kith_error *write_and_open(void *state)
{
    const struct parquet_write_options options = {.codec = PARQUET_ZSTD, .page_rows = 20};
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    TRY(write_batch(state, &options));
    return open_written(&file);
}

static void a_file_survives_without_memory(void **state)
{
    struct column column = column_of(type_of(TYPE_UTF8));
    _cleanup_(batch_unref) struct batch *batch = NULL;
    for (int i = 0; i < 100; i++)
        put_string(&column, i % 2 == 0 ? "even" : "odd", 3);
    assert_ok(make_batch(&column, &batch));
    array_builder_free(column.builder);
    assert_survives_without_memory(write_and_open, batch, 20);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, temporary_folder_enter, temporary_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(row_groups_and_pages_have_the_rows_asked_for),
        TEST(long_strings_end_a_page_before_its_rows_do),
        TEST(a_selection_is_what_is_written),
        TEST(a_flush_ends_a_row_group_and_never_writes_an_empty_one),
        TEST(a_row_group_ends_before_its_text_is_too_long),
        TEST(a_column_may_be_dictionary_encoded_in_memory),
        TEST(nan_is_counted_and_left_out_of_bounds),
        TEST(a_zero_bound_gets_the_sign_that_covers_both),
        TEST(a_page_of_nan_alone_leaves_the_chunk_without_column_index),
        TEST(nulls_are_counted_and_a_column_of_them_has_no_bounds),
        TEST(bounds_of_decimals_are_signed_in_any_width),
        TEST(bounds_of_unsigned_numbers_use_the_high_bit_as_value),
        TEST(long_strings_are_cut_into_bounds),
        TEST(bounds_are_cut_between_characters),
        TEST(a_character_that_cannot_be_raised_is_dropped),
        TEST(what_cannot_be_raised_at_all_is_kept_whole),
        TEST(a_dictionary_is_written_only_where_it_pays),
        TEST(options_leave_out_statistics_and_indexes),
        TEST(what_the_format_cannot_hold_is_refused),
        TEST(a_null_in_a_required_column_is_refused),
        TEST(other_codecs_are_refused),
        TEST(runs_read_back_as_the_values_they_were),
        TEST(runs_are_those_of_the_specification),
        TEST(a_file_survives_without_memory),
    };
    return cmocka_run_group_tests_name("parquet/writer", tests, NULL, NULL);
}
