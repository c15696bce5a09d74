#include "cluster/task.h"
#include "columnar/ipc.h"
#include "runtime/channel.h"
#include "wire/flight.h"

#include <inttypes.h>

/* The fiber that pulls partitions runs under the task's token, the handler under its call's: either ends the
 * execution. */
struct execution {
    struct task *task;
    struct grpc_call *call;
    struct execute_task request;
    struct cancel_token *cancel; /* below the task's */
    struct channel *done;        /* closed with the outcome */
};

/* The control stream's fiber may come to the bounds later than this one to its call, although they were sent before.
 * The mutex is held. */
static kith_error *wait_for_bounds(struct task *task, uint64_t wanted)
{
    if (wanted > 0 && !task->share_bounds)
        return error_new(KITH_ERROR_PROTOCOL, "a task that shares no bounds was to wait for %" PRIu64, wanted);
    while (task->bounds_applied < wanted && !task->stopping)
        TRY(wait_list_wait(&task->bounds, &task->mutex, WAIT_FOREVER));
    return NULL;
}

static kith_error *take_partitions(struct task *task, const struct execute_task *request)
{
    HOLD_MUTEX(&task->mutex);
    TRY(wait_for_bounds(task, request->bounds_before));
    if (task->stopping)
        return error_new(KITH_ERROR_CANCELLED, "the task has ended");
    if (request->partition_start >= request->partition_end || request->partition_end > task->plan->partitions)
        return error_new(KITH_ERROR_PROTOCOL,
                         "partitions %" PRIu64 "..%" PRIu64 " were asked for of a task that has %zu",
                         request->partition_start, request->partition_end, task->plan->partitions);
    for (uint64_t i = request->partition_start; i < request->partition_end; i++)
        if (task->partitions_taken[i])
            return error_new(KITH_ERROR_PROTOCOL, "partition %" PRIu64 " of a task was asked for twice", i);
    for (uint64_t i = request->partition_start; i < request->partition_end; i++)
        task->partitions_taken[i] = true;
    if (task->started_unix_ns == 0)
        task->started_unix_ns = task_clock(task)->wall_ns(task_clock(task));
    task->executions++;
    wait_list_wake_all(&task->sender);
    return NULL;
}

static void end_execution(struct task *task, const struct execute_task *request, bool complete)
{
    HOLD_MUTEX(&task->mutex);
    if (complete)
        task->partitions_left -= request->partition_end - request->partition_start;
    if (task->partitions_left == 0)
        wait_list_wake_all(&task->sender);
    task->finished_unix_ns = task_clock(task)->wall_ns(task_clock(task));
    if (--task->executions > 0)
        return;
    wait_list_wake_all(&task->idle);
    if (task->others_wait)
        wait_list_wake_all(&task->sender);
}

static kith_error *send_flight(struct execution *execution, uint64_t partition, const struct ipc_message *message)
{
    _cleanup_(strbuf_reset) struct strbuf head = {0};
    const struct clock *clock = task_clock(execution->task);
    const struct flight_metadata metadata = {.partition = partition,
                                             .created_unix_nanos = (uint64_t)clock->wall_ns(clock)};
    TRY(flight_encode_head(message, &metadata, &head));
    struct slice slices[2] = {slice_of_bytes(head.data, head.length)};
    if (message->body != NULL)
        slices[1] = slice_of_buffer(message->body);
    return grpc_call_send(execution->call, slices, message->body == NULL ? 1 : 2);
}

static kith_error *send_schema(struct execution *execution, uint64_t partition, struct ipc_encoder *encoder)
{
    _cleanup_(ipc_message_reset) struct ipc_message message = {0};
    TRY(ipc_encode_schema(encoder, &message));
    return send_flight(execution, partition, &message);
}

static kith_error *send_batch(struct execution *execution, uint64_t partition, struct ipc_encoder *encoder,
                              struct batch *batch)
{
    TRY(ipc_encode_batch(encoder, batch));
    for (;;) {
        _cleanup_(ipc_message_reset) struct ipc_message message = {0};
        TRY(ipc_encoder_next(encoder, &message));
        if (message.metadata == NULL)
            return NULL;
        TRY(send_flight(execution, partition, &message));
    }
}

static enum ipc_compression compression_of(const struct task *task)
{
    static const enum ipc_compression choices[] = {IPC_LZ4_FRAME, IPC_ZSTD, IPC_UNCOMPRESSED};
    return choices[settings_get(&task->context.settings, SETTING_COMPRESSION)];
}

static kith_error *stream_partition(struct execution *execution, uint64_t partition)
{
    struct task *task = execution->task;
    _cleanup_(ipc_encoder_free) struct ipc_encoder *encoder = NULL;
    _cleanup_(stream_free) struct stream *stream = NULL;
    TRY(ipc_encoder_new(task->plan->schema, compression_of(task), &encoder));
    TRY(operator_execute(task->tree->root, (size_t)partition, &stream));
    for (bool first = true;; first = false) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(stream_next(stream, &batch));
        if (first)
            TRY(send_schema(execution, partition, encoder));
        if (batch == NULL)
            return NULL;
        TRY(send_batch(execution, partition, encoder, batch));
    }
}

static kith_error *stream_partitions(void *argument)
{
    struct execution *execution = argument;
    kith_error *error = NULL;
    for (uint64_t i = execution->request.partition_start; i < execution->request.partition_end && error == NULL; i++)
        error = stream_partition(execution, i);
    channel_close(execution->done, error);
    return NULL;
}

static kith_error *run(struct execution *execution)
{
    struct fiber *fiber;
    void *nothing;
    TRY(channel_new(1, NULL, &execution->done));
    TRY(cancel_token_new(execution->task->cancel, &execution->cancel));
    const struct fiber_options options = {.name = "task", .cancel = execution->cancel};
    TRY(fiber_spawn(execution->task->context.runtime, &options, stream_partitions, execution, &fiber));
    kith_error *error = channel_recv(execution->done, &nothing);
    if (error != NULL)
        cancel_token_cancel(execution->cancel, error_copy(error));
    error_free(fiber_join(fiber)); /* its error went into the channel */
    return error;
}

kith_error *task_execute_serve(struct worker_tasks *tasks, struct grpc_call *call)
{
    _cleanup_(task_unref) struct task *task = NULL;
    _cleanup_(buffer_unref) struct buffer *bytes = NULL;
    struct execution execution = {.call = call};
    TRY(grpc_call_recv(call, &bytes));
    if (bytes == NULL)
        return error_new(KITH_ERROR_PROTOCOL, "a call for a task's rows did not say which task");
    TRY(execute_task_decode((struct str){(const char *)bytes->data, bytes->size}, &execution.request));
    TRY(worker_tasks_wait(tasks, &execution.request.key, &task));
    execution.task = task;
    TRY(take_partitions(task, &execution.request));
    kith_error *error = run(&execution);
    end_execution(task, &execution.request, error == NULL);
    channel_unref(execution.done);
    cancel_token_unref(execution.cancel);
    return error;
}
