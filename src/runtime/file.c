#include "runtime/fiber.h"
#include "runtime/io.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/uio.h>

struct file_request {
    int fd;
    const char *name;
    char *out;
    size_t length; /* still to be read */
    int64_t offset;
};

/* Reads on until done, an error, or with RWF_NOWAIT until it would block: *would_block. Never suspends, so errno is
 * the same thread's throughout. */
static kith_error *read_on(struct file_request *request, int flags, bool *would_block)
{
    while (request->length > 0) {
        struct iovec piece = {.iov_base = request->out, .iov_len = request->length};
        ssize_t n = preadv2(request->fd, &piece, 1, request->offset, flags);
        if (n < 0 && errno == EINTR)
            continue;
        /* EOPNOTSUPP: this file system cannot tell whether it would block. */
        if (n < 0 && flags != 0 && (errno == EAGAIN || errno == EOPNOTSUPP)) {
            *would_block = true;
            return NULL;
        }
        if (n < 0)
            return error_from_errno(errno, "reading %zu bytes of %s at offset %" PRId64, request->length, request->name,
                                    request->offset);
        if (n == 0)
            return error_new(KITH_ERROR_CORRUPT, "%s ends at offset %" PRId64 ", where %zu more bytes were expected",
                             request->name, request->offset, request->length);
        request->out += n;
        request->offset += n;
        request->length -= (size_t)n;
    }
    return NULL;
}

static kith_error *read_blocking(void *argument)
{
    bool would_block = false;
    return read_on(argument, 0, &would_block);
}

kith_error *file_read(int fd, const char *name, void *out, size_t length, int64_t offset)
{
    struct file_request request = {.fd = fd, .name = name, .out = out, .length = length, .offset = offset};
    TRY(cancel_token_check(fiber_cancel_token()));
    if (fiber_current() == NULL)
        return read_blocking(&request);
    bool would_block = false;
    TRY(read_on(&request, RWF_NOWAIT, &would_block));
    return would_block ? offload(read_blocking, &request) : NULL;
}
