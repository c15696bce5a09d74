#include "net/net_fixture.h"

/* ---- The four kinds of calls ---- */

static kith_error *unary_body(struct fixture *fixture)
{
    for (int i = 0; i < 100; i++) {
        _cleanup_(buffer_unref) struct buffer *reply = NULL;
        char text[32];
        snprintf(text, sizeof text, "hello %d", i);
        struct slice pieces[2] = {slice_of_bytes(text, 3), slice_of_bytes(text + 3, strlen(text) - 3)};
        TRY(grpc_call_unary(fixture->channel, "/kith.test.Echo/Unary", NULL, WAIT_FOREVER, pieces, 2, &reply));
        EXPECT(reply->size == strlen(text) && memcmp(reply->data, text, reply->size) == 0);
    }
    return NULL;
}

static void a_unary_call_brings_the_reply(void **state)
{
    run_both(unary_body);
}

static kith_error *empty_body(struct fixture *fixture)
{
    _cleanup_(buffer_unref) struct buffer *reply = NULL;
    TRY(grpc_call_unary(fixture->channel, "/kith.test.Echo/Unary", NULL, WAIT_FOREVER, NULL, 0, &reply));
    EXPECT(reply->size == 0);
    return NULL;
}

static void an_empty_message_is_a_message(void **state)
{
    run_both(empty_body);
}

static kith_error *start_stream(struct fixture *fixture, uint64_t count, uint64_t size, struct grpc_call **out)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(fixture->channel, "/kith.test.Echo/Stream", NULL, WAIT_FOREVER, &call));
    uint64_t wanted[2] = {count, size};
    struct slice slice = slice_of_bytes(wanted, sizeof wanted);
    TRY(grpc_call_send(call, &slice, 1));
    TRY(grpc_call_half_close(call));
    *out = TAKE(call);
    return NULL;
}

static bool is_payload(const struct buffer *message, size_t size)
{
    if (message->size != size)
        return false;
    for (size_t i = 0; i < size; i++)
        if (message->data[i] != (uint8_t)(i * 31 + i / 251))
            return false;
    return true;
}

static kith_error *server_stream_body(struct fixture *fixture)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 70000, 1048576, 5000000};
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
        TRY(start_stream(fixture, 7, sizes[i], &call));
        for (int n = 0; n < 7; n++) {
            _cleanup_(buffer_unref) struct buffer *message = NULL;
            TRY(grpc_call_recv(call, &message));
            EXPECT(message != NULL && is_payload(message, sizes[i]));
        }
        struct buffer *end;
        TRY(grpc_call_recv(call, &end));
        EXPECT(end == NULL);
    }
    return NULL;
}

static void a_server_stream_brings_every_message_whole(void **state)
{
    run_both(server_stream_body);
}

static kith_error *client_stream_body(struct fixture *fixture)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(fixture->channel, "/kith.test.Echo/Collect", NULL, WAIT_FOREVER, &call));
    _cleanup_(buffer_unref) struct buffer *payload = NULL;
    TRY(buffer_new_zeroed(300000, &payload));
    for (int i = 0; i < 100; i++) {
        struct slice slices[] = {slice_of_bytes("head", 4), slice_of_buffer(payload)};
        TRY(grpc_call_send(call, slices, 2));
    }
    TRY(grpc_call_half_close(call));
    _cleanup_(buffer_unref) struct buffer *reply = NULL;
    TRY(grpc_call_recv(call, &reply));
    uint64_t totals[2];
    EXPECT(reply != NULL && reply->size == sizeof totals);
    memcpy(totals, reply->data, sizeof totals);
    EXPECT(totals[0] == 100 && totals[1] == 100 * UINT64_C(300004));
    return NULL;
}

static void a_client_stream_arrives_whole(void **state)
{
    run_both(client_stream_body);
}

struct sender {
    struct grpc_call *call;
    int count;
};

static kith_error *send_many(void *argument)
{
    struct sender *sender = argument;
    for (int i = 0; i < sender->count; i++) {
        char text[32];
        snprintf(text, sizeof text, "message %d", i);
        TRY(send_text(sender->call, text));
    }
    return grpc_call_half_close(sender->call);
}

static kith_error *bidi_body(struct fixture *fixture)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(fixture->channel, "/kith.test.Echo/Bidi", NULL, WAIT_FOREVER, &call));
    struct sender sender = {call, 5000};
    struct fiber *fiber;
    TRY(spawn(send_many, &sender, &fiber));
    kith_error *error = NULL;
    int received = 0;
    while (error == NULL) {
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        error = grpc_call_recv(call, &message);
        if (error != NULL || message == NULL)
            break;
        char text[32];
        snprintf(text, sizeof text, "message %d", received++);
        if (message->size != strlen(text) || memcmp(message->data, text, message->size) != 0)
            error = error_new(KITH_ERROR_INTERNAL, "message %d is wrong", received);
    }
    grpc_call_cancel(call);
    kith_error *send_error = fiber_join(fiber);
    TRY(error);
    TRY(send_error);
    EXPECT(received == 5000);
    return NULL;
}

static void one_fiber_sends_while_another_receives(void **state)
{
    run_both(bidi_body);
}

static kith_error *ping_pong_body(struct fixture *fixture)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(fixture->channel, "/kith.test.Echo/Bidi", NULL, WAIT_FOREVER, &call));
    for (int i = 0; i < 300; i++) {
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        TRY(send_text(call, "ping"));
        TRY(grpc_call_recv(call, &message));
        EXPECT(message != NULL && message->size == 4);
    }
    return NULL;
}

static void a_bidirectional_call_goes_back_and_forth(void **state)
{
    run_both(ping_pong_body);
}

static kith_error *stop_body(struct fixture *fixture)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    _cleanup_(buffer_unref) struct buffer *message = NULL, *end = NULL;
    TRY(grpc_call_start(fixture->channel, "/kith.test.Echo/Stop", NULL, WAIT_FOREVER, &call));
    TRY(grpc_call_recv(call, &message));
    EXPECT(message != NULL && message->size == 7 && memcmp(message->data, "stopped", 7) == 0);
    TRY(grpc_call_recv(call, &end));
    EXPECT(end == NULL);
    return send_text(call, "too late"); /* dropped */
}

static void a_server_that_stops_receiving_needs_no_half_close(void **state)
{
    run_both(stop_body);
}

/* Counts the writes of the client's end of a pipe. */
struct counting_transport {
    struct transport base;
    struct transport *inner;
    size_t *writes;
};

static kith_error *counting_read(struct transport *base, void *out, size_t size, int64_t deadline_ns, size_t *got)
{
    struct counting_transport *transport = CONTAINER_OF(base, struct counting_transport, base);
    return transport_read(transport->inner, out, size, deadline_ns, got);
}

static kith_error *counting_write(struct transport *base, struct iovec *pieces, size_t count, int64_t deadline_ns)
{
    struct counting_transport *transport = CONTAINER_OF(base, struct counting_transport, base);
    ++*transport->writes;
    return transport_write(transport->inner, pieces, count, deadline_ns);
}

static void counting_shutdown(struct transport *base, enum transport_side side)
{
    transport_shutdown(CONTAINER_OF(base, struct counting_transport, base)->inner, side);
}

static void counting_free(struct transport *base)
{
    struct counting_transport *transport = CONTAINER_OF(base, struct counting_transport, base);
    transport_free(transport->inner);
    free(transport);
}

static const struct transport_ops counting_ops = {counting_read, counting_write, counting_shutdown, counting_free};

struct counting {
    struct fixture fixture;
    size_t writes;
};

static kith_error *counting_dial(void *context, const char *target, int64_t deadline_ns, struct transport **out)
{
    struct counting *counting = context;
    _cleanup_(transport_free) struct transport *inner = NULL;
    struct counting_transport *transport;
    TRY(fixture_dial(&counting->fixture, target, deadline_ns, &inner));
    TRY(NEW(&transport));
    *transport = (struct counting_transport){.base = *inner, .inner = TAKE(inner), .writes = &counting->writes};
    transport->base.ops = &counting_ops;
    *out = &transport->base;
    return NULL;
}

static kith_error *call_and_count(struct grpc_channel *channel, const size_t *writes)
{
    for (int i = 0; i < 3; i++) {
        _cleanup_(buffer_unref) struct buffer *reply = NULL;
        size_t before = *writes;
        struct slice slice = slice_of_bytes("hello", 5);
        TRY(grpc_call_unary(channel, "/kith.test.Echo/Unary", NULL, WAIT_FOREVER, &slice, 1, &reply));
        EXPECT(i == 0 || *writes == before + 1); /* the first one comes with the connection's settings */
    }
    return NULL;
}

static kith_error *count_writes(void *argument)
{
    struct counting *counting = argument;
    const struct grpc_channel_options options = {.dial = counting_dial, .dial_context = counting};
    struct grpc_channel *channel = NULL;
    TRY(fixture_serve(&counting->fixture));
    kith_error *error = grpc_channel_open(runtime_current(), "pipe", &options, &channel);
    if (error == NULL)
        error = call_and_count(channel, &counting->writes);
    grpc_channel_unref(channel);
    grpc_server_free(counting->fixture.server);
    return error;
}

static void what_is_said_in_one_turn_leaves_in_one_write(void **state)
{
    struct counting counting = {0};
    run_on(1, count_writes, &counting);
}

struct caller {
    struct fixture *fixture;
    int calls;
};

static kith_error *call_many(void *argument)
{
    struct caller *caller = argument;
    for (int i = 0; i < caller->calls; i++) {
        _cleanup_(buffer_unref) struct buffer *reply = NULL;
        struct slice slice = slice_of_bytes("x", 1);
        TRY(grpc_call_unary(caller->fixture->channel, "/kith.test.Echo/Unary", NULL, WAIT_FOREVER, &slice, 1, &reply));
    }
    return NULL;
}

static kith_error *parallel_body(struct fixture *fixture)
{
    struct caller caller = {fixture, 50};
    struct fiber *fibers[50];
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++)
        TRY(spawn(call_many, &caller, &fibers[i]));
    kith_error *first = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(fibers); i++) {
        kith_error *error = fiber_join(fibers[i]);
        if (first == NULL)
            first = error;
        else
            error_free(error);
    }
    return first;
}

static void many_fibers_share_a_channel(void **state)
{
    run_both(parallel_body);
}

/* ---- Errors and metadata ---- */

static kith_error *fail_body(struct fixture *fixture)
{
    struct buffer *reply = NULL;
    kith_error *error = grpc_call_unary(fixture->channel, "/kith.test.Echo/Fail", NULL, WAIT_FOREVER, NULL, 0, &reply);
    EXPECT(error != NULL);
    bool good = kith_error_code(error) == KITH_ERROR_UNDEFINED_COLUMN &&
                strcmp(kith_error_message(error), "planning") == 0 && kith_error_position(error) == 42 &&
                kith_error_hint(error) != NULL && strcmp(kith_error_hint(error), "did you mean \"b\"?") == 0 &&
                kith_error_cause(error) != NULL &&
                strcmp(kith_error_message(kith_error_cause(error)), "no column \"a\xC3\xA4%\"") == 0;
    if (!good)
        return error;
    error_free(error);
    return NULL;
}

static void an_error_crosses_with_position_hint_and_cause(void **state)
{
    run_both(fail_body);
}

static kith_error *unknown_method_body(struct fixture *fixture)
{
    struct buffer *reply = NULL;
    return expect_text(
        grpc_call_unary(fixture->channel, "/kith.test.Echo/Nothing", NULL, WAIT_FOREVER, NULL, 0, &reply),
        KITH_ERROR_NOT_IMPLEMENTED, "/kith.test.Echo/Nothing");
}

static void an_unknown_method_is_not_implemented(void **state)
{
    run_both(unknown_method_body);
}

static kith_error *metadata_body(struct fixture *fixture)
{
    _cleanup_(headers_reset) struct headers metadata = {0};
    TRY(headers_add_text(&metadata, "x-ask", "plain text"));
    TRY(headers_add(&metadata, str_of("x-ask-bin"), (struct str){"\0\xFF\x80 any", 7}));
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(fixture->channel, "/kith.test.Echo/Metadata", &metadata, WAIT_FOREVER, &call));
    const struct headers *answer;
    TRY(grpc_call_metadata(call, &answer));
    struct str value;
    EXPECT(headers_find(answer, "x-answer", &value) && str_equal(value, str_of("plain text")));
    EXPECT(headers_find(answer, "x-answer-bin", &value) && str_equal(value, (struct str){"\0\xFF\x80 any", 7}));
    TRY(headers_add_text(&metadata, "Grpc-Upper", "x"));
    struct grpc_call *refused = NULL;
    EXPECT_FAILS(grpc_call_start(fixture->channel, "/kith.test.Echo/Metadata", &metadata, WAIT_FOREVER, &refused),
                 KITH_ERROR_INVALID_ARGUMENT);
    return NULL;
}

static void metadata_goes_both_ways(void **state)
{
    run_both(metadata_body);
}

/* ---- Servers that do not listen to the end ---- */

static kith_error *early_error_body(struct fixture *fixture)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(fixture->channel, "/kith.test.Echo/Fail", NULL, WAIT_FOREVER, &call));
    _cleanup_(buffer_unref) struct buffer *payload = NULL;
    TRY(buffer_new_zeroed(100000, &payload));
    struct slice slice = slice_of_buffer(payload);
    kith_error *error = NULL;
    while (error == NULL)
        error = grpc_call_send(call, &slice, 1);
    TRY(expect_text(error, KITH_ERROR_UNDEFINED_COLUMN, "planning"));
    struct buffer *message = NULL;
    return expect_text(grpc_call_recv(call, &message), KITH_ERROR_UNDEFINED_COLUMN, "planning");
}

static void a_sender_gets_the_error_of_a_call_that_has_failed(void **state)
{
    run_both(early_error_body);
}

static kith_error *early_end_body(struct fixture *fixture)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(fixture->channel, "/kith.test.Echo/Unary", NULL, WAIT_FOREVER, &call));
    TRY(send_text(call, "first"));
    _cleanup_(buffer_unref) struct buffer *reply = NULL;
    TRY(grpc_call_recv(call, &reply));
    EXPECT(reply != NULL && reply->size == 5);
    struct buffer *end = NULL;
    TRY(grpc_call_recv(call, &end));
    EXPECT(end == NULL);
    for (int i = 0; i < 100; i++)
        TRY(send_text(call, "nobody wants this"));
    return grpc_call_half_close(call);
}

static void what_is_sent_to_a_call_that_has_ended_well_is_dropped(void **state)
{
    run_both(early_end_body);
}

/* ---- Backpressure ---- */

static kith_error *slow_consumer_body(struct fixture *fixture)
{
    enum { MESSAGES = 300, SIZE = 100000 };
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(start_stream(fixture, MESSAGES, SIZE, &call));
    size_t most = 0;
    for (int i = 0; i < MESSAGES; i++) {
        /* Other calls go on meanwhile: a stream that nobody drains does not starve them. */
        TRY(call_many(&(struct caller){fixture, 1}));
        most = MAX(most, grpc_call_queued_recv(call));
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        TRY(grpc_call_recv(call, &message));
        EXPECT(message != NULL && message->size == SIZE);
    }
    EXPECT(most <= 256 * 1024);
    EXPECT(atomic_load(&echo_stream_peak) <= 200 * 1024);
    return NULL;
}

static void a_slow_consumer_holds_the_sender_back(void **state)
{
    struct fixture fixture = {
        .client_http2 = {.stream_window = 256 * 1024, .connection_window = 128 * 1024},
        .server_http2 = {.send_queue_bytes = 200 * 1024},
    };
    fixture_run(fixture, slow_consumer_body);
    fixture.over_tcp = true;
    fixture_run(fixture, slow_consumer_body);
}

static kith_error *larger_than_window_body(struct fixture *fixture)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(start_stream(fixture, 2, 3000000, &call));
    for (int i = 0; i < 2; i++) {
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        TRY(grpc_call_recv(call, &message));
        EXPECT(message != NULL && is_payload(message, 3000000));
    }
    return NULL;
}

static void a_message_larger_than_the_window_gets_through(void **state)
{
    fixture_run((struct fixture){.client_http2 = {.stream_window = 65536}}, larger_than_window_body);
}

static kith_error *long_stream_body(struct fixture *fixture)
{
    enum { MESSAGES = 2048, SIZE = 512 * 1024 };
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(start_stream(fixture, MESSAGES, SIZE, &call));
    size_t most = 0;
    for (int i = 0; i < MESSAGES; i++) {
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        TRY(grpc_call_recv(call, &message));
        EXPECT(message != NULL && message->size == SIZE);
        most = MAX(most, grpc_call_queued_recv(call));
    }
    EXPECT(most <= 1024 * 1024);
    return NULL;
}

static void a_long_stream_needs_bounded_memory(void **state)
{
    fixture_run((struct fixture){.over_tcp = true}, long_stream_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unary_call_brings_the_reply),
        cmocka_unit_test(an_empty_message_is_a_message),
        cmocka_unit_test(a_server_stream_brings_every_message_whole),
        cmocka_unit_test(a_client_stream_arrives_whole),
        cmocka_unit_test(one_fiber_sends_while_another_receives),
        cmocka_unit_test(a_bidirectional_call_goes_back_and_forth),
        cmocka_unit_test(a_server_that_stops_receiving_needs_no_half_close),
        cmocka_unit_test(what_is_said_in_one_turn_leaves_in_one_write),
        cmocka_unit_test(many_fibers_share_a_channel),
        cmocka_unit_test(an_error_crosses_with_position_hint_and_cause),
        cmocka_unit_test(an_unknown_method_is_not_implemented),
        cmocka_unit_test(metadata_goes_both_ways),
        cmocka_unit_test(a_sender_gets_the_error_of_a_call_that_has_failed),
        cmocka_unit_test(what_is_sent_to_a_call_that_has_ended_well_is_dropped),
        cmocka_unit_test(a_slow_consumer_holds_the_sender_back),
        cmocka_unit_test(a_message_larger_than_the_window_gets_through),
        cmocka_unit_test(a_long_stream_needs_bounded_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
