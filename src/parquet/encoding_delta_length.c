#include "parquet/encoding_delta_length.h"

kith_error *delta_length_init(struct delta_length_decoder *decoder, const uint8_t *bytes, size_t length)
{
    TRY(delta_init(&decoder->lengths, bytes, length, 32));
    decoder->end = bytes + length;
    return delta_find_end(&decoder->lengths, &decoder->at);
}

kith_error *delta_length_read(struct delta_length_decoder *decoder, size_t count, struct str *out)
{
    while (count > 0) {
        uint32_t lengths[DELTA_CHUNK];
        size_t taken = MIN(count, (size_t)DELTA_CHUNK);
        TRY(delta_read32(&decoder->lengths, taken, lengths));
        for (size_t i = 0; i < taken; i++) {
            size_t left = (size_t)(decoder->end - decoder->at);
            if (_unlikely_(lengths[i] > left)) /* a negative length, too */
                return error_new(KITH_ERROR_CORRUPT, "a byte array of length %d; %zu bytes are left",
                                 (int32_t)lengths[i], left);
            if (out != NULL)
                *out++ = (struct str){(const char *)decoder->at, lengths[i]};
            decoder->at += lengths[i];
        }
        count -= taken;
    }
    return NULL;
}
