#include "testing.h"

#include "base/alloc.h"
#include "parquet/codec_snappy.h"
#include "parquet/encoders.h"

#include <snappy-c.h>

enum { SIZE = 20000 };

static void put_literal(struct strbuf *out, const uint8_t *bytes, size_t length)
{
    size_t number = length - 1;
    unsigned extra = number < 60 ? 0 : number < 0x100 ? 1 : number < 0x10000 ? 2 : 3;
    put_byte(out, (extra == 0 ? (unsigned)number : 59 + extra) << 2);
    for (unsigned i = 0; i < extra; i++)
        put_byte(out, (unsigned)(number >> 8 * i & 0xff));
    assert_ok(strbuf_append(out, bytes, length));
}

/* The kinds that a copy of that length and offset may have differ in how many bytes they take; one is picked. */
static void put_copy(struct strbuf *out, size_t offset, size_t length, uint64_t *seed)
{
    unsigned kind = 1 + (unsigned)(test_random(seed) % 3);
    if (kind == 1 && (length < 4 || length > 11 || offset >= 2048))
        kind = 2;
    if (kind == 1)
        put_byte(out, 1u | (unsigned)(length - 4) << 2 | (unsigned)(offset >> 8) << 5);
    else
        put_byte(out, kind | (unsigned)(length - 1) << 2);
    for (unsigned i = 0; i < (kind == 1 ? 1u : kind == 2 ? 2u : 4u); i++)
        put_byte(out, (unsigned)(offset >> 8 * i & 0xff));
}

/* A stream of literals and copies of every kind, and what it stands for. */
static size_t make_stream(uint64_t *seed, struct strbuf *out, uint8_t *text)
{
    struct strbuf elements = {0};
    size_t size = 0, most = 1 + test_random(seed) % SIZE;
    while (size < most) {
        size_t length = 1 + test_random(seed) % (test_random(seed) % 50 == 0 ? 70000 : 64);
        if (size == 0 || test_random(seed) % 2 == 0) {
            length = MIN(length, (size_t)SIZE - size);
            for (size_t i = 0; i < length; i++)
                text[size + i] = (uint8_t)test_random(seed);
            put_literal(&elements, text + size, length);
        } else {
            length = MIN(MIN(length, (size_t)64), (size_t)SIZE - size);
            size_t offset = 1 + test_random(seed) % MIN(size, (size_t)(test_random(seed) % 2 == 0 ? 20 : 60000));
            for (size_t i = 0; i < length; i++)
                text[size + i] = text[size + i - offset];
            put_copy(&elements, offset, length, seed);
        }
        size += length;
    }
    out->length = 0;
    put_varint(out, size);
    assert_ok(strbuf_append(out, elements.data, elements.length));
    strbuf_reset(&elements);
    return size;
}

static void streams_of_all_elements_decompress(void **state)
{
    uint64_t seed = 21;
    _cleanup_free_ uint8_t *text = malloc(SIZE);
    for (int round = 0; round < 500; round++) {
        _cleanup_(strbuf_reset) struct strbuf stream = {0};
        size_t size = make_stream(&seed, &stream, text);
        _cleanup_free_ uint8_t *bytes = exact_copy(&stream), *out = malloc(size);
        assert_ok(snappy_decompress(bytes, stream.length, out, size));
        assert_memory_equal(out, text, size);
    }
}

static void damaged_streams_give_what_the_library_gives(void **state)
{
    uint64_t seed = 22;
    _cleanup_free_ uint8_t *text = malloc(SIZE), *expected = malloc(SIZE);
    for (int round = 0; round < 3000; round++) {
        _cleanup_(strbuf_reset) struct strbuf stream = {0};
        size_t size = make_stream(&seed, &stream, text), written = size;
        for (size_t i = test_random(&seed) % 3; i < 3; i++)
            stream.data[3 + test_random(&seed) % (stream.length - 3)] = (char)test_random(&seed);
        if (test_random(&seed) % 4 == 0)
            stream.length -= test_random(&seed) % 3;
        _cleanup_free_ uint8_t *bytes = exact_copy(&stream), *out = malloc(size);
        size_t declared;
        bool valid = snappy_uncompressed_length((const char *)bytes, stream.length, &declared) == SNAPPY_OK &&
                     declared == size &&
                     snappy_uncompress((const char *)bytes, stream.length, (char *)expected, &written) == SNAPPY_OK;
        kith_error *error = snappy_decompress(bytes, stream.length, out, size);
        assert_int_equal(error == NULL, valid);
        if (valid)
            assert_memory_equal(out, expected, size);
        error_free(error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_of_all_elements_decompress),
        cmocka_unit_test(damaged_streams_give_what_the_library_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
