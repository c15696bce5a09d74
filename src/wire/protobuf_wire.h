/*
 * The tokens of protobuf's wire format, read from untrusted bytes: varints, tags and lengths, each checked against the
 * end and reported with its place. Private to this folder.
 */
#ifndef KITH_WIRE_PROTOBUF_WIRE_H
#define KITH_WIRE_PROTOBUF_WIRE_H

#include "base/strbuf.h"

#include <stdint.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_cursor {
    const uint8_t *start; /* of the outermost message, for places in errors */
    const uint8_t *position;
    const uint8_t *end;
};

static inline struct wire_cursor wire_cursor_over(struct str bytes)
{
    /* No bytes may come as NULL, to which C lets nothing be added, not even 0. */
    const uint8_t *start = (const uint8_t *)(bytes.data == NULL ? "" : bytes.data);
    return (struct wire_cursor){start, start, start + bytes.length};
}

kith_error *wire_read_varint(struct wire_cursor *cursor, uint64_t *out) _must_check_;
/* A field's number and one of the wire types above. */
kith_error *wire_read_tag(struct wire_cursor *cursor, uint32_t *number, enum wire_type *type) _must_check_;
/* A length and as many bytes, borrowed. */
kith_error *wire_read_bytes(struct wire_cursor *cursor, struct str *out) _must_check_;
kith_error *wire_read_fixed32(struct wire_cursor *cursor, uint32_t *out) _must_check_;
kith_error *wire_read_fixed64(struct wire_cursor *cursor, uint64_t *out) _must_check_;
kith_error *wire_skip(struct wire_cursor *cursor, enum wire_type type) _must_check_;

/* CORRUPT with the place. */
kith_error *wire_corrupt(const struct wire_cursor *cursor, const char *format, ...)
    _printf_(2, 3) _must_check_ _never_null_;

enum { WIRE_VARINT_BYTES = 10 };
/* Writes at most WIRE_VARINT_BYTES bytes; gives how many. */
size_t wire_put_varint(uint8_t *out, uint64_t value);

static inline uint64_t wire_tag(uint32_t number, enum wire_type type)
{
    return (uint64_t)number << 3 | type;
}

#endif
