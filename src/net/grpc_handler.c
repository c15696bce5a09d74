#include "net/grpc_server.h"
#include "net/grpc_status.h"

/* ---- What the stream tells; the mutex is held. ---- */

static kith_error *on_headers(void *owner, struct headers *fields, bool end)
{
    struct grpc_call *call = owner;
    return end ? NULL
               : error_new(KITH_ERROR_PROTOCOL, "%s sent headers in the middle of %s", grpc_call_peer(call),
                           call->path);
}

/* A handler learns from its next receive what is wrong with the data, and its status tells the client. */
static kith_error *on_data(void *owner, const uint8_t *bytes, size_t length)
{
    struct grpc_call *call = owner;
    if (call->handler_ended || call->stopped || call->error != NULL)
        return NULL;
    kith_error *error = grpc_call_on_data(call, bytes, length);
    if (error == NULL)
        return NULL;
    cancel_token_cancel(call->cancel, error_copy(error));
    grpc_call_fail_locked(call, error);
    return NULL;
}

static void on_ended(void *owner)
{
    struct grpc_call *call = owner;
    call->ended = true;
    grpc_call_wake_locked(call);
}

/* The handler is to end, and its status will say why. One that has ended leaves what the client did not take. */
static void on_overdue(void *owner)
{
    struct grpc_call *call = owner;
    if (call->handler_ended) {
        http2_stream_reset_locked(call->stream, HTTP2_CANCEL, NULL);
        return;
    }
    call->late = true;
    /* Not TIMEOUT: the handler must not take it for one of its own waits'. */
    cancel_token_cancel(call->cancel, error_new(KITH_ERROR_CANCELLED, "the deadline that %s set for %s has passed",
                                                grpc_call_peer(call), call->path));
}

static void on_closed(void *owner, kith_error *take_reason)
{
    struct grpc_call *call = owner;
    call->closed = true;
    if (take_reason != NULL && !call->handler_ended)
        cancel_token_cancel(call->cancel, error_copy(take_reason));
    grpc_call_fail_locked(call, take_reason);
    call->ended = true;
    grpc_call_drop(call);
}

static const struct http2_stream_ops server_ops = {
    .headers = on_headers,
    .data = on_data,
    .ended = on_ended,
    .overdue = on_overdue,
    .closed = on_closed,
};

/* ---- A call comes ---- */

static kith_error *read_deadline(struct grpc_call *call, const struct headers *fields)
{
    struct str text;
    int64_t left;
    if (!headers_find(fields, "grpc-timeout", &text))
        return NULL;
    TRY(grpc_timeout_read(text, &left));
    int64_t now = clock_monotonic_ns(runtime_clock(call->home->server->runtime));
    if (__builtin_add_overflow(now, left, &call->deadline_ns))
        call->deadline_ns = INT64_MAX;
    http2_stream_set_deadline_locked(call->stream, call->deadline_ns);
    return NULL;
}

/* What is wrong with a request is kept in the call, whose status will say it. */
static kith_error *read_request(struct grpc_call *call, const struct headers *fields)
{
    struct str method;
    if (!headers_find(fields, ":method", &method) || !str_equal(method, str_of("POST")))
        return error_new(KITH_ERROR_PROTOCOL, "gRPC calls are made with POST");
    TRY(grpc_check_content(fields, grpc_call_peer(call)));
    TRY(grpc_metadata_read(fields, &call->metadata));
    call->method = grpc_server_find_method(call->home->server, str_of(call->path));
    if (call->method == NULL)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "this server has no method %s", call->path);
    call->inbound.message_limit = call->method->message_limit;
    return NULL;
}

kith_error *grpc_server_accept_call(void *context, struct http2_stream *stream, struct headers *fields, bool end)
{
    struct server_connection *connection = context;
    struct grpc_server *server = connection->server;
    /* Streams that were reset count until their handlers have noticed: opening and resetting gains nobody more. */
    if (connection->call_count >= server->http2.max_streams)
        return error_new(KITH_ERROR_LIMIT, "%s has more than %u calls in progress (limit HTTP2_STREAMS)",
                         http2_connection_peer(connection->http2), server->http2.max_streams);
    struct str path = {"", 0};
    headers_find(fields, ":path", &path);
    _cleanup_(grpc_call_drop) struct grpc_call *call = NULL;
    TRY(grpc_call_new(path.data, path.length, &call));
    TRY(cancel_token_new(server->calls, &call->cancel));
    call->home = connection;
    call->metadata_came = true;
    http2_stream_attach_locked(stream, &server_ops, call);
    call->stream = stream;
    refcount_take(&call->refs); /* the stream's */

    kith_error *error = read_request(call, fields);
    if (error == NULL)
        error = read_deadline(call, fields);
    grpc_call_fail_locked(call, error);
    connection->call_count++;
    atomic_fetch_add(&server->live_calls, 1);
    if (connection->fresh != NULL)
        connection->last_fresh->next_fresh = call;
    else
        connection->fresh = call;
    connection->last_fresh = TAKE(call);
    return NULL;
}

/* ---- Its handler ---- */

static kith_error *response_headers(const struct headers *metadata, struct headers *out)
{
    TRY(headers_add_text(out, ":status", "200"));
    TRY(headers_add_text(out, "content-type", "application/grpc"));
    TRY(headers_add_text(out, "grpc-accept-encoding", "identity"));
    return grpc_metadata_write(metadata, out);
}

kith_error *grpc_call_respond(struct grpc_call *call, const struct headers *metadata)
{
    if (call->responded)
        return NULL;
    _cleanup_(headers_reset) struct headers fields = {0};
    TRY(response_headers(metadata, &fields));
    TRY(http2_stream_respond(call->stream, &fields, false));
    call->responded = true;
    return NULL;
}

kith_error *grpc_call_send_metadata(struct grpc_call *call, const struct headers *metadata)
{
    return grpc_call_respond(call, metadata);
}

void grpc_call_stop_receiving(struct grpc_call *call)
{
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    call->stopped = true;
    grpc_call_wake_locked(call);
}

static kith_error *send_status(struct grpc_call *call, const kith_error *outcome)
{
    _cleanup_(headers_reset) struct headers fields = {0};
    if (call->responded) {
        TRY(grpc_status_write(outcome, &fields));
        return http2_stream_end(call->stream, &fields);
    }
    TRY(response_headers(NULL, &fields));
    TRY(grpc_status_write(outcome, &fields));
    return http2_stream_respond(call->stream, &fields, true);
}

static bool is_late(struct grpc_call *call)
{
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    return call->late;
}

/* Ends the call with the handler's outcome. A status that cannot be sent resets the stream. */
static void finish(struct grpc_call *call, kith_error *take_outcome)
{
    if (take_outcome != NULL && is_late(call)) {
        error_free(take_outcome);
        take_outcome = error_new(KITH_ERROR_TIMEOUT, "%s did not end before its deadline", call->path);
    }
    kith_error *error = send_status(call, take_outcome);
    error_free(take_outcome);
    if (error != NULL)
        http2_stream_reset(call->stream, HTTP2_INTERNAL_ERROR, error);

    struct server_connection *connection = call->home;
    atomic_fetch_sub(&connection->server->live_calls, 1);
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    /* Nobody takes what still comes. */
    grpc_inbound_reset(&call->inbound);
    call->handler_ended = true;
    connection->call_count--;
    if (call->fiber != NULL) {
        call->next_fresh = connection->finished;
        connection->finished = call;
    }
}

static kith_error *handle(void *argument)
{
    struct grpc_call *call = argument;
    finish(call, call->method->handler(call, call->method->context));
    return NULL;
}

static void enlist(struct server_connection *connection, struct grpc_call *call, struct fiber *fiber)
{
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    call->fiber = fiber;
    call->next = connection->calls;
    if (call->next != NULL)
        call->next->previous = call;
    connection->calls = call;
    if (call->handler_ended) {
        call->next_fresh = connection->finished;
        connection->finished = call;
    }
}

static void delist(struct server_connection *connection, struct grpc_call *call)
{
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    if (call->previous != NULL)
        call->previous->next = call->next;
    else
        connection->calls = call->next;
    if (call->next != NULL)
        call->next->previous = call->previous;
}

/* Why the call is refused, or was over before it began. */
static kith_error *refusal(struct grpc_call *call)
{
    HOLD_MUTEX(http2_stream_mutex(call->stream));
    return error_copy(call->error);
}

/* Gives the call a fiber, or ends it; the reference of `take_call` goes to the list of calls. */
static void start(struct server_connection *connection, struct grpc_call *take_call)
{
    struct grpc_call *call = take_call;
    kith_error *error = refusal(call);
    struct fiber *fiber = NULL;
    if (error == NULL) {
        struct fiber_options options = {.name = "grpc handler", .cancel = call->cancel};
        error = fiber_spawn(connection->server->runtime, &options, handle, call, &fiber);
    }
    if (error == NULL) {
        enlist(connection, call, fiber);
        return;
    }
    finish(call, error);
    grpc_call_drop(call);
}

struct settling {
    struct grpc_call *fresh;
    struct grpc_call *finished;
};

static struct settling take_lists(struct server_connection *connection)
{
    HOLD_MUTEX(http2_connection_mutex(connection->http2));
    return (struct settling){TAKE(connection->fresh), TAKE(connection->finished)};
}

static void join(struct server_connection *connection, struct grpc_call *call)
{
    error_free(fiber_join(call->fiber));
    delist(connection, call);
    grpc_call_drop(call);
}

void grpc_server_settle(void *context)
{
    struct server_connection *connection = context;
    struct settling lists = take_lists(connection);
    while (lists.fresh != NULL) {
        struct grpc_call *next = lists.fresh->next_fresh;
        start(connection, lists.fresh);
        lists.fresh = next;
    }
    while (lists.finished != NULL) {
        struct grpc_call *next = lists.finished->next_fresh;
        join(connection, lists.finished);
        lists.finished = next;
    }
}

static struct grpc_call *any_call(struct server_connection *connection)
{
    HOLD_MUTEX(http2_connection_mutex(connection->http2));
    connection->finished = NULL; /* they are among the calls as well */
    return connection->calls;
}

void grpc_server_join_calls(struct server_connection *connection)
{
    struct grpc_call *call;
    while ((call = any_call(connection)) != NULL)
        join(connection, call);
}
