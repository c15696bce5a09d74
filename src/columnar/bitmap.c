#include "columnar/bitmap.h"

#include <string.h>

/* Little-endian, like every target of Kith. */
static uint64_t load(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Up to 8 bits from any bit position, without reading a byte that holds none of them. */
static unsigned load_bits(const uint8_t *bits, size_t offset, size_t count)
{
    unsigned shift = offset & 7;
    unsigned value = bits[offset >> 3] >> shift;
    if (shift + count > 8)
        value |= (unsigned)bits[(offset >> 3) + 1] << (8 - shift);
    return value & ((1u << count) - 1);
}

size_t bitmap_count(const uint8_t *bits, size_t offset, size_t length)
{
    size_t ones = 0;
    if (length == 0)
        return 0;
    size_t lead = offset % 8 == 0 ? 0 : 8 - offset % 8;
    if (lead > length)
        lead = length;
    if (lead > 0)
        ones += (size_t)__builtin_popcount(load_bits(bits, offset, lead));
    bits += (offset + lead) / 8;
    length -= lead;
    for (; length >= 64; length -= 64, bits += 8)
        ones += (size_t)__builtin_popcountll(load(bits));
    for (; length > 0; bits++) {
        size_t count = length < 8 ? length : 8;
        ones += (size_t)__builtin_popcount(load_bits(bits, 0, count));
        length -= count;
    }
    return ones;
}

static void store_bits(uint8_t *byte, unsigned shift, size_t count, unsigned value)
{
    unsigned mask = ((1u << count) - 1) << shift;
    *byte = (uint8_t)((*byte & ~mask) | ((value << shift) & mask));
}

void bitmap_copy(uint8_t *out, size_t out_offset, const uint8_t *bits, size_t offset, size_t length)
{
    if (length == 0)
        return;
    size_t lead = out_offset % 8 == 0 ? 0 : 8 - out_offset % 8;
    if (lead > length)
        lead = length;
    if (lead > 0)
        store_bits(&out[out_offset >> 3], out_offset & 7, lead, load_bits(bits, offset, lead));
    out += (out_offset + lead) / 8;
    offset += lead;
    length -= lead;
    bits += offset / 8;
    unsigned shift = offset & 7;
    if (shift == 0) {
        memcpy(out, bits, length / 8);
    } else {
        size_t i = 0;
        for (; (i + 8) * 8 <= length; i += 8) {
            uint64_t word = load(bits + i) >> shift | (uint64_t)bits[i + 8] << (64 - shift);
            memcpy(out + i, &word, sizeof word);
        }
        for (; (i + 1) * 8 <= length; i++)
            out[i] = (uint8_t)(bits[i] >> shift | bits[i + 1] << (8 - shift));
    }
    if (length % 8 != 0)
        store_bits(&out[length / 8], 0, length % 8, load_bits(bits, shift + length / 8 * 8, length % 8));
}

void bitmap_and(uint8_t *out, size_t out_offset, const uint8_t *bits, size_t offset, size_t length)
{
    for (size_t done = 0; done < length;) {
        size_t at = out_offset + done;
        size_t count = 8 - at % 8;
        if (count > length - done)
            count = length - done;
        unsigned both = load_bits(out, at, count) & load_bits(bits, offset + done, count);
        store_bits(&out[at >> 3], at & 7, count, both);
        done += count;
    }
}

void bitmap_fill(uint8_t *bits, size_t offset, size_t length, bool value)
{
    if (length == 0)
        return;
    unsigned all = value ? 0xff : 0;
    size_t lead = offset % 8 == 0 ? 0 : 8 - offset % 8;
    if (lead > length)
        lead = length;
    if (lead > 0)
        store_bits(&bits[offset >> 3], offset & 7, lead, all);
    bits += (offset + lead) / 8;
    length -= lead;
    memset(bits, (int)all, length / 8);
    if (length % 8 != 0)
        store_bits(&bits[length / 8], 0, length % 8, all);
}
