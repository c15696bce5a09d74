/*
 * What the two sides of gRPC share: a call's state, which is guarded by its connection's mutex.
 */
#ifndef KITH_NET_GRPC_INTERNAL_H
#define KITH_NET_GRPC_INTERNAL_H

#include "base/refcount.h"
#include "net/grpc.h"
#include "net/grpc_inbound.h"
#include "runtime/fiber.h"
#include "runtime/mutex.h"

struct server_connection;

struct grpc_call {
    struct refcount refs;        /* the user's (or handler's), and the stream's until it is closed */
    struct http2_stream *stream; /* a reference */
    char *path;
    bool client;
    int64_t deadline_ns;

    bool metadata_came;
    bool ended;        /* the peer sends no more messages */
    bool closed;       /* the stream is over */
    kith_error *error; /* why it failed */
    struct headers metadata;
    struct grpc_inbound inbound;
    size_t receiving; /* fibers that wait for a message */
    struct wait_list receivers;

    /* Client only. */
    struct grpc_channel *channel; /* a reference of the user's handle */
    bool finished;                /* the status came */
    unsigned http_status;

    /* Server only. */
    bool responded; /* the handler's own: response headers have been sent */
    bool stopped;   /* receives no more, whatever comes */
    struct server_connection *home;
    const struct grpc_method *method; /* NULL: there is none, and `error` says so */
    struct cancel_token *cancel;
    struct fiber *fiber;
    bool late; /* the deadline that the client set has passed */
    bool handler_ended;
    struct grpc_call *next_fresh; /* waiting for its handler's fiber, or for that to be joined */
    struct grpc_call *previous;   /* among its connection's calls with a fiber */
    struct grpc_call *next;
};

kith_error *grpc_call_new(const char *path, size_t path_length, struct grpc_call **out) _must_check_;
void grpc_call_drop(struct grpc_call *call);
DEFINE_CLEANUP(grpc_call_drop, struct grpc_call)

/* For the streams' callbacks of both sides; the mutex is held. */
kith_error *grpc_call_on_data(void *owner, const uint8_t *bytes, size_t length);

/* Notes why the call failed, unless it has ended or failed already, and wakes whoever waits. */
void grpc_call_fail_locked(struct grpc_call *call, kith_error *take_error);
void grpc_call_wake_locked(struct grpc_call *call);

/* Whether the wait of a client ended because the call's own deadline has passed; then the call has failed. */
kith_error *grpc_call_wait_failed(struct grpc_call *call, kith_error *take_error) _must_check_;

/* Sends the response's headers unless that has been done. */
kith_error *grpc_call_respond(struct grpc_call *call, const struct headers *metadata) _must_check_;

/* grpc_metadata.c: user metadata to and from header fields. */

/* Appends, with "-bin" values in base64. INVALID_ARGUMENT for names that gRPC does not allow or keeps for itself. */
kith_error *grpc_metadata_write(const struct headers *metadata, struct headers *fields) _must_check_;

/* Appends what is not gRPC's own, with "-bin" values decoded. */
kith_error *grpc_metadata_read(const struct headers *fields, struct headers *metadata) _must_check_;

/* The headers that every message-carrying block must agree on: content type and encoding. */
kith_error *grpc_check_content(const struct headers *fields, const char *peer) _must_check_;

#endif
