#include "parquet/writer_parts.h"

enum {
    GROUP = 8, /* values are bit-packed by the group */
    /* Groups in one packed run: their bits stay small enough to sit on the stack. */
    LARGEST_PACKED_RUN = 64 * GROUP
};

unsigned writer_bit_width(size_t count)
{
    unsigned width = 1;
    while (width < 32 && (count - 1) >> width != 0)
        width++;
    return width;
}

static kith_error *append_varint(struct strbuf *out, uint64_t value)
{
    unsigned char bytes[10];
    size_t length = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[length++] = (unsigned char)(value | 0x80);
    bytes[length++] = (unsigned char)value;
    return strbuf_append(out, bytes, length);
}

static kith_error *append_repeated(uint32_t value, size_t count, unsigned width, struct strbuf *out)
{
    unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                              (unsigned char)(value >> 24)};
    TRY(append_varint(out, (uint64_t)count << 1));
    return strbuf_append(out, bytes, (width + 7) / 8);
}

/* Whole groups; only the last run of all may have to be filled up with zeros. */
static kith_error *append_packed(const uint32_t *values, size_t count, unsigned width, struct strbuf *out)
{
    size_t groups = (count + GROUP - 1) / GROUP;
    unsigned char packed[LARGEST_PACKED_RUN * 4];
    uint64_t bits = 0;
    unsigned pending = 0;
    size_t length = 0;
    for (size_t i = 0; i < groups * GROUP; i++) {
        bits |= (uint64_t)(i < count ? values[i] : 0) << pending;
        for (pending += width; pending >= 8; pending -= 8) {
            packed[length++] = (unsigned char)bits;
            bits >>= 8;
        }
    }
    TRY(append_varint(out, (uint64_t)groups << 1 | 1));
    return strbuf_append(out, packed, length);
}

static size_t run_length(const uint32_t *values, size_t count)
{
    size_t length = 1;
    while (length < count && values[length] == values[0])
        length++;
    return length;
}

/* Values that repeat too seldom wait in [packed, at) until a run begins. A packed run must be whole groups, so it takes
 * what it lacks from the run. */
kith_error *writer_append_rle(const uint32_t *values, size_t count, unsigned width, struct strbuf *out)
{
    size_t packed = 0, at = 0;
    while (at < count) {
        size_t run = run_length(values + at, count - at);
        size_t lacking = (GROUP - (at - packed) % GROUP) % GROUP;
        if (run >= lacking + GROUP) {
            if (at + lacking > packed)
                TRY(append_packed(values + packed, at + lacking - packed, width, out));
            TRY(append_repeated(values[at], run - lacking, width, out));
            at += run;
            packed = at;
            continue;
        }
        at += run;
        while (at - packed >= LARGEST_PACKED_RUN) {
            TRY(append_packed(values + packed, LARGEST_PACKED_RUN, width, out));
            packed += LARGEST_PACKED_RUN;
        }
    }
    return packed < count ? append_packed(values + packed, count - packed, width, out) : NULL;
}
