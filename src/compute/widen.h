/*
 * Types that have grown: what holds every value of two types exactly, and values as it holds them. Order, equality and
 * NULL stay as they are, so statistics of the narrow type hold for the wide one.
 *
 * Integers widen to integers, floats to floats, decimals to decimals with more digits on either side of the point; and
 * integers to floats and decimals that have room for each of them. Anything that could round is refused, Int64 to
 * Float64 among it.
 */
#ifndef KITH_COMPUTE_WIDEN_H
#define KITH_COMPUTE_WIDEN_H

#include "columnar/scalar.h"

/* The narrowest type that holds every value of both; false when there is none. The NULL type widens to any. */
bool type_widen(const struct data_type *a, const struct data_type *b, struct data_type *out);

/* Whether `wide` holds every value of `narrow`. */
bool type_holds(const struct data_type *wide, const struct data_type *narrow);

/* A scalar as a value of `to`, which holds its type. False for a decimal that has more digits than its own type lets it
 * have. */
bool scalar_widen(const struct scalar *scalar, const struct data_type *to, struct scalar *out);

/* An array, not dictionary-encoded, likewise. */
kith_error *array_widen(struct array *array, const struct data_type *to, struct array **out) _must_check_;

#endif
