#include "parquet/encoding_rle.h"

#include "columnar/bitmap.h"
#include "parquet/bit_unpack.h"
#include "runtime/coop.h"

kith_error *rle_init(struct rle_decoder *decoder, const uint8_t *bytes, size_t length, unsigned width)
{
    if (width > 32)
        return error_new(KITH_ERROR_CORRUPT, "run-length encoded values of %u bits; at most 32 are possible", width);
    *decoder = (struct rle_decoder){.at = bytes, .end = bytes + length, .width = width};
    return NULL;
}

enum { EMPTY_RUNS_A_CHARGE = 64 * 1024 };

/* Reads run headers up to a run that has values. */
static kith_error *start_run(struct rle_decoder *decoder)
{
    for (size_t empty = 1; decoder->run_left == 0; empty++) {
        if (empty % EMPTY_RUNS_A_CHARGE == 0)
            TRY(coop_charge(1));
        if (decoder->at == decoder->end)
            return error_new(KITH_ERROR_CORRUPT, "run-length encoded values end early");
        uint64_t header;
        if (!varint_read(&decoder->at, decoder->end, &header) || header > UINT32_MAX)
            return error_new(KITH_ERROR_CORRUPT, "the header of a run-length encoded run is malformed");
        size_t left = (size_t)(decoder->end - decoder->at);
        decoder->packed = header & 1;
        if (decoder->packed) {
            /* Some writers cut the padding of the last run, so only the values that are there count. */
            size_t groups = header >> 1;
            size_t bytes = MIN(groups * decoder->width, left);
            decoder->run_left = decoder->width == 0 ? groups * 8 : MIN(groups * 8, bytes * 8 / decoder->width);
            decoder->bits = decoder->at;
            decoder->bit = 0;
            decoder->at += bytes;
        } else {
            size_t bytes = (decoder->width + 7) / 8;
            if (left < bytes)
                return error_new(KITH_ERROR_CORRUPT, "the value of a run-length encoded run is cut short");
            decoder->value = 0;
            memcpy(&decoder->value, decoder->at, bytes);
            decoder->at += bytes;
            decoder->run_left = header >> 1;
        }
    }
    return NULL;
}

kith_error *rle_next(struct rle_decoder *decoder, size_t limit, struct rle_run *out)
{
    if (decoder->run_left == 0)
        TRY(start_run(decoder));
    size_t count = MIN(limit, decoder->run_left);
    decoder->run_left -= count;
    out->count = count;
    out->packed = decoder->packed;
    if (decoder->packed) {
        out->bits = decoder->bits;
        out->end = decoder->end;
        out->bit = decoder->bit;
        decoder->bit += count * decoder->width;
    } else {
        out->value = decoder->value;
    }
    return NULL;
}

kith_error *rle_read(struct rle_decoder *decoder, size_t count, uint32_t *out)
{
    while (count > 0) {
        struct rle_run run;
        TRY(rle_next(decoder, count, &run));
        if (run.packed) {
            bit_unpack32(run.bits, run.end, run.bit, decoder->width, run.count, out);
        } else {
            for (size_t i = 0; i < run.count; i++)
                out[i] = run.value;
        }
        out += run.count;
        count -= run.count;
    }
    return NULL;
}

kith_error *rle_skip(struct rle_decoder *decoder, size_t count)
{
    while (count > 0) {
        struct rle_run run;
        TRY(rle_next(decoder, count, &run));
        count -= run.count;
    }
    return NULL;
}

kith_error *rle_read_bits(struct rle_decoder *decoder, size_t count, uint8_t *bits, size_t offset, size_t *ones)
{
    *ones = 0;
    while (count > 0) {
        struct rle_run run;
        TRY(rle_next(decoder, count, &run));
        if (run.packed) {
            if (bits != NULL)
                bitmap_copy(bits, offset, run.bits, run.bit, run.count);
            *ones += bitmap_count(run.bits, run.bit, run.count);
        } else {
            if (run.value > 1)
                return error_new(KITH_ERROR_CORRUPT, "a run repeats %u where only 0 and 1 are possible", run.value);
            if (bits != NULL)
                bitmap_fill(bits, offset, run.count, run.value);
            *ones += run.value * run.count;
        }
        offset += run.count;
        count -= run.count;
    }
    return NULL;
}
