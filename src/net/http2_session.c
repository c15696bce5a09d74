#include "net/http2_internal.h"

#include "base/limits.h"

#include <stdio.h>

/* Resets that a client may send: a query that has its LIMIT cancels its tasks' calls, so many are in order; an attack
 * by "rapid reset" needs a hundred times more. */
enum { RESET_BURST = 1000, RESETS_PER_SECOND = 1000 };

/* Says why nghttp2 is made to fail, for http2_session_error. */
static int fail_callback(struct http2_connection *connection, kith_error *take_error)
{
    error_free(connection->callback_error);
    connection->callback_error = take_error;
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

kith_error *http2_session_error(struct http2_connection *connection, int result)
{
    if (connection->callback_error != NULL)
        return TAKE(connection->callback_error);
    switch (result) {
    case NGHTTP2_ERR_NOMEM:
        return error_out_of_memory();
    case NGHTTP2_ERR_BAD_CLIENT_MAGIC:
        return error_new(KITH_ERROR_PROTOCOL, "%s does not speak HTTP/2", connection->peer);
    case NGHTTP2_ERR_FLOODED:
        return error_new(KITH_ERROR_PROTOCOL, "%s floods this side with requests for acknowledgement",
                         connection->peer);
    default:
        return error_new(KITH_ERROR_PROTOCOL, "%s and HTTP/2: %s", connection->peer, nghttp2_strerror(result));
    }
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
    struct http2_connection *connection = user_data;
    if (!connection->options.server || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    if (connection->stopping)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    _cleanup_(http2_stream_unref) struct http2_stream *stream = NULL;
    kith_error *error = http2_stream_new(connection, &stream);
    if (error != NULL)
        return fail_callback(connection, error);
    stream->id = frame->hd.stream_id;
    nghttp2_session_set_stream_user_data(session, stream->id, stream);
    http2_stream_enlist(stream);
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                     const uint8_t *value, size_t value_length, uint8_t flags, void *user_data)
{
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (stream == NULL)
        return 0;
    kith_error *error = headers_add(&stream->incoming, (struct str){(const char *)name, name_length},
                                    (struct str){(const char *)value, value_length});
    if (error == NULL)
        return 0;
    http2_stream_reset_locked(stream, HTTP2_ENHANCE_YOUR_CALM,
                              error_wrap(error, "%s sent too large headers", stream->connection->peer));
    return 0;
}

static void peer_ended(struct http2_stream *stream)
{
    if (stream->closed || stream->peer_ended)
        return;
    stream->peer_ended = true;
    stream->ops->ended(stream->owner);
}

static int headers_complete(struct http2_connection *connection, struct http2_stream *stream, bool end)
{
    _cleanup_(headers_reset) struct headers headers = stream->incoming;
    stream->incoming = (struct headers){0};
    kith_error *error = NULL;
    if (stream->ops == NULL) {
        error = connection->options.accept(connection->options.context, stream, &headers, end);
        ASSERT(error != NULL || stream->ops != NULL);
    } else {
        error = stream->ops->headers(stream->owner, &headers, end);
    }
    if (error != NULL) {
        bool refused = kith_error_code(error) == KITH_ERROR_LIMIT;
        http2_stream_reset_locked(stream, refused ? HTTP2_REFUSED_STREAM : HTTP2_PROTOCOL_ERROR, error);
    } else if (end) {
        peer_ended(stream);
    }
    return 0;
}

static void note_goaway(struct http2_connection *connection, const nghttp2_goaway *goaway)
{
    connection->peer_refuses = true;
    int length = (int)MIN(goaway->opaque_data_len, sizeof connection->peer_complaint - 1);
    if (goaway->error_code != NGHTTP2_NO_ERROR)
        snprintf(connection->peer_complaint, sizeof connection->peer_complaint, "%s %.*s",
                 nghttp2_http2_strerror(goaway->error_code), length, (const char *)goaway->opaque_data);
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
    struct http2_connection *connection = user_data;
    if (frame->hd.type == NGHTTP2_GOAWAY)
        note_goaway(connection, &frame->goaway);
    struct http2_stream *stream =
        frame->hd.stream_id == 0 ? NULL : nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (stream == NULL)
        return 0;
    bool end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type == NGHTTP2_HEADERS)
        return headers_complete(connection, stream, end);
    if (frame->hd.type == NGHTTP2_DATA && end)
        peer_ended(stream);
    return 0;
}

static int on_data_chunk_recv(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t length,
                              void *user_data)
{
    struct http2_connection *connection = user_data;
    /* The connection's credit goes back at once: only the stream's own holds its sender back. */
    if (nghttp2_session_consume_connection(session, length) != 0)
        return fail_callback(connection, error_out_of_memory());
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    if (stream == NULL || stream->ops == NULL)
        return 0;
    kith_error *error = stream->ops->data(stream->owner, data, length);
    if (error != NULL)
        http2_stream_reset_locked(stream, HTTP2_CANCEL, error);
    return 0;
}

/* Why the peer, or nghttp2 on its behalf, closed a stream; NULL for an ordinary end. */
static kith_error *close_reason(const struct http2_stream *stream, uint32_t error_code)
{
    const char *peer = stream->connection->peer;
    switch (error_code) {
    case NGHTTP2_NO_ERROR:
        /* A server may answer in full and then refuse the rest of the request (RFC 9113, 8.1). */
        return stream->peer_ended ? NULL : error_new(KITH_ERROR_UNAVAILABLE, "%s broke the call off", peer);
    case NGHTTP2_CANCEL:
        return error_new(KITH_ERROR_CANCELLED, "%s cancelled the call", peer);
    case NGHTTP2_REFUSED_STREAM:
        return error_new(KITH_ERROR_UNAVAILABLE, "%s refused the call", peer);
    case NGHTTP2_ENHANCE_YOUR_CALM:
        return error_new(KITH_ERROR_LIMIT, "%s refused the call: it exceeds one of its limits", peer);
    case NGHTTP2_INTERNAL_ERROR:
        return error_new(KITH_ERROR_INTERNAL, "%s failed in the call (HTTP/2 INTERNAL_ERROR)", peer);
    default:
        return error_new(KITH_ERROR_PROTOCOL, "the call with %s failed: HTTP/2 %s", peer,
                         nghttp2_http2_strerror(error_code));
    }
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error_code, void *user_data)
{
    struct http2_connection *connection = user_data;
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    /* When the connection is ending, its streams are about to be told why, which is more than is known here. */
    if (stream != NULL && !connection->stopping)
        http2_stream_close(stream, close_reason(stream, error_code));
    return 0;
}

/* A header block that cannot be sent (larger than nghttp2 takes, say) fails its stream. */
static int on_frame_not_send(nghttp2_session *session, const nghttp2_frame *frame, int error_code, void *user_data)
{
    struct http2_connection *connection = user_data;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->hd.stream_id == 0 || connection->stopping)
        return 0;
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (stream == NULL)
        return 0;
    bool going_away = error_code == NGHTTP2_ERR_START_STREAM_NOT_ALLOWED;
    kith_error *reason = going_away ? error_new(KITH_ERROR_UNAVAILABLE, "%s takes no more calls", connection->peer)
                                    : error_new(KITH_ERROR_LIMIT, "headers for %s cannot be sent: %s", connection->peer,
                                                nghttp2_strerror(error_code));
    http2_stream_reset_locked(stream, HTTP2_INTERNAL_ERROR, reason);
    return 0;
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
    struct http2_connection *connection = user_data;
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR) {
        int length = (int)MIN(frame->goaway.opaque_data_len, (size_t)200);
        http2_stop(connection, error_new(KITH_ERROR_PROTOCOL, "%s broke the HTTP/2 protocol: %s%s%.*s",
                                         connection->peer, nghttp2_http2_strerror(frame->goaway.error_code),
                                         length == 0 ? "" : ": ", length, (const char *)frame->goaway.opaque_data));
        return 0;
    }
    /* A server that has answered wants no more of the request; without this the stream would stay half open. */
    bool ends = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (ends && connection->options.server &&
        nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id) == 0)
        return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR) == 0
                   ? 0
                   : fail_callback(connection, error_out_of_memory());
    return 0;
}

static int send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *frame_header, size_t length,
                     nghttp2_data_source *source, void *user_data)
{
    enum { FRAME_HEADER_BYTES = 9 };
    struct http2_connection *connection = user_data;
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (stream == NULL)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    http2_output_copy(&connection->output, frame_header, FRAME_HEADER_BYTES);
    http2_stream_dequeue(stream, length);
    return http2_output_is_full(&connection->output) ? NGHTTP2_ERR_PAUSE : 0;
}

static ssize_t frame_length(nghttp2_session *session, uint8_t frame_type, int32_t id, int32_t connection_window,
                            int32_t stream_window, uint32_t max_frame_size, void *user_data)
{
    return MIN(max_frame_size, (uint32_t)HTTP2_OUTPUT_BYTES);
}

kith_error *http2_session_collect(struct http2_connection *connection)
{
    struct http2_output *output = &connection->output;
    while (!http2_output_is_full(output)) {
        const uint8_t *bytes;
        ssize_t n = nghttp2_session_mem_send(connection->session, &bytes);
        if (n < 0)
            return http2_session_error(connection, (int)n);
        if (n == 0)
            return NULL; /* nothing more, or send_data found the output full */
        http2_output_copy(output, bytes, (size_t)n);
    }
    return NULL;
}

static kith_error *submit_settings(struct http2_connection *connection)
{
    const struct http2_options *options = &connection->options;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options->stream_window},
        {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, options->frame_bytes},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, LIMIT_GRPC_HEADER_BYTES},
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options->server ? options->max_streams : 0},
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
    };
    size_t count = options->server ? ARRAY_SIZE(settings) - 1 : ARRAY_SIZE(settings);
    if (nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, count) != 0 ||
        nghttp2_session_set_local_window_size(connection->session, NGHTTP2_FLAG_NONE, 0,
                                              (int32_t)options->connection_window) != 0)
        return error_out_of_memory();
    return NULL;
}

static void set_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk_recv);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_frame_not_send);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, send_data);
    nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, frame_length);
}

kith_error *http2_session_new(struct http2_connection *connection)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    int result = nghttp2_session_callbacks_new(&callbacks);
    if (result == 0)
        result = nghttp2_option_new(&option);
    if (result == 0) {
        set_callbacks(callbacks);
        nghttp2_option_set_no_auto_window_update(option, 1);
        /* Ended streams are of no use here: nothing depends on them. */
        nghttp2_option_set_no_closed_streams(option, 1);
        nghttp2_option_set_stream_reset_rate_limit(option, RESET_BURST, RESETS_PER_SECOND);
        result = connection->options.server
                     ? nghttp2_session_server_new2(&connection->session, callbacks, connection, option)
                     : nghttp2_session_client_new2(&connection->session, callbacks, connection, option);
    }
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    return result == 0 ? submit_settings(connection) : error_out_of_memory();
}
