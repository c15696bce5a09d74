/*
 * Kith's public C interface. Errors are owned objects: a function that can fail returns NULL on
 * success and otherwise an error that the caller frees with kith_error_free.
 */
#ifndef KITH_KITH_H
#define KITH_KITH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, number, SQLSTATE, what it means). Numbers are frozen. */
#define KITH_ERROR_CODES(X)                                                             \
    X(INTERNAL, 1, "XX000", "a broken promise of Kith's own")                           \
    X(OUT_OF_MEMORY, 2, "53200", "the machine or the query's memory pool is exhausted") \
    X(INVALID_ARGUMENT, 3, "22023", "a value given by the caller is not acceptable")    \
    X(NOT_IMPLEMENTED, 4, "0A000", "valid, but not supported")                          \
    X(SYNTAX, 5, "42601", "the SQL text does not parse")                                \
    X(UNDEFINED_COLUMN, 6, "42703", "no such column")                                   \
    X(UNDEFINED_TABLE, 7, "42P01", "no such table")                                     \
    X(UNDEFINED_FUNCTION, 8, "42883", "no such function or operator for these types")   \
    X(TYPE_MISMATCH, 9, "42804", "the types of an expression do not fit")               \
    X(DIVISION_BY_ZERO, 10, "22012", "division by zero")                                \
    X(OUT_OF_RANGE, 11, "22003", "a number does not fit its type")                      \
    X(INVALID_TEXT, 12, "22P02", "a text does not spell a value of the type")           \
    X(IO, 13, "58030", "reading or writing failed")                                     \
    X(NOT_FOUND, 14, "58P01", "no such file")                                           \
    X(CORRUPT, 15, "XX001", "bytes that are not what their format says")                \
    X(LIMIT, 16, "54000", "an input is larger than a limit")                            \
    X(CANCELLED, 17, "57014", "the query was cancelled")                                \
    X(TIMEOUT, 18, "57P05", "a peer or a wait took too long")                           \
    X(UNAVAILABLE, 19, "08006", "a worker cannot be reached or has gone")               \
    X(PROTOCOL, 20, "08P01", "a peer sent what the protocol does not allow")            \
    X(UNDEFINED_SETTING, 21, "42704", "no such setting")                                \
    X(AMBIGUOUS_COLUMN, 22, "42702", "a column name fits more than one column")

enum kith_code {
    KITH_OK = 0,
#define KITH_CODE_ENUM(name, number, sqlstate, meaning) KITH_ERROR_##name = number,
    KITH_ERROR_CODES(KITH_CODE_ENUM)
#undef KITH_CODE_ENUM
};

typedef struct kith_error kith_error;

/* The message alone, without position or hint; lives as long as the error. */
const char *kith_error_message(const kith_error *error);
enum kith_code kith_error_code(const kith_error *error);
/* Five characters, as PostgreSQL defines them. */
const char *kith_error_sqlstate(const kith_error *error);
/* What the user can do about it, or NULL. */
const char *kith_error_hint(const kith_error *error);
/* 1-based byte position in the SQL text, or 0 where none is known. */
size_t kith_error_position(const kith_error *error);
/* The error that led to this one, or NULL. Owned by `error`. */
const kith_error *kith_error_cause(const kith_error *error);
/* NULL is accepted. */
void kith_error_free(kith_error *error);

#ifdef __cplusplus
}
#endif

#endif
