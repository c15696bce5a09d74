/*
 * Stream sockets as transports: TCP over IPv4 and IPv6, and Unix sockets. Addresses are written "host:port",
 * "[::1]:port" or "unix:/path"; port 0 listens on any free port. Names are looked up without blocking a worker
 * thread. Descriptors are non-blocking and closed on exec; small writes are not delayed (TCP_NODELAY).
 */
#ifndef KITH_NET_SOCKET_H
#define KITH_NET_SOCKET_H

#include "net/transport.h"

/* UNAVAILABLE when nobody answers there, TIMEOUT at the deadline, INVALID_ARGUMENT for what is not an address. Tries
 * each address that the name stands for. */
kith_error *socket_connect(const char *address, int64_t deadline_ns, struct transport **out) _must_check_;

struct listener;

kith_error *listener_open(const char *address, struct listener **out) _must_check_;

/* Where it listens, with the port that was really bound: "127.0.0.1:41873". */
const char *listener_address(const struct listener *listener);

/* Suspends until a peer connects. When this process is out of descriptors it waits until there are some again.
 * CANCELLED after listener_shutdown. One fiber at a time. */
kith_error *listener_accept(struct listener *listener, struct transport **out) _must_check_;

/* Wakes the fiber in listener_accept, from anywhere; new peers are refused. */
void listener_shutdown(struct listener *listener);

/* Closes it (and removes the path of a Unix socket). No fiber may be in listener_accept. */
void listener_free(struct listener *listener);
DEFINE_CLEANUP(listener_free, struct listener)

#endif
