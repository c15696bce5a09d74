/*
 * SortExec: orders each partition by itself. With a fetch it is a Top-K (topk.c), otherwise all rows are held
 * (full_sort.c).
 */
#include "exec/operators.h"

static kith_error *execute(struct operator* operator, size_t partition, struct stream **out)
{
    struct stream *input;
    TRY(operator_execute(operator->inputs[0], partition, &input));
    return operator->plan->sort.fetch >= 0 ? topk_stream_new(operator, input, out)
                                           : full_sort_stream_new(operator, input, out);
}

static void free_sort(struct operator* operator)
{
    free(operator);
}

static const struct operator_ops ops = {.execute = execute, .free = free_sort};

kith_error *sort_operator_new(struct operator** out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
