/*
 * Copying values of a fixed width by position: rows that a selection kept, entries of a dictionary.
 */
#ifndef KITH_COLUMNAR_GATHER_H
#define KITH_COLUMNAR_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* out[i] = values[positions[i]], each `width` (above 0) bytes; the positions are in range. */
void gather_fixed(const void *values, size_t width, const uint32_t *positions, size_t count, void *out);

/* Whether all positions are below `limit`. */
bool gather_in_range(const uint32_t *positions, size_t count, uint32_t limit);

#endif
