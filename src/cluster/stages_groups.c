#include "base/alloc.h"
#include "cluster/stages.h"
#include "columnar/utf8.h"
#include "expr/dynamic_filter.h"
#include "runtime/sort_in_turns.h"

enum { GROUPS_A_CHARGE = 4096 };

/* The scan's filter, if statistics can say something of its first key. */
static const struct scan_dynamic_filter *filter_of(const struct parquet_scan *scan)
{
    const struct scan_dynamic_filter *filter = scan->dynamic_filters;
    return scan->dynamic_filter_count > 0 && filter->exprs[0].expr->kind == EXPR_COLUMN ? filter : NULL;
}

static struct stage_group make_group(const struct parquet_scan *scan, size_t file, size_t row_group, size_t task)
{
    const struct scan_dynamic_filter *filter = filter_of(scan);
    const struct parquet_metadata *metadata = scan->table->files[file].file->metadata;
    struct stage_group group = {.task = task, .rows = (uint64_t)metadata->row_groups[row_group].row_count};
    struct column_statistics statistics;
    if (filter == NULL)
        return group;
    const struct sort_expr *key = &filter->exprs[0];
    table_row_group_statistics(scan->table, file, row_group, key->expr->column.index, &statistics);
    statistics.may_have_nan = statistics.may_have_nan && !statistics.has_max;
    group.has_best = statistics_best_value(&statistics, &key->expr->type, key->order, &group.best);
    group.has_worst = statistics_worst_value(&statistics, key->order, &group.worst);
    return group;
}

/* The bound that planning has found keeps what equals it. */
static bool planned_bound_excludes(const struct scan_dynamic_filter *filter, const struct stage_group *group)
{
    return filter != NULL && filter->planned != NULL && group->has_best &&
           sort_order_compare(&group->best, filter->planned, filter->exprs[0].order) > 0;
}

static size_t count_row_groups(const struct parquet_scan *const *scans, size_t scan_count)
{
    size_t count = 0;
    for (size_t i = 0; i < scan_count; i++)
        for (size_t j = 0; j < scans[i]->file_count; j++)
            count += scans[i]->table->files[j].file->metadata->row_group_count;
    return count;
}

kith_error *stages_list_groups(const struct parquet_scan *const *scans, const struct stage_shares *shares,
                               struct stage_group **out, size_t *count)
{
    const size_t *task = shares->row_group_tasks;
    *out = NULL;
    *count = 0;
    TRY(NEW_ARRAY(out, count_row_groups(scans, shares->scan_count)));
    for (size_t i = 0; i < shares->scan_count; i++) {
        for (size_t file = 0; file < scans[i]->file_count; file++) {
            size_t row_groups = scans[i]->table->files[file].file->metadata->row_group_count;
            for (size_t row_group = 0; row_group < row_groups; row_group++, task++) {
                const struct stage_group group = make_group(scans[i], file, row_group, *task);
                if (!stages_rule_out(scans[i], file, row_group) && !planned_bound_excludes(filter_of(scans[i]), &group))
                    (*out)[(*count)++] = group;
                TRY(coop_charge(1));
            }
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

static kith_error *keep_steps(struct stage_group *groups, size_t *count)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        if (can_be_step(&groups[i]))
            groups[kept++] = groups[i];
        TRY(coop_charge_every(GROUPS_A_CHARGE, i));
    }
    *count = kept;
    return NULL;
}

kith_error *stages_find_steps(struct arena *arena, struct stage_group *groups, size_t count, struct sort_order order,
                              struct stage_plan *stages)
{
    _cleanup_free_ const struct scalar **best = NULL;
    TRY(keep_steps(groups, &count));
    if (count == 0)
        return NULL; /* nobody has steps */
    TRY(NEW_ARRAY(&best, count));
    const struct sort_in_turns sort_groups = {.size = sizeof *groups, .compare = by_task_and_best, .context = &order};
    const struct sort_in_turns sort_best = {.size = sizeof(void *), .compare = by_best, .context = &order};
    TRY(sort_array_in_turns(&sort_groups, groups, count));
    for (size_t i = 0; i < count; i++)
        best[i] = &groups[i].best;
    for (size_t task = 0, start = 0, end = 0; task < stages->task_count; task++, start = end) {
        while (end < count && groups[end].task == task)
            end++;
        TRY(bound_steps_choose(arena, order, best + start, end - start, &stages->tasks[task].steps));
    }
    TRY(sort_array_in_turns(&sort_best, best, count));
    return bound_steps_choose(arena, order, best, count, &stages->steps);
}
