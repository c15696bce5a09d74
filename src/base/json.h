/*
 * JSON text (RFC 8259), written piece by piece: indented, so that people can read it, and always one document. Bytes of
 * a text that are not UTF-8 become U+FFFD. Keeps no more than the depth; what is written goes to the caller's buffer.
 *
 * Members of an object have a key; elements of an array have none (NULL). Pairs begin and end is the caller's to see
 * to.
 */
#ifndef KITH_BASE_JSON_H
#define KITH_BASE_JSON_H

#include "base/strbuf.h"

struct json_writer {
    struct strbuf *out;
    size_t depth;
    bool has_members; /* the innermost object or array */
};

static inline struct json_writer json_writer_make(struct strbuf *out)
{
    return (struct json_writer){.out = out};
}

kith_error *json_begin_object(struct json_writer *writer, const char *key) _must_check_;
kith_error *json_end_object(struct json_writer *writer) _must_check_;
kith_error *json_begin_array(struct json_writer *writer, const char *key) _must_check_;
kith_error *json_end_array(struct json_writer *writer) _must_check_;

kith_error *json_text(struct json_writer *writer, const char *key, const char *value) _must_check_;
kith_error *json_integer(struct json_writer *writer, const char *key, int64_t value) _must_check_;
kith_error *json_count(struct json_writer *writer, const char *key, uint64_t value) _must_check_;
kith_error *json_bool(struct json_writer *writer, const char *key, bool value) _must_check_;

#endif
