/*
 * Reads FlatBuffers (https://flatbuffers.dev/internals) that nobody vouches for, without generated code: a table
 * is a position whose vtable was checked, and every access checks that what it touches lies within the bytes. Nothing
 * is walked ahead, so a cycle or a shared table costs nothing until a caller follows it: whoever descends limits depth
 * and count. Borrows the bytes and allocates nothing; any alignment will do.
 *
 * Faults are CORRUPT with the byte position.
 */
#ifndef KITH_COLUMNAR_FLATBUF_READER_H
#define KITH_COLUMNAR_FLATBUF_READER_H

#include "base/strbuf.h"

#include <stdint.h>

struct flatbuf_table {
    const uint8_t *bytes; /* the whole flatbuffer; NULL = the table is absent */
    size_t size;
    size_t position;
    size_t vtable;
    size_t vtable_size;
    size_t table_size;
};

struct flatbuf_vector {
    const uint8_t *bytes; /* the whole flatbuffer */
    size_t size;
    size_t position; /* of element 0 */
    size_t count;    /* 0 also when the vector is absent */
    size_t element_size;
};

kith_error *flatbuf_read_root(const void *bytes, size_t size, struct flatbuf_table *out) _must_check_;

/* A signed integer (or bool, enum, union tag) of 1, 2, 4 or 8 bytes; `absent` when the table does not have it. */
kith_error *flatbuf_read_int(const struct flatbuf_table *table, unsigned field, size_t width, int64_t absent,
                             int64_t *out) _must_check_;
/* out->bytes is NULL when absent. */
kith_error *flatbuf_read_table(const struct flatbuf_table *table, unsigned field,
                               struct flatbuf_table *out) _must_check_;
/* out->data is NULL when absent. May contain any byte, NUL included. */
kith_error *flatbuf_read_string(const struct flatbuf_table *table, unsigned field, struct str *out) _must_check_;
/* Elements are integers, structs, or offsets of tables (then `element_size` is 4). */
kith_error *flatbuf_read_vector(const struct flatbuf_table *table, unsigned field, size_t element_size,
                                struct flatbuf_vector *out) _must_check_;

/* Table i, i < count, of a vector of tables. */
kith_error *flatbuf_vector_table(const struct flatbuf_vector *vector, size_t i, struct flatbuf_table *out) _must_check_;
/* The eight bytes at `byte` within element i, both in range. */
int64_t flatbuf_vector_int64(const struct flatbuf_vector *vector, size_t i, size_t byte);

#endif
