#include "parquet/levels.h"

#include "columnar/bitmap.h"
#include "parquet/bit_unpack.h"

static unsigned level_width(uint32_t maximum)
{
    return maximum == 0 ? 0 : 32 - (unsigned)__builtin_clz(maximum);
}

/* V1 pages begin with the levels: RLE ones behind their length, bit-packed ones without. */
static kith_error *split_v1(const struct page_header *header, unsigned width, bool bit_packed, struct page_body *body)
{
    size_t length = bit_packed_bytes(header->value_count, width), prefix = 0;
    if (!bit_packed) {
        if (body->value_bytes < 4)
            return error_new(KITH_ERROR_CORRUPT, "the page ends in its definition levels");
        length = load_u32(body->values);
        prefix = 4;
    }
    if (length > body->value_bytes - prefix)
        return error_new(KITH_ERROR_CORRUPT, "definition levels of %zu bytes in a page of %zu", length,
                         body->value_bytes);
    body->definition_levels = body->values + prefix;
    body->definition_bytes = length;
    body->values += prefix + length;
    body->value_bytes -= prefix + length;
    return NULL;
}

kith_error *level_reader_init(struct level_reader *reader, const struct page_header *header, uint32_t maximum,
                              struct page_body *body)
{
    *reader = (struct level_reader){.maximum = maximum};
    if (maximum == 0)
        return NULL;
    unsigned width = level_width(maximum);
    if (header->kind == PAGE_DATA) {
        reader->bit_packed = header->level_encoding == PARQUET_BIT_PACKED;
        if (!reader->bit_packed && header->level_encoding != PARQUET_RLE)
            return error_new(KITH_ERROR_CORRUPT, "definition levels in encoding %d", (int)header->level_encoding);
        TRY(split_v1(header, width, reader->bit_packed, body));
    }
    if (reader->bit_packed)
        bit_packed_init(&reader->packed, body->definition_levels, body->definition_bytes, width);
    else
        TRY(rle_init(&reader->rle, body->definition_levels, body->definition_bytes, width));
    return NULL;
}

static kith_error *level_too_high(uint32_t level, uint32_t maximum)
{
    return error_new(KITH_ERROR_CORRUPT, "a definition level of %u in a column whose highest is %u", level, maximum);
}

/* Levels to bits. */
static kith_error *mark_levels(const uint32_t *levels, size_t count, uint32_t maximum, uint8_t *bits, size_t offset,
                               size_t *present)
{
    for (size_t i = 0; i < count; i++) {
        if (levels[i] > maximum)
            return level_too_high(levels[i], maximum);
        if (bits != NULL)
            bitmap_assign(bits, offset + i, levels[i] == maximum);
        *present += levels[i] == maximum;
    }
    return NULL;
}

enum { CHUNK = 256 };

static kith_error *read_bit_packed(struct level_reader *reader, size_t count, uint8_t *bits, size_t *present)
{
    for (size_t done = 0, taken; done < count; done += taken) {
        uint32_t levels[CHUNK];
        taken = MIN(count - done, (size_t)CHUNK);
        TRY(bit_packed_read(&reader->packed, taken, levels));
        TRY(mark_levels(levels, taken, reader->maximum, bits, done, present));
    }
    return NULL;
}

static kith_error *read_rle(struct level_reader *reader, size_t count, uint8_t *bits, size_t *present)
{
    for (size_t done = 0; done < count;) {
        struct rle_run run;
        TRY(rle_next(&reader->rle, count - done, &run));
        if (run.packed) {
            uint32_t levels[CHUNK];
            for (size_t at = 0, taken; at < run.count; at += taken) {
                taken = MIN(run.count - at, (size_t)CHUNK);
                bit_unpack32(run.bits, run.end, run.bit + at * reader->rle.width, reader->rle.width, taken, levels);
                TRY(mark_levels(levels, taken, reader->maximum, bits, done + at, present));
            }
        } else {
            if (run.value > reader->maximum)
                return level_too_high(run.value, reader->maximum);
            bool there = run.value == reader->maximum;
            if (bits != NULL)
                bitmap_fill(bits, done, run.count, there);
            *present += there ? run.count : 0;
        }
        done += run.count;
    }
    return NULL;
}

kith_error *level_reader_read(struct level_reader *reader, size_t count, uint8_t *bits, size_t *present)
{
    *present = 0;
    if (reader->maximum == 0)
        *present = count;
    else if (reader->bit_packed)
        return read_bit_packed(reader, count, bits, present);
    else if (reader->maximum == 1)
        return rle_read_bits(&reader->rle, count, bits, 0, present);
    else
        return read_rle(reader, count, bits, present);
    return NULL;
}
