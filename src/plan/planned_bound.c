#include "plan/planned_bound.h"

#include "base/vec.h"
#include "columnar/utf8.h"
#include "expr/pruning.h"
#include "runtime/sort_in_turns.h"

/* So many rows are no worse than `worst`. */
struct proof {
    struct scalar worst;
    uint64_t rows;
};

struct proofs {
    struct sort_order order;
    VEC(struct proof) items;
};

/* What a row group proves; false when nothing. NULL counts as a row where it comes first, for it is better than any
 * value. */
static bool row_group_proof(const struct column_statistics *statistics, struct sort_order order, struct proof *out)
{
    /* NaN is larger than the maximum: no worse than it in descending order, worse in ascending. */
    if (statistics->may_have_nan && !order.descending)
        return false;
    if (!order.nulls_first && (!statistics->has_null_count || statistics->null_count > statistics->row_count))
        return false;
    if (order.descending ? !statistics->has_min : !statistics->has_max)
        return false;
    out->worst = order.descending ? statistics->min : statistics->max;
    out->rows = order.nulls_first ? statistics->row_count : statistics->row_count - statistics->null_count;
    return out->rows > 0;
}

static int compare_proofs(const void *a, const void *b, void *context)
{
    const struct proof *x = a, *y = b;
    const struct sort_order *order = context;
    return sort_order_compare(&x->worst, &y->worst, *order);
}

struct row_group {
    struct statistics_source source;
    const struct table *table;
    size_t file, number;
};

static void get_statistics(const struct statistics_source *source, size_t column, struct column_statistics *out)
{
    const struct row_group *self = CONTAINER_OF(source, const struct row_group, source);
    table_row_group_statistics(self->table, self->file, self->number, column, out);
}

/* Whether all of its rows are rows of the query. */
static bool satisfies(const struct row_group *row_group, const struct expr *predicate)
{
    return predicate == NULL || expr_prune(predicate, &row_group->source) == PRUNE_ALL_MATCH;
}

/* A plan carries the bound as text, if it is one, and statistics may be cut in the middle of a character. */
static bool can_be_sent(const struct scalar *value)
{
    return value->is_null || !type_is_string(value->type.id) || utf8_is_valid(value->string.data, value->string.length);
}

/* A predicate of EXPR_NODES is judged in less than a millisecond. */
static size_t row_groups_a_charge(const struct parquet_scan *scan)
{
    return scan->predicate == NULL ? 64 : 1;
}

static kith_error *collect(const struct parquet_scan *scan, const struct sort_expr *key, struct proofs *proofs)
{
    if (scan->table == NULL || key->expr->kind != EXPR_COLUMN)
        return NULL;
    for (size_t file = 0; file < scan->table->file_count; file++) {
        const struct parquet_metadata *metadata = scan->table->files[file].file->metadata;
        for (size_t number = 0; number < metadata->row_group_count; number++) {
            const struct row_group row_group = {{get_statistics}, scan->table, file, number};
            struct column_statistics statistics;
            struct proof proof;
            get_statistics(&row_group.source, key->expr->column.index, &statistics);
            if (row_group_proof(&statistics, proofs->order, &proof) && can_be_sent(&proof.worst) &&
                satisfies(&row_group, scan->predicate))
                TRY(vec_push(&proofs->items, proof));
            TRY(coop_charge_every(row_groups_a_charge(scan), number));
        }
        TRY(coop_charge_every(row_groups_a_charge(scan), file));
    }
    return NULL;
}

kith_error *planned_bound(struct arena *arena, const struct planned_bound_source *sources, size_t count, uint64_t rows,
                          const struct scalar **out)
{
    struct proofs proofs = {0};
    uint64_t proved = 0;
    kith_error *error = NULL;
    *out = NULL;
    for (size_t i = 0; i < count && error == NULL; i++) {
        proofs.order = sources[i].key->order;
        error = collect(sources[i].scan, sources[i].key, &proofs);
    }
    const struct sort_in_turns by_worst = {
        .size = sizeof *proofs.items.items, .compare = compare_proofs, .context = &proofs.order};
    if (error == NULL)
        error = sort_array_in_turns(&by_worst, proofs.items.items, proofs.items.length);
    for (size_t i = 0; error == NULL && *out == NULL && i < proofs.items.length; i++) {
        struct scalar *bound;
        proved += proofs.items.items[i].rows;
        if (proved < rows)
            continue;
        error = ARENA_NEW(arena, &bound);
        if (error == NULL)
            error = scalar_copy(&proofs.items.items[i].worst, arena, bound);
        *out = bound;
    }
    vec_reset(&proofs.items);
    return error;
}
