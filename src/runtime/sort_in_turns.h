/*
 * A stable merge sort that gives way: other fibers get their turn every few thousand items, and a cancelled query ends
 * in the middle of it. Runs are sorted in the cache and merged there to blocks, which are then merged over all.
 *
 * sort_in_turns is inlined where it is called, so that the size of an item is known to the compiler; for what is sorted
 * once a query there is sort_array_in_turns. From a fiber or not.
 */
#ifndef KITH_RUNTIME_SORT_IN_TURNS_H
#define KITH_RUNTIME_SORT_IN_TURNS_H

#include "base/error.h"
#include "runtime/coop.h"

#include <stdlib.h>
#include <string.h>

/* A run takes well below a millisecond, even of long keys; a block of rows fits the second-level cache. From one to the
 * other it is an even number of merges, so that a block ends where it was. */
enum { SORT_RUN = 2048, SORT_BLOCK = 16 * SORT_RUN, SORT_MERGED_A_CHARGE = 4096 };

typedef int sort_compare(const void *a, const void *b, void *context);

struct sort_in_turns {
    size_t size; /* of an item */
    sort_compare *compare;
    void *context;               /* given to `compare` */
    struct cancel_token *cancel; /* ends the sort, as the fiber's own does; may be NULL */
};

static inline kith_error *sort_charge(const struct sort_in_turns *sort)
{
    TRY(cancel_token_check(sort->cancel));
    return coop_charge(1);
}

/* Merges [start, middle) and [middle, end) of `from` to the same places of `to`. */
static inline __attribute__((always_inline)) kith_error *sort_merge(const struct sort_in_turns *sort, const char *from,
                                                                    char *to, size_t start, size_t middle, size_t end)
{
    size_t size = sort->size, left = start, right = middle;
    for (size_t out = start; out < end; out++) {
        bool from_left = left < middle &&
                         (right >= end || sort->compare(from + left * size, from + right * size, sort->context) <= 0);
        memcpy(to + out * size, from + (from_left ? left++ : right++) * size, size);
        if (out % SORT_MERGED_A_CHARGE == 0)
            TRY(sort_charge(sort));
    }
    return NULL;
}

/* Merges the runs of `width` items in [start, end), and these again, until they are as wide as `most`. *in_scratch says
 * where they ended up. */
static inline __attribute__((always_inline)) kith_error *sort_merge_runs(const struct sort_in_turns *sort, char *items,
                                                                         char *scratch, size_t start, size_t end,
                                                                         size_t width, size_t most, bool *in_scratch)
{
    *in_scratch = false;
    for (; width < most; width *= 2) {
        const char *from = *in_scratch ? scratch : items;
        char *to = *in_scratch ? items : scratch;
        kith_error *error = NULL;
        for (size_t at = start; at < end && error == NULL; at += 2 * width)
            error = sort_merge(sort, from, to, at, MIN(at + width, end), MIN(at + 2 * width, end));
        if (error != NULL)
            return error; /* all are still where they were before this width */
        *in_scratch = !*in_scratch;
    }
    return NULL;
}

/* Sorts `count` items. `scratch` has room for as many where they are more than SORT_RUN. They end up in one of the two:
 * *in_scratch. So they do after an error, in some order. */
static inline __attribute__((always_inline)) kith_error *_must_check_ sort_in_turns(const struct sort_in_turns *sort,
                                                                                    void *items, void *scratch,
                                                                                    size_t count, bool *in_scratch)
{
    *in_scratch = false;
    for (size_t start = 0; start < count; start += SORT_RUN) {
        qsort_r((char *)items + start * sort->size, MIN(count - start, (size_t)SORT_RUN), sort->size, sort->compare,
                sort->context);
        TRY(sort_charge(sort));
    }
    if (count <= SORT_RUN)
        return NULL;
    for (size_t start = 0; start < count; start += SORT_BLOCK) {
        size_t end = MIN(start + SORT_BLOCK, count);
        kith_error *error = sort_merge_runs(sort, items, scratch, start, end, SORT_RUN, SORT_BLOCK, in_scratch);
        if (error != NULL && *in_scratch)
            memcpy((char *)items + start * sort->size, (char *)scratch + start * sort->size,
                   (end - start) * sort->size);
        *in_scratch = *in_scratch && error == NULL;
        TRY(error);
    }
    return sort_merge_runs(sort, items, scratch, 0, count, SORT_BLOCK, count, in_scratch);
}

/* The same in place, with a scratch array of its own. After an error all items are there, in some order. */
kith_error *sort_array_in_turns(const struct sort_in_turns *sort, void *items, size_t count) _must_check_;

#endif
