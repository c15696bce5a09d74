/*
 * Errors as values. A fallible function returns `kith_error *`: NULL is success, anything else is an
 * error that the caller owns and must free, return, or put into another one as its cause. There is no
 * hidden state, so an error may travel between fibers and threads like any other pointer.
 *
 * Creating an error never fails: when memory is out, a static out-of-memory error is returned, which
 * error_free ignores. A message says what was given, what was expected, and where.
 */
#ifndef KITH_BASE_ERROR_H
#define KITH_BASE_ERROR_H

#include "base/macros.h"
#include "kith/kith.h"

#include <stdbool.h>
#include <stddef.h>

/* Propagates an error to the caller. */
#define TRY(expression)                              \
    do {                                             \
        kith_error *try_error_ = (expression);       \
        if (__builtin_expect(try_error_ != NULL, 0)) \
            return try_error_;                       \
    } while (0)

kith_error *error_new(enum kith_code code, const char *format, ...) _printf_(2, 3) _must_check_ _never_null_;

/* An error built from `errno_value`: "<formatted text>: <strerror>", code NOT_FOUND for ENOENT, OUT_OF_MEMORY
 * for ENOMEM, otherwise IO. */
kith_error *error_from_errno(int errno_value, const char *format, ...) _printf_(2, 3) _must_check_ _never_null_;

/* The static out-of-memory error. */
kith_error *error_out_of_memory(void) _must_check_ _never_null_;

/* A new error of the cause's code, with `take_cause` below it: "reading footer of a.parquet" over "file is
 * truncated". Returns NULL when `take_cause` is NULL, so a call can be wrapped in passing. The position and
 * hint of the cause are carried up. */
kith_error *error_wrap(kith_error *take_cause, const char *format, ...) _printf_(2, 3) _must_check_;

/* Sets the 0-based byte offset in the SQL text, unless the error has one already. NULL passes through. */
kith_error *error_at(kith_error *take_error, size_t sql_offset) _must_check_;

/* Sets the hint. NULL passes through. */
kith_error *error_hint(kith_error *take_error, const char *format, ...) _printf_(2, 3) _must_check_;

/* The analyser sees no bodies of other files; these tell it that NULL comes out just when NULL goes in. */
#ifdef __clang_analyzer__
#define PASSES_ERROR_ON extern inline __attribute__((gnu_inline))
PASSES_ERROR_ON kith_error *error_wrap(kith_error *take_cause, const char *format, ...)
{
    return take_cause;
}
PASSES_ERROR_ON kith_error *error_at(kith_error *take_error, size_t sql_offset)
{
    return take_error;
}
PASSES_ERROR_ON kith_error *error_hint(kith_error *take_error, const char *format, ...)
{
    return take_error;
}
#endif

/* A copy with all its causes, for an error that several waiters must each receive. */
kith_error *error_copy(const kith_error *error) _must_check_;

void error_free(kith_error *error);
DEFINE_CLEANUP(error_free, kith_error)

/* Writes the message with its causes, "a: b: c", to `out` (NUL-terminated, cut at `size`). Returns `out`. */
char *error_describe(const kith_error *error, char *out, size_t size);

/* The code's name in the table of kith.h ("NOT_FOUND"); "UNKNOWN" for a number that is not there. */
const char *error_code_name(enum kith_code code);

#endif
