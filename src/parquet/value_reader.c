#include "parquet/value_reader.h"

#include "parquet/bit_unpack.h"

_Static_assert((int)VALUE_SLICES == (int)DELTA_STRINGS_CHUNK, "slices are read in one piece");

/* Dictionary indices begin with their width. A page without values may not even have that. */
static kith_error *start_indices(struct value_reader *reader, const uint8_t *bytes, size_t length)
{
    reader->source = VALUES_DICTIONARY;
    return length == 0 ? rle_init(&reader->rle, bytes, 0, 0) : rle_init(&reader->rle, bytes + 1, length - 1, bytes[0]);
}

/* Run-length encoded booleans begin with their length in bytes. */
static kith_error *start_booleans(struct value_reader *reader, const uint8_t *bytes, size_t length)
{
    reader->source = VALUES_RLE_BITS;
    if (length == 0)
        return rle_init(&reader->rle, bytes, 0, 1);
    if (length < 4 || load_u32(bytes) > length - 4)
        return error_new(KITH_ERROR_CORRUPT, "booleans in %zu bytes are shorter than they say", length);
    return rle_init(&reader->rle, bytes + 4, load_u32(bytes), 1);
}

static kith_error *start_plain(struct value_reader *reader, enum parquet_type physical, const uint8_t *bytes,
                               size_t length)
{
    reader->source = physical == PARQUET_BOOLEAN      ? VALUES_BITS
                     : physical == PARQUET_BYTE_ARRAY ? VALUES_SLICES
                                                      : VALUES_PLAIN;
    if (reader->source == VALUES_BITS)
        plain_bits_init(&reader->bits, bytes, length);
    else
        plain_init(&reader->plain, bytes, length);
    return NULL;
}

/* A page of NULLs only may be empty, even without the header that delta encodings begin with. */
static kith_error *start_delta(struct value_reader *reader, enum value_source source, const uint8_t *bytes,
                               size_t length)
{
    static const uint8_t nothing[] = {0x80, 0x01, 4, 0, 0, 0x80, 0x01, 4, 0, 0};
    if (length == 0) {
        bytes = nothing;
        length = sizeof nothing;
    }
    reader->source = source;
    if (source == VALUES_DELTA)
        return delta_init(&reader->delta, bytes, length, (unsigned)reader->width * 8);
    if (source == VALUES_DELTA_LENGTH)
        return delta_length_init(&reader->delta_length, bytes, length);
    return delta_strings_init(&reader->delta_strings, bytes, length);
}

kith_error *value_reader_start(struct value_reader *reader, enum parquet_type physical, size_t width,
                               enum parquet_encoding encoding, const uint8_t *bytes, size_t length)
{
    bool integer = physical == PARQUET_INT32 || physical == PARQUET_INT64;
    bool string = physical == PARQUET_BYTE_ARRAY;
    reader->width = width;
    if ((encoding == PARQUET_PLAIN_DICTIONARY || encoding == PARQUET_RLE_DICTIONARY) && physical != PARQUET_BOOLEAN)
        return start_indices(reader, bytes, length);
    if (encoding == PARQUET_PLAIN)
        return start_plain(reader, physical, bytes, length);
    if (encoding == PARQUET_RLE && physical == PARQUET_BOOLEAN)
        return start_booleans(reader, bytes, length);
    if (encoding == PARQUET_DELTA_BINARY_PACKED && integer)
        return start_delta(reader, VALUES_DELTA, bytes, length);
    if (encoding == PARQUET_DELTA_LENGTH_BYTE_ARRAY && string)
        return start_delta(reader, VALUES_DELTA_LENGTH, bytes, length);
    if (encoding == PARQUET_DELTA_BYTE_ARRAY && (string || physical == PARQUET_FIXED_LEN_BYTE_ARRAY))
        return start_delta(reader, VALUES_DELTA_STRINGS, bytes, length);
    if (encoding == PARQUET_BYTE_STREAM_SPLIT && width > 0) {
        reader->source = VALUES_SPLIT;
        return byte_stream_split_init(&reader->split, bytes, length, width);
    }
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "values of physical type %d in encoding %d", (int)physical,
                     (int)encoding);
}

void value_reader_reset(struct value_reader *reader)
{
    delta_strings_reset(&reader->delta_strings);
}

static kith_error *skip_strings(struct value_reader *reader, size_t count)
{
    for (size_t taken; count > 0; count -= taken) {
        taken = MIN(count, (size_t)DELTA_STRINGS_CHUNK);
        TRY(delta_strings_read(&reader->delta_strings, taken, NULL));
    }
    return NULL;
}

kith_error *value_reader_skip(struct value_reader *reader, size_t count)
{
    const uint8_t *passed;
    switch (reader->source) {
    case VALUES_DICTIONARY:
    case VALUES_RLE_BITS:
        return rle_skip(&reader->rle, count);
    case VALUES_PLAIN:
        return plain_read_fixed(&reader->plain, reader->width, count, &passed);
    case VALUES_BITS:
        return plain_read_bits(&reader->bits, count, NULL, 0);
    case VALUES_DELTA:
        return reader->width == 4 ? delta_read32(&reader->delta, count, NULL)
                                  : delta_read64(&reader->delta, count, NULL);
    case VALUES_SPLIT:
        return byte_stream_split_read(&reader->split, count, NULL);
    case VALUES_SLICES:
        return plain_skip_slices(&reader->plain, count);
    case VALUES_DELTA_LENGTH:
        return delta_length_read(&reader->delta_length, count, NULL);
    case VALUES_DELTA_STRINGS:
        return skip_strings(reader, count);
    }
    UNREACHABLE();
}

kith_error *value_reader_fixed(struct value_reader *reader, size_t count, uint8_t *scratch, const uint8_t **values)
{
    *values = scratch;
    if (reader->source == VALUES_PLAIN)
        return plain_read_fixed(&reader->plain, reader->width, count, values);
    if (reader->source == VALUES_SPLIT)
        return byte_stream_split_read(&reader->split, count, scratch);
    ASSERT(reader->source == VALUES_DELTA);
    return reader->width == 4 ? delta_read32(&reader->delta, count, (uint32_t *)(void *)scratch)
                              : delta_read64(&reader->delta, count, (uint64_t *)(void *)scratch);
}

kith_error *value_reader_bits(struct value_reader *reader, size_t count, uint8_t *out, size_t offset)
{
    size_t ones;
    if (reader->source == VALUES_BITS)
        return plain_read_bits(&reader->bits, count, out, offset);
    ASSERT(reader->source == VALUES_RLE_BITS);
    return rle_read_bits(&reader->rle, count, out, offset, &ones);
}

kith_error *value_reader_slices(struct value_reader *reader, size_t count, struct str *out)
{
    ASSERT(count <= VALUE_SLICES);
    if (reader->source == VALUES_SLICES)
        return plain_read_slices(&reader->plain, count, out);
    if (reader->source == VALUES_DELTA_LENGTH)
        return delta_length_read(&reader->delta_length, count, out);
    ASSERT(reader->source == VALUES_DELTA_STRINGS);
    return delta_strings_read(&reader->delta_strings, count, out);
}

kith_error *value_reader_indices(struct value_reader *reader, size_t count, uint32_t *out)
{
    ASSERT(reader->source == VALUES_DICTIONARY);
    return rle_read(&reader->rle, count, out);
}
