#include "columnar/gather.h"

#include <string.h>

static inline __attribute__((always_inline)) void gather_width(const uint8_t *restrict values, size_t width,
                                                               const uint32_t *restrict positions, size_t count,
                                                               uint8_t *restrict out)
{
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * width, values + positions[i] * width, width);
}

void gather_fixed(const void *values, size_t width, const uint32_t *positions, size_t count, void *out)
{
    switch (width) { /* constant widths become single loads and stores */
    case 1:
        gather_width(values, 1, positions, count, out);
        break;
    case 2:
        gather_width(values, 2, positions, count, out);
        break;
    case 4:
        gather_width(values, 4, positions, count, out);
        break;
    case 8:
        gather_width(values, 8, positions, count, out);
        break;
    case 16:
        gather_width(values, 16, positions, count, out);
        break;
    default:
        gather_width(values, width, positions, count, out);
        break;
    }
}

/* Of numbers below 2^31, `limit - 1 - position` has its top bit set where the position is too high; so has a position
 * that is itself above. Only operations that every processor has for vectors. */
bool gather_in_range(const uint32_t *positions, size_t count, uint32_t limit)
{
    uint32_t wrong = 0;
    if (limit == 0)
        return count == 0;
    if (limit > INT32_MAX)
        limit = INT32_MAX;
    for (size_t i = 0; i < count; i++)
        wrong |= positions[i] | (limit - 1 - positions[i]);
    return wrong >> 31 == 0;
}
