/*
 * The list of scalar functions, for functions.c, and what the families (functions_*.c) give to it.
 *
 * X(name, least arguments, most arguments, nulls, resolve, run, signature, doc), ordered by name.
 */
#ifndef KITH_EXPR_FUNCTIONS_TABLE_H
#define KITH_EXPR_FUNCTIONS_TABLE_H

#include "expr/functions.h"

typedef kith_error *function_resolve(const struct data_type *arguments, const struct scalar *const *constants,
                                     size_t count, struct data_type *out);
typedef kith_error *function_run(const struct datum *arguments, size_t count, size_t rows,
                                 const struct selection *selection, const struct data_type *type, struct array **out);

/* TYPE_MISMATCH that names the function and what it was given. */
kith_error *function_type_error(const char *function, const struct data_type *arguments,
                                size_t count) _must_check_ _never_null_;

/* functions_conditional.c */
function_resolve function_resolve_alike;
function_run function_run_nullif, function_run_greatest, function_run_least;

#define SCALAR_FUNCTIONS(X)                                                                                       \
    X("coalesce", 1, FUNCTION_MAX_ARGUMENTS, FUNCTION_NULL_IF_ALL, function_resolve_alike, NULL,                  \
      "coalesce(value, ...)", "The first argument that is not NULL.")                                             \
    X("greatest", 1, FUNCTION_MAX_ARGUMENTS, FUNCTION_NULL_IF_ALL, function_resolve_alike, function_run_greatest, \
      "greatest(value, ...)", "The largest argument; NULLs are ignored.")                                         \
    X("least", 1, FUNCTION_MAX_ARGUMENTS, FUNCTION_NULL_IF_ALL, function_resolve_alike, function_run_least,       \
      "least(value, ...)", "The smallest argument; NULLs are ignored.")                                           \
    X("nullif", 2, 2, FUNCTION_NULL_OPEN, function_resolve_alike, function_run_nullif, "nullif(value, value)",    \
      "NULL if both arguments are equal, otherwise the first.")

#endif
