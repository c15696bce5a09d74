/*
 * What a list of numbers says: median, range, and how well the median is known.
 */
#ifndef KITH_FRONTENDS_BENCH_SPREAD_H
#define KITH_FRONTENDS_BENCH_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

struct spread {
    double median, least, most;
    bool is_known;    /* whether there are enough numbers for the next two: six */
    double low, high; /* the true median lies between them with a probability of 95 % at least, whatever the numbers'
                         distribution (order statistics: David and Nagaraja, "Order Statistics", 7.1) */
};

/* Sorts the values, of which there is one at least. */
struct spread spread_of(double *values, size_t count);

/* The rank, from 1, of the value that `low` is; `high` has the same rank from above. 0 when there are too few. */
size_t spread_rank(size_t count);

#endif
