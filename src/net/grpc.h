/*
 * gRPC over HTTP/2 (the protocol of grpc.io's "gRPC over HTTP2"): calls of all four kinds, client and server. A call
 * is a pair of message streams with metadata before and a status after; unary calls are those with one message.
 *
 * Messages are whole buffers; they are not decoded here. They are sent from slices without being copied, and gathered
 * into one buffer each. A peer can be ahead of a consumer by one stream window and no more.
 *
 * Kith's errors cross with code, message, hint, SQL position and causes (trailer `kith-error-bin`); other peers see
 * grpc-status and grpc-message, and theirs become kith errors of the nearest code.
 *
 * Compressed messages are refused; so is whatever exceeds LIMIT_GRPC_MESSAGE_BYTES or LIMIT_GRPC_HEADER_BYTES.
 *
 * Threads: one fiber may send on a call while another receives. Everything else is thread-safe.
 */
#ifndef KITH_NET_GRPC_H
#define KITH_NET_GRPC_H

#include "net/http2.h"
#include "runtime/runtime.h"

struct grpc_call;

/* Sends one message made of the slices in turn; suspends while the call's queue is full. When the peer has already
 * finished the call, its error is returned if it failed, and otherwise the message is dropped: the peer wants no
 * more. */
kith_error *grpc_call_send(struct grpc_call *call, const struct slice *slices, size_t count) _must_check_;

/* Suspends until a message comes; *out is owned, and NULL when there are no more: on a server, the client has
 * half-closed; on a client, the call has ended with status OK. A client gets the call's error here otherwise. */
kith_error *grpc_call_recv(struct grpc_call *call, struct buffer **out) _must_check_;

/* The metadata that the peer sent first (a server: the request's; a client: suspends until the response's came). Lives
 * as long as the call. Names ending in "-bin" have been decoded. */
kith_error *grpc_call_metadata(struct grpc_call *call, const struct headers **out) _must_check_;

/* Server: sends the response's metadata, which otherwise goes, empty, before the first message. Once, and before that.
 */
kith_error *grpc_call_send_metadata(struct grpc_call *call, const struct headers *metadata) _must_check_;

/* Server: grpc_call_recv gives the end from now on, as if the client had half-closed. From any fiber. */
void grpc_call_stop_receiving(struct grpc_call *call);

/* "worker 127.0.0.1:50051" or "client …", for messages. */
const char *grpc_call_peer(const struct grpc_call *call);

/* Messages' bytes that wait to be sent, and that have come and were not yet received; for tests and metrics. */
size_t grpc_call_queued_send(struct grpc_call *call);
size_t grpc_call_queued_recv(struct grpc_call *call);

/* ---- Client ---- */

/* Calls to one target over one connection, which is made for the first call, and again for the next call after it was
 * lost. Reference-counted; an open call holds a reference. */
struct grpc_channel;

struct grpc_channel_options {
    int64_t connect_timeout_ns; /* 0 = 2 s */
    struct http2_options http2; /* server, accept, settle and context are set by the channel; peer_noun NULL = "worker"
                                 */
    /* Makes the transport; NULL = socket_connect. For TLS, tests and simulation. */
    kith_error *(*dial)(void *context, const char *target, int64_t deadline_ns, struct transport **out);
    void *dial_context;
};

/* `options` may be NULL. Does not connect. */
kith_error *grpc_channel_open(struct runtime *runtime, const char *target, const struct grpc_channel_options *options,
                              struct grpc_channel **out) _must_check_;
struct grpc_channel *grpc_channel_ref(struct grpc_channel *channel);

/* Ends the connection and open calls with it, and waits for its fibers. Later calls fail with UNAVAILABLE. From a
 * fiber. */
void grpc_channel_close(struct grpc_channel *channel);

/* Dropping the last reference closes it; from a fiber. */
void grpc_channel_unref(struct grpc_channel *channel);
DEFINE_CLEANUP(grpc_channel_unref, struct grpc_channel)

const char *grpc_channel_target(const struct grpc_channel *channel);

/* Connects if there is no connection. For finding out early whether the peer is there. */
kith_error *grpc_channel_connect(struct grpc_channel *channel) _must_check_;

/* Starts a call of `path` ("/package.Service/Method"). `metadata` may be NULL; values of names ending in "-bin" are
 * any bytes. The whole call ends with TIMEOUT at `deadline_ns` (monotonic; WAIT_FOREVER for none), which the server is
 * told too. */
kith_error *grpc_call_start(struct grpc_channel *channel, const char *path, const struct headers *metadata,
                            int64_t deadline_ns, struct grpc_call **out) _must_check_;

/* This side sends no more. */
kith_error *grpc_call_half_close(struct grpc_call *call) _must_check_;

/* A client's call that has not ended is cancelled, at the server too. Idempotent; any fiber or thread. */
void grpc_call_cancel(struct grpc_call *call);

/* Cancels the call unless it has ended, and drops the reference. */
void grpc_call_unref(struct grpc_call *call);
DEFINE_CLEANUP(grpc_call_unref, struct grpc_call)

/* A call with one message each way: sends, half-closes, and receives exactly one. */
kith_error *grpc_call_unary(struct grpc_channel *channel, const char *path, const struct headers *metadata,
                            int64_t deadline_ns, const struct slice *slices, size_t count,
                            struct buffer **out) _must_check_;

/* ---- Server ---- */

struct grpc_server;

/* Runs as a fiber for each call, under a cancel token that is cancelled when the client cancels or is lost, at
 * the call's deadline, and when the server closes. `call` is borrowed until it returns. The error it returns becomes
 * the call's status; NULL is OK. Must not return before fibers that it gave the call to have ended. */
typedef kith_error *(*grpc_handler)(struct grpc_call *call, void *context);

struct grpc_method {
    const char *path; /* "/package.Service/Method" */
    grpc_handler handler;
    void *context;
    size_t message_limit; /* of what clients send; 0 = LIMIT_GRPC_MESSAGE_BYTES */
};

struct grpc_server_options {
    const struct grpc_method *methods; /* copied; the strings must outlive the server */
    size_t method_count;
    size_t max_connections;     /* 0 = LIMIT_CONNECTIONS */
    struct http2_options http2; /* as in grpc_channel_options; peer_noun NULL = "client" */
};

/* Callers get UNIMPLEMENTED for a path that is not among the methods. From a fiber. */
kith_error *grpc_server_new(struct runtime *runtime, const struct grpc_server_options *options,
                            struct grpc_server **out) _must_check_;

/* Listens on one more address and serves who connects. *out_address (may be NULL) is where it really listens; lives
 * as long as the server. */
kith_error *grpc_server_listen(struct grpc_server *server, const char *address, const char **out_address) _must_check_;

/* Serves one peer that is already connected. The transport is the server's from now on, also on error. */
kith_error *grpc_server_serve(struct grpc_server *server, struct transport *take_transport) _must_check_;

/* Calls whose handlers have not returned. */
size_t grpc_server_live_calls(struct grpc_server *server);

/* Stops listening, refuses new calls, and waits for those that run until `deadline_ns`. Then close it. */
kith_error *grpc_server_drain(struct grpc_server *server, int64_t deadline_ns) _must_check_;

/* Stops listening, cancels calls, ends connections, and waits until every handler has returned and nothing is left.
 * From a fiber that is not one of its handlers. */
void grpc_server_free(struct grpc_server *server);
DEFINE_CLEANUP(grpc_server_free, struct grpc_server)

#endif
