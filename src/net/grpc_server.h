/*
 * What grpc_server.c (listening, connections) and grpc_handler.c (calls and their fibers) share.
 */
#ifndef KITH_NET_GRPC_SERVER_H
#define KITH_NET_GRPC_SERVER_H

#include "net/grpc_internal.h"

struct server_listener;

struct grpc_server {
    struct runtime *runtime;
    struct grpc_method *methods;
    size_t method_count;
    size_t max_connections;
    struct http2_options http2;
    struct cancel_token *service; /* of the server's own fibers: never cancelled, they end when shut down */
    struct cancel_token *calls;   /* parent of every call's */
    atomic_size_t live_calls;

    pthread_mutex_t mutex; /* guards the rest */
    bool closing;
    struct server_listener *listeners;
    struct server_connection *connections;
    size_t connection_count;
};

struct server_connection {
    struct server_connection *next;
    struct grpc_server *server;
    struct http2_connection *http2;
    struct fiber *fiber;
    atomic_bool ended;

    /* Guarded by the HTTP/2 connection's mutex. */
    struct grpc_call *fresh; /* to be given a fiber, or refused, in the order they came */
    struct grpc_call *last_fresh;
    struct grpc_call *finished; /* whose fibers are to be joined */
    struct grpc_call *calls;    /* with a fiber that was not joined */
    size_t call_count;
};

const struct grpc_method *grpc_server_find_method(const struct grpc_server *server, struct str path);

/* For struct http2_options; the context is a server_connection. */
kith_error *grpc_server_accept_call(void *context, struct http2_stream *stream, struct headers *fields,
                                    bool end) _must_check_;
void grpc_server_settle(void *context);

/* Once the connection is over: waits for every handler. */
void grpc_server_join_calls(struct server_connection *connection);

#endif
