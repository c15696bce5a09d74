#include "parquet/workspace.h"

#include "base/alloc.h"

static void workspace_free(struct workspace *workspace)
{
    page_buffer_reset(&workspace->window);
    page_buffer_reset(&workspace->page);
    page_buffer_reset(&workspace->dictionary_in);
    page_buffer_reset(&workspace->dictionary_out);
    page_buffer_reset(&workspace->dictionary);
    page_buffer_reset(&workspace->scratch);
    codec_context_reset(&workspace->codec);
    free(workspace);
}

kith_error *workspace_take(struct workspace_cache *cache, struct workspace **out)
{
    for (size_t i = 0; i < WORKSPACES; i++) {
        if (atomic_load_explicit(&cache->slots[i], memory_order_relaxed) == NULL)
            continue;
        *out = atomic_exchange_explicit(&cache->slots[i], NULL, memory_order_acquire);
        if (*out != NULL)
            return NULL;
    }
    return NEW(out);
}

static void drop_if_large(struct page_buffer *buffer)
{
    if (buffer->capacity > WORKSPACE_BUFFER_BYTES)
        page_buffer_reset(buffer);
}

void workspace_give(struct workspace_cache *cache, struct workspace *take_workspace)
{
    drop_if_large(&take_workspace->window);
    drop_if_large(&take_workspace->page);
    drop_if_large(&take_workspace->dictionary_in);
    drop_if_large(&take_workspace->dictionary_out);
    drop_if_large(&take_workspace->dictionary);
    drop_if_large(&take_workspace->scratch);
    codec_context_trim(&take_workspace->codec, WORKSPACE_BUFFER_BYTES);
    for (size_t i = 0; i < WORKSPACES; i++) {
        struct workspace *expected = NULL;
        if (atomic_compare_exchange_strong_explicit(&cache->slots[i], &expected, take_workspace, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    workspace_free(take_workspace);
}

void workspace_cache_reset(struct workspace_cache *cache)
{
    for (size_t i = 0; i < WORKSPACES; i++) {
        struct workspace *workspace = atomic_exchange_explicit(&cache->slots[i], NULL, memory_order_acquire);
        if (workspace != NULL)
            workspace_free(workspace);
    }
}
