#include "columnar/ipc.h"

#include "base/limits.h"
#include "columnar/ipc_message.h"

/* Before every message since format 0.15; older streams start with the length. */
static const uint32_t continuation = UINT32_MAX;

static const uint8_t padding[8];

static kith_error *append_prefix(struct strbuf *out, size_t length)
{
    uint32_t prefix[2] = {continuation, (uint32_t)length};
    return strbuf_append(out, prefix, sizeof prefix);
}

kith_error *ipc_write_message(const struct ipc_message *message, struct strbuf *out)
{
    const struct buffer *metadata = message->metadata, *body = message->body;
    size_t gap = -metadata->size & (sizeof padding - 1);
    TRY(append_prefix(out, metadata->size + gap));
    TRY(strbuf_append(out, metadata->data, metadata->size));
    TRY(strbuf_append(out, padding, gap));
    return body == NULL ? NULL : strbuf_append(out, body->data, body->size);
}

kith_error *ipc_write_end(struct strbuf *out)
{
    return append_prefix(out, 0);
}

static kith_error *truncated(const char *what, size_t position, size_t needed, size_t left)
{
    return error_new(KITH_ERROR_CORRUPT,
                     "Arrow stream is truncated: %s at byte %zu has %zu bytes, of which %zu are there", what, position,
                     needed, left);
}

/* The length of the metadata at *position, which moves past the prefix; 0 at the end. */
static kith_error *read_prefix(const struct buffer *stream, size_t *position, size_t *out)
{
    uint32_t word;
    size_t at = *position;
    for (int words = 0; words < 2; words++) {
        if (stream->size - at < sizeof word)
            return truncated("message prefix", at, sizeof word, stream->size - at);
        memcpy(&word, stream->data + at, sizeof word);
        at += sizeof word;
        if (word != continuation)
            break;
    }
    if (word > INT32_MAX)
        return error_new(KITH_ERROR_CORRUPT, "Arrow stream: negative message length at byte %zu", *position);
    if (word > LIMIT_IPC_METADATA_BYTES)
        return error_new(KITH_ERROR_LIMIT,
                         "Arrow stream: metadata of %u bytes at byte %zu is larger than IPC_METADATA_BYTES (%d)", word,
                         *position, LIMIT_IPC_METADATA_BYTES);
    *position = at;
    *out = word;
    return NULL;
}

kith_error *ipc_read_message(struct buffer *stream, size_t *position, struct ipc_message *out, bool *end)
{
    *out = (struct ipc_message){0};
    size_t at = *position, length = 0;
    if (at < stream->size)
        TRY(read_prefix(stream, &at, &length));
    *end = length == 0;
    if (*end) {
        *position = at;
        return NULL;
    }
    if (length > stream->size - at)
        return truncated("metadata", at, length, stream->size - at);
    _cleanup_(ipc_message_reset) struct ipc_message message = {0};
    TRY(buffer_view(stream, at, length, &message.metadata));
    struct ipc_header header;
    TRY(error_wrap(ipc_message_open(message.metadata, &header), "Arrow message at byte %zu", *position));
    at += length;
    if (header.body_length > stream->size - at)
        return truncated("body", at, header.body_length, stream->size - at);
    if (header.body_length > 0)
        TRY(buffer_view(stream, at, header.body_length, &message.body));
    *position = at + header.body_length;
    *out = message;
    message = (struct ipc_message){0};
    return NULL;
}
