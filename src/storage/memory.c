#include "base/alloc.h"
#include "storage/storage.h"

#include <string.h>

struct memory_file {
    struct storage_file base;
    const uint8_t *bytes;
};

static void memory_free(struct storage_file *base)
{
    free(base->path);
    free(CONTAINER_OF(base, struct memory_file, base));
}
DEFINE_CLEANUP(memory_free, struct storage_file)

static kith_error *memory_read(struct storage_file *base, uint64_t offset, size_t length, void *out)
{
    const struct memory_file *file = CONTAINER_OF(base, struct memory_file, base);
    memcpy(out, file->bytes + offset, length);
    return NULL;
}

static const struct storage_file_ops memory_ops = {.read = memory_read, .free = memory_free};

kith_error *storage_open_memory(const char *name, const void *data, size_t size, struct storage_file **out)
{
    struct memory_file *made;
    TRY(NEW(&made));
    made->bytes = data;
    made->base.ops = &memory_ops;
    made->base.size = size;
    refcount_init(&made->base.refs);
    _cleanup_(memory_free) struct storage_file *file = &made->base;
    TRY(alloc_string(name, strlen(name), &file->path));
    *out = TAKE(file);
    return NULL;
}
