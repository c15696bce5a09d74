#include "compute/text_output.h"
#include "expr/functions_rows.h"

/* concat skips NULLs, unlike ||, so it never is NULL itself. */
kith_error *function_run_concat(const struct datum *arguments, size_t count, size_t rows,
                                const struct selection *selection, const struct data_type *type, struct array **out)
{
    struct function_rows call = function_rows_of(arguments, count, rows, selection, type);
    _cleanup_(text_output_reset) struct text_output output = {0};
    TRY(text_output_begin(&output, type, rows));
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        for (size_t i = 0; i < count; i++) {
            if (datum_is_null(&arguments[i], row))
                continue;
            struct str part = function_text(&call, i, row);
            TRY(strbuf_append(&output.bytes, part.data, part.length));
        }
        TRY(text_output_end_row(&output, row));
    }
    return text_output_finish(&output, out);
}
