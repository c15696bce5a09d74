#include "exec/topk_ranks.h"

#include <stdlib.h>

/* So many rows tell where the ranks of a large heap are; then they are counted among all. */
enum { SAMPLE_ROWS = 256 };

static struct str key_of(const struct topk_entry *entry)
{
    return (struct str){(const char *)entry->key, entry->key_length};
}

static int compare(const void *a, const void *b)
{
    const struct topk_entry *const *x = a, *const *y = b;
    return topk_entry_compare(*x, *y);
}

static size_t sample(const struct topk_heap *heap, const struct bound *bound, const struct bound *floor,
                     const struct topk_entry **out)
{
    size_t stride = heap->count / SAMPLE_ROWS + 1, count = 0;
    for (size_t i = 0; i < heap->count; i += stride) {
        struct str key = key_of(&heap->entries[i]);
        if ((bound == NULL || bound_is_beaten_by(bound, key)) && (floor == NULL || !bound_is_ahead_of(floor, key)))
            out[count++] = &heap->entries[i];
    }
    qsort(out, count, sizeof *out, compare);
    return count;
}

/* How many rows are no worse than each of the chosen: each row counts for the first that it is no worse than. */
static void count_rows(const struct topk_heap *heap, struct topk_rank *ranks, size_t count)
{
    for (size_t i = 0; i < heap->count; i++) {
        size_t low = 0, high = count;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (topk_entry_compare(&heap->entries[i], ranks[middle].entry) <= 0)
                high = middle;
            else
                low = middle + 1;
        }
        if (low < count)
            ranks[low].rows++;
    }
    for (size_t i = 1; i < count; i++)
        ranks[i].rows += ranks[i - 1].rows;
}

size_t topk_ranks(const struct topk_heap *heap, const struct bound *bound, const struct bound *floor,
                  struct topk_rank out[LIMIT_BOUND_RANKS])
{
    const struct topk_entry *rows[SAMPLE_ROWS];
    size_t total = sample(heap, bound, floor, rows), count = 0;
    for (size_t part = 1; part <= LIMIT_BOUND_RANKS && total > 0; part++) {
        const struct topk_entry *entry = rows[MAX(total * part / LIMIT_BOUND_RANKS, (size_t)1) - 1];
        if (count == 0 || topk_entry_compare(out[count - 1].entry, entry) < 0)
            out[count++] = (struct topk_rank){.entry = entry};
    }
    count_rows(heap, out, count);
    return count;
}

const struct topk_entry *topk_heap_best(const struct topk_heap *heap)
{
    const struct topk_entry *best = &heap->entries[0];
    for (size_t i = 1; i < heap->count; i++)
        if (topk_entry_compare(&heap->entries[i], best) < 0)
            best = &heap->entries[i];
    return best;
}
