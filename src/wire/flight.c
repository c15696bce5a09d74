#include "wire/flight.h"

#include "base/limits.h"
#include "wire/protobuf_wire.h"

/* Of proto/flight.proto. */
enum { FLIGHT_DATA_HEADER = 2, FLIGHT_APP_METADATA = 3, FLIGHT_DATA_BODY = 1000 };
enum { METADATA_PARTITION = 1, METADATA_CREATED = 2 };

static kith_error *append_varint(struct strbuf *out, uint64_t value)
{
    uint8_t bytes[WIRE_VARINT_BYTES];
    return strbuf_append(out, bytes, wire_put_varint(bytes, value));
}

static kith_error *append_length(struct strbuf *out, uint32_t number, size_t length)
{
    TRY(append_varint(out, wire_tag(number, WIRE_BYTES)));
    return append_varint(out, length);
}

/* As proto3 has it, a number that is 0 is left out. */
static size_t put_number(uint8_t *out, uint32_t number, uint64_t value)
{
    if (value == 0)
        return 0;
    size_t tag_length = wire_put_varint(out, wire_tag(number, WIRE_VARINT));
    return tag_length + wire_put_varint(out + tag_length, value);
}

kith_error *flight_encode_head(const struct ipc_message *message, const struct flight_metadata *metadata,
                               struct strbuf *out)
{
    uint8_t bytes[4 * WIRE_VARINT_BYTES];
    size_t length = put_number(bytes, METADATA_PARTITION, metadata->partition);
    length += put_number(bytes + length, METADATA_CREATED, metadata->created_unix_nanos);
    TRY(append_length(out, FLIGHT_DATA_HEADER, message->metadata->size));
    TRY(strbuf_append(out, message->metadata->data, message->metadata->size));
    if (length > 0) {
        TRY(append_length(out, FLIGHT_APP_METADATA, length));
        TRY(strbuf_append(out, bytes, length));
    }
    if (message->body == NULL || message->body->size == 0)
        return NULL;
    return append_length(out, FLIGHT_DATA_BODY, message->body->size);
}

/* `bytes` are some of the message's. */
static kith_error *view(struct buffer *message, struct str bytes, struct buffer **out)
{
    return buffer_view(message, (size_t)((const uint8_t *)bytes.data - message->data), bytes.length, out);
}

static kith_error *decode_metadata(struct str bytes, struct flight_metadata *out)
{
    struct wire_cursor cursor = wire_cursor_over(bytes);
    while (cursor.position < cursor.end) {
        uint32_t number;
        enum wire_type wire;
        TRY(wire_read_tag(&cursor, &number, &wire));
        if (number == METADATA_PARTITION && wire == WIRE_VARINT)
            TRY(wire_read_varint(&cursor, &out->partition));
        else if (number == METADATA_CREATED && wire == WIRE_VARINT)
            TRY(wire_read_varint(&cursor, &out->created_unix_nanos));
        else
            TRY(wire_skip(&cursor, wire));
    }
    return NULL;
}

/* The fields' bytes, in whatever order they come; of a field given twice the last. Others, such as the descriptor that
 * a Flight server may send along, say nothing about the batch. */
static kith_error *find_fields(const struct buffer *message, struct str *header, struct str *metadata, struct str *body)
{
    struct wire_cursor cursor = wire_cursor_over((struct str){(const char *)message->data, message->size});
    while (cursor.position < cursor.end) {
        uint32_t number;
        enum wire_type wire;
        struct wire_cursor tag = cursor;
        TRY(wire_read_tag(&cursor, &number, &wire));
        struct str *field = number == FLIGHT_DATA_HEADER    ? header
                            : number == FLIGHT_APP_METADATA ? metadata
                            : number == FLIGHT_DATA_BODY    ? body
                                                            : NULL;
        if (field != NULL && wire != WIRE_BYTES)
            return wire_corrupt(&tag, "field %u of FlightData has wire type %d", number, (int)wire);
        if (field != NULL)
            TRY(wire_read_bytes(&cursor, field));
        else
            TRY(wire_skip(&cursor, wire));
    }
    return NULL;
}

kith_error *flight_decode(struct buffer *message, struct ipc_message *out, struct flight_metadata *metadata)
{
    struct str header = {0}, app_metadata = {0}, body = {0};
    _cleanup_(ipc_message_reset) struct ipc_message parts = {0};
    *metadata = (struct flight_metadata){0};
    TRY(find_fields(message, &header, &app_metadata, &body));
    if (header.length == 0)
        return error_new(KITH_ERROR_CORRUPT, "a FlightData message of %zu bytes has no data_header", message->size);
    if (header.length > LIMIT_IPC_METADATA_BYTES)
        return error_new(KITH_ERROR_LIMIT, "a data_header of %zu bytes exceeds IPC_METADATA_BYTES (%d)", header.length,
                         LIMIT_IPC_METADATA_BYTES);
    if (app_metadata.length > 0)
        TRY(decode_metadata(app_metadata, metadata));
    TRY(view(message, header, &parts.metadata));
    if (body.length > 0)
        TRY(view(message, body, &parts.body));
    *out = parts;
    parts = (struct ipc_message){0};
    return NULL;
}
