/*
 * A gRPC server and a client against a peer that says anything. The first byte picks the side under test and whether
 * the peer begins with a proper greeting; the rest is what it says then. The call that a client has under way must end.
 */
#include "fuzz/fuzz.h"

#include "net/echo_service.h"
#include "net/pipe.h"
#include "runtime/sync.h"

#include <string.h>

enum { AS_CLIENT = 1, GREETING = 2 };

struct input {
    const uint8_t *data;
    size_t size;
    bool greeting;
    struct transport *far; /* the client's dialled connection, as the peer sees it */
};

static const char client_greeting[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
static const char server_greeting[] = "\0\0\0\4\0\0\0\0\0\0\0\0\4\1\0\0\0\0";

/* Says it, and leaves. */
static void speak(struct transport *peer, const struct input *input, const char *greeting, size_t greeting_size)
{
    struct iovec pieces[] = {{(void *)(uintptr_t)greeting, input->greeting ? greeting_size : 0},
                             {(void *)(uintptr_t)input->data, input->size}};
    error_free(transport_write(peer, pieces, 2, WAIT_FOREVER));
    transport_shutdown(peer, TRANSPORT_BOTH);
}

static kith_error *run_server(void *argument)
{
    struct input *input = argument;
    struct grpc_server_options options = {.methods = echo_methods, .method_count = ARRAY_SIZE(echo_methods)};
    _cleanup_(grpc_server_free) struct grpc_server *server = NULL;
    TRY(grpc_server_new(runtime_current(), &options, &server));
    _cleanup_(transport_free) struct transport *client = NULL;
    struct transport *far = NULL;
    TRY(pipe_pair_new(1 << 20, "fuzz", &client, &far));
    TRY(grpc_server_serve(server, far));
    speak(client, input, client_greeting, sizeof client_greeting - 1);
    /* What the server answers is of no interest, but it must come to an end. */
    uint8_t part[4096];
    size_t got = 1;
    while (got > 0)
        TRY(transport_read(client, part, sizeof part, WAIT_FOREVER, &got));
    return NULL;
}

static kith_error *dial(void *context, const char *target, int64_t deadline_ns, struct transport **out)
{
    struct input *input = context;
    TRY(pipe_pair_new(1 << 20, target, out, &input->far));
    speak(input->far, input, server_greeting, sizeof server_greeting - 1);
    return NULL;
}

static kith_error *run_client(void *argument)
{
    struct input *input = argument;
    struct grpc_channel_options options = {.dial = dial, .dial_context = input};
    _cleanup_(grpc_channel_unref) struct grpc_channel *channel = NULL;
    TRY(grpc_channel_open(runtime_current(), "fuzz:1", &options, &channel));
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    kith_error *error = grpc_call_start(channel, "/kith.test.Echo/Bidi", NULL, WAIT_FOREVER, &call);
    while (error == NULL) {
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        error = grpc_call_recv(call, &message);
        if (message == NULL)
            break;
    }
    error_free(error);
    if (input->far != NULL)
        transport_free(TAKE(input->far));
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct runtime *runtime;
    if (runtime == NULL) {
        kith_error *error = runtime_new(&(struct runtime_options){.threads = 1}, &runtime);
        ASSERT(error == NULL);
    }
    if (size == 0 || size > 1 << 16)
        return 0;
    struct input input = {.data = data + 1, .size = size - 1, .greeting = (data[0] & GREETING) != 0};
    kith_error *error = runtime_run(runtime, (data[0] & AS_CLIENT) != 0 ? run_client : run_server, &input);
    ASSERT(error == NULL);
    ASSERT(runtime_live_fibers(runtime) == 0);
    return 0;
}
