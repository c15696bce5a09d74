#include "net/http2_output.h"

#include <string.h>

bool http2_output_is_full(const struct http2_output *output)
{
    /* Room for one more data frame (header and pieces) and one control frame. */
    return output->bytes >= HTTP2_OUTPUT_BYTES || output->piece_count + HTTP2_FRAME_PIECES + 2 > HTTP2_OUTPUT_PIECES ||
           output->scratch_used + 2 * HTTP2_CONTROL_BYTES > HTTP2_SCRATCH_BYTES;
}

void http2_output_copy(struct http2_output *output, const uint8_t *bytes, size_t size)
{
    ASSERT(size <= HTTP2_SCRATCH_BYTES - output->scratch_used);
    uint8_t *at = output->scratch + output->scratch_used;
    memcpy(at, bytes, size);
    output->scratch_used += size;
    output->bytes += size;

    struct iovec *last = output->piece_count == 0 ? NULL : &output->pieces[output->piece_count - 1];
    if (last != NULL && (uint8_t *)last->iov_base + last->iov_len == at) {
        last->iov_len += size;
        return;
    }
    ASSERT(output->piece_count < HTTP2_OUTPUT_PIECES);
    output->pieces[output->piece_count++] = (struct iovec){at, size};
}

void http2_output_refer(struct http2_output *output, const uint8_t *bytes, size_t size, struct buffer *owner)
{
    ASSERT(output->piece_count < HTTP2_OUTPUT_PIECES && output->held_count < HTTP2_OUTPUT_PIECES);
    output->pieces[output->piece_count++] = (struct iovec){(void *)(uintptr_t)bytes, size};
    output->held[output->held_count++] = buffer_ref(owner);
    output->bytes += size;
}

void http2_output_clear(struct http2_output *output)
{
    for (size_t i = 0; i < output->held_count; i++)
        buffer_unref(output->held[i]);
    output->piece_count = output->held_count = 0;
    output->bytes = output->scratch_used = 0;
}
