#include "net/http2_internal.h"

kith_error *http2_stream_new(struct http2_connection *connection, struct http2_stream **out)
{
    struct http2_stream *stream = NULL;
    TRY(NEW(&stream));
    refcount_init(&stream->refs);
    stream->connection = http2_connection_ref(connection);
    stream->deadline_ns = WAIT_FOREVER;
    *out = stream;
    return NULL;
}

static void drop_queue(struct http2_stream *stream)
{
    for (size_t i = stream->queue_head; i < stream->queue.length; i++)
        buffer_unref(stream->queue.items[i].owner);
    vec_reset(&stream->queue);
    stream->queue_head = 0;
    stream->queued_bytes = 0;
}

void http2_stream_unref(struct http2_stream *stream)
{
    if (stream == NULL || !refcount_drop(&stream->refs))
        return;
    drop_queue(stream);
    headers_reset(&stream->incoming);
    headers_reset(&stream->trailers);
    http2_connection_unref(stream->connection);
    free(stream);
}

void http2_stream_enlist(struct http2_stream *stream)
{
    struct http2_connection *connection = stream->connection;
    refcount_take(&stream->refs);
    stream->next = connection->first_stream;
    if (stream->next != NULL)
        stream->next->previous = stream;
    connection->first_stream = stream;
    /* A connection that rested is judged by what happens from now on. */
    if (connection->stream_count++ == 0 && !connection->pinged)
        connection->quiet_since_ns = http2_now(connection);
}

static void delist(struct http2_stream *stream)
{
    struct http2_connection *connection = stream->connection;
    if (stream->previous != NULL)
        stream->previous->next = stream->next;
    else
        connection->first_stream = stream->next;
    if (stream->next != NULL)
        stream->next->previous = stream->previous;
    connection->stream_count--;
}

void http2_stream_close(struct http2_stream *stream, kith_error *take_reason)
{
    if (stream->closed) {
        error_free(take_reason);
        return;
    }
    stream->closed = true;
    delist(stream);
    if (stream->connection->session != NULL)
        nghttp2_session_set_stream_user_data(stream->connection->session, stream->id, NULL);
    drop_queue(stream);
    wait_list_wake_all(&stream->senders);
    if (stream->ops != NULL)
        stream->ops->closed(TAKE(stream->owner), take_reason);
    else
        error_free(take_reason);
    http2_stream_unref(stream);
}

void http2_stream_attach_locked(struct http2_stream *stream, const struct http2_stream_ops *ops, void *owner)
{
    refcount_take(&stream->refs);
    stream->ops = ops;
    stream->owner = owner;
}

void http2_stream_set_deadline_locked(struct http2_stream *stream, int64_t deadline_ns)
{
    struct http2_connection *connection = stream->connection;
    stream->deadline_ns = deadline_ns;
    if (connection->nearest_deadline_ns < 0 || deadline_ns < connection->nearest_deadline_ns)
        connection->nearest_deadline_ns = deadline_ns;
}

struct http2_connection *http2_stream_connection(const struct http2_stream *stream)
{
    return stream->connection;
}

pthread_mutex_t *http2_stream_mutex(struct http2_stream *stream)
{
    return &stream->connection->mutex;
}

kith_error *http2_fields_of(const struct headers *headers, nghttp2_nv **out)
{
    size_t count = headers->spans.length;
    nghttp2_nv *fields = NULL;
    TRY(NEW_ARRAY(&fields, count));
    for (size_t i = 0; i < count; i++) {
        struct str name = headers_name(headers, i);
        struct str value = headers_value(headers, i);
        fields[i] = (nghttp2_nv){
            .name = (uint8_t *)(uintptr_t)name.data,
            .value = (uint8_t *)(uintptr_t)value.data,
            .namelen = name.length,
            .valuelen = value.length,
            .flags = NGHTTP2_NV_FLAG_NONE,
        };
    }
    *out = fields;
    return NULL;
}

size_t http2_stream_frame_size(const struct http2_stream *stream, size_t limit)
{
    size_t size = 0;
    size_t end = MIN(stream->queue.length, stream->queue_head + HTTP2_FRAME_PIECES);
    for (size_t i = stream->queue_head; i < end && size < limit; i++)
        size += stream->queue.items[i].size;
    return MIN(size, limit);
}

void http2_stream_dequeue(struct http2_stream *stream, size_t size)
{
    struct http2_connection *connection = stream->connection;
    stream->queued_bytes -= size;
    while (size > 0) {
        struct http2_segment *segment = &stream->queue.items[stream->queue_head];
        size_t n = MIN(size, segment->size);
        http2_output_refer(&connection->output, segment->data, n, segment->owner);
        size -= n;
        segment->data += n;
        segment->size -= n;
        if (segment->size == 0) {
            buffer_unref(segment->owner);
            stream->queue_head++;
        }
    }
    if (stream->queue_head == stream->queue.length)
        stream->queue_head = stream->queue.length = 0;
    if (stream->queued_bytes <= stream->wake_at) {
        stream->wake_at = 0;
        wait_list_wake_all(&stream->senders);
    }
}

static bool submit_trailers(struct http2_stream *stream)
{
    _cleanup_free_ nghttp2_nv *fields = NULL;
    _cleanup_(error_free) kith_error *error = http2_fields_of(&stream->trailers, &fields);
    size_t count = stream->trailers.spans.length;
    return error == NULL && nghttp2_submit_trailer(stream->connection->session, stream->id, fields, count) == 0;
}

/* nghttp2 asks how much the stream's next data frame is to hold. */
static ssize_t read_data(nghttp2_session *session, int32_t id, uint8_t *buffer, size_t length, uint32_t *flags,
                         nghttp2_data_source *source, void *user_data)
{
    struct http2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    if (stream == NULL)
        return NGHTTP2_ERR_DEFERRED; /* closed here; its RST_STREAM is on the way */
    if (stream->queued_bytes == 0 && !stream->send_ended) {
        stream->deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    size_t size = http2_stream_frame_size(stream, length);
    if (size > 0)
        *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (!stream->send_ended || size < stream->queued_bytes)
        return (ssize_t)size;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!stream->has_trailers)
        return (ssize_t)size;
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    return submit_trailers(stream) ? (ssize_t)size : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

kith_error *http2_stream_open(struct http2_connection *connection, const struct headers *headers,
                              const struct http2_stream_ops *ops, void *owner, struct http2_stream **out)
{
    _cleanup_(http2_stream_unref) struct http2_stream *stream = NULL;
    TRY(http2_stream_new(connection, &stream));
    _cleanup_free_ nghttp2_nv *fields = NULL;
    TRY(http2_fields_of(headers, &fields));

    HOLD_MUTEX(&connection->mutex);
    if (connection->stopping)
        return http2_stop_reason(connection);
    if (connection->peer_refuses || connection->draining)
        return error_new(KITH_ERROR_UNAVAILABLE, "%s takes no more calls on this connection", connection->peer);
    nghttp2_data_provider provider = {.read_callback = read_data};
    int32_t id = nghttp2_submit_request(connection->session, NULL, fields, headers->spans.length, &provider, stream);
    if (id < 0)
        return http2_session_error(connection, id);
    stream->id = id;
    stream->ops = ops;
    stream->owner = owner;
    stream->responded = true;
    http2_stream_enlist(stream);
    http2_wake_writer(connection);
    *out = TAKE(stream);
    return NULL;
}

kith_error *http2_stream_respond(struct http2_stream *stream, const struct headers *headers, bool end)
{
    struct http2_connection *connection = stream->connection;
    _cleanup_free_ nghttp2_nv *fields = NULL;
    TRY(http2_fields_of(headers, &fields));
    HOLD_MUTEX(&connection->mutex);
    if (stream->closed || stream->responded)
        return NULL;
    nghttp2_data_provider provider = {.read_callback = read_data};
    int result =
        nghttp2_submit_response(connection->session, stream->id, fields, headers->spans.length, end ? NULL : &provider);
    if (result != 0)
        return http2_session_error(connection, result);
    stream->responded = true;
    stream->send_ended = end;
    http2_wake_writer(connection);
    return NULL;
}

/* There is something new for the stream's data source to say. */
static kith_error *resume(struct http2_stream *stream)
{
    if (stream->deferred) {
        stream->deferred = false;
        int result = nghttp2_session_resume_data(stream->connection->session, stream->id);
        if (nghttp2_is_fatal(result))
            return http2_session_error(stream->connection, result);
    }
    http2_wake_writer(stream->connection);
    return NULL;
}

/* Drops the segments that have been sent, when they are most of the array. */
static void compact(struct http2_stream *stream)
{
    if (stream->queue_head < 64 || stream->queue_head < stream->queue.length / 2)
        return;
    stream->queue.length -= stream->queue_head;
    memmove(stream->queue.items, stream->queue.items + stream->queue_head,
            stream->queue.length * sizeof *stream->queue.items);
    stream->queue_head = 0;
}

/* Queues the slices; those without owner lie one after the other in `copies`. */
static kith_error *enqueue(struct http2_stream *stream, const struct slice *slices, size_t count, struct buffer *copies)
{
    compact(stream);
    TRY(vec_reserve(&stream->queue, count));
    size_t copied = 0;
    for (size_t i = 0; i < count; i++) {
        if (slices[i].size == 0)
            continue;
        struct http2_segment segment = {slices[i].data, slices[i].size, slices[i].owner};
        if (segment.owner == NULL) {
            ASSERT(copies != NULL);
            segment.data = copies->data + copied;
            segment.owner = copies;
            copied += segment.size;
        }
        buffer_ref(segment.owner);
        stream->queue.items[stream->queue.length++] = segment;
        stream->queued_bytes += segment.size;
    }
    return resume(stream);
}

static kith_error *copy_unowned(const struct slice *slices, size_t count, struct buffer **out)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += slices[i].owner == NULL ? slices[i].size : 0;
    if (size == 0)
        return NULL;
    TRY(buffer_new(size, out));
    uint8_t *at = (*out)->data;
    for (size_t i = 0; i < count; i++) {
        if (slices[i].owner != NULL || slices[i].size == 0)
            continue;
        memcpy(at, slices[i].data, slices[i].size);
        at += slices[i].size;
    }
    return NULL;
}

kith_error *http2_stream_send(struct http2_stream *stream, const struct slice *slices, size_t count,
                              int64_t deadline_ns, bool *sent)
{
    struct http2_connection *connection = stream->connection;
    _cleanup_(buffer_unref) struct buffer *copies = NULL;
    TRY(copy_unowned(slices, count, &copies));
    size_t size = slices_size(slices, count);
    size_t limit = connection->options.send_queue_bytes;
    size_t admitted_at = size > limit ? 0 : limit - size;

    HOLD_MUTEX(&connection->mutex);
    while (!stream->closed && !stream->send_ended && stream->queued_bytes > admitted_at) {
        stream->wake_at = MAX(stream->wake_at, admitted_at);
        TRY(wait_list_wait(&stream->senders, &connection->mutex, deadline_ns));
    }
    *sent = !stream->closed && !stream->send_ended;
    return *sent ? enqueue(stream, slices, count, copies) : NULL;
}

kith_error *http2_stream_end(struct http2_stream *stream, const struct headers *trailers)
{
    HOLD_MUTEX(&stream->connection->mutex);
    if (stream->closed || stream->send_ended)
        return NULL;
    if (trailers != NULL) {
        TRY(headers_append(&stream->trailers, trailers));
        stream->has_trailers = true;
    }
    stream->send_ended = true;
    return resume(stream);
}

void http2_stream_reset_locked(struct http2_stream *stream, uint32_t http2_error, kith_error *take_reason)
{
    struct http2_connection *connection = stream->connection;
    if (!stream->closed && connection->session != NULL) {
        /* Out of memory here ends the connection, which closes the stream as well. */
        if (nghttp2_submit_rst_stream(connection->session, NGHTTP2_FLAG_NONE, stream->id, http2_error) != 0)
            http2_stop(connection, error_out_of_memory());
        http2_wake_writer(connection);
    }
    http2_stream_close(stream, take_reason);
}

void http2_stream_reset(struct http2_stream *stream, uint32_t http2_error, kith_error *take_reason)
{
    pthread_mutex_t *mutex = &stream->connection->mutex;
    HOLD_MUTEX(mutex);
    http2_stream_reset_locked(stream, http2_error, take_reason);
}

void http2_stream_consumed_locked(struct http2_stream *stream, size_t bytes)
{
    struct http2_connection *connection = stream->connection;
    if (stream->closed || bytes == 0)
        return;
    if (nghttp2_session_consume_stream(connection->session, stream->id, bytes) != 0)
        http2_stop(connection, error_out_of_memory());
    http2_wake_writer(connection);
}

size_t http2_stream_queued(struct http2_stream *stream)
{
    HOLD_MUTEX(&stream->connection->mutex);
    return stream->queued_bytes;
}
