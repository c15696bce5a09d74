#include "cluster/stages.h"

#include "base/alloc.h"
#include "expr/dynamic_filter.h"

/* A promise counts on one row in so many to satisfy the predicate. */
enum { ROWS_FOR_ONE = 16 };

struct group {
    size_t task;
    uint64_t rows;
    bool has_best, has_worst;
    struct scalar best, worst; /* what its first sort key can be at best and at worst */
};

static size_t list_groups(const struct parquet_scan *scan, const struct stage_shares *shares, struct group *groups)
{
    const struct sort_expr *key = &scan->dynamic_filters[0].exprs[0];
    const size_t *task = shares->row_group_tasks;
    size_t count = 0;
    for (size_t i = 0; i < scan->file_count; i++) {
        const struct parquet_metadata *metadata = scan->table->files[i].file->metadata;
        for (size_t j = 0; j < metadata->row_group_count; j++, task++) {
            struct column_statistics statistics;
            struct group *group = &groups[count];
            if (stages_rule_out(scan, i, j))
                continue;
            table_row_group_statistics(scan->table, i, j, key->expr->column.index, &statistics);
            /* A promise is a guess: where NaN is not counted, workers may have learned that there is none. */
            statistics.may_have_nan = statistics.may_have_nan && !statistics.has_max;
            *group = (struct group){.task = *task, .rows = statistics.row_count};
            group->has_best = statistics_best_value(&statistics, &key->expr->type, key->order, &group->best);
            group->has_worst = statistics_worst_value(&statistics, key->order, &group->worst);
            count++;
        }
    }
    return count;
}

static int by_worst(const void *a, const void *b, void *context)
{
    const struct group *x = a, *y = b;
    const struct sort_order *order = context;
    if (x->has_worst != y->has_worst)
        return x->has_worst ? -1 : 1;
    int result = x->has_worst ? sort_order_compare(&x->worst, &y->worst, *order) : 0;
    return result != 0 ? result : x->task < y->task ? -1 : x->task > y->task;
}

/* The number of groups, which are in the order of their worst, that together hold enough rows; 0 when none do. */
static size_t enough_groups(const struct group *groups, size_t count, uint64_t wanted)
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
static void assign(const struct group *groups, size_t count, size_t promising, struct stage_task *tasks,
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

kith_error *stages_find_promise(const struct parquet_scan *scan, int64_t fetch, const struct stage_shares *shares,
                                struct stage_task *tasks, struct stage_promise *out)
{
    _cleanup_free_ struct group *groups = NULL;
    uint64_t wanted;
    size_t row_groups = 0;
    *out = (struct stage_promise){0};
    if (fetch <= 0 || scan->dynamic_filter_count == 0 || scan->dynamic_filters[0].exprs[0].expr->kind != EXPR_COLUMN ||
        __builtin_mul_overflow((uint64_t)fetch, ROWS_FOR_ONE, &wanted))
        return NULL;
    for (size_t i = 0; i < scan->file_count; i++)
        row_groups += scan->table->files[i].file->metadata->row_group_count;
    TRY(NEW_ARRAY(&groups, row_groups));
    size_t count = list_groups(scan, shares, groups);
    out->order = scan->dynamic_filters[0].exprs[0].order;
    qsort_r(groups, count, sizeof *groups, by_worst, &out->order);
    size_t promising = enough_groups(groups, count, wanted);
    if (promising == 0)
        return NULL;
    out->exists = true;
    out->value = groups[promising - 1].worst;
    assign(groups, count, promising, tasks, out);
    return NULL;
}
