#include "cluster/bound_steps.h"

#include "base/limits.h"

kith_error *bound_steps_choose(struct arena *arena, struct sort_order order, const struct scalar *const *best,
                               size_t count, struct bound_steps *out)
{
    struct scalar *values;
    TRY(ARENA_NEW_ARRAY(arena, &values, MIN(count, (size_t)LIMIT_BOUND_STEPS)));
    *out = (struct bound_steps){.values = values, .order = order};
    for (size_t i = 0; i < count && out->count < LIMIT_BOUND_STEPS; i += MAX((size_t)1, (count - i) / 4))
        if (out->count == 0 || sort_order_compare(best[i], &values[out->count - 1], order) != 0)
            values[out->count++] = *best[i];
    return NULL;
}

size_t bound_steps_passed(const struct bound_steps *steps, const struct scalar *value)
{
    size_t low = 0, high = steps->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sort_order_compare(value, &steps->values[middle], steps->order) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
