#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/io.h"
#include "storage/path.h"
#include "storage/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK };

/* Opens it if the kernel knows the whole path and so need not wait for a disk or a server; leaves `fd` at -1 if not, or
 * if there is no such file, or if the kernel is older than this kind of opening (Linux 5.12). */
static void open_known_path(struct local_file *file)
{
    struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_CACHED};
    file->fd = (int)syscall(SYS_openat2, AT_FDCWD, file->base.path, &how, sizeof how);
}

/* Runs where it may block: a path on a network file system can take long to open. */
static kith_error *open_any_path(void *argument)
{
    struct local_file *file = argument;
    file->fd = open(file->base.path, OPEN_FLAGS);
    return file->fd < 0 ? error_from_errno(errno, "cannot open %s", file->base.path) : NULL;
}

/* What the kernel learned about the file when it was opened. */
static kith_error *look_at(struct local_file *file)
{
    const char *path = file->base.path;
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
    open_known_path(made);
    if (made->fd < 0)
        TRY(offload(open_any_path, made));
    TRY(look_at(made));
    *out = TAKE(file);
    return NULL;
}
