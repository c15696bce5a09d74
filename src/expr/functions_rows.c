#include "expr/functions_rows.h"

#include "columnar/scalar.h"
#include "compute/text_output.h"

#include <stdio.h>

struct function_rows function_rows_of(const struct datum *arguments, size_t count, size_t rows,
                                      const struct selection *selection, const struct data_type *type)
{
    struct function_rows call = {arguments, count, rows, selection, type, {{0}}};
    for (size_t i = 0; i < count; i++)
        if (type_is_string(arguments[i].array->type.id))
            call.texts[i] = text_reader_of(arguments[i].array);
    return call;
}

int64_t function_integer(const struct function_rows *call, size_t argument, size_t row)
{
    const struct datum *datum = &call->arguments[argument];
    struct scalar value = scalar_from_array(datum->array, datum_row(datum, row));
    if (!type_is_signed_integer(value.type.id))
        return (int64_t)MIN(value.uint64, (uint64_t)INT64_MAX);
    return value.int64;
}

static bool any_null(const struct function_rows *call, size_t row)
{
    for (size_t i = 0; i < call->count; i++)
        if (datum_is_null(&call->arguments[i], row))
            return true;
    return false;
}

kith_error *function_run_text_rows(const struct function_rows *call, function_text_row *row_function,
                                   struct array **out)
{
    _cleanup_(text_output_reset) struct text_output output = {0};
    TRY(text_output_begin(&output, call->type, call->rows));
    for (size_t k = 0; k < selected_count(call->selection, call->rows); k++) {
        size_t row = selected_row(call->selection, k);
        if (any_null(call, row)) {
            TRY(text_output_set_null(&output, row));
            continue;
        }
        TRY(row_function(call, row, &output.bytes));
        TRY(text_output_end_row(&output, row));
    }
    return text_output_finish(&output, out);
}

kith_error *function_run_integer_rows(const struct function_rows *call, function_integer_row *row_function,
                                      struct array **out)
{
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_zeroed_result(call->type, call->rows, &result));
    TRY(kernel_unite_validity(result, call->arguments, call->count));
    for (size_t k = 0; k < selected_count(call->selection, call->rows); k++) {
        size_t row = selected_row(call->selection, k);
        int64_t value;
        char type[128];
        if (array_is_null(result, row))
            continue;
        TRY(row_function(call, row, &value));
        if (call->type->id == TYPE_BOOL)
            bitmap_assign(result->values->data, row, value != 0);
        else if (!kernel_store_integer(result, row, value))
            return error_new(KITH_ERROR_OUT_OF_RANGE, "%lld does not fit %s", (long long)value,
                             type_format(call->type, type, sizeof type));
    }
    *out = TAKE(result);
    return NULL;
}

kith_error *function_type_error(const struct data_type *arguments, size_t count)
{
    char types[512];
    size_t used = 0;
    types[0] = '\0';
    for (size_t i = 0; i < count && used < sizeof types; i++) {
        char name[128];
        int written = snprintf(types + used, sizeof types - used, "%s%s", i > 0 ? ", " : "",
                               type_format(&arguments[i], name, sizeof name));
        used += written > 0 ? (size_t)written : 0;
    }
    return error_new(KITH_ERROR_TYPE_MISMATCH, "takes no (%s)", types);
}
