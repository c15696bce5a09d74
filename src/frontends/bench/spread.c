#include "frontends/bench/spread.h"

#include <math.h>
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* How many of the values are below the true median is binomial with p = 1/2: the largest rank r for which fewer than r
 * are with a probability of 2.5 % at most. Its terms in logarithms, so that many values do not underflow. */
size_t spread_rank(size_t count)
{
    static const double tail = 0.025;
    double log_term = -(double)count * log(2), below = 0;
    for (size_t rank = 0; rank <= count / 2; rank++) {
        below += exp(log_term);
        if (below > tail)
            return rank;
        log_term += log((double)(count - rank)) - log((double)(rank + 1));
    }
    return count / 2;
}

struct spread spread_of(double *values, size_t count)
{
    size_t rank = spread_rank(count);
    qsort(values, count, sizeof *values, compare_doubles);
    return (struct spread){
        .median = count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2,
        .least = values[0],
        .most = values[count - 1],
        .is_known = rank > 0,
        .low = values[rank > 0 ? rank - 1 : 0],
        .high = values[rank > 0 ? count - rank : count - 1],
    };
}
