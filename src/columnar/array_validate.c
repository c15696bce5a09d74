/*
 * array_validate, array_validate_indices and array_repair_nulls: what an array from outside must pass before anyone
 * reads it.
 */
#include "columnar/array.h"

#include "columnar/utf8.h"

enum { ALIGNMENT = 8 };

static kith_error *validate(const struct array *array, unsigned depth);

/* `buffer` must hold `count` values of `width` bytes. */
static kith_error *check_buffer(const struct buffer *buffer, const char *what, size_t count, size_t width)
{
    size_t needed;
    if (__builtin_mul_overflow(count, width, &needed))
        return error_new(KITH_ERROR_CORRUPT, "%zu rows of %zu bytes", count, width);
    if (buffer == NULL && needed > 0)
        return error_new(KITH_ERROR_CORRUPT, "no buffer of %s, expected %zu bytes", what, needed);
    if (buffer != NULL && buffer->size < needed)
        return error_new(KITH_ERROR_CORRUPT, "%s of %zu bytes, expected %zu", what, buffer->size, needed);
    if (buffer != NULL && needed > 0 && width > 1 && (uintptr_t)buffer->data % ALIGNMENT != 0)
        return error_new(KITH_ERROR_CORRUPT, "%s not aligned to %d bytes", what, ALIGNMENT);
    return NULL;
}

static kith_error *check_validity(const struct array *array)
{
    if (array->validity == NULL) {
        if (array->null_count > 0 && array->type.id != TYPE_NULL)
            return error_new(KITH_ERROR_CORRUPT, "%td NULLs without a validity bitmap", array->null_count);
        return NULL;
    }
    TRY(check_buffer(array->validity, "validity", bitmap_bytes(array->offset + array->length), 1));
    size_t nulls = array->length - bitmap_count(array->validity->data, array->offset, array->length);
    if (array->null_count >= 0 && (size_t)array->null_count != nulls)
        return error_new(KITH_ERROR_CORRUPT, "%zu NULLs in the validity bitmap, %td said", nulls, array->null_count);
    return NULL;
}

static kith_error *check_indices(const struct array *array)
{
    for (size_t i = 0; i < array->length; i++) {
        if (array_is_null_itself(array, i))
            continue;
        size_t index = array_dictionary_index(array, i);
        if (index >= array->dictionary->length)
            return error_new(KITH_ERROR_CORRUPT, "row %zu has index %zu into a dictionary of %zu values", i, index,
                             array->dictionary->length);
    }
    return NULL;
}

static kith_error *check_dictionary(const struct array *array, unsigned depth)
{
    if (array->dictionary == NULL || type_is_dictionary(&array->dictionary->type))
        return error_new(KITH_ERROR_CORRUPT, "a dictionary-encoded array without plain values");
    TRY(error_wrap(validate(array->dictionary, depth), "dictionary"));
    return check_indices(array);
}

/* Offsets ascend from 0 or more to `most` or less. */
static kith_error *check_offsets(const struct array *array, bool wide, size_t most)
{
    if (array->offset + array->length == 0 && array->offsets == NULL)
        return NULL;
    size_t width = wide ? sizeof(int64_t) : sizeof(int32_t);
    TRY(check_buffer(array->offsets, "offsets", array->offset + array->length + 1, width));
    const int64_t *offsets64 = (const int64_t *)(const void *)array->offsets->data + array->offset;
    const int32_t *offsets32 = (const int32_t *)(const void *)array->offsets->data + array->offset;
    int64_t before = 0;
    for (size_t i = 0; i <= array->length; i++) {
        int64_t offset = wide ? offsets64[i] : offsets32[i];
        if (offset < before || (uint64_t)offset > most)
            return error_new(KITH_ERROR_CORRUPT, "row %zu has offset %lld, expected %lld to %zu", i, (long long)offset,
                             (long long)before, most);
        before = offset;
    }
    return NULL;
}

static kith_error *check_text_of_rows(const struct array *array)
{
    for (size_t i = 0; i < array->length; i++) {
        if (array_is_null(array, i))
            continue;
        struct str text = array_string(array, i);
        if (!utf8_is_valid(text.data, text.length))
            return error_new(KITH_ERROR_CORRUPT, "row %zu is not UTF-8", i);
    }
    return NULL;
}

/* Text that is valid from the first row to the last and not cut within a character is valid in every row; that takes
 * one pass. Otherwise the rows tell, because what NULL rows hold does not matter. */
static kith_error *check_text(const struct array *array)
{
    if (array->length == 0)
        return NULL;
    struct str first = array_string(array, 0), last = array_string(array, array->length - 1);
    const char *end = last.data + last.length;
    bool valid = utf8_is_valid(first.data, (size_t)(end - first.data));
    for (size_t i = 0; i < array->length && valid; i++) {
        const char *start = array_string(array, i).data;
        valid = start == end || !utf8_is_continuation((uint8_t)*start);
    }
    return valid ? NULL : check_text_of_rows(array);
}

static kith_error *check_strings(const struct array *array)
{
    size_t most = array->data == NULL ? 0 : array->data->size;
    TRY(check_offsets(array, type_layout(&array->type) == LAYOUT_OFFSETS64, most));
    if (array->data == NULL && array->length > 0)
        return error_new(KITH_ERROR_CORRUPT, "no buffer of data");
    return type_is_string(array->type.id) ? check_text(array) : NULL;
}

static kith_error *check_view(const struct array *array, const struct string_view *view, size_t i)
{
    if (view->length < 0)
        return error_new(KITH_ERROR_CORRUPT, "row %zu has length %d", i, (int)view->length);
    if (view->length <= (int32_t)sizeof view->inlined)
        return NULL;
    int32_t number = view->reference.buffer, offset = view->reference.offset;
    if (number < 0 || (size_t)number >= array->variadic_count)
        return error_new(KITH_ERROR_CORRUPT, "row %zu is in data buffer %d of %zu", i, (int)number,
                         array->variadic_count);
    const struct buffer *data = array->variadic[number];
    if (offset < 0 || (size_t)offset > data->size || (size_t)view->length > data->size - (size_t)offset)
        return error_new(KITH_ERROR_CORRUPT, "row %zu is at offset %d, length %d, of a data buffer of %zu bytes", i,
                         (int)offset, (int)view->length, data->size);
    if (memcmp(data->data + offset, view->reference.prefix, sizeof view->reference.prefix) != 0)
        return error_new(KITH_ERROR_CORRUPT, "row %zu has another prefix than its data", i);
    return NULL;
}

static kith_error *check_views(const struct array *array)
{
    if (array->length == 0)
        return NULL;
    TRY(check_buffer(array->values, "views", array->offset + array->length, sizeof(struct string_view)));
    const struct string_view *views = (const struct string_view *)(const void *)array->values->data + array->offset;
    for (size_t i = 0; i < array->length; i++)
        if (!array_is_null(array, i))
            TRY(check_view(array, &views[i], i));
    return type_is_string(array->type.id) ? check_text_of_rows(array) : NULL;
}

static kith_error *check_children(const struct array *array, size_t count, unsigned depth)
{
    if (array->child_count != count)
        return error_new(KITH_ERROR_CORRUPT, "%zu children, expected %zu", array->child_count, count);
    for (size_t i = 0; i < count; i++)
        TRY(error_wrap(validate(array->children[i], depth), "child %zu", i));
    return NULL;
}

static kith_error *check_list(const struct array *array, unsigned depth)
{
    TRY(check_children(array, 1, depth));
    return check_offsets(array, false, array->children[0]->length);
}

static kith_error *check_struct(const struct array *array, unsigned depth)
{
    TRY(check_children(array, array->child_count, depth));
    for (size_t i = 0; i < array->child_count; i++)
        if (array->children[i]->length < array->offset + array->length)
            return error_new(KITH_ERROR_CORRUPT, "child %zu has %zu rows, expected %zu", i, array->children[i]->length,
                             array->offset + array->length);
    return NULL;
}

static kith_error *check_values(const struct array *array, unsigned depth)
{
    size_t end = array->offset + array->length;
    switch (type_layout(&array->type)) {
    case LAYOUT_NULL:
        return NULL;
    case LAYOUT_BITS:
        return check_buffer(array->values, "values", bitmap_bytes(end), 1);
    case LAYOUT_FIXED:
        if (array->type.id == TYPE_FIXED_SIZE_BINARY && array->type.byte_width < 0)
            return error_new(KITH_ERROR_CORRUPT, "values of %d bytes", (int)array->type.byte_width);
        TRY(check_buffer(array->values, "values", end, type_width(&array->type)));
        return type_is_dictionary(&array->type) ? check_dictionary(array, depth) : NULL;
    case LAYOUT_OFFSETS32:
    case LAYOUT_OFFSETS64:
        return check_strings(array);
    case LAYOUT_VIEW:
        return check_views(array);
    case LAYOUT_LIST:
        return check_list(array, depth);
    case LAYOUT_STRUCT:
        return check_struct(array, depth);
    }
    UNREACHABLE();
}

static kith_error *validate(const struct array *array, unsigned depth)
{
    if (depth == 0)
        return error_new(KITH_ERROR_LIMIT, "an array nested deeper than TYPE_NESTING (%d)", LIMIT_TYPE_NESTING);
    size_t end;
    if (__builtin_add_overflow(array->offset, array->length, &end) || end == SIZE_MAX)
        return error_new(KITH_ERROR_CORRUPT, "%zu rows from row %zu", array->length, array->offset);
    kith_error *error = check_validity(array);
    if (error == NULL)
        error = check_values(array, depth - 1);
    if (error == NULL)
        return NULL;
    char name[128];
    return error_wrap(error, "array of %s", type_format(&array->type, name, sizeof name));
}

kith_error *array_validate(const struct array *array)
{
    return validate(array, LIMIT_TYPE_NESTING);
}

kith_error *array_validate_indices(const struct array *array)
{
    TRY(check_validity(array));
    TRY(check_buffer(array->values, "values", array->offset + array->length, type_width(&array->type)));
    return check_indices(array);
}

static bool null_row_is_safe(const struct array *array, size_t i)
{
    if (array->dictionary != NULL)
        return array_dictionary_index(array, i) < array->dictionary->length;
    const struct string_view *views = (const struct string_view *)(const void *)array->values->data;
    return views[array->offset + i].length == 0;
}

static kith_error *repair_rows(struct array *unshared, size_t width)
{
    _cleanup_(buffer_unref) struct buffer *copy = NULL;
    for (size_t i = 0; i < unshared->length; i++) {
        if (!array_is_null_itself(unshared, i) || null_row_is_safe(unshared, i))
            continue;
        if (copy == NULL) {
            TRY(buffer_new(unshared->values->size, &copy));
            memcpy(copy->data, unshared->values->data, unshared->values->size);
        }
        memset(copy->data + (unshared->offset + i) * width, 0, width);
    }
    if (copy != NULL) {
        buffer_unref(unshared->values);
        unshared->values = TAKE(copy);
    }
    return NULL;
}

kith_error *array_repair_nulls(struct array *unshared)
{
    bool dictionary = type_is_dictionary(&unshared->type);
    if (dictionary && unshared->dictionary->length == 0 && unshared->length > 0) {
        struct array *one = NULL;
        TRY(array_new_null(&unshared->dictionary->type, 1, &one));
        array_unref(unshared->dictionary);
        unshared->dictionary = one;
    }
    if (unshared->validity == NULL)
        return NULL;
    if (dictionary)
        return repair_rows(unshared, type_width(&unshared->type));
    return type_is_view(unshared->type.id) ? repair_rows(unshared, sizeof(struct string_view)) : NULL;
}
