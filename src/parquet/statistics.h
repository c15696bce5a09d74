/*
 * From the bytes of a bound, as footers and page indexes hold them, to column_statistics that can be relied on. Shared
 * by row groups (statistics.c) and pages (page_index.c). What is missing, malformed or of unknown order is left out,
 * never guessed: see the format's own rules at Statistics and ColumnOrder in parquet.thrift.
 */
#ifndef KITH_PARQUET_STATISTICS_H
#define KITH_PARQUET_STATISTICS_H

#include "expr/statistics.h"
#include "parquet/metadata.h"

/* Bounds and counts of one container. A negative count is one that the file does not give. */
struct statistics_bytes {
    bool has_min, has_max, min_exact, max_exact;
    struct str min, max;
    int64_t null_count, nan_count;
    uint64_t row_count;
};

/* Fills *out in full. Strings stay views of the bytes. */
void statistics_decode(const struct parquet_column *column, const struct statistics_bytes *bytes,
                       struct column_statistics *out);

#endif
