#include "exec/topk_heap.h"

#include "base/alloc.h"
#include "runtime/sort_in_turns.h"

#include <endian.h>

/* Room for the key of a number or two; as much is taken for every shorter one, so that it can be used again. */
enum { SHORT_KEY_BYTES = 32 };

static bool has_long_key(const struct topk_entry *entry)
{
    return entry->key_capacity > SHORT_KEY_BYTES;
}

void topk_heap_init(struct topk_heap *heap, size_t limit)
{
    *heap = (struct topk_heap){.limit = limit};
}

void topk_heap_reset(struct topk_heap *heap)
{
    for (size_t i = 0; heap->long_keys > 0 && i < heap->allocated; i++)
        if (has_long_key(&heap->entries[i]))
            free(heap->entries[i].key);
    arena_reset(&heap->short_keys);
    free(heap->entries);
    *heap = (struct topk_heap){.limit = heap->limit};
}

static uint64_t prefix_of(struct str key)
{
    uint64_t prefix = 0;
    memcpy(&prefix, key.data, MIN(key.length, sizeof prefix));
    return be64toh(prefix);
}

static struct str key_of(const struct topk_entry *entry)
{
    return (struct str){(const char *)entry->key, entry->key_length};
}

int topk_entry_compare(const struct topk_entry *a, const struct topk_entry *b)
{
    /* Equal prefixes of keys say nothing yet. */
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    return str_compare(key_of(a), key_of(b));
}

bool topk_heap_accepts(const struct topk_heap *heap, struct str key)
{
    if (heap->count < heap->limit)
        return true;
    if (heap->limit == 0)
        return false;
    const struct topk_entry *worst = topk_heap_worst(heap);
    uint64_t prefix = prefix_of(key);
    if (prefix != worst->prefix)
        return prefix < worst->prefix;
    return str_compare(key, key_of(worst)) < 0;
}

/* Room for one more entry at the end; its key memory may be left from before. */
static kith_error *add_entry(struct topk_heap *heap)
{
    if (heap->count < heap->allocated)
        return NULL;
    /* `allocated` counts entries in use or reusable; the array grows by doubling up to K. */
    if ((heap->allocated & (heap->allocated - 1)) == 0) {
        size_t capacity = MIN(heap->allocated == 0 ? (size_t)1 : heap->allocated * 2, heap->limit);
        TRY(alloc_resize(&heap->entries, capacity, sizeof *heap->entries));
    }
    heap->entries[heap->allocated++] = (struct topk_entry){0};
    return NULL;
}

static kith_error *make_room(struct topk_heap *heap, struct topk_entry *entry, size_t length)
{
    if (length > UINT32_MAX / 2)
        return error_new(KITH_ERROR_LIMIT, "a sort key of %zu bytes is too long", length);
    if (length <= SHORT_KEY_BYTES) {
        TRY(arena_alloc(&heap->short_keys, SHORT_KEY_BYTES, 1, &entry->key));
        entry->key_capacity = SHORT_KEY_BYTES;
        return NULL;
    }
    bool was_long = has_long_key(entry);
    uint8_t *key = was_long ? entry->key : NULL;
    uint32_t capacity = (uint32_t)(length + length / 2);
    TRY(alloc_resize(&key, capacity, 1));
    heap->long_keys += !was_long;
    heap->long_key_bytes += capacity - (was_long ? entry->key_capacity : 0);
    entry->key = key;
    entry->key_capacity = capacity;
    return NULL;
}

static kith_error *set_entry(struct topk_heap *heap, struct topk_entry *entry, struct str key, uint64_t row)
{
    if (entry->key == NULL || key.length > entry->key_capacity)
        TRY(make_room(heap, entry, key.length));
    memcpy(entry->key, key.data, key.length);
    entry->key_length = (uint32_t)key.length;
    entry->prefix = prefix_of(key);
    entry->row = row;
    return NULL;
}

/* Puts `entry` into the hole at `i` or above it, moving down what is smaller. */
static void sift_up(struct topk_heap *heap, size_t i, struct topk_entry entry)
{
    while (i > 0) {
        size_t parent = (i - 1) / 2;
        if (topk_entry_compare(&heap->entries[parent], &entry) >= 0)
            break;
        heap->entries[i] = heap->entries[parent];
        i = parent;
    }
    heap->entries[i] = entry;
}

/* Restores the order below the top. What replaced the worst entry mostly belongs near the leaves: so the hole goes all
 * the way down to one, along the larger children, and the entry comes up from there (I. Wegener, "Bottom-up heapsort",
 * 1993). */
static void sift_down(struct topk_heap *heap)
{
    struct topk_entry entry = heap->entries[0], *entries = heap->entries;
    size_t hole = 0;
    for (size_t child = 1; child < heap->count; child = 2 * hole + 1) {
        size_t other = MIN(child + 1, heap->count - 1);
        bool other_is_larger =
            entries[other].prefix > entries[child].prefix; /* no branch: it would be a coin's throw */
        if (entries[other].prefix == entries[child].prefix)
            other_is_larger = topk_entry_compare(&entries[other], &entries[child]) > 0;
        child = other_is_larger ? other : child;
        entries[hole] = entries[child];
        hole = child;
    }
    sift_up(heap, hole, entry);
}

kith_error *topk_heap_offer(struct topk_heap *heap, struct str key, uint64_t row, bool *entered)
{
    *entered = topk_heap_accepts(heap, key);
    if (!*entered)
        return NULL;
    if (heap->count == heap->limit) {
        TRY(set_entry(heap, &heap->entries[0], key, row));
        sift_down(heap);
        return NULL;
    }
    TRY(add_entry(heap));
    TRY(set_entry(heap, &heap->entries[heap->count], key, row));
    sift_up(heap, heap->count, heap->entries[heap->count]);
    heap->count++;
    return NULL;
}

static int compare_for_output(const void *a, const void *b, void *context)
{
    const struct topk_entry *x = a, *y = b;
    int order = topk_entry_compare(x, y);
    return order != 0 ? order : x->row < y->row ? -1 : x->row > y->row;
}

kith_error *topk_heap_sort(struct topk_heap *heap, struct cancel_token *cancel)
{
    _cleanup_free_ struct topk_entry *scratch = NULL;
    const struct sort_in_turns by_key = {
        .size = sizeof *heap->entries, .compare = compare_for_output, .cancel = cancel};
    bool in_scratch;
    if (heap->count > SORT_RUN)
        TRY(NEW_ARRAY(&scratch, heap->allocated));
    kith_error *error = sort_in_turns(&by_key, heap->entries, scratch, heap->count, &in_scratch);
    if (!in_scratch)
        return error;
    struct topk_entry *unsorted = heap->entries;
    memcpy(scratch + heap->count, unsorted + heap->count, (heap->allocated - heap->count) * sizeof *unsorted);
    heap->entries = scratch;
    scratch = unsorted;
    return error;
}

size_t topk_heap_memory_bytes(const struct topk_heap *heap)
{
    return heap->allocated * sizeof *heap->entries + heap->short_keys.bytes + heap->long_key_bytes;
}
