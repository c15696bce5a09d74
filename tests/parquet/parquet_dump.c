/*
 * Writes the columns of a Parquet file that can be read as an Arrow IPC stream, a batch for each row group:
 * outside_values.py compares them with what others read.
 *   usage: parquet_dump [--verify] [--all] FILE OUT
 * --verify checks the checksums of pages; --all fails on a column that cannot be read. Exit status 1 and the message on
 * standard error for any failure, 2 for wrong arguments.
 */
#include "base/alloc.h"
#include "columnar/ipc.h"
#include "parquet/column_reader.h"

#include <errno.h>
#include <stdio.h>

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

static kith_error *read_column(struct parquet_file *file, size_t row_group, size_t column, bool verify,
                               struct array **out)
{
    const struct parquet_read_options options = {.verify_checksums = verify};
    struct parquet_read_metrics metrics = {0};
    _cleanup_(parquet_column_reader_free) struct parquet_column_reader *reader = NULL;
    TRY(parquet_column_reader_new(file, row_group, column, NULL, &options, &metrics, &reader));
    TRY(parquet_column_reader_read(reader, (size_t)file->metadata->row_groups[row_group].row_count, NULL, out));
    return array_validate(*out);
}

static void unref_all(struct array **arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        array_unref(arrays[i]);
}

static kith_error *write_row_group(struct parquet_file *file, size_t row_group, bool verify,
                                   struct ipc_encoder *encoder, struct strbuf *out)
{
    size_t count = file->schema->field_count;
    _cleanup_free_ struct array **arrays = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    TRY(NEW_ARRAY(&arrays, count));
    kith_error *error = NULL;
    for (size_t i = 0; i < count && error == NULL; i++)
        error = read_column(file, row_group, file->columns[i], verify, &arrays[i]);
    if (error == NULL)
        error = batch_new(file->schema, arrays, (size_t)file->metadata->row_groups[row_group].row_count, &batch);
    unref_all(arrays, count);
    TRY(error);
    TRY(ipc_encode_batch(encoder, batch));
    return append_queued(encoder, out);
}

static kith_error *check_readable(const struct parquet_file *file)
{
    for (size_t i = 0; i < file->metadata->column_count; i++) {
        const struct parquet_column *column = &file->metadata->columns[i];
        if (!column->readable)
            return error_new(KITH_ERROR_NOT_IMPLEMENTED, "%s: column \"%s\": %s", file->storage->path, column->path,
                             column->unreadable_reason);
    }
    return NULL;
}

static kith_error *dump(const char *path, bool verify, bool all, struct strbuf *out)
{
    _cleanup_(storage_file_unref) struct storage_file *storage = NULL;
    _cleanup_(parquet_file_unref) struct parquet_file *file = NULL;
    _cleanup_(ipc_encoder_free) struct ipc_encoder *encoder = NULL;
    _cleanup_(ipc_message_reset) struct ipc_message schema = {0};
    TRY(storage_open(path, &storage));
    TRY(parquet_file_open(storage, &file));
    if (all)
        TRY(check_readable(file));
    TRY(ipc_encoder_new(file->schema, IPC_UNCOMPRESSED, &encoder));
    TRY(ipc_encode_schema(encoder, &schema));
    TRY(ipc_write_message(&schema, out));
    for (size_t i = 0; i < file->metadata->row_group_count; i++)
        TRY(write_row_group(file, i, verify, encoder, out));
    return ipc_write_end(out);
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

static kith_error *run(const char *in, const char *out_path, bool verify, bool all)
{
    _cleanup_(strbuf_reset) struct strbuf out = {0};
    TRY(dump(in, verify, all, &out));
    return write_file(out_path, &out);
}

int main(int count, char **arguments)
{
    bool verify = false, all = false;
    int at = 1;
    for (; at < count && arguments[at][0] == '-'; at++) {
        verify |= strcmp(arguments[at], "--verify") == 0;
        all |= strcmp(arguments[at], "--all") == 0;
    }
    if (count - at != 2) {
        fputs("usage: parquet_dump [--verify] [--all] FILE OUT\n", stderr);
        return 2;
    }
    _cleanup_(error_free) kith_error *error = run(arguments[at], arguments[at + 1], verify, all);
    if (error == NULL)
        return 0;
    char text[1024];
    fprintf(stderr, "%s\n", error_describe(error, text, sizeof text));
    return 1;
}
