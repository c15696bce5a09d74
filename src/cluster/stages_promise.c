#include "cluster/stages.h"
#include "runtime/sort_in_turns.h"

/* A promise counts on one row in so many to satisfy the predicate. */
enum { ROWS_FOR_ONE = 16 };

enum { GROUPS_A_CHARGE = 4096 };

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
static kith_error *assign(const struct stage_group *groups, size_t count, size_t promising, struct stage_task *tasks,
                          const struct stage_promise *promise)
{
    for (size_t i = 0; i < count; i++)
        tasks[groups[i].task].waits = true;
    for (size_t i = 0; i < count; i++) {
        if (!groups[i].has_best || sort_order_compare(&groups[i].best, &promise->value, promise->order) <= 0)
            tasks[groups[i].task].waits = false;
        TRY(coop_charge_every(GROUPS_A_CHARGE, i));
    }
    for (size_t i = 0; i < promising; i++)
        tasks[groups[i].task].promising++;
    return NULL;
}

kith_error *stages_find_promise(struct stage_group *groups, size_t count, struct sort_order order, int64_t fetch,
                                struct stage_task *tasks, struct stage_promise *out)
{
    uint64_t wanted;
    const struct sort_in_turns sort = {.size = sizeof *groups, .compare = by_worst, .context = &order};
    *out = (struct stage_promise){.order = order};
    if (fetch <= 0 || __builtin_mul_overflow((uint64_t)fetch, ROWS_FOR_ONE, &wanted))
        return NULL;
    TRY(sort_array_in_turns(&sort, groups, count));
    size_t promising = enough_groups(groups, count, wanted);
    if (promising == 0)
        return NULL;
    out->exists = true;
    out->value = groups[promising - 1].worst;
    return assign(groups, count, promising, tasks, out);
}
