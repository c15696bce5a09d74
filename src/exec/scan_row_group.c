#include "exec/scan.h"

struct row_group_scan {
    const struct scan_plan *plan;
    struct table *table;
    struct dynamic_filter **filters;
    struct exec_operator *node;
    struct evaluator *predicate;
    struct evaluator ***filter_evaluators; /* of each dynamic filter: one a key */
    struct sort_keys keys;
    struct scan_column *columns; /* in reading order */
    struct parquet_read_metrics metrics;

    struct morsel morsel;
    const struct table_file *file;
    uint64_t first_row; /* of the row group, in the file */
    uint64_t row_count;
    uint64_t row; /* of the row group: next to be read */
    bool open;

    /* Rows [segment_start, segment_end) lie in one page of every indexed column, so that page statistics hold for them.
     */
    uint64_t segment_start, segment_end;
    bool segment_checked; /* against the predicate */

    /* The rows at hand: a window of the row group, and which of its rows are alive. Values of columns read so far are
     * for the rows of `window_selection` (all of the window's when NULL); `alive` selects among those. */
    size_t window_rows;
    struct selection *window_selection;
    struct selection *alive;
};

struct segment_statistics {
    struct statistics_source source;
    const struct row_group_scan *scan;
};

static size_t page_of_row(const struct parquet_page_index *index, uint64_t row)
{
    size_t low = 0, high = index->page_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (index->pages[middle].first_row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The page's statistics where the column has a page index, the row group's otherwise. `column` is a table column. */
static void get_segment(const struct statistics_source *source, size_t column, struct column_statistics *out)
{
    const struct row_group_scan *scan = CONTAINER_OF(source, const struct segment_statistics, source)->scan;
    for (size_t i = 0; i < scan->plan->stage_end[STAGE_PREDICATE]; i++) {
        const struct parquet_page_index *index = scan->columns[i].index;
        if (scan->plan->columns[i] != column || index == NULL || index->statistics == NULL || index->page_count == 0)
            continue;
        *out = index->statistics[page_of_row(index, scan->segment_start)];
        table_widen_statistics(scan->table, column, out);
        return;
    }
    table_row_group_statistics(scan->table, scan->morsel.file, scan->morsel.row_group, column, out);
}

static void get_trusted_segment(const struct statistics_source *source, size_t column, struct column_statistics *out)
{
    get_segment(source, column, out);
    trust_float_statistics(out);
}

/* The segment that begins at the next row ends where the first page of a key or filter column does. */
static void find_segment(struct row_group_scan *scan)
{
    scan->segment_start = scan->row;
    scan->segment_end = scan->row_count;
    scan->segment_checked = false;
    for (size_t i = 0; i < scan->plan->stage_end[STAGE_PREDICATE]; i++) {
        const struct parquet_page_index *index = scan->columns[i].index;
        if (index == NULL || index->statistics == NULL || index->page_count == 0)
            continue;
        size_t next_page = page_of_row(index, scan->row) + 1;
        if (next_page < index->page_count)
            scan->segment_end = MIN(scan->segment_end, index->pages[next_page].first_row);
    }
}

static void skip_rows(struct row_group_scan *scan, uint64_t rows)
{
    for (size_t i = 0; i < scan->plan->column_count; i++)
        if (scan->columns[i].reader != NULL)
            parquet_column_reader_skip(scan->columns[i].reader, (size_t)rows);
    scan->row += rows;
}

/* Whether the rest of the segment can be passed over; counted once a segment. */
static bool segment_is_ruled_out(struct row_group_scan *scan)
{
    const struct parquet_scan *plan = scan->plan->scan;
    bool trust = settings_get(&scan->node->context->settings, SETTING_PARQUET_TRUST_FLOATS) != 0;
    struct segment_statistics statistics = {{trust ? get_trusted_segment : get_segment}, scan};
    struct metric_set *metrics = scan->node->metrics;
    bool fresh = !scan->segment_checked;
    bool whole_row_group = scan->segment_end - scan->segment_start == scan->row_count;
    scan->segment_checked = true;
    if (fresh && !whole_row_group && plan->predicate != NULL && !scan->morsel.predicate_proven &&
        expr_prune(plan->predicate, &statistics.source) == PRUNE_NONE_MATCH) {
        metric_add(metrics, METRIC_PAGES_PRUNED_STATISTICS, 1);
        return true;
    }
    static const enum metric pages_pruned[] = {METRIC_PAGES_PRUNED_STATISTICS, METRIC_PAGES_PRUNED_LOCAL,
                                               METRIC_PAGES_PRUNED_REMOTE};
    enum bound_origin excluded_by = bounds_exclude(plan, scan->filters, &statistics.source);
    if (excluded_by == BOUND_ORIGINS)
        return false;
    metric_add(metrics, pages_pruned[excluded_by], 1);
    return true;
}

/* Moves to the next rows that nothing rules out; false at the row group's end. */
static bool next_window(struct row_group_scan *scan, size_t batch_size)
{
    while (scan->row < scan->row_count) {
        if (scan->row >= scan->segment_end || scan->row < scan->segment_start)
            find_segment(scan);
        if (!segment_is_ruled_out(scan)) {
            scan->window_rows = (size_t)MIN(scan->segment_end - scan->row, (uint64_t)batch_size);
            return true;
        }
        skip_rows(scan, scan->segment_end - scan->row);
    }
    return false;
}

static kith_error *read_column(struct row_group_scan *scan, size_t column)
{
    struct scan_column *self = &scan->columns[column];
    if (self->reader != NULL)
        return scan_column_read(self, scan->window_rows, scan->window_selection, &self->values);
    const struct field *field = &scan->plan->scan->table_schema->fields[scan->plan->columns[column]];
    size_t rows = scan->window_selection == NULL ? scan->window_rows : scan->window_selection->count;
    return array_new_null(&field->type, rows, &self->values);
}

static void skip_column(struct row_group_scan *scan, size_t column)
{
    if (scan->columns[column].reader != NULL)
        parquet_column_reader_skip(scan->columns[column].reader, scan->window_rows);
}

/* Whether columns are decoded for those rows only that the filters of earlier ones leave. */
static bool decodes_late(const struct row_group_scan *scan)
{
    return settings_get(&scan->node->context->settings, SETTING_PARQUET_PUSHDOWN_FILTERS) != 0;
}

static size_t rows_read(const struct row_group_scan *scan)
{
    return scan->window_selection == NULL ? scan->window_rows : scan->window_selection->count;
}

static size_t rows_alive(const struct row_group_scan *scan)
{
    return scan->alive == NULL ? rows_read(scan) : scan->alive->count;
}

/* Makes the living rows the ones that later columns are read for: worth it when most have died. */
static kith_error *narrow_window(struct row_group_scan *scan, size_t columns_read)
{
    if (!decodes_late(scan) || scan->alive == NULL || scan->alive->count * 2 > rows_read(scan))
        return NULL;
    for (size_t i = 0; i < columns_read; i++) {
        struct array *kept = NULL;
        if (scan->columns[i].values == NULL)
            continue;
        TRY(array_take(scan->columns[i].values, scan->alive->rows, scan->alive->count, &kept));
        array_unref(scan->columns[i].values);
        scan->columns[i].values = kept;
    }
    if (scan->window_selection == NULL) {
        scan->window_selection = TAKE(scan->alive);
        return NULL;
    }
    _cleanup_(selection_unref) struct selection *narrower = NULL;
    TRY(selection_new(scan->alive->count, &narrower));
    for (size_t i = 0; i < scan->alive->count; i++)
        narrower->rows[i] = scan->window_selection->rows[scan->alive->rows[i]];
    narrower->count = scan->alive->count;
    selection_unref(scan->window_selection);
    selection_unref(TAKE(scan->alive));
    scan->window_selection = TAKE(narrower);
    return NULL;
}

/* The columns of the stages so far, for their filter. */
static kith_error *stage_batch(struct row_group_scan *scan, enum scan_stage stage, struct batch **out)
{
    size_t count = scan->plan->stage_end[stage];
    _cleanup_(batch_unref) struct batch *all = NULL;
    _cleanup_free_ struct array **arrays = NULL;
    TRY(NEW_ARRAY(&arrays, count));
    for (size_t i = 0; i < count; i++)
        arrays[i] = scan->columns[i].values;
    TRY(batch_new(scan->plan->stage_schemas[stage], arrays, rows_read(scan), &all));
    return batch_select(all, scan->alive, out);
}

static void keep_selection(struct row_group_scan *scan, const struct batch *filtered)
{
    struct selection *selection = filtered->selection == NULL ? NULL : selection_ref(filtered->selection);
    selection_unref(scan->alive);
    scan->alive = selection;
}

static kith_error *apply_predicate(struct row_group_scan *scan)
{
    _cleanup_(batch_unref) struct batch *batch = NULL;
    _cleanup_(batch_unref) struct batch *kept = NULL;
    if (scan->predicate == NULL || scan->morsel.predicate_proven)
        return NULL;
    TRY(stage_batch(scan, STAGE_PREDICATE, &batch));
    TRY(evaluator_filter(scan->predicate, batch, &kept));
    metric_add(scan->node->metrics, METRIC_ROWS_PRUNED_PREDICATE, batch_row_count(batch) - batch_row_count(kept));
    keep_selection(scan, kept);
    return NULL;
}

/* The task's own bound first, so that what a sibling's bound removes beyond it can be told. */
static kith_error *apply_bounds(struct row_group_scan *scan, size_t filter)
{
    static const enum metric removed_by[] = {METRIC_ROWS_PRUNED_PLANNED, METRIC_ROWS_PRUNED_LOCAL,
                                             METRIC_ROWS_PRUNED_REMOTE};
    _cleanup_(bound_unref) struct bound *strongest = NULL;
    for (int origin = 0; origin < BOUND_ORIGINS && rows_alive(scan) > 0; origin++) {
        _cleanup_(bound_unref) struct bound *bound =
            dynamic_filter_slot(scan->filters[filter], (enum bound_origin)origin);
        _cleanup_(batch_unref) struct batch *batch = NULL;
        _cleanup_(batch_unref) struct batch *kept = NULL;
        /* What a stronger bound has left, a weaker one leaves as well. */
        if (bound == NULL || (strongest != NULL && bound_compare(strongest, bound) <= 0))
            continue;
        TRY(stage_batch(scan, STAGE_KEYS, &batch));
        TRY(bound_filter(bound, scan->plan->filters[filter].exprs, scan->filter_evaluators[filter], batch, &scan->keys,
                         &kept));
        metric_add(scan->node->metrics, removed_by[origin], batch_row_count(batch) - batch_row_count(kept));
        keep_selection(scan, kept);
        bound_unref(strongest);
        strongest = TAKE(bound);
    }
    return NULL;
}

static kith_error *run_stage(struct row_group_scan *scan, enum scan_stage stage)
{
    const struct scan_plan *plan = scan->plan;
    size_t first = stage == 0 ? 0 : plan->stage_end[stage - 1];
    bool proven = stage == STAGE_PREDICATE && scan->morsel.predicate_proven;
    TRY(narrow_window(scan, first));
    for (size_t i = first; i < plan->stage_end[stage]; i++) {
        if (decodes_late(scan) && (rows_alive(scan) == 0 || (proven && !plan->in_output[i])))
            skip_column(scan, i);
        else
            TRY(read_column(scan, i));
    }
    if (rows_alive(scan) == 0)
        return NULL;
    if (stage == STAGE_PREDICATE)
        TRY(apply_predicate(scan));
    for (size_t i = 0; i < plan->scan->dynamic_filter_count; i++)
        if (plan->filter_stages[i] == stage)
            TRY(apply_bounds(scan, i));
    return NULL;
}

static void drop_window(struct row_group_scan *scan)
{
    for (size_t i = 0; i < scan->plan->column_count; i++)
        array_unref(TAKE(scan->columns[i].values));
    selection_unref(TAKE(scan->window_selection));
    selection_unref(TAKE(scan->alive));
}

/* Dictionaries that were kept for keys and filters end here: what survived is few rows, and a row that an operator
 * keeps should not keep the texts of a whole row group. */
static kith_error *decode_dictionary(struct row_group_scan *scan, size_t column)
{
    struct scan_column *self = &scan->columns[column];
    struct array *decoded = NULL;
    if (self->values->dictionary == NULL ||
        type_is_dictionary(&scan->plan->scan->table_schema->fields[scan->plan->columns[column]].type))
        return NULL;
    TRY(array_decode_dictionary(self->values, &decoded));
    array_unref(self->values);
    self->values = decoded;
    return NULL;
}

/* Where each row of the window that was read lies. */
static kith_error *window_places(const struct row_group_scan *scan, struct array **out)
{
    const struct data_type type = {.id = TYPE_UINT64};
    size_t rows = rows_read(scan);
    uint64_t first = scan->first_row + scan->row;
    if (first + scan->window_rows > SCAN_PLACE_ROWS)
        return error_hint(error_new(KITH_ERROR_LIMIT, "'%s' has more than %llu rows: their places cannot be told",
                                    scan->file->path, SCAN_PLACE_ROWS),
                          "SET optimizer.topk_fetch_rows = 0 has all columns read at once.");
    TRY(array_new(&type, rows, out));
    TRY(buffer_new(rows * sizeof(uint64_t), &(*out)->values));
    uint64_t *places = (uint64_t *)(void *)(*out)->values->data;
    for (size_t i = 0; i < rows; i++)
        places[i] = scan_place(scan->morsel.file,
                               first + (scan->window_selection == NULL ? i : scan->window_selection->rows[i]));
    return NULL;
}

static kith_error *output_batch(struct row_group_scan *scan, struct batch **out)
{
    struct schema *schema = scan->node->plan->schema;
    size_t column_count = scan_column_count(scan->node->plan);
    _cleanup_(batch_unref) struct batch *all = NULL;
    _cleanup_(array_unref) struct array *places = NULL;
    _cleanup_free_ struct array **arrays = NULL;
    TRY(NEW_ARRAY(&arrays, schema->field_count));
    for (size_t i = 0; i < column_count; i++) {
        TRY(decode_dictionary(scan, scan->plan->output[i]));
        arrays[i] = scan->columns[scan->plan->output[i]].values;
    }
    if (scan->plan->scan->gives_places) {
        TRY(window_places(scan, &places));
        arrays[column_count] = places;
    }
    TRY(batch_new(schema, arrays, rows_read(scan), &all));
    return batch_select(all, scan->alive, out);
}

static kith_error *read_window(struct row_group_scan *scan, struct batch **out)
{
    metric_add(scan->node->metrics, METRIC_ROWS_SCANNED, scan->window_rows);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        TRY(run_stage(scan, (enum scan_stage)stage));
    if (rows_alive(scan) > 0)
        TRY(output_batch(scan, out));
    scan->row += scan->window_rows;
    return NULL;
}

static void close_row_group(struct row_group_scan *scan)
{
    drop_window(scan);
    for (size_t i = 0; i < scan->plan->column_count; i++) {
        if (scan->columns[i].reader != NULL)
            nan_watch_end(&scan->columns[i].nan_watch, scan->file->file);
        scan_column_close(&scan->columns[i]);
    }
    scan_flush_metrics(scan->node->metrics, &scan->metrics);
    metric_add(scan->node->metrics, METRIC_ROW_GROUPS_READ, scan->open);
    scan->open = false;
}

static kith_error *open_column(struct row_group_scan *scan, size_t column, const struct settings *settings)
{
    size_t table_column = scan->plan->columns[column];
    ptrdiff_t chunk = scan->file->columns[table_column];
    struct parquet_file *file = scan->file->file;
    if (chunk < 0)
        return NULL;
    if (column < scan->plan->stage_end[STAGE_KEYS])
        nan_watch_start(&scan->columns[column].nan_watch, file, scan->morsel.row_group, (size_t)chunk);
    const struct scan_column_options options = {
        /* Keys and filters are decided once for each text of a dictionary. */
        .keep_dictionary = column < scan->plan->stage_end[STAGE_PREDICATE],
        .may_skip = scan->plan->scan->predicate != NULL || scan->plan->scan->dynamic_filter_count > 0,
        .type = &scan->table->schema->fields[table_column].type,
    };
    return scan_column_open(&scan->columns[column], file, scan->morsel.row_group, (size_t)chunk, options, settings,
                            &scan->metrics);
}

kith_error *row_group_scan_open(struct row_group_scan *scan, const struct morsel *morsel)
{
    close_row_group(scan);
    scan->morsel = *morsel;
    scan->file = &scan->table->files[morsel->file];
    const struct parquet_row_group *row_groups = scan->file->file->metadata->row_groups;
    scan->row_count = (uint64_t)row_groups[morsel->row_group].row_count;
    scan->first_row = 0;
    for (size_t i = 0; i < morsel->row_group; i++)
        scan->first_row += (uint64_t)row_groups[i].row_count;
    scan->row = 0;
    scan->segment_start = scan->segment_end = 0;
    scan->open = true;
    for (size_t i = 0; i < scan->plan->column_count; i++)
        TRY(open_column(scan, i, &scan->node->context->settings));
    return NULL;
}

kith_error *row_group_scan_next(struct row_group_scan *scan, struct batch **out)
{
    size_t batch_size = (size_t)settings_get(&scan->node->context->settings, SETTING_BATCH_SIZE);
    while (scan->open && next_window(scan, batch_size)) {
        kith_error *error = read_window(scan, out);
        drop_window(scan);
        scan_flush_metrics(scan->node->metrics, &scan->metrics);
        TRY(error);
        if (*out != NULL)
            return NULL;
        TRY(operator_charge(scan->node, 1));
    }
    close_row_group(scan);
    return NULL;
}

kith_error *row_group_scan_new(const struct scan_plan *plan, struct table *table, struct dynamic_filter **filters,
                               struct exec_operator *node, struct row_group_scan **out)
{
    _cleanup_(row_group_scan_free) struct row_group_scan *scan = NULL;
    size_t filter_count = plan->scan->dynamic_filter_count;
    TRY(NEW(&scan));
    scan->plan = plan;
    scan->table = table;
    scan->filters = filters;
    scan->node = node;
    TRY(NEW_ARRAY(&scan->columns, plan->column_count));
    TRY(NEW_ARRAY(&scan->filter_evaluators, filter_count));
    for (size_t i = 0; i < filter_count; i++) {
        TRY(NEW_ARRAY(&scan->filter_evaluators[i], plan->filters[i].count));
        for (size_t j = 0; j < plan->filters[i].count; j++)
            TRY(evaluator_new(plan->filters[i].exprs[j].expr, &scan->filter_evaluators[i][j]));
    }
    if (plan->predicate != NULL)
        TRY(evaluator_new(plan->predicate, &scan->predicate));
    *out = TAKE(scan);
    return NULL;
}

static void free_filter_evaluators(struct row_group_scan *scan)
{
    for (size_t i = 0; scan->filter_evaluators != NULL && i < scan->plan->scan->dynamic_filter_count; i++) {
        for (size_t j = 0; scan->filter_evaluators[i] != NULL && j < scan->plan->filters[i].count; j++)
            evaluator_free(scan->filter_evaluators[i][j]);
        free(scan->filter_evaluators[i]);
    }
    free(scan->filter_evaluators);
}

void row_group_scan_free(struct row_group_scan *scan)
{
    if (scan == NULL)
        return;
    if (scan->columns != NULL)
        close_row_group(scan);
    free(scan->columns);
    free_filter_evaluators(scan);
    evaluator_free(scan->predicate);
    sort_keys_reset(&scan->keys);
    free(scan);
}
