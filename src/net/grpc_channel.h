/*
 * A channel's own state, for the client side.
 */
#ifndef KITH_NET_GRPC_CHANNEL_H
#define KITH_NET_GRPC_CHANNEL_H

#include "net/grpc_internal.h"

struct channel_link;

struct grpc_channel {
    struct refcount refs;
    struct runtime *runtime;
    char *target;
    struct grpc_channel_options options;
    struct cancel_token *service; /* of the connections' fibers: nobody's query, and never cancelled */

    pthread_mutex_t mutex; /* guards the rest */
    bool closed;
    bool connecting; /* one caller does it, the others wait */
    struct wait_list connected;
    struct channel_link *current; /* the last of `links`; NULL before the first call and when it is lost */
    struct channel_link *links;   /* connections whose fibers have not been joined */
};

/* A connection that takes calls, making one if there is none. *out is a reference. */
kith_error *grpc_channel_connection(struct grpc_channel *channel, int64_t deadline_ns,
                                    struct http2_connection **out) _must_check_;

int64_t grpc_channel_now(const struct grpc_channel *channel);

#endif
