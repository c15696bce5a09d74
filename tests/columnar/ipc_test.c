/* Arrow IPC streams, written and read back. That others read what is written, and that what others wrote is read, is
 * checked by ipc_gold.py. */
#include "ipc_samples.h"

static const enum ipc_compression compressions[] = {IPC_UNCOMPRESSED, IPC_LZ4_FRAME, IPC_ZSTD};

static void every_flat_type_comes_back_with_its_nulls(void **state)
{
    _cleanup_(schema_unref) struct schema *schema = ipc_sample_schema();
    for (size_t c = 0; c < ARRAY_SIZE(compressions); c++) {
        static const size_t rows[] = {1, 7, 64, 1000, 0};
        uint64_t random = c;
        struct batch *batches[ARRAY_SIZE(rows)];
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
            batches[i] = ipc_sample_batch(&random, schema, rows[i]);
        _cleanup_(buffer_unref) struct buffer *stream =
            ipc_sample_stream(schema, batches, ARRAY_SIZE(rows), compressions[c]);
        _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
        assert_ok(ipc_decode_stream(stream, &decoded));
        assert_true(schema_equal(decoded.schema, schema));
        assert_int_equal(decoded.batches.length, ARRAY_SIZE(rows));
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
            assert_same_rows(batches[i], decoded.batches.items[i]);
            batch_unref(batches[i]);
        }
    }
}

static struct selection *every_third(size_t rows)
{
    struct selection *selection = NULL;
    assert_ok(selection_new(rows, &selection));
    for (uint32_t i = 1; i < rows; i += 3)
        selection->rows[selection->count++] = i;
    return selection;
}

static void slices_and_selected_rows_are_sent_without_the_others(void **state)
{
    uint64_t random = 3;
    _cleanup_(schema_unref) struct schema *schema = ipc_sample_schema();
    _cleanup_(batch_unref) struct batch *root = ipc_sample_batch(&random, schema, 200);
    _cleanup_(batch_unref) struct batch *slice = NULL, *selected = NULL, *compact = NULL;
    assert_ok(batch_slice(root, 13, 101, &slice));
    _cleanup_(selection_unref) struct selection *selection = every_third(101);
    assert_ok(batch_select(slice, selection, &selected));
    struct batch *sent[] = {slice, selected};
    _cleanup_(buffer_unref) struct buffer *stream = ipc_sample_stream(schema, sent, 2, IPC_UNCOMPRESSED);
    _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
    assert_ok(ipc_decode_stream(stream, &decoded));
    assert_same_rows(slice, decoded.batches.items[0]);
    assert_ok(batch_compact(selected, &compact));
    assert_int_equal(compact->rows, 34);
    assert_same_rows(compact, decoded.batches.items[1]);
}

/* A schema of one column. */
static struct schema *one_column(const struct data_type *type)
{
    char name[] = "a";
    struct field field = {.name = name, .type = *type, .nullable = true};
    struct schema *schema = NULL;
    assert_ok(schema_new(&field, 1, &schema));
    return schema;
}

static struct batch *batch_of(struct schema *schema, struct array *column)
{
    struct batch *batch = NULL;
    assert_ok(batch_new(schema, &column, column->length, &batch));
    return batch;
}

static void a_dictionary_is_sent_once_and_again_when_it_changes(void **state)
{
    uint64_t random = 4;
    struct data_type text = type_of(TYPE_UTF8), encoded = {.id = TYPE_UTF8, .index = TYPE_INT32};
    _cleanup_(schema_unref) struct schema *schema = one_column(&encoded);
    _cleanup_(array_unref) struct array *first = sample_array(&random, &text, 50, TYPE_INT32);
    _cleanup_(array_unref) struct array *part = NULL, *second = sample_array(&random, &text, 50, TYPE_INT32);
    assert_ok(array_slice(first, 10, 20, &part));
    struct array *columns[] = {first, part, second, first};
    struct batch *batches[4];
    for (size_t i = 0; i < 4; i++)
        batches[i] = batch_of(schema, columns[i]);
    _cleanup_(buffer_unref) struct buffer *stream = ipc_sample_stream(schema, batches, 4, IPC_LZ4_FRAME);
    _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
    assert_ok(ipc_decode_stream(stream, &decoded));
    assert_int_equal(decoded.other_messages, 1 + 3);
    for (size_t i = 0; i < 4; i++) {
        assert_same_rows(batches[i], decoded.batches.items[i]);
        batch_unref(batches[i]);
    }
    assert_ptr_equal(decoded.batches.items[0]->columns[0]->dictionary,
                     decoded.batches.items[1]->columns[0]->dictionary);
}

static void columns_are_sent_in_the_encoding_of_the_schema(void **state)
{
    uint64_t random = 5;
    struct data_type text = type_of(TYPE_UTF8);
    _cleanup_(schema_unref) struct schema *schema = one_column(&text);
    _cleanup_(array_unref) struct array *column = sample_array(&random, &text, 200, TYPE_UINT8);
    _cleanup_(batch_unref) struct batch *batch = batch_of(schema, column);
    _cleanup_(buffer_unref) struct buffer *stream = ipc_sample_stream(schema, &batch, 1, IPC_UNCOMPRESSED);
    _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
    assert_ok(ipc_decode_stream(stream, &decoded));
    assert_int_equal(decoded.batches.items[0]->columns[0]->type.index, TYPE_NULL);
    assert_same_rows(batch, decoded.batches.items[0]);
}

static void a_batch_of_another_schema_is_refused(void **state)
{
    uint64_t random = 6;
    struct data_type text = type_of(TYPE_UTF8), encoded = {.id = TYPE_UTF8, .index = TYPE_INT8};
    _cleanup_(schema_unref) struct schema *plain = one_column(&text), *stream = one_column(&encoded);
    _cleanup_(array_unref) struct array *column = sample_array(&random, &text, 10, TYPE_NULL);
    _cleanup_(batch_unref) struct batch *batch = batch_of(plain, column);
    _cleanup_(ipc_encoder_free) struct ipc_encoder *encoder = NULL;
    assert_ok(ipc_encoder_new(stream, IPC_UNCOMPRESSED, &encoder));
    assert_fails(ipc_encode_batch(encoder, batch), KITH_ERROR_TYPE_MISMATCH,
                 "column \"a\" is Utf8, where the stream's schema says Dictionary(Int8, Utf8)");
}

static struct array *strings(const struct data_type *type, size_t count, size_t length)
{
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    assert_ok(array_builder_new(type, &builder));
    char text[64];
    for (size_t i = 0; i < count; i++) {
        memset(text, 'a' + (int)(i % 26), sizeof text);
        assert_ok(array_builder_append_string(builder, (struct str){text, length}));
    }
    struct array *array = NULL;
    assert_ok(array_builder_finish(builder, &array));
    return array;
}

static size_t body_bytes(struct schema *schema, struct batch *batch, enum ipc_compression compression)
{
    _cleanup_(ipc_encoder_free) struct ipc_encoder *encoder = NULL;
    _cleanup_(ipc_message_reset) struct ipc_message message = {0};
    assert_ok(ipc_encoder_new(schema, compression, &encoder));
    assert_ok(ipc_encode_batch(encoder, batch));
    assert_ok(ipc_encoder_next(encoder, &message));
    return message.body == NULL ? 0 : message.body->size;
}

static void a_few_views_do_not_send_the_data_of_all(void **state)
{
    struct data_type type = type_of(TYPE_UTF8_VIEW);
    _cleanup_(schema_unref) struct schema *schema = one_column(&type);
    _cleanup_(array_unref) struct array *all = strings(&type, 10000, 50), *few = NULL;
    assert_ok(array_slice(all, 5000, 3, &few));
    _cleanup_(batch_unref) struct batch *batch = batch_of(schema, few);
    /* Views of 3 × 16 bytes and data of 3 × 50, each rounded up to 64. */
    assert_int_equal(body_bytes(schema, batch, IPC_UNCOMPRESSED), 64 + 192);
    _cleanup_(buffer_unref) struct buffer *stream = ipc_sample_stream(schema, &batch, 1, IPC_UNCOMPRESSED);
    _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
    assert_ok(ipc_decode_stream(stream, &decoded));
    assert_same_rows(batch, decoded.batches.items[0]);
}

static void compression_shrinks_what_can_shrink_and_leaves_the_rest(void **state)
{
    struct data_type type = type_of(TYPE_UTF8), number = type_of(TYPE_INT64);
    _cleanup_(schema_unref) struct schema *text_schema = one_column(&type), *number_schema = one_column(&number);
    _cleanup_(array_unref) struct array *repeated = strings(&type, 1000, 50), *noise = NULL;
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    assert_ok(array_builder_new(&number, &builder));
    uint64_t random = 8;
    for (size_t i = 0; i < 1000; i++)
        assert_ok(array_builder_append_int(builder, (int64_t)test_random(&random)));
    assert_ok(array_builder_finish(builder, &noise));
    _cleanup_(batch_unref) struct batch *shrinks = batch_of(text_schema, repeated);
    _cleanup_(batch_unref) struct batch *stays = batch_of(number_schema, noise);
    for (size_t c = 1; c < ARRAY_SIZE(compressions); c++) {
        assert_true(body_bytes(text_schema, shrinks, compressions[c]) < 10000);
        /* The prefix, and the values as they are. */
        assert_int_equal(body_bytes(number_schema, stays, compressions[c]), 8 + 8000);
    }
}

static void buffers_of_an_aligned_body_are_used_in_place(void **state)
{
    struct data_type type = type_of(TYPE_INT64);
    uint64_t random = 9;
    _cleanup_(schema_unref) struct schema *schema = one_column(&type);
    _cleanup_(array_unref) struct array *column = sample_array(&random, &type, 100, TYPE_NULL);
    _cleanup_(batch_unref) struct batch *batch = batch_of(schema, column);
    _cleanup_(buffer_unref) struct buffer *aligned = ipc_sample_stream(schema, &batch, 1, IPC_UNCOMPRESSED);
    _cleanup_(buffer_unref) struct buffer *room = NULL, *shifted = NULL;
    assert_ok(buffer_new(aligned->size + 1, &room));
    memcpy(room->data + 1, aligned->data, aligned->size);
    assert_ok(buffer_wrap(room->data + 1, aligned->size, NULL, NULL, &shifted));
    shifted->release = (void (*)(void *))buffer_unref;
    shifted->owner = TAKE(room);

    _cleanup_(ipc_decoded_reset) struct ipc_decoded in_place = {0}, copied = {0};
    assert_ok(ipc_decode_stream(aligned, &in_place));
    const uint8_t *values = in_place.batches.items[0]->columns[0]->values->data;
    assert_true(values > aligned->data && values < aligned->data + aligned->size);
    assert_same_rows(batch, in_place.batches.items[0]);
    assert_ok(ipc_decode_stream(shifted, &copied));
    assert_int_equal((uintptr_t)copied.batches.items[0]->columns[0]->values->data % 8, 0);
    assert_same_rows(batch, copied.batches.items[0]);
}

static void a_batch_outlives_its_decoder_and_the_stream(void **state)
{
    uint64_t random = 10;
    _cleanup_(schema_unref) struct schema *schema = ipc_sample_schema();
    _cleanup_(batch_unref) struct batch *batch = ipc_sample_batch(&random, schema, 20);
    struct buffer *stream = ipc_sample_stream(schema, &batch, 1, IPC_UNCOMPRESSED);
    _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
    assert_ok(ipc_decode_stream(stream, &decoded));
    buffer_unref(stream);
    assert_same_rows(batch, decoded.batches.items[0]);
}

static void rows_without_columns_are_counted(void **state)
{
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    assert_ok(schema_new(NULL, 0, &schema));
    assert_ok(batch_new(schema, NULL, 12, &batch));
    _cleanup_(buffer_unref) struct buffer *stream = ipc_sample_stream(schema, &batch, 1, IPC_ZSTD);
    _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
    assert_ok(ipc_decode_stream(stream, &decoded));
    assert_int_equal(decoded.batches.items[0]->rows, 12);
}

static void a_stream_may_end_without_its_marker(void **state)
{
    _cleanup_(schema_unref) struct schema *schema = ipc_sample_schema();
    _cleanup_(buffer_unref) struct buffer *stream = ipc_sample_stream(schema, NULL, 0, IPC_UNCOMPRESSED);
    stream->size -= 8;
    _cleanup_(ipc_decoded_reset) struct ipc_decoded decoded = {0};
    assert_ok(ipc_decode_stream(stream, &decoded));
    assert_true(schema_equal(decoded.schema, schema));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flat_type_comes_back_with_its_nulls),
        cmocka_unit_test(slices_and_selected_rows_are_sent_without_the_others),
        cmocka_unit_test(a_dictionary_is_sent_once_and_again_when_it_changes),
        cmocka_unit_test(columns_are_sent_in_the_encoding_of_the_schema),
        cmocka_unit_test(a_batch_of_another_schema_is_refused),
        cmocka_unit_test(a_few_views_do_not_send_the_data_of_all),
        cmocka_unit_test(compression_shrinks_what_can_shrink_and_leaves_the_rest),
        cmocka_unit_test(buffers_of_an_aligned_body_are_used_in_place),
        cmocka_unit_test(a_batch_outlives_its_decoder_and_the_stream),
        cmocka_unit_test(rows_without_columns_are_counted),
        cmocka_unit_test(a_stream_may_end_without_its_marker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
