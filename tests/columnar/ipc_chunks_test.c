/* Buffers of Arrow IPC that are far larger than batches make them are compressed and decompressed in chunks. */
#include "testing.h"

#include "columnar/ipc_compress.h"
#include "runtime/chunks.h"
#include "runtime/coop.h"

enum { SIZE = 24 * 1024 * 1024, CHUNKS = SIZE / COOP_CHUNK_BYTES / 2 };

struct transfer {
    enum ipc_compression compression;
    const uint8_t *data;
    uint8_t *frame;
    size_t length;
};

static kith_error *compress(void *argument)
{
    struct transfer *transfer = argument;
    _cleanup_(ipc_compressor_free) struct ipc_compressor *compressor = NULL;
    TRY(ipc_compressor_new(transfer->compression, &compressor));
    return ipc_compress(compressor, transfer->data, SIZE, transfer->frame, &transfer->length);
}

static kith_error *decompress(void *argument)
{
    struct transfer *transfer = argument;
    _cleanup_(ipc_decompressor_free) struct ipc_decompressor *decompressor = NULL;
    _cleanup_(buffer_unref) struct buffer *buffer = NULL;
    TRY(ipc_decompressor_new(&decompressor));
    TRY(ipc_decompress(decompressor, transfer->compression, transfer->frame + IPC_COMPRESS_PREFIX_BYTES,
                       transfer->length - IPC_COMPRESS_PREFIX_BYTES, SIZE, &buffer));
    EXPECT(memcmp(buffer->data, transfer->data, SIZE) == 0);
    return NULL;
}

static void huge_buffers_are_compressed_and_decompressed_in_chunks(void **state)
{
    const enum ipc_compression compressions[] = {IPC_ZSTD, IPC_LZ4_FRAME};
    for (size_t i = 0; i < 2 * ARRAY_SIZE(compressions); i++) {
        bool compresses = i % 2 == 0;
        uint64_t seed = 9;
        _cleanup_free_ uint8_t *data = malloc(SIZE);
        for (size_t k = 0; k < SIZE; k++)
            data[k] = compresses ? (uint8_t)("etaoin shrdlu"[test_random(&seed) % 13]) : (uint8_t)test_random(&seed);
        struct transfer transfer = {.compression = compressions[i / 2], .data = data};
        _cleanup_(ipc_compressor_free) struct ipc_compressor *compressor = NULL;
        assert_ok(ipc_compressor_new(transfer.compression, &compressor));
        _cleanup_free_ uint8_t *frame = malloc(ipc_compress_bound(compressor, SIZE));
        transfer.frame = frame;
        check_chunks(compress, &transfer, CHUNKS);
        assert_ok(compress(&transfer));
        if (compresses)
            check_chunks(decompress, &transfer, CHUNKS);
        else
            assert_memory_equal(frame + IPC_COMPRESS_PREFIX_BYTES, data, SIZE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_buffers_are_compressed_and_decompressed_in_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
