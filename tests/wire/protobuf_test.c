/* Messages are read and written as protobuf-c does it, at any depth; malformed bytes are refused with their place. */
#include "testing.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "wire/plan_codec.h"
#include "wire/plans.h"
#include "wire/protobuf.h"

#include "datafusion.pb-c.h"
#include "kith_worker.pb-c.h"

static struct str bytes_of(const struct strbuf *buffer)
{
    return (struct str){buffer->data, buffer->length};
}

static void pack_with_protobuf_c(const ProtobufCMessage *message, struct strbuf *out)
{
    char *place;
    assert_ok(strbuf_reserve(out, protobuf_c_message_get_packed_size(message), &place));
    out->length += protobuf_c_message_pack(message, (uint8_t *)place);
}

/* Each test plan, between them every message and kind of field that plans have. */
static void plans_are_read_and_written_as_protobuf_c_does(void **state)
{
    for (size_t i = 0; i < TEST_PLAN_COUNT; i++) {
        _cleanup_(plan_arena_reset) struct plan_arena plans = {0};
        _cleanup_(strbuf_reset) struct strbuf ours = {0}, theirs = {0}, again = {0};
        _cleanup_(arena_reset) struct arena arena = {0};
        struct physical_plan *plan;
        ProtobufCMessage *read;
        assert_ok(test_plan(i, &plans, &plan));
        assert_ok(plan_encode(plan, &ours));
        ProtobufCMessage *unpacked = protobuf_c_message_unpack(&datafusion__physical_plan_node__descriptor, NULL,
                                                               ours.length, (const uint8_t *)ours.data);
        assert_non_null(unpacked);
        pack_with_protobuf_c(unpacked, &theirs);
        protobuf_c_message_free_unpacked(unpacked, NULL);
        assert_int_equal(ours.length, theirs.length);
        assert_memory_equal(ours.data, theirs.data, ours.length);
        assert_ok(protobuf_read(&datafusion__physical_plan_node__descriptor, bytes_of(&ours), PROTOBUF_REFUSE_UNKNOWN,
                                &arena, &read));
        pack_with_protobuf_c(read, &again);
        assert_int_equal(ours.length, again.length);
        assert_memory_equal(ours.data, again.data, ours.length);
    }
}

static kith_error *read_node(const char *bytes, size_t length, struct arena *arena, Datafusion__PhysicalExprNode **out)
{
    return protobuf_read(&datafusion__physical_expr_node__descriptor, (struct str){bytes, length},
                         PROTOBUF_REFUSE_UNKNOWN, arena, out);
}

#define READ(text, arena, out) read_node(text, sizeof(text) - 1, arena, out)

static void numbers_come_packed_or_one_by_one(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    Datafusion__FilterExecNode *filter;
    /* projection = 9: packed 1, 300; then 5 by itself; then packed 7 */
    static const char bytes[] = "\x4a\x03\x01\xac\x02\x48\x05\x4a\x01\x07";
    assert_ok(protobuf_read(&datafusion__filter_exec_node__descriptor, (struct str){bytes, sizeof bytes - 1},
                            PROTOBUF_REFUSE_UNKNOWN, &arena, &filter));
    assert_int_equal(filter->n_projection, 4);
    assert_int_equal(filter->projection[0], 1);
    assert_int_equal(filter->projection[1], 300);
    assert_int_equal(filter->projection[2], 5);
    assert_int_equal(filter->projection[3], 7);
}

static void elements_of_a_message_may_lie_apart(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    Datafusion__ProjectionExecNode *projection;
    /* expr_name = 3 "a"; expr = 2 empty; expr_name "b" */
    static const char bytes[] = "\x1a\x01"
                                "a\x12\x00\x1a\x01"
                                "b";
    assert_ok(protobuf_read(&datafusion__projection_exec_node__descriptor, (struct str){bytes, sizeof bytes - 1},
                            PROTOBUF_REFUSE_UNKNOWN, &arena, &projection));
    assert_int_equal(projection->n_expr, 1);
    assert_int_equal(projection->n_expr_name, 2);
    assert_string_equal(projection->expr_name[0], "a");
    assert_string_equal(projection->expr_name[1], "b");
}

/* Numbers of 32 bits that are negative are sent with ten bytes. */
static void negative_numbers_are_read(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    DatafusionCommon__ScalarValue *value;
    static const char bytes[] = "\x30\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    assert_ok(protobuf_read(&datafusion_common__scalar_value__descriptor, (struct str){bytes, sizeof bytes - 1},
                            PROTOBUF_REFUSE_UNKNOWN, &arena, &value));
    assert_int_equal(value->kind_case, DATAFUSION_COMMON__SCALAR_VALUE__KIND_INT32);
    assert_int_equal(value->int32, -1);
}

static void malformed_bytes_are_refused_with_their_place(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    Datafusion__PhysicalExprNode *node;
    assert_ok(READ("\x0a\x03\x0a\x01x", &arena, &node));
    assert_string_equal(node->column->name, "x");
    assert_fails(READ("\x0a\x04\x0a\x01x", &arena, &node), KITH_ERROR_CORRUPT, "at byte 1: a length of 4 where 3");
    assert_fails(READ("\x0a\x03\x0a\x02x", &arena, &node), KITH_ERROR_CORRUPT, "at byte 3: a length of 2 where 1");
    assert_fails(READ("\x08\x01", &arena, &node), KITH_ERROR_CORRUPT,
                 "at byte 0: field column of PhysicalExprNode has wire type 0, not 2");
    assert_fails(READ("\x0b", &arena, &node), KITH_ERROR_CORRUPT, "wire type 3");
    assert_fails(READ("\x02", &arena, &node), KITH_ERROR_CORRUPT, "2 is no field's tag");
    assert_fails(READ("\xff\xff\xff\xff\xff\x7f", &arena, &node), KITH_ERROR_CORRUPT, "no field's tag");
    assert_fails(READ("\x80", &arena, &node), KITH_ERROR_CORRUPT, "a number is cut off");
    assert_fails(READ("\xf0\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", &arena, &node), KITH_ERROR_CORRUPT,
                 "a number of more than 64 bits");
    assert_fails(READ("\x0a\x03\x0a\x01\x00", &arena, &node), KITH_ERROR_CORRUPT, "holds a NUL");
    assert_fails(READ("\x0a\x03\x0a\x01\xff", &arena, &node), KITH_ERROR_CORRUPT, "is not UTF-8");
    assert_fails(READ("\x0a\x00\x0a\x00", &arena, &node), KITH_ERROR_CORRUPT, "column of PhysicalExprNode is given");
    assert_fails(READ("\x0a\x00\x12\x00", &arena, &node), KITH_ERROR_CORRUPT, "literal of PhysicalExprNode is given");
}

static void unknown_fields_are_refused_or_if_they_are_additions_read_over(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    Kith__V1__NamedCount *count;
    static const char low[] = "\x10\x05\x18\x01", high[] = "\xc0\x0c\x01\x10\x05";
    const ProtobufCMessageDescriptor *type = &kith__v1__named_count__descriptor;
    assert_fails(protobuf_read(type, (struct str){low, 4}, PROTOBUF_READ_OVER_ADDITIONS, &arena, &count),
                 KITH_ERROR_NOT_IMPLEMENTED, "field 3 of NamedCount is not implemented");
    assert_fails(protobuf_read(type, (struct str){high, 5}, PROTOBUF_REFUSE_UNKNOWN, &arena, &count),
                 KITH_ERROR_NOT_IMPLEMENTED, "field 200 of NamedCount is not implemented");
    assert_ok(protobuf_read(type, (struct str){high, 5}, PROTOBUF_READ_OVER_ADDITIONS, &arena, &count));
    assert_int_equal(count->value, 5);
}

/* An empty message takes two bytes: many of them are a small way to ask for much memory. */
static void memory_is_limited_by_the_arena(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {.limit = 1 << 20};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    Datafusion__ProjectionExecNode *projection;
    for (size_t i = 0; i < 20000; i++)
        assert_ok(strbuf_append(&bytes, "\x12\x00", 2));
    assert_fails(protobuf_read(&datafusion__projection_exec_node__descriptor, bytes_of(&bytes), PROTOBUF_REFUSE_UNKNOWN,
                               &arena, &projection),
                 KITH_ERROR_LIMIT, "1048576");
}

static void levels_up_to_the_limit_are_written_and_read(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0}, none = {0};
    Datafusion__PhysicalExprNode *node = NULL, *read;
    /* Two levels each. */
    for (size_t i = 0; i < LIMIT_PLAN_DEPTH / 2; i++) {
        Datafusion__PhysicalExprNode *outer;
        assert_ok(protobuf_new(&arena, &datafusion__physical_expr_node__descriptor, &outer));
        assert_ok(protobuf_new(&arena, &datafusion__physical_operand_node__descriptor, &outer->not_expr));
        outer->kind_case = DATAFUSION__PHYSICAL_EXPR_NODE__KIND_NOT_EXPR;
        outer->not_expr->expr = node;
        node = outer;
    }
    assert_ok(protobuf_write(&node->base, &bytes));
    assert_ok(read_node(bytes.data, bytes.length, &arena, &read));
    Datafusion__PhysicalOperandNode *root;
    assert_ok(protobuf_new(&arena, &datafusion__physical_operand_node__descriptor, &root));
    root->expr = node;
    assert_fails(protobuf_write(&root->base, &none), KITH_ERROR_LIMIT, "PLAN_DEPTH (1000 levels)");
}

/* The n-th allocation fails, for every n that reading makes. */
static void running_out_of_memory_is_an_error(void **state)
{
    _cleanup_(plan_arena_reset) struct plan_arena plans = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    struct physical_plan *plan;
    assert_ok(test_plan(0, &plans, &plan));
    assert_ok(plan_encode(plan, &bytes));
    for (size_t n = 1; n < 1000; n++) {
        _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
        _cleanup_(strbuf_reset) struct strbuf again = {0};
        struct physical_plan *read;
        alloc_fail_after(n);
        _cleanup_(error_free) kith_error *error = plan_decode((const uint8_t *)bytes.data, bytes.length, &arena, &read);
        if (error == NULL)
            error = plan_encode(read, &again);
        alloc_fail_after(0);
        if (error == NULL)
            return;
        assert_int_equal(kith_error_code(error), KITH_ERROR_OUT_OF_MEMORY);
    }
    fail_msg("a thousand allocations for a plan of %zu bytes", bytes.length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_read_and_written_as_protobuf_c_does),
        cmocka_unit_test(numbers_come_packed_or_one_by_one),
        cmocka_unit_test(elements_of_a_message_may_lie_apart),
        cmocka_unit_test(negative_numbers_are_read),
        cmocka_unit_test(malformed_bytes_are_refused_with_their_place),
        cmocka_unit_test(unknown_fields_are_refused_or_if_they_are_additions_read_over),
        cmocka_unit_test(memory_is_limited_by_the_arena),
        cmocka_unit_test(levels_up_to_the_limit_are_written_and_read),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
