#include "columnar/ipc.h"

#include "base/vec.h"
#include "columnar/ipc_body_reader.h"
#include "columnar/ipc_message.h"
#include "columnar/ipc_schema.h"

/* Columns may share one. */
struct dictionary {
    int64_t id;
    struct data_type type; /* of the values */
    struct array *values;  /* NULL until it arrives */
};

struct ipc_decoder {
    struct schema *schema;
    size_t *column_dictionaries; /* by column: its number in `dictionaries`, if it is dictionary-encoded */
    VEC(struct dictionary) dictionaries;
    struct ipc_decompressor *decompressor;
};

kith_error *ipc_decoder_new(struct ipc_decoder **out)
{
    _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
    TRY(NEW(&decoder));
    TRY(ipc_decompressor_new(&decoder->decompressor));
    *out = TAKE(decoder);
    return NULL;
}

void ipc_decoder_free(struct ipc_decoder *decoder)
{
    if (decoder == NULL)
        return;
    for (size_t i = 0; i < decoder->dictionaries.length; i++) {
        if (decoder->dictionaries.items[i].values != NULL)
            array_unref(decoder->dictionaries.items[i].values);
    }
    vec_reset(&decoder->dictionaries);
    free(decoder->column_dictionaries);
    if (decoder->decompressor != NULL)
        ipc_decompressor_free(decoder->decompressor);
    if (decoder->schema != NULL)
        schema_unref(decoder->schema);
    free(decoder);
}

struct schema *ipc_decoder_schema(const struct ipc_decoder *decoder)
{
    return decoder->schema;
}

/* The number of the dictionary, or dictionaries.length. */
static size_t find_dictionary(const struct ipc_decoder *decoder, int64_t id)
{
    size_t i = 0;
    while (i < decoder->dictionaries.length && decoder->dictionaries.items[i].id != id)
        i++;
    return i;
}

static kith_error *register_dictionaries(struct ipc_decoder *decoder, const struct schema *schema, const int64_t *ids)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct field *field = &schema->fields[i];
        if (!type_is_dictionary(&field->type))
            continue;
        struct dictionary dictionary = {.id = ids[i], .type = type_decoded(&field->type)};
        size_t number = find_dictionary(decoder, ids[i]);
        if (number == decoder->dictionaries.length)
            TRY(vec_push(&decoder->dictionaries, dictionary));
        else if (!type_equal(&dictionary.type, &decoder->dictionaries.items[number].type))
            return error_new(KITH_ERROR_CORRUPT, "column \"%s\" shares dictionary %lld with a column of another type",
                             field->name, (long long)ids[i]);
        decoder->column_dictionaries[i] = number;
    }
    return NULL;
}

static kith_error *decode_schema(struct ipc_decoder *decoder, const struct flatbuf_table *table)
{
    if (decoder->schema != NULL)
        return error_new(KITH_ERROR_CORRUPT, "second schema in one stream");
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_free_ int64_t *ids = NULL;
    TRY(ipc_schema_read(table, &schema, &ids));
    free(TAKE(decoder->column_dictionaries));
    TRY(NEW_ARRAY(&decoder->column_dictionaries, schema->field_count));
    TRY(register_dictionaries(decoder, schema, ids));
    decoder->schema = TAKE(schema);
    return NULL;
}

/* The one array of a dictionary batch. */
static kith_error *read_values(struct ipc_decoder *decoder, const struct flatbuf_table *batch, struct buffer *body,
                               const struct data_type *type, struct array **out)
{
    struct ipc_body_reader reader;
    _cleanup_(array_unref) struct array *values = NULL;
    TRY(ipc_body_open(batch, body, decoder->decompressor, &reader));
    TRY(ipc_body_next(&reader, type, &values));
    TRY(ipc_body_end(&reader));
    TRY(array_validate(values));
    TRY(array_repair_nulls(values));
    *out = TAKE(values);
    return NULL;
}

/* A dictionary replaces the last one of its id, or as a delta is added at its end. Batches keep what they were read
 * with. */
static kith_error *decode_dictionary(struct ipc_decoder *decoder, const struct flatbuf_table *table,
                                     struct buffer *body)
{
    int64_t id, delta;
    struct flatbuf_table batch;
    TRY(flatbuf_read_int(table, DICTIONARY_BATCH_ID, 8, 0, &id));
    TRY(flatbuf_read_int(table, DICTIONARY_BATCH_DELTA, 1, 0, &delta));
    TRY(flatbuf_read_table(table, DICTIONARY_BATCH_DATA, &batch));
    size_t number = find_dictionary(decoder, id);
    if (number == decoder->dictionaries.length)
        return error_new(KITH_ERROR_CORRUPT, "dictionary %lld, which no column of the schema has", (long long)id);
    if (batch.bytes == NULL)
        return error_new(KITH_ERROR_CORRUPT, "dictionary %lld without values", (long long)id);
    struct dictionary *dictionary = &decoder->dictionaries.items[number];
    _cleanup_(array_unref) struct array *values = NULL;
    TRY(error_wrap(read_values(decoder, &batch, body, &dictionary->type, &values), "dictionary %lld", (long long)id));
    if (delta != 0 && dictionary->values != NULL) {
        struct array *parts[] = {dictionary->values, values}, *joined;
        TRY(array_concatenate(&dictionary->type, parts, ARRAY_SIZE(parts), &joined));
        array_unref(values);
        values = joined;
    }
    if (dictionary->values != NULL)
        array_unref(dictionary->values);
    dictionary->values = TAKE(values);
    return NULL;
}

/* The dictionary may follow a batch in which it is not needed, one with nulls only ("Arrow Columnar Format", Dictionary
 * Messages): until then it is empty, and any index is out of its range. */
static kith_error *current_values(struct dictionary *dictionary, struct array **out)
{
    if (dictionary->values == NULL)
        TRY(array_new_null(&dictionary->type, 0, &dictionary->values));
    *out = array_ref(dictionary->values);
    return NULL;
}

static kith_error *read_column(struct ipc_decoder *decoder, struct ipc_body_reader *reader, size_t i,
                               struct array **out)
{
    const struct field *field = &decoder->schema->fields[i];
    _cleanup_(array_unref) struct array *column = NULL;
    TRY(ipc_body_next(reader, &field->type, &column));
    if (type_is_dictionary(&field->type)) {
        TRY(current_values(&decoder->dictionaries.items[decoder->column_dictionaries[i]], &column->dictionary));
        TRY(array_validate_indices(column));
    } else {
        TRY(array_validate(column));
    }
    TRY(array_repair_nulls(column));
    *out = TAKE(column);
    return NULL;
}

static kith_error *decode_batch(struct ipc_decoder *decoder, const struct flatbuf_table *table, struct buffer *body,
                                struct batch **out)
{
    struct ipc_body_reader reader;
    _cleanup_(array_list_reset) struct array_list columns = {0};
    TRY(ipc_body_open(table, body, decoder->decompressor, &reader));
    TRY(NEW_ARRAY(&columns.items, decoder->schema->field_count));
    while (columns.count < decoder->schema->field_count) {
        TRY(error_wrap(read_column(decoder, &reader, columns.count, &columns.items[columns.count]), "column \"%s\"",
                       decoder->schema->fields[columns.count].name));
        columns.count++;
    }
    TRY(ipc_body_end(&reader));
    return batch_new(decoder->schema, columns.items, reader.rows, out);
}

/* Before any body of a stream is looked at, so that the reason is the same whatever comes first. */
static kith_error *check_columns(const struct schema *schema)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct field *field = &schema->fields[i];
        char type[128];
        if (type_is_nested(field->type.id))
            return error_new(KITH_ERROR_NOT_IMPLEMENTED, "column \"%s\": columns of nested types (%s) in Arrow IPC",
                             field->name, type_format(&field->type, type, sizeof type));
    }
    return NULL;
}

kith_error *ipc_decode(struct ipc_decoder *decoder, struct buffer *metadata, struct buffer *body, struct batch **out)
{
    *out = NULL;
    struct ipc_header header;
    size_t body_size = body == NULL ? 0 : body->size;
    TRY(ipc_message_open(metadata, &header));
    if (header.body_length > body_size)
        return error_new(KITH_ERROR_CORRUPT, "Arrow message with a body of %zu bytes, of which %zu are there",
                         header.body_length, body_size);
    if (header.type == HEADER_SCHEMA)
        return error_wrap(decode_schema(decoder, &header.table), "Arrow schema");
    if (header.type != HEADER_DICTIONARY_BATCH && header.type != HEADER_RECORD_BATCH)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "Arrow message of type %lld (%s)", (long long)header.type,
                         header.type == HEADER_TENSOR || header.type == HEADER_SPARSE_TENSOR ? "tensor" : "unknown");
    if (decoder->schema == NULL)
        return error_new(KITH_ERROR_CORRUPT, "Arrow stream does not start with a schema");
    TRY(check_columns(decoder->schema));
    if (header.type == HEADER_DICTIONARY_BATCH)
        return error_wrap(decode_dictionary(decoder, &header.table, body), "Arrow dictionary batch");
    return error_wrap(decode_batch(decoder, &header.table, body, out), "Arrow record batch");
}
