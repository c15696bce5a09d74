/*
 * How a call's outcome crosses: grpc-status and grpc-message, which every peer knows, and `kith-error-bin`, in
 * which one Kith tells another the whole error: a version byte, and for the error and each of its causes in turn the
 * code (4 bytes), the SQL position (8; 0 = none), and message and hint, each behind its length (4; a hint of
 * 0xFFFFFFFF is none); numbers are little-endian. Also grpc-timeout.
 */
#ifndef KITH_NET_GRPC_STATUS_H
#define KITH_NET_GRPC_STATUS_H

#include "net/headers.h"

/* grpc.io "Status codes and their use in gRPC". */
enum grpc_status {
    GRPC_OK = 0,
    GRPC_CANCELLED = 1,
    GRPC_UNKNOWN = 2,
    GRPC_INVALID_ARGUMENT = 3,
    GRPC_DEADLINE_EXCEEDED = 4,
    GRPC_NOT_FOUND = 5,
    GRPC_ALREADY_EXISTS = 6,
    GRPC_PERMISSION_DENIED = 7,
    GRPC_RESOURCE_EXHAUSTED = 8,
    GRPC_FAILED_PRECONDITION = 9,
    GRPC_ABORTED = 10,
    GRPC_OUT_OF_RANGE = 11,
    GRPC_UNIMPLEMENTED = 12,
    GRPC_INTERNAL = 13,
    GRPC_UNAVAILABLE = 14,
    GRPC_DATA_LOSS = 15,
    GRPC_UNAUTHENTICATED = 16,
};

enum grpc_status grpc_status_of(enum kith_code code);
enum kith_code grpc_status_code(unsigned status);

/* Adds the trailers for `error`; NULL is OK. */
kith_error *grpc_status_write(const kith_error *error, struct headers *trailers) _must_check_;

/* The error that trailers stand for, NULL for OK. `peer` is for messages. Trailers without grpc-status are judged by
 * `http_status` (0 = unknown). */
kith_error *grpc_status_read(const struct headers *trailers, unsigned http_status, const char *peer) _must_check_;

/* "1500m": the time left, at most eight digits, rounded up; the least is "1n". */
void grpc_timeout_write(int64_t left_ns, char out[16]);

/* PROTOCOL when it is not a grpc-timeout. Longer than int64 can hold is cut. */
kith_error *grpc_timeout_read(struct str text, int64_t *out_ns) _must_check_;

#endif
