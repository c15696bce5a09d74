/*
 * Base64 with the standard alphabet (RFC 4648, section 4), as binary gRPC metadata is written.
 */
#ifndef KITH_NET_BASE64_H
#define KITH_NET_BASE64_H

#include "base/strbuf.h"

/* Appends the text without padding. */
kith_error *base64_encode(struct str bytes, struct strbuf *out) _must_check_;

/* Appends the bytes; padding may be there or not. PROTOCOL when `text` is not base64. */
kith_error *base64_decode(struct str text, struct strbuf *out) _must_check_;

#endif
