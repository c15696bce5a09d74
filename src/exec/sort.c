/*
 * SortExec: orders each partition by itself. With a fetch it is a Top-K (topk.c), otherwise all rows are held
 * (full_sort.c).
 */
#include "exec/operators.h"

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    struct stream *input;
    TRY(operator_execute(node->inputs[0], partition, &input));
    return node->plan->sort.fetch >= 0 ? topk_stream_new(node, input, out) : full_sort_stream_new(node, input, out);
}

static void free_sort(struct exec_operator *node)
{
    free(node);
}

static const struct operator_ops ops = {.execute = execute, .free = free_sort};

kith_error *sort_operator_new(struct exec_operator **out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
