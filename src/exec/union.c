/*
 * UnionExec: the partitions of the first input, then those of the second, and so on. Rows pass through under the names
 * of the union's columns.
 */
#include "exec/operators.h"

struct union_stream {
    struct stream stream;
    struct exec_operator *node;
    struct stream *input;
    size_t *columns; /* all of the input's */
};

static kith_error *union_next(struct stream *stream, struct batch **out)
{
    struct union_stream *self = CONTAINER_OF(stream, struct union_stream, stream);
    _cleanup_(batch_unref) struct batch *batch = NULL;
    TRY(stream_next(self->input, &batch));
    if (batch == NULL)
        return NULL;
    TRY(batch_project(batch, stream->schema, self->columns, out));
    operator_count(self->node, *out);
    return NULL;
}

static void union_free(struct stream *stream)
{
    struct union_stream *self = CONTAINER_OF(stream, struct union_stream, stream);
    stream_free(self->input);
    free(self->columns);
    free(self);
}

static const struct stream_ops union_stream_ops = {.next = union_next, .free = union_free};

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    struct union_stream *self;
    size_t input = 0;
    while (partition >= node->plan->inputs[input]->partitions)
        partition -= node->plan->inputs[input++]->partitions;
    TRY(NEW(&self));
    self->stream = operator_stream(node, &union_stream_ops);
    self->node = node;
    _cleanup_(stream_free) struct stream *made = &self->stream;
    TRY(NEW_ARRAY(&self->columns, node->plan->schema->field_count));
    for (size_t i = 0; i < node->plan->schema->field_count; i++)
        self->columns[i] = i;
    TRY(operator_execute(node->inputs[input], partition, &self->input));
    *out = TAKE(made);
    return NULL;
}

static void free_union(struct exec_operator *node)
{
    free(node);
}

static const struct operator_ops ops = {.execute = execute, .free = free_union};

kith_error *union_operator_new(struct exec_operator **out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
