/*
 * Encoders for tests, as plain as can be: what they write follows the format's text, not the decoders. Bytes are
 * appended to a strbuf; exact_copy moves them into a block of their own size, so that ASan sees a read past the end.
 */
#ifndef KITH_TESTS_PARQUET_ENCODERS_H
#define KITH_TESTS_PARQUET_ENCODERS_H

#include "base/macros.h"
#include "base/strbuf.h"

#include <stdlib.h>

#include "testing.h"

static inline uint8_t *exact_copy(const struct strbuf *bytes)
{
    uint8_t *copy = malloc(bytes->length == 0 ? 1 : bytes->length);
    assert_non_null(copy);
    if (bytes->length > 0)
        memcpy(copy, bytes->data, bytes->length);
    return copy;
}

static inline void put_byte(struct strbuf *out, unsigned byte)
{
    assert_ok(strbuf_append(out, &(uint8_t){(uint8_t)byte}, 1));
}

static inline void put_varint(struct strbuf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(out, (unsigned)(value & 0x7f) | 0x80);
    put_byte(out, (unsigned)value);
}

static inline void put_zigzag(struct strbuf *out, int64_t value)
{
    put_varint(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

/* Least significant bit first, bit by bit; zeros fill the last byte. */
static inline void put_packed(struct strbuf *out, const uint64_t *values, size_t count, unsigned width)
{
    unsigned byte = 0;
    size_t bit = 0;
    for (size_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < width; k++) {
            byte |= (unsigned)(values[i] >> k & 1) << bit % 8;
            if (++bit % 8 == 0) {
                put_byte(out, byte);
                byte = 0;
            }
        }
    }
    if (bit % 8 != 0)
        put_byte(out, byte);
}

/* Runs of 8 and more equal values are repeated, others packed in groups of 8, the last one padded with zeros. */
static inline void put_rle(struct strbuf *out, const uint64_t *values, size_t count, unsigned width)
{
    for (size_t i = 0; i < count;) {
        size_t equal = 1;
        while (i + equal < count && values[i + equal] == values[i])
            equal++;
        if (equal >= 8) {
            put_varint(out, equal << 1);
            for (unsigned k = 0; k < (width + 7) / 8; k++)
                put_byte(out, (unsigned)(values[i] >> 8 * k & 0xff));
            i += equal;
        } else {
            uint64_t group[8] = {0};
            size_t taken = count - i < 8 ? count - i : 8;
            memcpy(group, values + i, taken * sizeof *values);
            put_varint(out, 1 << 1 | 1);
            put_packed(out, group, 8, width);
            i += taken;
        }
    }
}

static inline unsigned bits_needed(uint64_t value)
{
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* One block of DELTA_BINARY_PACKED: `deltas` (in two's complement of `bits`) less the smallest of them. */
static inline void put_delta_block(struct strbuf *out, const int64_t *deltas, size_t count, size_t block,
                                   size_t miniblocks, unsigned bits)
{
    size_t size = block / miniblocks;
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    int64_t minimum = deltas[0];
    for (size_t i = 1; i < count; i++)
        minimum = deltas[i] < minimum ? deltas[i] : minimum;
    put_zigzag(out, minimum);
    _cleanup_(strbuf_reset) struct strbuf packed = {0};
    for (size_t m = 0; m < miniblocks; m++) {
        uint64_t values[1024] = {0}, all = 0;
        for (size_t i = 0; i < size && m * size + i < count; i++)
            all |= values[i] = ((uint64_t)deltas[m * size + i] - (uint64_t)minimum) & mask;
        bool needed = m * size < count;
        put_byte(out, needed ? bits_needed(all) : 0xee); /* an unneeded miniblock's width means nothing */
        if (needed)
            put_packed(&packed, values, size, bits_needed(all));
    }
    assert_ok(strbuf_append(out, packed.data, packed.length));
}

static inline void put_delta(struct strbuf *out, const int64_t *values, size_t count, size_t block, size_t miniblocks,
                             unsigned bits)
{
    put_varint(out, block);
    put_varint(out, miniblocks);
    put_varint(out, count);
    put_zigzag(out, count > 0 ? values[0] : 0);
    for (size_t i = 1; i < count; i += block) {
        int64_t deltas[2048];
        size_t taken = count - i < block ? count - i : block;
        for (size_t k = 0; k < taken; k++) {
            uint64_t delta = (uint64_t)values[i + k] - (uint64_t)values[i + k - 1];
            deltas[k] = bits == 64 ? (int64_t)delta : (int32_t)(uint32_t)delta;
        }
        put_delta_block(out, deltas, taken, block, miniblocks, bits);
    }
}

static inline void put_delta_length(struct strbuf *out, const struct str *values, size_t count)
{
    int64_t lengths[4096];
    assert_true(count <= ARRAY_SIZE(lengths));
    for (size_t i = 0; i < count; i++)
        lengths[i] = (int64_t)values[i].length;
    put_delta(out, lengths, count, 128, 4, 32);
    for (size_t i = 0; i < count; i++)
        assert_ok(strbuf_append(out, values[i].data, values[i].length));
}

static inline void put_delta_strings(struct strbuf *out, const struct str *values, size_t count)
{
    int64_t prefixes[4096];
    struct str rests[4096], before = {0};
    assert_true(count <= ARRAY_SIZE(prefixes));
    for (size_t i = 0; i < count; before = values[i++]) {
        size_t shared = 0;
        while (shared < before.length && shared < values[i].length && before.data[shared] == values[i].data[shared])
            shared++;
        prefixes[i] = (int64_t)shared;
        rests[i] = (struct str){values[i].data + shared, values[i].length - shared};
    }
    put_delta(out, prefixes, count, 128, 4, 32);
    put_delta_length(out, rests, count);
}

#endif
