/*
 * NaN, which statistics of few files speak of: learning that a column chunk has none, so that later queries can pass it
 * over.
 */
#include "exec/scan.h"

/* Plain loops without an early end, which the compiler vectorises: NaN is rare. What NULL rows hold counts as well. */
static bool has_nan(const struct array *array)
{
    bool found = false;
    if (array->type.id == TYPE_FLOAT32) {
        const float *values = array_values(array);
        for (size_t i = 0; i < array->length; i++)
            found |= values[i] != values[i];
    } else if (array->type.id == TYPE_FLOAT64) {
        const double *values = array_values(array);
        for (size_t i = 0; i < array->length; i++)
            found |= values[i] != values[i];
    } else {
        found = true; /* FLOAT16 is not looked at */
    }
    return found;
}

void nan_watch_start(struct nan_watch *watch, const struct parquet_file *file, size_t row_group, size_t column)
{
    struct column_statistics statistics;
    parquet_row_group_statistics(file, row_group, column, &statistics);
    *watch = (struct nan_watch){.row_group = row_group, .column = column, .active = statistics.may_have_nan};
}

void nan_watch_see(struct nan_watch *watch, const struct array *array)
{
    if (!watch->active)
        return;
    watch->active = !has_nan(array);
    watch->rows += array->length;
}

void nan_watch_end(struct nan_watch *watch, struct parquet_file *file)
{
    uint64_t all = (uint64_t)file->metadata->row_groups[watch->row_group].row_count;
    if (watch->active && watch->rows == all)
        parquet_file_note_no_nan(file, watch->row_group, watch->column);
    watch->active = false;
}
