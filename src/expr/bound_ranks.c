#include "expr/bound_ranks.h"

#include "base/alloc.h"

/* `rows` more of the holder's rows are no worse than `bound` than are no worse than its rank before. */
struct entry {
    struct bound *bound;
    size_t holder;
    uint64_t rows;
};

struct bound_ranks {
    uint64_t wanted;
    struct bound *strongest;
    struct entry *entries; /* best first */
    size_t count, capacity;
    struct reservation reservation;
    size_t bound_bytes; /* of the entries' bounds */
};

kith_error *bound_ranks_new(size_t holders, uint64_t wanted, struct memory_pool *pool, struct bound_ranks **out)
{
    _cleanup_(bound_ranks_free) struct bound_ranks *ranks = NULL;
    TRY(NEW(&ranks));
    ranks->wanted = wanted;
    ranks->capacity = holders * LIMIT_BOUND_RANKS;
    ranks->reservation = reservation_make(pool, "ranks of Top-Ks");
    TRY(reservation_resize(&ranks->reservation, ranks->capacity * sizeof *ranks->entries));
    TRY(NEW_ARRAY(&ranks->entries, ranks->capacity));
    *out = TAKE(ranks);
    return NULL;
}

void bound_ranks_free(struct bound_ranks *ranks)
{
    if (ranks == NULL)
        return;
    for (size_t i = 0; i < ranks->count; i++)
        bound_unref(ranks->entries[i].bound);
    bound_unref(ranks->strongest);
    reservation_release(&ranks->reservation);
    free(ranks->entries);
    free(ranks);
}

static bool is_stronger(const struct bound *bound, const struct bound *than)
{
    return than == NULL || bound_compare(bound, than) < 0;
}

/* Less memory is always there. */
static void shrink(struct bound_ranks *ranks)
{
    error_free(reservation_resize(&ranks->reservation, ranks->capacity * sizeof *ranks->entries + ranks->bound_bytes));
}

static void drop_from(struct bound_ranks *ranks, size_t count)
{
    while (ranks->count > count) {
        struct bound *bound = ranks->entries[--ranks->count].bound;
        ranks->bound_bytes -= bound_memory_bytes(bound);
        bound_unref(bound);
    }
    shrink(ranks);
}

void bound_ranks_note(struct bound_ranks *ranks, struct bound *bound)
{
    if (!is_stronger(bound, ranks->strongest))
        return;
    bound_unref(ranks->strongest);
    ranks->strongest = bound_ref(bound);
    size_t kept = ranks->count;
    while (kept > 0 && !is_stronger(ranks->entries[kept - 1].bound, ranks->strongest))
        kept--;
    drop_from(ranks, kept);
}

static void remove_holder(struct bound_ranks *ranks, size_t holder)
{
    size_t kept = 0;
    for (size_t i = 0; i < ranks->count; i++) {
        if (ranks->entries[i].holder != holder) {
            ranks->entries[kept++] = ranks->entries[i];
            continue;
        }
        ranks->bound_bytes -= bound_memory_bytes(ranks->entries[i].bound);
        bound_unref(ranks->entries[i].bound);
    }
    ranks->count = kept;
}

/* From the back, so that nothing is overwritten that is still to be moved. */
static void merge(struct bound_ranks *ranks, size_t holder, const struct bound_rank *list, size_t count)
{
    size_t old = ranks->count;
    ranks->count += count;
    for (size_t at = ranks->count; count > 0; at--) {
        const struct bound_rank *rank = &list[count - 1];
        if (old > 0 && bound_compare(ranks->entries[old - 1].bound, rank->bound) > 0) {
            ranks->entries[at - 1] = ranks->entries[--old];
            continue;
        }
        uint64_t before = count > 1 ? list[count - 2].rows : 0;
        ranks->entries[at - 1] = (struct entry){bound_ref(rank->bound), holder, rank->rows - before};
        count--;
    }
}

/* The first entry at which enough rows have come together. */
static void prove(struct bound_ranks *ranks)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < ranks->count; i++) {
        rows += MIN(ranks->entries[i].rows, ranks->wanted);
        if (rows < ranks->wanted)
            continue;
        _cleanup_(bound_unref) struct bound *proved = bound_ref(ranks->entries[i].bound);
        bound_ranks_note(ranks, proved);
        return;
    }
}

kith_error *bound_ranks_replace(struct bound_ranks *ranks, size_t holder, const struct bound_rank *list, size_t count)
{
    size_t bytes = 0;
    ASSERT(count <= LIMIT_BOUND_RANKS);
    while (count > 0 && !is_stronger(list[count - 1].bound, ranks->strongest))
        count--;
    for (size_t i = 0; i < count; i++)
        bytes += bound_memory_bytes(list[i].bound);
    remove_holder(ranks, holder);
    kith_error *refused =
        reservation_resize(&ranks->reservation, ranks->capacity * sizeof *ranks->entries + ranks->bound_bytes + bytes);
    if (refused != NULL) {
        shrink(ranks);
        return refused;
    }
    ranks->bound_bytes += bytes;
    merge(ranks, holder, list, count);
    prove(ranks);
    return NULL;
}

struct bound *bound_ranks_strongest(const struct bound_ranks *ranks)
{
    return ranks->strongest;
}

size_t bound_ranks_summarise(const struct bound_ranks *ranks, struct bound_rank out[BOUND_RANKS_SUMMARY])
{
    uint64_t total = 0, rows = 0, parts = 0;
    size_t count = 0;
    for (size_t i = 0; i < ranks->count; i++)
        total += ranks->entries[i].rows;
    for (size_t i = 0; i < ranks->count; i++) {
        rows += ranks->entries[i].rows;
        bool equals_next =
            i + 1 < ranks->count && bound_compare(ranks->entries[i].bound, ranks->entries[i + 1].bound) == 0;
        /* One at the end of each of so many equal parts. */
        if (equals_next || rows * BOUND_RANKS_SUMMARY / total == parts)
            continue;
        parts = rows * BOUND_RANKS_SUMMARY / total;
        out[count++] = (struct bound_rank){bound_ref(ranks->entries[i].bound), rows};
    }
    return count;
}
