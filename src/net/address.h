/*
 * Network addresses as people write them: "host:port", "[v6]:port", "unix:/path".
 */
#ifndef KITH_NET_ADDRESS_H
#define KITH_NET_ADDRESS_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/socket.h>

enum { ADDRESS_HOST_BYTES = 256, ADDRESS_TEXT_BYTES = 128 };

struct address {
    bool is_unix;
    char host[ADDRESS_HOST_BYTES]; /* name or number without brackets, or the path of a Unix socket */
    char port[6];                  /* decimal; empty for a Unix socket */
};

/* Checks the form only; the host is not looked up. INVALID_ARGUMENT says what is wrong with `text`. */
kith_error *address_parse(const char *text, struct address *out) _must_check_;

/* The text of a socket's own or peer's address, cut at `size`. Returns `out`. */
char *address_format(const struct sockaddr *address, socklen_t length, char *out, size_t size);

#endif
