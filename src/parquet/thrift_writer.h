/*
 * Writes Thrift's compact protocol (see thrift_reader.h) to a growing buffer. Running out of memory is remembered: what
 * follows does nothing, and thrift_writer_finish gives the error. Fields of a struct are written in ascending order.
 */
#ifndef KITH_PARQUET_THRIFT_WRITER_H
#define KITH_PARQUET_THRIFT_WRITER_H

#include "parquet/thrift_reader.h"

enum { THRIFT_WRITER_DEPTH = 16 };

struct thrift_writer {
    struct strbuf *out; /* borrowed; appended to */
    kith_error *error;
    size_t depth;
    int16_t latest[THRIFT_WRITER_DEPTH]; /* the field written last, of each open struct */
};

static inline struct thrift_writer thrift_writer_make(struct strbuf *out)
{
    return (struct thrift_writer){.out = out};
}

void thrift_write_bool(struct thrift_writer *writer, int16_t id, bool value);
void thrift_write_i8(struct thrift_writer *writer, int16_t id, int8_t value);
void thrift_write_i16(struct thrift_writer *writer, int16_t id, int16_t value);
void thrift_write_i32(struct thrift_writer *writer, int16_t id, int32_t value);
void thrift_write_i64(struct thrift_writer *writer, int16_t id, int64_t value);
void thrift_write_binary(struct thrift_writer *writer, int16_t id, struct str value);

void thrift_begin_struct(struct thrift_writer *writer, int16_t id);
/* Ends a struct, be it a field or an element; also the outermost, which nothing begins. */
void thrift_end_struct(struct thrift_writer *writer);
void thrift_empty_struct(struct thrift_writer *writer, int16_t id);
/* A struct that was written before, its end included. */
void thrift_write_encoded_struct(struct thrift_writer *writer, int16_t id, struct str bytes);

/* `count` elements must follow. */
void thrift_begin_list(struct thrift_writer *writer, int16_t id, enum thrift_type element, size_t count);
void thrift_put_bool(struct thrift_writer *writer, bool value);
void thrift_put_i32(struct thrift_writer *writer, int32_t value);
void thrift_put_i64(struct thrift_writer *writer, int64_t value);
void thrift_put_binary(struct thrift_writer *writer, struct str value);
void thrift_begin_element(struct thrift_writer *writer); /* a struct in a list */

/* The first error, which the caller owns. */
kith_error *thrift_writer_finish(struct thrift_writer *writer) _must_check_;

#endif
