#include "base/alloc.h"
#include "cluster/coordinator_internal.h"
#include "columnar/ipc.h"
#include "wire/flight.h"

#include <inttypes.h>

struct rows_stream {
    struct stream stream;
    struct remote_task *task;
    struct metric_set *metrics;
    struct grpc_call *call;
    struct ipc_decoder *decoder;
    bool ended;
};

static int64_t now(const struct rows_stream *rows)
{
    return clock_monotonic_ns(runtime_clock(rows->task->coordinator->options.runtime));
}

static kith_error *receive(struct rows_stream *rows, struct buffer **out)
{
    int64_t waiting_since = now(rows);
    kith_error *error = grpc_call_recv(rows->call, out);
    metric_add(rows->metrics, METRIC_WAIT_TIME, (uint64_t)(now(rows) - waiting_since));
    return error;
}

/* The rows come under the plan's schema, whatever names the worker gave the columns. */
static kith_error *adopt(const struct rows_stream *rows, const struct batch *received, struct batch **out)
{
    const struct schema *expected = rows->stream.schema;
    bool fits = received->schema->field_count == expected->field_count;
    for (size_t i = 0; fits && i < expected->field_count; i++)
        fits = type_equal_decoded(&received->schema->fields[i].type, &expected->fields[i].type);
    if (!fits)
        return error_new(KITH_ERROR_PROTOCOL, "the rows are not of the plan's columns and types");
    return batch_new(rows->stream.schema, received->columns, received->rows, out);
}

static kith_error *decode(struct rows_stream *rows, struct buffer *bytes, struct batch **out)
{
    _cleanup_(ipc_message_reset) struct ipc_message message = {0};
    _cleanup_(batch_unref) struct batch *received = NULL;
    struct flight_metadata metadata;
    TRY(flight_decode(bytes, &message, &metadata));
    if (metadata.partition != 0)
        return error_new(KITH_ERROR_PROTOCOL, "rows of partition %" PRIu64 " came, which nobody asked for",
                         metadata.partition);
    TRY(ipc_decode(rows->decoder, message.metadata, message.body, &received));
    return received == NULL ? NULL : adopt(rows, received, out);
}

static void note_end(struct rows_stream *rows)
{
    HOLD_MUTEX(&rows->task->coordinator->mutex);
    rows->ended = true;
    rows->task->rows_ended = true;
    remote_task_advanced_locked(rows->task);
}

static kith_error *next(struct rows_stream *rows, struct batch **out)
{
    while (*out == NULL) {
        _cleanup_(buffer_unref) struct buffer *bytes = NULL;
        TRY(receive(rows, &bytes));
        if (bytes == NULL) {
            note_end(rows);
            return ipc_decoder_schema(rows->decoder) != NULL
                       ? NULL
                       : error_new(KITH_ERROR_PROTOCOL, "the rows ended before their schema came");
        }
        metric_add(rows->metrics, METRIC_BYTES_TRANSFERRED, bytes->size);
        TRY(decode(rows, bytes, out));
    }
    metric_add(rows->metrics, METRIC_OUTPUT_ROWS, batch_row_count(*out));
    metric_add(rows->metrics, METRIC_OUTPUT_BATCHES, 1);
    return NULL;
}

/* A consumer that has enough cancels its own fiber: that is nobody's failure. */
static kith_error *failed(struct remote_task *task, kith_error *take_error)
{
    if (take_error == NULL || cancel_token_is_cancelled(fiber_cancel_token()))
        return take_error;
    return remote_task_failed(task, take_error);
}

static kith_error *rows_next(struct stream *stream, struct batch **out)
{
    struct rows_stream *rows = CONTAINER_OF(stream, struct rows_stream, stream);
    if (rows->ended)
        return NULL;
    kith_error *error = next(rows, out);
    rows->ended = rows->ended || error != NULL;
    return failed(rows->task, error);
}

static void rows_free(struct stream *stream)
{
    struct rows_stream *rows = CONTAINER_OF(stream, struct rows_stream, stream);
    grpc_call_unref(rows->call);
    ipc_decoder_free(rows->decoder);
    free(rows);
}

static const struct stream_ops rows_stream_ops = {.next = rows_next, .free = rows_free};

static uint64_t bounds_told(struct remote_task *task)
{
    HOLD_MUTEX(&task->coordinator->mutex);
    return task->bounds_told;
}

static kith_error *ask(struct remote_task *task, struct grpc_call **out)
{
    _cleanup_(grpc_call_unref) struct grpc_call *call = NULL;
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    const struct execute_task request = {
        .key = remote_task_key(task), .partition_end = 1, .bounds_before = bounds_told(task)};
    TRY(execute_task_encode(&request, &bytes));
    TRY(grpc_call_start(remote_task_channel(task), WORKER_PATH_EXECUTE_TASK, NULL, WAIT_FOREVER, &call));
    struct slice slice = slice_of_bytes(bytes.data, bytes.length);
    TRY(grpc_call_send(call, &slice, 1));
    TRY(grpc_call_half_close(call));
    *out = TAKE(call);
    return NULL;
}

kith_error *remote_task_ask_early(struct remote_task *task)
{
    return remote_task_may_wait(task) ? NULL : ask(task, &task->rows);
}

kith_error *remote_task_open_rows(struct remote_task *task, struct schema *schema, struct metric_set *metrics,
                                  struct stream **out)
{
    struct rows_stream *rows;
    TRY(NEW(&rows));
    rows->stream = (struct stream){.ops = &rows_stream_ops, .schema = schema};
    rows->task = task;
    rows->metrics = metrics;
    _cleanup_(stream_free) struct stream *made = &rows->stream;
    TRY(ipc_decoder_new(&rows->decoder));
    rows->call = TAKE(task->rows);
    if (rows->call == NULL) {
        TRY(remote_task_wait_for_promise(task));
        TRY(failed(task, ask(task, &rows->call)));
    }
    *out = TAKE(made);
    return NULL;
}
