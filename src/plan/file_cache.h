/*
 * Open Parquet files of a process that runs many tasks: a footer is parsed once for each version of a file, and what
 * reading has taught about it is not forgotten. A file is the same while path, size, inode and time of change are. At
 * most LIMIT_CACHED_FILES are kept; the one used longest ago goes first. Thread-safe.
 */
#ifndef KITH_PLAN_FILE_CACHE_H
#define KITH_PLAN_FILE_CACHE_H

#include "parquet/file.h"

struct file_cache;

kith_error *file_cache_new(struct file_cache **out) _must_check_;
void file_cache_free(struct file_cache *cache);
DEFINE_CLEANUP(file_cache_free, struct file_cache)

/* The open file of that version: from the cache, or opened over `storage` and kept. A new reference. */
kith_error *file_cache_get(struct file_cache *cache, struct storage_file *storage,
                           struct parquet_file **out) _must_check_;

/* Files kept; for tests. */
size_t file_cache_count(struct file_cache *cache);

#endif
