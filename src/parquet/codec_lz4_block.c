/*
 * An LZ4 block in chunks. The library decodes a block by one call, which is right for those of ordinary size; this one
 * gives way in between, inside of long literals and matches, too.
 *
 * See the LZ4 block format: sequences of a token, a literal, and a match of at least 4 bytes that lies up to 64 KiB
 * back; the last one has no match. Its end is held to the format's rules as the library holds it.
 */
#include "parquet/codec_lz4.h"

#include "parquet/bit_unpack.h"
#include "runtime/coop.h"

struct cursor {
    const uint8_t *in, *in_end;
    uint8_t *out_begin, *out, *out_end;
    size_t uncharged;
};

enum {
    LEAST_MATCH = 4,
    LAST_LITERALS = 5,     /* no match reaches into them */
    LAST_MATCH_BEGIN = 12, /* no match begins later */
    VECTOR = 16,
    SHORT = 2 * VECTOR
};

/* A length of 15 goes on in bytes that are added up to and including the first below 255. False when the bytes end, or
 * when there is no room for what they say. */
static bool read_length(struct cursor *at, size_t *length)
{
    uint8_t byte;
    if (*length < 15)
        return true;
    for (; at->in_end - at->in >= 8 && load_u64(at->in) == UINT64_MAX; at->in += 8)
        *length += (size_t)8 * 255;
    do {
        if (at->in == at->in_end)
            return false;
        byte = *at->in++;
        *length += byte;
    } while (byte == 255);
    return *length <= (size_t)(at->out_end - at->out);
}

static inline void copy_two_vectors(uint8_t *out, const uint8_t *from)
{
    uint8_t vectors[SHORT];
    memcpy(vectors, from, VECTOR);
    memcpy(out, vectors, VECTOR);
    memcpy(vectors + VECTOR, from + VECTOR, VECTOR);
    memcpy(out + VECTOR, vectors + VECTOR, VECTOR);
}

static kith_error *copy_literal(struct cursor *at, size_t length, bool *fits)
{
    size_t in_left = (size_t)(at->in_end - at->in), out_left = (size_t)(at->out_end - at->out);
    *fits = length <= in_left && length <= out_left;
    if (!*fits)
        return NULL;
    if (length <= SHORT && in_left >= SHORT && out_left >= SHORT)
        copy_two_vectors(at->out, at->in);
    else
        TRY(coop_copy(at->out, at->in, length));
    at->in += length;
    at->out += length;
    return NULL;
}

/* A match that reaches into what it writes repeats a pattern: what is copied doubles with each step, always a whole
 * number of patterns. */
static kith_error *copy_match(struct cursor *at, size_t offset, size_t length)
{
    const uint8_t *from = at->out - offset;
    if (length <= SHORT && offset >= VECTOR && at->out_end - at->out >= SHORT) {
        copy_two_vectors(at->out, from);
        at->out += length;
        return NULL;
    }
    const size_t most = COOP_CHUNK_BYTES - COOP_CHUNK_BYTES % offset;
    while (length > 0) {
        size_t step = MIN(MIN((size_t)(at->out - from), length), most);
        memcpy(at->out, from, step);
        at->out += step;
        length -= step;
        TRY(coop_charge_bytes(&at->uncharged, step));
    }
    return NULL;
}

/* Copies the match of a sequence whose literal has been copied. */
static kith_error *decode_match(struct cursor *at, unsigned token, bool *valid)
{
    uint8_t *begin = at->out;
    size_t length = (token & 15), offset;
    *valid = at->in_end - at->in >= 2 && at->out_end - at->out >= LAST_MATCH_BEGIN;
    if (!*valid)
        return NULL;
    offset = (size_t)at->in[0] | (size_t)at->in[1] << 8;
    at->in += 2;
    *valid = read_length(at, &length) && offset > 0 && offset <= (size_t)(begin - at->out_begin) &&
             length + LEAST_MATCH + LAST_LITERALS <= (size_t)(at->out_end - at->out);
    return *valid ? copy_match(at, offset, length + LEAST_MATCH) : NULL;
}

kith_error *lz4_decompress_block_in_chunks(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                                           bool *valid, size_t *written)
{
    struct cursor at = {.in = in, .in_end = in + in_size, .out_begin = out, .out = out, .out_end = out + out_size};
    *valid = true;
    while (*valid) {
        *valid = at.in < at.in_end;
        if (!*valid)
            break;
        unsigned token = *at.in++;
        const uint8_t *begin = at.out;
        size_t length = token >> 4;
        *valid = read_length(&at, &length);
        if (*valid)
            TRY(copy_literal(&at, length, valid));
        if (*valid && at.in == at.in_end)
            break;
        if (*valid)
            TRY(decode_match(&at, token, valid));
        TRY(coop_charge_bytes(&at.uncharged, (size_t)(at.out - begin)));
    }
    *written = (size_t)(at.out - out);
    return NULL;
}
