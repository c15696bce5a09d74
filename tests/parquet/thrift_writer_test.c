#include "testing.h"

#include "parquet/thrift_writer.h"

static void assert_bytes(const struct strbuf *found, const char *bytes, size_t length)
{
    assert_int_equal(found->length, length);
    assert_memory_equal(found->data, bytes, length);
}

/* Bytes are made by hand from the compact protocol's specification. */
#define ASSERT_BYTES(found, literal) assert_bytes(found, literal, sizeof(literal) - 1)

static void a_struct_is_steps_of_ids_and_zigzag_numbers(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf out = {0};
    struct thrift_writer writer = thrift_writer_make(&out);
    thrift_write_i32(&writer, 1, 1);
    thrift_write_i64(&writer, 3, -3);
    thrift_write_binary(&writer, 20, str_of("ab")); /* a step of more than 15 */
    thrift_write_bool(&writer, 21, true);
    thrift_write_bool(&writer, 22, false);
    thrift_write_i8(&writer, 23, -1);
    thrift_write_i16(&writer, 24, 64);
    thrift_end_struct(&writer);
    assert_ok(thrift_writer_finish(&writer));
    ASSERT_BYTES(&out, "\x15\x02\x26\x05\x08\x28\x02"
                       "ab\x11\x12\x13\xFF\x14\x80\x01\x00");
}

static void ids_start_again_in_each_struct(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf out = {0};
    struct thrift_writer writer = thrift_writer_make(&out);
    thrift_begin_struct(&writer, 4);
    thrift_write_i32(&writer, 2, 5);
    thrift_empty_struct(&writer, 3);
    thrift_end_struct(&writer);
    thrift_write_encoded_struct(&writer, 5, (struct str){"\x15\x02\x00", 3});
    thrift_write_i32(&writer, 6, 0);
    thrift_end_struct(&writer);
    assert_ok(thrift_writer_finish(&writer));
    ASSERT_BYTES(&out, "\x4C\x25\x0A\x1C\x00\x00\x1C\x15\x02\x00\x15\x00\x00");
}

static void lists_have_a_short_and_a_long_head(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf out = {0};
    struct thrift_writer writer = thrift_writer_make(&out);
    thrift_begin_list(&writer, 1, THRIFT_TRUE, 2);
    thrift_put_bool(&writer, true);
    thrift_put_bool(&writer, false);
    thrift_begin_list(&writer, 2, THRIFT_STRUCT, 1);
    thrift_begin_element(&writer);
    thrift_write_i32(&writer, 1, 3);
    thrift_end_struct(&writer);
    thrift_begin_list(&writer, 3, THRIFT_I32, 15);
    for (int i = 0; i < 15; i++)
        thrift_put_i32(&writer, i);
    assert_ok(thrift_writer_finish(&writer));
    ASSERT_BYTES(&out,
                 "\x19\x21\x01\x02\x19\x1C\x15\x06\x00\x19\xF5\x0F\x00\x02\x04\x06\x08\x0A\x0C\x0E\x10\x12\x14\x16"
                 "\x18\x1A\x1C");
}

static void an_error_is_kept_until_the_end(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf out = {.limit = 2};
    struct thrift_writer writer = thrift_writer_make(&out);
    thrift_write_binary(&writer, 1, str_of("abc"));
    thrift_write_i32(&writer, 2, 1);
    assert_fails(thrift_writer_finish(&writer), KITH_ERROR_LIMIT, "limit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_struct_is_steps_of_ids_and_zigzag_numbers),
        cmocka_unit_test(ids_start_again_in_each_struct),
        cmocka_unit_test(lists_have_a_short_and_a_long_head),
        cmocka_unit_test(an_error_is_kept_until_the_end),
    };
    return cmocka_run_group_tests_name("parquet/thrift_writer", tests, NULL, NULL);
}
