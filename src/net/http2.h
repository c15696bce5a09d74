/*
 * HTTP/2 connections over a transport (RFC 9113; framing and header compression by nghttp2, which does no I/O). Two
 * fibers serve a connection: one reads, one writes, and the writer gathers what all streams have to say into large
 * writes without copying their data.
 *
 * Flow control belongs to the consumers. Connection credit goes back as data arrives, so that a stream nobody
 * drains cannot starve the others; stream credit goes back only as the stream's owner says that it has taken bytes. So
 * a connection holds at most its streams' windows in memory. Sending suspends while a stream's queue is full, which it
 * stays while the peer gives no credit.
 *
 * A peer that closes, breaks the protocol, or from which nothing arrives for the keepalive time (it is pinged after
 * half of that, while streams are open) ends the connection, and every stream is told at once, with UNAVAILABLE or
 * PROTOCOL naming the peer.
 *
 * A stream's owner is called back (struct http2_stream_ops) with the connection's mutex held, and must not wait, nor
 * call a function of this header whose name does not end in `_locked`. All other functions are thread-safe.
 */
#ifndef KITH_NET_HTTP2_H
#define KITH_NET_HTTP2_H

#include "net/headers.h"
#include "net/slice.h"
#include "net/transport.h"
#include "runtime/sync.h"

#include <pthread.h>

struct http2_connection;
struct http2_stream;

struct http2_stream_ops {
    /* A whole block of headers or trailers came; `end` when nothing follows it. May move `headers` out. An error
     * resets the stream and is given to `closed`. */
    kith_error *(*headers)(void *owner, struct headers *headers, bool end);
    /* An error resets the stream, as above. What is taken must be given back by http2_stream_consumed_locked. */
    kith_error *(*data)(void *owner, const uint8_t *bytes, size_t length);
    /* The peer will send no more. Called once, after the last `headers` or `data`. */
    void (*ended)(void *owner);
    /* The stream's deadline has passed. Only called where one was set. */
    void (*overdue)(void *owner);
    /* The last call. NULL when both sides have ended in order. */
    void (*closed)(void *owner, kith_error *take_reason);
};

struct http2_options {
    bool server;
    const char *peer_noun; /* a literal before the peer's address in messages: "worker" */
    /* Bytes that a peer may send ahead of the consumer; 0 = 1 MiB. Loopback and local networks gain nothing from more,
     * and a small message waits behind what is under way: bench/grpc_stream shows both. */
    uint32_t stream_window;
    uint32_t connection_window; /* 0 = 16 MiB */
    uint32_t frame_bytes;       /* largest frame to receive; 0 = 256 KiB; at least 16384 */
    uint32_t max_streams;       /* that the peer may have open; 0 = LIMIT_HTTP2_STREAMS */
    size_t send_queue_bytes;    /* of one stream; 0 = 1 MiB */
    int64_t keepalive_ns;       /* 0 = never ping, never give up */

    /* Server: a request's headers are complete. Must attach an owner (http2_stream_attach_locked), or fail, which
     * resets the stream (LIMIT: as refused). Called with the mutex held. */
    kith_error *(*accept)(void *context, struct http2_stream *stream, struct headers *headers, bool end);
    /* Called from the connection's fibers without the mutex, after every batch of work: the place for what `accept`
     * and stream callbacks may not do themselves. May be NULL. */
    void (*settle)(void *context);
    void *context; /* must outlive http2_connection_run */
};

/* On error the caller keeps the transport. Reference-counted. */
kith_error *http2_connection_new(struct transport *take_transport, const struct http2_options *options,
                                 struct http2_connection **out) _must_check_;
struct http2_connection *http2_connection_ref(struct http2_connection *connection);
void http2_connection_unref(struct http2_connection *connection);
DEFINE_CLEANUP(http2_connection_unref, struct http2_connection)

/* Serves the connection in the calling fiber (and one more, which it joins) until it is over. Every stream has been
 * closed on return. The error is why it ended; NULL after http2_connection_shutdown without a reason, or when the peer
 * left while no stream was open. Call once. */
kith_error *http2_connection_run(struct http2_connection *connection) _must_check_;

/* Ends the connection from anywhere: streams are closed with `take_reason` (NULL: "was closed"), the peer is sent
 * GOAWAY if it takes it soon, and http2_connection_run returns. */
void http2_connection_shutdown(struct http2_connection *connection, kith_error *take_reason);

/* Tells the peer to open no more streams; those that are open go on. */
void http2_connection_drain(struct http2_connection *connection);

/* Whether a new stream may be opened: false when over, or either side has said GOAWAY. */
bool http2_connection_usable(struct http2_connection *connection);

/* Streams that are open now. */
size_t http2_connection_streams(struct http2_connection *connection);

/* Guards the connection and the state of all its streams' owners. Hold it for a few instructions only. */
pthread_mutex_t *http2_connection_mutex(struct http2_connection *connection);

/* "worker 127.0.0.1:50051", for messages; lives as long as the connection. */
const char *http2_connection_peer(const struct http2_connection *connection);

/* Client: sends a request's headers. `ops` and `owner` must outlive the call of `closed`. *out is one reference, and is
 * set before the first callback. */
kith_error *http2_stream_open(struct http2_connection *connection, const struct headers *headers,
                              const struct http2_stream_ops *ops, void *owner, struct http2_stream **out) _must_check_;

/* Server, in `accept`: names the owner; it gets one reference. */
void http2_stream_attach_locked(struct http2_stream *stream, const struct http2_stream_ops *ops, void *owner);

/* Server: `overdue` is called at `deadline_ns`, once, unless the stream is closed before. In `accept` only. */
void http2_stream_set_deadline_locked(struct http2_stream *stream, int64_t deadline_ns);

void http2_stream_unref(struct http2_stream *stream);
DEFINE_CLEANUP(http2_stream_unref, struct http2_stream)

struct http2_connection *http2_stream_connection(const struct http2_stream *stream);

/* Its connection's. */
pthread_mutex_t *http2_stream_mutex(struct http2_stream *stream);

/* Server: queues the response's headers; with `end`, the stream ends with them. */
kith_error *http2_stream_respond(struct http2_stream *stream, const struct headers *headers, bool end) _must_check_;

/* Queues data, suspending while the queue is full (one message is always admitted to an empty queue). Slices without
 * owner are copied. *sent is false when the stream was closed or this side has ended it, then nothing was taken.
 * TIMEOUT and CANCELLED likewise take nothing. */
kith_error *http2_stream_send(struct http2_stream *stream, const struct slice *slices, size_t count,
                              int64_t deadline_ns, bool *sent) _must_check_;

/* Ends this side after what is queued; trailers may be NULL. Does nothing when closed or ended already. */
kith_error *http2_stream_end(struct http2_stream *stream, const struct headers *trailers) _must_check_;

/* Closes the stream at once with `take_reason`; the peer sees RST_STREAM with `http2_error`. */
void http2_stream_reset(struct http2_stream *stream, uint32_t http2_error, kith_error *take_reason);
void http2_stream_reset_locked(struct http2_stream *stream, uint32_t http2_error, kith_error *take_reason);

/* The owner has taken `bytes` of what `data` gave it: the peer may send as many more. */
void http2_stream_consumed_locked(struct http2_stream *stream, size_t bytes);

/* Bytes queued for sending; for tests and metrics. */
size_t http2_stream_queued(struct http2_stream *stream);

/* Error codes of RFC 9113, section 7, that owners use. */
enum http2_error {
    HTTP2_NO_ERROR = 0x0,
    HTTP2_PROTOCOL_ERROR = 0x1,
    HTTP2_INTERNAL_ERROR = 0x2,
    HTTP2_REFUSED_STREAM = 0x7,
    HTTP2_CANCEL = 0x8,
    HTTP2_ENHANCE_YOUR_CALM = 0xb,
};

#endif
