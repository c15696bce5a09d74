#include "columnar/ipc_message.h"

void ipc_message_reset(struct ipc_message *message)
{
    buffer_unref(message->metadata);
    buffer_unref(message->body);
    *message = (struct ipc_message){0};
}

kith_error *ipc_message_finish(struct flatbuf_writer *writer, enum message_header type, flatbuf_ref header,
                               struct buffer *take_body, struct ipc_message *out)
{
    struct flatbuf_slot slots[MESSAGE_FIELDS] = {
        [MESSAGE_VERSION] = flatbuf_int(2, IPC_VERSION_5),
        [MESSAGE_HEADER_TYPE] = flatbuf_int(1, type),
        [MESSAGE_HEADER] = flatbuf_offset(header),
        [MESSAGE_BODY_LENGTH] = flatbuf_int(8, take_body == NULL ? 0 : (int64_t)take_body->size),
    };
    flatbuf_ref root;
    struct str bytes;
    TRY(flatbuf_write_table(writer, slots, MESSAGE_FIELDS, &root));
    TRY(flatbuf_finish(writer, root, &bytes));
    struct buffer *metadata;
    TRY(buffer_new(bytes.length, &metadata));
    memcpy(metadata->data, bytes.data, bytes.length);
    *out = (struct ipc_message){.metadata = metadata, .body = take_body};
    return NULL;
}

kith_error *ipc_message_open(const struct buffer *metadata, struct ipc_header *out)
{
    struct flatbuf_table message;
    int64_t version, body_length;
    TRY(flatbuf_read_root(metadata->data, metadata->size, &message));
    TRY(flatbuf_read_int(&message, MESSAGE_VERSION, 2, 0, &version));
    if (version < IPC_VERSION_4 || version > IPC_VERSION_5)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "Arrow metadata version V%lld; V4 and V5 are read",
                         (long long)version + 1);
    TRY(flatbuf_read_int(&message, MESSAGE_HEADER_TYPE, 1, 0, &out->type));
    TRY(flatbuf_read_table(&message, MESSAGE_HEADER, &out->table));
    if (out->table.bytes == NULL)
        return error_new(KITH_ERROR_CORRUPT, "Arrow message without a header");
    TRY(flatbuf_read_int(&message, MESSAGE_BODY_LENGTH, 8, 0, &body_length));
    if (body_length < 0)
        return error_new(KITH_ERROR_CORRUPT, "Arrow message with a body of %lld bytes", (long long)body_length);
    out->body_length = (size_t)body_length;
    return NULL;
}
