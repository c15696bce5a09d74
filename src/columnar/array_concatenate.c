/*
 * array_concatenate: one array from many of a type. Each part is charged to the fiber's turn: there may be thousands.
 */
#include "columnar/array.h"

#include "base/alloc.h"
#include "runtime/coop.h"

struct parts {
    const struct data_type *type;
    struct array *const *arrays;
    size_t count;
    size_t length; /* rows of all */
};

static kith_error *concatenate_validity(const struct parts *parts, struct array *out)
{
    bool nulls = false;
    for (size_t p = 0; p < parts->count; p++)
        nulls |= parts->arrays[p]->validity != NULL && parts->arrays[p]->null_count != 0;
    if (!nulls)
        return NULL;
    TRY(buffer_new_zeroed(bitmap_bytes(parts->length), &out->validity));
    uint8_t *bits = out->validity->data;
    size_t row = 0;
    for (size_t p = 0; p < parts->count; p++) {
        const struct array *array = parts->arrays[p];
        TRY(coop_charge(1));
        if (array->validity == NULL)
            bitmap_fill(bits, row, array->length, true);
        else
            bitmap_copy(bits, row, array->validity->data, array->offset, array->length);
        row += array->length;
    }
    out->null_count = (ptrdiff_t)(parts->length - bitmap_count(bits, 0, parts->length));
    return NULL;
}

static kith_error *concatenate_bits(const struct parts *parts, struct array *out)
{
    TRY(buffer_new_zeroed(bitmap_bytes(parts->length), &out->values));
    size_t row = 0;
    for (size_t p = 0; p < parts->count; p++) {
        const struct array *array = parts->arrays[p];
        bitmap_copy(out->values->data, row, array->values->data, array->offset, array->length);
        row += array->length;
    }
    return NULL;
}

static kith_error *concatenate_fixed(const struct parts *parts, struct array *out)
{
    size_t width = type_width(parts->type);
    size_t bytes;
    if (__builtin_mul_overflow(parts->length, width, &bytes))
        return error_out_of_memory();
    TRY(buffer_new(bytes, &out->values));
    uint8_t *to = out->values->data;
    for (size_t p = 0; p < parts->count; p++) {
        size_t part = parts->arrays[p]->length * width;
        TRY(coop_charge(1));
        if (part > 0)
            memcpy(to, array_values(parts->arrays[p]), part);
        to += part;
    }
    return NULL;
}

/* Bytes from the first to the last row of a string array; *first is where they start in its data. */
static size_t string_bytes(const struct array *array, size_t *first)
{
    if (array->length == 0) {
        *first = 0;
        return 0;
    }
    if (type_layout(&array->type) == LAYOUT_OFFSETS32) {
        const int32_t *offsets = (const int32_t *)(const void *)array->offsets->data + array->offset;
        *first = (size_t)offsets[0];
        return (size_t)(offsets[array->length] - offsets[0]);
    }
    const int64_t *offsets = (const int64_t *)(const void *)array->offsets->data + array->offset;
    *first = (size_t)offsets[0];
    return (size_t)(offsets[array->length] - offsets[0]);
}

/* Shifts the offsets of `array`, of which `base` bytes are before its own in the output. */
#define SHIFT_OFFSETS(type)                                                                  \
    do {                                                                                     \
        const type *from = (const type *)(const void *)array->offsets->data + array->offset; \
        type *to = (type *)(void *)out->offsets->data + row;                                 \
        type shift = (type)((type)base - (type)first);                                       \
        for (size_t i = 0; i < array->length; i++)                                           \
            to[i] = (type)(from[i] + shift);                                                 \
    } while (0)

static kith_error *concatenate_strings(const struct parts *parts, struct array *out)
{
    bool narrow = type_layout(parts->type) == LAYOUT_OFFSETS32;
    size_t total = 0, first;
    for (size_t p = 0; p < parts->count; p++)
        total += string_bytes(parts->arrays[p], &first);
    if (narrow && total > LIMIT_STRING_BATCH_BYTES)
        return error_new(KITH_ERROR_LIMIT,
                         "a string column of %zu bytes in one batch is larger than STRING_BATCH_BYTES (%d)", total,
                         LIMIT_STRING_BATCH_BYTES);
    TRY(buffer_new((parts->length + 1) * (narrow ? sizeof(int32_t) : sizeof(int64_t)), &out->offsets));
    TRY(buffer_new(total, &out->data));
    size_t row = 0, base = 0;
    for (size_t p = 0; p < parts->count; p++) {
        const struct array *array = parts->arrays[p];
        if (array->length == 0)
            continue;
        size_t bytes = string_bytes(array, &first);
        TRY(coop_charge(1));
        if (bytes > 0)
            memcpy(out->data->data + base, array->data->data + first, bytes);
        if (narrow)
            SHIFT_OFFSETS(int32_t);
        else
            SHIFT_OFFSETS(int64_t);
        base += bytes;
        row += array->length;
    }
    if (narrow)
        ((int32_t *)(void *)out->offsets->data)[row] = (int32_t)base;
    else
        ((int64_t *)(void *)out->offsets->data)[row] = (int64_t)base;
    return NULL;
}

/* Where `array`'s data buffers are among those of `out`; they are added unless the part before brought the same ones,
 * as slices of one array do. */
static size_t add_variadic(struct array *out, const struct array *array)
{
    size_t count = array->variadic_count;
    if (count <= out->variadic_count) {
        size_t base = out->variadic_count - count;
        if (count == 0 || memcmp(&out->variadic[base], array->variadic, count * sizeof *array->variadic) == 0)
            return base;
    }
    size_t base = out->variadic_count;
    for (size_t i = 0; i < count; i++)
        out->variadic[out->variadic_count++] = buffer_ref(array->variadic[i]);
    return base;
}

static kith_error *concatenate_views(const struct parts *parts, struct array *out)
{
    size_t most = 0;
    for (size_t p = 0; p < parts->count; p++)
        most += parts->arrays[p]->variadic_count;
    if (most > INT32_MAX)
        return error_new(KITH_ERROR_LIMIT, "a string view column of %zu data buffers in one batch; views number %d",
                         most, INT32_MAX);
    TRY(buffer_new(parts->length * sizeof(struct string_view), &out->values));
    TRY(NEW_ARRAY(&out->variadic, most));
    struct string_view *to = (struct string_view *)(void *)out->values->data;
    for (size_t p = 0; p < parts->count; p++) {
        const struct array *array = parts->arrays[p];
        const struct string_view *from = (const struct string_view *)(const void *)array->values->data + array->offset;
        int32_t base = (int32_t)add_variadic(out, array);
        TRY(coop_charge(1));
        for (size_t i = 0; i < array->length; i++) {
            *to = from[i];
            if (to->length > (int32_t)sizeof to->inlined)
                to->reference.buffer += base;
            to++;
        }
    }
    return NULL;
}

/* Largest dictionary whose every row the index type can number; signed and unsigned alike. */
static size_t index_capacity(enum type_id index)
{
    size_t bits = type_width(&(struct data_type){.id = index}) * 8 - type_is_signed_integer(index);
    return bits >= 63 ? SIZE_MAX : (size_t)1 << bits;
}

#define SHIFT_INDICES(type)                             \
    do {                                                \
        type *indices = (type *)(void *)values + first; \
        for (size_t i = 0; i < count; i++)              \
            indices[i] = (type)(indices[i] + shift);    \
    } while (0)

static void shift_indices(uint8_t *values, size_t width, size_t first, size_t count, size_t shift)
{
    switch (width) {
    case 1:
        SHIFT_INDICES(uint8_t);
        break;
    case 2:
        SHIFT_INDICES(uint16_t);
        break;
    case 4:
        SHIFT_INDICES(uint32_t);
        break;
    default:
        SHIFT_INDICES(uint64_t);
    }
}

/* The dictionaries of all parts, each object once as far as looking back a little shows: batches of a few row groups
 * come in turns. */
struct dictionaries {
    struct array **items;
    size_t *bases; /* rows before each in the joined dictionary */
    size_t count;
    size_t rows;
};

static void dictionaries_reset(struct dictionaries *dictionaries)
{
    free(dictionaries->items);
    free(dictionaries->bases);
}
DEFINE_VALUE_CLEANUP(dictionaries_reset, struct dictionaries)

/* Where the rows of `dictionary` start, which is added if it is new. */
static kith_error *find_dictionary(struct dictionaries *dictionaries, struct array *dictionary, enum type_id index,
                                   size_t *base)
{
    enum { LOOK_BACK = 64 };
    for (size_t i = dictionaries->count; i > 0 && dictionaries->count - i < LOOK_BACK; i--)
        if (dictionaries->items[i - 1] == dictionary) {
            *base = dictionaries->bases[i - 1];
            return NULL;
        }
    *base = dictionaries->rows;
    dictionaries->rows += dictionary->length;
    if (dictionaries->rows > index_capacity(index))
        return error_new(KITH_ERROR_LIMIT, "dictionaries of %zu values together are too large for %zu-byte indices",
                         dictionaries->rows, type_width(&(struct data_type){.id = index}));
    dictionaries->items[dictionaries->count] = dictionary;
    dictionaries->bases[dictionaries->count++] = *base;
    return NULL;
}

/* Appends the dictionaries to each other and shifts the indices to match. */
static kith_error *concatenate_dictionaries(const struct parts *parts, struct array *out)
{
    _cleanup_(dictionaries_reset) struct dictionaries dictionaries = {0};
    TRY(NEW_ARRAY(&dictionaries.items, parts->count));
    TRY(NEW_ARRAY(&dictionaries.bases, parts->count));
    size_t row = 0;
    for (size_t p = 0; p < parts->count; p++) {
        const struct array *array = parts->arrays[p];
        size_t base;
        if (array->length == 0)
            continue;
        TRY(find_dictionary(&dictionaries, array->dictionary, parts->type->index, &base));
        if (base > 0)
            shift_indices(out->values->data, type_width(parts->type), row, array->length, base);
        row += array->length;
    }
    struct data_type decoded = type_decoded(parts->type);
    return array_concatenate(&decoded, dictionaries.items, dictionaries.count, &out->dictionary);
}

static kith_error *concatenate_values(const struct parts *parts, struct array *out)
{
    switch (type_layout(parts->type)) {
    case LAYOUT_NULL:
        return NULL;
    case LAYOUT_BITS:
        return concatenate_bits(parts, out);
    case LAYOUT_FIXED:
        TRY(concatenate_fixed(parts, out));
        return type_is_dictionary(parts->type) ? concatenate_dictionaries(parts, out) : NULL;
    case LAYOUT_OFFSETS32:
    case LAYOUT_OFFSETS64:
        return concatenate_strings(parts, out);
    case LAYOUT_VIEW:
        return concatenate_views(parts, out);
    case LAYOUT_LIST:
    case LAYOUT_STRUCT:
        break;
    }
    char name[128];
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "joining batches with a column of type %s",
                     type_format(parts->type, name, sizeof name));
}

static kith_error *concatenate(const struct parts *parts, struct array **out)
{
    if (parts->count == 1) {
        *out = array_ref(parts->arrays[0]);
        return NULL;
    }
    _cleanup_(array_unref) struct array *array = NULL;
    TRY(array_new(parts->type, parts->length, &array));
    TRY(concatenate_validity(parts, array));
    TRY(concatenate_values(parts, array));
    *out = TAKE(array);
    return NULL;
}

static void unref_arrays(struct array **arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        array_unref(arrays[i]);
}

/* Sets `decoded` to references to the arrays, without dictionary where `type` has none. */
static kith_error *decode_parts(const struct data_type *type, struct array *const *arrays, size_t count,
                                struct array **decoded)
{
    for (size_t p = 0; p < count; p++) {
        if (type_equal(&arrays[p]->type, type)) {
            decoded[p] = array_ref(arrays[p]);
        } else if (!type_is_dictionary(type) && type_equal_decoded(&arrays[p]->type, type)) {
            TRY(array_decode_dictionary(arrays[p], &decoded[p]));
        } else {
            char given[128], expected[128];
            return error_new(KITH_ERROR_INVALID_ARGUMENT, "cannot join an array of type %s to one of type %s",
                             type_format(&arrays[p]->type, given, sizeof given),
                             type_format(type, expected, sizeof expected));
        }
    }
    return NULL;
}

kith_error *array_concatenate(const struct data_type *type, struct array *const *arrays, size_t count,
                              struct array **out)
{
    _cleanup_free_ struct array **decoded = NULL;
    TRY(NEW_ARRAY(&decoded, count));
    kith_error *error = decode_parts(type, arrays, count, decoded);
    struct parts parts = {.type = type, .arrays = decoded, .count = count};
    for (size_t p = 0; p < count && error == NULL; p++)
        if (__builtin_add_overflow(parts.length, decoded[p]->length, &parts.length))
            error = error_out_of_memory();
    if (error == NULL)
        error = concatenate(&parts, out);
    unref_arrays(decoded, count);
    return error;
}
