/*
 * The fake of the lowest layer: two transports joined in memory by a bounded buffer each way. A write suspends while
 * the buffer is full, as with a socket. An end that nobody reads or writes is a peer that has stopped; freeing
 * or shutting an end down is a peer that has gone.
 */
#ifndef KITH_NET_PIPE_H
#define KITH_NET_PIPE_H

#include "net/transport.h"

/* `capacity` bytes each way; `name` becomes the peer's name at both ends. The ends may be freed in any order. */
kith_error *pipe_pair_new(size_t capacity, const char *name, struct transport **out_a,
                          struct transport **out_b) _must_check_;

#endif
