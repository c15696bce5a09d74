/*
 * Running out of memory anywhere in a call is an error of the call, or is survived; nothing hangs, leaks or crashes.
 */
#include "net/net_fixture.h"

#include "base/alloc.h"

struct attempt {
    size_t failing; /* the n-th allocation of the thread fails */
    bool reached;   /* there were so many */
};

static kith_error *call_once(struct grpc_server **server, struct grpc_channel **channel)
{
    struct fixture fixture = {0};
    struct grpc_server_options options = {.methods = echo_methods, .method_count = ARRAY_SIZE(echo_methods)};
    TRY(grpc_server_new(runtime_current(), &options, server));
    fixture.server = *server;
    struct grpc_channel_options channel_options = {.dial = fixture_dial, .dial_context = &fixture};
    TRY(grpc_channel_open(runtime_current(), "pipe", &channel_options, channel));
    int64_t deadline = from_now(10 * NANOSECONDS_PER_SECOND);
    _cleanup_(buffer_unref) struct buffer *reply = NULL;
    _cleanup_(buffer_unref) struct buffer *large = NULL;
    TRY(buffer_new_zeroed(100000, &large));
    struct slice slices[] = {slice_of_bytes("ping", 4), slice_of_buffer(large)};
    return grpc_call_unary(*channel, "/kith.test.Echo/Unary", NULL, deadline, slices, 2, &reply);
}

static kith_error *attempt_main(void *argument)
{
    struct attempt *attempt = argument;
    struct grpc_server *server = NULL;
    struct grpc_channel *channel = NULL;
    alloc_fail_after(attempt->failing);
    kith_error *error = call_once(&server, &channel);
    alloc_fail_after(0);
    attempt->reached = error != NULL;
    enum kith_code code = error == NULL ? KITH_OK : kith_error_code(error);
    error_free(error);
    if (channel != NULL)
        grpc_channel_unref(channel);
    if (server != NULL)
        grpc_server_free(server);
    EXPECT(code != KITH_ERROR_TIMEOUT);
    return NULL;
}

static void a_failing_allocation_fails_the_call_and_leaves_nothing(void **state)
{
    size_t failed = 0;
    for (size_t n = 1; n < 200; n++) {
        struct attempt attempt = {.failing = n};
        /* One thread: allocations are counted by thread. */
        run_on(1, attempt_main, &attempt);
        failed += attempt.reached;
    }
    /* Otherwise the test would prove nothing. */
    assert_true(failed > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_allocation_fails_the_call_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
