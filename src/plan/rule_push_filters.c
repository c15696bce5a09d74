#include "plan/rules.h"

struct pusher {
    struct arena *arena;
    bool into_scans;
};

static kith_error *conjunction(struct arena *arena, const struct expr *first, const struct expr *second,
                               const struct expr **out)
{
    const struct expr *both[] = {first, second};
    return expr_logical(arena, EXPR_AND, both, ARRAY_SIZE(both), out);
}

static kith_error *put_filter(struct pusher *pusher, const struct expr *predicate, struct logical_plan **place)
{
    struct logical_plan *filter;
    TRY(logical_plan_new(pusher->arena, LOGICAL_FILTER, (*place)->schema, *place, &filter));
    filter->filter.predicate = predicate;
    *place = filter;
    return NULL;
}

static kith_error *put_into_scan(struct pusher *pusher, const struct expr *predicate, struct logical_plan *scan)
{
    TRY(expr_remap(pusher->arena, predicate, scan->scan.columns, &predicate));
    if (scan->scan.filter != NULL)
        return conjunction(pusher->arena, scan->scan.filter, predicate, &scan->scan.filter);
    scan->scan.filter = predicate;
    return NULL;
}

/* Puts the predicate, which is not volatile, as far down below *place as it may go. A filter that stands there is
 * evaluated first: it may keep rows away for which this one fails. */
static kith_error *sink(struct pusher *pusher, const struct expr *predicate, struct logical_plan **place)
{
    struct logical_plan *node = *place;
    const struct expr *below = NULL;
    switch (node->kind) {
    case LOGICAL_SCAN:
        return pusher->into_scans ? put_into_scan(pusher, predicate, node) : put_filter(pusher, predicate, place);
    case LOGICAL_FILTER:
        if (expr_is_volatile(node->filter.predicate))
            return put_filter(pusher, predicate, place);
        return conjunction(pusher->arena, node->filter.predicate, predicate, &node->filter.predicate);
    case LOGICAL_PROJECTION:
        if (!logical_projection_is_volatile(node))
            TRY(expr_substitute(pusher->arena, predicate, node->projection.exprs, &below));
        return below == NULL ? put_filter(pusher, predicate, place) : sink(pusher, below, &node->inputs[0]);
    case LOGICAL_SORT:
        return node->sort.fetch < 0 ? sink(pusher, predicate, &node->inputs[0]) : put_filter(pusher, predicate, place);
    case LOGICAL_UNION:
        for (size_t i = 0; i < node->input_count; i++)
            TRY(sink(pusher, predicate, &node->inputs[i]));
        return NULL;
    case LOGICAL_LIMIT:
    case LOGICAL_ONE_ROW:
        return put_filter(pusher, predicate, place);
    }
    UNREACHABLE();
}

/* The conjuncts that are volatile, or are not; NULL when there are none. */
static kith_error *pick_conjuncts(struct pusher *pusher, const struct expr *predicate, bool volatile_ones,
                                  const struct expr **out)
{
    bool is_and = predicate->kind == EXPR_AND;
    const struct expr *const *conjuncts = is_and ? predicate->operands : &predicate, **picked;
    size_t count = is_and ? predicate->operand_count : 1, picked_count = 0;
    *out = NULL;
    TRY(ARENA_NEW_ARRAY(pusher->arena, &picked, count));
    for (size_t i = 0; i < count; i++)
        if (expr_is_volatile(conjuncts[i]) == volatile_ones)
            picked[picked_count++] = conjuncts[i];
    return picked_count == 0 ? NULL : expr_logical(pusher->arena, EXPR_AND, picked, picked_count, out);
}

static kith_error *push_all(struct pusher *pusher, struct logical_plan **place);

/* A filter is taken out and put in below; where nothing lets it pass it comes to stand where it stood. */
static kith_error *push_filter(struct pusher *pusher, struct logical_plan **place)
{
    struct logical_plan *filter = *place;
    const struct expr *stays, *moves;
    TRY(pick_conjuncts(pusher, filter->filter.predicate, true, &stays));
    TRY(pick_conjuncts(pusher, filter->filter.predicate, false, &moves));
    if (stays == NULL)
        *place = filter->inputs[0];
    filter->filter.predicate = stays;
    struct logical_plan **below = stays == NULL ? place : &filter->inputs[0];
    struct logical_plan *input = *below;
    if (moves != NULL)
        TRY(sink(pusher, moves, below));
    /* A filter that was put right here has nowhere to go. */
    return push_all(pusher, *below == input ? below : &(*below)->inputs[0]);
}

static kith_error *push_all(struct pusher *pusher, struct logical_plan **place)
{
    if ((*place)->kind == LOGICAL_FILTER)
        return push_filter(pusher, place);
    for (size_t i = 0; i < (*place)->input_count; i++)
        TRY(push_all(pusher, &(*place)->inputs[i]));
    return NULL;
}

kith_error *rule_push_filters(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan)
{
    struct pusher pusher = {.arena = &arena->arena,
                            .into_scans = settings_get(settings, SETTING_PARQUET_PUSHDOWN_FILTERS) != 0};
    return push_all(&pusher, plan);
}
