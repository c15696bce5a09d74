/* Streams that are damaged: each is read or refused, and what was read may be looked at. Run under ASan and UBSan this
 * is where reading out of bounds shows. */
#include "ipc_samples.h"

static const enum ipc_compression compressions[] = {IPC_UNCOMPRESSED, IPC_LZ4_FRAME, IPC_ZSTD};

/* The bytes in a block of their own size, without the room that buffers have behind them. */
static struct buffer *exact_copy(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = NULL;
    assert_ok(alloc_resize(&copy, size + (size == 0), 1));
    memcpy(copy, bytes, size);
    struct buffer *buffer = NULL;
    assert_ok(buffer_wrap_allocated(copy, size, &buffer));
    return buffer;
}

/* Every value is looked at: bytes of strings and all. */
static void touch(const struct batch *batch)
{
    for (size_t c = 0; c < batch->schema->field_count; c++) {
        const struct array *column = batch->columns[c];
        assert_true(array_null_count(column) <= column->length);
        for (size_t i = 0; i < column->length && i < 10000; i++) {
            struct scalar scalar = scalar_from_array(column, i);
            bool text = type_is_string(scalar.type.id) || type_is_binary(scalar.type.id);
            if (text && !scalar.is_null && scalar.string.length > 0)
                assert_true(memchr(scalar.string.data, 0, scalar.string.length) != (void *)1);
        }
    }
}

static bool survives(const uint8_t *bytes, size_t size)
{
    _cleanup_(buffer_unref) struct buffer *stream = exact_copy(bytes, size);
    _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
    _cleanup_(error_free) kith_error *error = ipc_decode_stream(stream, &decoded);
    for (size_t i = 0; i < decoded.batches.length; i++)
        touch(decoded.batches.items[i]);
    return error == NULL;
}

static struct buffer *two_batches(struct schema *schema, size_t rows, enum ipc_compression compression)
{
    uint64_t random = 11;
    struct batch *batches[] = {ipc_sample_batch(&random, schema, rows), ipc_sample_batch(&random, schema, 4 * rows)};
    struct buffer *stream = ipc_sample_stream(schema, batches, 2, compression);
    batch_unref(batches[0]);
    batch_unref(batches[1]);
    return stream;
}

/* A column for each layout of arrays. */
static struct schema *layouts(void)
{
    static const struct data_type types[] = {{.id = TYPE_BOOL},
                                             {.id = TYPE_INT32},
                                             {.id = TYPE_LARGE_UTF8},
                                             {.id = TYPE_BINARY_VIEW},
                                             {.id = TYPE_UTF8, .index = TYPE_INT8}};
    char names[ARRAY_SIZE(types)][2];
    struct field fields[ARRAY_SIZE(types)];
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        snprintf(names[i], sizeof names[i], "%zu", i);
        fields[i] = (struct field){.name = names[i], .type = types[i], .nullable = true};
    }
    struct schema *schema = NULL;
    assert_ok(schema_new(fields, ARRAY_SIZE(fields), &schema));
    return schema;
}

static void a_stream_cut_anywhere_is_read_or_refused(void **state)
{
    _cleanup_(schema_unref) struct schema *schema = layouts();
    for (size_t c = 0; c < ARRAY_SIZE(compressions); c++) {
        _cleanup_(buffer_unref) struct buffer *stream = two_batches(schema, 3, compressions[c]);
        size_t accepted = 0;
        for (size_t size = 0; size < stream->size; size++)
            accepted += survives(stream->data, size);
        /* Only between messages: none at all, the schema, and twice a dictionary and a batch. */
        assert_int_equal(accepted, 6);
    }
}

static void flipped_bytes_are_read_or_refused(void **state)
{
    _cleanup_(schema_unref) struct schema *schema = ipc_sample_schema();
    for (size_t c = 0; c < ARRAY_SIZE(compressions); c++) {
        uint64_t random = 12 + c;
        _cleanup_(buffer_unref) struct buffer *stream = two_batches(schema, 9, compressions[c]);
        for (size_t round = 0; round < 300; round++) {
            _cleanup_(buffer_unref) struct buffer *damaged = exact_copy(stream->data, stream->size);
            size_t flips = 1 + test_random(&random) % 3;
            for (size_t i = 0; i < flips; i++)
                damaged->data[test_random(&random) % damaged->size] ^= (uint8_t)(1u << (test_random(&random) % 8));
            survives(damaged->data, damaged->size);
        }
    }
}

/* The flips above mostly hit bodies; here every byte, those of the metadata among them, becomes what breaks most. */
static void any_byte_changed_is_read_or_refused(void **state)
{
    static const uint8_t values[] = {0, 0x7f, 0xff};
    _cleanup_(schema_unref) struct schema *schema = layouts();
    _cleanup_(buffer_unref) struct buffer *stream = two_batches(schema, 1, IPC_ZSTD);
    for (size_t position = 0; position < stream->size; position++) {
        for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
            _cleanup_(buffer_unref) struct buffer *damaged = exact_copy(stream->data, stream->size);
            damaged->data[position] = values[v];
            survives(damaged->data, damaged->size);
        }
    }
}

/* A batch of one dictionary column, decoded after `damage` was done to its array. */
static kith_error *decode_damaged(void (*damage)(struct array *column))
{
    struct data_type type = {.id = TYPE_UTF8, .index = TYPE_UINT8};
    char name[] = "color";
    struct field field = {.name = name, .type = type, .nullable = true};
    _cleanup_(array_builder_free) struct array_builder *indices = NULL, *values = NULL;
    _cleanup_(array_unref) struct array *index_array = NULL, *value_array = NULL, *column = NULL;
    assert_ok(array_builder_new(&(struct data_type){.id = TYPE_UINT8}, &indices));
    assert_ok(array_builder_new(&(struct data_type){.id = TYPE_UTF8}, &values));
    for (int64_t i = 0; i < 3; i++) {
        assert_ok(array_builder_append_int(indices, i));
        assert_ok(array_builder_append_string(values, str_of("red")));
    }
    assert_ok(array_builder_finish(indices, &index_array));
    assert_ok(array_builder_finish(values, &value_array));
    assert_ok(array_new_dictionary(index_array, value_array, &column));
    damage(column);
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    assert_ok(schema_new(&field, 1, &schema));
    assert_ok(batch_new(schema, &column, 3, &batch));
    _cleanup_(buffer_unref) struct buffer *stream = ipc_sample_stream(schema, &batch, 1, IPC_UNCOMPRESSED);
    _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
    return ipc_decode_stream(stream, &decoded);
}

static void no_damage(struct array *column)
{
}

static void index_too_large(struct array *column)
{
    column->values->data[1] = 3;
}

static void value_not_text(struct array *column)
{
    column->dictionary->data->data[4] = 0xff;
}

static void indices_and_text_from_outside_are_checked(void **state)
{
    assert_ok(decode_damaged(no_damage));
    assert_fails(decode_damaged(index_too_large), KITH_ERROR_CORRUPT,
                 "column \"color\": row 1 has index 3 into a dictionary of 3 values");
    assert_fails(decode_damaged(value_not_text), KITH_ERROR_CORRUPT, "row 1 is not UTF-8");
}

static kith_error *decode_whole(void *state)
{
    _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
    return ipc_decode_stream(state, &decoded);
}

static void a_stream_survives_without_memory(void **state)
{
    _cleanup_(schema_unref) struct schema *schema = layouts();
    _cleanup_(buffer_unref) struct buffer *stream = two_batches(schema, 9, IPC_LZ4_FRAME);
    assert_survives_without_memory(decode_whole, stream, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_cut_anywhere_is_read_or_refused),
        cmocka_unit_test(flipped_bytes_are_read_or_refused),
        cmocka_unit_test(any_byte_changed_is_read_or_refused),
        cmocka_unit_test(indices_and_text_from_outside_are_checked),
        cmocka_unit_test(a_stream_survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
