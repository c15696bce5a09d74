/*
 * Scalar functions, one table: name, argument types, result type, volatility and kernel. The binder resolves names
 * here, the plan codec sends names, and SHOW FUNCTIONS and the reference page are printed from it.
 */
#ifndef KITH_EXPR_FUNCTIONS_H
#define KITH_EXPR_FUNCTIONS_H

#include "compute/kernel.h"
#include "expr/expr.h"

enum { FUNCTION_MAX_ARGUMENTS = 8 };

/* When the result is NULL, and so which shortcuts evaluation may take. */
enum function_nulls {
    FUNCTION_NULL_IF_ANY, /* when any argument is; no argument of the kernel is a constant NULL then */
    FUNCTION_NULL_IF_ALL, /* only when all are */
    FUNCTION_NULL_OPEN,   /* possibly always */
    FUNCTION_NULL_NEVER
};

/* Whether equal arguments give equal results. Where they do not, a call is made once for each row of the place where it
 * is written: no rule of the planner moves, repeats or passes it. */
enum function_volatility { FUNCTION_IMMUTABLE, FUNCTION_VOLATILE };

struct scalar_function {
    const char *name; /* lower case, DataFusion's name where there is one */
    size_t least_arguments, most_arguments;
    const char *signature; /* for errors and the reference: "abs(number)" */
    const char *doc;
    enum function_nulls nulls;
    enum function_volatility volatility;
    /* Checks argument types (after the binder's coercion) and gives the result's. `constants` has the values of
     * arguments that are literals and NULL for the others; a NULL pointer when nothing is known. */
    kith_error *(*resolve)(const struct data_type *arguments, const struct scalar *const *constants, size_t count,
                           struct data_type *out);
    /* Columns and constants of `rows` rows, none dictionary-encoded; only the rows of `selection` count. NULL for
     * COALESCE, which the evaluator does itself because later arguments must not be computed where they do not count.
     */
    kith_error *(*run)(const struct datum *arguments, size_t count, size_t rows, const struct selection *selection,
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
