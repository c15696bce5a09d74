#include "net/socket.h"

#include "base/alloc.h"
#include "net/address.h"
#include "net/socket_internal.h"
#include "runtime/fiber.h"
#include "runtime/io.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

struct socket_transport {
    struct transport base;
    int fd;
};

static kith_error *connection_lost(const struct socket_transport *socket, int errno_value)
{
    char reason[128];
    return error_new(KITH_ERROR_UNAVAILABLE, "the connection to %s was lost: %s", socket->base.peer,
                     strerror_r(errno_value, reason, sizeof reason));
}

static bool would_block(int errno_value)
{
    return errno_value == EAGAIN || errno_value == EWOULDBLOCK;
}

static kith_error *socket_read(struct transport *transport, void *out, size_t size, int64_t deadline_ns, size_t *got)
{
    struct socket_transport *socket = CONTAINER_OF(transport, struct socket_transport, base);
    TRY(coop_charge(1));
    for (;;) {
        ssize_t n = recv(socket->fd, out, size, 0);
        if (n >= 0) {
            *got = (size_t)n;
            return NULL;
        }
        if (errno == EINTR)
            continue;
        if (!would_block(errno))
            return connection_lost(socket, errno);
        unsigned ready;
        TRY(io_wait(socket->fd, IO_READABLE, deadline_ns, &ready));
    }
}

/* Drops the first `written` bytes from the pieces. */
static void advance(struct iovec **pieces, size_t *count, size_t written)
{
    while (*count > 0 && written >= (*pieces)->iov_len) {
        written -= (*pieces)->iov_len;
        (*pieces)++;
        (*count)--;
    }
    if (*count > 0) {
        (*pieces)->iov_base = (char *)(*pieces)->iov_base + written;
        (*pieces)->iov_len -= written;
    }
}

static kith_error *socket_write(struct transport *transport, struct iovec *pieces, size_t count, int64_t deadline_ns)
{
    struct socket_transport *socket = CONTAINER_OF(transport, struct socket_transport, base);
    TRY(coop_charge(1));
    while (count > 0) {
        struct msghdr message = {.msg_iov = pieces, .msg_iovlen = MIN(count, (size_t)IOV_MAX)};
        ssize_t n = sendmsg(socket->fd, &message, MSG_NOSIGNAL);
        if (n >= 0) {
            advance(&pieces, &count, (size_t)n);
            continue;
        }
        if (errno == EINTR)
            continue;
        if (!would_block(errno))
            return connection_lost(socket, errno);
        unsigned ready;
        TRY(io_wait(socket->fd, IO_WRITABLE, deadline_ns, &ready));
    }
    return NULL;
}

static void socket_shutdown(struct transport *transport, enum transport_side side)
{
    struct socket_transport *socket = CONTAINER_OF(transport, struct socket_transport, base);
    shutdown(socket->fd, side == TRANSPORT_READ ? SHUT_RD : SHUT_RDWR);
}

static void socket_free(struct transport *transport)
{
    struct socket_transport *socket = CONTAINER_OF(transport, struct socket_transport, base);
    socket_close(socket->fd);
    free(socket);
}

static const struct transport_ops socket_ops = {
    .read = socket_read,
    .write = socket_write,
    .shutdown = socket_shutdown,
    .free = socket_free,
};

void socket_close(int fd)
{
    io_forget(fd);
    close(fd);
}

kith_error *socket_transport_new(int fd, const char *peer, struct transport **out)
{
    struct socket_transport *socket = NULL;
    TRY(NEW(&socket));
    socket->base.ops = &socket_ops;
    snprintf(socket->base.peer, sizeof socket->base.peer, "%s", peer);
    socket->fd = fd;
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* refused for a Unix socket, which never delays */
    *out = &socket->base;
    return NULL;
}

struct lookup {
    const struct address *address;
    bool to_listen;
    struct addrinfo *found;
    int outcome;
    int errno_value;
};

static kith_error *look_up(void *argument)
{
    struct lookup *lookup = argument;
    struct addrinfo wanted = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | (lookup->to_listen ? AI_PASSIVE : 0),
    };
    lookup->outcome = getaddrinfo(lookup->address->host, lookup->address->port, &wanted, &lookup->found);
    lookup->errno_value = errno;
    return NULL;
}

static kith_error *unix_address(const struct address *address, struct socket_addresses *out)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    memcpy(local.sun_path, address->host, strlen(address->host) + 1);
    memcpy(&out->local, &local, sizeof local);
    out->local_info = (struct addrinfo){
        .ai_family = AF_UNIX,
        .ai_socktype = SOCK_STREAM,
        .ai_addr = (struct sockaddr *)&out->local,
        .ai_addrlen = sizeof local,
    };
    out->first = &out->local_info;
    return NULL;
}

kith_error *socket_addresses_find(const char *text, bool to_listen, struct socket_addresses *out)
{
    struct address address;
    TRY(address_parse(text, &address));
    if (address.is_unix)
        return unix_address(&address, out);

    struct lookup lookup = {.address = &address, .to_listen = to_listen};
    TRY(offload(look_up, &lookup));
    if (lookup.outcome == EAI_MEMORY)
        return error_out_of_memory();
    if (lookup.outcome != 0) {
        char reason[128];
        return error_new(KITH_ERROR_UNAVAILABLE, "the host of \"%s\" cannot be found: %s", text,
                         lookup.outcome == EAI_SYSTEM ? strerror_r(lookup.errno_value, reason, sizeof reason)
                                                      : gai_strerror(lookup.outcome));
    }
    out->found = lookup.found;
    out->first = lookup.found;
    return NULL;
}

void socket_addresses_reset(struct socket_addresses *addresses)
{
    if (addresses->found != NULL)
        freeaddrinfo(addresses->found);
    addresses->found = addresses->first = NULL;
}

static kith_error *cannot_connect(const char *text, int errno_value)
{
    char reason[128];
    return error_new(KITH_ERROR_UNAVAILABLE, "cannot connect to %s: %s", text,
                     strerror_r(errno_value, reason, sizeof reason));
}

static kith_error *finish_connect(int fd, const char *text, int64_t deadline_ns)
{
    unsigned ready;
    kith_error *error = io_wait(fd, IO_WRITABLE, deadline_ns, &ready);
    if (error != NULL && kith_error_code(error) == KITH_ERROR_TIMEOUT) {
        error_free(error);
        return error_new(KITH_ERROR_TIMEOUT, "cannot connect to %s: no answer in time", text);
    }
    TRY(error);
    int outcome = 0;
    socklen_t size = sizeof outcome;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &outcome, &size) < 0)
        outcome = errno;
    return outcome == 0 ? NULL : cannot_connect(text, outcome);
}

static kith_error *connect_one(const struct addrinfo *info, const char *text, int64_t deadline_ns,
                               struct transport **out)
{
    _cleanup_(socket_fd_close) int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return cannot_connect(text, errno);
    if (connect(fd, info->ai_addr, info->ai_addrlen) < 0) {
        if (errno != EINPROGRESS && errno != EINTR)
            return cannot_connect(text, errno);
        TRY(finish_connect(fd, text, deadline_ns));
    }
    TRY(socket_transport_new(fd, text, out));
    fd = -1;
    return NULL;
}

kith_error *socket_connect(const char *address, int64_t deadline_ns, struct transport **out)
{
    _cleanup_(socket_addresses_reset) struct socket_addresses addresses = {0};
    TRY(socket_addresses_find(address, false, &addresses));
    kith_error *error = NULL;
    for (const struct addrinfo *info = addresses.first; info != NULL; info = info->ai_next) {
        error_free(error);
        error = connect_one(info, address, deadline_ns, out);
        if (error == NULL || kith_error_code(error) != KITH_ERROR_UNAVAILABLE)
            break;
    }
    return error;
}
