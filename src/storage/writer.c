#include "base/alloc.h"
#include "runtime/io.h"
#include "storage/path.h"
#include "storage/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITE_BUFFER_BYTES = 262144, NAME_ATTEMPTS = 100 };

struct storage_writer {
    int fd;
    char *path;
    char *temporary; /* NULL once renamed */
    uint64_t position;
    size_t buffered;
    char *buffer;
    /* What the offloaded write is to do. */
    const char *pending;
    size_t pending_bytes;
};

/* Begins with a dot, so that storage_glob passes over what a crash leaves behind. */
static kith_error *temporary_name(const char *path, char **out)
{
    static atomic_uint counter; /* relaxed: only has to differ from call to call */
    const char *slash = strrchr(path, '/');
    int directory = slash == NULL ? 0 : (int)(slash + 1 - path);
    char suffix[48];
    snprintf(suffix, sizeof suffix, ".%ld-%u.tmp", (long)getpid(),
             atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed));
    size_t size = strlen(path) + 1 + strlen(suffix) + 1;
    TRY(alloc_zeroed(size, 1, out));
    snprintf(*out, size, "%.*s.%s%s", directory, path, path + directory, suffix);
    return NULL;
}

static kith_error *create_temporary(void *argument)
{
    struct storage_writer *writer = argument;
    struct stat status;
    if (stat(writer->path, &status) == 0 && S_ISDIR(status.st_mode))
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "cannot write %s: it is a directory", writer->path);
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        _cleanup_free_ char *name = NULL;
        TRY(temporary_name(writer->path, &name));
        writer->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (writer->fd >= 0) {
            writer->temporary = TAKE(name);
            return NULL;
        }
        if (errno != EEXIST)
            break;
    }
    return error_from_errno(errno, "cannot write %s", writer->path);
}

kith_error *storage_create(const char *path, struct storage_writer **out)
{
    const char *local_path;
    TRY(storage_local_path(path, &local_path));
    _cleanup_(storage_writer_free) struct storage_writer *writer = NULL;
    TRY(NEW(&writer));
    writer->fd = -1;
    TRY(alloc_string(local_path, strlen(local_path), &writer->path));
    TRY(NEW_ARRAY(&writer->buffer, WRITE_BUFFER_BYTES));
    TRY(offload(create_temporary, writer));
    *out = TAKE(writer);
    return NULL;
}

static kith_error *write_pending(void *argument)
{
    struct storage_writer *writer = argument;
    while (writer->pending_bytes > 0) {
        ssize_t written = write(writer->fd, writer->pending, writer->pending_bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return error_from_errno(errno, "cannot write %s", writer->path);
        writer->pending += written;
        writer->pending_bytes -= (size_t)written;
    }
    return NULL;
}

static kith_error *write_through(struct storage_writer *writer, const char *data, size_t length)
{
    writer->pending = data;
    writer->pending_bytes = length;
    return length == 0 ? NULL : offload(write_pending, writer);
}

static kith_error *flush_buffer(struct storage_writer *writer)
{
    size_t length = writer->buffered;
    writer->buffered = 0;
    return write_through(writer, writer->buffer, length);
}

kith_error *storage_writer_append(struct storage_writer *writer, const void *data, size_t length)
{
    if (length > WRITE_BUFFER_BYTES - writer->buffered)
        TRY(flush_buffer(writer));
    if (length >= WRITE_BUFFER_BYTES) {
        TRY(write_through(writer, data, length));
    } else if (length > 0) {
        memcpy(writer->buffer + writer->buffered, data, length);
        writer->buffered += length;
    }
    writer->position += length;
    return NULL;
}

uint64_t storage_writer_position(const struct storage_writer *writer)
{
    return writer->position;
}

/* Synchronised before the rename: after a power cut the final name must not stand for an empty file. */
static kith_error *close_and_rename(void *argument)
{
    struct storage_writer *writer = argument;
    if (fsync(writer->fd) != 0)
        return error_from_errno(errno, "cannot write %s", writer->path);
    int fd = writer->fd;
    writer->fd = -1;
    if (close(fd) != 0)
        return error_from_errno(errno, "cannot write %s", writer->path);
    if (rename(writer->temporary, writer->path) != 0)
        return error_from_errno(errno, "cannot give %s its name", writer->path);
    free(writer->temporary);
    writer->temporary = NULL;
    return NULL;
}

kith_error *storage_writer_finish(struct storage_writer *writer)
{
    if (writer->temporary == NULL)
        return error_new(KITH_ERROR_INTERNAL, "%s: the writer is finished already", writer->path);
    TRY(flush_buffer(writer));
    return offload(close_and_rename, writer);
}

void storage_writer_free(struct storage_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->fd >= 0)
        close(writer->fd);
    if (writer->temporary != NULL)
        unlink(writer->temporary);
    free(writer->temporary);
    free(writer->path);
    free(writer->buffer);
    free(writer);
}
