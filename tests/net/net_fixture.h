/*
 * A server of the echo service and a channel to it, joined by pipes in memory or by TCP. Tests of calls run over
 * both; what they leave behind (fibers, descriptors) is counted.
 */
#ifndef KITH_TESTS_NET_NET_FIXTURE_H
#define KITH_TESTS_NET_NET_FIXTURE_H

#include "net/echo_service.h"
#include "runtime/fibers.h"

#include "net/pipe.h"
#include "net/socket.h"

#include <dirent.h>

struct fixture {
    bool over_tcp;
    struct http2_options client_http2;
    struct http2_options server_http2;
    struct grpc_server *server;
    struct grpc_channel *channel;
    char address[64];
    kith_error *(*body)(struct fixture *fixture);
};

static inline kith_error *fixture_dial(void *context, const char *target, int64_t deadline_ns, struct transport **out)
{
    struct fixture *fixture = context;
    _cleanup_(transport_free) struct transport *near = NULL;
    struct transport *far = NULL;
    TRY(pipe_pair_new(64 * 1024, target, &near, &far));
    TRY(grpc_server_serve(fixture->server, far));
    *out = TAKE(near);
    return NULL;
}

static inline kith_error *fixture_serve(struct fixture *fixture)
{
    struct grpc_server_options server = {
        .methods = echo_methods, .method_count = ARRAY_SIZE(echo_methods), .http2 = fixture->server_http2};
    TRY(grpc_server_new(runtime_current(), &server, &fixture->server));
    const char *bound = "pipe";
    if (fixture->over_tcp)
        TRY(grpc_server_listen(fixture->server, "127.0.0.1:0", &bound));
    snprintf(fixture->address, sizeof fixture->address, "%s", bound);
    return NULL;
}

static inline kith_error *fixture_call(struct fixture *fixture)
{
    struct grpc_channel_options options = {.http2 = fixture->client_http2};
    if (!fixture->over_tcp) {
        options.dial = fixture_dial;
        options.dial_context = fixture;
    }
    _cleanup_(grpc_channel_unref) struct grpc_channel *channel = NULL;
    TRY(grpc_channel_open(runtime_current(), fixture->address, &options, &channel));
    fixture->channel = channel;
    return fixture->body(fixture);
}

static inline kith_error *fixture_main(void *argument)
{
    struct fixture *fixture = argument;
    kith_error *error = fixture_serve(fixture);
    if (error == NULL)
        error = fixture_call(fixture);
    if (fixture->server != NULL)
        grpc_server_free(fixture->server);
    return error;
}

static inline size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory != NULL && readdir(directory) != NULL)
        count++;
    if (directory != NULL)
        closedir(directory);
    return count;
}

static inline void fixture_run(struct fixture fixture, kith_error *(*body)(struct fixture *fixture))
{
    fixture.body = body;
    size_t descriptors = count_descriptors();
    run_on(2, fixture_main, &fixture);
    assert_int_equal(count_descriptors(), descriptors);
}

/* Runs the body over pipes and over TCP. */
static inline void run_both(kith_error *(*body)(struct fixture *fixture))
{
    fixture_run((struct fixture){.over_tcp = false}, body);
    fixture_run((struct fixture){.over_tcp = true}, body);
}

static inline int64_t from_now(int64_t ns)
{
    return clock_monotonic_ns(runtime_clock(runtime_current())) + ns;
}

static inline kith_error *send_text(struct grpc_call *call, const char *text)
{
    struct slice slice = slice_of_bytes(text, strlen(text));
    return grpc_call_send(call, &slice, 1);
}

/* EXPECT for errors whose text matters. */
static inline kith_error *expect_text(kith_error *take_error, enum kith_code code, const char *part)
{
    char text[1024] = "no error";
    enum kith_code given = take_error == NULL ? KITH_OK : kith_error_code(take_error);
    if (take_error != NULL)
        error_describe(take_error, text, sizeof text);
    error_free(take_error);
    if (given != code || strstr(text, part) == NULL)
        return error_new(KITH_ERROR_INTERNAL, "got %s \"%s\", expected %s with \"%s\"", error_code_name(given), text,
                         error_code_name(code), part);
    return NULL;
}

#endif
