/*
 * GlobalLimitExec and LocalLimitExec: passes rows over, then hands on so many. The input is let go as soon as enough
 * rows have come.
 */
#include "exec/operators.h"

struct limit_stream {
    struct stream stream;
    struct exec_operator *node;
    struct stream *input; /* NULL once enough was read */
    uint64_t to_skip;
    uint64_t to_give; /* UINT64_MAX = no limit */
};

static kith_error *limit_next(struct stream *stream, struct batch **out)
{
    struct limit_stream *limit = CONTAINER_OF(stream, struct limit_stream, stream);
    while (limit->input != NULL && limit->to_give > 0) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(stream_next(limit->input, &batch));
        if (batch == NULL)
            break;
        uint64_t rows = batch_row_count(batch);
        uint64_t skipped = MIN(rows, limit->to_skip);
        uint64_t given = MIN(rows - skipped, limit->to_give);
        limit->to_skip -= skipped;
        if (given == 0)
            continue;
        if (limit->to_give != UINT64_MAX)
            limit->to_give -= given;
        TRY(batch_slice(batch, skipped, given, out));
        operator_count(limit->node, *out);
        return NULL;
    }
    stream_free(TAKE(limit->input));
    return NULL;
}

static void limit_free(struct stream *stream)
{
    struct limit_stream *limit = CONTAINER_OF(stream, struct limit_stream, stream);
    stream_free(limit->input);
    free(limit);
}

static const struct stream_ops limit_stream_ops = {.next = limit_next, .free = limit_free};

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    const struct physical_plan *plan = node->plan;
    struct limit_stream *limit;
    TRY(NEW(&limit));
    limit->stream = operator_stream(node, &limit_stream_ops);
    limit->node = node;
    limit->to_skip = (uint64_t)plan->limit.skip;
    limit->to_give = plan->limit.fetch < 0 ? UINT64_MAX : (uint64_t)plan->limit.fetch;
    _cleanup_(stream_free) struct stream *made = &limit->stream;
    if (limit->to_give > 0)
        TRY(operator_execute(node->inputs[0], partition, &limit->input));
    *out = TAKE(made);
    return NULL;
}

static void free_limit(struct exec_operator *node)
{
    free(node);
}

static const struct operator_ops ops = {.execute = execute, .free = free_limit};

kith_error *limit_operator_new(struct exec_operator **out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
