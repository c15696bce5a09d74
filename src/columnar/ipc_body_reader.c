#include "columnar/ipc_body_reader.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "columnar/ipc_format.h"
#include "columnar/ipc_message.h"

/* What arrays promise of the addresses of their values and offsets; bitmaps and bytes may lie anywhere. */
enum { VALUE_ALIGNMENT = 8, ANY_ALIGNMENT = 1 };

static kith_error *read_compression(const struct flatbuf_table *record_batch, enum ipc_compression *out)
{
    struct flatbuf_table compression;
    int64_t codec, method;
    *out = IPC_UNCOMPRESSED;
    TRY(flatbuf_read_table(record_batch, RECORD_BATCH_COMPRESSION, &compression));
    if (compression.bytes == NULL)
        return NULL;
    TRY(flatbuf_read_int(&compression, COMPRESSION_CODEC, 1, CODEC_LZ4_FRAME, &codec));
    TRY(flatbuf_read_int(&compression, COMPRESSION_METHOD, 1, 0, &method));
    if (method != 0 || (codec != CODEC_LZ4_FRAME && codec != CODEC_ZSTD))
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "Arrow body compression with codec %lld, method %lld",
                         (long long)codec, (long long)method);
    *out = codec == CODEC_ZSTD ? IPC_ZSTD : IPC_LZ4_FRAME;
    return NULL;
}

kith_error *ipc_body_open(const struct flatbuf_table *record_batch, struct buffer *body,
                          struct ipc_decompressor *decompressor, struct ipc_body_reader *out)
{
    *out = (struct ipc_body_reader){.body = body, .decompressor = decompressor};
    int64_t rows;
    TRY(flatbuf_read_int(record_batch, RECORD_BATCH_LENGTH, 8, 0, &rows));
    if (rows < 0)
        return error_new(KITH_ERROR_CORRUPT, "batch of %lld rows", (long long)rows);
    if (rows > LIMIT_IPC_BATCH_ROWS)
        return error_new(KITH_ERROR_LIMIT, "batch of %lld rows, more than IPC_BATCH_ROWS (%d)", (long long)rows,
                         LIMIT_IPC_BATCH_ROWS);
    out->rows = (size_t)rows;
    TRY(flatbuf_read_vector(record_batch, RECORD_BATCH_NODES, PAIR_BYTES, &out->nodes));
    TRY(flatbuf_read_vector(record_batch, RECORD_BATCH_BUFFERS, PAIR_BYTES, &out->buffers));
    TRY(flatbuf_read_vector(record_batch, RECORD_BATCH_VARIADIC_COUNTS, sizeof(int64_t), &out->variadic_counts));
    return read_compression(record_batch, &out->compression);
}

kith_error *ipc_body_end(const struct ipc_body_reader *reader)
{
    if (reader->next_node != reader->nodes.count || reader->next_buffer != reader->buffers.count ||
        reader->next_variadic_count != reader->variadic_counts.count)
        return error_new(KITH_ERROR_CORRUPT, "batch has %zu nodes and %zu buffers, where its schema has %zu and %zu",
                         reader->nodes.count, reader->buffers.count, reader->next_node, reader->next_buffer);
    return NULL;
}

/* Part of the body, shared when its address suits values of `alignment` bytes. */
static kith_error *part_of_body(const struct ipc_body_reader *reader, size_t offset, size_t length, size_t alignment,
                                struct buffer **out)
{
    if (length > 0 && (uintptr_t)(reader->body->data + offset) % alignment == 0)
        return buffer_view(reader->body, offset, length, out);
    TRY(buffer_new(length, out));
    if (length > 0)
        memcpy((*out)->data, reader->body->data + offset, length);
    return NULL;
}

static kith_error *decompressed_part(struct ipc_body_reader *reader, size_t offset, size_t length, size_t alignment,
                                     struct buffer **out)
{
    int64_t size;
    if (length < IPC_COMPRESS_PREFIX_BYTES)
        return error_new(KITH_ERROR_CORRUPT, "compressed buffer of %zu bytes, too short for its prefix", length);
    const uint8_t *prefix = reader->body->data + offset;
    memcpy(&size, prefix, sizeof size);
    offset += IPC_COMPRESS_PREFIX_BYTES;
    length -= IPC_COMPRESS_PREFIX_BYTES;
    if (size == IPC_NOT_COMPRESSED)
        return part_of_body(reader, offset, length, alignment, out);
    if (size < 0)
        return error_new(KITH_ERROR_CORRUPT, "compressed buffer declares a size of %lld bytes", (long long)size);
    if (size > (int64_t)(LIMIT_IPC_DECOMPRESSED_BYTES - reader->decompressed))
        return error_new(KITH_ERROR_LIMIT,
                         "compressed buffers of a batch expand to more than IPC_DECOMPRESSED_BYTES (%d)",
                         LIMIT_IPC_DECOMPRESSED_BYTES);
    reader->decompressed += (size_t)size;
    return ipc_decompress(reader->decompressor, reader->compression, reader->body->data + offset, length, (size_t)size,
                          out);
}

/* Where the next buffer lies in the body. */
static kith_error *next_range(struct ipc_body_reader *reader, size_t *out_offset, size_t *out_length)
{
    if (reader->next_buffer == reader->buffers.count)
        return error_new(KITH_ERROR_CORRUPT, "batch has only %zu buffers", reader->buffers.count);
    size_t i = reader->next_buffer++;
    int64_t offset = flatbuf_vector_int64(&reader->buffers, i, PAIR_FIRST);
    int64_t length = flatbuf_vector_int64(&reader->buffers, i, PAIR_SECOND);
    int64_t size = reader->body == NULL ? 0 : (int64_t)reader->body->size;
    if (length < 0 || (length > 0 && (offset < 0 || offset > size || length > size - offset)))
        return error_new(KITH_ERROR_CORRUPT, "buffer %zu (%lld bytes at %lld) lies outside the body of %lld bytes", i,
                         (long long)length, (long long)offset, (long long)size);
    *out_offset = (size_t)offset;
    *out_length = (size_t)length;
    return NULL;
}

static kith_error *next_buffer(struct ipc_body_reader *reader, size_t alignment, struct buffer **out)
{
    size_t offset, length;
    TRY(next_range(reader, &offset, &length));
    if (length > 0 && reader->compression != IPC_UNCOMPRESSED)
        return error_wrap(decompressed_part(reader, offset, length, alignment, out), "buffer %zu",
                          reader->next_buffer - 1);
    return part_of_body(reader, offset, length, alignment, out);
}

/* Checks the array's node, and reads its validity when it has nulls. */
static kith_error *read_node(struct ipc_body_reader *reader, struct array *array)
{
    if (reader->next_node == reader->nodes.count)
        return error_new(KITH_ERROR_CORRUPT, "batch has only %zu nodes", reader->nodes.count);
    int64_t length = flatbuf_vector_int64(&reader->nodes, reader->next_node, PAIR_FIRST);
    int64_t nulls = flatbuf_vector_int64(&reader->nodes, reader->next_node, PAIR_SECOND);
    reader->next_node++;
    if (length < 0 || (size_t)length != reader->rows)
        return error_new(KITH_ERROR_CORRUPT, "column of %lld rows in a batch of %zu", (long long)length, reader->rows);
    if (nulls < 0 || nulls > length)
        return error_new(KITH_ERROR_CORRUPT, "%lld nulls in %lld rows", (long long)nulls, (long long)length);
    array->null_count = -1;
    if (array->type.id == TYPE_NULL && !type_is_dictionary(&array->type))
        return NULL;
    if (nulls == 0) {
        size_t unused_offset, unused_length;
        return next_range(reader, &unused_offset, &unused_length);
    }
    TRY(next_buffer(reader, ANY_ALIGNMENT, &array->validity));
    if (array->validity->size < bitmap_bytes(array->length))
        return error_new(KITH_ERROR_CORRUPT, "validity of %zu bytes for %zu rows", array->validity->size,
                         array->length);
    return NULL;
}

static kith_error *read_strings(struct ipc_body_reader *reader, struct array *array, size_t offset_width)
{
    TRY(next_buffer(reader, VALUE_ALIGNMENT, &array->offsets));
    if (array->length == 0 && array->offsets->size == 0) {
        /* Writers before format 1.0 leave out the single offset of an empty array. */
        buffer_unref(TAKE(array->offsets));
        TRY(buffer_new_zeroed(offset_width, &array->offsets));
    }
    return next_buffer(reader, ANY_ALIGNMENT, &array->data);
}

static kith_error *read_views(struct ipc_body_reader *reader, struct array *array)
{
    TRY(next_buffer(reader, VALUE_ALIGNMENT, &array->values));
    if (reader->next_variadic_count == reader->variadic_counts.count)
        return error_new(KITH_ERROR_CORRUPT, "view column without a count of its data buffers");
    int64_t count = flatbuf_vector_int64(&reader->variadic_counts, reader->next_variadic_count++, 0);
    size_t left = reader->buffers.count - reader->next_buffer;
    if (count < 0 || (size_t)count > left)
        return error_new(KITH_ERROR_CORRUPT, "view column of %lld data buffers, where %zu are left", (long long)count,
                         left);
    TRY(NEW_ARRAY(&array->variadic, (size_t)count));
    while (array->variadic_count < (size_t)count) {
        TRY(next_buffer(reader, ANY_ALIGNMENT, &array->variadic[array->variadic_count]));
        array->variadic_count++;
    }
    return NULL;
}

static kith_error *read_buffers(struct ipc_body_reader *reader, struct array *array)
{
    switch (type_layout(&array->type)) {
    case LAYOUT_NULL:
        return NULL;
    case LAYOUT_BITS:
    case LAYOUT_FIXED:
        return next_buffer(reader, VALUE_ALIGNMENT, &array->values);
    case LAYOUT_OFFSETS32:
        return read_strings(reader, array, sizeof(int32_t));
    case LAYOUT_OFFSETS64:
        return read_strings(reader, array, sizeof(int64_t));
    case LAYOUT_VIEW:
        return read_views(reader, array);
    case LAYOUT_LIST:
    case LAYOUT_STRUCT:
        break;
    }
    UNREACHABLE();
}

kith_error *ipc_body_next(struct ipc_body_reader *reader, const struct data_type *type, struct array **out)
{
    _cleanup_(array_unref) struct array *array = NULL;
    TRY(array_new(type, reader->rows, &array));
    TRY(read_node(reader, array));
    TRY(read_buffers(reader, array));
    *out = TAKE(array);
    return NULL;
}
