#include "compute/choose.h"

#include "compute/text_output.h"

static const struct datum *source_of(const struct datum *sources, size_t count, uint32_t which, size_t row)
{
    if (which == CHOOSE_NULL)
        return NULL;
    ASSERT(which < count);
    return datum_is_null(&sources[which], row) ? NULL : &sources[which];
}

static kith_error *choose_text(const struct data_type *type, const struct datum *sources, size_t count,
                               const uint32_t *which, size_t rows, const struct selection *selection,
                               struct array **out)
{
    _cleanup_(text_output_reset) struct text_output output = {0};
    TRY(text_output_begin(&output, type, rows));
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        const struct datum *source = source_of(sources, count, which[row], row);
        if (source == NULL)
            TRY(text_output_set_null(&output, row));
        else
            TRY(text_output_set(&output, row, array_string(source->array, datum_row(source, row))));
    }
    return text_output_finish(&output, out);
}

/* Sources of another layout than the result's (a 64-bit decimal for a 128-bit one, say) do not get here: the types of
 * all are equal. */
static void copy_value(const struct array *from, size_t row, struct array *to, size_t to_row)
{
    if (from->dictionary != NULL) {
        row = array_dictionary_index(from, row);
        from = from->dictionary;
    }
    if (to->type.id == TYPE_BOOL) {
        bitmap_assign(to->values->data, to_row, bitmap_get(from->values->data, from->offset + row));
        return;
    }
    size_t width = type_width(&to->type);
    memcpy(to->values->data + to_row * width, (const uint8_t *)array_values(from) + row * width, width);
}

kith_error *choose_rows(const struct data_type *type, const struct datum *sources, size_t count, const uint32_t *which,
                        size_t rows, const struct selection *selection, struct array **out)
{
    if (type_is_string(type->id) || (type_is_binary(type->id) && type->id != TYPE_FIXED_SIZE_BINARY))
        return choose_text(type, sources, count, which, rows, selection, out);
    if (type->id == TYPE_NULL)
        return kernel_all_null(type, rows, out);
    if (type_is_nested(type->id))
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "choice among nested values");
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_zeroed_result(type, rows, &result));
    TRY(buffer_new_zeroed(bitmap_bytes(rows), &result->validity));
    result->null_count = -1;
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        const struct datum *source = source_of(sources, count, which[row], row);
        if (source == NULL)
            continue;
        copy_value(source->array, datum_row(source, row), result, row);
        bitmap_set(result->validity->data, row);
    }
    *out = TAKE(result);
    return NULL;
}
