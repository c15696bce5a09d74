/*
 * For the families of scalar functions: kernels made from a function of one row. The row function is called for
 * selected rows whose arguments are all valid; all other rows are NULL. It appends a text result to `out`, which no row
 * allocates anew.
 */
#ifndef KITH_EXPR_FUNCTIONS_ROWS_H
#define KITH_EXPR_FUNCTIONS_ROWS_H

#include "compute/text_reader.h"
#include "expr/functions_table.h"

struct function_rows {
    const struct datum *arguments;
    size_t count;
    size_t rows;
    const struct selection *selection;
    const struct data_type *type;
    struct text_reader texts[FUNCTION_MAX_ARGUMENTS]; /* of the arguments that are text */
};

/* The parameters of a function's `run`. */
struct function_rows function_rows_of(const struct datum *arguments, size_t count, size_t rows,
                                      const struct selection *selection, const struct data_type *type);

static inline struct str function_text(const struct function_rows *call, size_t argument, size_t row)
{
    return text_at(&call->texts[argument], datum_row(&call->arguments[argument], row));
}

/* An argument of any integer type; an unsigned one beyond INT64_MAX is INT64_MAX. */
int64_t function_integer(const struct function_rows *call, size_t argument, size_t row);

typedef kith_error *function_text_row(const struct function_rows *call, size_t row, struct strbuf *out);
typedef kith_error *function_integer_row(const struct function_rows *call, size_t row, int64_t *out);

kith_error *function_run_text_rows(const struct function_rows *call, function_text_row *row_function,
                                   struct array **out) _must_check_;

/* For results of integer and temporal types, and booleans (0 or 1). A value beyond the type is OUT_OF_RANGE. */
kith_error *function_run_integer_rows(const struct function_rows *call, function_integer_row *row_function,
                                      struct array **out) _must_check_;

/* Runs a row function from a function's `run`. */
#define DEFINE_TEXT_FUNCTION(name, row_function)                                                                  \
    kith_error *name(const struct datum *arguments, size_t count, size_t rows, const struct selection *selection, \
                     const struct data_type *type, struct array **out)                                            \
    {                                                                                                             \
        struct function_rows call = function_rows_of(arguments, count, rows, selection, type);                    \
        return function_run_text_rows(&call, row_function, out);                                                  \
    }
#define DEFINE_INTEGER_FUNCTION(name, row_function)                                                               \
    kith_error *name(const struct datum *arguments, size_t count, size_t rows, const struct selection *selection, \
                     const struct data_type *type, struct array **out)                                            \
    {                                                                                                             \
        struct function_rows call = function_rows_of(arguments, count, rows, selection, type);                    \
        return function_run_integer_rows(&call, row_function, out);                                               \
    }

#endif
