/*
 * The echo service as a program, for tests against other implementations of gRPC (grpc_interop.py):
 *   grpc_echo serve           listens on a free port, prints the address, serves until standard input closes
 *   grpc_echo call TARGET     calls every method of such a service at TARGET and checks what comes back
 */
#include "net/echo_service.h"

#include "runtime/io.h"
#include "runtime/sync.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define CHECK(condition)                                                                                 \
    do {                                                                                                 \
        if (!(condition))                                                                                \
            return error_new(KITH_ERROR_INTERNAL, "%s:%d: expected %s", __FILE__, __LINE__, #condition); \
    } while (0)

static kith_error *read_to_end(void *argument)
{
    char bytes[64];
    while (read(STDIN_FILENO, bytes, sizeof bytes) > 0)
        ;
    return NULL;
}

static kith_error *serve(void *argument)
{
    _cleanup_(grpc_server_free) struct grpc_server *server = NULL;
    struct grpc_server_options options = {.methods = echo_methods, .method_count = ARRAY_SIZE(echo_methods)};
    TRY(grpc_server_new(runtime_current(), &options, &server));
    const char *address;
    TRY(grpc_server_listen(server, "127.0.0.1:0", &address));
    printf("%s\n", address);
    fflush(stdout);
    return offload(read_to_end, NULL);
}

static int64_t in_seconds(double seconds)
{
    return clock_monotonic_ns(runtime_clock(runtime_current())) + (int64_t)(seconds * 1e9);
}

static kith_error *check_unary(struct grpc_channel *channel)
{
    static const size_t sizes[] = {0, 1, 100, 65536, 3000000};
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        _cleanup_(buffer_unref) struct buffer *request = NULL;
        _cleanup_(buffer_unref) struct buffer *reply = NULL;
        TRY(buffer_new(sizes[i], &request));
        memset(request->data, (int)i + 1, sizes[i]);
        struct slice slice = slice_of_buffer(request);
        TRY(grpc_call_unary(channel, "/kith.test.Echo/Unary", NULL, in_seconds(20), &slice, 1, &reply));
        CHECK(reply->size == sizes[i] && memcmp(reply->data, request->data, sizes[i]) == 0);
    }
    return NULL;
}

static kith_error *check_stream(struct grpc_channel *channel)
{
    enum { COUNT = 20, SIZE = 1000000 };
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(channel, "/kith.test.Echo/Stream", NULL, in_seconds(60), &call));
    uint64_t wanted[2] = {COUNT, SIZE};
    struct slice slice = slice_of_bytes(wanted, sizeof wanted);
    TRY(grpc_call_send(call, &slice, 1));
    TRY(grpc_call_half_close(call));
    for (int i = 0; i <= COUNT; i++) {
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        TRY(grpc_call_recv(call, &message));
        CHECK(i == COUNT ? message == NULL : message != NULL && message->size == SIZE);
    }
    return NULL;
}

static kith_error *check_collect(struct grpc_channel *channel)
{
    enum { COUNT = 30, SIZE = 500000 };
    _cleanup_(buffer_unref) struct buffer *payload = NULL;
    _cleanup_(buffer_unref) struct buffer *reply = NULL;
    TRY(buffer_new_zeroed(SIZE, &payload));
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(channel, "/kith.test.Echo/Collect", NULL, in_seconds(60), &call));
    struct slice slice = slice_of_buffer(payload);
    for (int i = 0; i < COUNT; i++)
        TRY(grpc_call_send(call, &slice, 1));
    TRY(grpc_call_half_close(call));
    TRY(grpc_call_recv(call, &reply));
    uint64_t totals[2];
    CHECK(reply != NULL && reply->size == sizeof totals);
    memcpy(totals, reply->data, sizeof totals);
    CHECK(totals[0] == COUNT && totals[1] == (uint64_t)COUNT * SIZE);
    return NULL;
}

static kith_error *check_bidi(struct grpc_channel *channel)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(channel, "/kith.test.Echo/Bidi", NULL, in_seconds(60), &call));
    for (int i = 0; i < 200; i++) {
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        struct slice slice = slice_of_bytes(&i, sizeof i);
        TRY(grpc_call_send(call, &slice, 1));
        TRY(grpc_call_recv(call, &message));
        CHECK(message != NULL && message->size == sizeof i && memcmp(message->data, &i, sizeof i) == 0);
    }
    TRY(grpc_call_half_close(call));
    _cleanup_(buffer_unref) struct buffer *end = NULL;
    TRY(grpc_call_recv(call, &end));
    CHECK(end == NULL);
    return NULL;
}

static kith_error *check_metadata(struct grpc_channel *channel)
{
    _cleanup_(headers_reset) struct headers metadata = {0};
    TRY(headers_add_text(&metadata, "x-ask", "a question"));
    TRY(headers_add(&metadata, str_of("x-ask-bin"), (struct str){"\0\1\xFE\xFF", 4}));
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(channel, "/kith.test.Echo/Metadata", &metadata, in_seconds(20), &call));
    TRY(grpc_call_send(call, NULL, 0));
    const struct headers *answer;
    TRY(grpc_call_metadata(call, &answer));
    struct str value;
    CHECK(headers_find(answer, "x-answer", &value) && str_equal(value, str_of("a question")));
    CHECK(headers_find(answer, "x-answer-bin", &value) && str_equal(value, (struct str){"\0\1\xFE\xFF", 4}));
    return NULL;
}

/* The call must fail so. */
static kith_error *check_failure(struct grpc_channel *channel, const char *path, double seconds, enum kith_code code,
                                 const char *part)
{
    struct buffer *reply = NULL;
    kith_error *error = grpc_call_unary(channel, path, NULL, in_seconds(seconds), NULL, 0, &reply);
    CHECK(error != NULL);
    if (kith_error_code(error) != code || strstr(kith_error_message(error), part) == NULL)
        return error_wrap(error, "%s failed otherwise than with %s and \"%s\"", path, error_code_name(code), part);
    error_free(error);
    return NULL;
}

static kith_error *call_all(void *argument)
{
    _cleanup_(grpc_channel_unref) struct grpc_channel *channel = NULL;
    TRY(grpc_channel_open(runtime_current(), argument, NULL, &channel));
    TRY(check_unary(channel));
    TRY(check_stream(channel));
    TRY(check_collect(channel));
    TRY(check_bidi(channel));
    TRY(check_metadata(channel));
    TRY(check_failure(channel, "/kith.test.Echo/Fail", 20, KITH_ERROR_NOT_FOUND, "no file \"\xC3\xA4%.parquet\""));
    TRY(check_failure(channel, "/kith.test.Echo/Nothing", 20, KITH_ERROR_NOT_IMPLEMENTED, "ethod"));
    TRY(check_failure(channel, "/kith.test.Echo/Hang", 0.3, KITH_ERROR_TIMEOUT, ""));
    /* The connection is as good as before. */
    TRY(check_unary(channel));
    puts("all calls are right");
    return NULL;
}

int main(int count, char **words)
{
    bool serves = count == 2 && strcmp(words[1], "serve") == 0;
    if (!serves && (count != 3 || strcmp(words[1], "call") != 0)) {
        fprintf(stderr, "usage: grpc_echo serve | grpc_echo call HOST:PORT\n");
        return 2;
    }
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    kith_error *error = runtime_new(&(struct runtime_options){.threads = 2}, &runtime);
    if (error == NULL)
        error = serves ? runtime_run(runtime, serve, NULL) : runtime_run(runtime, call_all, words[2]);
    if (error == NULL)
        return 0;
    char text[1024];
    fprintf(stderr, "grpc_echo: %s\n", error_describe(error, text, sizeof text));
    error_free(error);
    return 1;
}
