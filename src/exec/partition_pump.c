#include "exec/operators.h"
#include "runtime/channel.h"

/* Deep enough to keep producer and consumer on different threads busy, shallow enough to hold little memory. */
enum { BATCHES_AHEAD = 4 };

struct partition_pump {
    struct operator* input;
    size_t partition;
    struct channel *channel;
    struct cancel_token *cancel;
    struct fiber *fiber;
};

static void free_item(void *item)
{
    batch_unref(item);
}

static kith_error *pump_all(struct partition_pump *pump)
{
    _cleanup_(stream_free) struct stream *stream = NULL;
    TRY(operator_execute(pump->input, pump->partition, &stream));
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

static kith_error *run_pump(void *argument)
{
    struct partition_pump *pump = argument;
    channel_close(pump->channel, pump_all(pump));
    return NULL;
}

kith_error *partition_pump_new(struct operator* input, size_t partition, struct partition_pump **out)
{
    _cleanup_(partition_pump_free) struct partition_pump *pump = NULL;
    TRY(NEW(&pump));
    pump->input = input;
    pump->partition = partition;
    TRY(channel_new(BATCHES_AHEAD, free_item, &pump->channel));
    TRY(cancel_token_new(input->context->cancel, &pump->cancel));
    const struct fiber_options options = {.name = "partition", .cancel = pump->cancel};
    TRY(fiber_spawn(input->context->runtime, &options, run_pump, pump, &pump->fiber));
    *out = TAKE(pump);
    return NULL;
}

void partition_pump_free(struct partition_pump *pump)
{
    if (pump == NULL)
        return;
    if (pump->fiber != NULL) {
        cancel_token_cancel(pump->cancel, NULL);
        channel_close(pump->channel, NULL);
        error_free(fiber_join(pump->fiber)); /* its errors went into the channel */
    }
    cancel_token_unref(pump->cancel);
    channel_unref(pump->channel);
    free(pump);
}

kith_error *partition_pump_next(struct partition_pump *pump, struct batch **out)
{
    void *item;
    TRY(channel_recv(pump->channel, &item));
    *out = item;
    return NULL;
}
