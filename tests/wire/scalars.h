/*
 * A value of every flat type, at its edges, for tests of what is sent: typed NULLs, extremes, texts with a NUL inside.
 */
#ifndef KITH_TESTS_WIRE_SCALARS_H
#define KITH_TESTS_WIRE_SCALARS_H

#include "columnar/scalar.h"

/* Gives how many there are; *out is a static array. */
size_t test_scalars(const struct scalar **out);

/* Equal in type and value; floats by their bits. */
bool test_scalars_equal(const struct scalar *a, const struct scalar *b);

#endif
