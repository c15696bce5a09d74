#include "runtime/sort_in_turns.h"

#include "base/alloc.h"

kith_error *sort_array_in_turns(const struct sort_in_turns *sort, void *items, size_t count)
{
    _cleanup_free_ char *scratch = NULL;
    bool in_scratch;
    if (count < 2)
        return NULL;
    if (count > SORT_RUN)
        TRY(alloc_zeroed(count, sort->size, &scratch));
    TRY(sort_in_turns(sort, items, scratch, count, &in_scratch));
    for (size_t i = 0; in_scratch && i < count; i += SORT_BLOCK)
        memcpy((char *)items + i * sort->size, scratch + i * sort->size,
               MIN(count - i, (size_t)SORT_BLOCK) * sort->size);
    return NULL;
}
