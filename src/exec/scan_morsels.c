#include "exec/scan.h"
#include "runtime/mutex.h"
#include "runtime/sort_in_turns.h"

struct row_group_statistics {
    struct statistics_source source;
    const struct table *table;
    size_t file;
    size_t row_group;
    bool trust_floats;
};

static void get_row_group(const struct statistics_source *source, size_t column, struct column_statistics *out)
{
    const struct row_group_statistics *self = CONTAINER_OF(source, const struct row_group_statistics, source);
    table_row_group_statistics(self->table, self->file, self->row_group, column, out);
    if (self->trust_floats)
        trust_float_statistics(out);
}

enum bound_origin bounds_exclude(const struct parquet_scan *scan, struct dynamic_filter *const *filters,
                                 const struct statistics_source *statistics)
{
    for (size_t i = 0; i < scan->dynamic_filter_count; i++) {
        const struct sort_expr *exprs = scan->dynamic_filters[i].exprs;
        for (int origin = 0; origin < BOUND_ORIGINS; origin++) {
            _cleanup_(bound_unref) struct bound *bound = dynamic_filter_slot(filters[i], (enum bound_origin)origin);
            if (bound != NULL && bound_excludes(bound, exprs, statistics))
                return (enum bound_origin)origin;
        }
    }
    return BOUND_ORIGINS;
}

/* A byte range owns the row groups whose first page begins in it. */
static bool owns_row_group(const struct scan_file *file, const struct parquet_row_group *row_group)
{
    if (!file->has_range)
        return true;
    int64_t start = (int64_t)row_group->chunks[0].pages.offset;
    return start >= file->range_start && start < file->range_end;
}

/* The best value that the first key can have in the row group, so that better row groups can be read first. */
static void find_best(const struct morsel_queue *queue, struct morsel *morsel)
{
    const struct sort_expr *key = &queue->scan->dynamic_filters[0].exprs[0];
    struct column_statistics statistics;
    if (key->expr->kind != EXPR_COLUMN)
        return;
    table_row_group_statistics(queue->table, morsel->file, morsel->row_group, key->expr->column.index, &statistics);
    /* For the order alone: where NaN might be, the largest number is the better guess. */
    if (queue->trust_floats)
        trust_float_statistics(&statistics);
    morsel->best_is_proven = statistics_best_value(&statistics, &key->expr->type, key->order, &morsel->best);
    trust_float_statistics(&statistics);
    morsel->has_best = statistics_best_value(&statistics, &key->expr->type, key->order, &morsel->best);
}

struct morsel_order {
    struct sort_order order;
};

/* Unknown ones last: they may hold anything, but a bound that exists by then costs them little. */
static int compare_morsels(const void *a, const void *b, void *context)
{
    const struct morsel *x = a, *y = b;
    const struct morsel_order *by = context;
    if (x->has_best != y->has_best)
        return x->has_best ? -1 : 1;
    int order = x->has_best ? sort_order_compare(&x->best, &y->best, by->order) : 0;
    if (order == 0)
        order = x->file < y->file ? -1 : x->file > y->file;
    if (order == 0)
        order = x->row_group < y->row_group ? -1 : x->row_group > y->row_group;
    return order;
}

static kith_error *list_file(struct morsel_queue *queue, size_t file, bool prune)
{
    const struct parquet_scan *scan = queue->scan;
    const struct parquet_metadata *metadata = queue->table->files[file].file->metadata;
    /* A predicate of EXPR_NODES is judged in less than a millisecond. */
    size_t owned = 0, before = queue->count, by = prune && scan->predicate != NULL ? 1 : 64;
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        struct row_group_statistics statistics = {{get_row_group}, queue->table, file, i, queue->trust_floats};
        struct morsel morsel = {.file = (uint32_t)file, .row_group = (uint32_t)i};
        TRY(coop_charge_every(by, i));
        if (metadata->row_groups[i].row_count == 0 || !owns_row_group(&scan->files[file], &metadata->row_groups[i]))
            continue;
        owned++;
        if (prune && scan->predicate != NULL) {
            enum prune_verdict verdict = expr_prune(scan->predicate, &statistics.source);
            morsel.predicate_proven = verdict == PRUNE_ALL_MATCH;
            if (verdict == PRUNE_NONE_MATCH)
                continue;
        }
        if (scan->dynamic_filter_count > 0)
            find_best(queue, &morsel);
        queue->morsels[queue->count++] = morsel;
        queue->files[file].left++;
    }
    metric_add(queue->metrics, METRIC_FILES_TOTAL, 1);
    metric_add(queue->metrics, METRIC_ROW_GROUPS_TOTAL, owned);
    metric_add(queue->metrics, METRIC_ROW_GROUPS_PRUNED_STATISTICS, owned - (queue->count - before));
    metric_add(queue->metrics, METRIC_FILES_PRUNED_STATISTICS, owned > 0 && queue->count == before);
    return coop_charge(1);
}

/* A bound of this task is what the leader's followers wait for; any bound may rule out what is left for them. */
static void note_bound(struct dynamic_filter_watcher *watcher, enum bound_origin origin, struct bound *bound)
{
    struct morsel_queue *queue = CONTAINER_OF(watcher, struct bound_watcher, watcher)->queue;
    HOLD_MUTEX(&queue->mutex);
    if (origin == BOUND_LOCAL && queue->lead == LEAD_TAKEN)
        queue->lead = LEAD_OVER;
    wait_list_wake_all(&queue->followers);
}

static kith_error *watch_bounds(struct morsel_queue *queue)
{
    TRY(NEW_ARRAY(&queue->watchers, queue->scan->dynamic_filter_count));
    for (size_t i = 0; i < queue->scan->dynamic_filter_count; i++) {
        queue->watchers[i] = (struct bound_watcher){.watcher = {.changed = note_bound}, .queue = queue};
        dynamic_filter_watch(queue->filters[i], &queue->watchers[i].watcher);
    }
    return NULL;
}

static kith_error *put_best_first(struct morsel_queue *queue)
{
    struct morsel_order by = {queue->scan->dynamic_filters[0].exprs[0].order};
    const struct sort_in_turns sort = {.size = sizeof *queue->morsels, .compare = compare_morsels, .context = &by};
    TRY(sort_array_in_turns(&sort, queue->morsels, queue->count));
    while (queue->ordered_from > 0 && queue->morsels[queue->ordered_from - 1].best_is_proven)
        queue->ordered_from--;
    return NULL;
}

kith_error *morsel_queue_init(struct morsel_queue *queue, const struct parquet_scan *scan, struct table *table,
                              struct dynamic_filter **filters, const struct settings *settings,
                              struct metric_set *metrics)
{
    size_t row_groups = 0;
    *queue = (struct morsel_queue){.scan = scan, .table = table, .metrics = metrics, .filters = filters};
    queue->trust_floats = settings_get(settings, SETTING_PARQUET_TRUST_FLOATS) != 0;
    pthread_mutex_init(&queue->mutex, NULL);
    for (size_t i = 0; i < table->file_count; i++)
        row_groups += table->files[i].file->metadata->row_group_count;
    TRY(NEW_ARRAY(&queue->morsels, row_groups));
    TRY(NEW_ARRAY(&queue->files, table->file_count));
    for (size_t i = 0; i < table->file_count; i++)
        TRY(list_file(queue, i, settings_get(settings, SETTING_PARQUET_PRUNING) != 0));
    queue->ordered_from = queue->count;
    if (scan->dynamic_filter_count > 0 && settings_get(settings, SETTING_PARQUET_REORDER_ROW_GROUPS))
        TRY(put_best_first(queue));
    return watch_bounds(queue);
}

void morsel_queue_reset(struct morsel_queue *queue)
{
    if (queue->table == NULL)
        return;
    free(queue->morsels);
    free(queue->files);
    free(queue->watchers);
    pthread_mutex_destroy(&queue->mutex);
    *queue = (struct morsel_queue){0};
}

/* How long others wait for the leader at most. It ends the wait as soon as it knows more, so this is for machines so
 * busy that it is not given the processor. */
static const int64_t lead_ns = 100 * NANOSECONDS_PER_MILLISECOND;

static void begin_lead(struct morsel_queue *queue, int64_t now_ns, struct morsel *first)
{
    queue->lead = LEAD_OVER;
    if (queue->scan->dynamic_filter_count == 0)
        return;
    _cleanup_(bound_unref) struct bound *found = dynamic_filter_slot(queue->filters[0], BOUND_LOCAL);
    if (found != NULL)
        return;
    const struct sort_expr *key = &queue->scan->dynamic_filters[0].exprs[0];
    struct column_statistics statistics;
    if (key->expr->kind != EXPR_COLUMN)
        return;
    table_row_group_statistics(queue->table, first->file, first->row_group, key->expr->column.index, &statistics);
    if (!statistics_worst_value(&statistics, key->order, &queue->lead_worst))
        return;
    queue->lead = LEAD_TAKEN;
    queue->lead_until_ns = now_ns + lead_ns;
    first->leads = true;
}

static enum bound_origin exclude(const struct morsel_queue *queue, const struct morsel *morsel, bool trust_floats)
{
    struct row_group_statistics statistics = {
        {get_row_group}, queue->table, morsel->file, morsel->row_group, trust_floats};
    return bounds_exclude(queue->scan, queue->filters, &statistics.source);
}

/* Whether all that is left is worse than all that the leader reads, and not ruled out yet. Row groups are in the order
 * of their best. */
static bool follows(const struct morsel_queue *queue)
{
    if (queue->lead != LEAD_TAKEN || queue->next == queue->count)
        return false;
    const struct morsel *next = &queue->morsels[queue->next];
    const struct sort_expr *key = &queue->scan->dynamic_filters[0].exprs[0];
    return next->has_best && sort_order_compare(&queue->lead_worst, &next->best, key->order) < 0 &&
           exclude(queue, next, queue->trust_floats) == BOUND_ORIGINS;
}

static kith_error *take_next(struct morsel_queue *queue, int64_t now_ns, struct morsel *out, bool *found)
{
    HOLD_MUTEX(&queue->mutex);
    while (follows(queue)) {
        kith_error *error = wait_list_wait(&queue->followers, &queue->mutex, queue->lead_until_ns);
        if (error != NULL && kith_error_code(error) == KITH_ERROR_TIMEOUT) {
            error_free(TAKE(error));
            queue->lead = LEAD_OVER;
        }
        TRY(error);
    }
    *found = queue->next < queue->count;
    if (!*found)
        return NULL;
    *out = queue->morsels[queue->next++];
    if (queue->lead == LEAD_NOT_TAKEN)
        begin_lead(queue, now_ns, out);
    return NULL;
}

void morsel_queue_end_lead(struct morsel_queue *queue)
{
    HOLD_MUTEX(&queue->mutex);
    queue->lead = LEAD_OVER;
    wait_list_wake_all(&queue->followers);
}

/* Row groups and files by whose bound passed them over. */
struct passed_over {
    uint64_t row_groups[BOUND_ORIGINS];
    uint64_t files[BOUND_ORIGINS];
};

static void count_passed_over(const struct morsel_queue *queue, const struct passed_over *passed_over)
{
    static const enum metric row_groups[] = {METRIC_ROW_GROUPS_PRUNED_STATISTICS, METRIC_ROW_GROUPS_PRUNED_LOCAL,
                                             METRIC_ROW_GROUPS_PRUNED_REMOTE};
    static const enum metric files[] = {METRIC_FILES_PRUNED_STATISTICS, METRIC_FILES_PRUNED_LOCAL,
                                        METRIC_FILES_PRUNED_REMOTE};
    for (int origin = 0; origin < BOUND_ORIGINS; origin++) {
        metric_add(queue->metrics, row_groups[origin], passed_over->row_groups[origin]);
        metric_add(queue->metrics, files[origin], passed_over->files[origin]);
    }
}

/* A file is passed over when it is through without any row group having been read. */
static void note_passed_over(struct morsel_queue *queue, const struct morsel *morsel, enum bound_origin by,
                             struct passed_over *passed_over)
{
    struct morsel_file *file = &queue->files[morsel->file];
    file->left--;
    passed_over->row_groups[by]++;
    passed_over->files[by] += file->left == 0 && !file->read;
}

static void note_read(struct morsel_queue *queue, const struct morsel *morsel)
{
    HOLD_MUTEX(&queue->mutex);
    queue->files[morsel->file].left--;
    queue->files[morsel->file].read = true;
}

/* The first of those left that the bound excludes, and with it all after it. */
static size_t first_excluded(const struct morsel_queue *queue, enum bound_origin origin)
{
    _cleanup_(bound_unref) struct bound *bound = dynamic_filter_slot(queue->filters[0], origin);
    struct sort_order order = queue->scan->dynamic_filters[0].exprs[0].order;
    size_t low = queue->next, high = queue->count;
    while (bound != NULL && low < high) {
        size_t middle = low + (high - low) / 2;
        if (bound_excludes_best(bound, &queue->morsels[middle].best, order))
            high = middle;
        else
            low = middle + 1;
    }
    return bound == NULL ? queue->count : low;
}

/* Ends the queue when bounds exclude all that is left: as soon as they exclude the best of it. Each row group is
 * counted for the bound that would have been asked first. Of very many some are left for the next one who comes. */
static void pass_over_rest(struct morsel_queue *queue, struct passed_over *passed_over)
{
    enum { MOST_AT_ONCE = 65536 }; /* the mutex is held */
    size_t first[BOUND_ORIGINS], least = queue->count;
    if (queue->next < queue->ordered_from || queue->next == queue->count)
        return;
    for (int origin = 0; origin < BOUND_ORIGINS; origin++) {
        first[origin] = first_excluded(queue, (enum bound_origin)origin);
        least = MIN(least, first[origin]);
    }
    if (least > queue->next)
        return;
    size_t end = MIN(queue->count, queue->next + MOST_AT_ONCE);
    for (; queue->next < end; queue->next++) {
        enum bound_origin by = BOUND_PLANNED;
        while (first[by] > queue->next)
            by++;
        note_passed_over(queue, &queue->morsels[queue->next], by, passed_over);
    }
    wait_list_wake_all(&queue->followers);
}

static void pass_over(struct morsel_queue *queue, const struct morsel *morsel, enum bound_origin by)
{
    struct passed_over passed_over = {0};
    HOLD_MUTEX(&queue->mutex);
    note_passed_over(queue, morsel, by, &passed_over);
    pass_over_rest(queue, &passed_over);
    count_passed_over(queue, &passed_over);
}

/* Tells whoever wonders why nothing is passed over: the file does not say that it holds no NaN. */
static void count_kept_for_nan(const struct morsel_queue *queue, const struct morsel *morsel)
{
    if (queue->scan->dynamic_filter_count == 0 || queue->trust_floats ||
        !type_is_float(queue->scan->dynamic_filters[0].exprs[0].expr->type.id))
        return;
    metric_add(queue->metrics, METRIC_ROW_GROUPS_KEPT_NAN, exclude(queue, morsel, true) != BOUND_ORIGINS);
}

kith_error *morsel_queue_take(struct morsel_queue *queue, int64_t now_ns, struct morsel *out, bool *found)
{
    for (;;) {
        TRY(take_next(queue, now_ns, out, found));
        if (!*found)
            return NULL;
        enum bound_origin excluded_by = exclude(queue, out, queue->trust_floats);
        if (excluded_by == BOUND_ORIGINS) {
            note_read(queue, out);
            count_kept_for_nan(queue, out);
            return NULL;
        }
        if (out->leads)
            morsel_queue_end_lead(queue);
        pass_over(queue, out, excluded_by);
        TRY(coop_charge(1));
    }
}
