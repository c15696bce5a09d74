/* Arrow IPC streams: what is read can be looked at, sent again with any compression, and then reads as the same number
 * of rows. */
#include "fuzz/fuzz.h"

#include "columnar/ipc.h"
#include "columnar/scalar.h"

/* Enough to reach every value of a small input; a column of nulls says billions of rows in no bytes. */
enum { ROWS_LOOKED_AT = 1000 };

static void look_at(const struct batch *batch)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    for (size_t c = 0; c < batch->schema->field_count; c++) {
        const struct array *column = batch->columns[c];
        for (size_t i = 0; i < column->length && i < ROWS_LOOKED_AT; i++) {
            struct scalar scalar = scalar_from_array(column, i);
            text.length = 0;
            error_free(scalar_format(&scalar, &text));
        }
    }
}

static kith_error *next_message(struct ipc_encoder *encoder, struct ipc_decoder *decoder, struct batch **out, bool *end)
{
    _cleanup_(ipc_message_reset) struct ipc_message message = {0};
    TRY(ipc_encoder_next(encoder, &message));
    *end = message.metadata == NULL;
    return *end ? NULL : ipc_decode(decoder, message.metadata, message.body, out);
}

static kith_error *send_again(struct batch *batch, enum ipc_compression compression)
{
    _cleanup_(ipc_encoder_free) struct ipc_encoder *encoder = NULL;
    _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
    _cleanup_(ipc_message_reset) struct ipc_message schema = {0};
    struct batch *none = NULL;
    TRY(ipc_encoder_new(batch->schema, compression, &encoder));
    TRY(ipc_decoder_new(&decoder));
    TRY(ipc_encode_schema(encoder, &schema));
    TRY(ipc_decode(decoder, schema.metadata, schema.body, &none));
    ASSERT(schema_equal(ipc_decoder_schema(decoder), batch->schema));
    TRY(ipc_encode_batch(encoder, batch));
    for (bool end = false; !end;) {
        _cleanup_(batch_unref) struct batch *again = NULL;
        TRY(next_message(encoder, decoder, &again, &end));
        ASSERT(again == NULL || again->rows == batch->rows);
    }
    return NULL;
}

static kith_error *read_stream(struct buffer *stream)
{
    _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
    TRY(ipc_decoder_new(&decoder));
    size_t position = 0;
    for (;;) {
        _cleanup_(ipc_message_reset) struct ipc_message message = {0};
        _cleanup_(batch_unref) struct batch *batch = NULL;
        bool end;
        TRY(ipc_read_message(stream, &position, &message, &end));
        if (end)
            return NULL;
        TRY(ipc_decode(decoder, message.metadata, message.body, &batch));
        if (batch == NULL)
            continue;
        look_at(batch);
        for (enum ipc_compression compression = IPC_UNCOMPRESSED; compression <= IPC_ZSTD; compression++) {
            _cleanup_(error_free) kith_error *refused = send_again(batch, compression);
            ASSERT(refused == NULL || kith_error_code(refused) == KITH_ERROR_OUT_OF_MEMORY ||
                   kith_error_code(refused) == KITH_ERROR_LIMIT);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(buffer_unref) struct buffer *stream = NULL;
    _cleanup_(error_free) kith_error *error = buffer_wrap(data, size, NULL, NULL, &stream);
    if (error == NULL)
        error = read_stream(stream);
    return 0;
}
