/*
 * Can a predicate be true for any row of a container, judging by its statistics alone? "No" is a proof; anything that
 * cannot be analysed is "maybe". Missing statistics, NaN, truncated bounds and unknown null counts are treated as what
 * they are: unknown (reference: the traps of datafusion.md 4.3 and 8.31-8.41).
 */
#ifndef KITH_EXPR_PRUNING_H
#define KITH_EXPR_PRUNING_H

#include "expr/expr.h"
#include "expr/statistics.h"

enum prune_verdict {
    PRUNE_NONE_MATCH, /* no row can satisfy it */
    PRUNE_SOME_MATCH, /* unknown */
    PRUNE_ALL_MATCH   /* every row satisfies it: null counts known and zero where they matter */
};

enum prune_verdict expr_prune(const struct expr *predicate, const struct statistics_source *statistics);

#endif
