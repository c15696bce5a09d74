#include "parquet/spread.h"

#include "columnar/bitmap.h"

#include <string.h>

/* Without a branch on the bit, which would be mispredicted wherever NULLs are scattered. Before the first value there
 * is nothing to load, so the first is loaded in its stead and masked away. */
#define DEFINE_SPREAD(type)                                                                      \
    static void spread_##type(uint8_t *bytes, const uint8_t *bits, size_t count, size_t present) \
    {                                                                                            \
        type *values = (type *)(void *)bytes;                                                    \
        for (size_t i = count; i > present; i--) {                                               \
            size_t bit = bitmap_get(bits, i - 1);                                                \
            type value = values[present - (present > 0)];                                        \
            values[i - 1] = (type)(value & (type)(0 - (type)bit));                               \
            present -= bit;                                                                      \
        }                                                                                        \
    }
DEFINE_SPREAD(uint8_t)
DEFINE_SPREAD(uint16_t)
DEFINE_SPREAD(uint32_t)
DEFINE_SPREAD(uint64_t)

static void spread_bytes(uint8_t *values, size_t width, const uint8_t *bits, size_t count, size_t present)
{
    for (size_t i = count; i > present; i--) {
        if (bitmap_get(bits, i - 1))
            memcpy(values + (i - 1) * width, values + --present * width, width);
        else
            memset(values + (i - 1) * width, 0, width);
    }
}

void spread_fixed(uint8_t *values, size_t width, const uint8_t *bits, size_t count, size_t present)
{
    switch (width) {
    case 1:
        spread_uint8_t(values, bits, count, present);
        break;
    case 2:
        spread_uint16_t(values, bits, count, present);
        break;
    case 4:
        spread_uint32_t(values, bits, count, present);
        break;
    case 8:
        spread_uint64_t(values, bits, count, present);
        break;
    default:
        spread_bytes(values, width, bits, count, present);
        break;
    }
}

void spread_bits(uint8_t *values, size_t offset, const uint8_t *bits, size_t count, size_t present)
{
    for (size_t i = count; i > present; i--) {
        bool there = bitmap_get(bits, i - 1);
        bitmap_assign(values, offset + i - 1, there && bitmap_get(values, offset + present - 1));
        present -= there;
    }
}

void spread_ends(int32_t *offsets, const uint8_t *bits, size_t count, size_t present)
{
    for (size_t i = count; i > present; i--) {
        offsets[i] = offsets[present];
        present -= bitmap_get(bits, i - 1);
    }
}
