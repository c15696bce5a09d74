/*
 * Conversion between types. A value that does not fit is an error (or NULL under `try_cast`), never a wrapped or cut
 * one. In short:
 *   integers, floats, decimals, booleans    among each other. Float to integer rounds half to even, decimal to integer
 *                                           and to fewer digits half away from zero (PostgreSQL; DataFusion truncates).
 *   dates, timestamps, times                among each other where that has a meaning; a timestamp with time zone is an
 *                                           instant in UTC, so that its date is the date in UTC. Coarser units are
 *                                           rounded down. Fixed offsets ("+02:00") shift wall-clock time; named zones
 *                                           other than UTC are NOT_IMPLEMENTED where wall-clock time is needed.
 *   text                                    to and from all of these, see parse.h; and between its layouts.
 *   bytes                                   to text if valid UTF-8, and from text.
 *   NULL                                    to anything.
 */
#ifndef KITH_COMPUTE_CAST_H
#define KITH_COMPUTE_CAST_H

#include "compute/kernel.h"

/* NOT_IMPLEMENTED with both types' names when there is no such cast. */
kith_error *cast_check(const struct data_type *from, const struct data_type *to) _must_check_;

/* `operand` may not be dictionary-encoded, `to` neither. With `try_cast` what fails is NULL. */
kith_error *cast_run(const struct datum *operand, const struct data_type *to, bool try_cast, size_t rows,
                     const struct selection *selection, struct array **out) _must_check_;

#endif
