#include "plan/attach_bound.h"

#include "base/vec.h"
#include "plan/planned_bound.h"

struct attachment {
    struct arena *arena;
    uint64_t id;
    VEC(struct scan_dynamic_filter *) filters; /* of the scans that can use the bound */
    VEC(struct planned_bound_source) sources;  /* those of them all of whose rows reach the sort */
};

static void attachment_reset(struct attachment *attachment)
{
    vec_reset(&attachment->filters);
    vec_reset(&attachment->sources);
}
DEFINE_VALUE_CLEANUP(attachment_reset, struct attachment)

static bool any_may_fail(const struct sort_expr *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (expr_may_fail(keys[i].expr))
            return true;
    return false;
}

static bool any_is_volatile(const struct expr *const *exprs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (expr_is_volatile(exprs[i]))
            return true;
    return false;
}

/* The columns that the scan gives, as the table calls them. */
static kith_error *table_columns(struct arena *arena, const struct parquet_scan *scan, size_t count,
                                 const struct expr ***out)
{
    TRY(ARENA_NEW_ARRAY(arena, out, count));
    for (size_t i = 0; i < count; i++)
        TRY(expr_column(arena, scan->table_schema, scan->columns[i], &(*out)[i]));
    return NULL;
}

static kith_error *attach_to_scan(struct attachment *attachment, struct physical_plan *plan,
                                  const struct sort_expr *keys, size_t count, bool every_row)
{
    struct parquet_scan *scan = &plan->scan;
    const struct expr **columns;
    struct sort_expr *exprs;
    struct scan_dynamic_filter *filter;
    ASSERT(scan->dynamic_filter_count == 0); /* each way up to another Top-K ends at the first one's limit */
    TRY(ARENA_NEW_ARRAY(attachment->arena, &exprs, count));
    TRY(ARENA_NEW(attachment->arena, &filter));
    TRY(table_columns(attachment->arena, scan, plan->schema->field_count, &columns));
    for (size_t i = 0; i < count; i++) {
        exprs[i].order = keys[i].order;
        TRY(expr_substitute(attachment->arena, keys[i].expr, columns, &exprs[i].expr));
        ASSERT(exprs[i].expr != NULL); /* a column for a column makes nothing larger */
    }
    *filter = (struct scan_dynamic_filter){.id = attachment->id, .exprs = exprs, .count = count};
    if (every_row)
        TRY(vec_push(&attachment->sources, ((struct planned_bound_source){scan, &exprs[0]})));
    scan->dynamic_filters = filter;
    scan->dynamic_filter_count = 1;
    return vec_push(&attachment->filters, filter);
}

static kith_error *attach(struct attachment *attachment, struct physical_plan *plan, const struct sort_expr *keys,
                          size_t count, bool every_row);

/* The keys as what the projection computes. A plain column is one below; another expression is evaluated there. */
static kith_error *attach_below_projection(struct attachment *attachment, struct physical_plan *projection,
                                           const struct sort_expr *keys, size_t count, bool every_row)
{
    struct sort_expr *below;
    if (any_is_volatile(projection->projection.exprs, projection->schema->field_count))
        return NULL;
    TRY(ARENA_NEW_ARRAY(attachment->arena, &below, count));
    for (size_t i = 0; i < count; i++) {
        below[i].order = keys[i].order;
        TRY(expr_substitute(attachment->arena, keys[i].expr, projection->projection.exprs, &below[i].expr));
        if (below[i].expr == NULL)
            return NULL;
    }
    return attach(attachment, projection->inputs[0], below, count, every_row);
}

/* `every_row`: all of the rows here reach the sort. */
static kith_error *attach(struct attachment *attachment, struct physical_plan *plan, const struct sort_expr *keys,
                          size_t count, bool every_row)
{
    switch ((int)plan->kind) {
    case PHYSICAL_FILTER:
        /* Keys that fail for rows which the filter is to remove must not be computed below it. */
        if (expr_is_volatile(plan->filter.predicate) || any_may_fail(keys, count))
            return NULL;
        return attach(attachment, plan->inputs[0], keys, count, false);
    case PHYSICAL_PROJECTION:
        return attach_below_projection(attachment, plan, keys, count, every_row);
    case PHYSICAL_UNION:
        for (size_t i = 0; i < plan->input_count; i++)
            TRY(attach(attachment, plan->inputs[i], keys, count, every_row));
        return NULL;
    case PHYSICAL_PARQUET_SCAN:
        return attach_to_scan(attachment, plan, keys, count, every_row);
    default:
        return NULL;
    }
}

static bool any_key_is_volatile(const struct physical_plan *sort)
{
    for (size_t i = 0; i < sort->sort.count; i++)
        if (expr_is_volatile(sort->sort.exprs[i].expr))
            return true;
    return false;
}

kith_error *topk_attach_bound(struct arena *arena, const struct settings *settings, struct physical_plan *const *sorts,
                              size_t count, uint64_t id, bool *attached)
{
    _cleanup_(attachment_reset) struct attachment attachment = {.arena = arena, .id = id};
    int64_t fetch = sorts[0]->sort.fetch;
    const struct scalar *planned = NULL;
    for (size_t i = 0; i < count && fetch > 0 && !any_key_is_volatile(sorts[i]); i++)
        TRY(attach(&attachment, sorts[i]->inputs[0], sorts[i]->sort.exprs, sorts[i]->sort.count, true));
    if (settings_get(settings, SETTING_PLANNED_BOUNDS) != 0)
        TRY(planned_bound(arena, attachment.sources.items, attachment.sources.length, (uint64_t)fetch, &planned));
    for (size_t i = 0; i < attachment.filters.length; i++)
        attachment.filters.items[i]->planned = planned;
    *attached = attachment.filters.length > 0;
    for (size_t i = 0; i < count && *attached; i++)
        sorts[i]->sort.filter_id = id;
    return NULL;
}
