#include "plan/file_cache.h"

#include "base/alloc.h"
#include "base/limits.h"

#include <pthread.h>
#include <string.h>

struct cached_file {
    struct parquet_file *file;
    uint64_t used; /* the cache's clock when it was last asked for */
};

struct file_cache {
    pthread_mutex_t mutex; /* guards what follows */
    struct cached_file files[LIMIT_CACHED_FILES];
    size_t count;
    uint64_t clock;
};

kith_error *file_cache_new(struct file_cache **out)
{
    TRY(NEW(out));
    pthread_mutex_init(&(*out)->mutex, NULL);
    return NULL;
}

void file_cache_free(struct file_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < cache->count; i++)
        parquet_file_unref(cache->files[i].file);
    pthread_mutex_destroy(&cache->mutex);
    free(cache);
}

static bool same_version(const struct storage_file *a, const struct storage_file *b)
{
    return a->size == b->size && a->modified_ns == b->modified_ns && a->inode == b->inode &&
           strcmp(a->path, b->path) == 0;
}

static struct parquet_file *find(struct file_cache *cache, const struct storage_file *storage)
{
    struct parquet_file *found = NULL;
    pthread_mutex_lock(&cache->mutex);
    for (size_t i = 0; i < cache->count && found == NULL; i++) {
        if (!same_version(cache->files[i].file->storage, storage))
            continue;
        cache->files[i].used = ++cache->clock;
        found = parquet_file_ref(cache->files[i].file);
    }
    pthread_mutex_unlock(&cache->mutex);
    return found;
}

static size_t place_for_another(struct file_cache *cache)
{
    if (cache->count < LIMIT_CACHED_FILES)
        return cache->count++;
    size_t oldest = 0;
    for (size_t i = 1; i < cache->count; i++)
        if (cache->files[i].used < cache->files[oldest].used)
            oldest = i;
    return oldest;
}

/* Two fibers may open the same file at once; then both are kept until the older goes. */
static void keep(struct file_cache *cache, struct parquet_file *file)
{
    pthread_mutex_lock(&cache->mutex);
    size_t place = place_for_another(cache);
    struct parquet_file *replaced = cache->files[place].file;
    cache->files[place] = (struct cached_file){.file = parquet_file_ref(file), .used = ++cache->clock};
    pthread_mutex_unlock(&cache->mutex);
    parquet_file_unref(replaced);
}

kith_error *file_cache_get(struct file_cache *cache, struct storage_file *storage, struct parquet_file **out)
{
    *out = find(cache, storage);
    if (*out != NULL)
        return NULL;
    TRY(parquet_file_open(storage, out));
    keep(cache, *out);
    return NULL;
}

size_t file_cache_count(struct file_cache *cache)
{
    pthread_mutex_lock(&cache->mutex);
    size_t count = cache->count;
    pthread_mutex_unlock(&cache->mutex);
    return count;
}
