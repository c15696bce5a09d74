/*
 * The parts of a connection that http2.c (life of the connection), http2_session.c (nghttp2's callbacks) and
 * http2_stream.c (what streams' owners call) share. Everything is guarded by the connection's mutex unless it says
 * otherwise.
 */
#ifndef KITH_NET_HTTP2_INTERNAL_H
#define KITH_NET_HTTP2_INTERNAL_H

#include "base/refcount.h"
#include "net/http2.h"
#include "net/http2_output.h"
#include "runtime/fiber.h"
#include "runtime/mutex.h"

#include <nghttp2/nghttp2.h>

enum {
    HTTP2_INPUT_BYTES = 256 * 1024,
    /* Input is parsed in steps of this size, so that the mutex is never held for long. */
    HTTP2_INPUT_STEP = 64 * 1024,
    HTTP2_PEER_BYTES = TRANSPORT_PEER_BYTES + 32,
};

/* Bytes waiting to be sent. */
struct http2_segment {
    const uint8_t *data;
    size_t size;
    struct buffer *owner; /* a reference */
};

struct http2_stream {
    struct refcount refs;
    struct http2_connection *connection; /* a reference */
    int32_t id;
    struct http2_stream *previous; /* among the connection's open streams */
    struct http2_stream *next;
    bool closed;
    bool peer_ended;

    const struct http2_stream_ops *ops; /* NULL until attached */
    void *owner;
    struct headers incoming; /* the block that is being received */
    int64_t deadline_ns;

    /* Sending. */
    bool responded;  /* a response's (or request's) headers have been queued */
    bool send_ended; /* the owner sends no more */
    bool deferred;   /* nghttp2 does not ask for data until it is told that there is some */
    bool has_trailers;
    struct headers trailers;
    VEC(struct http2_segment) queue;
    size_t queue_head;
    size_t queued_bytes;
    size_t wake_at; /* a sender waits until no more than this is queued */
    struct wait_list senders;
};

struct http2_connection {
    struct refcount refs;
    struct transport *transport; /* until the end of http2_connection_run; used without the mutex by its fibers */
    struct http2_options options;
    const struct clock *clock;
    char peer[HTTP2_PEER_BYTES];

    pthread_mutex_t mutex;
    nghttp2_session *session;
    struct http2_stream *first_stream;
    size_t stream_count;
    struct wait_list writer;
    struct wait_list writer_end;
    bool writer_ended;
    bool peer_refuses; /* said GOAWAY: opens no more streams for us */
    bool draining;     /* we said it */
    bool stopping;     /* the connection ends for `reason` */
    kith_error *reason;
    kith_error *write_error;    /* why the writer gave up */
    kith_error *callback_error; /* why a callback made nghttp2 fail */
    char peer_complaint[128];   /* text of the peer's GOAWAY; for the error that follows */

    int64_t begun_ns;
    bool heard;             /* anything arrived */
    int64_t quiet_since_ns; /* last time that anything arrived, or the first stream was opened */
    bool pinged;            /* since then */
    int64_t nearest_deadline_ns;

    struct http2_output output;       /* the writer's, filled under the mutex, written without */
    uint8_t input[HTTP2_INPUT_BYTES]; /* the reader's own */
};

/* http2_session.c */

kith_error *http2_session_new(struct http2_connection *connection) _must_check_;

/* Fills the output with what is to be sent now. */
kith_error *http2_session_collect(struct http2_connection *connection) _must_check_;

/* Error for a negative result of nghttp2. */
kith_error *http2_session_error(struct http2_connection *connection, int result) _must_check_;

/* http2.c */

void http2_wake_writer(struct http2_connection *connection);

/* Notes why the connection ends, unless that is known, and makes the reader return. */
void http2_stop(struct http2_connection *connection, kith_error *take_reason);

/* What streams and callers are told once the connection is stopping. */
kith_error *http2_stop_reason(struct http2_connection *connection) _must_check_;

int64_t http2_now(const struct http2_connection *connection);

/* http2_stream.c */

kith_error *http2_stream_new(struct http2_connection *connection, struct http2_stream **out) _must_check_;

/* Joins the open streams; `id` is known. The list holds a reference. */
void http2_stream_enlist(struct http2_stream *stream);

/* Leaves the open streams and tells the owner. May free the stream. */
void http2_stream_close(struct http2_stream *stream, kith_error *take_reason);

/* Moves up to `size` queued bytes to the connection's output. */
void http2_stream_dequeue(struct http2_stream *stream, size_t size);

/* Bytes that the next frame of at most `limit` may hold. */
size_t http2_stream_frame_size(const struct http2_stream *stream, size_t limit);

/* Valid until the block changes; names and values are copied by nghttp2 when it takes them. */
kith_error *http2_fields_of(const struct headers *headers, nghttp2_nv **out) _must_check_;

#endif
