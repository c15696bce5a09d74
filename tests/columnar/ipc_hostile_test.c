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
    assert_ok(buffer_take(copy, size, &buffer));
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

static struct buffer *small_stream(enum ipc_compression compression)
{
    uint64_t random = 11;
    _cleanup_(schema_unref) struct schema *schema = ipc_sample_schema();
    struct batch *batches[] = {ipc_sample_batch(&random, schema, 9), ipc_sample_batch(&random, schema, 40)};
    struct buffer *stream = ipc_sample_stream(schema, batches, 2, compression);
    batch_unref(batches[0]);
    batch_unref(batches[1]);
    return stream;
}

static void a_stream_cut_anywhere_is_read_or_refused(void **state)
{
    for (size_t c = 0; c < ARRAY_SIZE(compressions); c++) {
        _cleanup_(buffer_unref) struct buffer *stream = small_stream(compressions[c]);
        size_t accepted = 0;
        for (size_t size = 0; size < stream->size; size++)
            accepted += survives(stream->data, size);
        /* Only between messages: the empty stream, and one for each of schema, 8 dictionaries and batch, twice. */
        assert_int_equal(accepted, 1 + 1 + 2 * 9);
    }
}

static void flipped_bytes_are_read_or_refused(void **state)
{
    for (size_t c = 0; c < ARRAY_SIZE(compressions); c++) {
        uint64_t random = 12 + c;
        _cleanup_(buffer_unref) struct buffer *stream = small_stream(compressions[c]);
        for (size_t round = 0; round < 1500; round++) {
            _cleanup_(buffer_unref) struct buffer *damaged = exact_copy(stream->data, stream->size);
            size_t flips = 1 + test_random(&random) % 3;
            for (size_t i = 0; i < flips; i++)
                damaged->data[test_random(&random) % damaged->size] ^= (uint8_t)(1u << (test_random(&random) % 8));
            survives(damaged->data, damaged->size);
        }
    }
}

/* The metadata alone is a small part of a stream, so it gets its own turn: every byte, set to what breaks most. */
static void metadata_with_any_byte_changed_is_read_or_refused(void **state)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    uint64_t random = 13;
    struct data_type type = {.id = TYPE_UTF8_VIEW, .index = TYPE_INT8};
    char names[][2] = {"a", "b"};
    struct field fields[] = {{.name = names[0], .type = type, .nullable = true},
                             {.name = names[1], .type = type_decimal(30, 2), .nullable = true}};
    _cleanup_(schema_unref) struct schema *schema = NULL;
    assert_ok(schema_new(fields, 2, &schema));
    _cleanup_(batch_unref) struct batch *batch = ipc_sample_batch(&random, schema, 5);
    _cleanup_(buffer_unref) struct buffer *stream = ipc_sample_stream(schema, &batch, 1, IPC_ZSTD);
    for (size_t position = 0; position < stream->size; position++) {
        for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
            _cleanup_(buffer_unref) struct buffer *damaged = exact_copy(stream->data, stream->size);
            damaged->data[position] = values[v];
            survives(damaged->data, damaged->size);
        }
    }
}

static void a_stream_that_runs_out_of_memory_leaks_nothing(void **state)
{
    _cleanup_(buffer_unref) struct buffer *stream = small_stream(IPC_LZ4_FRAME);
    for (size_t n = 1;; n++) {
        _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
        alloc_fail_after(n);
        kith_error *error = ipc_decode_stream(stream, &decoded);
        alloc_fail_after(0);
        if (error == NULL)
            break;
        assert_fails(error, KITH_ERROR_OUT_OF_MEMORY, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_cut_anywhere_is_read_or_refused),
        cmocka_unit_test(flipped_bytes_are_read_or_refused),
        cmocka_unit_test(metadata_with_any_byte_changed_is_read_or_refused),
        cmocka_unit_test(a_stream_that_runs_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
