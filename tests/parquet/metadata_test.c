#include "testing.h"

#include "base/limits.h"
#include "footer_fixture.h"

#define OPEN(fixture)                                               \
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL; \
    assert_ok(fixture_open(&(fixture), &file))

static void assert_refused(struct footer_fixture *fixture, enum kith_code code, const char *part)
{
    struct parquet_file *file = NULL;
    assert_fails(fixture_open(fixture, &file), code, part);
    fixture_reset(fixture);
}

static void a_footer_gives_schema_and_row_groups(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture = fixture_default();
    OPEN(fixture);
    const struct parquet_metadata *metadata = file->metadata;
    assert_int_equal(metadata->row_count, 10);
    assert_int_equal(metadata->column_count, 1);
    assert_string_equal(metadata->columns[0].path, "a");
    assert_int_equal(metadata->columns[0].max_definition_level, 1);
    assert_int_equal(metadata->row_group_count, 1);
    assert_int_equal(metadata->row_groups[0].compressed_bytes, FIXTURE_PAGE_BYTES);
    assert_int_equal(metadata->row_groups[0].chunks[0].pages.offset, FIXTURE_PAGES_AT);
    assert_int_equal(file->schema->field_count, 1);
    assert_int_equal(file->schema->fields[0].type.id, TYPE_INT32);
    assert_true(file->schema->fields[0].nullable);
}

/* The Arrow type, as DataFusion spells it, of a leaf; or why it cannot be read. */
static void assert_type(struct footer_fixture fixture, const char *expected)
{
    char text[128];
    OPEN(fixture);
    const struct parquet_column *column = &file->metadata->columns[0];
    assert_string_equal(column->readable ? type_format(&column->type, text, sizeof text) : column->unreadable_reason,
                        expected);
    fixture_reset(&fixture);
}

static void assert_converted(enum parquet_type type, int32_t length, int32_t converted, const char *expected)
{
    struct footer_fixture fixture = fixture_default();
    fixture.type = type;
    fixture.type_length = length;
    fixture.converted = converted;
    fixture.scale = 2;
    fixture.precision = 9;
    assert_type(fixture, expected);
}

static void assert_logical(enum parquet_type type, int32_t length, int16_t logical, struct str fields,
                           const char *expected)
{
    struct footer_fixture fixture = fixture_default();
    fixture.type = type;
    fixture.type_length = length;
    fixture.logical = logical;
    fixture.logical_fields = fields;
    assert_type(fixture, expected);
}

/* LogicalTypes.md, and what pyarrow makes of each. */
static void converted_types_become_arrow_types(void **state)
{
    assert_converted(PARQUET_BYTE_ARRAY, ABSENT, 0, "Utf8");
    assert_converted(PARQUET_BYTE_ARRAY, ABSENT, 4, "Utf8");
    assert_converted(PARQUET_INT32, ABSENT, 5, "Decimal64(9, 2)");
    assert_converted(PARQUET_INT64, ABSENT, 5, "Decimal64(9, 2)");
    assert_converted(PARQUET_BYTE_ARRAY, ABSENT, 5, "Decimal64(9, 2)");
    assert_converted(PARQUET_FIXED_LEN_BYTE_ARRAY, 4, 5, "Decimal64(9, 2)");
    assert_converted(PARQUET_INT32, ABSENT, 6, "Date32");
    assert_converted(PARQUET_INT32, ABSENT, 7, "Time32(Millisecond)");
    assert_converted(PARQUET_INT64, ABSENT, 8, "Time64(Microsecond)");
    assert_converted(PARQUET_INT64, ABSENT, 9, "Timestamp(Millisecond)");
    assert_converted(PARQUET_INT64, ABSENT, 10, "Timestamp(Microsecond)");
    assert_converted(PARQUET_INT32, ABSENT, 11, "UInt8");
    assert_converted(PARQUET_INT64, ABSENT, 14, "UInt64");
    assert_converted(PARQUET_INT32, ABSENT, 15, "Int8");
    assert_converted(PARQUET_INT32, ABSENT, 17, "Int32");
    assert_converted(PARQUET_BYTE_ARRAY, ABSENT, 19, "Utf8");
    assert_converted(PARQUET_BYTE_ARRAY, ABSENT, 20, "Binary");
    assert_converted(PARQUET_FIXED_LEN_BYTE_ARRAY, 12, 21, "FixedSizeBinary(12)");
}

static void physical_types_become_arrow_types(void **state)
{
    assert_converted(PARQUET_BOOLEAN, ABSENT, ABSENT, "Boolean");
    assert_converted(PARQUET_INT96, ABSENT, ABSENT, "Timestamp(Nanosecond)");
    assert_converted(PARQUET_FLOAT, ABSENT, ABSENT, "Float32");
    assert_converted(PARQUET_DOUBLE, ABSENT, ABSENT, "Float64");
    assert_converted(PARQUET_BYTE_ARRAY, ABSENT, ABSENT, "Binary");
    assert_converted(PARQUET_FIXED_LEN_BYTE_ARRAY, 5, ABSENT, "FixedSizeBinary(5)");
}

static void logical_types_become_arrow_types(void **state)
{
    /* Fields in order: 1 scale and 2 precision; 1 isAdjustedToUTC and 2 unit; 1 bitWidth and 2 isSigned. */
    assert_logical(PARQUET_BYTE_ARRAY, ABSENT, 1, (struct str){0}, "Utf8");
    assert_logical(PARQUET_FIXED_LEN_BYTE_ARRAY, 16, 5, BYTES("\x15\x14\x15\x4C"), "Decimal128(38, 10)");
    assert_logical(PARQUET_INT64, ABSENT, 7, BYTES("\x12\x1C\x3C\x00\x00"), "Time64(Nanosecond)");
    assert_logical(PARQUET_INT64, ABSENT, 8, BYTES("\x11\x1C\x1C\x00\x00"), "Timestamp(Millisecond, \"UTC\")");
    assert_logical(PARQUET_INT64, ABSENT, 8, BYTES("\x12\x1C\x3C\x00\x00"), "Timestamp(Nanosecond)");
    assert_logical(PARQUET_INT32, ABSENT, 10, BYTES("\x13\x10\x12"), "UInt16");
    assert_logical(PARQUET_INT64, ABSENT, 10, BYTES("\x13\x40\x11"), "Int64");
    assert_logical(PARQUET_INT32, ABSENT, 11, (struct str){0}, "Null");
    assert_logical(PARQUET_FIXED_LEN_BYTE_ARRAY, 16, 14, (struct str){0}, "FixedSizeBinary(16)");
    assert_logical(PARQUET_FIXED_LEN_BYTE_ARRAY, 2, 15, (struct str){0}, "Float16");
    assert_logical(PARQUET_BYTE_ARRAY, ABSENT, 99, (struct str){0}, "Binary"); /* of a later version */
}

static void an_annotation_that_does_not_fit_makes_only_its_column_unreadable(void **state)
{
    static const char mismatch[] = "its logical type does not fit the type it is stored in";
    assert_converted(PARQUET_INT32, ABSENT, 0, mismatch);
    assert_logical(PARQUET_FIXED_LEN_BYTE_ARRAY, 3, 15, (struct str){0}, mismatch);
    assert_logical(PARQUET_INT32, ABSENT, 10, BYTES("\x13\x40\x11"),
                   "an integer's width does not fit the type it is stored in");
    assert_logical(PARQUET_INT32, ABSENT, 8, BYTES("\x12\x1C\x1C\x00\x00"), "a timestamp is not stored in 64 bits");
    assert_logical(PARQUET_INT32, ABSENT, 5, BYTES("\x15\x04\x15\x14"), /* 10 digits in 32 bits */
                   "the precision and scale of a decimal do not fit each other or the type they are stored in");
    assert_logical(PARQUET_BYTE_ARRAY, ABSENT, 5, BYTES("\x15\x04\x15\x4E"), /* 39 digits */
                   "decimals of more than 38 digits are not supported");
}

static void a_repeated_column_is_named_unreadable(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture = fixture_default();
    fixture.repetition = 2;
    OPEN(fixture);
    assert_false(file->metadata->columns[0].readable);
    assert_string_equal(file->metadata->columns[0].unreadable_reason,
                        "it is repeated, and nested columns are not supported");
    assert_int_equal(file->schema->field_count, 0);
}

static void numbers_that_the_format_has_not_are_refused(void **state)
{
    struct footer_fixture fixture = fixture_default();
    fixture.type = 8;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "8 is no physical type");
    fixture = fixture_default();
    fixture.repetition = 4;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "4 is no repetition");
    fixture = fixture_default();
    fixture.repetition = ABSENT;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "has no repetition");
    fixture = fixture_default();
    fixture.converted = 22;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "22 is no converted type");
    fixture = fixture_default();
    fixture.codec = 8;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "codec is none that the format has");
}

static void a_column_needs_a_name_of_text(void **state)
{
    static const struct str names[] = {{NULL, 0}, {"a\0b", 3}, {"\xC3", 1}};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct footer_fixture fixture = fixture_default();
        fixture.name = names[i];
        assert_refused(&fixture, KITH_ERROR_CORRUPT, "no name, or one that is not UTF-8 text");
    }
    char longest[LIMIT_PARQUET_PATH_BYTES + 1];
    struct footer_fixture fixture = fixture_default();
    memset(longest, 'x', sizeof longest);
    fixture.name = (struct str){longest, sizeof longest};
    assert_refused(&fixture, KITH_ERROR_LIMIT, "PARQUET_PATH_BYTES");
}

static void a_schema_that_is_no_tree_is_refused(void **state)
{
    struct footer_fixture fixture = fixture_default();
    fixture.type = ABSENT;
    fixture.child_count = -5;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "has -5 children");
    fixture = fixture_default();
    fixture.type = ABSENT;
    fixture.child_count = 3;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "fewer elements");
    fixture = fixture_default();
    fixture.child_count = 3;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "both a type and children");
    fixture = fixture_default();
    fixture.type = PARQUET_FIXED_LEN_BYTE_ARRAY;
    fixture.type_length = 0;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "has a length of 0");
}

static void counts_that_contradict_each_other_are_refused(void **state)
{
    struct footer_fixture fixture = fixture_default();
    fixture.file_rows = 11;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "row groups have 10 rows where the file has 11");
    fixture = fixture_default();
    fixture.file_rows = fixture.group_rows = -3;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "valid number of rows");
    fixture = fixture_default();
    fixture.values = 9;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "not as many values");
    fixture = fixture_default();
    fixture.values = -10;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "negative");
    fixture = fixture_default();
    fixture.chunk_count = 2;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "has 2 columns where the schema has 1");
    fixture = fixture_default();
    fixture.chunk_type = PARQUET_INT64;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "physical type is not the schema's");
}

static void ranges_outside_the_file_are_refused(void **state)
{
    struct footer_fixture fixture = fixture_default();
    fixture.compressed_bytes = FIXTURE_PAGE_BYTES + 1;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "column \"a\" of row group 0: its pages lie outside the file");
    fixture = fixture_default();
    fixture.data_page_offset = INT64_MAX;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "outside the file");
    fixture = fixture_default();
    fixture.compressed_bytes = INT64_MAX;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "outside the file");
    fixture = fixture_default();
    fixture.data_page_offset = -1;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "no pages");
    fixture = fixture_default();
    fixture.data_page_offset = 0;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "no pages");
    fixture = fixture_default();
    fixture.compressed_bytes = 0;
    assert_refused(&fixture, KITH_ERROR_CORRUPT, "no pages");
}

static void a_dictionary_offset_counts_only_before_the_data(void **state)
{
    static const struct {
        int64_t dictionary, data;
        bool has;
        uint64_t offset;
    } cases[] = {{10, 50, true, 10}, {0, 50, false, 50}, {50, 50, false, 50}, {60, 50, false, 50}, {-1, 50, false, 50}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(fixture_reset) struct footer_fixture fixture = fixture_default();
        fixture.dictionary_page_offset = cases[i].dictionary;
        fixture.data_page_offset = cases[i].data;
        fixture.compressed_bytes = 100;
        OPEN(fixture);
        assert_int_equal(file->metadata->row_groups[0].chunks[0].has_dictionary, cases[i].has);
        assert_int_equal(file->metadata->row_groups[0].chunks[0].pages.offset, cases[i].offset);
    }
}

static void a_chunk_without_values_may_have_any_offsets(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture = fixture_default();
    fixture.file_rows = fixture.group_rows = fixture.values = 0;
    fixture.data_page_offset = 0;
    OPEN(fixture);
    assert_int_equal(file->metadata->row_groups[0].chunks[0].pages.length, 0);
}

static void encrypted_columns_and_columns_of_other_files_are_named(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture = fixture_default();
    fixture.encrypted = true;
    {
        OPEN(fixture);
        assert_string_equal(file->metadata->columns[0].unreadable_reason, "it is encrypted");
    }
    fixture.encrypted = false;
    fixture.elsewhere = true;
    assert_refused(&fixture, KITH_ERROR_NOT_IMPLEMENTED, "lies in another file");
}

/* Opens the fixture's bytes as they are, cut to `length`. */
static kith_error *open_bytes(const struct footer_fixture *fixture, size_t length)
{
    _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
    struct parquet_file *file = NULL;
    TRY(storage_open_memory("f.parquet", fixture->bytes.data, length, &storage));
    TRY(parquet_file_open(storage, &file));
    parquet_file_unref(file);
    return NULL;
}

static void what_is_not_a_parquet_file_is_told_from_a_truncated_one(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture = fixture_default();
    assert_ok(fixture_build(&fixture));
    size_t length = fixture.bytes.length;
    assert_fails(open_bytes(&fixture, 0), KITH_ERROR_CORRUPT, "it has 0 bytes");
    assert_fails(open_bytes(&fixture, 11), KITH_ERROR_CORRUPT, "it has 11 bytes");
    assert_fails(open_bytes(&fixture, length - 1), KITH_ERROR_CORRUPT, "f.parquet is truncated or damaged");
    fixture.bytes.data[0] = 'X';
    assert_fails(open_bytes(&fixture, length - 1), KITH_ERROR_CORRUPT, "f.parquet is not a Parquet file");
    fixture.bytes.data[length - 1] = 'E';
    assert_fails(open_bytes(&fixture, length), KITH_ERROR_NOT_IMPLEMENTED, "f.parquet is encrypted");
}

static void a_declared_footer_length_is_not_believed(void **state)
{
    static const struct {
        uint32_t length;
        enum kith_code code;
        const char *part;
    } cases[] = {{0, KITH_ERROR_CORRUPT, "a footer of 0 bytes"},
                 {5000, KITH_ERROR_CORRUPT, "a footer of 5000 bytes in a file of"},
                 {UINT32_MAX, KITH_ERROR_LIMIT, "PARQUET_FOOTER_BYTES"}};
    _cleanup_(fixture_reset) struct footer_fixture fixture = fixture_default();
    assert_ok(fixture_build(&fixture));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        memcpy(fixture.bytes.data + fixture.bytes.length - 8, &cases[i].length, 4);
        assert_fails(open_bytes(&fixture, fixture.bytes.length), cases[i].code, cases[i].part);
    }
}

/* The footer alone, as parquet_metadata_parse takes it, for a file of `file_size` bytes. */
static kith_error *parse(const uint8_t *bytes, size_t length)
{
    struct parquet_metadata *metadata = NULL;
    TRY(parquet_metadata_parse("f.parquet", bytes, length, 10000, &metadata));
    parquet_metadata_free(metadata);
    return NULL;
}

static void a_footer_cut_anywhere_is_an_error(void **state)
{
    struct footer_fixture fixture = fixture_default();
    _cleanup_(strbuf_reset) struct strbuf footer = {0};
    fixture.min = fixture.max = BYTES("\1\0\0\0");
    assert_ok(fixture_footer(&fixture, 0, &footer));
    for (size_t cut = 0; cut < footer.length; cut++) {
        /* A copy of its own, so that a read past the end is seen. */
        uint8_t *copy = test_malloc(cut + 1);
        memcpy(copy, footer.data, cut);
        assert_fails(parse(copy, cut), KITH_ERROR_CORRUPT, "f.parquet: footer is damaged at byte");
        test_free(copy);
    }
}

static void a_footer_with_random_damage_never_crashes(void **state)
{
    struct footer_fixture fixture = fixture_default();
    _cleanup_(strbuf_reset) struct strbuf footer = {0};
    uint64_t random = 7;
    fixture.logical = 10;
    fixture.logical_fields = BYTES("\x13\x20\x11");
    fixture.min = fixture.max = BYTES("\1\0\0\0");
    assert_ok(fixture_footer(&fixture, 0, &footer));
    for (int round = 0; round < 20000; round++) {
        uint8_t copy[1024];
        memcpy(copy, footer.data, footer.length);
        for (uint64_t flips = test_random(&random) % 3 + 1; flips > 0; flips--)
            copy[test_random(&random) % footer.length] = (uint8_t)test_random(&random);
        error_free(parse(copy, footer.length));
    }
}

static void fields_may_come_in_any_order_of_their_numbers(void **state)
{
    /* num_rows 0 and no row groups, before the schema of a root without columns: ids 3, 4, then 2 and 1 by absolute
     * number. */
    static const uint8_t bytes[] = {0x36, 0x00, 0x19, 0x0C, 0x09, 0x04, 0x1C, 0x48, 0x01,
                                    'r',  0x15, 0x00, 0x00, 0x05, 0x02, 0x02, 0x00};
    assert_ok(parse(bytes, sizeof bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_footer_gives_schema_and_row_groups),
        cmocka_unit_test(converted_types_become_arrow_types),
        cmocka_unit_test(physical_types_become_arrow_types),
        cmocka_unit_test(logical_types_become_arrow_types),
        cmocka_unit_test(an_annotation_that_does_not_fit_makes_only_its_column_unreadable),
        cmocka_unit_test(a_repeated_column_is_named_unreadable),
        cmocka_unit_test(numbers_that_the_format_has_not_are_refused),
        cmocka_unit_test(a_column_needs_a_name_of_text),
        cmocka_unit_test(a_schema_that_is_no_tree_is_refused),
        cmocka_unit_test(counts_that_contradict_each_other_are_refused),
        cmocka_unit_test(ranges_outside_the_file_are_refused),
        cmocka_unit_test(a_dictionary_offset_counts_only_before_the_data),
        cmocka_unit_test(a_chunk_without_values_may_have_any_offsets),
        cmocka_unit_test(encrypted_columns_and_columns_of_other_files_are_named),
        cmocka_unit_test(what_is_not_a_parquet_file_is_told_from_a_truncated_one),
        cmocka_unit_test(a_declared_footer_length_is_not_believed),
        cmocka_unit_test(a_footer_cut_anywhere_is_an_error),
        cmocka_unit_test(a_footer_with_random_damage_never_crashes),
        cmocka_unit_test(fields_may_come_in_any_order_of_their_numbers),
    };
    return cmocka_run_group_tests_name("parquet/metadata", tests, NULL, NULL);
}
