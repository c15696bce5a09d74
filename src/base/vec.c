#include "base/vec.h"

kith_error *vec_grow(void *in_out_items, size_t *capacity, size_t needed, size_t item_size)
{
    size_t grown = MAX(needed, *capacity + *capacity / 2);
    grown = MAX(grown, (size_t)8);
    TRY(alloc_resize(in_out_items, grown, item_size));
    *capacity = grown;
    return NULL;
}
