/*
 * Puts a column together from several, row by row: the last step of CASE, COALESCE, NULLIF, GREATEST, LEAST.
 */
#ifndef KITH_COMPUTE_CHOOSE_H
#define KITH_COMPUTE_CHOOSE_H

#include "compute/kernel.h"

enum { CHOOSE_NULL = UINT32_MAX };

/* Row i of the result is row i of sources[which[i]], or NULL where which[i] is CHOOSE_NULL. All sources have `type` but
 * may be dictionary-encoded. Only rows of `selection` are read from `which`; the others are NULL. */
kith_error *choose_rows(const struct data_type *type, const struct datum *sources, size_t count, const uint32_t *which,
                        size_t rows, const struct selection *selection, struct array **out) _must_check_;

#endif
