/*
 * What is known about one column over a container (file, row group, page) without reading it. Honest about ignorance:
 * what a file does not say is absent here, never a default.
 */
#ifndef KITH_EXPR_STATISTICS_H
#define KITH_EXPR_STATISTICS_H

#include "columnar/scalar.h"

struct column_statistics {
    bool has_min, has_max;     /* bounds that hold for every non-null, non-NaN value */
    bool min_exact, max_exact; /* a truncated string bound is a bound, but no value of the column */
    bool may_have_nan;         /* a float column whose container may hold NaN, which is outside min..max */
    bool has_null_count;
    uint64_t null_count;
    uint64_t row_count;     /* always known */
    struct scalar min, max; /* strings borrowed from the metadata */
};

static inline bool statistics_all_null(const struct column_statistics *statistics)
{
    return statistics->has_null_count && statistics->null_count == statistics->row_count;
}

static inline bool statistics_may_have_null(const struct column_statistics *statistics)
{
    return !statistics->has_null_count || statistics->null_count > 0;
}

/* Statistics of column `column` of the scan's schema over the container at hand; *out is filled in full. */
struct statistics_source {
    void (*get)(const struct statistics_source *source, size_t column, struct column_statistics *out);
};

#endif
