#include "parquet/codec_snappy.h"

#include "columnar/frames.h"
#include "parquet/bit_unpack.h"
#include "runtime/coop.h"

/* Where reading and writing have come to. */
struct cursor {
    const uint8_t *in, *in_end;
    uint8_t *out_begin, *out, *out_end;
    uint8_t *stop;       /* where the chunk ends: no element begins there, and a literal is cut; not past out_end */
    size_t literal_left; /* of the literal that was cut */
};

enum {
    VECTOR = 16,
    SHORT_LITERAL = 60,        /* up to here a literal's length is in its tag; a copy is at most 64 long */
    MARGIN = 2 * (64 + VECTOR) /* no short literal and copy together reach farther, overrun included */
};

enum element { ELEMENT_LITERAL = 0, ELEMENT_NEAR_COPY = 1, ELEMENT_COPY = 2, ELEMENT_FAR_COPY = 3 };

/* As much of the literal as there is room for before the chunk's end. */
static void copy_literal(struct cursor *at)
{
    size_t length = MIN(at->literal_left, (size_t)(at->stop - at->out));
    if (length == 0)
        return;
    memcpy(at->out, at->in, length);
    at->in += length;
    at->out += length;
    at->literal_left -= length;
}

/* A literal's length is in the tag, or in 1 to 4 bytes behind it. */
static bool decode_literal(struct cursor *at, unsigned tag)
{
    size_t length = (tag >> 2) + 1;
    if (length > SHORT_LITERAL) {
        size_t bytes = length - SHORT_LITERAL;
        uint8_t number[4] = {0};
        if ((size_t)(at->in_end - at->in) < bytes)
            return false;
        memcpy(number, at->in, bytes);
        at->in += bytes;
        length = (size_t)load_u32(number) + 1;
    }
    if (length > (size_t)(at->in_end - at->in) || length > (size_t)(at->out_end - at->out))
        return false;
    at->literal_left = length;
    copy_literal(at);
    return true;
}

/* A copy of what was written `offset` bytes ago, which may reach into what it writes itself. */
static bool decode_copy(struct cursor *at, unsigned tag)
{
    static const uint8_t offset_bytes[4] = {0, 1, 2, 4};
    size_t bytes = offset_bytes[tag & 3], length = (tag >> 2) + 1;
    uint8_t number[4] = {0};
    if ((size_t)(at->in_end - at->in) < bytes)
        return false;
    memcpy(number, at->in, bytes);
    at->in += bytes;
    size_t offset = load_u32(number);
    if ((tag & 3) == ELEMENT_NEAR_COPY) {
        length = 4 + (tag >> 2 & 7);
        offset |= (size_t)(tag >> 5) << 8;
    }
    if (offset == 0 || offset > (size_t)(at->out - at->out_begin) || length > (size_t)(at->out_end - at->out))
        return false;
    for (; length > 0; length--, at->out++)
        *at->out = *(at->out - offset);
    return true;
}

/* Any element, to the byte. */
static bool decode_element(struct cursor *at)
{
    unsigned tag = *at->in++;
    return (tag & 3) == ELEMENT_LITERAL ? decode_literal(at, tag) : decode_copy(at, tag);
}

static inline void copy_vector(uint8_t *out, const uint8_t *from)
{
    uint8_t vector[VECTOR];
    memcpy(vector, from, VECTOR);
    memcpy(out, vector, VECTOR);
}

/* Up to 64 bytes from VECTOR or more before, or from elsewhere. */
static inline void copy_vectors(uint8_t *out, const uint8_t *from, size_t length)
{
    copy_vector(out, from);
    copy_vector(out + VECTOR, from + VECTOR);
    if (_unlikely_(length > (size_t)2 * VECTOR)) {
        copy_vector(out + 2 * VECTOR, from + 2 * VECTOR);
        copy_vector(out + 3 * VECTOR, from + 3 * VECTOR);
    }
}

/* An offset shorter than the copy repeats a pattern. One of 1, 2, 4 or 8 bytes, as numbers make them, fills a word,
 * which is written as often as the longest copy needs. */
static void copy_short_pattern(uint8_t *out, size_t offset)
{
    static const uint64_t masks[9] = {[1] = 0xff, [2] = 0xffff, [4] = 0xffffffff, [8] = UINT64_MAX};
    static const uint64_t repeats[9] = {
        [1] = 0x0101010101010101, [2] = 0x0001000100010001, [4] = 0x0000000100000001, [8] = 1};
    uint64_t word = (load_u64(out - offset) & masks[offset]) * repeats[offset];
    for (size_t i = 0; i < 64; i += sizeof word)
        memcpy(out + i, &word, sizeof word);
}

/* Of 8 bytes of a pattern written as they stand only the first `offset` are right, but then the pattern is twice as
 * long. */
static void copy_odd_pattern(uint8_t *out, size_t offset, size_t length)
{
    const uint8_t *from = out - offset;
    uint8_t *end = out + length;
    for (; offset < 8; offset *= 2) {
        uint64_t word = load_u64(from);
        memcpy(out, &word, sizeof word);
        out += offset;
    }
    for (; out < end; out += 8, from += 8) {
        uint64_t word = load_u64(from);
        memcpy(out, &word, sizeof word);
    }
}

/* Elements for as long as two of them may be read and written with room to spare. A literal is nearly always followed
 * by a copy, so the two are one turn of the loop. How long a copy is and where it comes from are worked out without
 * branches, which nothing could predict. */
static bool decode_with_margin(struct cursor *state)
{
    struct cursor at = *state;
    while (at.in_end - at.in >= MARGIN && at.stop - at.out >= MARGIN) {
        unsigned tag = *at.in;
        if ((tag & 3) == ELEMENT_LITERAL) {
            size_t literal = (tag >> 2) + 1;
            if (_unlikely_(literal > SHORT_LITERAL)) {
                if (!decode_element(&at))
                    return false;
                continue;
            }
            copy_vectors(at.out, at.in + 1, literal);
            at.in += 1 + literal;
            at.out += literal;
            tag = *at.in;
            if (_unlikely_((tag & 3) == ELEMENT_LITERAL))
                continue;
        }
        size_t near = (size_t)0 - ((tag & 3) == ELEMENT_NEAR_COPY); /* all ones or zeros */
        size_t offset = (load_u32(at.in + 1) & (0xffff ^ (near & 0xff00))) | ((tag >> 5 << 8) & near);
        size_t length = ((tag >> 2) + 1) & ~near, near_length = 4 + (tag >> 2 & 7);
        length |= near_length & near;
        if (_unlikely_(offset - 1 >= (size_t)(at.out - at.out_begin)) || _unlikely_((tag & 3) == ELEMENT_FAR_COPY)) {
            if (!decode_element(&at))
                return false;
            continue;
        }
        if (_likely_(offset >= VECTOR))
            copy_vectors(at.out, at.out - offset, length);
        else if (_likely_((offset & (offset - 1)) == 0))
            copy_short_pattern(at.out, offset);
        else
            copy_odd_pattern(at.out, offset, length);
        at.in += (tag & 3) + 1;
        at.out += length;
    }
    *state = at;
    return true;
}

static bool decode_to_stop(struct cursor *at)
{
    while (at->in < at->in_end && at->out < at->stop)
        if (!decode_element(at))
            return false;
    return true;
}

/* Up to the chunk's end, which the last copy may reach past. */
static bool decode_chunk(struct cursor *at, size_t size)
{
    at->stop = at->out + MIN(size, (size_t)(at->out_end - at->out));
    copy_literal(at);
    return decode_with_margin(at) && decode_to_stop(at);
}

kith_error *snappy_decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    struct cursor at = {.in = in, .in_end = in + in_size, .out_begin = out, .out = out, .out_end = out + out_size};
    uint64_t declared;
    if (!varint_read(&at.in, at.in_end, &declared) || declared > UINT32_MAX)
        return error_new(KITH_ERROR_CORRUPT, "snappy data is malformed: no length at its beginning");
    if (declared != out_size)
        return error_new(KITH_ERROR_CORRUPT, "snappy data holds %llu bytes; the page header declares %zu",
                         (unsigned long long)declared, out_size);
    size_t chunk = out_size <= FRAME_WHOLE_BYTES ? out_size : COOP_CHUNK_BYTES;
    bool valid = decode_chunk(&at, chunk);
    while (valid && at.out < at.out_end && at.in < at.in_end) {
        TRY(coop_charge(1));
        valid = decode_chunk(&at, chunk);
    }
    if (!valid || at.in < at.in_end || at.out < at.out_end)
        return error_new(KITH_ERROR_CORRUPT, "snappy data is malformed: a copy or literal out of bounds");
    return NULL;
}
