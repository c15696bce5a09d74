/*
 * A Top-K bound from statistics alone, before a page is read: row groups whose worst value is no worse than v, and
 * which together have K rows, prove that K rows are no worse than v (docs/topk-bounds.md, rule c). Only rows of the
 * query count: all of a row group for which statistics prove the scan's predicate, or none. Not with a filter between.
 */
#ifndef KITH_PLAN_PLANNED_BOUND_H
#define KITH_PLAN_PLANNED_BOUND_H

#include "plan/physical.h"

/* *out is NULL when nothing can be proved. `key` is the sort's first expression over the table's schema, `rows` is K.
 */
kith_error *planned_bound(struct arena *arena, const struct parquet_scan *scan, const struct sort_expr *key,
                          uint64_t rows, const struct scalar **out) _must_check_;

#endif
