#include "expr/functions_table.h"

#include <errno.h>
#include <sys/random.h>

kith_error *function_resolve_random(const struct data_type *arguments, const struct scalar *const *constants,
                                    size_t count, struct data_type *out)
{
    *out = type_of(TYPE_FLOAT64);
    return NULL;
}

/* SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014). */
static uint64_t next(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

/* Each batch has a seed of its own from the system, so there is no state to share between fibers. */
kith_error *function_run_random(const struct datum *arguments, size_t count, size_t rows,
                                const struct selection *selection, const struct data_type *type, struct array **out)
{
    _cleanup_(array_unref) struct array *result = NULL;
    uint64_t state;
    TRY(kernel_new_result(type, rows, &result));
    if (getrandom(&state, sizeof state, 0) != (ssize_t)sizeof state)
        return error_from_errno(errno, "no random number");
    double *values = (double *)(void *)result->values->data;
    for (size_t i = 0; i < rows; i++)
        values[i] = (double)(next(&state) >> 11) * 0x1p-53;
    *out = TAKE(result);
    return NULL;
}
