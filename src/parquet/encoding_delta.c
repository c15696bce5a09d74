#include "parquet/encoding_delta.h"

#include "parquet/bit_unpack.h"
#include "runtime/coop.h"

static kith_error *ends_early(void)
{
    return error_new(KITH_ERROR_CORRUPT, "delta-encoded values end early");
}

kith_error *delta_init(struct delta_decoder *decoder, const uint8_t *bytes, size_t length, unsigned bits)
{
    ASSERT(bits == 32 || bits == 64);
    *decoder = (struct delta_decoder){.at = bytes, .end = bytes + length, .bits = bits};
    uint64_t block_values, first;
    if (!varint_read(&decoder->at, decoder->end, &block_values) ||
        !varint_read(&decoder->at, decoder->end, &decoder->miniblocks) ||
        !varint_read(&decoder->at, decoder->end, &decoder->total) || !varint_read(&decoder->at, decoder->end, &first))
        return error_new(KITH_ERROR_CORRUPT, "the header of delta-encoded values is cut short");
    if (block_values == 0 || block_values % 128 != 0 || block_values > INT32_MAX || decoder->miniblocks == 0 ||
        block_values % decoder->miniblocks != 0 || block_values / decoder->miniblocks % DELTA_CHUNK != 0)
        return error_new(
            KITH_ERROR_CORRUPT,
            "delta-encoded values in blocks of %llu with %llu miniblocks; blocks must be multiples of 128, "
            "miniblocks of 32",
            (unsigned long long)block_values, (unsigned long long)decoder->miniblocks);
    decoder->miniblock_values = block_values / decoder->miniblocks;
    decoder->next_miniblock = decoder->miniblocks;
    decoder->left = decoder->total;
    decoder->last = zigzag_decode(first);
    decoder->first_pending = decoder->total > 0;
    return NULL;
}

static kith_error *next_miniblock(struct delta_decoder *decoder)
{
    if (decoder->next_miniblock == decoder->miniblocks) {
        uint64_t minimum;
        if (!varint_read(&decoder->at, decoder->end, &minimum) ||
            (uint64_t)(decoder->end - decoder->at) < decoder->miniblocks)
            return ends_early();
        decoder->minimum_delta = zigzag_decode(minimum);
        decoder->widths = decoder->at;
        decoder->at += decoder->miniblocks;
        decoder->next_miniblock = 0;
    }
    decoder->width = decoder->widths[decoder->next_miniblock++];
    if (decoder->width > decoder->bits)
        return error_new(KITH_ERROR_CORRUPT, "a delta miniblock of %u bits for values of %u", decoder->width,
                         decoder->bits);
    decoder->miniblock_left = decoder->miniblock_values;
    return NULL;
}

/* Takes the next `values` (a whole chunk, or the last ones) of the miniblock: *in is where they are. The padding of
 * the last miniblock may be missing. */
static kith_error *take_packed(struct delta_decoder *decoder, size_t values, const uint8_t **in)
{
    size_t left = (size_t)(decoder->end - decoder->at);
    if (left < (values * decoder->width + 7) / 8)
        return ends_early();
    *in = decoder->at;
    decoder->at += MIN(left, (size_t)DELTA_CHUNK * decoder->width / 8);
    decoder->miniblock_left -= DELTA_CHUNK;
    decoder->left -= values;
    return NULL;
}

static uint64_t sum_up64(struct delta_decoder *decoder, uint64_t *values, size_t count)
{
    uint64_t last = decoder->last, minimum = decoder->minimum_delta;
    for (size_t i = 0; i < count; i++)
        values[i] = last += minimum + values[i];
    return last;
}

static uint64_t sum_up32(struct delta_decoder *decoder, uint32_t *values, size_t count)
{
    uint32_t last = (uint32_t)decoder->last, minimum = (uint32_t)decoder->minimum_delta;
    for (size_t i = 0; i < count; i++)
        values[i] = last += minimum + values[i];
    return last;
}

/* Decodes the next chunk into decoder->chunk. */
static kith_error *fill_chunk(struct delta_decoder *decoder)
{
    decoder->chunk_at = 0;
    if (decoder->first_pending) {
        decoder->first_pending = false;
        decoder->left--;
        decoder->chunk[0] = decoder->last;
        decoder->chunk_end = 1;
        return NULL;
    }
    decoder->chunk_end = 0;
    if (decoder->miniblock_left == 0)
        TRY(next_miniblock(decoder));
    size_t values = MIN(decoder->left, (uint64_t)DELTA_CHUNK);
    const uint8_t *in;
    TRY(take_packed(decoder, values, &in));
    bit_unpack64(in, decoder->end, 0, decoder->width, values, decoder->chunk);
    decoder->last = sum_up64(decoder, decoder->chunk, values);
    decoder->chunk_end = (unsigned)values;
    return NULL;
}

static kith_error *check_left(const struct delta_decoder *decoder, size_t count)
{
    uint64_t left = decoder->left + (decoder->chunk_end - decoder->chunk_at);
    if (left >= count)
        return NULL;
    return error_new(KITH_ERROR_CORRUPT, "%llu delta-encoded values are left where %zu are needed",
                     (unsigned long long)left, count);
}

/* A chunk can be decoded into the caller's memory when nothing is waiting before it and it is whole. */
static bool chunk_is_direct(const struct delta_decoder *decoder, size_t count)
{
    return decoder->chunk_at == decoder->chunk_end && !decoder->first_pending && count >= DELTA_CHUNK;
}

/* Decodes a whole chunk into the caller's memory. */
static kith_error *read_chunk(struct delta_decoder *decoder, void *out)
{
    if (decoder->miniblock_left == 0)
        TRY(next_miniblock(decoder));
    const uint8_t *in;
    TRY(take_packed(decoder, DELTA_CHUNK, &in));
    if (decoder->bits == 32) {
        bit_unpack32(in, decoder->end, 0, decoder->width, DELTA_CHUNK, out);
        decoder->last = sum_up32(decoder, out, DELTA_CHUNK);
    } else {
        bit_unpack64(in, decoder->end, 0, decoder->width, DELTA_CHUNK, out);
        decoder->last = sum_up64(decoder, out, DELTA_CHUNK);
    }
    return NULL;
}

/* Copies values of the chunk that is decoded already. */
static void copy_decoded(const struct delta_decoder *decoder, size_t count, void *out)
{
    const uint64_t *from = decoder->chunk + decoder->chunk_at;
    if (decoder->bits == 64) {
        memcpy(out, from, count * sizeof *from);
        return;
    }
    uint32_t *to = out;
    for (size_t i = 0; i < count; i++)
        to[i] = (uint32_t)from[i];
}

/* `out` is NULL to skip the values, otherwise for values of decoder->bits. */
static kith_error *read_values(struct delta_decoder *decoder, size_t count, uint8_t *out)
{
    TRY(check_left(decoder, count));
    while (count > 0) {
        size_t taken = DELTA_CHUNK;
        if (out != NULL && chunk_is_direct(decoder, count)) {
            TRY(read_chunk(decoder, out));
        } else {
            if (decoder->chunk_at == decoder->chunk_end)
                TRY(fill_chunk(decoder));
            taken = MIN(count, (size_t)(decoder->chunk_end - decoder->chunk_at));
            if (out != NULL)
                copy_decoded(decoder, taken, out);
            decoder->chunk_at += (unsigned)taken;
        }
        out = out == NULL ? NULL : out + taken * (decoder->bits / 8);
        count -= taken;
    }
    return NULL;
}

kith_error *delta_read32(struct delta_decoder *decoder, size_t count, uint32_t *out)
{
    ASSERT(decoder->bits == 32);
    return read_values(decoder, count, (uint8_t *)out);
}

kith_error *delta_read64(struct delta_decoder *decoder, size_t count, uint64_t *out)
{
    ASSERT(decoder->bits == 64);
    return read_values(decoder, count, (uint8_t *)out);
}

enum { MINIBLOCKS_A_CHARGE = 32 * 1024 };

kith_error *delta_find_end(const struct delta_decoder *decoder, const uint8_t **out)
{
    struct delta_decoder walk = *decoder;
    uint64_t left = walk.first_pending ? walk.left - 1 : walk.left;
    for (size_t miniblocks = 1; left > 0; miniblocks++) {
        if (miniblocks % MINIBLOCKS_A_CHARGE == 0)
            TRY(coop_charge(1));
        TRY(next_miniblock(&walk));
        uint64_t values = MIN(left, walk.miniblock_values);
        size_t bytes_left = (size_t)(walk.end - walk.at);
        if (bytes_left < (values * walk.width + 7) / 8)
            return ends_early();
        walk.at += MIN(bytes_left, walk.miniblock_values * walk.width / 8);
        left -= values;
    }
    *out = walk.at;
    return NULL;
}
