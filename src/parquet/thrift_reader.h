/*
 * Reads Thrift's compact protocol (Apache Thrift, doc/specs/thrift-compact-protocol.md), in which Parquet writes its
 * footer, page headers and indexes. A cursor over bytes that may be hostile: every read is checked against the end, a
 * declared length against what is left, skipping against a depth. It allocates nothing, and strings are views of the
 * input. Errors are CORRUPT and name the file, the structure and the byte offset in the file.
 *
 * A struct is read by a loop over thrift_next_field; fields of other ids are passed to thrift_skip.
 */
#ifndef KITH_PARQUET_THRIFT_READER_H
#define KITH_PARQUET_THRIFT_READER_H

#include "base/strbuf.h"

#include <stdint.h>

/* The protocol's numbers. A boolean field's value is its type; as a list's element it is a byte. */
enum thrift_type {
    THRIFT_STOP = 0,
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_I8 = 3,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_DOUBLE = 7,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_SET = 10,
    THRIFT_MAP = 11,
    THRIFT_STRUCT = 12,
    THRIFT_UUID = 13
};

struct thrift_reader {
    const uint8_t *start, *at, *end;
    uint64_t offset;  /* of `start` in the file */
    const char *file; /* for errors */
    const char *what; /* for errors: "footer", "page header"; a literal */
    bool ran_out;     /* the error is that the input ended: with more bytes it might be read */
};

static inline struct thrift_reader thrift_reader_make(const char *file, const char *what, const void *bytes,
                                                      size_t length, uint64_t offset)
{
    const uint8_t *start = bytes;
    return (struct thrift_reader){
        .start = start, .at = start, .end = start + length, .offset = offset, .file = file, .what = what};
}

static inline size_t thrift_consumed(const struct thrift_reader *reader)
{
    return (size_t)(reader->at - reader->start);
}

static inline size_t thrift_left(const struct thrift_reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

/* A CORRUPT error at the cursor: "a.parquet: footer is damaged at byte 123: <text>". */
kith_error *thrift_corrupt(const struct thrift_reader *reader, const char *format, ...)
    _printf_(2, 3) _must_check_ _never_null_;

/* Zero-initialised before the first field of a struct; then it holds the latest, since ids are written as steps. */
struct thrift_field {
    int16_t id;
    enum thrift_type type; /* THRIFT_STOP after the last field */
};
kith_error *thrift_next_field(struct thrift_reader *reader, struct thrift_field *field) _must_check_;

/* Each checks that the field has the type it reads. */
kith_error *thrift_read_bool(struct thrift_reader *reader, const struct thrift_field *field, bool *out) _must_check_;
kith_error *thrift_read_i32(struct thrift_reader *reader, const struct thrift_field *field, int32_t *out) _must_check_;
kith_error *thrift_read_i64(struct thrift_reader *reader, const struct thrift_field *field, int64_t *out) _must_check_;
kith_error *thrift_read_binary(struct thrift_reader *reader, const struct thrift_field *field,
                               struct str *out) _must_check_;
/* Only the type: the struct's own fields follow. */
kith_error *thrift_expect_struct(struct thrift_reader *reader, const struct thrift_field *field) _must_check_;

/* The head of a list whose elements must be `element` (THRIFT_TRUE for booleans). *count elements follow, each of which
 * takes at least one byte of what is left. */
kith_error *thrift_read_list(struct thrift_reader *reader, const struct thrift_field *field, enum thrift_type element,
                             size_t *count) _must_check_;

/* Elements of lists. */
kith_error *thrift_element_bool(struct thrift_reader *reader, bool *out) _must_check_;
kith_error *thrift_element_i32(struct thrift_reader *reader, int32_t *out) _must_check_;
kith_error *thrift_element_i64(struct thrift_reader *reader, int64_t *out) _must_check_;
kith_error *thrift_element_binary(struct thrift_reader *reader, struct str *out) _must_check_;

/* Passes over the field's value, whatever it is. */
kith_error *thrift_skip(struct thrift_reader *reader, const struct thrift_field *field) _must_check_;

#endif
