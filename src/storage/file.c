#include "storage/storage.h"

struct storage_file *storage_file_ref(struct storage_file *file)
{
    refcount_take(&file->refs);
    return file;
}

void storage_file_unref(struct storage_file *file)
{
    if (file != NULL && refcount_drop(&file->refs))
        file->ops->free(file);
}

kith_error *storage_file_read(struct storage_file *file, uint64_t offset, size_t length, void *out)
{
    uint64_t end;
    if (__builtin_add_overflow(offset, length, &end) || end > file->size)
        return error_new(
            KITH_ERROR_CORRUPT, "%s: bytes %llu..%llu are past the end at %llu", file->path, (unsigned long long)offset,
            end < offset ? (unsigned long long)UINT64_MAX : (unsigned long long)end, (unsigned long long)file->size);
    return length == 0 ? NULL : file->ops->read(file, offset, length, out);
}
