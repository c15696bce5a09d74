/*
 * array_take and array_decode_dictionary: gathering rows by number.
 */
#include "columnar/array.h"

#include "base/alloc.h"
#include "columnar/gather.h"

/* What to gather. `valid`, when set, has a zero at the bit of each output row that is NULL whatever the source holds.
 */
struct gather {
    const struct array *source;
    const uint32_t *rows;
    size_t count;
    const uint8_t *valid;
    size_t valid_offset;
};

static kith_error *gather_validity(const struct gather *gather, struct array *out)
{
    const struct array *source = gather->source;
    bool source_nulls = source->validity != NULL && source->null_count != 0;
    if ((!source_nulls && gather->valid == NULL) || type_layout(&source->type) == LAYOUT_NULL)
        return NULL;
    TRY(buffer_new_zeroed(bitmap_bytes(gather->count), &out->validity));
    uint8_t *bits = out->validity->data;
    if (source_nulls) {
        const uint8_t *source_bits = source->validity->data;
        for (size_t i = 0; i < gather->count; i++)
            bits[i >> 3] |= (uint8_t)(bitmap_get(source_bits, source->offset + gather->rows[i]) << (i & 7));
        if (gather->valid != NULL)
            bitmap_and(bits, 0, gather->valid, gather->valid_offset, gather->count);
    } else {
        bitmap_copy(bits, 0, gather->valid, gather->valid_offset, gather->count);
    }
    out->null_count = (ptrdiff_t)(gather->count - bitmap_count(bits, 0, gather->count));
    if (out->null_count == 0)
        buffer_unref(TAKE(out->validity));
    return NULL;
}

static kith_error *gather_bits(const struct gather *gather, struct array *out)
{
    TRY(buffer_new_zeroed(bitmap_bytes(gather->count), &out->values));
    const uint8_t *source = gather->source->values->data;
    uint8_t *bits = out->values->data;
    for (size_t i = 0; i < gather->count; i++)
        bits[i >> 3] |= (uint8_t)(bitmap_get(source, gather->source->offset + gather->rows[i]) << (i & 7));
    return NULL;
}

static kith_error *gather_numbers(const struct gather *gather, struct array *out)
{
    size_t width = type_width(&gather->source->type), bytes;
    if (__builtin_mul_overflow(gather->count, width, &bytes))
        return error_out_of_memory();
    TRY(buffer_new(bytes, &out->values));
    gather_fixed(array_values(gather->source), width, gather->rows, gather->count, out->values->data);
    return NULL;
}

static kith_error *string_overflow(size_t bytes)
{
    return error_new(KITH_ERROR_LIMIT,
                     "a string column of %zu bytes in one batch is larger than STRING_BATCH_BYTES (%d)", bytes,
                     LIMIT_STRING_BATCH_BYTES);
}

/* Lengths first, so that the bytes are allocated once. NULL rows get no bytes. */
#define GATHER_STRINGS(type, most)                                                                                    \
    do {                                                                                                              \
        const type *from = (const type *)(const void *)source->offsets->data + source->offset;                        \
        TRY(buffer_new((gather->count + 1) * sizeof(type), &out->offsets));                                           \
        type *to = (type *)(void *)out->offsets->data;                                                                \
        size_t total = 0;                                                                                             \
        for (size_t i = 0; i < gather->count; i++) {                                                                  \
            to[i] = (type)total;                                                                                      \
            size_t row = gather->rows[i];                                                                             \
            if (valid == NULL || bitmap_get(valid, i))                                                                \
                total += (size_t)(from[row + 1] - from[row]);                                                         \
            if (total > (most))                                                                                       \
                return string_overflow(total);                                                                        \
        }                                                                                                             \
        to[gather->count] = (type)total;                                                                              \
        TRY(buffer_new(total, &out->data));                                                                           \
        for (size_t i = 0; i < gather->count; i++)                                                                    \
            memcpy(out->data->data + to[i], source->data->data + from[gather->rows[i]], (size_t)(to[i + 1] - to[i])); \
    } while (0)

static kith_error *gather_strings(const struct gather *gather, struct array *out)
{
    const struct array *source = gather->source;
    const uint8_t *valid = out->validity == NULL ? NULL : out->validity->data;
    if (type_layout(&source->type) == LAYOUT_OFFSETS32)
        GATHER_STRINGS(int32_t, (size_t)LIMIT_STRING_BATCH_BYTES);
    else
        GATHER_STRINGS(int64_t, (size_t)PTRDIFF_MAX);
    return NULL;
}

static kith_error *gather_views(const struct gather *gather, struct array *out)
{
    const struct array *source = gather->source;
    TRY(buffer_new(gather->count * sizeof(struct string_view), &out->values));
    const struct string_view *from = (const struct string_view *)(const void *)source->values->data + source->offset;
    struct string_view *to = (struct string_view *)(void *)out->values->data;
    for (size_t i = 0; i < gather->count; i++)
        to[i] = from[gather->rows[i]];
    TRY(NEW_ARRAY(&out->variadic, source->variadic_count));
    for (size_t i = 0; i < source->variadic_count; i++)
        out->variadic[out->variadic_count++] = buffer_ref(source->variadic[i]);
    return NULL;
}

static kith_error *gather_values(const struct gather *gather, struct array *out)
{
    const struct array *source = gather->source;
    switch (type_layout(&source->type)) {
    case LAYOUT_NULL:
        return NULL;
    case LAYOUT_BITS:
        return gather_bits(gather, out);
    case LAYOUT_FIXED:
        if (source->dictionary != NULL)
            out->dictionary = array_ref(source->dictionary);
        return gather_numbers(gather, out);
    case LAYOUT_OFFSETS32:
    case LAYOUT_OFFSETS64:
        return gather_strings(gather, out);
    case LAYOUT_VIEW:
        return gather_views(gather, out);
    case LAYOUT_LIST:
    case LAYOUT_STRUCT:
        break;
    }
    char name[128];
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "selecting rows of type %s",
                     type_format(&source->type, name, sizeof name));
}

static kith_error *gather_array(const struct gather *gather, struct array **out)
{
    _cleanup_(array_unref) struct array *array = NULL;
    TRY(array_new(&gather->source->type, gather->count, &array));
    TRY(gather_validity(gather, array));
    TRY(gather_values(gather, array));
    *out = TAKE(array);
    return NULL;
}

kith_error *array_take(const struct array *array, const uint32_t *rows, size_t count, struct array **out)
{
    return gather_array(&(struct gather){.source = array, .rows = rows, .count = count}, out);
}

/* The dictionary row of each row; 0 where the row is NULL. */
static kith_error *dictionary_rows(const struct array *array, uint32_t *rows)
{
    size_t values = array->dictionary->length;
    for (size_t i = 0; i < array->length; i++) {
        bool null = array_is_null_itself(array, i);
        size_t index = null ? 0 : array_dictionary_index(array, i);
        if (index >= values || index > UINT32_MAX)
            return error_new(KITH_ERROR_CORRUPT, "row %zu has index %zu into a dictionary of %zu values", i, index,
                             values);
        rows[i] = (uint32_t)index;
    }
    return NULL;
}

kith_error *array_decode_dictionary(struct array *array, struct array **out)
{
    if (array->dictionary == NULL) {
        *out = array_ref(array);
        return NULL;
    }
    struct data_type decoded = type_decoded(&array->type);
    if (array->dictionary->length == 0 && array_null_count(array) == array->length)
        return array_new_null(&decoded, array->length, out);
    _cleanup_free_ uint32_t *rows = NULL;
    TRY(alloc_resize(&rows, array->length, sizeof *rows));
    TRY(dictionary_rows(array, rows));
    struct gather gather = {.source = array->dictionary, .rows = rows, .count = array->length};
    if (array->validity != NULL) {
        gather.valid = array->validity->data;
        gather.valid_offset = array->offset;
    }
    return gather_array(&gather, out);
}
