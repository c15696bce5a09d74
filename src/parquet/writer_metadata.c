#include "parquet/thrift_writer.h"
#include "parquet/writer_parts.h"

/* BoundaryOrder's numbers. */
enum boundary_order { BOUNDARY_UNORDERED = 0, BOUNDARY_ASCENDING = 1, BOUNDARY_DESCENDING = 2 };

static kith_error *append_statistics(const struct writer_values *values, const struct writer_bounds *bounds,
                                     struct strbuf *out)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    bool min_exact = true, max_exact = true;
    size_t min_bytes = 0;
    if (bounds->has) {
        TRY(writer_bound_text(values, bounds->min, true, &text, &min_exact));
        min_bytes = text.length;
        TRY(writer_bound_text(values, bounds->max, false, &text, &max_exact));
    }
    struct thrift_writer thrift = thrift_writer_make(out);
    thrift_write_i64(&thrift, 3, bounds->null_count);
    if (bounds->has) {
        thrift_write_binary(&thrift, 5, (struct str){text.data + min_bytes, text.length - min_bytes});
        thrift_write_binary(&thrift, 6, (struct str){text.data, min_bytes});
        thrift_write_bool(&thrift, 7, max_exact);
        thrift_write_bool(&thrift, 8, min_exact);
    }
    if (type_is_float(values->type->column.type.id))
        thrift_write_i64(&thrift, 9, bounds->nan_count);
    thrift_end_struct(&thrift);
    return thrift_writer_finish(&thrift);
}

static enum boundary_order order_of(const struct writer_values *values, const struct writer_page *pages, size_t count)
{
    bool ascending = true, descending = true;
    const struct writer_bounds *previous = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct writer_bounds *bounds = &pages[i].bounds;
        if (!bounds->has)
            continue;
        if (previous != NULL) {
            int min = writer_compare(values, previous->min, bounds->min);
            int max = writer_compare(values, previous->max, bounds->max);
            ascending = ascending && min <= 0 && max <= 0;
            descending = descending && min >= 0 && max >= 0;
        }
        previous = bounds;
    }
    return ascending ? BOUNDARY_ASCENDING : descending ? BOUNDARY_DESCENDING : BOUNDARY_UNORDERED;
}

static uint64_t page_rows(const struct writer_page *pages, size_t count, size_t page, int64_t rows)
{
    return (page + 1 < count ? pages[page + 1].first_row : (uint64_t)rows) - pages[page].first_row;
}

/* One list of bounds. A page without values has an empty one. */
static kith_error *put_bounds(struct thrift_writer *thrift, const struct writer_values *values,
                              const struct writer_page *pages, size_t count, bool is_min)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    thrift_begin_list(thrift, is_min ? 2 : 3, THRIFT_BINARY, count);
    for (size_t i = 0; i < count; i++) {
        const struct writer_bounds *bounds = &pages[i].bounds;
        bool exact;
        text.length = 0;
        if (bounds->has)
            TRY(writer_bound_text(values, is_min ? bounds->min : bounds->max, is_min, &text, &exact));
        thrift_put_binary(thrift, (struct str){strbuf_text(&text), text.length});
    }
    return NULL;
}

/* A chunk with a page of nothing but NaN (and NULL) has no column index: the format demands bounds of it, and forbids
 * NaN in them. */
static bool has_column_index(const struct writer_values *values, const struct writer_page *pages, size_t count,
                             int64_t rows)
{
    if (!values->type->column.order_defined)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!pages[i].bounds.has && (uint64_t)pages[i].bounds.null_count != page_rows(pages, count, i, rows))
            return false;
    }
    return true;
}

static kith_error *append_column_index(const struct writer_values *values, const struct writer_page *pages,
                                       size_t count, struct strbuf *out)
{
    struct thrift_writer thrift = thrift_writer_make(out);
    thrift_begin_list(&thrift, 1, THRIFT_TRUE, count);
    for (size_t i = 0; i < count; i++)
        thrift_put_bool(&thrift, !pages[i].bounds.has);
    kith_error *error = put_bounds(&thrift, values, pages, count, true);
    if (error == NULL)
        error = put_bounds(&thrift, values, pages, count, false);
    thrift_write_i32(&thrift, 4, order_of(values, pages, count));
    thrift_begin_list(&thrift, 5, THRIFT_I64, count);
    for (size_t i = 0; i < count; i++)
        thrift_put_i64(&thrift, pages[i].bounds.null_count);
    if (type_is_float(values->type->column.type.id)) {
        thrift_begin_list(&thrift, 8, THRIFT_I64, count);
        for (size_t i = 0; i < count; i++)
            thrift_put_i64(&thrift, pages[i].bounds.nan_count);
    }
    thrift_end_struct(&thrift);
    kith_error *write_error = thrift_writer_finish(&thrift);
    if (error == NULL)
        return write_error;
    error_free(write_error);
    return error;
}

static kith_error *append_offset_index(const struct writer_page *pages, size_t count, struct strbuf *out)
{
    struct thrift_writer thrift = thrift_writer_make(out);
    thrift_begin_list(&thrift, 1, THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        thrift_begin_element(&thrift);
        thrift_write_i64(&thrift, 1, (int64_t)pages[i].offset);
        thrift_write_i32(&thrift, 2, (int32_t)pages[i].bytes);
        thrift_write_i64(&thrift, 3, (int64_t)pages[i].first_row);
        thrift_end_struct(&thrift);
    }
    thrift_end_struct(&thrift);
    return thrift_writer_finish(&thrift);
}

kith_error *writer_describe_chunk(const struct writer_values *values, const struct writer_page *pages, size_t count,
                                  const struct parquet_write_options *options, struct writer_chunk *out)
{
    struct writer_bounds all = {0};
    if (options->no_statistics)
        return NULL;
    for (size_t i = 0; i < count; i++)
        writer_bounds_add(values, &all, &pages[i].bounds);
    TRY(append_statistics(values, &all, &out->statistics));
    if (options->no_page_index)
        return NULL;
    TRY(append_offset_index(pages, count, &out->offset_index));
    if (has_column_index(values, pages, count, out->value_count))
        TRY(append_column_index(values, pages, count, &out->column_index));
    return NULL;
}

void writer_chunk_reset(struct writer_chunk *chunk)
{
    strbuf_reset(&chunk->statistics);
    strbuf_reset(&chunk->column_index);
    strbuf_reset(&chunk->offset_index);
}
