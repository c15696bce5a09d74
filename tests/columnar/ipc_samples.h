/*
 * Streams of sample batches for the tests of Arrow IPC: a schema with a column for every flat type, batches of it, and
 * a stream's bytes from batches and back.
 */
#ifndef KITH_TESTS_COLUMNAR_IPC_SAMPLES_H
#define KITH_TESTS_COLUMNAR_IPC_SAMPLES_H

#include "samples.h"

#include "base/vec.h"
#include "columnar/ipc.h"

/* Columns of every flat type, then each string type and int64 with each type of dictionary index. */
static inline struct schema *ipc_sample_schema(void)
{
    static const enum type_id indices[] = {TYPE_INT8,  TYPE_INT16,  TYPE_INT32,  TYPE_INT64,
                                           TYPE_UINT8, TYPE_UINT16, TYPE_UINT32, TYPE_UINT64};
    static const enum type_id values[] = {TYPE_UTF8, TYPE_LARGE_BINARY, TYPE_UTF8_VIEW, TYPE_INT64};
    char names[ARRAY_SIZE(sample_types) + ARRAY_SIZE(indices)][16];
    struct field fields[ARRAY_SIZE(names)] = {0};
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        size_t dictionary = i - ARRAY_SIZE(sample_types);
        snprintf(names[i], sizeof names[i], "column %zu", i);
        fields[i] = (struct field){.name = names[i], .nullable = true};
        if (i < ARRAY_SIZE(sample_types))
            fields[i].type = sample_types[i];
        else
            fields[i].type =
                (struct data_type){.id = values[dictionary % ARRAY_SIZE(values)], .index = indices[dictionary]};
    }
    struct schema *schema = NULL;
    assert_ok(schema_new(fields, ARRAY_SIZE(fields), &schema));
    return schema;
}

static inline struct batch *ipc_sample_batch(uint64_t *random, struct schema *schema, size_t rows)
{
    _cleanup_free_ struct array **columns = NULL;
    assert_ok(NEW_ARRAY(&columns, schema->field_count));
    for (size_t i = 0; i < schema->field_count; i++) {
        struct data_type plain = type_decoded(&schema->fields[i].type);
        columns[i] = sample_array(random, &plain, rows, schema->fields[i].type.index);
    }
    struct batch *batch = NULL;
    assert_ok(batch_new(schema, columns, rows, &batch));
    for (size_t i = 0; i < schema->field_count; i++)
        array_unref(columns[i]);
    return batch;
}

/* Appends what the encoder has queued. */
static inline void ipc_write_queued(struct ipc_encoder *encoder, struct strbuf *out)
{
    for (;;) {
        _cleanup_(ipc_message_reset) struct ipc_message message = {0};
        assert_ok(ipc_encoder_next(encoder, &message));
        if (message.metadata == NULL)
            return;
        assert_ok(ipc_write_message(&message, out));
    }
}

/* The whole stream, in a buffer of its own size. */
static inline struct buffer *ipc_sample_stream(struct schema *schema, struct batch *const *batches, size_t count,
                                               enum ipc_compression compression)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    _cleanup_(ipc_encoder_free) struct ipc_encoder *encoder = NULL;
    _cleanup_(ipc_message_reset) struct ipc_message message = {0};
    assert_ok(ipc_encoder_new(schema, compression, &encoder));
    assert_ok(ipc_encode_schema(encoder, &message));
    assert_ok(ipc_write_message(&message, &bytes));
    for (size_t i = 0; i < count; i++) {
        assert_ok(ipc_encode_batch(encoder, batches[i]));
        ipc_write_queued(encoder, &bytes);
    }
    assert_ok(ipc_write_end(&bytes));
    struct buffer *stream = NULL;
    assert_ok(buffer_new(bytes.length, &stream));
    memcpy(stream->data, bytes.data, bytes.length);
    return stream;
}

/* What a stream gave: its schema and batches, and how many dictionary messages there were. */
struct ipc_decoded {
    struct schema *schema;
    VEC(struct batch *) batches;
    size_t other_messages; /* schema and dictionaries */
};

static inline void ipc_decoded_reset(struct ipc_decoded *decoded)
{
    for (size_t i = 0; i < decoded->batches.length; i++)
        batch_unref(decoded->batches.items[i]);
    vec_reset(&decoded->batches);
    if (decoded->schema != NULL)
        schema_unref(decoded->schema);
    *decoded = (struct ipc_decoded){0};
}
DEFINE_VALUE_CLEANUP(ipc_decoded_reset, struct ipc_decoded)

/* `out` holds what was read up to an error. */
static inline kith_error *ipc_decode_stream(struct buffer *stream, struct ipc_decoded *out)
{
    _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
    TRY(ipc_decoder_new(&decoder));
    size_t position = 0;
    for (;;) {
        _cleanup_(ipc_message_reset) struct ipc_message message = {0};
        bool end;
        TRY(ipc_read_message(stream, &position, &message, &end));
        if (end)
            return NULL;
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(ipc_decode(decoder, message.metadata, message.body, &batch));
        if (out->schema == NULL && ipc_decoder_schema(decoder) != NULL)
            out->schema = schema_ref(ipc_decoder_schema(decoder));
        if (batch == NULL) {
            out->other_messages++;
            continue;
        }
        TRY(vec_push(&out->batches, batch));
        batch = NULL;
    }
}

static inline void assert_same_rows(const struct batch *a, const struct batch *b)
{
    assert_int_equal(a->rows, b->rows);
    for (size_t c = 0; c < a->schema->field_count; c++) {
        _cleanup_(array_unref) struct array *x = NULL, *y = NULL;
        assert_ok(batch_column(a, c, &x));
        assert_ok(batch_column(b, c, &y));
        for (size_t i = 0; i < a->rows; i++)
            assert_same_row(x, i, y, i);
    }
}

#endif
