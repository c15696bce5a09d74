/* Schema messages: what survives the way there and back, and what is refused. */
#include "ipc_samples.h"

#include "columnar/flatbuf_writer.h"
#include "columnar/ipc_format.h"

/* Decodes one message of metadata alone. */
static kith_error *decode_metadata(struct ipc_decoder *decoder, struct str bytes)
{
    _cleanup_(buffer_unref) struct buffer *metadata = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    TRY(buffer_new(bytes.length, &metadata));
    memcpy(metadata->data, bytes.data, bytes.length);
    return ipc_decode(decoder, metadata, NULL, &batch);
}

/* Ends the message around `header` and decodes it. */
static kith_error *decode_header(struct ipc_decoder *decoder, struct flatbuf_writer *writer, int version,
                                 enum message_header type, flatbuf_ref header)
{
    struct flatbuf_slot slots[] = {flatbuf_int(2, version), flatbuf_int(1, type), flatbuf_offset(header),
                                   flatbuf_int(8, 0)};
    flatbuf_ref root;
    struct str bytes;
    TRY(flatbuf_write_table(writer, slots, ARRAY_SIZE(slots), &root));
    TRY(flatbuf_finish(writer, root, &bytes));
    return decode_metadata(decoder, bytes);
}

/* A field of a type without parameters. */
static flatbuf_ref plain_field(struct flatbuf_writer *writer, enum ipc_type tag, const flatbuf_ref *children,
                               size_t count)
{
    flatbuf_ref type, vector, field;
    assert_ok(flatbuf_write_table(writer, NULL, 0, &type));
    assert_ok(flatbuf_write_ref_vector(writer, children, count, &vector));
    struct flatbuf_slot slots[FIELD_FIELDS] = {
        [FIELD_TYPE_TYPE] = flatbuf_int(1, tag),
        [FIELD_TYPE] = flatbuf_offset(type),
        [FIELD_CHILDREN] = flatbuf_offset(vector),
    };
    assert_ok(flatbuf_write_table(writer, slots, ARRAY_SIZE(slots), &field));
    return field;
}

static flatbuf_ref schema_of(struct flatbuf_writer *writer, flatbuf_ref field, int endianness)
{
    flatbuf_ref fields, schema;
    assert_ok(flatbuf_write_ref_vector(writer, &field, 1, &fields));
    struct flatbuf_slot slots[] = {flatbuf_int(2, endianness), flatbuf_offset(fields)};
    assert_ok(flatbuf_write_table(writer, slots, ARRAY_SIZE(slots), &schema));
    return schema;
}

static void nested_fields_and_all_metadata_come_back(void **state)
{
    char names[][8] = {"list", "item", "struct", "a", "b", "map", "entries", "key", "value"};
    struct field key_value[] = {{.name = names[7], .type = type_of(TYPE_UTF8)},
                                {.name = names[8], .type = {.id = TYPE_UTF8, .index = TYPE_INT16}, .nullable = true}};
    struct field entries = {.name = names[6], .type = type_of(TYPE_STRUCT), .children = key_value, .child_count = 2};
    struct field item = {.name = names[1], .type = type_decimal(38, -4), .nullable = true};
    struct field members[] = {{.name = names[3], .type = type_timestamp(UNIT_NANOSECOND, "Europe/Berlin")},
                              {.name = names[4], .type = {.id = TYPE_FIXED_SIZE_BINARY, .byte_width = 3}}};
    struct field fields[] = {
        {.name = names[0], .type = type_of(TYPE_LIST), .children = &item, .child_count = 1},
        {.name = names[2], .type = type_of(TYPE_STRUCT), .nullable = true, .children = members, .child_count = 2},
        {.name = names[5], .type = type_of(TYPE_MAP), .children = &entries, .child_count = 1},
    };
    _cleanup_(schema_unref) struct schema *schema = NULL;
    assert_ok(schema_new(fields, ARRAY_SIZE(fields), &schema));
    assert_ok(schema_add_metadata(schema, "of the schema", "1"));
    assert_ok(schema_add_metadata(schema, "", ""));
    assert_ok(field_add_metadata(&schema->fields[1].children[0], "of a field", "2"));
    _cleanup_(buffer_unref) struct buffer *stream = ipc_sample_stream(schema, NULL, 0, IPC_UNCOMPRESSED);
    _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
    assert_ok(ipc_decode_stream(stream, &decoded));
    assert_true(schema_equal(decoded.schema, schema));
    assert_int_equal(decoded.schema->metadata_count, 2);
    assert_string_equal(decoded.schema->metadata[0].key, "of the schema");
    assert_string_equal(decoded.schema->metadata[0].value, "1");
    assert_string_equal(decoded.schema->metadata[1].key, "");
    assert_int_equal(decoded.schema->fields[1].children[0].metadata_count, 1);
    assert_string_equal(decoded.schema->fields[1].children[0].metadata[0].value, "2");
}

static void columns_of_nested_types_are_refused_by_name(void **state)
{
    char list[] = "tags", item[] = "item";
    struct field child = {.name = item, .type = type_of(TYPE_UTF8)};
    struct field field = {.name = list, .type = type_of(TYPE_LIST), .children = &child, .child_count = 1};
    _cleanup_(schema_unref) struct schema *schema = NULL;
    assert_ok(schema_new(&field, 1, &schema));
    _cleanup_(ipc_encoder_free) struct ipc_encoder *encoder = NULL;
    _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
    _cleanup_(ipc_message_reset) struct ipc_message message = {0};
    assert_ok(ipc_encoder_new(schema, IPC_UNCOMPRESSED, &encoder));
    assert_ok(ipc_encode_schema(encoder, &message));
    assert_ok(ipc_decoder_new(&decoder));
    struct batch *batch;
    assert_ok(ipc_decode(decoder, message.metadata, message.body, &batch));
    _cleanup_(flatbuf_writer_reset) struct flatbuf_writer writer = {0};
    flatbuf_ref empty;
    assert_ok(flatbuf_write_table(&writer, NULL, 0, &empty));
    assert_fails(decode_header(decoder, &writer, IPC_VERSION_5, HEADER_RECORD_BATCH, empty), KITH_ERROR_NOT_IMPLEMENTED,
                 "column \"tags\": columns of nested types (List)");
}

static void big_endian_and_other_versions_are_refused(void **state)
{
    for (int version = 0; version < 7; version++) {
        _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
        _cleanup_(flatbuf_writer_reset) struct flatbuf_writer writer = {0};
        assert_ok(ipc_decoder_new(&decoder));
        flatbuf_ref schema = schema_of(&writer, plain_field(&writer, IPC_TYPE_UTF8, NULL, 0), 0);
        kith_error *error = decode_header(decoder, &writer, version, HEADER_SCHEMA, schema);
        char message[32];
        snprintf(message, sizeof message, "metadata version V%d", version + 1);
        if (version == 3 || version == 4)
            assert_ok(error);
        else
            assert_fails(error, KITH_ERROR_NOT_IMPLEMENTED, message);
    }
    _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
    _cleanup_(flatbuf_writer_reset) struct flatbuf_writer writer = {0};
    assert_ok(ipc_decoder_new(&decoder));
    flatbuf_ref schema = schema_of(&writer, plain_field(&writer, IPC_TYPE_UTF8, NULL, 0), 1);
    assert_fails(decode_header(decoder, &writer, IPC_VERSION_5, HEADER_SCHEMA, schema), KITH_ERROR_NOT_IMPLEMENTED,
                 "big-endian");
}

static void types_that_are_not_there_are_refused_by_name(void **state)
{
    static const struct {
        int tag;
        const char *message;
    } cases[] = {
        {IPC_TYPE_UNION, "type Union"},
        {IPC_TYPE_FIXED_SIZE_LIST, "type FixedSizeList"},
        {IPC_TYPE_LARGE_LIST, "type LargeList"},
        {IPC_TYPE_RUN_END_ENCODED, "type RunEndEncoded"},
        {IPC_TYPE_LIST_VIEW, "type ListView"},
        {99, "Arrow type number 99"},
        {0, "Arrow type number 0"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
        _cleanup_(flatbuf_writer_reset) struct flatbuf_writer writer = {0};
        assert_ok(ipc_decoder_new(&decoder));
        flatbuf_ref schema = schema_of(&writer, plain_field(&writer, (enum ipc_type)cases[i].tag, NULL, 0), 0);
        assert_fails(decode_header(decoder, &writer, IPC_VERSION_5, HEADER_SCHEMA, schema), KITH_ERROR_NOT_IMPLEMENTED,
                     cases[i].message);
    }
}

static kith_error *decode_nesting(size_t depth)
{
    _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
    _cleanup_(flatbuf_writer_reset) struct flatbuf_writer writer = {0};
    assert_ok(ipc_decoder_new(&decoder));
    flatbuf_ref field = plain_field(&writer, IPC_TYPE_UTF8, NULL, 0);
    for (size_t i = 1; i < depth; i++)
        field = plain_field(&writer, IPC_TYPE_LIST, &field, 1);
    return decode_header(decoder, &writer, IPC_VERSION_5, HEADER_SCHEMA, schema_of(&writer, field, 0));
}

static void nesting_has_a_limit(void **state)
{
    assert_ok(decode_nesting(LIMIT_TYPE_NESTING));
    assert_fails(decode_nesting(LIMIT_TYPE_NESTING + 1), KITH_ERROR_LIMIT, "TYPE_NESTING");
}

/* Each level names the one below ten times: a few hundred bytes that say a million fields. */
static void shared_tables_do_not_multiply(void **state)
{
    _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
    _cleanup_(flatbuf_writer_reset) struct flatbuf_writer writer = {0};
    assert_ok(ipc_decoder_new(&decoder));
    flatbuf_ref field = plain_field(&writer, IPC_TYPE_UTF8, NULL, 0);
    for (size_t level = 0; level < 6; level++) {
        flatbuf_ref same[10];
        for (size_t i = 0; i < ARRAY_SIZE(same); i++)
            same[i] = field;
        field = plain_field(&writer, IPC_TYPE_STRUCT, same, ARRAY_SIZE(same));
    }
    assert_fails(decode_header(decoder, &writer, IPC_VERSION_5, HEADER_SCHEMA, schema_of(&writer, field, 0)),
                 KITH_ERROR_LIMIT, "COLUMNS");
}

static void children_that_a_type_does_not_have_are_refused(void **state)
{
    _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
    _cleanup_(flatbuf_writer_reset) struct flatbuf_writer writer = {0};
    assert_ok(ipc_decoder_new(&decoder));
    flatbuf_ref field = plain_field(&writer, IPC_TYPE_UTF8, NULL, 0);
    field = plain_field(&writer, IPC_TYPE_LIST, (flatbuf_ref[]){field, field}, 2);
    assert_fails(decode_header(decoder, &writer, IPC_VERSION_5, HEADER_SCHEMA, schema_of(&writer, field, 0)),
                 KITH_ERROR_CORRUPT, "has 2 children");
}

static void a_stream_starts_with_one_schema(void **state)
{
    _cleanup_(ipc_decoder_free) struct ipc_decoder *decoder = NULL;
    _cleanup_(flatbuf_writer_reset) struct flatbuf_writer writer = {0};
    assert_ok(ipc_decoder_new(&decoder));
    flatbuf_ref empty;
    assert_ok(flatbuf_write_table(&writer, NULL, 0, &empty));
    assert_fails(decode_header(decoder, &writer, IPC_VERSION_5, HEADER_RECORD_BATCH, empty), KITH_ERROR_CORRUPT,
                 "does not start with a schema");
    for (int i = 0; i < 2; i++) {
        flatbuf_restart(&writer);
        flatbuf_ref schema = schema_of(&writer, plain_field(&writer, IPC_TYPE_UTF8, NULL, 0), 0);
        kith_error *error = decode_header(decoder, &writer, IPC_VERSION_5, HEADER_SCHEMA, schema);
        if (i == 0)
            assert_ok(error);
        else
            assert_fails(error, KITH_ERROR_CORRUPT, "second schema");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_fields_and_all_metadata_come_back),
        cmocka_unit_test(columns_of_nested_types_are_refused_by_name),
        cmocka_unit_test(big_endian_and_other_versions_are_refused),
        cmocka_unit_test(types_that_are_not_there_are_refused_by_name),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(shared_tables_do_not_multiply),
        cmocka_unit_test(children_that_a_type_does_not_have_are_refused),
        cmocka_unit_test(a_stream_starts_with_one_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
