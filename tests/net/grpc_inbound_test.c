#include "testing.h"

#include "base/limits.h"
#include "net/grpc_inbound.h"

#include <stdlib.h>

static void feed(struct grpc_inbound *inbound, const void *bytes, size_t size)
{
    assert_ok(grpc_inbound_feed(inbound, bytes, size));
}

/* Takes a message, which must be this one. */
static size_t take(struct grpc_inbound *inbound, const void *bytes, size_t size)
{
    struct buffer *message = NULL;
    size_t credit = 0;
    assert_ok(grpc_inbound_take(inbound, &message, &credit));
    assert_int_equal(message->size, size);
    if (size > 0)
        assert_memory_equal(message->data, bytes, size);
    buffer_unref(message);
    return credit;
}

static void messages_come_out_whole_however_they_are_cut(void **state)
{
    static const uint8_t bytes[] = "\0\0\0\0\3abc\0\0\0\0\0\0\0\0\0\2de";
    for (size_t step = 1; step < sizeof bytes; step++) {
        struct grpc_inbound inbound = {0};
        for (size_t at = 0; at < sizeof bytes - 1; at += step)
            feed(&inbound, bytes + at, MIN(step, sizeof bytes - 1 - at));
        assert_int_equal(inbound.ready, 3);
        assert_int_equal(take(&inbound, "abc", 3), 8);
        assert_int_equal(take(&inbound, "", 0), 5);
        assert_int_equal(take(&inbound, "de", 2), 7);
        assert_int_equal(inbound.held, 0);
        assert_false(grpc_inbound_is_partial(&inbound));
        grpc_inbound_reset(&inbound);
    }
}

/* Random sizes, cuts and takes against the plain list of messages. */
static void random_messages_come_out_in_order(void **state)
{
    enum { MESSAGES = 400, LARGEST = 20000 };
    static uint8_t stream[MESSAGES * (LARGEST + GRPC_PREFIX_BYTES)];
    static size_t starts[MESSAGES + 1];
    uint64_t seed = 7;
    size_t length = 0;
    for (size_t i = 0; i < MESSAGES; i++) {
        size_t size = test_random(&seed) % (test_random(&seed) % 3 == 0 ? LARGEST : 50);
        const uint8_t prefix[] = {0, 0, 0, (uint8_t)(size >> 8), (uint8_t)size};
        memcpy(stream + length, prefix, sizeof prefix);
        starts[i] = length;
        length += sizeof prefix;
        for (size_t j = 0; j < size; j++)
            stream[length++] = (uint8_t)test_random(&seed);
    }
    starts[MESSAGES] = length;

    struct grpc_inbound inbound = {0};
    size_t fed = 0;
    size_t taken = 0;
    size_t credit = 0;
    while (taken < MESSAGES) {
        size_t n = MIN(test_random(&seed) % 9000, length - fed);
        feed(&inbound, stream + fed, n);
        fed += n;
        if (test_random(&seed) % 4 == 0)
            credit += grpc_inbound_advance_credit(&inbound);
        while (inbound.ready > 0 && (fed == length || test_random(&seed) % 3 != 0)) {
            const uint8_t *message = stream + starts[taken] + GRPC_PREFIX_BYTES;
            credit += take(&inbound, message, starts[taken + 1] - starts[taken] - GRPC_PREFIX_BYTES);
            taken++;
        }
        assert_int_equal(inbound.held + credit, fed);
    }
    assert_int_equal(credit, length);
    grpc_inbound_reset(&inbound);
}

static void a_large_message_gives_credit_in_advance_once(void **state)
{
    enum { SIZE = 10000000 };
    static const uint8_t prefix[] = {0, SIZE >> 24, SIZE >> 16 & 0xFF, SIZE >> 8 & 0xFF, SIZE & 0xFF};
    uint8_t *payload = malloc(SIZE);
    assert_non_null(payload);
    for (size_t i = 0; i < SIZE; i++)
        payload[i] = (uint8_t)(i % 253);
    struct grpc_inbound inbound = {0};
    feed(&inbound, prefix, sizeof prefix);
    feed(&inbound, payload, 6000000);
    assert_int_equal(grpc_inbound_advance_credit(&inbound), 6000000);
    assert_int_equal(grpc_inbound_advance_credit(&inbound), 0);
    feed(&inbound, payload + 6000000, SIZE - 6000000);
    assert_int_equal(grpc_inbound_advance_credit(&inbound), 0);
    assert_int_equal(take(&inbound, payload, SIZE), SIZE - 6000000 + sizeof prefix);
    grpc_inbound_reset(&inbound);
    free(payload);
}

static void what_is_not_a_plain_message_is_refused(void **state)
{
    struct grpc_inbound compressed = {0};
    assert_fails(grpc_inbound_feed(&compressed, (const uint8_t *)"\1\0\0\0\1x", 6), KITH_ERROR_NOT_IMPLEMENTED,
                 "identity");
    struct grpc_inbound wrong = {0};
    assert_fails(grpc_inbound_feed(&wrong, (const uint8_t *)"\2\0\0\0\1x", 6), KITH_ERROR_PROTOCOL, "byte 2");
    struct grpc_inbound large = {0};
    assert_fails(grpc_inbound_feed(&large, (const uint8_t *)"\0\xFF\xFF\xFF\xFF", 5), KITH_ERROR_LIMIT,
                 "GRPC_MESSAGE_BYTES");
    struct grpc_inbound limited = {.message_limit = 3};
    assert_fails(grpc_inbound_feed(&limited, (const uint8_t *)"\0\0\0\0\4", 5), KITH_ERROR_LIMIT, "4 bytes");
}

static void a_partial_message_is_known_as_such(void **state)
{
    struct grpc_inbound inbound = {0};
    feed(&inbound, "\0\0", 2);
    assert_true(grpc_inbound_is_partial(&inbound));
    feed(&inbound, "\0\0\2x", 4);
    assert_true(grpc_inbound_is_partial(&inbound));
    assert_int_equal(inbound.ready, 0);
    grpc_inbound_reset(&inbound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_come_out_whole_however_they_are_cut),
        cmocka_unit_test(random_messages_come_out_in_order),
        cmocka_unit_test(a_large_message_gives_credit_in_advance_once),
        cmocka_unit_test(what_is_not_a_plain_message_is_refused),
        cmocka_unit_test(a_partial_message_is_known_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
