/*
 * What the runtime's own moves cost, in nanoseconds each: yielding, spawning and joining, passing an item between
 * fibers on one thread and between threads, a round trip over a socket pair, a blocking call. Prints the best of
 * five runs, since what disturbs a run only ever makes it slower.
 */
#include "runtime/channel.h"
#include "runtime/fiber.h"
#include "runtime/io.h"
#include "runtime/runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RUNS = 5 };

struct measurement {
    size_t operations;
    struct channel *there;
    struct channel *back;
    int sockets[2];
};

static kith_error *yield_often(void *argument)
{
    struct measurement *measurement = argument;
    for (size_t i = 0; i < measurement->operations / 2; i++)
        TRY(fiber_yield());
    return NULL;
}

static kith_error *measure_yield(void *argument)
{
    struct fiber *a = NULL, *b = NULL;
    TRY(fiber_spawn(runtime_current(), NULL, yield_often, argument, &a));
    TRY(fiber_spawn(runtime_current(), NULL, yield_often, argument, &b));
    TRY(fiber_join(a));
    return fiber_join(b);
}

static kith_error *measure_charge(void *argument)
{
    struct measurement *measurement = argument;
    for (size_t i = 0; i < measurement->operations; i++)
        TRY(coop_charge(1));
    return NULL;
}

static kith_error *do_nothing(void *argument)
{
    return NULL;
}

static kith_error *measure_spawn(void *argument)
{
    struct measurement *measurement = argument;
    for (size_t i = 0; i < measurement->operations; i++) {
        struct fiber *fiber = NULL;
        TRY(fiber_spawn(runtime_current(), NULL, do_nothing, NULL, &fiber));
        TRY(fiber_join(fiber));
    }
    return NULL;
}

static kith_error *measure_offload(void *argument)
{
    struct measurement *measurement = argument;
    for (size_t i = 0; i < measurement->operations; i++)
        TRY(offload(do_nothing, NULL));
    return NULL;
}

static kith_error *answer(void *argument)
{
    struct measurement *measurement = argument;
    for (;;) {
        void *item = NULL;
        bool sent = false;
        TRY(channel_recv(measurement->there, &item));
        if (item == NULL)
            return NULL;
        TRY(channel_send(measurement->back, item, &sent));
    }
}

static kith_error *measure_round_trips(void *argument)
{
    struct measurement *measurement = argument;
    for (size_t i = 0; i < measurement->operations; i++) {
        void *item = NULL;
        bool sent = false;
        TRY(channel_send(measurement->there, measurement, &sent));
        TRY(channel_recv(measurement->back, &item));
    }
    channel_close(measurement->there, NULL);
    return NULL;
}

static kith_error *open_channels(struct measurement *measurement)
{
    TRY(channel_new(1, NULL, &measurement->there));
    return channel_new(1, NULL, &measurement->back);
}

static void close_channels(struct measurement *measurement)
{
    channel_unref(measurement->there);
    channel_unref(measurement->back);
}

static kith_error *measure_channel(void *argument)
{
    struct measurement *measurement = argument;
    struct fiber *fiber = NULL;
    TRY(open_channels(measurement));
    TRY(fiber_spawn(runtime_current(), NULL, answer, argument, &fiber));
    TRY(measure_round_trips(argument));
    TRY(fiber_join(fiber));
    close_channels(measurement);
    return NULL;
}

static kith_error *exchange(int fd, bool first, size_t operations)
{
    char byte = 0;
    for (size_t i = 0; i < 2 * operations; i++) {
        if ((i % 2 == 0) == first) {
            if (write(fd, &byte, 1) != 1)
                return error_new(KITH_ERROR_IO, "writing to a socket");
            continue;
        }
        while (read(fd, &byte, 1) != 1) {
            unsigned ready = 0;
            TRY(io_wait(fd, IO_READABLE, -1, &ready));
        }
    }
    return NULL;
}

static kith_error *answer_socket(void *argument)
{
    struct measurement *measurement = argument;
    return exchange(measurement->sockets[1], false, measurement->operations);
}

static kith_error *measure_socket(void *argument)
{
    struct measurement *measurement = argument;
    struct fiber *fiber = NULL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, measurement->sockets) != 0)
        return error_new(KITH_ERROR_IO, "no socket pair");
    TRY(fiber_spawn(runtime_current(), NULL, answer_socket, argument, &fiber));
    TRY(exchange(measurement->sockets[0], true, measurement->operations));
    TRY(fiber_join(fiber));
    io_forget(measurement->sockets[0]);
    io_forget(measurement->sockets[1]);
    close(measurement->sockets[0]);
    close(measurement->sockets[1]);
    return NULL;
}

/* Two runtimes of one thread each, so that every item must cross. */
struct answering_thread {
    struct runtime *runtime;
    struct measurement *measurement;
    kith_error *error;
};

static void *run_answer(void *argument)
{
    struct answering_thread *thread = argument;
    thread->error = runtime_run(thread->runtime, answer, thread->measurement);
    return NULL;
}

static kith_error *measure_across_threads(struct runtime *runtime, struct measurement *measurement)
{
    _cleanup_(runtime_free) struct runtime *other = NULL;
    TRY(runtime_new(&(struct runtime_options){.threads = 1}, &other));
    TRY(open_channels(measurement));
    struct answering_thread thread = {.runtime = other, .measurement = measurement};
    pthread_t handle;
    if (pthread_create(&handle, NULL, run_answer, &thread) != 0)
        return error_out_of_memory();
    kith_error *error = runtime_run(runtime, measure_round_trips, measurement);
    pthread_join(handle, NULL);
    close_channels(measurement);
    if (error == NULL)
        return thread.error;
    error_free(thread.error);
    return error;
}

static kith_error *measure(const char *what, size_t threads, size_t operations, fiber_function function)
{
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    TRY(runtime_new(&(struct runtime_options){.threads = threads}, &runtime));
    int64_t best = INT64_MAX;
    for (size_t i = 0; i < RUNS; i++) {
        struct measurement measurement = {.operations = operations};
        int64_t start = clock_monotonic_ns(&system_clock);
        if (function != NULL)
            TRY(runtime_run(runtime, function, &measurement));
        else
            TRY(measure_across_threads(runtime, &measurement));
        best = MIN(best, clock_monotonic_ns(&system_clock) - start);
    }
    printf("%-44s %2zu thread%s %10.1f ns\n", what, threads, threads == 1 ? " " : "s",
           (double)best / (double)operations);
    return NULL;
}

static kith_error *measure_all(void)
{
    TRY(measure("charge of one unit", 1, 10000000, measure_charge));
    TRY(measure("yield to another fiber", 1, 2000000, measure_yield));
    TRY(measure("spawn and join", 1, 200000, measure_spawn));
    for (size_t threads = 1; threads <= 2; threads++)
        TRY(measure("channel round trip", threads, 200000, measure_channel));
    TRY(measure("channel round trip across threads", 1, 5000, NULL));
    for (size_t threads = 1; threads <= 2; threads++)
        TRY(measure("socket round trip", threads, 5000, measure_socket));
    return measure("call on another thread", 1, 5000, measure_offload);
}

int main(void)
{
    kith_error *error = measure_all();
    if (error == NULL)
        return 0;
    char text[1024];
    fprintf(stderr, "fiber_switch: %s\n", error_describe(error, text, sizeof text));
    error_free(error);
    return 1;
}
