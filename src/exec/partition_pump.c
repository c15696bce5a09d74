#include "exec/operators.h"
#include "runtime/channel.h"

/* Deep enough to keep producer and consumer on different threads busy, shallow enough to hold little memory. */
enum { BATCHES_AHEAD_A_PARTITION = 4 };

struct pumped_partition {
    struct partition_pump *pump;
    size_t number;
    struct fiber *fiber;
};

struct partition_pump {
    struct exec_operator *input;
    size_t count;
    struct pumped_partition *partitions;
    struct channel *channel;
    struct cancel_token *cancel;
    _Atomic size_t running; /* partitions not at their end; the last one to end closes the channel */
};

static void free_item(void *item)
{
    batch_unref(item);
}

static kith_error *send_all(const struct pumped_partition *partition)
{
    struct partition_pump *pump = partition->pump;
    _cleanup_(stream_free) struct stream *stream = NULL;
    TRY(operator_execute(pump->input, partition->number, &stream));
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        bool sent;
        TRY(stream_next(stream, &batch));
        if (batch == NULL)
            return NULL;
        TRY(channel_send(pump->channel, batch, &sent));
        if (!sent)
            return NULL;
        batch = NULL;
    }
}

static kith_error *run_partition(void *argument)
{
    struct pumped_partition *partition = argument;
    struct partition_pump *pump = partition->pump;
    kith_error *error = send_all(partition);
    /* Acquire-release: whoever closes comes after all sends. */
    bool last = atomic_fetch_sub_explicit(&pump->running, 1, memory_order_acq_rel) == 1;
    if (error != NULL || last)
        channel_close(pump->channel, error);
    return NULL;
}

static kith_error *start(struct partition_pump *pump, size_t first)
{
    const struct fiber_options options = {.name = "partition", .cancel = pump->cancel};
    TRY(NEW_ARRAY(&pump->partitions, pump->count));
    for (size_t i = 0; i < pump->count; i++) {
        struct pumped_partition *partition = &pump->partitions[i];
        partition->pump = pump;
        partition->number = first + i;
        TRY(fiber_spawn(pump->input->context->runtime, &options, run_partition, partition, &partition->fiber));
    }
    return NULL;
}

kith_error *partition_pump_new(struct exec_operator *input, size_t first, size_t count, struct partition_pump **out)
{
    _cleanup_(partition_pump_free) struct partition_pump *pump = NULL;
    TRY(NEW(&pump));
    pump->input = input;
    pump->count = count;
    atomic_init(&pump->running, count);
    TRY(channel_new(count * BATCHES_AHEAD_A_PARTITION, free_item, &pump->channel));
    TRY(cancel_token_new(input->context->cancel, &pump->cancel));
    TRY(start(pump, first));
    *out = TAKE(pump);
    return NULL;
}

void partition_pump_free(struct partition_pump *pump)
{
    if (pump == NULL)
        return;
    if (pump->cancel != NULL)
        cancel_token_cancel(pump->cancel, NULL);
    if (pump->channel != NULL)
        channel_close(pump->channel, NULL);
    for (size_t i = 0; pump->partitions != NULL && i < pump->count; i++)
        if (pump->partitions[i].fiber != NULL)
            error_free(fiber_join(pump->partitions[i].fiber)); /* errors went into the channel */
    cancel_token_unref(pump->cancel);
    channel_unref(pump->channel);
    free(pump->partitions);
    free(pump);
}

kith_error *partition_pump_next(struct partition_pump *pump, struct exec_operator *consumer, struct batch **out)
{
    void *item = NULL;
    int64_t start_ns = operator_now(consumer);
    kith_error *error = channel_recv(pump->channel, &item);
    metric_add(consumer->metrics, METRIC_WAIT_TIME, (uint64_t)(operator_now(consumer) - start_ns));
    *out = item;
    return error;
}
