/*
 * A small gRPC service that tests, the interop program and the benchmark call:
 *   /kith.test.Echo/Unary    one message, sent back
 *   /kith.test.Echo/Bidi     every message is sent back as it comes
 *   /kith.test.Echo/Stream   request: count and size, 8 bytes each, little-endian; that many messages of that size
 *   /kith.test.Echo/Collect  all messages are read; the answer is their number and total size, 8 bytes each
 *   /kith.test.Echo/Fail     an error of code UNDEFINED_COLUMN with cause, position and hint
 *   /kith.test.Echo/Stop     stops receiving while it waits for a message, and says "stopped"
 *   /kith.test.Echo/Hang     never answers; the reason it was cancelled for is left in `echo_hang_reason`
 *   /kith.test.Echo/Metadata the request's metadata "x-ask" and "x-ask-bin" go back as "x-answer" and "x-answer-bin"
 */
#ifndef KITH_TESTS_NET_ECHO_SERVICE_H
#define KITH_TESTS_NET_ECHO_SERVICE_H

#include "net/grpc.h"
#include "runtime/fiber.h"

#include <stdatomic.h>
#include <string.h>

/* Code of the last error that ended Hang; 0 = none yet. */
static atomic_int echo_hang_reason;
/* The bytes that the last Stream had queued at most. */
static atomic_size_t echo_stream_peak;

static inline kith_error *echo_unary(struct grpc_call *call, void *context)
{
    _cleanup_(buffer_unref) struct buffer *message = NULL;
    TRY(grpc_call_recv(call, &message));
    if (message == NULL)
        return error_new(KITH_ERROR_PROTOCOL, "no request");
    struct slice slice = slice_of_buffer(message);
    return grpc_call_send(call, &slice, 1);
}

static inline kith_error *echo_bidi(struct grpc_call *call, void *context)
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

static inline kith_error *echo_stream(struct grpc_call *call, void *context)
{
    _cleanup_(buffer_unref) struct buffer *request = NULL;
    TRY(grpc_call_recv(call, &request));
    uint64_t wanted[2];
    if (request == NULL || request->size != sizeof wanted)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "the request must have 16 bytes");
    memcpy(wanted, request->data, sizeof wanted);
    _cleanup_(buffer_unref) struct buffer *payload = NULL;
    TRY(buffer_new((size_t)wanted[1], &payload));
    for (size_t i = 0; i < payload->size; i++)
        payload->data[i] = (uint8_t)(i * 31 + i / 251);
    atomic_store(&echo_stream_peak, 0);
    for (uint64_t i = 0; i < wanted[0]; i++) {
        struct slice slice = slice_of_buffer(payload);
        TRY(grpc_call_send(call, &slice, 1));
        size_t queued = grpc_call_queued_send(call);
        if (queued > atomic_load(&echo_stream_peak))
            atomic_store(&echo_stream_peak, queued);
    }
    return NULL;
}

static inline kith_error *echo_collect(struct grpc_call *call, void *context)
{
    uint64_t totals[2] = {0, 0};
    for (;;) {
        _cleanup_(buffer_unref) struct buffer *message = NULL;
        TRY(grpc_call_recv(call, &message));
        if (message == NULL)
            break;
        totals[0]++;
        totals[1] += message->size;
    }
    struct slice slice = slice_of_bytes(totals, sizeof totals);
    return grpc_call_send(call, &slice, 1);
}

static inline kith_error *echo_fail(struct grpc_call *call, void *context)
{
    kith_error *cause = error_new(KITH_ERROR_UNDEFINED_COLUMN, "no column \"a\xC3\xA4%%\"");
    cause = error_hint(error_at(cause, 41), "did you mean \"b\"?");
    return error_wrap(cause, "planning");
}

static inline kith_error *echo_stop_receiving(void *call)
{
    grpc_call_stop_receiving(call);
    return NULL;
}

static inline kith_error *echo_stop(struct grpc_call *call, void *context)
{
    _cleanup_(buffer_unref) struct buffer *message = NULL;
    struct fiber *fiber;
    TRY(fiber_spawn(runtime_current(), NULL, echo_stop_receiving, call, &fiber));
    kith_error *error = grpc_call_recv(call, &message);
    TRY(fiber_join(fiber));
    TRY(error);
    if (message != NULL)
        return error_new(KITH_ERROR_INTERNAL, "a message came");
    struct slice slice = slice_of_bytes("stopped", 7);
    return grpc_call_send(call, &slice, 1);
}

static inline kith_error *echo_hang(struct grpc_call *call, void *context)
{
    kith_error *error = NULL;
    while (error == NULL)
        error = sleep_until(clock_monotonic_ns(runtime_clock(runtime_current())) + NANOSECONDS_PER_SECOND);
    atomic_store(&echo_hang_reason, (int)kith_error_code(error));
    return error;
}

static inline kith_error *echo_metadata(struct grpc_call *call, void *context)
{
    const struct headers *asked;
    TRY(grpc_call_metadata(call, &asked));
    _cleanup_(headers_reset) struct headers answer = {0};
    struct str value;
    if (headers_find(asked, "x-ask", &value))
        TRY(headers_add(&answer, str_of("x-answer"), value));
    if (headers_find(asked, "x-ask-bin", &value))
        TRY(headers_add(&answer, str_of("x-answer-bin"), value));
    TRY(grpc_call_send_metadata(call, &answer));
    return echo_unary(call, context);
}

static const struct grpc_method echo_methods[] = {
    {"/kith.test.Echo/Unary", echo_unary, NULL, 0},       {"/kith.test.Echo/Bidi", echo_bidi, NULL, 0},
    {"/kith.test.Echo/Stream", echo_stream, NULL, 0},     {"/kith.test.Echo/Collect", echo_collect, NULL, 0},
    {"/kith.test.Echo/Fail", echo_fail, NULL, 0},         {"/kith.test.Echo/Hang", echo_hang, NULL, 0},
    {"/kith.test.Echo/Metadata", echo_metadata, NULL, 0}, {"/kith.test.Echo/Stop", echo_stop, NULL, 0},
};

#endif
