#include "net/net_fixture.h"

enum { WAITING_CALLS = 20 };

static const int64_t millisecond = NANOSECONDS_PER_MILLISECOND;

/* A fiber that waits in a call of Hang, and what it gets. */
struct hanging {
    struct grpc_call *call;
    struct fiber *fiber;
    kith_error *outcome;
};

static kith_error *wait_in_call(void *argument)
{
    struct hanging *hanging = argument;
    struct buffer *message = NULL;
    hanging->outcome = grpc_call_recv(hanging->call, &message);
    return NULL;
}

static kith_error *hang(struct grpc_channel *channel, struct cancel_token *cancel, int64_t deadline_ns,
                        struct hanging *out)
{
    TRY(grpc_call_start(channel, "/kith.test.Echo/Hang", NULL, deadline_ns, &out->call));
    struct fiber_options options = {.name = "hanging", .cancel = cancel};
    return fiber_spawn(runtime_current(), &options, wait_in_call, out, &out->fiber);
}

/* Waits for its end; it must have failed so. */
static kith_error *hang_ended(struct hanging *hanging, enum kith_code code, const char *part)
{
    TRY(fiber_join(hanging->fiber));
    grpc_call_unref(hanging->call);
    return expect_text(hanging->outcome, code, part);
}

static kith_error *until_live(struct fixture *fixture, size_t calls)
{
    while (grpc_server_live_calls(fixture->server) != calls)
        TRY(sleep_until(from_now(millisecond)));
    return NULL;
}

static kith_error *cancel_body(struct fixture *fixture)
{
    atomic_store(&echo_hang_reason, 0);
    struct hanging hanging = {0};
    TRY(hang(fixture->channel, NULL, WAIT_FOREVER, &hanging));
    TRY(until_live(fixture, 1));
    grpc_call_cancel(hanging.call);
    TRY(hang_ended(&hanging, KITH_ERROR_CANCELLED, "cancelled"));
    TRY(until_live(fixture, 0));
    EXPECT(atomic_load(&echo_hang_reason) == KITH_ERROR_CANCELLED);
    return NULL;
}

static void cancelling_a_call_reaches_both_ends(void **state)
{
    run_both(cancel_body);
}

static kith_error *token_body(struct fixture *fixture)
{
    _cleanup_(cancel_token_unref) struct cancel_token *token = NULL;
    TRY(cancel_token_new(NULL, &token));
    struct hanging hanging = {0};
    TRY(hang(fixture->channel, token, WAIT_FOREVER, &hanging));
    TRY(until_live(fixture, 1));
    cancel_token_cancel(token, NULL);
    TRY(hang_ended(&hanging, KITH_ERROR_CANCELLED, "the query was cancelled"));
    return until_live(fixture, 0);
}

static void cancelling_the_fiber_ends_its_wait_and_the_call(void **state)
{
    run_both(token_body);
}

static kith_error *deadline_body(struct fixture *fixture)
{
    struct hanging hanging = {0};
    TRY(hang(fixture->channel, NULL, from_now(100 * millisecond), &hanging));
    TRY(hang_ended(&hanging, KITH_ERROR_TIMEOUT, "/kith.test.Echo/Hang"));
    return until_live(fixture, 0);
}

static void the_deadline_ends_both_ends(void **state)
{
    run_both(deadline_body);
}

/* Dials the server, and lets the test cut the line at any time: the real transport lives as long as the test. */
struct cutter {
    struct transport base;
    struct fixture *fixture;
    struct transport *inner;
};

static kith_error *cutter_read(struct transport *transport, void *out, size_t size, int64_t deadline_ns, size_t *got)
{
    return transport_read(CONTAINER_OF(transport, struct cutter, base)->inner, out, size, deadline_ns, got);
}

static kith_error *cutter_write(struct transport *transport, struct iovec *pieces, size_t count, int64_t deadline_ns)
{
    return transport_write(CONTAINER_OF(transport, struct cutter, base)->inner, pieces, count, deadline_ns);
}

static void cutter_shutdown(struct transport *transport, enum transport_side side)
{
    transport_shutdown(CONTAINER_OF(transport, struct cutter, base)->inner, side);
}

static void cutter_free(struct transport *transport)
{
}

static const struct transport_ops cutter_ops = {cutter_read, cutter_write, cutter_shutdown, cutter_free};

static kith_error *dial_to_cut(void *context, const char *target, int64_t deadline_ns, struct transport **out)
{
    struct cutter *cutter = context;
    TRY(cutter->fixture->over_tcp ? socket_connect(target, deadline_ns, &cutter->inner)
                                  : fixture_dial(cutter->fixture, target, deadline_ns, &cutter->inner));
    cutter->base.ops = &cutter_ops;
    snprintf(cutter->base.peer, sizeof cutter->base.peer, "%s", target);
    *out = &cutter->base;
    return NULL;
}

static kith_error *lose_connection(struct fixture *fixture, struct cutter *cutter)
{
    struct grpc_channel_options options = {.dial = dial_to_cut, .dial_context = cutter};
    _cleanup_(grpc_channel_unref) struct grpc_channel *channel = NULL;
    TRY(grpc_channel_open(runtime_current(), fixture->address, &options, &channel));
    struct hanging hanging[WAITING_CALLS] = {0};
    for (size_t i = 0; i < WAITING_CALLS; i++)
        TRY(hang(channel, NULL, WAIT_FOREVER, &hanging[i]));
    TRY(until_live(fixture, WAITING_CALLS));
    transport_shutdown(cutter->inner, TRANSPORT_BOTH);
    for (size_t i = 0; i < WAITING_CALLS; i++)
        TRY(hang_ended(&hanging[i], KITH_ERROR_UNAVAILABLE, fixture->address));
    return until_live(fixture, 0);
}

static kith_error *lost_connection_body(struct fixture *fixture)
{
    atomic_store(&echo_hang_reason, 0);
    struct cutter cutter = {.fixture = fixture};
    kith_error *error = lose_connection(fixture, &cutter);
    if (cutter.inner != NULL)
        transport_free(cutter.inner);
    TRY(error);
    EXPECT(atomic_load(&echo_hang_reason) == KITH_ERROR_UNAVAILABLE);
    return NULL;
}

static kith_error *reconnect_body(struct fixture *fixture)
{
    TRY(grpc_channel_connect(fixture->channel));
    grpc_server_free(TAKE(fixture->server));
    struct grpc_server_options options = {.methods = echo_methods, .method_count = ARRAY_SIZE(echo_methods)};
    struct buffer *reply = NULL;
    EXPECT_FAILS(grpc_call_unary(fixture->channel, "/kith.test.Echo/Unary", NULL, WAIT_FOREVER, NULL, 0, &reply),
                 KITH_ERROR_UNAVAILABLE);
    TRY(grpc_server_new(runtime_current(), &options, &fixture->server));
    TRY(grpc_server_listen(fixture->server, fixture->address, NULL));
    _cleanup_(buffer_unref) struct buffer *second = NULL;
    return grpc_call_unary(fixture->channel, "/kith.test.Echo/Unary", NULL, WAIT_FOREVER, NULL, 0, &second);
}

static void a_channel_connects_again_after_a_loss(void **state)
{
    fixture_run((struct fixture){.over_tcp = true}, reconnect_body);
}

static void a_lost_connection_wakes_every_call_and_cancels_every_handler(void **state)
{
    run_both(lost_connection_body);
}

/* A peer that has stopped: it neither reads nor writes. */
static kith_error *dial_silence(void *context, const char *target, int64_t deadline_ns, struct transport **out)
{
    struct transport **far = context;
    return pipe_pair_new(1000, target, out, far);
}

static kith_error *silent_main(void *argument)
{
    _cleanup_(transport_free) struct transport *far = NULL;
    struct grpc_channel_options options = {
        .dial = dial_silence, .dial_context = &far, .http2 = {.keepalive_ns = 300 * millisecond}};
    _cleanup_(grpc_channel_unref) struct grpc_channel *channel = NULL;
    TRY(grpc_channel_open(runtime_current(), "10.0.0.1:50051", &options, &channel));
    int64_t start = from_now(0);
    struct hanging hanging[WAITING_CALLS] = {0};
    for (size_t i = 0; i < WAITING_CALLS; i++)
        TRY(hang(channel, NULL, WAIT_FOREVER, &hanging[i]));
    for (size_t i = 0; i < WAITING_CALLS; i++)
        TRY(hang_ended(&hanging[i], KITH_ERROR_UNAVAILABLE, "worker 10.0.0.1:50051 has not answered for 0.3 s"));
    int64_t took = from_now(0) - start;
    EXPECT(took >= 300 * millisecond && took < 3000 * millisecond);
    return NULL;
}

static void a_silent_peer_is_given_up_after_the_keepalive_time(void **state)
{
    run_on(2, silent_main, NULL);
}

static kith_error *keepalive_body(struct fixture *fixture)
{
    struct hanging hanging = {0};
    TRY(hang(fixture->channel, NULL, from_now(600 * millisecond), &hanging));
    return hang_ended(&hanging, KITH_ERROR_TIMEOUT, "before the deadline");
}

static void a_peer_that_answers_pings_is_kept(void **state)
{
    fixture_run((struct fixture){.client_http2 = {.keepalive_ns = 100 * millisecond}}, keepalive_body);
    fixture_run((struct fixture){.server_http2 = {.keepalive_ns = 100 * millisecond}}, keepalive_body);
}

static kith_error *server_silence_main(void *argument)
{
    /* The client says enough to open a call, and then nothing more. */
    _cleanup_(grpc_server_free) struct grpc_server *server = NULL;
    struct grpc_server_options options = {.methods = echo_methods,
                                          .method_count = ARRAY_SIZE(echo_methods),
                                          .http2 = {.keepalive_ns = 200 * millisecond}};
    TRY(grpc_server_new(runtime_current(), &options, &server));
    atomic_store(&echo_hang_reason, 0);
    _cleanup_(transport_free) struct transport *client = NULL;
    struct transport *far;
    TRY(pipe_pair_new(64 * 1024, "mute", &client, &far));
    TRY(grpc_server_serve(server, far));
    static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                "\0\0\0\4\0\0\0\0\0"        /* SETTINGS */
                                "\0\0\73\1\4\0\0\0\1"       /* HEADERS of 59 bytes, END_HEADERS, stream 1 */
                                "\203\206"                  /* :method POST, :scheme http */
                                "\4\24/kith.test.Echo/Hang" /* :path */
                                "\1\1x"                     /* :authority */
                                "\17\20\20application/grpc" /* content-type */
                                "\0\2te\10trailers";
    struct iovec piece = {(void *)(uintptr_t)hello, sizeof hello - 1};
    TRY(transport_write(client, &piece, 1, WAIT_FOREVER));
    while (atomic_load(&echo_hang_reason) == 0)
        TRY(sleep_until(from_now(millisecond)));
    EXPECT(atomic_load(&echo_hang_reason) == KITH_ERROR_UNAVAILABLE);
    return NULL;
}

static void a_server_gives_up_a_silent_client(void **state)
{
    run_on(2, server_silence_main, NULL);
}

/* What a call ends with once the channel has heard that its connection is over; one that is made before finds it out.
 */
static kith_error *call_over_a_new_connection(struct grpc_channel *channel)
{
    for (;;) {
        char text[1024] = "";
        struct buffer *reply = NULL;
        kith_error *error = grpc_call_unary(channel, "/kith.test.Echo/Unary", NULL, WAIT_FOREVER, NULL, 0, &reply);
        if (error != NULL)
            error_describe(error, text, sizeof text);
        buffer_unref(reply);
        if (strstr(text, "was lost") == NULL && strstr(text, "closed the connection") == NULL)
            return error;
        error_free(error);
        TRY(fiber_yield());
    }
}

static kith_error *server_end_main(void *argument)
{
    _cleanup_(grpc_server_free) struct grpc_server *server = NULL;
    struct grpc_server_options options = {.methods = echo_methods, .method_count = ARRAY_SIZE(echo_methods)};
    TRY(grpc_server_new(runtime_current(), &options, &server));
    const char *bound;
    TRY(grpc_server_listen(server, "127.0.0.1:0", &bound));
    char address[64];
    snprintf(address, sizeof address, "%s", bound);
    _cleanup_(grpc_channel_unref) struct grpc_channel *channel = NULL;
    TRY(grpc_channel_open(runtime_current(), address, NULL, &channel));
    struct hanging hanging = {0};
    TRY(hang(channel, NULL, WAIT_FOREVER, &hanging));
    TRY(until_live(&(struct fixture){.server = server}, 1));
    grpc_server_free(TAKE(server));
    TRY(hang_ended(&hanging, KITH_ERROR_UNAVAILABLE, address));

    return expect_text(call_over_a_new_connection(channel), KITH_ERROR_UNAVAILABLE, "cannot be reached");
}

static void a_server_that_ends_cancels_its_calls_and_is_not_there_any_more(void **state)
{
    size_t descriptors = count_descriptors();
    run_on(2, server_end_main, NULL);
    assert_int_equal(count_descriptors(), descriptors);
}

static kith_error *drain_server(void *argument)
{
    struct fixture *fixture = argument;
    return grpc_server_drain(fixture->server, from_now(10000 * millisecond));
}

static kith_error *drain_body(struct fixture *fixture)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(fixture->channel, "/kith.test.Echo/Bidi", NULL, WAIT_FOREVER, &call));
    TRY(send_text(call, "before"));
    _cleanup_(buffer_unref) struct buffer *before = NULL;
    TRY(grpc_call_recv(call, &before));
    EXPECT_FAILS(grpc_server_drain(fixture->server, from_now(20 * millisecond)), KITH_ERROR_TIMEOUT);
    struct fiber *drainer;
    TRY(spawn(drain_server, fixture, &drainer));
    TRY(send_text(call, "meanwhile"));
    TRY(grpc_call_half_close(call));
    _cleanup_(buffer_unref) struct buffer *meanwhile = NULL;
    struct buffer *end = NULL;
    kith_error *error = grpc_call_recv(call, &meanwhile);
    if (error == NULL)
        error = grpc_call_recv(call, &end);
    TRY(fiber_join(drainer));
    TRY(error);
    EXPECT(meanwhile != NULL && meanwhile->size == 9 && end == NULL);
    return NULL;
}

static void draining_lets_running_calls_finish(void **state)
{
    run_both(drain_body);
}

static kith_error *nobody_main(void *argument)
{
    /* A port that was just free, and is again. */
    struct listener *listener;
    TRY(listener_open("127.0.0.1:0", &listener));
    char address[64];
    snprintf(address, sizeof address, "%s", listener_address(listener));
    listener_free(listener);
    _cleanup_(grpc_channel_unref) struct grpc_channel *channel = NULL;
    TRY(grpc_channel_open(runtime_current(), address, NULL, &channel));
    TRY(expect_text(grpc_channel_connect(channel), KITH_ERROR_UNAVAILABLE, "refused"));
    return expect_text(grpc_channel_connect(channel), KITH_ERROR_UNAVAILABLE, address);
}

static void a_worker_that_is_not_there_is_named(void **state)
{
    run_on(1, nobody_main, NULL);
}

static kith_error *channel_close_body(struct fixture *fixture)
{
    struct hanging hanging = {0};
    TRY(hang(fixture->channel, NULL, WAIT_FOREVER, &hanging));
    grpc_channel_close(fixture->channel);
    TRY(hang_ended(&hanging, KITH_ERROR_UNAVAILABLE, "closed"));
    return expect_text(grpc_channel_connect(fixture->channel), KITH_ERROR_UNAVAILABLE, "has been closed");
}

static void closing_a_channel_ends_its_calls(void **state)
{
    run_both(channel_close_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelling_a_call_reaches_both_ends),
        cmocka_unit_test(cancelling_the_fiber_ends_its_wait_and_the_call),
        cmocka_unit_test(the_deadline_ends_both_ends),
        cmocka_unit_test(a_lost_connection_wakes_every_call_and_cancels_every_handler),
        cmocka_unit_test(a_channel_connects_again_after_a_loss),
        cmocka_unit_test(a_silent_peer_is_given_up_after_the_keepalive_time),
        cmocka_unit_test(a_peer_that_answers_pings_is_kept),
        cmocka_unit_test(a_server_gives_up_a_silent_client),
        cmocka_unit_test(a_server_that_ends_cancels_its_calls_and_is_not_there_any_more),
        cmocka_unit_test(draining_lets_running_calls_finish),
        cmocka_unit_test(a_worker_that_is_not_there_is_named),
        cmocka_unit_test(closing_a_channel_ends_its_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
