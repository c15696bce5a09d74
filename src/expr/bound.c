#include "base/alloc.h"
#include "expr/dynamic_filter.h"

static void free_bound(struct bound *bound)
{
    free(bound->values);
    free(bound->key);
    free(bound);
}
DEFINE_CLEANUP(free_bound, struct bound)

static bool owns_string(const struct scalar *value)
{
    return !value->is_null && (type_is_string(value->type.id) || type_is_binary(value->type.id));
}

/* Values and the bytes of their strings in one block. */
static kith_error *copy_values(const struct scalar *values, size_t count, struct scalar **out)
{
    size_t string_bytes = 0;
    for (size_t i = 0; i < count; i++)
        string_bytes += owns_string(&values[i]) ? values[i].string.length : 0;
    TRY(alloc_zeroed(1, count * sizeof **out + string_bytes, out));
    char *strings = (char *)(*out + count);
    for (size_t i = 0; i < count; i++) {
        struct scalar *copy = &(*out)[i];
        *copy = values[i];
        if (!owns_string(copy) || copy->string.length == 0)
            continue;
        memcpy(strings, values[i].string.data, copy->string.length);
        copy->string.data = strings;
        strings += copy->string.length;
    }
    return NULL;
}

kith_error *bound_new(const struct scalar *values, const struct sort_order *orders, size_t count, int64_t found_ns,
                      struct bound **out)
{
    _cleanup_(free_bound) struct bound *bound = NULL;
    _cleanup_(strbuf_reset) struct strbuf key = {0};
    TRY(NEW(&bound));
    TRY(copy_values(values, count, &bound->values));
    TRY(sort_key_encode_scalars(values, orders, count, &key));
    refcount_init(&bound->refs);
    bound->value_count = count;
    bound->key_length = key.length;
    bound->key = (uint8_t *)strbuf_take(&key);
    bound->found_ns = found_ns;
    *out = TAKE(bound);
    return NULL;
}

size_t bound_memory_bytes(const struct bound *bound)
{
    /* Strings lie in the bound and, escaped, in its key. */
    return sizeof *bound + bound->value_count * sizeof *bound->values + 2 * bound->key_length;
}

struct bound *bound_ref(struct bound *bound)
{
    refcount_take(&bound->refs);
    return bound;
}

void bound_unref(struct bound *bound)
{
    if (bound != NULL && refcount_drop(&bound->refs))
        free_bound(bound);
}

kith_error *bound_new_planned(const struct scalar *value, struct sort_order order, struct bound **out)
{
    TRY(bound_new(value, &order, 1, 0, out));
    (*out)->inclusive = true;
    return NULL;
}

/* Order by strength of two bounds by what they are made of. Keys of one sort with as many columns are never prefixes of
 * each other, so where one is, it has fewer columns. */
static int compare_strength(struct str a, bool a_inclusive, struct str b, bool b_inclusive)
{
    size_t shared = MIN(a.length, b.length);
    int order = shared == 0 ? 0 : memcmp(a.data, b.data, shared);
    if (order != 0)
        return order;
    /* (v, w) excludes every row that "worse than v" excludes, and fewer than "v or worse" does. */
    if (a.length != b.length) {
        bool shorter_is_inclusive = a.length < b.length ? a_inclusive : b_inclusive;
        return (a.length < b.length) == shorter_is_inclusive ? 1 : -1;
    }
    return (int)a_inclusive - (int)b_inclusive;
}

static struct str key_of(const struct bound *bound)
{
    return (struct str){(const char *)bound->key, bound->key_length};
}

int bound_compare(const struct bound *a, const struct bound *b)
{
    return compare_strength(key_of(a), a->inclusive, key_of(b), b->inclusive);
}

bool bound_is_beaten_by(const struct bound *bound, struct str key)
{
    return compare_strength(key, false, key_of(bound), bound->inclusive) < 0;
}

bool bound_is_ahead_of(const struct bound *bound, struct str key)
{
    size_t shared = MIN(key.length, bound->key_length);
    return shared > 0 && memcmp(bound->key, key.data, shared) < 0;
}

bool statistics_best_value(const struct column_statistics *statistics, const struct data_type *type,
                           struct sort_order order, struct scalar *out)
{
    *out = scalar_null(type);
    if (order.nulls_first && statistics_may_have_null(statistics))
        return true;
    if (statistics_all_null(statistics))
        return true;
    /* NaN is the largest value and lies outside of min and max. */
    if (order.descending && statistics->may_have_nan)
        return false;
    if (order.descending ? !statistics->has_max : !statistics->has_min)
        return false;
    *out = order.descending ? statistics->max : statistics->min;
    return true;
}

bool statistics_worst_value(const struct column_statistics *statistics, struct sort_order order, struct scalar *out)
{
    if (!order.nulls_first && statistics_may_have_null(statistics))
        return false;
    if (!order.descending && statistics->may_have_nan)
        return false;
    *out = order.descending ? statistics->min : statistics->max;
    return order.descending ? statistics->has_min : statistics->has_max;
}

bool bound_excludes_best(const struct bound *bound, const struct scalar *best, struct sort_order order)
{
    int compared = sort_order_compare(best, &bound->values[0], order);
    return compared > 0 || (compared == 0 && bound->value_count == 1 && !bound->inclusive);
}

bool bound_excludes(const struct bound *bound, const struct sort_expr *exprs,
                    const struct statistics_source *statistics)
{
    for (size_t i = 0; i < bound->value_count; i++) {
        struct column_statistics column;
        struct scalar best;
        if (exprs[i].expr->kind != EXPR_COLUMN)
            return false;
        statistics->get(statistics, exprs[i].expr->column.index, &column);
        if (!statistics_best_value(&column, &exprs[i].expr->type, exprs[i].order, &best))
            return false;
        int order = sort_order_compare(&best, &bound->values[i], exprs[i].order);
        if (order != 0)
            return order > 0;
        /* No row is better in this key; those that tie must be better in a later one. */
    }
    return !bound->inclusive;
}
