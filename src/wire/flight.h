/*
 * Record batches as Arrow Flight's FlightData messages: data_header = 2 (the IPC message), app_metadata = 3, data_body
 * = 1000. Bodies are neither copied on the way out nor on the way in: encoding gives a short head and the body by
 * reference, decoding gives slices of the received buffer.
 */
#ifndef KITH_WIRE_FLIGHT_H
#define KITH_WIRE_FLIGHT_H

#include "base/strbuf.h"
#include "columnar/ipc.h"

/* FlightAppMetadata of datafusion-distributed: which partition of the task the message belongs to. */
struct flight_metadata {
    uint64_t partition;          /* field 1 */
    uint64_t created_unix_nanos; /* field 2 */
};

/* Appends everything of the message but the body's bytes, which follow it on the wire as the last field. */
kith_error *flight_encode_head(const struct ipc_message *message, const struct flight_metadata *metadata,
                               struct strbuf *out) _must_check_;

/* `message` holds one FlightData; *out's buffers share it. */
kith_error *flight_decode(struct buffer *message, struct ipc_message *out,
                          struct flight_metadata *metadata) _must_check_;

#endif
