#include "base/alloc.h"
#include "base/log.h"
#include "net/address.h"
#include "net/socket.h"
#include "net/socket_internal.h"
#include "runtime/io.h"
#include "runtime/runtime.h"
#include "runtime/sync.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BACKLOG = 512,
    /* How long to leave peers in the backlog when descriptors have run out. */
    EXHAUSTED_PAUSE_MS = 100,
};

struct listener {
    int fd;
    atomic_bool ended;
    char text[ADDRESS_TEXT_BYTES];
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* to be removed; empty for TCP */
};

const char *listener_address(const struct listener *listener)
{
    return listener->text;
}

static kith_error *cannot_listen(const char *text, int errno_value)
{
    char reason[128];
    kith_error *error =
        error_new(KITH_ERROR_IO, "cannot listen on %s: %s", text, strerror_r(errno_value, reason, sizeof reason));
    return errno_value == EADDRINUSE ? error_hint(error, "port 0 takes any free port") : error;
}

/* A socket file left by a process that is gone would make bind fail for ever; one that answers is in use. */
static void remove_stale_path(const struct addrinfo *info)
{
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (probe < 0)
        return;
    struct sockaddr_un local;
    memcpy(&local, info->ai_addr, sizeof local);
    if (connect(probe, info->ai_addr, info->ai_addrlen) < 0 && errno == ECONNREFUSED)
        unlink(local.sun_path);
    close(probe);
}

static kith_error *listen_on(struct listener *listener, const struct addrinfo *info, const char *text)
{
    _cleanup_(socket_fd_close) int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return cannot_listen(text, errno);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (info->ai_family == AF_UNIX)
        remove_stale_path(info);
    if (bind(fd, info->ai_addr, info->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
        return cannot_listen(text, errno);

    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    if (getsockname(fd, (struct sockaddr *)&bound, &length) < 0)
        return cannot_listen(text, errno);
    address_format((struct sockaddr *)&bound, length, listener->text, sizeof listener->text);
    if (info->ai_family == AF_UNIX) {
        struct sockaddr_un local;
        memcpy(&local, &bound, sizeof local);
        memcpy(listener->path, local.sun_path, sizeof listener->path);
    }
    listener->fd = fd;
    fd = -1;
    return NULL;
}

kith_error *listener_open(const char *address, struct listener **out)
{
    _cleanup_(socket_addresses_reset) struct socket_addresses addresses = {0};
    TRY(socket_addresses_find(address, true, &addresses));
    _cleanup_(listener_free) struct listener *listener = NULL;
    TRY(NEW(&listener));
    listener->fd = -1;
    kith_error *error = NULL;
    for (const struct addrinfo *info = addresses.first; info != NULL; info = info->ai_next) {
        error_free(error);
        error = listen_on(listener, info, address);
        if (error == NULL)
            break;
    }
    TRY(error);
    *out = TAKE(listener);
    return NULL;
}

/* True when the failure is the peer's, or passes. */
static bool is_passing(int errno_value)
{
    return errno_value == EINTR || errno_value == ECONNABORTED || errno_value == EPROTO || errno_value == EPERM ||
           errno_value == ENETDOWN || errno_value == ENETUNREACH || errno_value == EHOSTUNREACH ||
           errno_value == EHOSTDOWN || errno_value == ENONET;
}

static bool is_exhaustion(int errno_value)
{
    return errno_value == EMFILE || errno_value == ENFILE || errno_value == ENOBUFS || errno_value == ENOMEM;
}

static kith_error *wait_to_accept(struct listener *listener, int errno_value)
{
    if (errno_value == EAGAIN || errno_value == EWOULDBLOCK) {
        unsigned ready;
        return io_wait(listener->fd, IO_READABLE, WAIT_FOREVER, &ready);
    }
    if (is_exhaustion(errno_value)) {
        char reason[128];
        log_warn("%s: cannot take a connection now: %s", listener->text,
                 strerror_r(errno_value, reason, sizeof reason));
        return sleep_until(clock_monotonic_ns(runtime_clock(runtime_current())) +
                           EXHAUSTED_PAUSE_MS * NANOSECONDS_PER_MILLISECOND);
    }
    return is_passing(errno_value) ? NULL : cannot_listen(listener->text, errno_value);
}

kith_error *listener_accept(struct listener *listener, struct transport **out)
{
    for (;;) {
        struct sockaddr_storage peer;
        socklen_t length = sizeof peer;
        if (atomic_load(&listener->ended))
            return error_new(KITH_ERROR_CANCELLED, "%s does not listen any more", listener->text);
        _cleanup_(socket_fd_close) int fd =
            accept4(listener->fd, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (!atomic_load(&listener->ended))
                TRY(wait_to_accept(listener, errno));
            continue;
        }
        char text[ADDRESS_TEXT_BYTES];
        TRY(socket_transport_new(fd, address_format((struct sockaddr *)&peer, length, text, sizeof text), out));
        fd = -1;
        return NULL;
    }
}

void listener_shutdown(struct listener *listener)
{
    atomic_store(&listener->ended, true);
    shutdown(listener->fd, SHUT_RDWR);
}

void listener_free(struct listener *listener)
{
    if (listener == NULL)
        return;
    if (listener->fd >= 0)
        socket_close(listener->fd);
    if (listener->path[0] != '\0')
        unlink(listener->path);
    free(listener);
}
