/*
 * Where files are: listing, random reads, and writing whole files. Behind a table of functions, so that local files,
 * object stores and a simulation look alike. Reads suspend the fiber (runtime/io.h) and never block a worker thread.
 * Local paths only so far; a path with a scheme other than file:// is NOT_IMPLEMENTED and says so.
 */
#ifndef KITH_STORAGE_STORAGE_H
#define KITH_STORAGE_STORAGE_H

#include "base/error.h"
#include "base/refcount.h"

#include <stdint.h>

/* An open file, immutable while open; reads are thread-safe. */
struct storage_file {
    struct refcount refs;
    const struct storage_file_ops *ops;
    char *path;
    uint64_t size;
    /* With path and size these tell one version of a file from another; 0 where the store has no such thing. */
    int64_t modified_ns;
    uint64_t inode;
};

struct storage_file_ops {
    kith_error *(*read)(struct storage_file *file, uint64_t offset, size_t length, void *out);
    void (*free)(struct storage_file *file);
};

kith_error *storage_open(const char *path, struct storage_file **out) _must_check_;
/* A file in memory; the bytes are borrowed. For tests and fuzzers. */
kith_error *storage_open_memory(const char *name, const void *data, size_t size,
                                struct storage_file **out) _must_check_;
struct storage_file *storage_file_ref(struct storage_file *file);
void storage_file_unref(struct storage_file *file);
DEFINE_CLEANUP(storage_file_unref, struct storage_file)

/* Exactly `length` bytes; a range past the end is CORRUPT ("a.parquet: bytes 10..20 are past the end at 15"). */
kith_error *storage_file_read(struct storage_file *file, uint64_t offset, size_t length, void *out) _must_check_;

struct file_entry {
    char *path;
    uint64_t size;
    int64_t modified_ns; /* since the Unix epoch */
};

struct file_list {
    struct file_entry *entries;
    size_t count;
};
void file_list_reset(struct file_list *list);
DEFINE_VALUE_CLEANUP(file_list_reset, struct file_list)

/* Files that `pattern` names, sorted by path: a file, a directory (its *.parquet files, at any depth; names that begin
 * with "." or "_" are passed over, as Spark and Hive leave such), or a pattern of * ? [] and **. No match is NOT_FOUND
 * and says what was looked for. */
kith_error *storage_glob(const char *pattern, struct file_list *out) _must_check_;

/* Writes a new file beside its final name and renames it at the end, so that no reader sees half a file. */
struct storage_writer;
kith_error *storage_create(const char *path, struct storage_writer **out) _must_check_;
kith_error *storage_writer_append(struct storage_writer *writer, const void *data, size_t length) _must_check_;
uint64_t storage_writer_position(const struct storage_writer *writer);
kith_error *storage_writer_finish(struct storage_writer *writer) _must_check_;
/* Removes the unfinished file unless finished. */
void storage_writer_free(struct storage_writer *writer);
DEFINE_CLEANUP(storage_writer_free, struct storage_writer)

#endif
