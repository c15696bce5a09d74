#include "exec/batch_split.h"

#include "base/alloc.h"

struct split_stream {
    struct stream stream;
    struct stream *input; /* NULL once it has ended */
    size_t rows;
    struct metric_set *metrics;
    struct batch *batch; /* that slices are being cut from; NULL = none */
    size_t position;     /* of the next slice */
    size_t slices;
};

static void end_batch(struct split_stream *split)
{
    if (split->slices > 0)
        metric_add(split->metrics, METRIC_BATCHES_SPLIT, split->slices);
    split->slices = 0;
    batch_unref(TAKE(split->batch));
}

static kith_error *cut(struct split_stream *split, struct batch **out)
{
    size_t left = batch_row_count(split->batch) - split->position;
    size_t length = MIN(left, split->rows);
    TRY(batch_slice(split->batch, split->position, length, out));
    split->position += length;
    split->slices++;
    if (length == left)
        end_batch(split);
    return NULL;
}

/* Apart from the path of the slices, which it would make longer. */
static __attribute__((noinline)) kith_error *pull(struct split_stream *split, struct batch **out)
{
    _cleanup_(batch_unref) struct batch *batch = NULL;
    if (split->input == NULL)
        return NULL;
    TRY(stream_next(split->input, &batch));
    if (batch == NULL)
        stream_free(TAKE(split->input));
    if (batch == NULL || batch_row_count(batch) <= split->rows) {
        *out = TAKE(batch);
        return NULL;
    }
    split->batch = TAKE(batch);
    split->position = 0;
    return cut(split, out);
}

static kith_error *split_next(struct stream *stream, struct batch **out)
{
    struct split_stream *split = CONTAINER_OF(stream, struct split_stream, stream);
    if (split->batch == NULL)
        return pull(split, out);
    TRY(coop_hand_out(&stream->coop));
    return cut(split, out);
}

static void split_free(struct stream *stream)
{
    struct split_stream *split = CONTAINER_OF(stream, struct split_stream, stream);
    end_batch(split);
    stream_free(split->input);
    free(split);
}

/* Does not hand out in the sense of stream_next: what it pulls is paid for, and the rest it charges itself. */
static const struct stream_ops split_stream_ops = {.next = split_next, .free = split_free};

kith_error *batch_split_stream_new(struct stream *take_input, size_t rows, struct coop coop, struct metric_set *metrics,
                                   struct stream **out)
{
    _cleanup_(stream_free) struct stream *input = take_input;
    struct split_stream *split;
    ASSERT(rows > 0);
    TRY(NEW(&split));
    split->stream = (struct stream){.ops = &split_stream_ops, .schema = input->schema, .coop = coop};
    split->input = TAKE(input);
    split->rows = rows;
    split->metrics = metrics;
    *out = &split->stream;
    return NULL;
}
