/*
 * The families of cast.c, for it alone. A converter does one row: it stores the value, or tells why it cannot.
 */
#ifndef KITH_COMPUTE_CAST_PARTS_H
#define KITH_COMPUTE_CAST_PARTS_H

#include "compute/cast.h"
#include "compute/parse.h"

struct cast {
    const struct array *from;
    const struct data_type *to;
    bool try_cast;
    size_t rows;
    const struct selection *selection;
    struct array *result;           /* offset 0; validity that of `from` */
    int32_t from_offset, to_offset; /* seconds east of UTC of timestamps with a fixed offset */
};

/* Numbers and booleans among each other. Widening of integers and floats without a check for each row is done by
 * cast_widen, which tells whether the pair is one of those. */
enum parse_result cast_number(const struct cast *cast, size_t row);
bool cast_widen(const struct cast *cast);

/* Dates, times, timestamps, durations among each other and to and from integers. */
bool cast_temporal_check(const struct data_type *from, const struct data_type *to);
enum parse_result cast_temporal(const struct cast *cast, size_t row);

/* Any type that has a value for it from text. */
enum parse_result cast_from_text(const struct cast *cast, size_t row);

#endif
