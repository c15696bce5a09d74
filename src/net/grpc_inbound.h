/*
 * Cuts the data of a stream into gRPC messages (a flag byte, four bytes of length, that many bytes) and queues them
 * for the consumer. A large message is gathered straight into the buffer that the consumer will get; small
 * ones lie together as they came until they are taken, so that a flood of empty messages costs no more memory than its
 * bytes. It also counts what credit the consumer owes the sender. Not thread-safe.
 */
#ifndef KITH_NET_GRPC_INBOUND_H
#define KITH_NET_GRPC_INBOUND_H

#include "base/list.h"
#include "columnar/buffer.h"

#include <stdbool.h>

enum { GRPC_PREFIX_BYTES = 5 };

/* Zero-initialised is empty and ready. */
struct grpc_inbound {
    size_t message_limit; /* 0 = LIMIT_GRPC_MESSAGE_BYTES */
    size_t ready;         /* complete messages */
    size_t held;          /* bytes fed for which no credit has been given */

    struct list segments; /* in order of arrival */
    uint8_t prefix[GRPC_PREFIX_BYTES];
    size_t prefix_length; /* of the message that is being received; all of it: its payload comes */
    size_t missing;       /* bytes of that payload */
};

/* Adds what arrived. NOT_IMPLEMENTED for a compressed message, LIMIT for one that is too long, PROTOCOL for a
 * wrong flag. */
kith_error *grpc_inbound_feed(struct grpc_inbound *inbound, const uint8_t *bytes, size_t size) _must_check_;

/* Takes the oldest complete message, of which there must be one; *credit is what the sender may be given for it. On
 * error (out of memory) it stays. */
kith_error *grpc_inbound_take(struct grpc_inbound *inbound, struct buffer **out, size_t *credit) _must_check_;

/* Credit for what has come of a message that is not complete: its consumer is waiting, and it may be larger than the
 * window. */
size_t grpc_inbound_advance_credit(struct grpc_inbound *inbound);

/* Whether the data ends in the middle of a message. */
bool grpc_inbound_is_partial(const struct grpc_inbound *inbound);

void grpc_inbound_reset(struct grpc_inbound *inbound);

#endif
