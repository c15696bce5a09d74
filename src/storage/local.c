#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/io.h"
#include "storage/path.h"
#include "storage/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct local_file {
    struct storage_file base;
    int fd;
};

static void local_free(struct storage_file *base)
{
    struct local_file *file = CONTAINER_OF(base, struct local_file, base);
    if (file->fd >= 0)
        close(file->fd);
    free(base->path);
    free(file);
}
DEFINE_CLEANUP(local_free, struct storage_file)

static kith_error *local_read(struct storage_file *base, uint64_t offset, size_t length, void *out)
{
    struct local_file *file = CONTAINER_OF(base, struct local_file, base);
    return file_read(file->fd, base->path, out, length, (int64_t)offset);
}

static const struct storage_file_ops local_ops = {.read = local_read, .free = local_free};

/* Runs where it may block: a path on a network file system can take long to open. */
static kith_error *open_local(void *argument)
{
    struct local_file *file = argument;
    const char *path = file->base.path;
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0)
        return error_from_errno(errno, "cannot open %s", path);
    struct stat status;
    if (fstat(file->fd, &status) != 0)
        return error_from_errno(errno, "cannot look at %s", path);
    if (S_ISDIR(status.st_mode))
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "%s is a directory where a file was expected", path);
    if (!S_ISREG(status.st_mode))
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "%s is not a regular file, so it cannot be read at random", path);
    file->base.size = (uint64_t)status.st_size;
    file->base.modified_ns = status.st_mtim.tv_sec * NANOSECONDS_PER_SECOND + status.st_mtim.tv_nsec;
    file->base.inode = status.st_ino;
    return NULL;
}

kith_error *storage_open(const char *path, struct storage_file **out)
{
    const char *local_path;
    TRY(storage_local_path(path, &local_path));
    struct local_file *made;
    TRY(NEW(&made));
    made->fd = -1;
    made->base.ops = &local_ops;
    refcount_init(&made->base.refs);
    _cleanup_(local_free) struct storage_file *file = &made->base;
    TRY(alloc_string(local_path, strlen(local_path), &file->path));
    TRY(offload(open_local, made));
    *out = TAKE(file);
    return NULL;
}
