#include "exec/sort_keys_eval.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "runtime/runtime.h"

kith_error *sort_evaluators_init(struct sort_evaluators *evaluators, const struct sort_expr *exprs, size_t count)
{
    ASSERT(count <= LIMIT_SORT_KEYS);
    evaluators->exprs = exprs;
    TRY(NEW_ARRAY(&evaluators->evaluators, count));
    TRY(NEW_ARRAY(&evaluators->orders, count));
    for (; evaluators->count < count; evaluators->count++) {
        size_t i = evaluators->count;
        evaluators->orders[i] = exprs[i].order;
        TRY(evaluator_new(exprs[i].expr, &evaluators->evaluators[i]));
    }
    return NULL;
}

void sort_evaluators_reset(struct sort_evaluators *evaluators)
{
    for (size_t i = 0; i < evaluators->count; i++)
        evaluator_free(evaluators->evaluators[i]);
    free(evaluators->evaluators);
    free(evaluators->orders);
    *evaluators = (struct sort_evaluators){0};
}

static kith_error *evaluate(struct sort_evaluators *evaluators, struct batch *batch, struct array **out)
{
    for (size_t i = 0; i < evaluators->count; i++)
        TRY(evaluator_run(evaluators->evaluators[i], batch, &out[i]));
    return NULL;
}

static void unref_arrays(struct array **arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        array_unref(arrays[i]);
}

kith_error *sort_evaluators_encode(struct sort_evaluators *evaluators, struct batch *batch, struct sort_keys *keys)
{
    struct array *arrays[LIMIT_SORT_KEYS] = {NULL};
    kith_error *error = evaluate(evaluators, batch, arrays);
    if (error == NULL)
        error = sort_keys_encode(keys, arrays, evaluators->orders, evaluators->count, batch->rows, batch->selection);
    unref_arrays(arrays, evaluators->count);
    return error;
}

kith_error *sort_evaluators_bound(struct sort_evaluators *evaluators, struct batch *batch, size_t row,
                                  struct bound **out)
{
    _cleanup_(batch_unref) struct batch *one = NULL;
    struct array *arrays[LIMIT_SORT_KEYS] = {NULL};
    struct scalar values[LIMIT_SORT_KEYS];
    struct runtime *runtime = runtime_current();
    int64_t now = clock_monotonic_ns(runtime == NULL ? &system_clock : runtime_clock(runtime));
    TRY(batch_slice(batch, row, 1, &one));
    kith_error *error = evaluate(evaluators, one, arrays);
    for (size_t i = 0; error == NULL && i < evaluators->count; i++)
        values[i] = scalar_from_array(arrays[i], 0);
    if (error == NULL)
        error = bound_new(values, evaluators->orders, evaluators->count, now, out);
    unref_arrays(arrays, evaluators->count);
    return error;
}

kith_error *sort_evaluators_filter(struct sort_evaluators *evaluators, const struct bound *bound, struct batch *batch,
                                   struct sort_keys *keys, struct batch **out)
{
    return bound_filter(bound, evaluators->exprs, evaluators->evaluators, batch, keys, out);
}
