#include "net/grpc_channel.h"

kith_error *grpc_call_new(const char *path, size_t path_length, struct grpc_call **out)
{
    _cleanup_(grpc_call_drop) struct grpc_call *call = NULL;
    TRY(NEW(&call));
    refcount_init(&call->refs);
    call->deadline_ns = WAIT_FOREVER;
    TRY(alloc_string(path, path_length, &call->path));
    *out = TAKE(call);
    return NULL;
}

void grpc_call_drop(struct grpc_call *call)
{
    if (!refcount_drop(&call->refs))
        return;
    grpc_inbound_reset(&call->inbound);
    headers_reset(&call->metadata);
    error_free(call->error);
    cancel_token_unref(call->cancel);
    if (call->stream != NULL)
        http2_stream_unref(call->stream);
    free(call->path);
    free(call);
}

const char *grpc_call_peer(const struct grpc_call *call)
{
    return http2_connection_peer(http2_stream_connection(call->stream));
}

void grpc_call_wake_locked(struct grpc_call *call)
{
    wait_list_wake_all(&call->receivers);
}

void grpc_call_fail_locked(struct grpc_call *call, kith_error *take_error)
{
    if (call->error == NULL && !call->finished)
        call->error = TAKE(take_error);
    error_free(take_error);
    grpc_call_wake_locked(call);
}

kith_error *grpc_call_on_data(void *owner, const uint8_t *bytes, size_t length)
{
    struct grpc_call *call = owner;
    size_t ready_before = call->inbound.ready;
    kith_error *error = grpc_inbound_feed(&call->inbound, bytes, length);
    if (error != NULL)
        return error_wrap(error, "message from %s in %s", grpc_call_peer(call), call->path);
    if (call->inbound.ready > ready_before)
        grpc_call_wake_locked(call);
    if (call->receiving > 0 && call->inbound.ready == 0)
        http2_stream_consumed_locked(call->stream, grpc_inbound_advance_credit(&call->inbound));
    return NULL;
}

kith_error *grpc_call_wait_failed(struct grpc_call *call, kith_error *take_error)
{
    /* A fiber may also have been cancelled for a timeout, of its query, say. */
    bool late_call = call->client && call->deadline_ns >= 0 && grpc_channel_now(call->channel) >= call->deadline_ns;
    if (take_error == NULL || kith_error_code(take_error) != KITH_ERROR_TIMEOUT || !late_call)
        return take_error;
    error_free(take_error);
    kith_error *late =
        error_new(KITH_ERROR_TIMEOUT, "%s did not finish %s before the deadline", grpc_call_peer(call), call->path);
    kith_error *told = error_copy(late);
    http2_stream_reset_locked(call->stream, HTTP2_CANCEL, late);
    return told;
}

/* Suspends until something about the call changes. */
static kith_error *wait_for_news(struct grpc_call *call)
{
    pthread_mutex_t *mutex = http2_stream_mutex(call->stream);
    int64_t deadline = call->client ? call->deadline_ns : WAIT_FOREVER;
    return grpc_call_wait_failed(call, wait_list_wait(&call->receivers, mutex, deadline));
}

static kith_error *wait_for_message(struct grpc_call *call)
{
    call->receiving++;
    http2_stream_consumed_locked(call->stream, grpc_inbound_advance_credit(&call->inbound));
    kith_error *error = wait_for_news(call);
    call->receiving--;
    return error;
}

static kith_error *ended_in_message(struct grpc_call *call)
{
    return error_new(KITH_ERROR_PROTOCOL, "%s ended %s in the middle of a message", grpc_call_peer(call), call->path);
}

kith_error *grpc_call_recv(struct grpc_call *call, struct buffer **out)
{
    *out = NULL;
    TRY(coop_charge(1));
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    for (;;) {
        if (call->stopped)
            return NULL;
        if (call->inbound.ready > 0) {
            size_t credit;
            TRY(grpc_inbound_take(&call->inbound, out, &credit));
            http2_stream_consumed_locked(call->stream, credit);
            return NULL;
        }
        if (call->error != NULL)
            return error_copy(call->error);
        if (call->ended)
            return grpc_inbound_is_partial(&call->inbound) ? ended_in_message(call) : NULL;
        TRY(wait_for_message(call));
    }
}

kith_error *grpc_call_metadata(struct grpc_call *call, const struct headers **out)
{
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    while (!call->metadata_came) {
        if (call->error != NULL)
            return error_copy(call->error);
        TRY(wait_for_news(call));
    }
    *out = &call->metadata;
    return NULL;
}

/* The peer takes no more messages: with its error if it has one. */
static kith_error *peer_wants_no_more(struct grpc_call *call)
{
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    return error_copy(call->error);
}

static kith_error *send_failed(struct grpc_call *call, kith_error *take_error)
{
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    return grpc_call_wait_failed(call, take_error);
}

kith_error *grpc_call_send(struct grpc_call *call, const struct slice *slices, size_t count)
{
    enum { INLINE_SLICES = 32 };
    /* No charge, upon which the connection's writer would take what is there: what is said in one turn leaves in one
     * piece. Whoever sends a lot has charged for coming by it, and waits once the queue is full. */
    TRY(cancel_token_check(fiber_cancel_token()));
    size_t size = slices_size(slices, count);
    if (size > UINT32_MAX)
        return error_new(KITH_ERROR_LIMIT, "a gRPC message of %zu bytes is longer than its length field can say", size);
    if (!call->client)
        TRY(grpc_call_respond(call, NULL));

    uint8_t prefix[GRPC_PREFIX_BYTES] = {0, (uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8),
                                         (uint8_t)size};
    struct slice few[INLINE_SLICES];
    _cleanup_free_ struct slice *many = NULL;
    struct slice *framed = few;
    if (count + 1 > INLINE_SLICES) {
        TRY(NEW_ARRAY(&many, count + 1));
        framed = many;
    }
    framed[0] = slice_of_bytes(prefix, sizeof prefix);
    if (count > 0)
        memcpy(framed + 1, slices, count * sizeof *slices);

    bool sent;
    int64_t deadline = call->client ? call->deadline_ns : WAIT_FOREVER;
    kith_error *error = http2_stream_send(call->stream, framed, count + 1, deadline, &sent);
    if (error != NULL)
        return send_failed(call, error);
    return sent ? NULL : peer_wants_no_more(call);
}

size_t grpc_call_queued_send(struct grpc_call *call)
{
    return http2_stream_queued(call->stream);
}

size_t grpc_call_queued_recv(struct grpc_call *call)
{
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    return call->inbound.held;
}
