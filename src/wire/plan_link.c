#include "base/limits.h"
#include "wire/plan_parts.h"

#include <inttypes.h>

static const struct physical_plan *find_producer(const struct plan_decoder *decoder, uint64_t id)
{
    for (size_t i = 0; i < decoder->producers.length; i++)
        if (decoder->producers.items[i]->sort.filter_id == id)
            return decoder->producers.items[i];
    return NULL;
}

static struct scan_dynamic_filter *filter_of(const struct scan_filter *entry)
{
    return &entry->scan->dynamic_filters[entry->index];
}

static kith_error *check_alike(uint64_t id, const struct sort_expr *a, size_t a_count, const struct sort_expr *b,
                               size_t b_count)
{
    bool alike = a_count == b_count;
    for (size_t i = 0; alike && i < a_count; i++)
        alike = type_equal(&a[i].expr->type, &b[i].expr->type) && a[i].order.descending == b[i].order.descending &&
                a[i].order.nulls_first == b[i].order.nulls_first;
    if (alike)
        return NULL;
    return error_new(KITH_ERROR_CORRUPT, "the dynamic filter %" PRIu64 " has different keys in two places of the plan",
                     id);
}

/* The Top-Ks of a union's members tighten one filter: a bound that one of them finds must hold for all. */
static kith_error *check_producers(const struct plan_decoder *decoder)
{
    for (size_t i = 0; i < decoder->producers.length; i++) {
        const struct physical_plan *sort = decoder->producers.items[i];
        const struct physical_plan *first = find_producer(decoder, sort->sort.filter_id);
        if (first->sort.fetch != sort->sort.fetch)
            return error_new(KITH_ERROR_CORRUPT,
                             "sorts in the plan tighten the dynamic filter %" PRIu64 " at different numbers of rows",
                             sort->sort.filter_id);
        TRY(check_alike(sort->sort.filter_id, sort->sort.exprs, sort->sort.count, first->sort.exprs,
                        first->sort.count));
    }
    return NULL;
}

static kith_error *link_to_producer(struct scan_filter *entry, const struct physical_plan *producer)
{
    struct scan_dynamic_filter *filter = filter_of(entry);
    size_t count = MIN(filter->count, producer->sort.count);
    for (size_t i = 0; !entry->has_orders && i < count; i++)
        entry->exprs[i].order = producer->sort.exprs[i].order;
    entry->has_orders = true;
    return check_alike(filter->id, filter->exprs, filter->count, producer->sort.exprs, producer->sort.count);
}

/* Two scans may have one filter: whoever applies a bound to both must find the same keys. */
static kith_error *check_against_earlier(const struct plan_decoder *decoder, size_t index)
{
    const struct scan_dynamic_filter *filter = filter_of(&decoder->filters.items[index]);
    for (size_t i = 0; i < index; i++) {
        const struct scan_filter *earlier = &decoder->filters.items[i];
        const struct scan_dynamic_filter *other = filter_of(earlier);
        if (earlier->has_orders && other->id == filter->id)
            TRY(check_alike(filter->id, filter->exprs, filter->count, other->exprs, other->count));
    }
    return NULL;
}

static void drop_unlinked(struct parquet_scan *scan)
{
    size_t kept = 0;
    for (size_t i = 0; i < scan->dynamic_filter_count; i++)
        if (scan->dynamic_filters[i].count > 0)
            scan->dynamic_filters[kept++] = scan->dynamic_filters[i];
    scan->dynamic_filter_count = kept;
}

kith_error *plan_link_filters(struct plan_decoder *decoder)
{
    TRY(check_producers(decoder));
    for (size_t i = 0; i < decoder->filters.length; i++) {
        struct scan_filter *entry = &decoder->filters.items[i];
        const struct physical_plan *producer = find_producer(decoder, filter_of(entry)->id);
        if (producer != NULL)
            TRY(link_to_producer(entry, producer));
        if (entry->has_orders)
            TRY(check_against_earlier(decoder, i));
    }
    /* Marked first and taken out afterwards: taking one out moves others of the same scan. */
    for (size_t i = 0; i < decoder->filters.length; i++)
        if (!decoder->filters.items[i].has_orders)
            filter_of(&decoder->filters.items[i])->count = 0;
    for (size_t i = 0; i < decoder->filters.length; i++)
        drop_unlinked(decoder->filters.items[i].scan);
    return NULL;
}
