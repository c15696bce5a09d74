/*
 * How fast one gRPC stream of large messages crosses loopback: a child process serves the stream, this one receives
 * it. Prints the best and the median of the rounds in GB/s, and then how long a small message and its echo take on
 * the same connection, alone and while such a stream goes on.
 *
 *   grpc_stream [message KiB = 1024] [messages = 4096] [rounds = 5] [stream window KiB = 0, the default]
 */
#include "net/grpc.h"
#include "runtime/fiber.h"
#include "runtime/io.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ROUNDS = 100 };

struct bench {
    size_t message_bytes;
    uint64_t messages;
    int rounds;
    uint32_t window_bytes;
    int to_parent; /* the child writes its address here and ends when `from_parent` closes */
    int from_parent;
    char address[64];
};

static kith_error *stream_handler(struct grpc_call *call, void *context)
{
    struct bench *bench = context;
    _cleanup_(buffer_unref) struct buffer *payload = NULL;
    TRY(buffer_new_zeroed(bench->message_bytes, &payload));
    struct slice slice = slice_of_buffer(payload);
    for (uint64_t i = 0; i < bench->messages; i++)
        TRY(grpc_call_send(call, &slice, 1));
    return NULL;
}

static kith_error *echo_handler(struct grpc_call *call, void *context)
{
    for (;;) {
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        TRY(grpc_call_recv(call, &message));
        if (message == NULL)
            return NULL;
        struct slice slice = slice_of_buffer(message);
        TRY(grpc_call_send(call, &slice, 1));
    }
}

static kith_error *wait_for_parent(void *argument)
{
    char byte;
    return read(*(int *)argument, &byte, 1) < 0 ? error_new(KITH_ERROR_IO, "the parent cannot be read") : NULL;
}

static kith_error *serve(void *argument)
{
    struct bench *bench = argument;
    struct grpc_method methods[] = {{"/bench/Stream", stream_handler, bench, 0},
                                    {"/bench/Echo", echo_handler, bench, 0}};
    _cleanup_(grpc_server_free) struct grpc_server *server = NULL;
    TRY(grpc_server_new(runtime_current(), &(struct grpc_server_options){.methods = methods, .method_count = 2},
                        &server));
    const char *address;
    TRY(grpc_server_listen(server, "127.0.0.1:0", &address));
    if (write(bench->to_parent, address, strlen(address) + 1) < 0)
        return error_new(KITH_ERROR_IO, "the address cannot be told");
    return offload(wait_for_parent, &bench->from_parent);
}

static kith_error *receive_round(struct bench *bench, struct grpc_channel *channel, double *out_gb_per_s)
{
    const struct clock *clock = runtime_clock(runtime_current());
    int64_t start = clock_monotonic_ns(clock);
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(channel, "/bench/Stream", NULL, WAIT_FOREVER, &call));
    uint64_t bytes = 0;
    for (;;) {
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        TRY(grpc_call_recv(call, &message));
        if (message == NULL)
            break;
        bytes += message->size;
    }
    *out_gb_per_s = (double)bytes / (double)(clock_monotonic_ns(clock) - start);
    return NULL;
}

static int compare_rates(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct background {
    struct bench *bench;
    struct grpc_channel *channel;
    atomic_bool stop;
};

static kith_error *stream_until_stopped(void *argument)
{
    struct background *background = argument;
    double rate;
    while (!atomic_load(&background->stop))
        TRY(receive_round(background->bench, background->channel, &rate));
    return NULL;
}

static kith_error *echo_round_trips(struct grpc_channel *channel, const char *what)
{
    enum { TRIPS = 2000 };
    static double microseconds[TRIPS];
    const struct clock *clock = runtime_clock(runtime_current());
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(channel, "/bench/Echo", NULL, WAIT_FOREVER, &call));
    for (size_t i = 0; i < TRIPS; i++) {
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        struct slice slice = slice_of_bytes("a bound of a few dozen bytes", 28);
        int64_t start = clock_monotonic_ns(clock);
        TRY(grpc_call_send(call, &slice, 1));
        TRY(grpc_call_recv(call, &message));
        microseconds[i] = (double)(clock_monotonic_ns(clock) - start) / 1000;
    }
    qsort(microseconds, TRIPS, sizeof *microseconds, compare_rates);
    printf("echo of 28 bytes, %s: median %.0f us, p99 %.0f us\n", what, microseconds[TRIPS / 2],
           microseconds[TRIPS * 99 / 100]);
    return NULL;
}

static kith_error *measure_echo(struct bench *bench, struct grpc_channel *channel)
{
    TRY(echo_round_trips(channel, "alone"));
    struct background background = {.bench = bench, .channel = channel};
    struct fiber *fiber;
    TRY(fiber_spawn(runtime_current(), NULL, stream_until_stopped, &background, &fiber));
    kith_error *error = echo_round_trips(channel, "beside the stream");
    atomic_store(&background.stop, true);
    kith_error *stream_error = fiber_join(fiber);
    TRY(error);
    return stream_error;
}

static kith_error *receive(void *argument)
{
    struct bench *bench = argument;
    _cleanup_(grpc_channel_unref) struct grpc_channel *channel = NULL;
    struct grpc_channel_options options = {.http2 = {.stream_window = bench->window_bytes}};
    TRY(grpc_channel_open(runtime_current(), bench->address, &options, &channel));
    double rates[MOST_ROUNDS];
    for (int i = 0; i < bench->rounds; i++)
        TRY(receive_round(bench, channel, &rates[i]));
    qsort(rates, (size_t)bench->rounds, sizeof *rates, compare_rates);
    printf("%zu KiB x %llu: median %.2f GB/s, best %.2f GB/s of %d rounds\n", bench->message_bytes / 1024,
           (unsigned long long)bench->messages, rates[bench->rounds / 2], rates[bench->rounds - 1], bench->rounds);
    return measure_echo(bench, channel);
}

/* Each process has its own runtime. Returns the exit status. */
static int run(struct bench *bench, kith_error *(*function)(void *argument))
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    kith_error *error = runtime_new(&(struct runtime_options){0}, &runtime);
    if (error == NULL)
        error = runtime_run(runtime, function, bench);
    if (error == NULL)
        return 0;
    char text[512];
    fprintf(stderr, "grpc_stream: %s\n", error_describe(error, text, sizeof text));
    error_free(error);
    return 1;
}

int main(int count, char **words)
{
    struct bench bench = {
        .message_bytes = (count > 1 ? strtoul(words[1], NULL, 10) : 1024) * 1024,
        .messages = count > 2 ? strtoul(words[2], NULL, 10) : 4096,
        .rounds = count > 3 ? (int)strtol(words[3], NULL, 10) : 5,
        .window_bytes = count > 4 ? (uint32_t)strtoul(words[4], NULL, 10) * 1024 : 0,
    };
    if (bench.rounds < 1 || bench.rounds > MOST_ROUNDS) {
        fprintf(stderr, "grpc_stream: 1 to %d rounds\n", MOST_ROUNDS);
        return 2;
    }
    int up[2];
    int down[2];
    if (pipe(up) != 0 || pipe(down) != 0)
        return 1;
    bench.to_parent = up[1];
    bench.from_parent = down[0];
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(down[1]);
        _exit(run(&bench, serve));
    }
    if (child < 0 || read(up[0], bench.address, sizeof bench.address - 1) <= 0)
        return 1;
    int status = run(&bench, receive);
    close(down[1]);
    waitpid(child, NULL, 0);
    return status;
}
