/*
 * Writes arrays as the body of a record batch or dictionary batch. Arrays are added first, which only notes the pieces
 * that their buffers will be made of; then the body is allocated once and each piece is written to its
 * place: copied, shifted to a byte boundary, or its offsets counted from zero when the array is a slice. For the IPC
 * files only.
 */
#ifndef KITH_COLUMNAR_IPC_BODY_H
#define KITH_COLUMNAR_IPC_BODY_H

#include "base/vec.h"
#include "columnar/array.h"
#include "columnar/ipc_compress.h"

/* Both lie in metadata as they lie here (format/Message.fbs, FieldNode; format/Schema.fbs, Buffer). */
struct ipc_node {
    int64_t length;
    int64_t null_count;
};
struct ipc_buffer {
    int64_t offset;
    int64_t length;
};

struct ipc_piece;

/* Zero-initialised is empty and ready. */
struct ipc_body {
    VEC(struct ipc_node) nodes;
    VEC(struct ipc_piece) pieces;
    VEC(struct ipc_buffer) buffers; /* once written: one for each piece */
    VEC(int64_t) variadic_counts;   /* one for each array of a view type */
};

/* `array` is borrowed until the body is written. Nested types are NOT_IMPLEMENTED. */
kith_error *ipc_body_add(struct ipc_body *body, const struct array *array) _must_check_;

/* `compressor` NULL: not compressed. `*out` is NULL when nothing needs bytes. */
kith_error *ipc_body_write(struct ipc_body *body, struct ipc_compressor *compressor, struct buffer **out) _must_check_;

/* Empty again, memory kept. */
void ipc_body_restart(struct ipc_body *body);
void ipc_body_reset(struct ipc_body *body);
DEFINE_VALUE_CLEANUP(ipc_body_reset, struct ipc_body)

#endif
