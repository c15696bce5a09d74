/* Messages between coordinator and worker, and Flight data: the first byte chooses which. What is decoded can be sent
 * again and then reads as well. */
#include "fuzz/fuzz.h"

#include "wire/flight.h"
#include "wire/worker_messages.h"
#include "wire/worker_status.h"

static struct str bytes_of(const struct strbuf *buffer)
{
    return (struct str){buffer->data, buffer->length};
}

static kith_error *read_coordinator_message(struct str bytes, struct arena *arena)
{
    struct coordinator_message message;
    _cleanup_(strbuf_reset) struct strbuf again = {0};
    TRY(coordinator_message_decode(bytes, arena, &message));
    TRY(coordinator_message_encode(&message, &again));
    kith_error *error = coordinator_message_decode(bytes_of(&again), arena, &message);
    ASSERT(error == NULL);
    return error;
}

static kith_error *read_worker_message(struct str bytes, struct arena *arena)
{
    struct worker_message message;
    _cleanup_(strbuf_reset) struct strbuf again = {0};
    TRY(worker_message_decode(bytes, arena, &message));
    TRY(worker_message_encode(&message, &again));
    kith_error *error = worker_message_decode(bytes_of(&again), arena, &message);
    ASSERT(error == NULL);
    return error;
}

static kith_error *read_flight(struct str bytes)
{
    _cleanup_(buffer_unref) struct buffer *buffer = NULL;
    _cleanup_(ipc_message_reset) struct ipc_message message = {0};
    struct flight_metadata metadata;
    TRY(buffer_wrap(bytes.data, bytes.length, NULL, NULL, &buffer));
    TRY(flight_decode(buffer, &message, &metadata));
    ASSERT(message.metadata->size > 0);
    return NULL;
}

static kith_error *read_message(uint8_t choice, struct str bytes)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    struct worker_info info;
    struct execute_task request;
    struct worker_status status;
    switch (choice % 6) {
    case 0:
        return read_coordinator_message(bytes, &arena);
    case 1:
        return read_worker_message(bytes, &arena);
    case 2:
        return read_flight(bytes);
    case 3:
        return worker_info_decode(bytes, &arena, &info);
    case 4:
        return execute_task_decode(bytes, &request);
    default:
        return worker_status_decode(bytes, &arena, &status);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0)
        error_free(read_message(data[0], (struct str){(const char *)data + 1, size - 1}));
    return 0;
}
