#include "samples.h"

#include "columnar/c_data.h"

#include <errno.h>

static const enum type_id index_types[] = {TYPE_NULL, TYPE_INT8, TYPE_UINT64};

static struct schema *schema_of(const struct data_type *type)
{
    char name[] = "column";
    struct field field = {.name = name, .type = *type, .nullable = true};
    struct schema *schema = NULL;
    assert_ok(schema_new(&field, 1, &schema));
    return schema;
}

static struct batch *batch_of(struct array *array)
{
    _cleanup_(schema_unref) struct schema *schema = schema_of(&array->type);
    struct batch *batch = NULL;
    assert_ok(batch_new(schema, &array, array->length, &batch));
    return batch;
}

/* Out and in again; the copy must have the same rows. */
static void assert_round_trip(struct batch *batch)
{
    struct ArrowSchema c_schema;
    struct ArrowArray c_array;
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *back = NULL;
    assert_ok(c_data_export_schema(batch->schema, &c_schema));
    assert_ok(c_data_export_batch(batch, &c_array));
    assert_ok(c_data_import_schema(&c_schema, &schema));
    assert_true(schema_equal(schema, batch->schema));
    assert_ok(c_data_import_batch(&c_array, schema, true, &back));
    assert_null(c_array.release);
    c_schema.release(&c_schema);
    assert_null(c_schema.release);
    _cleanup_(batch_unref) struct batch *compact = NULL;
    assert_ok(batch_compact(batch, &compact));
    assert_int_equal(back->rows, compact->rows);
    for (size_t c = 0; c < schema->field_count; c++) {
        assert_int_equal(array_null_count(back->columns[c]), array_null_count(compact->columns[c]));
        for (size_t i = 0; i < back->rows; i++)
            assert_same_row(back->columns[c], i, compact->columns[c], i);
    }
}

static void every_flat_type_goes_out_and_comes_back(void **state)
{
    uint64_t random = 1;
    for (size_t t = 0; t < ARRAY_SIZE(sample_types); t++)
        for (size_t x = 0; x < ARRAY_SIZE(index_types); x++)
            for (size_t length = 0; length < 50; length += 16) {
                _cleanup_(array_unref) struct array *array =
                    sample_array(&random, &sample_types[t], length, index_types[x]);
                _cleanup_(batch_unref) struct batch *batch = batch_of(array), *slice = NULL, *selected = NULL;
                assert_round_trip(batch);
                assert_ok(batch_slice(batch, length / 3, length / 2, &slice));
                assert_round_trip(slice);
                _cleanup_(selection_unref) struct selection *selection = NULL;
                assert_ok(selection_new(length, &selection));
                for (uint32_t i = 0; i < slice->rows; i += 2)
                    selection->rows[selection->count++] = i;
                assert_ok(batch_select(slice, selection, &selected));
                assert_round_trip(selected);
            }
}

/* The strings are those of the specification's table. */
static void formats_are_those_of_the_specification(void **state)
{
    struct data_type dictionary = type_of(TYPE_UTF8);
    dictionary.index = TYPE_INT8;
    const struct {
        struct data_type type;
        const char *format;
    } cases[] = {
        {type_of(TYPE_UINT64), "L"},
        {type_of(TYPE_FLOAT16), "e"},
        {{.id = TYPE_DECIMAL128, .precision = 38, .scale = -2}, "d:38,-2"},
        {{.id = TYPE_DECIMAL64, .precision = 18, .scale = 2}, "d:18,2,64"},
        {{.id = TYPE_FIXED_SIZE_BINARY, .byte_width = 42}, "w:42"},
        {{.id = TYPE_TIME32, .unit = UNIT_SECOND}, "tts"},
        {{.id = TYPE_TIME64, .unit = UNIT_NANOSECOND}, "ttn"},
        {type_timestamp(UNIT_MILLISECOND, ""), "tsm:"},
        {type_timestamp(UNIT_MICROSECOND, "Europe/Berlin"), "tsu:Europe/Berlin"},
        {{.id = TYPE_DURATION, .unit = UNIT_MICROSECOND}, "tDu"},
        {type_of(TYPE_UTF8_VIEW), "vu"},
        {type_of(TYPE_INTERVAL_MONTH_DAY_NANO), "tin"},
        {dictionary, "c"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(schema_unref) struct schema *schema = schema_of(&cases[i].type);
        struct ArrowSchema c_schema;
        assert_ok(c_data_export_schema(schema, &c_schema));
        assert_string_equal(c_schema.children[0]->format, cases[i].format);
        assert_string_equal(c_schema.children[0]->name, "column");
        assert_int_equal(c_schema.children[0]->flags, ARROW_FLAG_NULLABLE);
        if (c_schema.children[0]->dictionary != NULL)
            assert_string_equal(c_schema.children[0]->dictionary->format, "u");
        c_schema.release(&c_schema);
    }
}

static void formats_that_are_not_ours_are_refused(void **state)
{
    const struct {
        const char *format;
        enum kith_code code;
    } cases[] = {
        {"+L", KITH_ERROR_NOT_IMPLEMENTED},
        {"+w:3", KITH_ERROR_NOT_IMPLEMENTED},
        {"d:40,2,256", KITH_ERROR_NOT_IMPLEMENTED},
        {"", KITH_ERROR_CORRUPT},
        {"x", KITH_ERROR_CORRUPT},
        {"d:39,2", KITH_ERROR_CORRUPT},
        {"d:5", KITH_ERROR_CORRUPT},
        {"d:5,", KITH_ERROR_CORRUPT},
        {"d:5,2,", KITH_ERROR_CORRUPT},
        {"w:-1", KITH_ERROR_CORRUPT},
        {"w:", KITH_ERROR_CORRUPT},
        {"w:3x", KITH_ERROR_CORRUPT},
        {"ts", KITH_ERROR_CORRUPT},
        {"tsu", KITH_ERROR_CORRUPT},
        {"tsx:", KITH_ERROR_CORRUPT},
        {"ttss", KITH_ERROR_CORRUPT},
        {"d: 5,2", KITH_ERROR_CORRUPT},
        {"tsu:a-time-zone-whose-name-is-longer-than-any-there-is", KITH_ERROR_LIMIT},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct data_type type = type_of(TYPE_INT8);
        _cleanup_(schema_unref) struct schema *schema = schema_of(&type), *back = NULL;
        struct ArrowSchema c_schema;
        assert_ok(c_data_export_schema(schema, &c_schema));
        c_schema.children[0]->format = cases[i].format;
        assert_fails(c_data_import_schema(&c_schema, &back), cases[i].code, "field \"column\"");
        c_schema.release(&c_schema);
    }
}

static void metadata_and_nested_fields_survive(void **state)
{
    char names[4][4] = {"a", "b", "c", "d"};
    struct field entries[] = {{.name = names[0], .type = type_of(TYPE_UTF8)},
                              {.name = names[1], .type = type_of(TYPE_INT64), .nullable = true}};
    struct field row = {.name = names[2], .type = type_of(TYPE_STRUCT), .children = entries, .child_count = 2};
    struct field map = {.name = names[3], .type = type_of(TYPE_MAP), .children = &row, .child_count = 1};
    _cleanup_(schema_unref) struct schema *schema = NULL, *back = NULL;
    assert_ok(schema_new(&map, 1, &schema));
    assert_ok(schema_add_metadata(schema, "origin", "test"));
    assert_ok(schema_add_metadata(schema, "", ""));
    struct ArrowSchema c_schema;
    assert_ok(c_data_export_schema(schema, &c_schema));
    assert_ok(c_data_import_schema(&c_schema, &back));
    c_schema.release(&c_schema);
    assert_true(schema_equal(schema, back));
    assert_int_equal(back->metadata_count, 2);
    assert_string_equal(back->metadata[0].key, "origin");
    assert_string_equal(back->metadata[0].value, "test");
    assert_string_equal(back->metadata[1].key, "");
}

static void never_released(struct ArrowSchema *schema)
{
    fail();
}

static void a_schema_nested_too_deep_is_refused(void **state)
{
    enum { DEPTH = 100 };
    static struct ArrowSchema levels[DEPTH];
    static struct ArrowSchema *next[DEPTH];
    for (size_t i = 0; i < DEPTH; i++) {
        next[i] = &levels[(i + 1) % DEPTH]; /* and round again */
        levels[i] = (struct ArrowSchema){
            .format = "+s", .name = "", .n_children = 1, .children = &next[i], .release = never_released};
    }
    struct schema *schema = NULL;
    assert_fails(c_data_import_schema(&levels[0], &schema), KITH_ERROR_LIMIT, "TYPE_NESTING");
}

static size_t releases;

static void count_release(struct ArrowArray *array)
{
    releases++;
    array->release = NULL;
}

/* A batch of two lists over three numbers, of which the second row is taken: what a producer elsewhere would hand over.
 */
struct foreign_lists {
    int32_t offsets[4];
    _Alignas(8) int64_t numbers[3];
    const void *number_buffers[2], *list_buffers[2], *row_buffers[1];
    struct ArrowArray number, list, row;
    struct ArrowArray *number_pointer, *list_pointer;
};

static void make_lists(struct foreign_lists *f)
{
    *f = (struct foreign_lists){.offsets = {0, 1, 3}, .numbers = {10, 20, 30}};
    f->number_buffers[1] = f->numbers;
    f->list_buffers[1] = f->offsets;
    f->number_pointer = &f->number;
    f->list_pointer = &f->list;
    f->number =
        (struct ArrowArray){.length = 3, .n_buffers = 2, .buffers = f->number_buffers, .release = count_release};
    f->list = (struct ArrowArray){.length = 2,
                                  .n_buffers = 2,
                                  .buffers = f->list_buffers,
                                  .n_children = 1,
                                  .children = &f->number_pointer,
                                  .release = count_release};
    f->row = (struct ArrowArray){.length = 1,
                                 .offset = 1,
                                 .n_buffers = 1,
                                 .buffers = f->row_buffers,
                                 .n_children = 1,
                                 .children = &f->list_pointer,
                                 .release = count_release};
    releases = 0;
}

static struct schema *list_schema(void)
{
    char name[] = "l", item[] = "item";
    struct field child = {.name = item, .type = type_of(TYPE_INT64)};
    struct field field = {.name = name, .type = type_of(TYPE_LIST), .children = &child, .child_count = 1};
    struct schema *schema = NULL;
    assert_ok(schema_new(&field, 1, &schema));
    return schema;
}

static void lists_come_in_and_go_out(void **state)
{
    struct foreign_lists lists;
    make_lists(&lists);
    _cleanup_(schema_unref) struct schema *schema = list_schema();
    _cleanup_(batch_unref) struct batch *batch = NULL;
    assert_ok(c_data_import_batch(&lists.row, schema, true, &batch));
    assert_int_equal(batch->rows, 1);
    struct ArrowArray out;
    assert_ok(c_data_export_batch(batch, &out));
    batch_unref(TAKE(batch));
    assert_int_equal(releases, 0);
    const struct ArrowArray *list = out.children[0];
    assert_int_equal(list->offset, 1);
    assert_int_equal(((const int32_t *)list->buffers[1])[1], 1);
    assert_int_equal(((const int64_t *)list->children[0]->buffers[1])[2], 30);
    out.release(&out);
    assert_int_equal(releases, 1);
}

static void faults_of_a_producer_are_found_and_its_array_released(void **state)
{
    _cleanup_(schema_unref) struct schema *schema = list_schema();
    struct foreign_lists lists;
    struct batch *batch = NULL;
#define ASSERT_FAULT(change, message)                                                                     \
    do {                                                                                                  \
        make_lists(&lists);                                                                               \
        change;                                                                                           \
        assert_fails(c_data_import_batch(&lists.row, schema, true, &batch), KITH_ERROR_CORRUPT, message); \
        assert_int_equal(releases, 1);                                                                    \
        assert_null(lists.row.release);                                                                   \
    } while (0)
    ASSERT_FAULT(lists.offsets[2] = 4, "has offset 4");
    ASSERT_FAULT(lists.offsets[2] = -1, "last offset -1");
    ASSERT_FAULT(lists.list_buffers[1] = NULL, "no buffer, expected 12 bytes");
    ASSERT_FAULT(lists.list.n_buffers = 1, "1 buffers, expected 2");
    ASSERT_FAULT(lists.list.length = 1, "has 1 rows, expected 2");
    ASSERT_FAULT(lists.list.length = -1, "-1 rows");
    ASSERT_FAULT(lists.list.length = INT64_MAX, "rows from row 0");
    ASSERT_FAULT(lists.number.dictionary = &lists.list, "a dictionary");
    ASSERT_FAULT(lists.row.n_children = 2, "2 children, expected 1");
    ASSERT_FAULT(lists.list_pointer = NULL, "no array");
#undef ASSERT_FAULT
    struct ArrowArray released = {0};
    assert_fails(c_data_import_batch(&released, schema, true, &batch), KITH_ERROR_INVALID_ARGUMENT, "released");
}

static void memory_that_is_not_aligned_is_copied(void **state)
{
    _Alignas(8) uint8_t bytes[20] = {0};
    int64_t numbers[2] = {1, -2};
    memcpy(bytes + 4, numbers, sizeof numbers);
    const void *buffers[] = {NULL, bytes + 4}, *row_buffers[] = {NULL};
    struct ArrowArray column = {.length = 2, .n_buffers = 2, .buffers = buffers}, *pointer = &column;
    struct ArrowArray row = {.length = 2,
                             .n_buffers = 1,
                             .buffers = row_buffers,
                             .n_children = 1,
                             .children = &pointer,
                             .release = count_release};
    struct data_type type = type_of(TYPE_INT64);
    _cleanup_(schema_unref) struct schema *schema = schema_of(&type);
    _cleanup_(batch_unref) struct batch *batch = NULL;
    releases = 0;
    assert_ok(c_data_import_batch(&row, schema, true, &batch));
    assert_int_equal(releases, 1);
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(scalar_from_array(batch->columns[0], 1).int64, -2);
}

static void a_child_that_was_moved_away_outlives_the_batch(void **state)
{
    uint64_t random = 3;
    struct data_type type = type_of(TYPE_INT64);
    struct array *array = sample_array(&random, &type, 20, TYPE_NULL);
    struct batch *batch = batch_of(array);
    struct ArrowArray out;
    assert_ok(c_data_export_batch(batch, &out));
    struct scalar expected = scalar_from_array(array, 7);
    batch_unref(batch);
    array_unref(array);
    struct ArrowArray child = *out.children[0];
    out.children[0]->release = NULL;
    out.release(&out);
    if (!expected.is_null)
        assert_true(((const int64_t *)child.buffers[1])[child.offset + 7] == expected.int64);
    child.release(&child);
}

static void encoded_columns_are_decoded_where_the_schema_is_plain(void **state)
{
    uint64_t random = 4;
    struct data_type type = type_of(TYPE_UTF8);
    _cleanup_(array_unref) struct array *array = sample_array(&random, &type, 20, TYPE_INT32);
    _cleanup_(schema_unref) struct schema *schema = schema_of(&type);
    _cleanup_(batch_unref) struct batch *batch = NULL;
    assert_ok(batch_new(schema, &array, 20, &batch));
    assert_round_trip(batch);
}

static kith_error *export_and_import(void *state)
{
    struct batch *batch = state;
    struct ArrowSchema c_schema;
    struct ArrowArray c_array;
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *back = NULL;
    TRY(c_data_export_schema(batch->schema, &c_schema));
    kith_error *error = c_data_import_schema(&c_schema, &schema);
    c_schema.release(&c_schema);
    TRY(error);
    TRY(c_data_export_batch(batch, &c_array));
    return c_data_import_batch(&c_array, schema, true, &back);
}

static void running_out_of_memory_leaves_nothing(void **state)
{
    uint64_t random = 5;
    struct data_type type = type_of(TYPE_UTF8_VIEW);
    _cleanup_(array_unref) struct array *array = sample_array(&random, &type, 20, TYPE_INT32);
    _cleanup_(batch_unref) struct batch *batch = batch_of(array);
    assert_ok(schema_add_metadata(batch->schema, "key", "value"));
    assert_survives_without_memory(export_and_import, batch, 10);
}

/* Gives the batch twice, then fails when `fails` is set, otherwise ends. */
struct source {
    struct batch *batch;
    size_t asked;
    bool fails;
    bool freed;
};

static kith_error *source_next(void *context, struct batch **out)
{
    struct source *source = context;
    source->asked++;
    *out = source->asked <= 2 ? batch_ref(source->batch) : NULL;
    return source->asked > 2 && source->fails ? error_new(KITH_ERROR_IO, "the disk is gone") : NULL;
}

static void source_free(void *context)
{
    ((struct source *)context)->freed = true;
}

static void a_stream_gives_its_batches_and_then_ends_or_fails(void **state)
{
    uint64_t random = 6;
    struct data_type type = type_of(TYPE_UTF8);
    _cleanup_(array_unref) struct array *array = sample_array(&random, &type, 20, TYPE_NULL);
    _cleanup_(batch_unref) struct batch *batch = batch_of(array);
    for (int fails = 0; fails < 2; fails++) {
        struct source source = {.batch = batch, .fails = fails};
        struct ArrowArrayStream stream;
        assert_ok(c_data_export_stream(
            &(struct c_stream_source){
                .schema = batch->schema, .next = source_next, .free = source_free, .context = &source},
            &stream));
        struct ArrowSchema c_schema;
        assert_int_equal(stream.get_schema(&stream, &c_schema), 0);
        c_schema.release(&c_schema);
        struct ArrowArray c_array;
        for (int i = 0; i < 2; i++) {
            assert_int_equal(stream.get_next(&stream, &c_array), 0);
            assert_int_equal(c_array.length, 20);
            c_array.release(&c_array);
        }
        assert_null(stream.get_last_error(&stream));
        assert_int_equal(stream.get_next(&stream, &c_array), fails ? EIO : 0);
        assert_null(c_array.release);
        if (fails)
            assert_string_equal(stream.get_last_error(&stream), "the disk is gone");
        assert_int_equal(stream.get_next(&stream, &c_array), 0);
        assert_null(c_array.release);
        assert_int_equal(source.asked, 3);
        stream.release(&stream);
        assert_null(stream.release);
        assert_true(source.freed);
    }
}

static void a_stream_of_others_is_read_to_its_end_or_its_error(void **state)
{
    uint64_t random = 7;
    struct data_type type = type_of(TYPE_UTF8);
    _cleanup_(array_unref) struct array *array = sample_array(&random, &type, 20, TYPE_NULL);
    _cleanup_(batch_unref) struct batch *batch = batch_of(array);
    for (int fails = 0; fails < 2; fails++) {
        struct source source = {.batch = batch, .fails = fails};
        struct ArrowArrayStream stream;
        _cleanup_(c_stream_reader_free) struct c_stream_reader *reader = NULL;
        struct batch *read = NULL;
        assert_ok(c_data_export_stream(
            &(struct c_stream_source){
                .schema = batch->schema, .next = source_next, .free = source_free, .context = &source},
            &stream));
        assert_ok(c_data_import_stream(&stream, true, &reader));
        assert_null(stream.release);
        assert_true(schema_equal(c_stream_reader_schema(reader), batch->schema));
        for (int i = 0; i < 2; i++) {
            assert_ok(c_stream_reader_next(reader, &read));
            assert_int_equal(read->rows, 20);
            batch_unref(read);
        }
        if (fails)
            assert_fails(c_stream_reader_next(reader, &read), KITH_ERROR_IO, "the disk is gone");
        else
            assert_ok(c_stream_reader_next(reader, &read));
        assert_null(read);
        assert_ok(c_stream_reader_next(reader, &read));
        assert_null(read);
        c_stream_reader_free(TAKE(reader));
        assert_true(source.freed);
    }
}

static void a_released_stream_is_refused(void **state)
{
    struct ArrowArrayStream stream = {0};
    struct c_stream_reader *reader;
    assert_fails(c_data_import_stream(&stream, true, &reader), KITH_ERROR_INVALID_ARGUMENT, "released");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flat_type_goes_out_and_comes_back),
        cmocka_unit_test(formats_are_those_of_the_specification),
        cmocka_unit_test(formats_that_are_not_ours_are_refused),
        cmocka_unit_test(metadata_and_nested_fields_survive),
        cmocka_unit_test(a_schema_nested_too_deep_is_refused),
        cmocka_unit_test(lists_come_in_and_go_out),
        cmocka_unit_test(faults_of_a_producer_are_found_and_its_array_released),
        cmocka_unit_test(memory_that_is_not_aligned_is_copied),
        cmocka_unit_test(a_child_that_was_moved_away_outlives_the_batch),
        cmocka_unit_test(encoded_columns_are_decoded_where_the_schema_is_plain),
        cmocka_unit_test(running_out_of_memory_leaves_nothing),
        cmocka_unit_test(a_stream_gives_its_batches_and_then_ends_or_fails),
        cmocka_unit_test(a_stream_of_others_is_read_to_its_end_or_its_error),
        cmocka_unit_test(a_released_stream_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
