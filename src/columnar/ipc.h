/*
 * Arrow IPC encapsulated messages (written as format version V5, read from V4 on): schema, record batch and dictionary
 * batch as metadata (a flatbuffer) plus body. Used for Flight data between processes and for streams of files. Bodies
 * may be compressed per buffer with LZ4 frames or zstd. Every byte read is treated as hostile: the flatbuffer is walked
 * with bounds checks, buffers are checked against the body, decompressed sizes against a limit, and arrays by
 * array_validate.
 *
 * Dictionary-encoded columns are sent as dictionary batches: all dictionaries of a batch precede it, and one is sent
 * again only when the column's dictionary is another object than last time. Deltas are read, not written.
 *
 * Refused as NOT_IMPLEMENTED: big-endian streams, types that type.h does not have, and batches with columns of nested
 * types (their schemas are read and written). Metadata of schemas and fields is kept, but for values with a NUL byte.
 */
#ifndef KITH_COLUMNAR_IPC_H
#define KITH_COLUMNAR_IPC_H

#include "columnar/batch.h"

enum ipc_compression { IPC_UNCOMPRESSED, IPC_LZ4_FRAME, IPC_ZSTD };

/* One message: the flatbuffer `Message` without its length prefix, and the body padded to 8 bytes. Owned. */
struct ipc_message {
    struct buffer *metadata;
    struct buffer *body; /* NULL = empty */
};
void ipc_message_reset(struct ipc_message *message);
DEFINE_VALUE_CLEANUP(ipc_message_reset, struct ipc_message)

/* Encodes one stream. Belongs to one fiber. */
struct ipc_encoder;
kith_error *ipc_encoder_new(struct schema *schema, enum ipc_compression compression,
                            struct ipc_encoder **out) _must_check_;
void ipc_encoder_free(struct ipc_encoder *encoder);
DEFINE_CLEANUP(ipc_encoder_free, struct ipc_encoder)
kith_error *ipc_encode_schema(struct ipc_encoder *encoder, struct ipc_message *out) _must_check_;
/* Queues the dictionary batches that are due and then the record batch (selection applied); call ipc_encoder_next
 * until it gives an empty message (metadata NULL). */
kith_error *ipc_encode_batch(struct ipc_encoder *encoder, struct batch *batch) _must_check_;
kith_error *ipc_encoder_next(struct ipc_encoder *encoder, struct ipc_message *out) _must_check_;

/* Decodes one stream. Belongs to one fiber. */
struct ipc_decoder;
kith_error *ipc_decoder_new(struct ipc_decoder **out) _must_check_;
void ipc_decoder_free(struct ipc_decoder *decoder);
DEFINE_CLEANUP(ipc_decoder_free, struct ipc_decoder)
/* The schema once its message was decoded, else NULL; borrowed. */
struct schema *ipc_decoder_schema(const struct ipc_decoder *decoder);
/* *out is the batch of a record batch message, NULL for schema and dictionary messages. References to the body are kept
 * by the batch (zero-copy when not compressed); buffers in the body have other bytes behind them, or none, where those
 * of buffer_new have room. CORRUPT for bytes that are not what they should be, and then the decoder may not be used
 * again. */
kith_error *ipc_decode(struct ipc_decoder *decoder, struct buffer *metadata, struct buffer *body,
                       struct batch **out) _must_check_;

/* The streaming file format (continuation marker, length, metadata, body): appends to `out`. */
kith_error *ipc_write_message(const struct ipc_message *message, struct strbuf *out) _must_check_;
/* The end-of-stream marker. */
kith_error *ipc_write_end(struct strbuf *out) _must_check_;

/* Reads the next message of a stream in memory from *position and moves past it. *end is set at the end-of-stream
 * marker or the end of bytes. Handles the framing of format versions before 0.15 as well. */
kith_error *ipc_read_message(struct buffer *stream, size_t *position, struct ipc_message *out, bool *end) _must_check_;

#endif
