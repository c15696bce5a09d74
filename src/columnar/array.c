#include "columnar/array.h"

#include "base/alloc.h"

kith_error *array_new(const struct data_type *type, size_t length, struct array **out)
{
    struct array *array = NULL;
    TRY(NEW(&array));
    refcount_init(&array->refs);
    array->type = *type;
    array->length = length;
    *out = array;
    return NULL;
}

static kith_error *new_null_values(struct array *array)
{
    const struct data_type *type = &array->type;
    size_t length = array->length;
    switch (type_layout(type)) {
    case LAYOUT_NULL:
        return NULL;
    case LAYOUT_BITS:
        return buffer_new_zeroed(bitmap_bytes(length), &array->values);
    case LAYOUT_FIXED:
        if (type_is_dictionary(type)) {
            /* A value for the indices, all 0, to point at. */
            struct data_type decoded = type_decoded(type);
            TRY(array_new_null(&decoded, 1, &array->dictionary));
        }
        return buffer_new_zeroed(length * type_width(type), &array->values);
    case LAYOUT_OFFSETS32:
    case LAYOUT_OFFSETS64:
        TRY(buffer_new(0, &array->data));
        return buffer_new_zeroed((length + 1) * (type_layout(type) == LAYOUT_OFFSETS32 ? 4 : 8), &array->offsets);
    case LAYOUT_VIEW:
        return buffer_new_zeroed(length * sizeof(struct string_view), &array->values);
    case LAYOUT_LIST:
    case LAYOUT_STRUCT:
        break;
    }
    char name[128];
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "NULLs of type %s", type_format(type, name, sizeof name));
}

kith_error *array_new_null(const struct data_type *type, size_t length, struct array **out)
{
    enum { WIDEST = 64 };
    if (length > PTRDIFF_MAX / WIDEST && type_layout(type) != LAYOUT_NULL)
        return error_out_of_memory();
    _cleanup_(array_unref) struct array *array = NULL;
    TRY(array_new(type, length, &array));
    TRY(new_null_values(array));
    if (type->id != TYPE_NULL || type_is_dictionary(type)) {
        TRY(buffer_new_zeroed(bitmap_bytes(length), &array->validity));
        array->null_count = (ptrdiff_t)length;
    }
    *out = TAKE(array);
    return NULL;
}

kith_error *array_new_dictionary(struct array *indices, struct array *values, struct array **out)
{
    if (!type_is_integer(indices->type.id) || type_is_dictionary(&indices->type) || type_is_dictionary(&values->type))
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "a dictionary needs integer indices and plain values");
    struct data_type type = values->type;
    type.index = indices->type.id;
    struct array *array = NULL;
    TRY(array_new(&type, indices->length, &array));
    array->offset = indices->offset;
    array->null_count = indices->null_count;
    array->validity = buffer_ref(indices->validity);
    array->values = buffer_ref(indices->values);
    array->dictionary = array_ref(values);
    *out = array;
    return NULL;
}

struct array *array_ref(struct array *array)
{
    refcount_take(&array->refs);
    return array;
}

/* Recurses into children and dictionaries, whose depth is limited where they come from outside (TYPE_NESTING). */
void array_unref(struct array *array)
{
    if (array == NULL || !refcount_drop(&array->refs))
        return;
    buffer_unref(array->validity);
    buffer_unref(array->values);
    buffer_unref(array->offsets);
    buffer_unref(array->data);
    for (size_t i = 0; i < array->variadic_count; i++)
        buffer_unref(array->variadic[i]);
    free(array->variadic);
    array_unref(array->dictionary);
    for (size_t i = 0; i < array->child_count; i++)
        array_unref(array->children[i]);
    free(array->children);
    free(array);
}

void array_list_reset(struct array_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        array_unref(list->items[i]);
    free(list->items);
    *list = (struct array_list){0};
}

static kith_error *share_pointers(struct array *array, const struct array *from)
{
    TRY(NEW_ARRAY(&array->variadic, from->variadic_count));
    for (size_t i = 0; i < from->variadic_count; i++)
        array->variadic[array->variadic_count++] = buffer_ref(from->variadic[i]);
    TRY(NEW_ARRAY(&array->children, from->child_count));
    for (size_t i = 0; i < from->child_count; i++)
        array->children[array->child_count++] = array_ref(from->children[i]);
    return NULL;
}

kith_error *array_slice(struct array *array, size_t offset, size_t length, struct array **out)
{
    if (offset > array->length || length > array->length - offset)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "rows %zu to %zu of an array of %zu", offset, offset + length,
                         array->length);
    if (length == array->length) {
        *out = array_ref(array);
        return NULL;
    }
    _cleanup_(array_unref) struct array *slice = NULL;
    TRY(array_new(&array->type, length, &slice));
    slice->offset = array->offset + offset;
    slice->null_count = array->null_count == 0 || array->validity == NULL ? 0 : -1;
    slice->validity = buffer_ref(array->validity);
    slice->values = buffer_ref(array->values);
    slice->offsets = buffer_ref(array->offsets);
    slice->data = buffer_ref(array->data);
    if (array->dictionary != NULL)
        slice->dictionary = array_ref(array->dictionary);
    TRY(share_pointers(slice, array));
    *out = TAKE(slice);
    return NULL;
}

size_t array_null_count(const struct array *array)
{
    if (array->type.id == TYPE_NULL && array->dictionary == NULL)
        return array->length;
    bool nulls_in_dictionary = array->dictionary != NULL && array_null_count(array->dictionary) > 0;
    if (!nulls_in_dictionary) {
        if (array->validity == NULL)
            return 0;
        if (array->null_count >= 0)
            return (size_t)array->null_count;
        return array->length - bitmap_count(array->validity->data, array->offset, array->length);
    }
    size_t nulls = 0;
    for (size_t i = 0; i < array->length; i++)
        nulls += array_is_null(array, i);
    return nulls;
}

static size_t buffer_bytes(const struct buffer *buffer)
{
    return buffer == NULL ? 0 : buffer->size;
}

size_t array_memory_bytes(const struct array *array)
{
    size_t bytes = buffer_bytes(array->validity) + buffer_bytes(array->values) + buffer_bytes(array->offsets) +
                   buffer_bytes(array->data);
    for (size_t i = 0; i < array->variadic_count; i++)
        bytes += buffer_bytes(array->variadic[i]);
    for (size_t i = 0; i < array->child_count; i++)
        bytes += array_memory_bytes(array->children[i]);
    return array->dictionary == NULL ? bytes : bytes + array_memory_bytes(array->dictionary);
}

size_t array_dictionary_index(const struct array *array, size_t i)
{
    const void *indices = array->values->data;
    i += array->offset;
    switch (type_width(&array->type)) {
    case 1:
        return ((const uint8_t *)indices)[i];
    case 2:
        return ((const uint16_t *)indices)[i];
    case 4:
        return ((const uint32_t *)indices)[i];
    default:
        return ((const uint64_t *)indices)[i];
    }
}

static struct str view_string(const struct array *array, size_t i)
{
    const struct string_view *view = (const struct string_view *)(const void *)array->values->data + i;
    size_t length = (size_t)view->length;
    if (length <= sizeof view->inlined)
        return (struct str){view->inlined, length};
    const uint8_t *data = array->variadic[view->reference.buffer]->data;
    return (struct str){(const char *)data + view->reference.offset, length};
}

struct str array_string(const struct array *array, size_t i)
{
    while (array->dictionary != NULL) {
        i = array_dictionary_index(array, i);
        array = array->dictionary;
    }
    i += array->offset;
    switch (type_layout(&array->type)) {
    case LAYOUT_OFFSETS32: {
        const int32_t *offsets = (const int32_t *)(const void *)array->offsets->data + i;
        return (struct str){(const char *)array->data->data + offsets[0], (size_t)(offsets[1] - offsets[0])};
    }
    case LAYOUT_OFFSETS64: {
        const int64_t *offsets = (const int64_t *)(const void *)array->offsets->data + i;
        return (struct str){(const char *)array->data->data + offsets[0], (size_t)(offsets[1] - offsets[0])};
    }
    case LAYOUT_VIEW:
        return view_string(array, i);
    case LAYOUT_FIXED: {
        size_t width = type_width(&array->type);
        return (struct str){(const char *)array->values->data + i * width, width};
    }
    case LAYOUT_NULL:
    case LAYOUT_BITS:
    case LAYOUT_LIST:
    case LAYOUT_STRUCT:
        break;
    }
    UNREACHABLE();
}
