#include "compute/text_output.h"

#include "base/alloc.h"
#include "base/limits.h"

static bool is_large(enum type_id id)
{
    return id == TYPE_LARGE_UTF8 || id == TYPE_LARGE_BINARY;
}

kith_error *text_output_begin(struct text_output *output, const struct data_type *type, size_t rows)
{
    TRY(array_new(type, rows, &output->array));
    output->array->null_count = 0;
    if (type_is_view(type->id))
        return buffer_new_zeroed(rows * sizeof(struct string_view), &output->array->values);
    return buffer_new_zeroed((rows + 1) * (is_large(type->id) ? sizeof(int64_t) : sizeof(int32_t)),
                             &output->array->offsets);
}

void text_output_reset(struct text_output *output)
{
    if (output->array != NULL)
        array_unref(output->array);
    output->array = NULL;
    strbuf_reset(&output->bytes);
}

static void set_offset(struct text_output *output, size_t position, size_t offset)
{
    uint8_t *offsets = output->array->offsets->data;
    if (is_large(output->array->type.id))
        ((int64_t *)(void *)offsets)[position] = (int64_t)offset;
    else
        ((int32_t *)(void *)offsets)[position] = (int32_t)offset;
}

/* Rows before `row` that were not set begin, and so end, where it begins. */
static void fill_to(struct text_output *output, size_t row, size_t begin)
{
    if (output->array->offsets == NULL)
        return;
    for (; output->next_row < row; output->next_row++)
        set_offset(output, output->next_row + 1, begin);
}

static size_t row_begin(const struct text_output *output)
{
    const struct array *array = output->array;
    if (array->offsets == NULL)
        return output->next_row; /* views: the end of the bytes of earlier rows */
    return is_large(array->type.id) ? (size_t)((const int64_t *)(const void *)array->offsets->data)[output->next_row]
                                    : (size_t)((const int32_t *)(const void *)array->offsets->data)[output->next_row];
}

kith_error *text_output_end_row(struct text_output *output, size_t row)
{
    struct array *array = output->array;
    size_t begin = row_begin(output), end = output->bytes.length;
    if (!is_large(array->type.id) && end > LIMIT_STRING_BATCH_BYTES)
        return error_new(KITH_ERROR_LIMIT, "strings of one batch are larger than STRING_BATCH_BYTES (%d)",
                         LIMIT_STRING_BATCH_BYTES);
    if (array->offsets != NULL) {
        fill_to(output, row, begin);
        set_offset(output, row + 1, end);
        output->next_row = row + 1;
        return NULL;
    }
    struct str value = {strbuf_text(&output->bytes) + begin, end - begin};
    struct string_view view = string_view_make(value, 0, (int32_t)begin);
    memcpy(array->values->data + row * sizeof view, &view, sizeof view);
    if (value.length <= sizeof view.inlined)
        output->bytes.length = begin;
    output->next_row = output->bytes.length;
    return NULL;
}

kith_error *text_output_set(struct text_output *output, size_t row, struct str value)
{
    if (value.length > 0)
        TRY(strbuf_append(&output->bytes, value.data, value.length));
    return text_output_end_row(output, row);
}

kith_error *text_output_set_null(struct text_output *output, size_t row)
{
    if (output->array->validity == NULL)
        TRY(kernel_own_validity(output->array));
    bitmap_clear(output->array->validity->data, row);
    return text_output_end_row(output, row);
}

kith_error *text_output_finish(struct text_output *output, struct array **out)
{
    struct array *array = output->array;
    bool views = array->offsets == NULL;
    if (!views)
        fill_to(output, array->length, row_begin(output));
    if (output->bytes.length > 0 || !views) {
        _cleanup_(buffer_unref) struct buffer *bytes = NULL;
        char *padding;
        TRY(strbuf_reserve(&output->bytes, 64, &padding));
        memset(padding, 0, 64);
        size_t length = output->bytes.length;
        TRY(buffer_wrap_allocated(output->bytes.data, length, &bytes));
        (void)strbuf_take(&output->bytes);
        if (views) {
            TRY(NEW_ARRAY(&array->variadic, 1));
            array->variadic[0] = TAKE(bytes);
            array->variadic_count = 1;
        } else {
            array->data = TAKE(bytes);
        }
    }
    *out = TAKE(output->array);
    return NULL;
}
