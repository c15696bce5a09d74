/*
 * The table Message around every header of Arrow's IPC format. For the IPC files only.
 */
#ifndef KITH_COLUMNAR_IPC_MESSAGE_H
#define KITH_COLUMNAR_IPC_MESSAGE_H

#include "columnar/flatbuf_reader.h"
#include "columnar/flatbuf_writer.h"
#include "columnar/ipc.h"
#include "columnar/ipc_format.h"

/* What was read of a Message; the header's table is not looked at. */
struct ipc_header {
    int64_t type; /* enum message_header, or a number that this version of the format does not have */
    struct flatbuf_table table;
    size_t body_length;
};

/* Ends the flatbuffer that `writer` holds with a Message around `header`; out->metadata is a new buffer. `take_body`
 * may be NULL, and becomes the message's on success. */
kith_error *ipc_message_finish(struct flatbuf_writer *writer, enum message_header type, flatbuf_ref header,
                               struct buffer *take_body, struct ipc_message *out) _must_check_;

/* Checks the version: V4 and V5 are read. The header points into `metadata`. */
kith_error *ipc_message_open(const struct buffer *metadata, struct ipc_header *out) _must_check_;

#endif
