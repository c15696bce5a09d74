#include "base/alloc.h"
#include "cluster/stages.h"
#include "columnar/utf8.h"
#include "expr/dynamic_filter.h"

static struct column_statistics statistics_of(const struct parquet_scan *scan, size_t file, size_t row_group)
{
    struct column_statistics statistics;
    const struct sort_expr *key = &scan->dynamic_filters[0].exprs[0];
    table_row_group_statistics(scan->table, file, row_group, key->expr->column.index, &statistics);
    statistics.may_have_nan = statistics.may_have_nan && !statistics.has_max;
    return statistics;
}

/* The bound that planning has found keeps what equals it. */
static bool planned_bound_excludes(const struct scan_dynamic_filter *filter, const struct stage_group *group)
{
    return filter->planned != NULL && group->has_best &&
           sort_order_compare(&group->best, filter->planned, filter->exprs[0].order) > 0;
}

kith_error *stages_list_groups(const struct parquet_scan *scan, const struct stage_shares *shares,
                               struct stage_group **out, size_t *count)
{
    const struct scan_dynamic_filter *filter = scan->dynamic_filters;
    const size_t *task = shares->row_group_tasks;
    size_t row_groups = 0;
    *out = NULL;
    *count = 0;
    if (scan->dynamic_filter_count == 0 || filter->exprs[0].expr->kind != EXPR_COLUMN)
        return NULL;
    const struct data_type *type = &filter->exprs[0].expr->type;
    for (size_t i = 0; i < scan->file_count; i++)
        row_groups += scan->table->files[i].file->metadata->row_group_count;
    TRY(NEW_ARRAY(out, row_groups));
    for (size_t i = 0; i < scan->file_count; i++) {
        for (size_t j = 0; j < scan->table->files[i].file->metadata->row_group_count; j++, task++) {
            struct column_statistics statistics = statistics_of(scan, i, j);
            struct stage_group group = {.task = *task, .rows = statistics.row_count};
            group.has_best = statistics_best_value(&statistics, type, filter->exprs[0].order, &group.best);
            group.has_worst = statistics_worst_value(&statistics, filter->exprs[0].order, &group.worst);
            if (!stages_rule_out(scan, i, j) && !planned_bound_excludes(filter, &group))
                (*out)[(*count)++] = group;
        }
    }
    return NULL;
}

/* By task, weakest first. */
static int by_task_and_best(const void *a, const void *b, void *context)
{
    const struct stage_group *x = a, *y = b;
    const struct sort_order *order = context;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return -sort_order_compare(&x->best, &y->best, *order);
}

static int by_best(const void *a, const void *b, void *context)
{
    const struct sort_order *order = context;
    return -sort_order_compare(*(const struct scalar *const *)a, *(const struct scalar *const *)b, *order);
}

/* A group that may hold anything is ruled out by no bound. A step goes to workers as text if it is one, and statistics
 * may be cut in the middle of a character. */
static bool can_be_step(const struct stage_group *group)
{
    return group->has_best && (group->best.is_null || !type_is_string(group->best.type.id) ||
                               utf8_is_valid(group->best.string.data, group->best.string.length));
}

static size_t keep_steps(struct stage_group *groups, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (can_be_step(&groups[i]))
            groups[kept++] = groups[i];
    return kept;
}

kith_error *stages_find_steps(struct arena *arena, struct stage_group *groups, size_t count, struct sort_order order,
                              struct stage_plan *stages)
{
    _cleanup_free_ const struct scalar **best = NULL;
    count = keep_steps(groups, count);
    if (count == 0)
        return NULL; /* nobody has steps */
    TRY(NEW_ARRAY(&best, count));
    if (count > 1)
        qsort_r(groups, count, sizeof *groups, by_task_and_best, &order);
    for (size_t i = 0; i < count; i++)
        best[i] = &groups[i].best;
    for (size_t task = 0, start = 0, end = 0; task < stages->task_count; task++, start = end) {
        while (end < count && groups[end].task == task)
            end++;
        TRY(bound_steps_choose(arena, order, best + start, end - start, &stages->tasks[task].steps));
    }
    if (count > 1)
        qsort_r(best, count, sizeof *best, by_best, &order);
    return bound_steps_choose(arena, order, best, count, &stages->steps);
}
