/*
 * Memory that column readers need while they work: page buffers and decompression contexts. A reader takes a workspace
 * from its file and gives it back, so that the next one, usually of the same column in another row group, finds memory
 * that is already mapped: page faults would take longer than the decoding. Workspaces are freed with the file.
 */
#ifndef KITH_PARQUET_WORKSPACE_H
#define KITH_PARQUET_WORKSPACE_H

#include "parquet/codec.h"
#include "parquet/page.h"

#include <stdatomic.h>

struct workspace {
    struct page_buffer window;                        /* bytes of the file */
    struct page_buffer page;                          /* a decompressed data page */
    struct page_buffer dictionary_in, dictionary_out; /* the dictionary page, compressed and decompressed */
    struct page_buffer dictionary;                    /* its values of fixed width */
    struct page_buffer scratch;                       /* physical values on their way to Arrow's */
    struct codec_context codec;
};

enum { WORKSPACES = 64, WORKSPACE_BUFFER_BYTES = 4 * 1024 * 1024 };

/* Zero-initialised is empty and ready. Thread-safe: each slot changes hands by one atomic exchange, with release when a
 * workspace is put in and acquire when it is taken out. */
struct workspace_cache {
    _Atomic(struct workspace *) slots[WORKSPACES];
};

/* One out of the cache, or a new one. */
kith_error *workspace_take(struct workspace_cache *cache, struct workspace **out) _must_check_;
/* Keeps it for later, without buffers above WORKSPACE_BUFFER_BYTES; frees it when the cache is full. */
void workspace_give(struct workspace_cache *cache, struct workspace *take_workspace);
/* Frees what is in the cache. Nobody else uses it any more. */
void workspace_cache_reset(struct workspace_cache *cache);

#endif
