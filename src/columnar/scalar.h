/*
 * One value of any flat type, NULL included: literals, statistics and bounds. Plain data but for strings, which are
 * borrowed from whoever made the scalar (an arena, a statistics block); scalar_copy gives them a new home.
 */
#ifndef KITH_COLUMNAR_SCALAR_H
#define KITH_COLUMNAR_SCALAR_H

#include "base/arena.h"
#include "columnar/array.h"

struct scalar {
    struct data_type type; /* never dictionary-encoded */
    bool is_null;
    union {
        bool boolean;
        int64_t int64;   /* signed integers, dates, times, timestamps, durations, DECIMAL64, INTERVAL_MONTHS */
        uint64_t uint64; /* unsigned integers; FLOAT16 as its bits */
        float float32;
        double float64;
        __int128 decimal; /* DECIMAL128 */
        struct str string;
        struct {
            int32_t months, days;
            int64_t nanoseconds;
        } interval;
    };
};

static inline struct scalar scalar_null(const struct data_type *type)
{
    return (struct scalar){.type = *type, .is_null = true};
}

/* Row i of an array of a flat type; strings are borrowed from the array. */
struct scalar scalar_from_array(const struct array *array, size_t i);

/* An array of `length` copies. */
kith_error *scalar_to_array(const struct scalar *scalar, size_t length, struct array **out) _must_check_;

kith_error *scalar_copy(const struct scalar *scalar, struct arena *arena, struct scalar *out) _must_check_;

/* Writes a non-null value of a fixed-width type as arrays hold it; gives the bytes written, at most 16. */
size_t scalar_store(const struct scalar *scalar, uint8_t *out);

/* The value of IEEE 754 binary16 bits. */
double float16_to_double(uint16_t bits);

/* Order of two non-null scalars of equal type, as sort keys order them: -0.0 equals 0.0, NaN is the largest and equals
 * itself, strings bytewise. Not for types that sort_key_check_type refuses. */
int scalar_compare(const struct scalar *a, const struct scalar *b);

/* Appends the value as SQL prints it, without quotes: NULL, true, 12.50, 0.1, 1.0, 1e+16, inf, nan, 1996-03-13,
 * 0044-03-15 (BC), 2020-01-01 00:00:00.5 (instants in UTC, with +00), 01:02:03, 1 year 2 days 04:05:06, and text as it
 * is; bytes that do not print as \x00. Floats have the fewest digits that read back as the same number. */
kith_error *scalar_format(const struct scalar *scalar, struct strbuf *out) _must_check_;

#endif
