#include "cluster/stages.h"

#include <stdlib.h>

/* A promise counts on one row in so many to satisfy the predicate. */
enum { ROWS_FOR_ONE = 16 };

static int by_worst(const void *a, const void *b, void *context)
{
    const struct stage_group *x = a, *y = b;
    const struct sort_order *order = context;
    if (x->has_worst != y->has_worst)
        return x->has_worst ? -1 : 1;
    int result = x->has_worst ? sort_order_compare(&x->worst, &y->worst, *order) : 0;
    return result != 0 ? result : x->task < y->task ? -1 : x->task > y->task;
}

/* The number of groups, which are in the order of their worst, that together hold enough rows; 0 when none do. */
static size_t enough_groups(const struct stage_group *groups, size_t count, uint64_t wanted)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < count && groups[i].has_worst; i++) {
        rows += groups[i].rows;
        if (rows >= wanted)
            return i + 1;
    }
    return 0;
}

/* The tasks that have something that could be better than the promise, or is not known, do not wait. */
static void assign(const struct stage_group *groups, size_t count, size_t promising, struct stage_task *tasks,
                   const struct stage_promise *promise)
{
    for (size_t i = 0; i < count; i++)
        tasks[groups[i].task].waits = true;
    for (size_t i = 0; i < count; i++)
        if (!groups[i].has_best || sort_order_compare(&groups[i].best, &promise->value, promise->order) <= 0)
            tasks[groups[i].task].waits = false;
    for (size_t i = 0; i < promising; i++)
        tasks[groups[i].task].promising++;
}

void stages_find_promise(struct stage_group *groups, size_t count, struct sort_order order, int64_t fetch,
                         struct stage_task *tasks, struct stage_promise *out)
{
    uint64_t wanted;
    *out = (struct stage_promise){.order = order};
    if (fetch <= 0 || __builtin_mul_overflow((uint64_t)fetch, ROWS_FOR_ONE, &wanted))
        return;
    if (count > 1)
        qsort_r(groups, count, sizeof *groups, by_worst, &order);
    size_t promising = enough_groups(groups, count, wanted);
    if (promising == 0)
        return;
    out->exists = true;
    out->value = groups[promising - 1].worst;
    assign(groups, count, promising, tasks, out);
}
