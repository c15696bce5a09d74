/*
 * What connecting and listening share: address lookup, descriptors, and making a transport of one.
 */
#ifndef KITH_NET_SOCKET_INTERNAL_H
#define KITH_NET_SOCKET_INTERNAL_H

#include "net/transport.h"

#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>

struct socket_addresses {
    struct addrinfo *first; /* in the order to try */
    struct addrinfo *found; /* getaddrinfo's, to be given back */
    struct addrinfo local_info;
    struct sockaddr_storage local;
};

/* The socket addresses that `text` stands for; at least one. Must not be moved afterwards. */
kith_error *socket_addresses_find(const char *text, bool to_listen, struct socket_addresses *out) _must_check_;
void socket_addresses_reset(struct socket_addresses *addresses);
DEFINE_VALUE_CLEANUP(socket_addresses_reset, struct socket_addresses)

/* Makes a transport of a connected non-blocking socket; on error the caller keeps `take_fd`. */
kith_error *socket_transport_new(int take_fd, const char *peer, struct transport **out) _must_check_;

void socket_close(int fd);

/* `_cleanup_(socket_fd_close) int fd = …`; -1 when handed over. */
static inline void socket_fd_close_pointee(int *fd)
{
    if (*fd >= 0)
        socket_close(*fd);
}

#endif
