#include "net/address.h"

#include "base/strbuf.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>

static const char unix_prefix[] = "unix:";

static kith_error *bad_address(const char *text, const char *what)
{
    return error_hint(error_new(KITH_ERROR_INVALID_ARGUMENT, "\"%s\" is not an address: %s", text, what),
                      "write HOST:PORT, [IPV6]:PORT or unix:PATH, for example 127.0.0.1:50051");
}

static kith_error *parse_unix(const char *text, const char *path, struct address *out)
{
    struct sockaddr_un limit;
    size_t length = strlen(path);
    if (length == 0)
        return bad_address(text, "there is no path after unix:");
    _Static_assert(sizeof limit.sun_path <= sizeof out->host, "a path fits where a host does");
    if (length >= sizeof limit.sun_path)
        return bad_address(text, "the path of a Unix socket may have 107 bytes at most");
    out->is_unix = true;
    memcpy(out->host, path, length + 1);
    return NULL;
}

static kith_error *parse_port(const char *text, const char *digits, struct address *out)
{
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || length > 5 || digits[length] != '\0' || strtoul(digits, NULL, 10) > 65535)
        return bad_address(text, "the port must be a number from 0 to 65535");
    memcpy(out->port, digits, length + 1);
    return NULL;
}

kith_error *address_parse(const char *text, struct address *out)
{
    memset(out, 0, sizeof *out);
    if (strncmp(text, unix_prefix, sizeof unix_prefix - 1) == 0)
        return parse_unix(text, text + sizeof unix_prefix - 1, out);

    const char *host = text;
    const char *host_end = strrchr(text, ':');
    if (host_end == NULL)
        return bad_address(text, "there is no port");
    const char *port = host_end + 1;
    if (*text == '[') {
        host = text + 1;
        if (host_end == text || host_end[-1] != ']')
            return bad_address(text, "the bracket is not closed before the port");
        host_end--;
    } else if (memchr(text, ':', (size_t)(host_end - text)) != NULL) {
        return bad_address(text, "an IPv6 address goes in brackets");
    }

    size_t length = (size_t)(host_end - host);
    if (length == 0)
        return bad_address(text, "there is no host");
    if (length >= sizeof out->host)
        return bad_address(text, "the host is too long");
    memcpy(out->host, host, length);
    out->host[length] = '\0';
    return parse_port(text, port, out);
}

char *address_format(const struct sockaddr *address, socklen_t length, char *out, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "?";
    switch (address->sa_family) {
    case AF_INET: {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        inet_ntop(AF_INET, &v4.sin_addr, host, sizeof host);
        snprintf(out, size, "%s:%u", host, ntohs(v4.sin_port));
        break;
    }
    case AF_INET6: {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof host);
        snprintf(out, size, "[%s]:%u", host, ntohs(v6.sin6_port));
        break;
    }
    case AF_UNIX: {
        /* An unnamed end, which is what clients have, is shorter than the path's place. */
        struct sockaddr_un local = {0};
        memcpy(&local, address, MIN((size_t)length, sizeof local - 1));
        snprintf(out, size, "unix:%s", local.sun_path);
        break;
    }
    default:
        snprintf(out, size, "?");
    }
    return out;
}
