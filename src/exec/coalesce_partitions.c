/*
 * CoalescePartitionsExec: many partitions to one, batches in order of arrival. With a fetch it stops once enough rows
 * have come.
 */
#include "exec/operators.h"

struct coalesce_stream {
    struct stream stream;
    struct exec_operator *node;
    struct partition_pump *pump; /* NULL before the first pull */
    uint64_t to_give;            /* UINT64_MAX = all */
};

/* The batch, or as much of it as is still wanted. */
static kith_error *cut_to_limit(struct coalesce_stream *coalesce, struct batch **in_out)
{
    struct batch *cut = NULL;
    if (coalesce->to_give == UINT64_MAX)
        return NULL;
    if (batch_row_count(*in_out) > coalesce->to_give) {
        TRY(batch_slice(*in_out, 0, (size_t)coalesce->to_give, &cut));
        batch_unref(*in_out);
        *in_out = cut;
    }
    coalesce->to_give -= batch_row_count(*in_out);
    return NULL;
}

static kith_error *coalesce_next(struct stream *stream, struct batch **out)
{
    struct coalesce_stream *coalesce = CONTAINER_OF(stream, struct coalesce_stream, stream);
    struct exec_operator *node = coalesce->node;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    if (coalesce->to_give == 0)
        return NULL;
    if (coalesce->pump == NULL)
        TRY(partition_pump_new(node->inputs[0], 0, node->plan->inputs[0]->partitions, &coalesce->pump));
    TRY(partition_pump_next(coalesce->pump, node, &batch));
    if (batch == NULL)
        return NULL;
    TRY(cut_to_limit(coalesce, &batch));
    if (coalesce->to_give == 0)
        partition_pump_free(TAKE(coalesce->pump));
    operator_count(node, batch);
    *out = TAKE(batch);
    return NULL;
}

static void coalesce_free(struct stream *stream)
{
    struct coalesce_stream *coalesce = CONTAINER_OF(stream, struct coalesce_stream, stream);
    partition_pump_free(coalesce->pump);
    free(coalesce);
}

static const struct stream_ops coalesce_stream_ops = {.next = coalesce_next, .free = coalesce_free, .hands_out = true};

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    struct coalesce_stream *coalesce;
    TRY(NEW(&coalesce));
    coalesce->stream = operator_stream(node, &coalesce_stream_ops);
    coalesce->node = node;
    coalesce->to_give = node->plan->limit.fetch < 0 ? UINT64_MAX : (uint64_t)node->plan->limit.fetch;
    *out = &coalesce->stream;
    return NULL;
}

static void free_coalesce(struct exec_operator *node)
{
    free(node);
}

static const struct operator_ops ops = {.execute = execute, .free = free_coalesce};

kith_error *coalesce_operator_new(struct exec_operator **out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
