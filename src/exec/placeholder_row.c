/*
 * PlaceholderRowExec: one row without columns, for SELECT without FROM. EmptyExec: no rows.
 */
#include "exec/operators.h"

struct row_stream {
    struct stream stream;
    struct exec_operator *node;
    bool finished;
};

static kith_error *row_next(struct stream *stream, struct batch **out)
{
    struct row_stream *row = CONTAINER_OF(stream, struct row_stream, stream);
    if (row->finished)
        return NULL;
    row->finished = true;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    TRY(batch_new(stream->schema, NULL, 1, &batch));
    operator_count(row->node, batch);
    *out = TAKE(batch);
    return NULL;
}

static void row_free(struct stream *stream)
{
    free(CONTAINER_OF(stream, struct row_stream, stream));
}

static const struct stream_ops row_stream_ops = {.next = row_next, .free = row_free, .hands_out = true};

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    struct row_stream *row;
    TRY(NEW(&row));
    row->stream = operator_stream(node, &row_stream_ops);
    row->node = node;
    row->finished = node->plan->kind == PHYSICAL_EMPTY;
    *out = &row->stream;
    return NULL;
}

static void free_row(struct exec_operator *node)
{
    free(node);
}

static const struct operator_ops ops = {.execute = execute, .free = free_row};

kith_error *row_operator_new(struct exec_operator **out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
