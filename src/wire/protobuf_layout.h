/*
 * Where a field of a generated message lies and how wide its values are. Private to protobuf_read.c and
 * protobuf_write.c.
 */
#ifndef KITH_WIRE_PROTOBUF_LAYOUT_H
#define KITH_WIRE_PROTOBUF_LAYOUT_H

#include "wire/protobuf_wire.h"

#include <protobuf-c/protobuf-c.h>

/* The field itself; of a repeated one, the pointer to its elements. */
static inline void *field_place(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return (void *)((uintptr_t)message + field->offset);
}

/* The number of elements of a repeated field. */
static inline size_t *field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return (size_t *)((uintptr_t)message + field->quantifier_offset);
}

/* Which field of a oneof is there, by number; 0 = none. */
static inline uint32_t *field_choice(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return (uint32_t *)((uintptr_t)message + field->quantifier_offset);
}

static inline bool field_is_oneof(const ProtobufCFieldDescriptor *field)
{
    return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
}

/* Bytes of one value in memory. */
size_t field_width(ProtobufCType type);

/* How one value is sent. */
enum wire_type field_wire_type(ProtobufCType type);

#endif
