/*
 * A Top-K bound from statistics alone, before a page is read: row groups whose worst value is no worse than v, and
 * which together have K rows, prove that K rows are no worse than v (docs/topk-bounds.md, rule c). Only rows of the
 * query count: all of a row group for which statistics prove the scan's predicate, or none. Not with a filter between.
 */
#ifndef KITH_PLAN_PLANNED_BOUND_H
#define KITH_PLAN_PLANNED_BOUND_H

#include "plan/physical.h"

/* A scan all of whose rows reach the sort, and the sort's first expression over the table's schema. */
struct planned_bound_source {
    const struct parquet_scan *scan;
    const struct sort_expr *key;
};

/* By what the sources prove together; *out is NULL when that is nothing. Their keys have one type and order; `rows` is
 * K. */
kith_error *planned_bound(struct arena *arena, const struct planned_bound_source *sources, size_t count, uint64_t rows,
                          const struct scalar **out) _must_check_;

#endif
