#include "testing.h"

#include "base/alloc.h"
#include "footer_fixture.h"

enum { PAGES = 3 };

/* Three pages of 100 bytes, of 4, 3 and 3 rows; a test changes what it is about. */
struct index_fixture {
    struct footer_fixture footer;
    size_t page_count;
    int64_t offsets[PAGES], first_rows[PAGES];
    int32_t sizes[PAGES];
    size_t list_count; /* of the lists of bounds */
    bool null_pages[PAGES];
    struct str mins[PAGES], maxs[PAGES];
    int64_t null_counts[PAGES], nan_counts[PAGES];
    bool has_null_counts, has_nan_counts, no_column_index;
    int32_t boundary_order;
};

static struct index_fixture index_default(void)
{
    return (struct index_fixture){
        .footer = fixture_default(),
        .page_count = PAGES,
        .offsets = {4, 104, 204},
        .first_rows = {0, 4, 7},
        .sizes = {100, 100, 100},
        .list_count = PAGES,
        .mins = {BYTES("\1\0\0\0"), BYTES("\2\0\0\0"), BYTES("\3\0\0\0")},
        .maxs = {BYTES("\5\0\0\0"), BYTES("\6\0\0\0"), BYTES("\7\0\0\0")},
        .null_counts = {0, 1, 2},
        .has_null_counts = true,
        .boundary_order = 1,
    };
}

static void index_reset(struct index_fixture *fixture)
{
    fixture_reset(&fixture->footer);
}
DEFINE_VALUE_CLEANUP(index_reset, struct index_fixture)

static kith_error *write_offset_index(struct index_fixture *fixture)
{
    struct thrift_writer thrift = thrift_writer_make(&fixture->footer.offset_index);
    fixture->footer.offset_index.length = 0;
    thrift_begin_list(&thrift, 1, THRIFT_STRUCT, fixture->page_count);
    for (size_t i = 0; i < fixture->page_count; i++) {
        thrift_begin_element(&thrift);
        thrift_write_i64(&thrift, 1, fixture->offsets[i]);
        thrift_write_i32(&thrift, 2, fixture->sizes[i]);
        thrift_write_i64(&thrift, 3, fixture->first_rows[i]);
        thrift_end_struct(&thrift);
    }
    thrift_end_struct(&thrift);
    return thrift_writer_finish(&thrift);
}

static void write_counts(struct thrift_writer *thrift, int16_t id, const int64_t *counts)
{
    thrift_begin_list(thrift, id, THRIFT_I64, PAGES);
    for (size_t i = 0; i < PAGES; i++)
        thrift_put_i64(thrift, counts[i]);
}

static kith_error *write_column_index(struct index_fixture *fixture)
{
    struct thrift_writer thrift = thrift_writer_make(&fixture->footer.column_index);
    fixture->footer.column_index.length = 0;
    thrift_begin_list(&thrift, 1, THRIFT_TRUE, fixture->list_count);
    for (size_t i = 0; i < fixture->list_count; i++)
        thrift_put_bool(&thrift, fixture->null_pages[i]);
    for (int16_t id = 2; id <= 3; id++) {
        thrift_begin_list(&thrift, id, THRIFT_BINARY, fixture->list_count);
        for (size_t i = 0; i < fixture->list_count; i++)
            thrift_put_binary(&thrift, id == 2 ? fixture->mins[i] : fixture->maxs[i]);
    }
    thrift_write_i32(&thrift, 4, fixture->boundary_order);
    if (fixture->has_null_counts)
        write_counts(&thrift, 5, fixture->null_counts);
    if (fixture->has_nan_counts)
        write_counts(&thrift, 8, fixture->nan_counts);
    thrift_end_struct(&thrift);
    return thrift_writer_finish(&thrift);
}

static kith_error *read_index(struct index_fixture *fixture, struct parquet_file **file,
                              struct parquet_page_index **out)
{
    uint64_t bytes_read = 0;
    TRY(write_offset_index(fixture));
    if (!fixture->no_column_index)
        TRY(write_column_index(fixture));
    TRY(fixture_open(&fixture->footer, file));
    TRY(parquet_page_index_read(*file, 0, 0, &bytes_read, out));
    assert_int_equal(bytes_read, fixture->footer.offset_index.length + fixture->footer.column_index.length);
    return NULL;
}

#define INDEX(fixture)                                                          \
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;             \
    _cleanup_(parquet_page_index_free) struct parquet_page_index *index = NULL; \
    assert_ok(read_index(&(fixture), &file, &index))

static void assert_refused(struct index_fixture fixture, const char *part)
{
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    _cleanup_(parquet_page_index_free) struct parquet_page_index *index = NULL;
    assert_fails(read_index(&fixture, &file, &index), KITH_ERROR_CORRUPT, part);
    index_reset(&fixture);
}

static void pages_and_their_statistics_are_read(void **state)
{
    _cleanup_(index_reset) struct index_fixture fixture = index_default();
    INDEX(fixture);
    assert_int_equal(index->page_count, 3);
    assert_int_equal(index->pages[1].offset, 104);
    assert_int_equal(index->pages[1].compressed_bytes, 100);
    assert_int_equal(index->pages[1].first_row, 4);
    assert_int_equal(index->statistics[0].row_count, 4);
    assert_int_equal(index->statistics[2].row_count, 3);
    assert_int_equal(index->statistics[2].null_count, 2);
    assert_int_equal(index->statistics[2].min.int64, 3);
    assert_int_equal(index->statistics[2].max.int64, 7);
    assert_true(index->statistics[2].min_exact);
}

static void a_chunk_without_index_gives_none(void **state)
{
    _cleanup_(fixture_reset) struct footer_fixture fixture = fixture_default();
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    struct parquet_page_index *index;
    uint64_t bytes_read = 0;
    assert_ok(fixture_open(&fixture, &file));
    assert_ok(parquet_page_index_read(file, 0, 0, &bytes_read, &index));
    assert_null(index);
}

static void an_offset_index_alone_gives_places_only(void **state)
{
    _cleanup_(index_reset) struct index_fixture fixture = index_default();
    fixture.no_column_index = true;
    INDEX(fixture);
    assert_int_equal(index->page_count, 3);
    assert_null(index->statistics);
}

static void a_page_of_nulls_has_no_bounds(void **state)
{
    _cleanup_(index_reset) struct index_fixture fixture = index_default();
    fixture.null_pages[1] = true;
    fixture.mins[1] = fixture.maxs[1] = BYTES("");
    fixture.has_null_counts = false;
    INDEX(fixture);
    assert_true(statistics_all_null(&index->statistics[1]));
    assert_false(index->statistics[1].has_min);
    assert_false(index->statistics[0].has_null_count); /* not given is not zero */
}

static void null_counts_that_contradict_null_pages_are_unknown(void **state)
{
    _cleanup_(index_reset) struct index_fixture fixture = index_default();
    fixture.null_pages[0] = true; /* but 0 nulls */
    fixture.null_counts[1] = 3;   /* all rows, but no null page */
    fixture.null_counts[2] = -1;
    INDEX(fixture);
    assert_false(index->statistics[0].has_null_count);
    assert_false(index->statistics[0].has_min);
    assert_false(index->statistics[1].has_null_count);
    assert_false(index->statistics[2].has_null_count);
}

static void strings_in_an_index_are_never_known_to_be_exact(void **state)
{
    _cleanup_(index_reset) struct index_fixture fixture = index_default();
    fixture.footer.type = PARQUET_BYTE_ARRAY;
    fixture.footer.converted = 0;
    INDEX(fixture);
    assert_true(index->statistics[0].has_min && index->statistics[0].has_max);
    assert_false(index->statistics[0].min_exact || index->statistics[0].max_exact);
    assert_int_equal(index->statistics[0].min.string.length, 4);
}

static void bounds_of_unknown_order_are_left_out(void **state)
{
    _cleanup_(index_reset) struct index_fixture fixture = index_default();
    fixture.footer.column_order = 9;
    INDEX(fixture);
    assert_false(index->statistics[0].has_min);
    assert_true(index->statistics[1].has_null_count);
}

static void floats_may_have_nan_unless_the_page_counts_none(void **state)
{
    struct str one = BYTES("\0\0\x80\x3F"), nan = BYTES("\0\0\xC0\x7F");
    _cleanup_(index_reset) struct index_fixture fixture = index_default();
    fixture.footer.type = PARQUET_FLOAT;
    for (size_t i = 0; i < PAGES; i++)
        fixture.mins[i] = fixture.maxs[i] = i == 2 ? nan : one;
    {
        INDEX(fixture);
        assert_true(index->statistics[0].may_have_nan);
        assert_false(index->statistics[2].has_min);
    }
    fixture.has_nan_counts = true;
    fixture.nan_counts[1] = 1;
    INDEX(fixture);
    assert_false(index->statistics[0].may_have_nan);
    assert_true(index->statistics[1].may_have_nan);
}

static void pages_must_lie_in_order_inside_the_chunk(void **state)
{
    struct index_fixture fixture = index_default();
    fixture.offsets[0] = 3;
    assert_refused(fixture, "page 0 lies outside the column chunk");
    fixture = index_default();
    fixture.sizes[2] = 101;
    assert_refused(fixture, "page 2 lies outside");
    fixture = index_default();
    fixture.offsets[2] = INT64_MAX;
    assert_refused(fixture, "page 2 lies outside");
    fixture = index_default();
    fixture.offsets[1] = 103; /* over the first */
    assert_refused(fixture, "over the page before it");
    fixture = index_default();
    fixture.sizes[1] = -100;
    assert_refused(fixture, "missing or negative");
    fixture = index_default();
    fixture.page_count = 0;
    assert_refused(fixture, "lists no page");
}

static void first_rows_must_ascend_from_zero_below_the_row_count(void **state)
{
    struct index_fixture fixture = index_default();
    fixture.first_rows[0] = 1;
    assert_refused(fixture, "do not ascend from 0");
    fixture = index_default();
    fixture.first_rows[2] = 4;
    assert_refused(fixture, "do not ascend from 0");
    fixture = index_default();
    fixture.first_rows[2] = 10;
    assert_refused(fixture, "page 2 begins at row 10 of 10");
}

static void lists_must_have_an_entry_a_page(void **state)
{
    struct index_fixture fixture = index_default();
    fixture.list_count = 2;
    assert_refused(fixture, "has 2 entries for 3 pages");
    fixture = index_default();
    fixture.boundary_order = 3;
    assert_refused(fixture, "3 is no order of bounds");
}

static void an_index_cut_anywhere_is_an_error(void **state)
{
    _cleanup_(index_reset) struct index_fixture fixture = index_default();
    assert_ok(write_offset_index(&fixture));
    assert_ok(write_column_index(&fixture));
    size_t whole[] = {fixture.footer.offset_index.length, fixture.footer.column_index.length};
    for (size_t i = 0; i < whole[0] + whole[1]; i++) {
        _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
        struct parquet_page_index *index = NULL;
        uint64_t bytes_read = 0;
        fixture.footer.offset_index.length = i < whole[1] ? whole[0] : i - whole[1];
        fixture.footer.column_index.length = i < whole[1] ? i : whole[1];
        if (fixture.footer.offset_index.length == 0 || fixture.footer.column_index.length == 0)
            continue; /* then it is absent */
        assert_ok(fixture_open(&fixture.footer, &file));
        assert_fails(parquet_page_index_read(file, 0, 0, &bytes_read, &index), KITH_ERROR_CORRUPT,
                     "is damaged at byte");
    }
}

static kith_error *read_first_index(void *state)
{
    _cleanup_(parquet_page_index_free) struct parquet_page_index *index = NULL;
    uint64_t bytes_read = 0;
    return parquet_page_index_read(state, 0, 0, &bytes_read, &index);
}

static void the_page_index_survives_without_memory(void **state)
{
    _cleanup_(index_reset) struct index_fixture fixture = index_default();
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    assert_ok(write_offset_index(&fixture));
    assert_ok(write_column_index(&fixture));
    assert_ok(fixture_open(&fixture.footer, &file));
    assert_survives_without_memory(read_first_index, file, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_and_their_statistics_are_read),
        cmocka_unit_test(a_chunk_without_index_gives_none),
        cmocka_unit_test(an_offset_index_alone_gives_places_only),
        cmocka_unit_test(a_page_of_nulls_has_no_bounds),
        cmocka_unit_test(null_counts_that_contradict_null_pages_are_unknown),
        cmocka_unit_test(strings_in_an_index_are_never_known_to_be_exact),
        cmocka_unit_test(bounds_of_unknown_order_are_left_out),
        cmocka_unit_test(floats_may_have_nan_unless_the_page_counts_none),
        cmocka_unit_test(pages_must_lie_in_order_inside_the_chunk),
        cmocka_unit_test(first_rows_must_ascend_from_zero_below_the_row_count),
        cmocka_unit_test(lists_must_have_an_entry_a_page),
        cmocka_unit_test(an_index_cut_anywhere_is_an_error),
        cmocka_unit_test(the_page_index_survives_without_memory),
    };
    return cmocka_run_group_tests_name("parquet/page_index", tests, NULL, NULL);
}
