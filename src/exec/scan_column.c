#include "compute/widen.h"
#include "exec/scan.h"

kith_error *scan_column_open(struct scan_column *column, struct parquet_file *file, size_t row_group, size_t chunk,
                             struct scan_column_options options, const struct settings *settings,
                             struct parquet_read_metrics *metrics)
{
    const struct parquet_read_options reading = {
        .keep_dictionary = options.keep_dictionary,
        .verify_checksums = settings_get(settings, SETTING_PARQUET_VERIFY_CHECKSUMS) != 0,
    };
    const struct data_type *type = &file->metadata->columns[chunk].type;
    column->wider = type_equal_decoded(type, options.type) ? NULL : options.type;
    const struct parquet_chunk *described = &file->metadata->row_groups[row_group].chunks[chunk];
    if (options.may_skip && settings_get(settings, SETTING_PARQUET_PAGE_INDEX) != 0 &&
        described->pages.length >= (uint64_t)settings_get(settings, SETTING_PARQUET_PAGE_INDEX_BYTES))
        TRY(parquet_page_index_read(file, row_group, chunk, &metrics->bytes_read, &column->index));
    return parquet_column_reader_new(file, row_group, chunk, column->index, &reading, metrics, &column->reader);
}

kith_error *scan_column_read(struct scan_column *column, size_t rows, const struct selection *selection,
                             struct array **out)
{
    _cleanup_(array_unref) struct array *values = NULL;
    TRY(parquet_column_reader_read(column->reader, rows, selection, &values));
    nan_watch_see(&column->nan_watch, values);
    if (column->wider != NULL)
        return array_widen(values, column->wider, out);
    *out = TAKE(values);
    return NULL;
}

void scan_column_close(struct scan_column *column)
{
    parquet_column_reader_free(TAKE(column->reader));
    parquet_page_index_free(TAKE(column->index));
}

void scan_flush_metrics(struct metric_set *to, struct parquet_read_metrics *from)
{
    metric_add(to, METRIC_BYTES_SCANNED, from->bytes_read);
    metric_add(to, METRIC_PAGES_READ, from->pages_read);
    metric_add(to, METRIC_PAGES_SKIPPED, from->pages_skipped);
    metric_add(to, METRIC_DECODE_TIME, (uint64_t)from->decode_ns);
    *from = (struct parquet_read_metrics){0};
}
