#include "wire/message_parts.h"

#include <inttypes.h>

kith_error *execute_task_encode(const struct execute_task *request, struct strbuf *out)
{
    Kith__V1__ExecuteTaskRequest message;
    _cleanup_(arena_reset) struct arena arena = {0};
    kith__v1__execute_task_request__init(&message);
    TRY(task_key_encode(&request->key, &arena, &message.task_key));
    message.target_partition_start = request->partition_start;
    message.target_partition_end = request->partition_end;
    message.bounds_before = request->bounds_before;
    return protobuf_write(&message.base, out);
}

kith_error *execute_task_decode(struct str bytes, struct execute_task *out)
{
    _cleanup_(arena_reset) struct arena scratch = {0};
    Kith__V1__ExecuteTaskRequest *message;
    TRY(message_read(&kith__v1__execute_task_request__descriptor, bytes, "a request for a task's result", &scratch,
                     &message));
    TRY(task_key_decode(message->task_key, &out->key));
    out->partition_start = message->target_partition_start;
    out->partition_end = message->target_partition_end;
    out->bounds_before = message->bounds_before;
    if (out->partition_start >= out->partition_end)
        return error_new(KITH_ERROR_PROTOCOL, "a request for the partitions from %" PRIu64 " to before %" PRIu64,
                         out->partition_start, out->partition_end);
    return NULL;
}
