/*
 * FilterExec: narrows each batch to the rows for which the predicate is true. Batches without any are not handed on.
 */
#include "exec/operators.h"
#include "expr/eval.h"

struct filter_stream {
    struct stream stream;
    struct exec_operator *node;
    struct stream *input;
    struct evaluator *predicate;
};

static kith_error *filter_next(struct stream *stream, struct batch **out)
{
    struct filter_stream *filter = CONTAINER_OF(stream, struct filter_stream, stream);
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        _cleanup_(batch_unref) struct batch *kept = NULL;
        TRY(stream_next(filter->input, &batch));
        if (batch == NULL)
            return NULL;
        int64_t start = operator_now(filter->node);
        TRY(evaluator_filter(filter->predicate, batch, &kept));
        operator_charge_time(filter->node, start);
        if (batch_row_count(kept) == 0)
            continue;
        operator_count(filter->node, kept);
        *out = TAKE(kept);
        return NULL;
    }
}

static void filter_free(struct stream *stream)
{
    struct filter_stream *filter = CONTAINER_OF(stream, struct filter_stream, stream);
    stream_free(filter->input);
    evaluator_free(filter->predicate);
    free(filter);
}

static const struct stream_ops filter_stream_ops = {.next = filter_next, .free = filter_free};

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    struct filter_stream *filter;
    TRY(NEW(&filter));
    filter->stream = operator_stream(node, &filter_stream_ops);
    filter->node = node;
    _cleanup_(stream_free) struct stream *made = &filter->stream;
    TRY(evaluator_new(node->plan->filter.predicate, &filter->predicate));
    TRY(operator_execute(node->inputs[0], partition, &filter->input));
    *out = TAKE(made);
    return NULL;
}

static void free_filter(struct exec_operator *node)
{
    free(node);
}

static const struct operator_ops ops = {.execute = execute, .free = free_filter};

kith_error *filter_operator_new(struct exec_operator **out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
