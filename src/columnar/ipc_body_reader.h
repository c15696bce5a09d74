/*
 * Reads arrays from the body of a record batch or dictionary batch, in the order of the schema. Nothing is believed: a
 * buffer must lie within the body, sizes are checked before memory is taken for them. What the buffers
 * hold is for array_validate to check. Buffers share the body unless they are compressed or not aligned for their type.
 * For the IPC files only.
 */
#ifndef KITH_COLUMNAR_IPC_BODY_READER_H
#define KITH_COLUMNAR_IPC_BODY_READER_H

#include "columnar/array.h"
#include "columnar/flatbuf_reader.h"
#include "columnar/ipc_compress.h"

struct ipc_body_reader {
    struct buffer *body; /* borrowed; NULL = empty */
    struct ipc_decompressor *decompressor;
    enum ipc_compression compression;
    size_t rows;
    struct flatbuf_vector nodes, buffers, variadic_counts;
    size_t next_node, next_buffer, next_variadic_count;
    size_t decompressed; /* bytes so far, against the limit */
};

/* `record_batch` is the table RecordBatch; all arguments are borrowed while the reader is used. */
kith_error *ipc_body_open(const struct flatbuf_table *record_batch, struct buffer *body,
                          struct ipc_decompressor *decompressor, struct ipc_body_reader *out) _must_check_;

/* The next array, of `type`, which is not nested; of a dictionary-encoded one the indices, to which the caller adds the
 * dictionary. */
kith_error *ipc_body_next(struct ipc_body_reader *reader, const struct data_type *type,
                          struct array **out) _must_check_;

/* CORRUPT when the metadata describes more than was read. */
kith_error *ipc_body_end(const struct ipc_body_reader *reader) _must_check_;

#endif
