/*
 * Small columns written by hand, and random selections, for tests of kernels and expressions.
 */
#ifndef KITH_TESTS_COMPUTE_COLUMNS_H
#define KITH_TESTS_COMPUTE_COLUMNS_H

#include "columnar/samples.h"
#include "compute/kernel.h"

/* A column of any type whose values can be given as 64-bit integers; NOTHING is NULL. */
#define NOTHING (INT64_MIN + 7)
static inline struct array *column_of_ints(struct data_type type, const int64_t *values, size_t count)
{
    struct array *array = NULL;
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    assert_ok(array_builder_new(&type, &builder));
    for (size_t i = 0; i < count; i++) {
        struct scalar value = {.type = type, .is_null = values[i] == NOTHING, .int64 = values[i]};
        if (type.id == TYPE_BOOL && !value.is_null)
            value.boolean = values[i] != 0;
        if (type.id == TYPE_DECIMAL128 && !value.is_null)
            value.decimal = values[i];
        assert_ok(array_builder_append(builder, &value));
    }
    assert_ok(array_builder_finish(builder, &array));
    return array;
}
#define INTS(type, ...) \
    column_of_ints((type), (const int64_t[]){__VA_ARGS__}, ARRAY_SIZE(((const int64_t[]){__VA_ARGS__})))

static inline struct array *column_of_doubles(const double *values, size_t count)
{
    struct array *array = NULL;
    struct data_type type = type_of(TYPE_FLOAT64);
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    assert_ok(array_builder_new(&type, &builder));
    for (size_t i = 0; i < count; i++)
        assert_ok(array_builder_append_double(builder, values[i]));
    assert_ok(array_builder_finish(builder, &array));
    return array;
}
#define DOUBLES(...) column_of_doubles((const double[]){__VA_ARGS__}, ARRAY_SIZE(((const double[]){__VA_ARGS__})))

/* NULL pointers are NULLs. */
static inline struct array *column_of_texts(struct data_type type, const char *const *values, size_t count)
{
    struct array *array = NULL;
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    assert_ok(array_builder_new(&type, &builder));
    for (size_t i = 0; i < count; i++) {
        if (values[i] == NULL)
            assert_ok(array_builder_append_null(builder));
        else
            assert_ok(array_builder_append_string(builder, str_of(values[i])));
    }
    assert_ok(array_builder_finish(builder, &array));
    return array;
}
#define TEXTS(...)                                                          \
    column_of_texts(type_of(TYPE_UTF8), (const char *const[]){__VA_ARGS__}, \
                    ARRAY_SIZE(((const char *const[]){__VA_ARGS__})))

/* All rows as scalar_format prints them, joined by commas. */
static inline const char *column_text(const struct array *array, char *out, size_t size)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    for (size_t i = 0; i < array->length; i++) {
        struct scalar value = scalar_from_array(array, i);
        assert_ok(strbuf_append_text(&text, i > 0 ? "," : ""));
        assert_ok(scalar_format(&value, &text));
    }
    snprintf(out, size, "%s", strbuf_text(&text));
    return out;
}

#define assert_column(array, expected)                                                            \
    do {                                                                                          \
        char column_text_[4096];                                                                  \
        assert_string_equal(column_text((array), column_text_, sizeof column_text_), (expected)); \
    } while (0)

/* About one row in `one_in`. */
static inline struct selection *sample_selection(uint64_t *random, size_t rows, unsigned one_in)
{
    struct selection *selection = NULL;
    assert_ok(selection_new(rows, &selection));
    for (size_t row = 0; row < rows; row++)
        if (test_random(random) % one_in == 0)
            selection->rows[selection->count++] = (uint32_t)row;
    return selection;
}

#endif
