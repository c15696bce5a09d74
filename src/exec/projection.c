/*
 * ProjectionExec: columns computed from the columns of the input. A plain column is passed on by reference.
 */
#include "exec/operators.h"
#include "expr/eval.h"

struct projection_stream {
    struct stream stream;
    struct exec_operator *node;
    struct stream *input;
    size_t count;
    struct evaluator **evaluators;
    struct array **columns; /* of the batch being made */
};

static kith_error *project(struct projection_stream *projection, struct batch *batch, struct batch **out)
{
    _cleanup_(batch_unref) struct batch *all = NULL;
    for (size_t i = 0; i < projection->count; i++)
        TRY(evaluator_run(projection->evaluators[i], batch, &projection->columns[i]));
    TRY(batch_new(projection->stream.schema, projection->columns, batch->rows, &all));
    return batch_select(all, batch->selection, out);
}

static void drop_columns(struct projection_stream *projection)
{
    for (size_t i = 0; i < projection->count; i++) {
        array_unref(projection->columns[i]);
        projection->columns[i] = NULL;
    }
}

static kith_error *projection_next(struct stream *stream, struct batch **out)
{
    struct projection_stream *projection = CONTAINER_OF(stream, struct projection_stream, stream);
    _cleanup_(batch_unref) struct batch *batch = NULL;
    TRY(stream_next(projection->input, &batch));
    if (batch == NULL)
        return NULL;
    int64_t start = operator_now(projection->node);
    kith_error *error = project(projection, batch, out);
    drop_columns(projection);
    TRY(error);
    operator_charge_time(projection->node, start);
    operator_count(projection->node, *out);
    return NULL;
}

static void projection_free(struct stream *stream)
{
    struct projection_stream *projection = CONTAINER_OF(stream, struct projection_stream, stream);
    stream_free(projection->input);
    for (size_t i = 0; projection->evaluators != NULL && i < projection->count; i++)
        evaluator_free(projection->evaluators[i]);
    free(projection->evaluators);
    free(projection->columns);
    free(projection);
}

static const struct stream_ops projection_stream_ops = {.next = projection_next, .free = projection_free};

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    const struct physical_plan *plan = node->plan;
    struct projection_stream *projection;
    TRY(NEW(&projection));
    projection->stream = operator_stream(node, &projection_stream_ops);
    projection->node = node;
    projection->count = plan->schema->field_count;
    _cleanup_(stream_free) struct stream *made = &projection->stream;
    TRY(NEW_ARRAY(&projection->columns, projection->count));
    TRY(NEW_ARRAY(&projection->evaluators, projection->count));
    for (size_t i = 0; i < projection->count; i++)
        TRY(evaluator_new(plan->projection.exprs[i], &projection->evaluators[i]));
    TRY(operator_execute(node->inputs[0], partition, &projection->input));
    *out = TAKE(made);
    return NULL;
}

static void free_projection(struct exec_operator *node)
{
    free(node);
}

static const struct operator_ops ops = {.execute = execute, .free = free_projection};

kith_error *projection_operator_new(struct exec_operator **out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
