/*
 * Reads an Arrow IPC stream or file and writes it again as a stream: ipc_gold.py compares the two.
 *   usage: ipc_roundtrip IN OUT none|lz4|zstd
 * Exit status 3 and the message on standard error when something in it is not implemented, 1 for any other failure.
 */
#include "base/strbuf.h"
#include "columnar/ipc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOT_IMPLEMENTED_STATUS = 3 };

/* A file is a stream between this and a footer that repeats where its messages are. */
static const char file_magic[8] = "ARROW1\0";

static kith_error *read_file(const char *path, struct buffer **out)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return error_from_errno(errno, "%s", path);
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    char chunk[65536];
    size_t length;
    while ((length = fread(chunk, 1, sizeof chunk, file)) > 0)
        TRY(strbuf_append(&bytes, chunk, length));
    fclose(file);
    TRY(buffer_new(bytes.length, out));
    if (bytes.length > 0)
        memcpy((*out)->data, bytes.data, bytes.length);
    return NULL;
}

static kith_error *write_file(const char *path, const struct strbuf *bytes)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return error_from_errno(errno, "%s", path);
    size_t written = fwrite(bytes->data, 1, bytes->length, file);
    if (fclose(file) != 0 || written != bytes->length)
        return error_new(KITH_ERROR_IO, "%s: writing failed", path);
    return NULL;
}

static kith_error *append_queued(struct ipc_encoder *encoder, struct strbuf *out)
{
    for (;;) {
        _cleanup_(ipc_message_reset) struct ipc_message message = {0};
        TRY(ipc_encoder_next(encoder, &message));
        if (message.metadata == NULL)
            return NULL;
        TRY(ipc_write_message(&message, out));
    }
}

static kith_error *start(struct ipc_decoder *decoder, enum ipc_compression compression, struct strbuf *out,
                         struct ipc_encoder **encoder)
{
    struct schema *schema = ipc_decoder_schema(decoder);
    if (schema == NULL)
        return error_new(KITH_ERROR_CORRUPT, "the stream does not start with a schema");
    TRY(ipc_encoder_new(schema, compression, encoder));
    _cleanup_(ipc_message_reset) struct ipc_message message = {0};
    TRY(ipc_encode_schema(*encoder, &message));
    return ipc_write_message(&message, out);
}

static kith_error *convert(struct buffer *in, enum ipc_compression compression, struct strbuf *out)
{
    _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
    _cleanup_(ipc_encoder_free) struct ipc_encoder *encoder = NULL;
    TRY(ipc_decoder_new(&decoder));
    bool is_file = in->size >= sizeof file_magic && memcmp(in->data, file_magic, sizeof file_magic) == 0;
    size_t position = is_file ? sizeof file_magic : 0;
    for (;;) {
        _cleanup_(ipc_message_reset) struct ipc_message message = {0};
        _cleanup_(batch_unref) struct batch *batch = NULL;
        bool end;
        TRY(ipc_read_message(in, &position, &message, &end));
        if (end)
            return ipc_write_end(out);
        TRY(ipc_decode(decoder, message.metadata, message.body, &batch));
        if (encoder == NULL)
            TRY(start(decoder, compression, out, &encoder));
        if (batch == NULL)
            continue;
        TRY(ipc_encode_batch(encoder, batch));
        TRY(append_queued(encoder, out));
    }
}

static kith_error *run(const char *in_path, const char *out_path, const char *compression_name)
{
    enum ipc_compression compression = strcmp(compression_name, "lz4") == 0    ? IPC_LZ4_FRAME
                                       : strcmp(compression_name, "zstd") == 0 ? IPC_ZSTD
                                                                               : IPC_UNCOMPRESSED;
    _cleanup_(buffer_unref) struct buffer *in = NULL;
    _cleanup_(strbuf_reset) struct strbuf out = {0};
    TRY(read_file(in_path, &in));
    TRY(convert(in, compression, &out));
    return write_file(out_path, &out);
}

int main(int count, char **arguments)
{
    if (count != 4) {
        fputs("usage: ipc_roundtrip IN OUT none|lz4|zstd\n", stderr);
        return 2;
    }
    _cleanup_(error_free) kith_error *error = run(arguments[1], arguments[2], arguments[3]);
    if (error == NULL)
        return 0;
    char text[1024];
    fprintf(stderr, "%s\n", error_describe(error, text, sizeof text));
    return kith_error_code(error) == KITH_ERROR_NOT_IMPLEMENTED ? NOT_IMPLEMENTED_STATUS : 1;
}
