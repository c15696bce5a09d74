/*
 * What a peer may do wrong: bytes that are not HTTP/2, frames that are not allowed, requests that are not gRPC. Peers
 * are written frame by frame, or use the client side of http2.h below gRPC.
 */
#include "net/net_fixture.h"

#include "base/strbuf.h"
#include "runtime/mutex.h"

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

enum frame_type { DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, PING = 6, GOAWAY = 7, CONTINUATION = 9 };
enum { END_STREAM = 1, END_HEADERS = 4 };

/* ---- A peer made of bytes ---- */

static kith_error *add_frame(struct strbuf *out, enum frame_type type, unsigned flags, uint32_t stream,
                             const void *payload, size_t size)
{
    const uint8_t header[9] = {(uint8_t)(size >> 16),   (uint8_t)(size >> 8),   (uint8_t)size,
                               (uint8_t)type,           (uint8_t)flags,         (uint8_t)(stream >> 24),
                               (uint8_t)(stream >> 16), (uint8_t)(stream >> 8), (uint8_t)stream};
    TRY(strbuf_append(out, header, sizeof header));
    return strbuf_append(out, payload, size);
}

/* A literal field that is not indexed, names and values below 127 bytes (RFC 7541, 6.2.2). */
static kith_error *add_field(struct strbuf *out, const char *name, const char *value)
{
    const uint8_t name_head[] = {0, (uint8_t)strlen(name)};
    const uint8_t value_head = (uint8_t)strlen(value);
    TRY(strbuf_append(out, name_head, sizeof name_head));
    TRY(strbuf_append_text(out, name));
    TRY(strbuf_append(out, &value_head, 1));
    return strbuf_append_text(out, value);
}

static kith_error *request_block(const char *path, struct strbuf *out)
{
    TRY(add_field(out, ":method", "POST"));
    TRY(add_field(out, ":scheme", "http"));
    TRY(add_field(out, ":path", path));
    TRY(add_field(out, ":authority", "test"));
    TRY(add_field(out, "te", "trailers"));
    return add_field(out, "content-type", "application/grpc");
}

static kith_error *add_request(struct strbuf *out, uint32_t stream, const char *path)
{
    _cleanup_(strbuf_reset) struct strbuf block = {0};
    TRY(request_block(path, &block));
    return add_frame(out, HEADERS, END_HEADERS, stream, block.data, block.length);
}

static kith_error *add_hello(struct strbuf *out)
{
    TRY(strbuf_append_text(out, PREFACE));
    return add_frame(out, SETTINGS, 0, 0, NULL, 0);
}

/* A new connection to the fixture's server. */
static kith_error *raw_peer(struct fixture *fixture, struct transport **out)
{
    struct transport *far = NULL;
    TRY(pipe_pair_new(1 << 20, "raw", out, &far));
    return grpc_server_serve(fixture->server, far);
}

static kith_error *write_all(struct transport *transport, const struct strbuf *bytes)
{
    struct iovec piece = {bytes->data, bytes->length};
    return transport_write(transport, &piece, 1, from_now(10 * NANOSECONDS_PER_SECOND));
}

static kith_error *read_exactly(struct transport *transport, uint8_t *out, size_t size, bool *end)
{
    *end = false;
    for (size_t at = 0; at < size;) {
        size_t got;
        TRY(transport_read(transport, out + at, size - at, from_now(10 * NANOSECONDS_PER_SECOND), &got));
        if (got == 0) {
            *end = true;
            return NULL;
        }
        at += got;
    }
    return NULL;
}

struct frame {
    bool end; /* the connection has ended instead */
    unsigned type;
    uint32_t stream;
    size_t size;
    uint8_t payload[1 << 15];
};

/* The next frame of `type`; the rest is skipped. */
static kith_error *next_frame(struct transport *transport, enum frame_type type, struct frame *out)
{
    do {
        uint8_t header[9];
        TRY(read_exactly(transport, header, sizeof header, &out->end));
        if (out->end)
            return NULL;
        out->size = (size_t)header[0] << 16 | (size_t)header[1] << 8 | header[2];
        out->type = header[3];
        out->stream = (uint32_t)header[5] << 24 | (uint32_t)header[6] << 16 | (uint32_t)header[7] << 8 | header[8];
        EXPECT(out->size <= sizeof out->payload);
        TRY(read_exactly(transport, out->payload, out->size, &out->end));
    } while (!out->end && out->type != (unsigned)type);
    return NULL;
}

static kith_error *still_serves(struct fixture *fixture)
{
    _cleanup_(buffer_unref) struct buffer *reply = NULL;
    return grpc_call_unary(fixture->channel, "/kith.test.Echo/Unary", NULL, WAIT_FOREVER, NULL, 0, &reply);
}

/* Writes the bytes as a client; the server must end the connection, and go on serving others. */
static kith_error *expect_thrown_out(struct fixture *fixture, const struct strbuf *bytes)
{
    _cleanup_(transport_free) struct transport *client = NULL;
    TRY(raw_peer(fixture, &client));
    error_free(write_all(client, bytes)); /* it may have been thrown out before the last byte */
    uint8_t part[4096];
    size_t got = 1;
    while (got > 0)
        TRY(transport_read(client, part, sizeof part, from_now(10 * NANOSECONDS_PER_SECOND), &got));
    return still_serves(fixture);
}

static kith_error *garbage_body(struct fixture *fixture)
{
    uint64_t seed = 11;
    for (int round = 0; round < 60; round++) {
        _cleanup_(strbuf_reset) struct strbuf bytes = {0};
        if (round % 3 > 0)
            TRY(add_hello(&bytes));
        if (round % 3 > 1)
            TRY(add_request(&bytes, 1, "/kith.test.Echo/Collect"));
        size_t size = 20000;
        char *at;
        TRY(strbuf_reserve(&bytes, size, &at));
        for (size_t i = 0; i < size; i++)
            at[i] = (char)test_random(&seed);
        bytes.length += size;
        TRY(expect_thrown_out(fixture, &bytes));
    }
    return NULL;
}

static void a_peer_that_sends_garbage_is_thrown_out(void **state)
{
    fixture_run((struct fixture){0}, garbage_body);
}

static kith_error *truncation_body(struct fixture *fixture)
{
    _cleanup_(strbuf_reset) struct strbuf whole = {0};
    TRY(add_hello(&whole));
    TRY(add_request(&whole, 1, "/kith.test.Echo/Unary"));
    TRY(add_frame(&whole, DATA, END_STREAM, 1, "\0\0\0\0\4ping", 9));
    for (size_t length = 0; length <= whole.length; length++) {
        _cleanup_(transport_free) struct transport *client = NULL;
        TRY(raw_peer(fixture, &client));
        struct strbuf part = {.data = whole.data, .length = length};
        TRY(write_all(client, &part));
    }
    return still_serves(fixture);
}

static void a_connection_may_end_anywhere(void **state)
{
    fixture_run((struct fixture){0}, truncation_body);
}

static kith_error *flipped_body(struct fixture *fixture)
{
    _cleanup_(strbuf_reset) struct strbuf whole = {0};
    TRY(add_hello(&whole));
    TRY(add_request(&whole, 1, "/kith.test.Echo/Bidi"));
    TRY(add_frame(&whole, DATA, 0, 1, "\0\0\0\0\4ping", 9));
    TRY(add_frame(&whole, PING, 0, 0, "12345678", 8));
    TRY(add_frame(&whole, DATA, END_STREAM, 1, "\0\0\0\0\4pong", 9));
    uint64_t seed = 5;
    for (int round = 0; round < 400; round++) {
        _cleanup_(transport_free) struct transport *client = NULL;
        _cleanup_(strbuf_reset) struct strbuf bytes = {0};
        TRY(strbuf_append(&bytes, whole.data, whole.length));
        for (int flip = 0; flip < 3; flip++)
            bytes.data[24 + test_random(&seed) % (bytes.length - 24)] ^= (char)(1 << test_random(&seed) % 8);
        TRY(raw_peer(fixture, &client));
        error_free(write_all(client, &bytes));
    }
    return still_serves(fixture);
}

static void flipped_bits_do_no_harm(void **state)
{
    fixture_run((struct fixture){0}, flipped_body);
}

static kith_error *too_many_streams_body(struct fixture *fixture)
{
    _cleanup_(transport_free) struct transport *client = NULL;
    TRY(raw_peer(fixture, &client));
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    TRY(add_hello(&bytes));
    for (uint32_t i = 0; i < 8; i++)
        TRY(add_request(&bytes, 2 * i + 1, "/kith.test.Echo/Hang"));
    TRY(write_all(client, &bytes));
    for (uint32_t i = 5; i < 8; i++) {
        struct frame frame;
        TRY(next_frame(client, RST_STREAM, &frame));
        EXPECT(!frame.end && frame.stream == 2 * i + 1);
        EXPECT(memcmp(frame.payload, "\0\0\0\7", 4) == 0); /* REFUSED_STREAM */
    }
    EXPECT(grpc_server_live_calls(fixture->server) == 5);
    return still_serves(fixture);
}

static void streams_above_the_limit_are_refused(void **state)
{
    fixture_run((struct fixture){.server_http2 = {.max_streams = 5}}, too_many_streams_body);
}

/* Opening and resetting must not gather handlers, nor go on for ever. */
static kith_error *rapid_reset_body(struct fixture *fixture)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    TRY(add_hello(&bytes));
    for (uint32_t i = 0; i < 20000; i++) {
        TRY(add_request(&bytes, 2 * i + 1, "/kith.test.Echo/Hang"));
        TRY(add_frame(&bytes, RST_STREAM, 0, 2 * i + 1, "\0\0\0\10", 4));
    }
    TRY(expect_thrown_out(fixture, &bytes));
    while (grpc_server_live_calls(fixture->server) > 0)
        TRY(sleep_until(from_now(NANOSECONDS_PER_MILLISECOND)));
    return NULL;
}

static void a_flood_of_resets_ends_the_connection(void **state)
{
    fixture_run((struct fixture){.server_http2 = {.max_streams = 50}}, rapid_reset_body);
}

static kith_error *flood_body(struct fixture *fixture)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    TRY(add_hello(&bytes));
    /* Nobody reads the answers, so they gather: over a thousand of them are too many. */
    for (int i = 0; i < 100000; i++)
        TRY(add_frame(&bytes, PING, 0, 0, "12345678", 8));
    _cleanup_(transport_free) struct transport *client = NULL;
    struct transport *far = NULL;
    TRY(pipe_pair_new(1000, "flood", &client, &far));
    TRY(grpc_server_serve(fixture->server, far));
    EXPECT_FAILS(write_all(client, &bytes), KITH_ERROR_UNAVAILABLE);
    return still_serves(fixture);
}

static void a_flood_of_pings_ends_the_connection(void **state)
{
    fixture_run((struct fixture){0}, flood_body);
}

static kith_error *large_headers_body(struct fixture *fixture)
{
    _cleanup_(transport_free) struct transport *client = NULL;
    TRY(raw_peer(fixture, &client));
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    _cleanup_(strbuf_reset) struct strbuf block = {0};
    TRY(add_hello(&bytes));
    TRY(request_block("/kith.test.Echo/Unary", &block));
    for (int i = 0; i < 700; i++)
        TRY(add_field(&block, "x-filler", "0123456789012345678901234567890123456789012345678901234567890123"));
    enum { PART = 16384 };
    size_t first = MIN(block.length, (size_t)PART);
    TRY(add_frame(&bytes, HEADERS, 0, 1, block.data, first));
    for (size_t at = first; at < block.length; at += PART) {
        size_t n = MIN(block.length - at, (size_t)PART);
        TRY(add_frame(&bytes, CONTINUATION, at + n == block.length ? END_HEADERS : 0, 1, block.data + at, n));
    }
    TRY(write_all(client, &bytes));
    struct frame frame;
    TRY(next_frame(client, RST_STREAM, &frame));
    EXPECT(!frame.end && frame.stream == 1);
    EXPECT(memcmp(frame.payload, "\0\0\0\13", 4) == 0); /* ENHANCE_YOUR_CALM */
    EXPECT(grpc_server_live_calls(fixture->server) == 0);
    return still_serves(fixture);
}

static void headers_above_the_limit_reset_the_stream(void **state)
{
    fixture_run((struct fixture){0}, large_headers_body);
}

static kith_error *mute_main(void *argument)
{
    struct fake_clock *clock = argument;
    _cleanup_(grpc_server_free) struct grpc_server *server = NULL;
    TRY(grpc_server_new(runtime_current(), &(struct grpc_server_options){0}, &server));
    _cleanup_(transport_free) struct transport *client = NULL;
    struct transport *far = NULL;
    TRY(pipe_pair_new(1000, "mute", &client, &far));
    TRY(grpc_server_serve(server, far));
    /* The server's own greeting; then nobody says anything. */
    uint8_t part[1000];
    size_t got = 0;
    TRY(transport_read(client, part, sizeof part, WAIT_FOREVER, &got));
    EXPECT(got > 0);
    EXPECT_FAILS(transport_read(client, part, sizeof part, from_now(0), &got), KITH_ERROR_TIMEOUT);
    fake_clock_advance(clock, runtime_current(), 11 * NANOSECONDS_PER_SECOND);
    while (got > 0)
        TRY(transport_read(client, part, sizeof part, WAIT_FOREVER, &got));
    return NULL;
}

static void a_client_that_never_says_a_word_is_thrown_out(void **state)
{
    struct fake_clock clock;
    fake_clock_init(&clock);
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    assert_ok(runtime_new(&(struct runtime_options){.threads = 1, .clock = &clock.clock}, &runtime));
    assert_ok(runtime_run(runtime, mute_main, &clock));
}

/* ---- A client that speaks HTTP/2 but not quite gRPC ---- */

struct probe {
    struct http2_connection *connection;
    struct http2_stream *stream;
    struct wait_list waiters;
    bool over;
    char status[16];
    char grpc_status[16];
    char message[256];
};

static void note(const struct headers *headers, const char *name, char *out, size_t size)
{
    struct str value;
    if (headers_find(headers, name, &value))
        snprintf(out, size, "%.*s", (int)value.length, value.data);
}

static kith_error *probe_headers(void *owner, struct headers *headers, bool end)
{
    struct probe *probe = owner;
    note(headers, ":status", probe->status, sizeof probe->status);
    note(headers, "grpc-status", probe->grpc_status, sizeof probe->grpc_status);
    note(headers, "grpc-message", probe->message, sizeof probe->message);
    return NULL;
}

static kith_error *probe_data(void *owner, const uint8_t *bytes, size_t length)
{
    return NULL;
}

static void probe_over(struct probe *probe)
{
    probe->over = true;
    wait_list_wake_all(&probe->waiters);
}

static void probe_ended(void *owner)
{
    probe_over(owner);
}

static void probe_closed(void *owner, kith_error *take_reason)
{
    error_free(take_reason);
    probe_over(owner);
}

static const struct http2_stream_ops probe_ops = {
    .headers = probe_headers, .data = probe_data, .ended = probe_ended, .closed = probe_closed};

static kith_error *run_connection(void *argument)
{
    return http2_connection_run(argument);
}

static kith_error *ask(struct probe *probe, const char *const (*fields)[2], size_t count, const char *data,
                       size_t data_size, bool end)
{
    _cleanup_(headers_reset) struct headers headers = {0};
    for (size_t i = 0; i < count; i++)
        TRY(headers_add_text(&headers, fields[i][0], fields[i][1]));
    TRY(http2_stream_open(probe->connection, &headers, &probe_ops, probe, &probe->stream));
    bool sent;
    struct slice slice = slice_of_bytes(data, data_size);
    TRY(http2_stream_send(probe->stream, &slice, 1, WAIT_FOREVER, &sent));
    if (end)
        TRY(http2_stream_end(probe->stream, NULL));
    HOLD_MUTEX(http2_stream_mutex(probe->stream));
    while (!probe->over)
        TRY(wait_list_wait(&probe->waiters, http2_stream_mutex(probe->stream), from_now(10 * NANOSECONDS_PER_SECOND)));
    return NULL;
}

struct request {
    const char *path;
    const char *method;
    const char *content_type;
    const char *extra[2];
    const char *data;
    size_t data_size;
    bool end;
    const char *grpc_status;
    const char *message;
};

static kith_error *try_request(struct fixture *fixture, const struct request *request)
{
    const char *const fields[][2] = {
        {":method", request->method},
        {":scheme", "http"},
        {":path", request->path},
        {":authority", "test"},
        {"te", "trailers"},
        {"content-type", request->content_type},
        {request->extra[0], request->extra[1]},
    };
    size_t count = ARRAY_SIZE(fields) - (request->extra[0] == NULL ? 1 : 0);
    struct probe probe = {0};
    _cleanup_(transport_free) struct transport *near = NULL;
    TRY(fixture_dial(fixture, "probe", WAIT_FOREVER, &near));
    _cleanup_(http2_connection_unref) struct http2_connection *connection = NULL;
    TRY(http2_connection_new(near, &(struct http2_options){0}, &connection));
    near = NULL;
    probe.connection = connection;
    struct fiber *fiber;
    TRY(spawn(run_connection, connection, &fiber));
    kith_error *error = ask(&probe, fields, count, request->data, request->data_size, request->end);
    http2_connection_shutdown(connection, NULL);
    kith_error *end_error = fiber_join(fiber);
    if (probe.stream != NULL)
        http2_stream_unref(probe.stream);
    TRY(error);
    TRY(end_error);
    if (strcmp(probe.grpc_status, request->grpc_status) != 0 || strstr(probe.message, request->message) == NULL)
        return error_new(KITH_ERROR_INTERNAL, "%s %s: grpc-status \"%s\", message \"%s\"", request->path,
                         request->message, probe.grpc_status, probe.message);
    return NULL;
}

static kith_error *requests_body(struct fixture *fixture)
{
    static const char unary[] = "/kith.test.Echo/Unary";
    static const struct request requests[] = {
        {unary, "POST", "application/grpc+proto", {0}, "\0\0\0\0\1x", 6, true, "0", ""},
        {unary, "GET", "application/grpc", {0}, "\0\0\0\0\1x", 6, true, "13", "POST"},
        {unary, "POST", "text/html", {0}, "\0\0\0\0\1x", 6, true, "13", "text/html"},
        {unary, "POST", "application/grpc-web", {0}, "\0\0\0\0\1x", 6, true, "13", "application/grpc-web"},
        {unary, "POST", "application/grpc", {"grpc-encoding", "gzip"}, "\0\0\0\0\1x", 6, true, "12", "gzip"},
        {unary, "POST", "application/grpc", {"grpc-timeout", "soon"}, "\0\0\0\0\1x", 6, true, "13", "grpc-timeout"},
        {unary, "POST", "application/grpc", {"x-bad-bin", "?"}, "\0\0\0\0\1x", 6, true, "13", "base64"},
        {unary, "POST", "application/grpc", {0}, "\1\0\0\0\1x", 6, true, "12", "compressed"},
        {unary, "POST", "application/grpc", {0}, "\7\0\0\0\1x", 6, true, "13", "byte 7"},
        {unary, "POST", "application/grpc", {0}, "\0\xFF\0\0\1x", 6, false, "8", "GRPC_MESSAGE_BYTES"},
        {unary, "POST", "application/grpc", {0}, "\0\0\0\0\4x", 6, true, "13", "middle of a message"},
        {unary, "POST", "application/grpc", {0}, "", 0, true, "13", "no request"},
        {"/nothing", "POST", "application/grpc", {0}, "\0\0\0\0\1x", 6, false, "12", "/nothing"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
        TRY(try_request(fixture, &requests[i]));
    return still_serves(fixture);
}

static void requests_that_are_not_grpc_get_a_status(void **state)
{
    fixture_run((struct fixture){0}, requests_body);
}

static kith_error *server_deadline_body(struct fixture *fixture)
{
    atomic_store(&echo_hang_reason, 0);
    static const struct request late = {
        .path = "/kith.test.Echo/Hang",
        .method = "POST",
        .content_type = "application/grpc",
        .extra = {"grpc-timeout", "50m"},
        .data = "\0\0\0\0\0",
        .data_size = 5,
        .end = true,
        .grpc_status = "4",
        .message = "/kith.test.Echo/Hang",
    };
    TRY(try_request(fixture, &late));
    EXPECT(atomic_load(&echo_hang_reason) == KITH_ERROR_CANCELLED);
    return NULL;
}

static void a_server_keeps_the_deadline_by_itself(void **state)
{
    fixture_run((struct fixture){0}, server_deadline_body);
}

/* ---- A server that is none ---- */

struct false_server {
    struct transport *far;
    const char *answer;
    size_t size;
};

static kith_error *dial_false_server(void *context, const char *target, int64_t deadline_ns, struct transport **out)
{
    struct false_server *server = context;
    TRY(pipe_pair_new(100000, target, out, &server->far));
    struct iovec piece = {(void *)(uintptr_t)server->answer, server->size};
    return transport_write(server->far, &piece, 1, WAIT_FOREVER);
}

static kith_error *false_server_main(void *argument)
{
    static const char http1[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
    struct false_server server = {.answer = http1, .size = sizeof http1 - 1};
    struct grpc_channel_options options = {.dial = dial_false_server, .dial_context = &server};
    _cleanup_(grpc_channel_unref) struct grpc_channel *channel = NULL;
    TRY(grpc_channel_open(runtime_current(), "web:80", &options, &channel));
    struct buffer *reply = NULL;
    kith_error *error = grpc_call_unary(channel, "/a/B", NULL, WAIT_FOREVER, NULL, 0, &reply);
    transport_free(server.far);
    return expect_text(error, KITH_ERROR_PROTOCOL, "worker web:80");
}

static void a_server_that_does_not_speak_http2_is_named(void **state)
{
    run_on(2, false_server_main, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_that_sends_garbage_is_thrown_out),
        cmocka_unit_test(a_connection_may_end_anywhere),
        cmocka_unit_test(flipped_bits_do_no_harm),
        cmocka_unit_test(streams_above_the_limit_are_refused),
        cmocka_unit_test(a_flood_of_resets_ends_the_connection),
        cmocka_unit_test(a_flood_of_pings_ends_the_connection),
        cmocka_unit_test(headers_above_the_limit_reset_the_stream),
        cmocka_unit_test(a_client_that_never_says_a_word_is_thrown_out),
        cmocka_unit_test(requests_that_are_not_grpc_get_a_status),
        cmocka_unit_test(a_server_keeps_the_deadline_by_itself),
        cmocka_unit_test(a_server_that_does_not_speak_http2_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
