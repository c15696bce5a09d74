/* Flight messages written by hand are those that generated code writes, and bodies are shared, not copied. */
#include "testing.h"

#include "wire/flight.h"
#include "wire/protobuf.h"

#include "flight.pb-c.h"

static struct buffer *buffer_of(const void *bytes, size_t size)
{
    struct buffer *buffer;
    assert_ok(buffer_new(size, &buffer));
    memcpy(buffer->data, bytes, size);
    return buffer;
}

static void encode(const struct ipc_message *message, const struct flight_metadata *metadata, struct strbuf *out)
{
    assert_ok(flight_encode_head(message, metadata, out));
    if (message->body != NULL)
        assert_ok(strbuf_append(out, message->body->data, message->body->size));
}

/* What protobuf-c makes of the same fields. */
static void encode_generated(const struct ipc_message *message, const struct flight_metadata *metadata,
                             struct strbuf *out)
{
    Kith__Flight__FlightAppMetadata app = KITH__FLIGHT__FLIGHT_APP_METADATA__INIT;
    Kith__Flight__FlightData data = KITH__FLIGHT__FLIGHT_DATA__INIT;
    uint8_t app_bytes[64];
    char *place;
    app.partition = metadata->partition;
    app.created_timestamp_unix_nanos = metadata->created_unix_nanos;
    data.app_metadata = (ProtobufCBinaryData){protobuf_c_message_pack(&app.base, app_bytes), app_bytes};
    data.data_header = (ProtobufCBinaryData){message->metadata->size, message->metadata->data};
    if (message->body != NULL)
        data.data_body = (ProtobufCBinaryData){message->body->size, message->body->data};
    assert_ok(strbuf_reserve(out, protobuf_c_message_get_packed_size(&data.base), &place));
    out->length += protobuf_c_message_pack(&data.base, (uint8_t *)place);
}

static void the_bytes_are_those_of_generated_code(void **state)
{
    static const struct flight_metadata metadatas[] = {{0, 0}, {1, 0}, {0, 300}, {7, UINT64_MAX}};
    static const size_t body_sizes[] = {0, 1, 127, 128, 70000};
    static const uint8_t body[70000];
    for (size_t i = 0; i < ARRAY_SIZE(metadatas); i++) {
        for (size_t j = 0; j < ARRAY_SIZE(body_sizes); j++) {
            _cleanup_(ipc_message_reset) struct ipc_message message = {
                .metadata = buffer_of("header", 6),
                .body = body_sizes[j] == 0 ? NULL : buffer_of(body, body_sizes[j]),
            };
            _cleanup_(strbuf_reset) struct strbuf ours = {0}, theirs = {0};
            encode(&message, &metadatas[i], &ours);
            encode_generated(&message, &metadatas[i], &theirs);
            assert_int_equal(ours.length, theirs.length);
            assert_memory_equal(ours.data, theirs.data, theirs.length);
        }
    }
}

static void what_is_decoded_shares_the_message(void **state)
{
    struct flight_metadata metadata = {3, 12345}, read;
    _cleanup_(ipc_message_reset) struct ipc_message message = {buffer_of("header", 6), buffer_of("body bytes", 10)};
    _cleanup_(ipc_message_reset) struct ipc_message decoded = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    encode(&message, &metadata, &bytes);
    struct buffer *received = buffer_of(bytes.data, bytes.length);
    const uint8_t *start = received->data, *end = received->data + received->size;
    assert_ok(flight_decode(received, &decoded, &read));
    buffer_unref(received);
    assert_int_equal(read.partition, 3);
    assert_int_equal(read.created_unix_nanos, 12345);
    assert_int_equal(decoded.metadata->size, 6);
    assert_memory_equal(decoded.metadata->data, "header", 6);
    assert_int_equal(decoded.body->size, 10);
    assert_memory_equal(decoded.body->data, "body bytes", 10);
    assert_true(decoded.body->data >= start && decoded.body->data < end);
}

static kith_error *decode_bytes(const void *bytes, size_t size)
{
    _cleanup_(buffer_unref) struct buffer *buffer = buffer_of(bytes, size);
    _cleanup_(ipc_message_reset) struct ipc_message message = {0};
    struct flight_metadata metadata;
    return flight_decode(buffer, &message, &metadata);
}

static void fields_in_any_order_and_unknown_ones_are_read(void **state)
{
    /* data_body first, a flight_descriptor, an unknown varint field 9, then the header. */
    static const char bytes[] = "\xc2\x3e\x02hi\x0a\x01x\x48\x05\x12\x01h";
    assert_ok(decode_bytes(bytes, sizeof bytes - 1));
}

static void damaged_messages_are_refused(void **state)
{
    static const char good[] = "\x12\x06header\x1a\x02\x08\x01\xc2\x3e\x04"
                               "body";
    assert_ok(decode_bytes(good, sizeof good - 1));
    for (size_t i = 1; i < sizeof good - 1; i++) {
        _cleanup_(error_free) kith_error *error = decode_bytes(good, i);
        if (i == 8 || i == 12)
            assert_null(error); /* cut between fields: a message without a body is one */
        else
            assert_int_equal(kith_error_code(error), KITH_ERROR_CORRUPT);
    }
    assert_fails(decode_bytes("", 0), KITH_ERROR_CORRUPT, "no data_header");
    assert_fails(decode_bytes("\x10\x01", 2), KITH_ERROR_CORRUPT, "field 2 of FlightData has wire type 0");
    assert_fails(decode_bytes("\x13", 1), KITH_ERROR_CORRUPT, "wire type 3");
    assert_fails(decode_bytes("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), KITH_ERROR_CORRUPT,
                 "a length of 18446744073709551615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_those_of_generated_code),
        cmocka_unit_test(what_is_decoded_shares_the_message),
        cmocka_unit_test(fields_in_any_order_and_unknown_ones_are_read),
        cmocka_unit_test(damaged_messages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
