/*
 * A list of header fields, HTTP/2's and gRPC's metadata alike, in order, names in lower case and possibly repeated.
 * All text lives in one allocation, so a block costs two however many fields it has. Sizes are counted as
 * HTTP/2 counts them (RFC 9113, 6.5.2: name + value + 32 a field) and refused above a limit.
 */
#ifndef KITH_NET_HEADERS_H
#define KITH_NET_HEADERS_H

#include "base/strbuf.h"
#include "base/vec.h"

struct header_span {
    size_t name; /* offsets into `text` */
    size_t name_length;
    size_t value;
    size_t value_length;
};

/* Zero-initialised is empty and ready. */
struct headers {
    VEC(struct header_span) spans;
    struct strbuf text;
    size_t size;  /* as HTTP/2 counts */
    size_t limit; /* 0 = LIMIT_GRPC_HEADER_BYTES */
};

/* Copies both. LIMIT when the block would grow past its limit; then it is unchanged. */
kith_error *headers_add(struct headers *headers, struct str name, struct str value) _must_check_;
kith_error *headers_add_text(struct headers *headers, const char *name, const char *value) _must_check_;
kith_error *headers_append(struct headers *headers, const struct headers *other) _must_check_;

/* The i-th field; valid until the block changes. */
struct str headers_name(const struct headers *headers, size_t i);
struct str headers_value(const struct headers *headers, size_t i);

/* The first field of that name. */
bool headers_find(const struct headers *headers, const char *name, struct str *out_value);

void headers_reset(struct headers *headers);
DEFINE_VALUE_CLEANUP(headers_reset, struct headers)

#endif
