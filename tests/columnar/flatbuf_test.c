#include "testing.h"

#include "base/alloc.h"
#include "columnar/flatbuf_reader.h"
#include "columnar/flatbuf_writer.h"

/* Laid out by hand from the format's description: {0: int16 -2, 1: absent, 2: string "hey", 3: vector of two int64}. */
static const uint8_t by_hand[] = {
    16,   0,    0,    0,                            /* 0: the root table is at 16 */
    12,   0,    14,   0,                            /* 4: vtable of 12 bytes; its table has 14 */
    12,   0,    0,    0,    8,    0,    4,    0,    /* 8: fields 0 to 3 at 12, nowhere, 8, 4 */
    12,   0,    0,    0,                            /* 16: the vtable is 12 bytes before */
    20,   0,    0,    0,                            /* 20: field 3: 20 bytes on, at 40 */
    8,    0,    0,    0,                            /* 24: field 2: 8 bytes on, at 32 */
    0xfe, 0xff, 0,    0,                            /* 28: field 0 */
    3,    0,    0,    0,                            /* 32: string of 3 */
    'h',  'e',  'y',  0,                            /* 36 */
    2,    0,    0,    0,                            /* 40: vector of 2 */
    7,    0,    0,    0,    0,    0,    0,    0,    /* 44 */
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* 52 */
};

static void a_table_laid_out_by_hand_is_read(void **state)
{
    struct flatbuf_table table, none;
    struct flatbuf_vector vector;
    struct str text;
    int64_t value;
    assert_ok(flatbuf_read_root(by_hand, sizeof by_hand, &table));
    assert_ok(flatbuf_read_int(&table, 0, 2, 9, &value));
    assert_int_equal(value, -2);
    assert_ok(flatbuf_read_int(&table, 1, 8, 9, &value));
    assert_int_equal(value, 9);
    assert_ok(flatbuf_read_string(&table, 2, &text));
    assert_true(str_equal(text, str_of("hey")));
    assert_ok(flatbuf_read_vector(&table, 3, 8, &vector));
    assert_int_equal(vector.count, 2);
    assert_int_equal(flatbuf_vector_int64(&vector, 0, 0), 7);
    assert_int_equal(flatbuf_vector_int64(&vector, 1, 0), -1);
    assert_ok(flatbuf_read_table(&table, 1, &none));
    assert_null(none.bytes);
    /* Beyond the vtable: a field that a newer writer would have. */
    assert_ok(flatbuf_read_string(&table, 40, &text));
    assert_null(text.data);
}

/* A copy of by_hand with one byte changed, in memory of its own. */
static uint8_t *changed(size_t position, uint8_t value)
{
    uint8_t *bytes = NULL;
    assert_ok(alloc_zeroed(sizeof by_hand, 1, &bytes));
    memcpy(bytes, by_hand, sizeof by_hand);
    bytes[position] = value;
    return bytes;
}

static void what_lies_outside_is_refused_with_its_position(void **state)
{
    static const struct {
        size_t position;
        uint8_t value;
        const char *message;
    } cases[] = {
        {0, 0xf0, "target of the offset at byte 0"},
        {19, 0x80, "vtable of the table at byte 16"},
        {4, 0xfe, "vtable of the table at byte 16"},
        {4, 2, "vtable of the table at byte 16"},
        {6, 0xf0, "end of the table at byte 16"},
        {8, 13, "field 0 lies outside its table at byte 16"},
        {8, 2, "field 0 lies outside its table at byte 16"},
        {27, 0x7f, "target of the offset at byte 24"},
        {32, 0xf0, "end of the vector at byte 32"},
        {43, 0xff, "end of the vector at byte 40"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_free_ uint8_t *bytes = changed(cases[i].position, cases[i].value);
        struct flatbuf_table table;
        struct flatbuf_vector vector;
        struct str text;
        int64_t value;
        kith_error *error = flatbuf_read_root(bytes, sizeof by_hand, &table);
        if (error == NULL)
            error = flatbuf_read_int(&table, 0, 2, 0, &value);
        if (error == NULL)
            error = flatbuf_read_string(&table, 2, &text);
        if (error == NULL)
            error = flatbuf_read_vector(&table, 3, 8, &vector);
        assert_fails(error, KITH_ERROR_CORRUPT, cases[i].message);
    }
}

static void every_cut_is_refused(void **state)
{
    for (size_t size = 0; size < sizeof by_hand; size++) {
        _cleanup_free_ uint8_t *bytes = NULL;
        assert_ok(alloc_zeroed(size, 1, &bytes));
        if (size > 0)
            memcpy(bytes, by_hand, size);
        struct flatbuf_table table;
        struct flatbuf_vector vector;
        kith_error *error = flatbuf_read_root(bytes, size, &table);
        if (error == NULL)
            error = flatbuf_read_vector(&table, 3, 8, &vector);
        assert_fails(error, KITH_ERROR_CORRUPT, "flatbuffer");
    }
}

static void what_is_written_is_read_and_lies_aligned(void **state)
{
    _cleanup_(flatbuf_writer_reset) struct flatbuf_writer writer = {0};
    const int64_t numbers[] = {INT64_MIN, 5};
    for (size_t length = 0; length < 20; length++) {
        flatbuf_ref text, vector, inner, tables, root;
        flatbuf_restart(&writer);
        assert_ok(flatbuf_write_string(&writer, (struct str){"abcdefghijklmnopqrstuvwxyz", length}, &text));
        assert_ok(flatbuf_write_vector(&writer, numbers, 2, 8, 8, &vector));
        struct flatbuf_slot inner_slots[] = {flatbuf_int(1, -1), flatbuf_int(8, INT64_MAX), flatbuf_offset(text)};
        assert_ok(flatbuf_write_table(&writer, inner_slots, ARRAY_SIZE(inner_slots), &inner));
        assert_ok(flatbuf_write_ref_vector(&writer, (flatbuf_ref[]){inner, inner}, 2, &tables));
        struct flatbuf_slot slots[] = {
            flatbuf_offset(tables), {0}, flatbuf_int(4, -7), flatbuf_offset(vector), flatbuf_offset(0)};
        assert_ok(flatbuf_write_table(&writer, slots, ARRAY_SIZE(slots), &root));
        struct str bytes, read_text;
        assert_ok(flatbuf_finish(&writer, root, &bytes));
        assert_int_equal(bytes.length % 8, 0);

        struct flatbuf_table table, element;
        struct flatbuf_vector elements, read_numbers;
        int64_t value;
        assert_ok(flatbuf_read_root(bytes.data, bytes.length, &table));
        assert_ok(flatbuf_read_int(&table, 2, 4, 0, &value));
        assert_int_equal(value, -7);
        assert_ok(flatbuf_read_vector(&table, 3, 8, &read_numbers));
        assert_int_equal(read_numbers.position % 8, 0);
        assert_true(flatbuf_vector_int64(&read_numbers, 0, 0) == INT64_MIN);
        assert_ok(flatbuf_read_vector(&table, 0, 4, &elements));
        assert_int_equal(elements.count, 2);
        assert_ok(flatbuf_vector_table(&elements, 1, &element));
        assert_ok(flatbuf_read_int(&element, 0, 1, 0, &value));
        assert_int_equal(value, -1);
        assert_ok(flatbuf_read_int(&element, 1, 8, 0, &value));
        assert_true(value == INT64_MAX);
        assert_ok(flatbuf_read_string(&element, 2, &read_text));
        assert_int_equal(read_text.length, length);
        assert_memory_equal(read_text.data, "abcdefghijklmnopqrstuvwxyz", length);
        assert_int_equal(read_text.data[length], '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_laid_out_by_hand_is_read),
        cmocka_unit_test(what_lies_outside_is_refused_with_its_position),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(what_is_written_is_read_and_lies_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
