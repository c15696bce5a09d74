#include "columnar/ipc.h"

#include "columnar/ipc_body.h"
#include "columnar/ipc_compress.h"
#include "columnar/ipc_message.h"
#include "columnar/ipc_schema.h"

struct ipc_encoder {
    struct schema *schema;
    struct ipc_compressor *compressor; /* NULL = not compressed */
    enum ipc_compression compression;
    struct array **sent;          /* by column: the dictionary that the receiver has; NULL = none */
    struct flatbuf_writer writer; /* its memory and the body's lists are reused from message to message */
    struct ipc_body body;
    VEC(struct ipc_message) queue;
    size_t queue_head;
};

kith_error *ipc_encoder_new(struct schema *schema, enum ipc_compression compression, struct ipc_encoder **out)
{
    _cleanup_(ipc_encoder_free) struct ipc_encoder *encoder = NULL;
    TRY(NEW(&encoder));
    encoder->schema = schema_ref(schema);
    encoder->compression = compression;
    TRY(NEW_ARRAY(&encoder->sent, schema->field_count));
    if (compression != IPC_UNCOMPRESSED)
        TRY(ipc_compressor_new(compression, &encoder->compressor));
    *out = TAKE(encoder);
    return NULL;
}

void ipc_encoder_free(struct ipc_encoder *encoder)
{
    if (encoder == NULL)
        return;
    for (size_t i = encoder->queue_head; i < encoder->queue.length; i++)
        ipc_message_reset(&encoder->queue.items[i]);
    vec_reset(&encoder->queue);
    for (size_t i = 0; encoder->sent != NULL && i < encoder->schema->field_count; i++)
        array_unref(encoder->sent[i]);
    free(encoder->sent);
    ipc_body_reset(&encoder->body);
    flatbuf_writer_reset(&encoder->writer);
    if (encoder->compressor != NULL)
        ipc_compressor_free(encoder->compressor);
    schema_unref(encoder->schema);
    free(encoder);
}

kith_error *ipc_encode_schema(struct ipc_encoder *encoder, struct ipc_message *out)
{
    flatbuf_ref schema;
    flatbuf_restart(&encoder->writer);
    TRY(ipc_schema_write(&encoder->writer, encoder->schema, &schema));
    return ipc_message_finish(&encoder->writer, HEADER_SCHEMA, schema, NULL, out);
}

static kith_error *write_compression(struct ipc_encoder *encoder, flatbuf_ref *out)
{
    *out = 0;
    if (encoder->compression == IPC_UNCOMPRESSED)
        return NULL;
    struct flatbuf_slot slots[COMPRESSION_FIELDS] = {
        [COMPRESSION_CODEC] = flatbuf_int(1, encoder->compression == IPC_LZ4_FRAME ? CODEC_LZ4_FRAME : CODEC_ZSTD),
    };
    return flatbuf_write_table(&encoder->writer, slots, COMPRESSION_FIELDS, out);
}

/* The table RecordBatch of the body that was written. */
static kith_error *write_record_batch(struct ipc_encoder *encoder, size_t rows, flatbuf_ref *out)
{
    struct flatbuf_writer *writer = &encoder->writer;
    const struct ipc_body *body = &encoder->body;
    flatbuf_ref nodes, buffers, compression, variadic_counts = 0;
    TRY(flatbuf_write_vector(writer, body->nodes.items, body->nodes.length, PAIR_BYTES, sizeof(int64_t), &nodes));
    TRY(flatbuf_write_vector(writer, body->buffers.items, body->buffers.length, PAIR_BYTES, sizeof(int64_t), &buffers));
    if (body->variadic_counts.length > 0)
        TRY(flatbuf_write_vector(writer, body->variadic_counts.items, body->variadic_counts.length, sizeof(int64_t),
                                 sizeof(int64_t), &variadic_counts));
    TRY(write_compression(encoder, &compression));
    struct flatbuf_slot slots[RECORD_BATCH_FIELDS] = {
        [RECORD_BATCH_LENGTH] = flatbuf_int(8, (int64_t)rows),
        [RECORD_BATCH_NODES] = flatbuf_offset(nodes),
        [RECORD_BATCH_BUFFERS] = flatbuf_offset(buffers),
        [RECORD_BATCH_COMPRESSION] = flatbuf_offset(compression),
        [RECORD_BATCH_VARIADIC_COUNTS] = flatbuf_offset(variadic_counts),
    };
    return flatbuf_write_table(writer, slots, RECORD_BATCH_FIELDS, out);
}

static kith_error *write_dictionary_batch(struct ipc_encoder *encoder, size_t column, flatbuf_ref data,
                                          flatbuf_ref *out)
{
    struct flatbuf_slot slots[DICTIONARY_BATCH_FIELDS] = {
        [DICTIONARY_BATCH_ID] = flatbuf_int(8, (int64_t)column),
        [DICTIONARY_BATCH_DATA] = flatbuf_offset(data),
    };
    return flatbuf_write_table(&encoder->writer, slots, DICTIONARY_BATCH_FIELDS, out);
}

/* Queues the arrays added to the body as a record batch, or as the dictionary of `column` when that is not -1. */
static kith_error *queue_batch(struct ipc_encoder *encoder, size_t rows, ptrdiff_t column)
{
    _cleanup_(buffer_unref) struct buffer *body = NULL;
    TRY(ipc_body_write(&encoder->body, encoder->compressor, &body));
    flatbuf_restart(&encoder->writer);
    flatbuf_ref header;
    TRY(write_record_batch(encoder, rows, &header));
    if (column >= 0)
        TRY(write_dictionary_batch(encoder, (size_t)column, header, &header));
    TRY(vec_reserve(&encoder->queue, 1));
    struct ipc_message message;
    TRY(ipc_message_finish(&encoder->writer, column >= 0 ? HEADER_DICTIONARY_BATCH : HEADER_RECORD_BATCH, header, body,
                           &message));
    body = NULL;
    encoder->queue.items[encoder->queue.length++] = message;
    return NULL;
}

static kith_error *queue_dictionary(struct ipc_encoder *encoder, size_t column, struct array *dictionary)
{
    if (encoder->sent[column] == dictionary)
        return NULL;
    ipc_body_restart(&encoder->body);
    TRY(ipc_body_add(&encoder->body, dictionary));
    TRY(queue_batch(encoder, dictionary->length, (ptrdiff_t)column));
    array_unref(encoder->sent[column]);
    encoder->sent[column] = array_ref(dictionary);
    return NULL;
}

/* The column as the stream's schema says: a batch may have columns dictionary-encoded where the schema does not. */
static kith_error *conform(const struct field *field, struct array *column, struct array **out)
{
    if (type_equal(&field->type, &column->type)) {
        *out = array_ref(column);
        return NULL;
    }
    if (!type_is_dictionary(&field->type) && type_equal_decoded(&field->type, &column->type))
        return array_decode_dictionary(column, out);
    char given[128], expected[128];
    return error_new(KITH_ERROR_TYPE_MISMATCH, "column \"%s\" is %s, where the stream's schema says %s", field->name,
                     type_format(&column->type, given, sizeof given),
                     type_format(&field->type, expected, sizeof expected));
}

static kith_error *encode_columns(struct ipc_encoder *encoder, const struct array_list *columns, size_t rows)
{
    for (size_t i = 0; i < columns->count; i++) {
        struct array *column = columns->items[i];
        if (type_is_dictionary(&column->type))
            TRY(queue_dictionary(encoder, i, column->dictionary));
    }
    ipc_body_restart(&encoder->body);
    for (size_t i = 0; i < columns->count; i++)
        TRY(error_wrap(ipc_body_add(&encoder->body, columns->items[i]), "column \"%s\"",
                       encoder->schema->fields[i].name));
    return queue_batch(encoder, rows, -1);
}

kith_error *ipc_encode_batch(struct ipc_encoder *encoder, struct batch *batch)
{
    if (batch->schema->field_count != encoder->schema->field_count)
        return error_new(KITH_ERROR_INTERNAL, "a batch of %zu columns in a stream of %zu", batch->schema->field_count,
                         encoder->schema->field_count);
    _cleanup_(batch_unref) struct batch *compact = NULL;
    if (batch->selection != NULL)
        TRY(batch_compact(batch, &compact));
    const struct batch *source = compact != NULL ? compact : batch;
    _cleanup_(array_list_reset) struct array_list columns = {0};
    TRY(NEW_ARRAY(&columns.items, encoder->schema->field_count));
    while (columns.count < encoder->schema->field_count) {
        _cleanup_(array_unref) struct array *column = NULL;
        TRY(batch_column(source, columns.count, &column));
        TRY(conform(&encoder->schema->fields[columns.count], column, &columns.items[columns.count]));
        columns.count++;
    }
    return encode_columns(encoder, &columns, source->rows);
}

kith_error *ipc_encoder_next(struct ipc_encoder *encoder, struct ipc_message *out)
{
    *out = (struct ipc_message){0};
    if (encoder->queue_head < encoder->queue.length)
        *out = encoder->queue.items[encoder->queue_head++];
    if (encoder->queue_head == encoder->queue.length)
        encoder->queue_head = encoder->queue.length = 0;
    return NULL;
}
