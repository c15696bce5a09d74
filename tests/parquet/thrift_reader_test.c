#include "testing.h"

#include "base/limits.h"
#include "parquet/thrift_reader.h"

/* Bytes are made by hand from the compact protocol's specification. */
#define READER(bytes) thrift_reader_make("f", "footer", bytes, sizeof(bytes) - 1, 1000)

static void reads_the_fields_of_a_struct_by_number(void **state)
{
    /* 1: i32 = 1 (zigzag 2); 3: i64 = -3 (zigzag 5), a step of 2; 20: binary "ab", long form; 21: true; stop */
    struct thrift_reader reader = READER("\x15\x02\x26\x05\x08\x28\x02"
                                         "ab\x11\x00");
    struct thrift_field field = {0};
    int32_t small;
    int64_t wide;
    struct str text;
    bool flag;
    assert_ok(thrift_next_field(&reader, &field));
    assert_int_equal(field.id, 1);
    assert_ok(thrift_read_i32(&reader, &field, &small));
    assert_int_equal(small, 1);
    assert_ok(thrift_next_field(&reader, &field));
    assert_int_equal(field.id, 3);
    assert_ok(thrift_read_i64(&reader, &field, &wide));
    assert_int_equal(wide, -3);
    assert_ok(thrift_next_field(&reader, &field));
    assert_int_equal(field.id, 20);
    assert_ok(thrift_read_binary(&reader, &field, &text));
    assert_true(str_equal(text, str_of("ab")));
    assert_ok(thrift_next_field(&reader, &field));
    assert_int_equal(field.id, 21);
    assert_ok(thrift_read_bool(&reader, &field, &flag));
    assert_true(flag);
    assert_ok(thrift_next_field(&reader, &field));
    assert_int_equal(field.type, THRIFT_STOP);
    assert_int_equal(thrift_left(&reader), 0);
}

static void numbers_go_to_the_ends_of_their_range_and_no_further(void **state)
{
    struct thrift_reader reader = READER("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01");
    int64_t wide;
    int32_t small;
    assert_ok(thrift_element_i64(&reader, &wide));
    assert_true(wide == INT64_MIN);
    reader = READER("\xFE\xFF\xFF\xFF\x0F");
    assert_ok(thrift_element_i32(&reader, &small));
    assert_int_equal(small, INT32_MAX);
    reader = READER("\x80\x80\x80\x80\x10"); /* 2^31 */
    assert_fails(thrift_element_i32(&reader, &small), KITH_ERROR_CORRUPT, "2147483648 does not fit 32 bits");
    reader = READER("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02");
    assert_fails(thrift_element_i64(&reader, &wide), KITH_ERROR_CORRUPT, "more than 64 bits");
    reader = READER("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00");
    assert_fails(thrift_element_i64(&reader, &wide), KITH_ERROR_CORRUPT, "more than 64 bits");
}

static void a_wrong_type_is_refused_with_its_place(void **state)
{
    struct thrift_reader reader = READER("\x15\x02");
    struct thrift_field field = {0};
    struct str text;
    assert_ok(thrift_next_field(&reader, &field));
    assert_fails(thrift_read_binary(&reader, &field, &text), KITH_ERROR_CORRUPT,
                 "f: footer is damaged at byte 1001: field 1 has type i32 where binary was expected");
    assert_false(reader.ran_out);
}

static void the_end_of_input_is_told_from_damage(void **state)
{
    struct thrift_reader reader = READER("\x80");
    struct thrift_field field = {.id = 1, .type = THRIFT_LIST};
    int64_t wide;
    size_t count;
    struct str text;
    assert_fails(thrift_element_i64(&reader, &wide), KITH_ERROR_CORRUPT, "ends in the middle");
    assert_true(reader.ran_out);
    reader = READER("\x05"
                    "abcd");
    assert_fails(thrift_element_binary(&reader, &text), KITH_ERROR_CORRUPT, "ends in the middle");
    assert_true(reader.ran_out);
    /* A list that declares 2^31 - 1 structs in two bytes allocates nothing. */
    reader = READER("\xFC\xFF\xFF\xFF\xFF\x07\x00\x00");
    assert_fails(thrift_read_list(&reader, &field, THRIFT_STRUCT, &count), KITH_ERROR_CORRUPT, "ends in the middle");
    assert_true(reader.ran_out);
}

static void lists_give_their_elements(void **state)
{
    struct thrift_reader reader = READER("\x31\x01\x02\x00");
    struct thrift_field field = {.id = 1, .type = THRIFT_LIST};
    size_t count;
    bool flags[3];
    assert_ok(thrift_read_list(&reader, &field, THRIFT_TRUE, &count));
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_ok(thrift_element_bool(&reader, &flags[i]));
    assert_true(flags[0] && !flags[1] && !flags[2]);
    reader = READER("\x25\x02\x04");
    assert_fails(thrift_read_list(&reader, &field, THRIFT_I64, &count), KITH_ERROR_CORRUPT,
                 "a list of i32 where i64 was expected");
}

static void skipping_passes_over_every_type(void **state)
{
    /* In turn: a struct of (bool, i8, i16, i32, i64, double, binary, uuid), lists, a set, a map of binary to list of
     * struct, an empty map; then a byte of its own. */
    static const char bytes[] = "\x11\x13\x07\x14\x80\x01\x15\x02\x16\x04\x17"
                                "12345678\x18\x03"
                                "abc\x1D"
                                "0123456789abcdef\x19\x31\x01\x02\x01\x1A\x28\x00\x01z\x1B\x01\x89\x01k\x2C\x12\x00\x00"
                                "\x1B\x00\x00\x7F";
    struct thrift_reader reader = READER(bytes);
    struct thrift_field field = {.id = 1, .type = THRIFT_STRUCT};
    assert_ok(thrift_skip(&reader, &field));
    assert_int_equal(thrift_left(&reader), 1);
    for (size_t cut = 0; cut < sizeof bytes - 2; cut++) {
        reader = thrift_reader_make("f", "footer", bytes, cut, 0);
        assert_fails(thrift_skip(&reader, &field), KITH_ERROR_CORRUPT, "ends in the middle");
        assert_true(reader.ran_out);
    }
}

static void skipping_ends_at_a_depth(void **state)
{
    char bytes[LIMIT_THRIFT_DEPTH + 1];
    memset(bytes, 0x1C, sizeof bytes);
    struct thrift_reader reader = thrift_reader_make("f", "footer", bytes, sizeof bytes, 0);
    struct thrift_field field = {.id = 1, .type = THRIFT_STRUCT};
    assert_fails(thrift_skip(&reader, &field), KITH_ERROR_CORRUPT, "limit THRIFT_DEPTH");
}

static void heads_that_the_protocol_has_not_are_refused(void **state)
{
    struct thrift_reader reader = READER("\x1E");
    struct thrift_field field = {0};
    assert_fails(thrift_next_field(&reader, &field), KITH_ERROR_CORRUPT, "0x1e is no head of a field");
    reader = READER("\x10");
    assert_fails(thrift_next_field(&reader, &field), KITH_ERROR_CORRUPT, "no head of a field");
    field = (struct thrift_field){.id = INT16_MAX};
    reader = READER("\x15");
    assert_fails(thrift_next_field(&reader, &field), KITH_ERROR_CORRUPT, "number is out of range");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_fields_of_a_struct_by_number),
        cmocka_unit_test(numbers_go_to_the_ends_of_their_range_and_no_further),
        cmocka_unit_test(a_wrong_type_is_refused_with_its_place),
        cmocka_unit_test(the_end_of_input_is_told_from_damage),
        cmocka_unit_test(lists_give_their_elements),
        cmocka_unit_test(skipping_passes_over_every_type),
        cmocka_unit_test(skipping_ends_at_a_depth),
        cmocka_unit_test(heads_that_the_protocol_has_not_are_refused),
    };
    return cmocka_run_group_tests_name("parquet/thrift_reader", tests, NULL, NULL);
}
