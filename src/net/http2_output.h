/*
 * What one write of a connection is made of: control frames and frame headers, copied into a scratch area, and data,
 * which stays where it is and is kept by reference until it is written. All storage is there from the start, so
 * that adding cannot fail; whoever adds stops at `http2_output_is_full`.
 */
#ifndef KITH_NET_HTTP2_OUTPUT_H
#define KITH_NET_HTTP2_OUTPUT_H

#include "columnar/buffer.h"

#include <stdbool.h>
#include <sys/uio.h>

enum {
    HTTP2_OUTPUT_PIECES = 1024,
    /* Pieces that one data frame may consist of. */
    HTTP2_FRAME_PIECES = 128,
    /* A write is sent once it has so many bytes: large enough to make system calls rare, small enough that a control
     * frame does not wait long behind data. */
    HTTP2_OUTPUT_BYTES = 256 * 1024,
    HTTP2_SCRATCH_BYTES = 64 * 1024,
    /* nghttp2 hands control frames out in pieces of at most 16 KiB and a header. */
    HTTP2_CONTROL_BYTES = 17 * 1024,
};

struct http2_output {
    size_t piece_count;
    size_t held_count;
    size_t bytes;
    size_t scratch_used;
    struct iovec pieces[HTTP2_OUTPUT_PIECES];
    struct buffer *held[HTTP2_OUTPUT_PIECES];
    uint8_t scratch[HTTP2_SCRATCH_BYTES];
};

bool http2_output_is_full(const struct http2_output *output);

/* Copies at most HTTP2_CONTROL_BYTES. */
void http2_output_copy(struct http2_output *output, const uint8_t *bytes, size_t size);

/* Refers to the bytes; `owner` gets a reference until the output is cleared. */
void http2_output_refer(struct http2_output *output, const uint8_t *bytes, size_t size, struct buffer *owner);

void http2_output_clear(struct http2_output *output);

#endif
