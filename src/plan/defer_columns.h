/*
 * Late columns of a Top-K: the scan reads those columns only that decide which rows are chosen, and says where each row
 * lies; the rest is read for the chosen rows alone (PHYSICAL_FETCH_COLUMNS).
 */
#ifndef KITH_PLAN_DEFER_COLUMNS_H
#define KITH_PLAN_DEFER_COLUMNS_H

#include "plan/physical.h"

/* Changes *plan, in place: wherever a Top-K, perhaps under the merge of its partitions, sits on a scan through filters
 * only, and gives columns that neither it nor a filter needs, a node that fetches them comes on top of it. Output and
 * partitions stay as they are. Not for a Top-K of more rows than `optimizer.topk_fetch_rows`. */
kith_error *plan_defer_columns(struct plan_arena *arena, const struct settings *settings,
                               struct physical_plan **plan) _must_check_;

#endif
