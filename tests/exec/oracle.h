/*
 * What a logical plan means, computed plainly over one batch in memory: the twin that queries over files are compared
 * with. It shares the binder and the evaluator of expressions with them, and nothing else: no pruning, no late reading,
 * no sort keys, no partitions.
 */
#ifndef KITH_TESTS_EXEC_ORACLE_H
#define KITH_TESTS_EXEC_ORACLE_H

#include "exec/queries.h"
#include "expr/eval.h"

static inline struct array *oracle_values(const struct expr *expr, struct batch *batch)
{
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    struct array *values = NULL;
    assert_ok(evaluator_new(expr, &evaluator));
    assert_ok(evaluator_run(evaluator, batch, &values));
    return values;
}

struct oracle_sort {
    const struct sort_expr *exprs;
    size_t count;
    struct array **keys;
};

static inline int oracle_compare(const void *a, const void *b, void *context)
{
    const struct oracle_sort *sort = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    for (size_t i = 0; i < sort->count; i++) {
        struct scalar left = scalar_from_array(sort->keys[i], x), right = scalar_from_array(sort->keys[i], y);
        int order = sort_order_compare(&left, &right, sort->exprs[i].order);
        if (order != 0)
            return order;
    }
    return x < y ? -1 : x > y;
}

static inline struct batch *oracle_take(struct batch *batch, const uint32_t *rows, size_t count)
{
    struct array *columns[64];
    struct batch *taken = NULL;
    for (size_t i = 0; i < batch->schema->field_count; i++)
        assert_ok(array_take(batch->columns[i], rows, count, &columns[i]));
    assert_ok(batch_new(batch->schema, columns, count, &taken));
    for (size_t i = 0; i < batch->schema->field_count; i++)
        array_unref(columns[i]);
    return taken;
}

static inline struct batch *oracle_sorted(const struct logical_plan *plan, struct batch *input)
{
    struct array *keys[8];
    uint32_t *rows = calloc(input->rows + 1, sizeof *rows);
    struct oracle_sort sort = {.exprs = plan->sort.exprs, .count = plan->sort.count, .keys = keys};
    for (size_t i = 0; i < sort.count; i++)
        keys[i] = oracle_values(sort.exprs[i].expr, input);
    for (size_t i = 0; i < input->rows; i++)
        rows[i] = (uint32_t)i;
    qsort_r(rows, input->rows, sizeof *rows, oracle_compare, &sort);
    struct batch *sorted = oracle_take(input, rows, input->rows);
    for (size_t i = 0; i < sort.count; i++)
        array_unref(keys[i]);
    free(rows);
    return sorted;
}

static inline struct batch *oracle_filtered(const struct expr *predicate, struct batch *input)
{
    _cleanup_(array_unref) struct array *values = oracle_values(predicate, input);
    uint32_t *rows = calloc(input->rows + 1, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < input->rows; i++) {
        struct scalar value = scalar_from_array(values, i);
        if (!value.is_null && value.boolean)
            rows[count++] = (uint32_t)i;
    }
    struct batch *filtered = oracle_take(input, rows, count);
    free(rows);
    return filtered;
}

static inline struct batch *oracle_limited(const struct logical_plan *plan, struct batch *input)
{
    size_t skip = MIN((size_t)plan->limit.offset, input->rows);
    size_t give = input->rows - skip;
    if (plan->limit.fetch >= 0)
        give = MIN(give, (size_t)plan->limit.fetch);
    _cleanup_(batch_unref) struct batch *slice = NULL;
    struct batch *limited = NULL;
    assert_ok(batch_slice(input, skip, give, &slice));
    assert_ok(batch_compact(slice, &limited));
    return limited;
}

static inline struct batch *oracle_projected(const struct logical_plan *plan, struct batch *input)
{
    struct array *columns[64];
    struct batch *projected = NULL;
    for (size_t i = 0; i < plan->schema->field_count; i++)
        columns[i] = oracle_values(plan->projection.exprs[i], input);
    assert_ok(batch_new(plan->schema, columns, input->rows, &projected));
    for (size_t i = 0; i < plan->schema->field_count; i++)
        array_unref(columns[i]);
    return projected;
}

static inline struct batch *oracle_run(const struct logical_plan *plan, struct batch *table);

static inline struct batch *oracle_united(const struct logical_plan *plan, struct batch *table)
{
    struct batch *members[8], *all = NULL;
    for (size_t i = 0; i < plan->input_count; i++) {
        _cleanup_(batch_unref) struct batch *member = oracle_run(plan->inputs[i], table);
        assert_ok(batch_new(plan->schema, member->columns, member->rows, &members[i]));
    }
    assert_ok(batch_concatenate(plan->schema, members, plan->input_count, &all));
    for (size_t i = 0; i < plan->input_count; i++)
        batch_unref(members[i]);
    return all;
}

/* `plan` is as it was bound; `table` has the columns of its scans. A new reference. */
static inline struct batch *oracle_run(const struct logical_plan *plan, struct batch *table)
{
    if (plan->kind == LOGICAL_UNION)
        return oracle_united(plan, table);
    if (plan->kind == LOGICAL_SCAN)
        return batch_ref(table);
    if (plan->kind == LOGICAL_ONE_ROW) {
        struct batch *row = NULL;
        assert_ok(batch_new(plan->schema, NULL, 1, &row));
        return row;
    }
    _cleanup_(batch_unref) struct batch *input = oracle_run(plan->inputs[0], table);
    switch ((int)plan->kind) {
    case LOGICAL_FILTER:
        return oracle_filtered(plan->filter.predicate, input);
    case LOGICAL_SORT:
        return oracle_sorted(plan, input);
    case LOGICAL_LIMIT:
        return oracle_limited(plan, input);
    default:
        return oracle_projected(plan, input);
    }
}

#endif
