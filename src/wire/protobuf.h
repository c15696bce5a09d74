/*
 * Messages of proto3 from and to bytes, driven by the descriptors that protoc-c generates from proto/. It stands in for
 * protobuf_c_message_unpack and _pack, which recurse once a level: an expression that SQL may hold (SQL_NESTING) would
 * overrun a fiber's stack. Here levels are kept on the heap, up to PLAN_DEPTH of them.
 *
 * Reading treats every byte as hostile: CORRUPT, with the place, for anything that is not well-formed, that has another
 * wire type than its field, for text that is not UTF-8 or holds a NUL, and for a message given twice where one
 * belongs. Enumerations are open: whoever looks at one must refuse the values that it does not know.
 */
#ifndef KITH_WIRE_PROTOBUF_H
#define KITH_WIRE_PROTOBUF_H

#include "base/arena.h"
#include "base/strbuf.h"

#include <protobuf-c/protobuf-c.h>

/* Kith's additions to messages of other projects have numbers from here. */
enum { PROTOBUF_FIRST_ADDITION = 100 };

/* What becomes of a field that the descriptor does not have. */
enum protobuf_unknown {
    PROTOBUF_REFUSE_UNKNOWN,      /* NOT_IMPLEMENTED, with message and number */
    PROTOBUF_READ_OVER_ADDITIONS, /* those from PROTOBUF_FIRST_ADDITION are read over, others refused */
};

/* *out is a message of `type` in `arena`; fields of type bytes borrow from `bytes`. LIMIT for more than PLAN_DEPTH
 * levels, and whatever the arena refuses. */
kith_error *protobuf_read(const ProtobufCMessageDescriptor *type, struct str bytes, enum protobuf_unknown unknown,
                          struct arena *arena, void *out_message) _must_check_;

/* Appends the message's bytes: fields in the order of their numbers, as every encoder of protobuf writes them. */
kith_error *protobuf_write(const ProtobufCMessage *message, struct strbuf *out) _must_check_;

/* The name of field `number`, for errors: what a oneof's case stands for. */
const char *protobuf_field_name(const ProtobufCMessageDescriptor *type, unsigned number);

/* A message of a generated type in `arena`, fields at their defaults. */
kith_error *protobuf_new(struct arena *arena, const ProtobufCMessageDescriptor *type, void *out_message) _must_check_;

#endif
