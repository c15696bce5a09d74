#include "net/http2_internal.h"

#include "base/limits.h"

#include <stdio.h>

/* How long a client may take to say its first word. */
static const int64_t greeting_ns = 10 * NANOSECONDS_PER_SECOND;

/* How long the last frames of a connection may take to leave. */
static const int64_t farewell_ns = 200 * NANOSECONDS_PER_MILLISECOND;

static void set_defaults(struct http2_options *options)
{
    enum { KIB = 1024, MIB = 1024 * KIB, LEAST_FRAME = 16 * KIB };
    if (options->peer_noun == NULL)
        options->peer_noun = options->server ? "client" : "server";
    if (options->stream_window == 0)
        options->stream_window = MIB;
    if (options->connection_window == 0)
        options->connection_window = 16 * MIB;
    if (options->frame_bytes == 0)
        options->frame_bytes = 256 * KIB;
    options->frame_bytes = MAX(options->frame_bytes, (uint32_t)LEAST_FRAME);
    if (options->max_streams == 0)
        options->max_streams = LIMIT_HTTP2_STREAMS;
    if (options->send_queue_bytes == 0)
        options->send_queue_bytes = MIB;
}

static void connection_free(struct http2_connection *connection)
{
    ASSERT(connection->first_stream == NULL);
    http2_output_clear(&connection->output);
    nghttp2_session_del(connection->session);
    if (connection->transport != NULL)
        transport_free(connection->transport);
    error_free(connection->reason);
    error_free(connection->callback_error);
    error_free(connection->write_error);
    pthread_mutex_destroy(&connection->mutex);
    free(connection);
}

kith_error *http2_connection_new(struct transport *take_transport, const struct http2_options *options,
                                 struct http2_connection **out)
{
    struct runtime *runtime = runtime_current();
    _cleanup_(http2_connection_unref) struct http2_connection *connection = NULL;
    TRY(NEW(&connection));
    refcount_init(&connection->refs);
    pthread_mutex_init(&connection->mutex, NULL);
    connection->options = *options;
    set_defaults(&connection->options);
    connection->clock = runtime == NULL ? &system_clock : runtime_clock(runtime);
    connection->begun_ns = connection->quiet_since_ns = http2_now(connection);
    connection->nearest_deadline_ns = WAIT_FOREVER;
    snprintf(connection->peer, sizeof connection->peer, "%s %s", connection->options.peer_noun, take_transport->peer);
    TRY(http2_session_new(connection));
    connection->transport = take_transport;
    *out = TAKE(connection);
    return NULL;
}

struct http2_connection *http2_connection_ref(struct http2_connection *connection)
{
    refcount_take(&connection->refs);
    return connection;
}

void http2_connection_unref(struct http2_connection *connection)
{
    if (connection != NULL && refcount_drop(&connection->refs))
        connection_free(connection);
}

int64_t http2_now(const struct http2_connection *connection)
{
    return clock_monotonic_ns(connection->clock);
}

void http2_wake_writer(struct http2_connection *connection)
{
    if (connection->session != NULL && nghttp2_session_want_write(connection->session))
        wait_list_wake_one(&connection->writer);
}

void http2_stop(struct http2_connection *connection, kith_error *take_reason)
{
    if (connection->stopping) {
        error_free(take_reason);
        return;
    }
    connection->stopping = true;
    connection->reason = take_reason;
    if (connection->transport != NULL)
        transport_shutdown(connection->transport, TRANSPORT_READ);
}

kith_error *http2_stop_reason(struct http2_connection *connection)
{
    if (connection->reason != NULL)
        return error_copy(connection->reason);
    return error_new(KITH_ERROR_UNAVAILABLE, "the connection to %s was closed", connection->peer);
}

static void settle(struct http2_connection *connection)
{
    if (connection->options.settle != NULL)
        connection->options.settle(connection->options.context);
}

/* ---- The writer ---- */

/* Collects what there is to write; if that is nothing, waits until there may be something. */
static kith_error *collect_or_wait(struct http2_connection *connection, bool *over)
{
    HOLD_MUTEX(&connection->mutex);
    TRY(http2_session_collect(connection));
    *over = connection->output.bytes == 0 && connection->stopping;
    if (connection->output.bytes > 0 || *over)
        return NULL;
    return wait_list_wait(&connection->writer, &connection->mutex, WAIT_FOREVER);
}

/* *more is false when there is nothing to write and never will be. */
static kith_error *next_output(struct http2_connection *connection, bool *more)
{
    for (;;) {
        bool over;
        TRY(collect_or_wait(connection, &over));
        *more = connection->output.bytes > 0;
        if (*more || over)
            return NULL;
        /* Other urgent fibers come first, so that what they have to say leaves in the same write. */
        TRY(fiber_yield());
    }
}

static kith_error *write_loop(struct http2_connection *connection)
{
    for (;;) {
        bool more;
        TRY(next_output(connection, &more));
        if (!more)
            return NULL;
        struct http2_output *output = &connection->output;
        TRY(transport_write(connection->transport, output->pieces, output->piece_count, WAIT_FOREVER));
        http2_output_clear(output);
        settle(connection);
    }
}

static kith_error *writer_main(void *argument)
{
    struct http2_connection *connection = argument;
    fiber_make_urgent();
    kith_error *error = write_loop(connection);
    HOLD_MUTEX(&connection->mutex);
    if (error != NULL) {
        /* The reader ends the connection once it has taken what the peer said last, which may be why. */
        connection->write_error = error;
        transport_shutdown(connection->transport, TRANSPORT_READ);
    }
    connection->writer_ended = true;
    wait_list_wake_all(&connection->writer_end);
    return NULL;
}

/* ---- The reader ---- */

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
    if (a_ns < 0 || b_ns < 0)
        return MAX(a_ns, b_ns);
    return MIN(a_ns, b_ns);
}

/* When the reader must look up from waiting, or WAIT_FOREVER. */
static int64_t reader_deadline(struct http2_connection *connection)
{
    HOLD_MUTEX(&connection->mutex);
    int64_t keepalive = connection->options.keepalive_ns;
    int64_t quiet_end = WAIT_FOREVER;
    if (keepalive > 0)
        quiet_end = connection->quiet_since_ns + (connection->pinged ? keepalive : keepalive / 2);
    if (connection->options.server && !connection->heard)
        quiet_end = earlier(quiet_end, connection->begun_ns + greeting_ns);
    return earlier(quiet_end, connection->nearest_deadline_ns);
}

/* Tells the owners whose deadlines have passed. They may close their streams, but no others. */
static void tell_overdue(struct http2_connection *connection, int64_t now)
{
    if (connection->nearest_deadline_ns < 0 || now < connection->nearest_deadline_ns)
        return;
    connection->nearest_deadline_ns = WAIT_FOREVER;
    struct http2_stream *next = NULL;
    for (struct http2_stream *stream = connection->first_stream; stream != NULL; stream = next) {
        next = stream->next;
        if (stream->deadline_ns < 0)
            continue;
        if (stream->deadline_ns > now) {
            connection->nearest_deadline_ns = earlier(connection->nearest_deadline_ns, stream->deadline_ns);
            continue;
        }
        stream->deadline_ns = WAIT_FOREVER;
        stream->ops->overdue(stream->owner);
    }
}

/* Pings a peer that has been quiet for half the keepalive time, gives it up after the whole. */
static kith_error *judge_silence(struct http2_connection *connection, int64_t now)
{
    int64_t keepalive = connection->options.keepalive_ns;
    int64_t quiet = now - connection->quiet_since_ns;
    if (connection->options.server && !connection->heard && now - connection->begun_ns >= greeting_ns)
        return error_new(KITH_ERROR_UNAVAILABLE, "%s connected and said nothing", connection->peer);
    if (keepalive <= 0 || quiet < keepalive / 2)
        return NULL;
    if (connection->stream_count == 0 && !connection->pinged) {
        connection->quiet_since_ns = now; /* nobody waits for it */
        return NULL;
    }
    if (quiet >= keepalive && connection->pinged)
        return error_new(KITH_ERROR_UNAVAILABLE, "%s has not answered for %.1f s", connection->peer,
                         (double)keepalive / (double)NANOSECONDS_PER_SECOND);
    if (!connection->pinged) {
        connection->pinged = true;
        if (nghttp2_submit_ping(connection->session, NGHTTP2_FLAG_NONE, NULL) != 0)
            return error_out_of_memory();
        http2_wake_writer(connection);
    }
    return NULL;
}

static kith_error *on_reader_deadline(struct http2_connection *connection)
{
    HOLD_MUTEX(&connection->mutex);
    int64_t now = http2_now(connection);
    tell_overdue(connection, now);
    return judge_silence(connection, now);
}

/* *stopping says that the connection is to end, whatever else has arrived. */
static kith_error *parse_step(struct http2_connection *connection, const uint8_t *bytes, size_t size, bool *stopping)
{
    HOLD_MUTEX(&connection->mutex);
    connection->quiet_since_ns = http2_now(connection);
    connection->pinged = false;
    connection->heard = true;
    ssize_t n = nghttp2_session_mem_recv(connection->session, bytes, size);
    if (n < 0)
        return http2_session_error(connection, (int)n);
    tell_overdue(connection, connection->quiet_since_ns);
    http2_wake_writer(connection);
    /* A server that said GOAWAY has no more use for a client without calls. */
    bool done = !connection->options.server && connection->peer_refuses && connection->stream_count == 0;
    *stopping = connection->stopping || done;
    return NULL;
}

static kith_error *peer_left(struct http2_connection *connection)
{
    HOLD_MUTEX(&connection->mutex);
    if (connection->stopping || connection->stream_count == 0)
        return NULL;
    if (connection->write_error != NULL)
        return TAKE(connection->write_error);
    if (connection->peer_complaint[0] != '\0')
        return error_new(KITH_ERROR_UNAVAILABLE, "%s closed the connection: %s", connection->peer,
                         connection->peer_complaint);
    return error_new(KITH_ERROR_UNAVAILABLE, "%s closed the connection", connection->peer);
}

static kith_error *read_loop(struct http2_connection *connection)
{
    for (;;) {
        size_t got;
        kith_error *error = transport_read(connection->transport, connection->input, sizeof connection->input,
                                           reader_deadline(connection), &got);
        if (error != NULL && kith_error_code(error) == KITH_ERROR_TIMEOUT) {
            error_free(error);
            TRY(on_reader_deadline(connection));
            settle(connection);
            continue;
        }
        TRY(error);
        if (got == 0)
            return peer_left(connection);
        bool stopping = false;
        for (size_t at = 0; at < got && !stopping; at += HTTP2_INPUT_STEP)
            TRY(parse_step(connection, connection->input + at, MIN(got - at, (size_t)HTTP2_INPUT_STEP), &stopping));
        settle(connection);
        if (stopping)
            return NULL;
    }
}

/* ---- The connection's end ---- */

static void close_streams(struct http2_connection *connection)
{
    while (connection->first_stream != NULL)
        http2_stream_close(connection->first_stream, http2_stop_reason(connection));
}

/* Tells all streams, and gives the writer a moment to say goodbye. */
static void wind_up(struct http2_connection *connection, kith_error *take_reason, bool has_writer)
{
    HOLD_MUTEX(&connection->mutex);
    bool broken = take_reason != NULL && kith_error_code(take_reason) == KITH_ERROR_PROTOCOL;
    http2_stop(connection, take_reason);
    close_streams(connection);
    nghttp2_session_terminate_session(connection->session, broken ? NGHTTP2_PROTOCOL_ERROR : NGHTTP2_NO_ERROR);
    wait_list_wake_one(&connection->writer);
    int64_t deadline = http2_now(connection) + farewell_ns;
    kith_error *error = NULL;
    while (has_writer && !connection->writer_ended && error == NULL)
        error = wait_list_wait(&connection->writer_end, &connection->mutex, deadline);
    error_free(error);
}

/* After this nothing is left but memory. */
static kith_error *tear_down(struct http2_connection *connection)
{
    HOLD_MUTEX(&connection->mutex);
    nghttp2_session_del(connection->session);
    connection->session = NULL;
    http2_output_clear(&connection->output);
    transport_free(TAKE(connection->transport));
    return error_copy(connection->reason);
}

kith_error *http2_connection_run(struct http2_connection *connection)
{
    struct fiber *writer = NULL;
    struct fiber_options options = {.name = "http2 writer"};
    fiber_make_urgent();
    kith_error *error = fiber_spawn(runtime_current(), &options, writer_main, connection, &writer);
    if (error == NULL)
        error = read_loop(connection);
    wind_up(connection, error, writer != NULL);
    transport_shutdown(connection->transport, TRANSPORT_BOTH);
    if (writer != NULL)
        error_free(fiber_join(writer));
    kith_error *reason = tear_down(connection);
    settle(connection);
    return reason;
}

void http2_connection_shutdown(struct http2_connection *connection, kith_error *take_reason)
{
    HOLD_MUTEX(&connection->mutex);
    http2_stop(connection, take_reason);
}

void http2_connection_drain(struct http2_connection *connection)
{
    HOLD_MUTEX(&connection->mutex);
    if (connection->stopping || connection->draining)
        return;
    connection->draining = true;
    int32_t last = nghttp2_session_get_last_proc_stream_id(connection->session);
    if (nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, NULL, 0) != 0)
        http2_stop(connection, error_out_of_memory());
    http2_wake_writer(connection);
}

bool http2_connection_usable(struct http2_connection *connection)
{
    HOLD_MUTEX(&connection->mutex);
    return !connection->stopping && !connection->peer_refuses && !connection->draining;
}

size_t http2_connection_streams(struct http2_connection *connection)
{
    HOLD_MUTEX(&connection->mutex);
    return connection->stream_count;
}

pthread_mutex_t *http2_connection_mutex(struct http2_connection *connection)
{
    return &connection->mutex;
}

const char *http2_connection_peer(const struct http2_connection *connection)
{
    return connection->peer;
}
