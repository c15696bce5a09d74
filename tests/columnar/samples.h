/*
 * Random arrays of every flat type for the tests of this folder: values from small ranges and from the edges of the
 * type, a share of NULLs, strings short and long with NULs and shared prefixes, sliced so that the offset is not 0.
 */
#ifndef KITH_TESTS_COLUMNAR_SAMPLES_H
#define KITH_TESTS_COLUMNAR_SAMPLES_H

#include "testing.h"

#include "base/alloc.h"
#include "columnar/builder.h"

/* Every flat type, each width of strings and decimals included. */
static const struct data_type sample_types[] = {
    {.id = TYPE_NULL},
    {.id = TYPE_BOOL},
    {.id = TYPE_INT8},
    {.id = TYPE_INT16},
    {.id = TYPE_INT32},
    {.id = TYPE_INT64},
    {.id = TYPE_UINT8},
    {.id = TYPE_UINT16},
    {.id = TYPE_UINT32},
    {.id = TYPE_UINT64},
    {.id = TYPE_FLOAT16},
    {.id = TYPE_FLOAT32},
    {.id = TYPE_FLOAT64},
    {.id = TYPE_DECIMAL64, .precision = 18, .scale = 2},
    {.id = TYPE_DECIMAL128, .precision = 38, .scale = 4},
    {.id = TYPE_DATE32},
    {.id = TYPE_DATE64},
    {.id = TYPE_TIME32, .unit = UNIT_MILLISECOND},
    {.id = TYPE_TIME64, .unit = UNIT_NANOSECOND},
    {.id = TYPE_TIMESTAMP, .unit = UNIT_MICROSECOND},
    {.id = TYPE_TIMESTAMP, .unit = UNIT_NANOSECOND, .timezone = "UTC"},
    {.id = TYPE_DURATION, .unit = UNIT_SECOND},
    {.id = TYPE_INTERVAL_MONTHS},
    {.id = TYPE_INTERVAL_DAY_TIME},
    {.id = TYPE_INTERVAL_MONTH_DAY_NANO},
    {.id = TYPE_UTF8},
    {.id = TYPE_LARGE_UTF8},
    {.id = TYPE_UTF8_VIEW},
    {.id = TYPE_BINARY},
    {.id = TYPE_LARGE_BINARY},
    {.id = TYPE_BINARY_VIEW},
    {.id = TYPE_FIXED_SIZE_BINARY, .byte_width = 5},
    {.id = TYPE_FIXED_SIZE_BINARY, .byte_width = 16},
};

static inline int64_t sample_int(uint64_t *random, int64_t least, int64_t most)
{
    uint64_t r = test_random(random), span = (uint64_t)most - (uint64_t)least;
    switch (test_random(random) % 8) {
    case 0:
        return least;
    case 1:
        return most;
    case 2:
        return 0;
    case 3:
        return least < 0 ? -1 : 1;
    default:
        return (int64_t)((uint64_t)least + (span == UINT64_MAX ? r : r % (span + 1)));
    }
}

static inline double sample_double(uint64_t *random)
{
    static const double edges[] = {0.0,       -0.0,    1.0,      -1.0, __builtin_inf(), -__builtin_inf(), 0x1p-149,
                                   -0x1p-149, 0x1p-20, -0x1p120, 1.5,  0x1.fffffep127};
    uint64_t r = test_random(random);
    if (r % 8 == 0)
        return __builtin_nan("");
    if (r % 8 == 1)
        return -__builtin_nan("");
    if (r % 2 == 0)
        return edges[(r >> 8) % ARRAY_SIZE(edges)];
    return (double)(float)((double)(int64_t)r * 0x1p-50);
}

/* Bytes from a small alphabet that holds what sort keys escape; the text stays valid as ASCII for string types. */
static inline struct str sample_string(uint64_t *random, bool text, char *out, size_t longest)
{
    static const char bytes[] = {'\0', '\1', 'a', 'b', (char)0xff, (char)0x80, (char)0xfe, '~'};
    size_t length = test_random(random) % (longest + 1);
    if (test_random(random) % 4 == 0)
        length = length > 2 ? 2 : length;
    for (size_t i = 0; i < length; i++)
        out[i] = bytes[test_random(random) % (text ? 4 : 8)];
    return (struct str){out, length};
}

enum { SAMPLE_STRING_BYTES = 40 };

static inline int64_t sample_signed(uint64_t *random, const struct data_type *type)
{
    size_t bits = type_width(type) * 8;
    return sample_int(random, (int64_t)(UINT64_MAX << (bits - 1)), (int64_t)(UINT64_MAX >> (65 - bits)));
}

/* A scalar of the type; strings are written to `text` of SAMPLE_STRING_BYTES. */
static inline struct scalar sample_scalar(uint64_t *random, const struct data_type *type, char *text)
{
    struct scalar scalar = {.type = *type, .is_null = type->id == TYPE_NULL || test_random(random) % 5 == 0};
    size_t bits = type_width(type) * 8;
    if (scalar.is_null)
        return scalar;
    if (type->id == TYPE_FIXED_SIZE_BINARY) {
        scalar.string = (struct str){text, (size_t)type->byte_width};
        for (size_t i = 0; i < scalar.string.length; i++)
            text[i] = (char)(test_random(random) % 3 * 0x7f);
    } else if (type_is_string(type->id) || type_is_binary(type->id)) {
        scalar.string = sample_string(random, type_is_string(type->id), text, SAMPLE_STRING_BYTES);
    } else if (type->id == TYPE_BOOL) {
        scalar.boolean = test_random(random) & 1;
    } else if (type->id == TYPE_FLOAT32) {
        scalar.float32 = (float)sample_double(random);
    } else if (type->id == TYPE_FLOAT64) {
        scalar.float64 = sample_double(random);
    } else if (type->id == TYPE_DECIMAL128) {
        scalar.decimal = sample_int(random, INT64_MIN, INT64_MAX) * ((__int128)1 << (test_random(random) % 60));
    } else if (type->id == TYPE_INTERVAL_DAY_TIME || type->id == TYPE_INTERVAL_MONTH_DAY_NANO) {
        scalar.interval.days = (int32_t)sample_int(random, INT32_MIN, INT32_MAX);
        scalar.interval.nanoseconds = sample_int(random, INT32_MIN, INT32_MAX) * 1000000;
        scalar.interval.months = type->id == TYPE_INTERVAL_DAY_TIME ? 0 : (int32_t)test_random(random);
    } else if (type->id == TYPE_FLOAT16 || (type_is_integer(type->id) && !type_is_signed_integer(type->id))) {
        scalar.uint64 = (uint64_t)sample_int(random, 0, INT64_MAX) << (test_random(random) & 1);
        scalar.uint64 &= UINT64_MAX >> (64 - bits);
    } else {
        scalar.int64 = sample_signed(random, type);
    }
    return scalar;
}

/* `length` rows of the type. With `index` other than TYPE_NULL, dictionary-encoded, with a null among the values. */
static inline struct array *sample_array(uint64_t *random, const struct data_type *type, size_t length,
                                         enum type_id index)
{
    if (index != TYPE_NULL) {
        struct data_type index_type = type_of(index);
        size_t value_count = 1 + test_random(random) % 20;
        _cleanup_(array_unref) struct array *values = sample_array(random, type, value_count, TYPE_NULL);
        _cleanup_(array_builder_free) struct array_builder *builder = NULL;
        assert_ok(array_builder_new(&index_type, &builder));
        for (size_t i = 0; i < length; i++) {
            if (test_random(random) % 6 == 0)
                assert_ok(array_builder_append_null(builder));
            else
                assert_ok(array_builder_append_int(builder, (int64_t)(test_random(random) % value_count)));
        }
        _cleanup_(array_unref) struct array *indices = NULL;
        assert_ok(array_builder_finish(builder, &indices));
        struct array *array = NULL;
        assert_ok(array_new_dictionary(indices, values, &array));
        return array;
    }
    size_t before = test_random(random) % 12, after = test_random(random) % 3;
    char text[SAMPLE_STRING_BYTES];
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    assert_ok(array_builder_new(type, &builder));
    for (size_t i = 0; i < before + length + after; i++) {
        struct scalar scalar = sample_scalar(random, type, text);
        assert_ok(array_builder_append(builder, &scalar));
    }
    _cleanup_(array_unref) struct array *whole = NULL;
    assert_ok(array_builder_finish(builder, &whole));
    struct array *slice = NULL;
    assert_ok(array_slice(whole, before, length, &slice));
    return slice;
}

/* Equal, and for floats equal to the bit (NaN, signed zero). */
static inline bool sample_scalars_identical(const struct scalar *a, const struct scalar *b)
{
    if (!type_equal(&a->type, &b->type) || a->is_null != b->is_null)
        return false;
    if (a->is_null)
        return true;
    if (type_is_string(a->type.id) || type_is_binary(a->type.id))
        return str_equal(a->string, b->string);
    if (a->type.id == TYPE_BOOL)
        return a->boolean == b->boolean;
    uint8_t x[16], y[16];
    return scalar_store(a, x) == scalar_store(b, y) && memcmp(x, y, type_width(&a->type)) == 0;
}

/* Row i of `a` is row j of `b`, whatever their encodings. */
static inline void assert_same_row(const struct array *a, size_t i, const struct array *b, size_t j)
{
    struct scalar x = scalar_from_array(a, i), y = scalar_from_array(b, j);
    if (!sample_scalars_identical(&x, &y)) {
        char name[128];
        fail_msg("rows %zu and %zu of type %s differ", i, j, type_format(&a->type, name, sizeof name));
    }
}

#endif
