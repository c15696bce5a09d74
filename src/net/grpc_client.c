#include "net/grpc_channel.h"
#include "net/grpc_status.h"

#include <stdlib.h>

static kith_error *first_headers(struct grpc_call *call, const struct headers *fields, bool end)
{
    struct str status;
    if (headers_find(fields, ":status", &status))
        call->http_status = (unsigned)strtoul(status.data, NULL, 10);
    if (call->http_status >= 100 && call->http_status < 200)
        return NULL;
    /* The response of something that is not gRPC is described by its status rather than its content type. */
    if (!end && call->http_status == 200)
        TRY(grpc_check_content(fields, grpc_call_peer(call)));
    TRY(grpc_metadata_read(fields, &call->metadata));
    call->metadata_came = true;
    return NULL;
}

static kith_error *outcome(const struct grpc_call *call, const struct headers *trailers)
{
    const char *peer = grpc_call_peer(call);
    kith_error *error = grpc_status_read(trailers, call->http_status, peer);
    /* What is not there any more must be named; other errors speak of what was asked for. */
    if (error != NULL && kith_error_code(error) == KITH_ERROR_UNAVAILABLE)
        return error_wrap(error, "%s ended %s", peer, call->path);
    return error;
}

static kith_error *on_headers(void *owner, struct headers *fields, bool end)
{
    struct grpc_call *call = owner;
    if (!call->metadata_came)
        TRY(first_headers(call, fields, end));
    if (end) {
        grpc_call_fail_locked(call, outcome(call, fields));
        call->finished = true;
    }
    grpc_call_wake_locked(call);
    return NULL;
}

static kith_error *on_data(void *owner, const uint8_t *bytes, size_t length)
{
    struct grpc_call *call = owner;
    if (!call->metadata_came)
        return error_new(KITH_ERROR_PROTOCOL, "%s sent data before headers", grpc_call_peer(call));
    if (call->http_status != 200)
        return error_new(KITH_ERROR_PROTOCOL, "%s answered with HTTP status %u, not with gRPC", grpc_call_peer(call),
                         call->http_status);
    return grpc_call_on_data(owner, bytes, length);
}

static void on_ended(void *owner)
{
    struct grpc_call *call = owner;
    if (!call->finished)
        grpc_call_fail_locked(
            call, error_new(KITH_ERROR_PROTOCOL, "%s ended %s without a status", grpc_call_peer(call), call->path));
    call->ended = true;
    grpc_call_wake_locked(call);
}

static void on_closed(void *owner, kith_error *take_reason)
{
    struct grpc_call *call = owner;
    call->closed = true;
    if (take_reason == NULL && !call->finished)
        take_reason = error_new(KITH_ERROR_UNAVAILABLE, "%s broke %s off", grpc_call_peer(call), call->path);
    grpc_call_fail_locked(call, take_reason);
    call->ended = true;
    grpc_call_drop(call);
}

static const struct http2_stream_ops client_ops = {
    .headers = on_headers,
    .data = on_data,
    .ended = on_ended,
    .closed = on_closed,
};

static kith_error *request_headers(const struct grpc_channel *channel, const char *path, const struct headers *metadata,
                                   int64_t left_ns, struct headers *out)
{
    const char *authority = strncmp(channel->target, "unix:", 5) == 0 ? "localhost" : channel->target;
    TRY(headers_add_text(out, ":method", "POST"));
    TRY(headers_add_text(out, ":scheme", "http"));
    TRY(headers_add_text(out, ":path", path));
    TRY(headers_add_text(out, ":authority", authority));
    TRY(headers_add_text(out, "te", "trailers"));
    TRY(headers_add_text(out, "content-type", "application/grpc"));
    TRY(headers_add_text(out, "user-agent", "kith"));
    if (left_ns >= 0) {
        char timeout[16];
        grpc_timeout_write(left_ns, timeout);
        TRY(headers_add_text(out, "grpc-timeout", timeout));
    }
    return grpc_metadata_write(metadata, out);
}

/* *unusable says that the connection could not take the call: another may. */
static kith_error *start_on(struct http2_connection *connection, struct grpc_call *call, const struct headers *fields,
                            bool *unusable)
{
    /* The stream's reference to the call, which its `closed` drops, may be needed before the call below returns. */
    refcount_take(&call->refs);
    kith_error *error = http2_stream_open(connection, fields, &client_ops, call, &call->stream);
    if (error == NULL)
        return NULL;
    grpc_call_drop(call);
    *unusable = kith_error_code(error) == KITH_ERROR_UNAVAILABLE;
    return error;
}

kith_error *grpc_call_start(struct grpc_channel *channel, const char *path, const struct headers *metadata,
                            int64_t deadline_ns, struct grpc_call **out)
{
    _cleanup_(grpc_call_drop) struct grpc_call *call = NULL;
    TRY(grpc_call_new(path, strlen(path), &call));
    call->client = true;
    call->deadline_ns = deadline_ns;
    kith_error *error = NULL;
    bool unusable = true;
    /* A connection may turn out to be lost just when it is to be used; then a new one is made, once. */
    for (int attempt = 0; attempt < 2 && unusable; attempt++) {
        error_free(TAKE(error));
        _cleanup_(http2_connection_unref) struct http2_connection *connection = NULL;
        TRY(grpc_channel_connection(channel, deadline_ns, &connection));
        _cleanup_(headers_reset) struct headers fields = {0};
        int64_t left = deadline_ns < 0 ? -1 : MAX(deadline_ns - grpc_channel_now(channel), INT64_C(0));
        TRY(request_headers(channel, path, metadata, left, &fields));
        unusable = false;
        error = start_on(connection, call, &fields, &unusable);
    }
    TRY(error);
    call->channel = grpc_channel_ref(channel);
    *out = TAKE(call);
    return NULL;
}

kith_error *grpc_call_half_close(struct grpc_call *call)
{
    return http2_stream_end(call->stream, NULL);
}

void grpc_call_cancel(struct grpc_call *call)
{
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    if (call->closed)
        return;
    grpc_inbound_reset(&call->inbound);
    http2_stream_reset_locked(call->stream, HTTP2_CANCEL,
                              error_new(KITH_ERROR_CANCELLED, "the call of %s was cancelled", call->path));
}

void grpc_call_unref(struct grpc_call *call)
{
    if (call == NULL)
        return;
    grpc_call_cancel(call);
    struct grpc_channel *channel = TAKE(call->channel);
    grpc_call_drop(call);
    grpc_channel_unref(channel);
}

static kith_error *receive_one(struct grpc_call *call, struct buffer **out)
{
    _cleanup_(buffer_unref) struct buffer *message = NULL;
    _cleanup_(buffer_unref) struct buffer *second = NULL;
    TRY(grpc_call_recv(call, &message));
    if (message != NULL)
        TRY(grpc_call_recv(call, &second));
    if (message == NULL || second != NULL)
        return error_new(KITH_ERROR_PROTOCOL, "%s answered %s with %s message, expected one", grpc_call_peer(call),
                         call->path, message == NULL ? "no" : "more than one");
    *out = TAKE(message);
    return NULL;
}

kith_error *grpc_call_unary(struct grpc_channel *channel, const char *path, const struct headers *metadata,
                            int64_t deadline_ns, const struct slice *slices, size_t count, struct buffer **out)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    TRY(grpc_call_start(channel, path, metadata, deadline_ns, &call));
    TRY(grpc_call_send(call, slices, count));
    TRY(grpc_call_half_close(call));
    return receive_one(call, out);
}
