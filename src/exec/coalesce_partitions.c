/*
 * CoalescePartitionsExec: many partitions to one, batches in any order. Each partition is pulled by a fiber of its own;
 * all send into one channel. With a fetch it stops once enough rows have come.
 */
#include "exec/operators.h"
#include "runtime/channel.h"

enum { BATCHES_AHEAD_A_PARTITION = 2 };

struct coalesce_stream;

struct partition {
    struct coalesce_stream *owner;
    size_t number;
    struct fiber *fiber;
};

struct coalesce_stream {
    struct stream stream;
    struct operator* operator;
    size_t count;
    struct partition *partitions;
    struct channel *channel;
    struct cancel_token *cancel;
    _Atomic size_t running; /* partitions not at their end; the last one to end closes the channel */
    uint64_t to_give;       /* UINT64_MAX = all */
    bool started;
};

static void free_item(void *item)
{
    batch_unref(item);
}

static kith_error *send_all(struct partition *partition)
{
    struct coalesce_stream *owner = partition->owner;
    _cleanup_(stream_free) struct stream *stream = NULL;
    TRY(operator_execute(owner->operator->inputs[0], partition->number, &stream));
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        bool sent;
        TRY(stream_next(stream, &batch));
        if (batch == NULL)
            return NULL;
        TRY(channel_send(owner->channel, batch, &sent));
        if (!sent)
            return NULL;
        batch = NULL;
    }
}

static kith_error *run_partition(void *argument)
{
    struct partition *partition = argument;
    struct coalesce_stream *owner = partition->owner;
    kith_error *error = send_all(partition);
    /* Acquire-release: whoever closes comes after all sends. */
    bool last = atomic_fetch_sub_explicit(&owner->running, 1, memory_order_acq_rel) == 1;
    if (error != NULL || last)
        channel_close(owner->channel, error);
    return NULL;
}

static kith_error *start(struct coalesce_stream *coalesce)
{
    struct task_context *context = coalesce->operator->context;
    const struct fiber_options options = {.name = "partition", .cancel = coalesce->cancel};
    coalesce->started = true;
    atomic_init(&coalesce->running, coalesce->count);
    for (size_t i = 0; i < coalesce->count; i++) {
        struct partition *partition = &coalesce->partitions[i];
        partition->owner = coalesce;
        partition->number = i;
        TRY(fiber_spawn(context->runtime, &options, run_partition, partition, &partition->fiber));
    }
    return NULL;
}

static void stop(struct coalesce_stream *coalesce)
{
    if (coalesce->cancel != NULL)
        cancel_token_cancel(coalesce->cancel, NULL);
    if (coalesce->channel != NULL)
        channel_close(coalesce->channel, NULL);
    for (size_t i = 0; coalesce->partitions != NULL && i < coalesce->count; i++)
        if (coalesce->partitions[i].fiber != NULL)
            error_free(fiber_join(TAKE(coalesce->partitions[i].fiber))); /* errors went into the channel */
}

static kith_error *coalesce_next(struct stream *stream, struct batch **out)
{
    struct coalesce_stream *coalesce = CONTAINER_OF(stream, struct coalesce_stream, stream);
    _cleanup_(batch_unref) struct batch *batch = NULL;
    void *item = NULL;
    if (coalesce->to_give == 0)
        return NULL;
    if (!coalesce->started)
        TRY(start(coalesce));
    int64_t waiting_since = operator_now(coalesce->operator);
    TRY(channel_recv(coalesce->channel, &item));
    metric_add(coalesce->operator->metrics, METRIC_WAIT_TIME,
               (uint64_t)(operator_now(coalesce->operator) - waiting_since));
    batch = item;
    if (batch == NULL)
        return NULL;
    if (batch_row_count(batch) > coalesce->to_give) {
        struct batch *cut = NULL;
        TRY(batch_slice(batch, 0, (size_t)coalesce->to_give, &cut));
        batch_unref(batch);
        batch = cut;
    }
    TRY(operator_hand_out(coalesce->operator, batch));
    if (coalesce->to_give != UINT64_MAX)
        coalesce->to_give -= batch_row_count(batch);
    if (coalesce->to_give == 0)
        stop(coalesce);
    *out = TAKE(batch);
    return NULL;
}

static void coalesce_free(struct stream *stream)
{
    struct coalesce_stream *coalesce = CONTAINER_OF(stream, struct coalesce_stream, stream);
    stop(coalesce);
    channel_unref(coalesce->channel);
    cancel_token_unref(coalesce->cancel);
    free(coalesce->partitions);
    free(coalesce);
}

static const struct stream_ops coalesce_stream_ops = {.next = coalesce_next, .free = coalesce_free};

static kith_error *execute(struct operator* operator, size_t partition, struct stream **out)
{
    const struct physical_plan *plan = operator->plan;
    struct coalesce_stream *coalesce;
    TRY(NEW(&coalesce));
    coalesce->stream = (struct stream){.ops = &coalesce_stream_ops, .schema = plan->schema};
    coalesce->operator= operator;
    coalesce->count = plan->inputs[0]->partitions;
    coalesce->to_give = plan->limit.fetch < 0 ? UINT64_MAX : (uint64_t)plan->limit.fetch;
    _cleanup_(stream_free) struct stream *made = &coalesce->stream;
    TRY(NEW_ARRAY(&coalesce->partitions, coalesce->count));
    TRY(channel_new(coalesce->count * BATCHES_AHEAD_A_PARTITION, free_item, &coalesce->channel));
    TRY(cancel_token_new(operator->context->cancel, &coalesce->cancel));
    *out = TAKE(made);
    return NULL;
}

static void free_coalesce(struct operator* operator)
{
    free(operator);
}

static const struct operator_ops ops = {.execute = execute, .free = free_coalesce};

kith_error *coalesce_operator_new(struct operator** out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
