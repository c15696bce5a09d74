/*
 * Scalar functions, one table: name, argument types, result type, volatility and kernel. The binder resolves names
 * here, the plan codec sends names, and SHOW FUNCTIONS and the reference page are printed from it.
 */
#ifndef KITH_EXPR_FUNCTIONS_H
#define KITH_EXPR_FUNCTIONS_H

#include "columnar/batch.h"
#include "expr/expr.h"

enum { FUNCTION_MAX_ARGUMENTS = 8 };

struct scalar_function {
    const char *name; /* lower case, DataFusion's name where there is one */
    size_t least_arguments, most_arguments;
    const char *signature; /* for errors and the reference: "abs(number)" */
    const char *doc;
    /* Checks argument types (after the binder's coercion) and gives the result's. */
    kith_error *(*resolve)(const struct data_type *arguments, size_t count, struct data_type *out);
    /* Arguments have `rows` rows each; only those of `selection` count. */
    kith_error *(*run)(struct array *const *arguments, size_t count, size_t rows, const struct selection *selection,
                       const struct data_type *type, struct array **out);
};

extern const struct scalar_function scalar_functions[];
extern const size_t scalar_function_count;

/* NULL when there is none of that name. Case is ignored. */
const struct scalar_function *scalar_function_find(const char *name);

/* UNDEFINED_FUNCTION or TYPE_MISMATCH with the signature when the arguments do not fit. */
kith_error *expr_function(struct arena *arena, const struct scalar_function *function,
                          const struct expr *const *arguments, size_t count, const struct expr **out) _must_check_;

#endif
