/*
 * Where a Top-K's bound goes: from the sort down to every scan that may skip rows by it, through filters, projections
 * and unions. It stops at whatever makes which rows there are depend on all of them, a limit above all, and at what is
 * volatile: the rows that are skipped would have been given other values there. A scan that it does not reach is read
 * in full, and the Top-K still skips rows by itself.
 */
#ifndef KITH_PLAN_ATTACH_BOUND_H
#define KITH_PLAN_ATTACH_BOUND_H

#include "plan/physical.h"

/* `sorts` are a Top-K: one, or one of each member of a union, with the same expressions and fetch. When a scan can use
 * the bound, *attached is true, and the sorts and the scans have the filter `id`. */
kith_error *topk_attach_bound(struct arena *arena, const struct settings *settings, struct physical_plan *const *sorts,
                              size_t count, uint64_t id, bool *attached) _must_check_;

#endif
