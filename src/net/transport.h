/*
 * A two-way stream of bytes between two peers: a TCP or Unix socket (socket.h), or a pair of pipes in memory (pipe.h),
 * which stands in for a network in tests and simulation. What lies above knows only this interface.
 *
 * One fiber may read while another writes; two may not read, nor two write, at once. Reads and writes suspend the
 * fiber and end with CANCELLED when it is cancelled, TIMEOUT at the deadline. `transport_shutdown` may be called from
 * anywhere, meanwhile.
 */
#ifndef KITH_NET_TRANSPORT_H
#define KITH_NET_TRANSPORT_H

#include "base/error.h"

#include <stdint.h>
#include <sys/uio.h>

enum transport_side { TRANSPORT_READ, TRANSPORT_BOTH };

struct transport;

struct transport_ops {
    kith_error *(*read)(struct transport *transport, void *out, size_t size, int64_t deadline_ns, size_t *got);
    kith_error *(*write)(struct transport *transport, struct iovec *pieces, size_t count, int64_t deadline_ns);
    void (*shutdown)(struct transport *transport, enum transport_side side);
    void (*free)(struct transport *transport);
};

enum { TRANSPORT_PEER_BYTES = 128 };

/* The common head of every transport. */
struct transport {
    const struct transport_ops *ops;
    char peer[TRANSPORT_PEER_BYTES]; /* the far end's address, for messages: "127.0.0.1:50051" */
};

/* Reads 1 to `size` bytes, as many as there are; *got is 0 when the peer has closed. A lost connection is
 * UNAVAILABLE. */
static inline kith_error *transport_read(struct transport *transport, void *out, size_t size, int64_t deadline_ns,
                                         size_t *got)
{
    return transport->ops->read(transport, out, size, deadline_ns, got);
}

/* Writes all of it, or fails; `pieces` is used up. After an error some of it may have been written. */
static inline kith_error *transport_write(struct transport *transport, struct iovec *pieces, size_t count,
                                          int64_t deadline_ns)
{
    return transport->ops->write(transport, pieces, count, deadline_ns);
}

/* Ends reading (a fiber that reads, or will, sees the end of the stream), or all traffic: then writing fails and the
 * peer sees the end. */
static inline void transport_shutdown(struct transport *transport, enum transport_side side)
{
    transport->ops->shutdown(transport, side);
}

/* No fiber may be in a call. */
static inline void transport_free(struct transport *transport)
{
    transport->ops->free(transport);
}
DEFINE_CLEANUP(transport_free, struct transport)

#endif
