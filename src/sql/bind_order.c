#include "base/limits.h"
#include "expr/eval.h"
#include "sql/bind.h"

static bool nulls_first(const struct binder *binder, const PgQuery__SortBy *sort_by, bool descending)
{
    if (sort_by->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST)
        return true;
    if (sort_by->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST)
        return false;
    enum { NULLS_MAX, NULLS_MIN, NULLS_FIRST, NULLS_LAST };
    switch (settings_get(binder->settings, SETTING_DEFAULT_NULL_ORDERING)) {
    case NULLS_MAX:
        return descending;
    case NULLS_MIN:
        return !descending;
    case NULLS_FIRST:
        return true;
    default:
        return false;
    }
}

/* The expression of that name in the select list; NULL when there is none. */
static kith_error *find_target(struct binder *binder, const PgQuery__ColumnRef *reference,
                               const struct targets *targets, const struct expr **out)
{
    const char *name = reference->fields[0]->string->sval;
    *out = NULL;
    for (size_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->items[i];
        if (strcmp(target->name, name) != 0)
            continue;
        if (*out != NULL && !expr_equal(*out, target->expr))
            return bind_error_at(
                binder, error_new(KITH_ERROR_AMBIGUOUS_COLUMN, "\"%s\" fits several columns of the select list", name),
                reference->location);
        *out = target->expr;
    }
    return NULL;
}

/* ORDER BY takes a position, a name of the select list, or an expression over the table, in that order (as SQL-92 and
 * PostgreSQL have it). */
static kith_error *bind_sort_target(struct binder *binder, const PgQuery__Node *node, const struct targets *targets,
                                    const struct expr **out)
{
    if (node->node_case == PG_QUERY__NODE__NODE_A_CONST) {
        const PgQuery__AConst *constant = node->a_const;
        if (constant->val_case != PG_QUERY__A__CONST__VAL_IVAL || constant->ival->ival < 1 ||
            (size_t)constant->ival->ival > targets->count)
            return bind_error_at(
                binder,
                error_new(KITH_ERROR_INVALID_ARGUMENT, "ORDER BY takes positions from 1 to %zu", targets->count),
                constant->location);
        *out = targets->items[constant->ival->ival - 1].expr;
        return NULL;
    }
    if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF && node->column_ref->n_fields == 1 && !is_star(node)) {
        TRY(find_target(binder, node->column_ref, targets, out));
        if (*out != NULL)
            return NULL;
    }
    TRY(bind_expr(binder, node, out));
    /* ORDER BY random() beside SELECT random() is by that one, as in PostgreSQL. */
    for (size_t i = 0; expr_is_volatile(*out) && i < targets->count; i++)
        if (expr_equal(*out, targets->items[i].expr))
            *out = targets->items[i].expr;
    return NULL;
}

typedef kith_error *bind_key(struct binder *binder, const PgQuery__Node *node, const struct targets *targets,
                             const struct expr **out);

static kith_error *bind_keys(struct binder *binder, const PgQuery__SelectStmt *select, const struct targets *targets,
                             bind_key *bind, struct sort_expr **out, size_t *count)
{
    struct sort_expr *exprs;
    if (select->n_sort_clause > LIMIT_SORT_KEYS)
        return error_new(KITH_ERROR_LIMIT, "ORDER BY has %zu keys, more than %d (limit SORT_KEYS)",
                         select->n_sort_clause, LIMIT_SORT_KEYS);
    TRY(ARENA_NEW_ARRAY(binder->arena, &exprs, select->n_sort_clause));
    *count = 0;
    for (size_t i = 0; i < select->n_sort_clause; i++) {
        const PgQuery__SortBy *sort_by = select->sort_clause[i]->sort_by;
        if (sort_by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING)
            return bind_not_implemented(binder, node_location(sort_by->node), "ORDER BY … USING");
        struct sort_expr *key = &exprs[*count];
        TRY(bind(binder, sort_by->node, targets, &key->expr));
        key->order.descending = sort_by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
        key->order.nulls_first = nulls_first(binder, sort_by, key->order.descending);
        TRY(bind_error_at(binder, sort_key_check_type(&key->expr->type), node_location(sort_by->node)));
        *count += key->expr->kind != EXPR_LITERAL; /* a constant orders nothing */
    }
    *out = exprs;
    return NULL;
}

static kith_error *make_sort(struct binder *binder, const struct sort_expr *exprs, size_t count,
                             struct logical_plan **in_out)
{
    if (count == 0)
        return NULL;
    TRY(logical_plan_new(binder->arena, LOGICAL_SORT, (*in_out)->schema, *in_out, in_out));
    (*in_out)->sort.exprs = exprs;
    (*in_out)->sort.count = count;
    (*in_out)->sort.fetch = -1;
    return NULL;
}

/* Puts `column` for the keys and targets that are `expr`: itself, not one like it, for two calls of random() differ. */
static void replace(struct sort_expr *keys, size_t count, struct targets *targets, const struct expr *expr,
                    const struct expr *column)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i].expr == expr)
            keys[i].expr = column;
    for (size_t i = 0; i < targets->count; i++)
        if (targets->items[i].expr == expr)
            targets->items[i].expr = column;
}

/* Puts a projection of all columns and, behind them, the volatile keys below the sort, so that the rows are sorted by
 * the values that they come with. */
static kith_error *compute_volatile_keys(struct binder *binder, struct sort_expr *keys, size_t count,
                                         struct targets *targets, struct logical_plan **in_out)
{
    const struct schema *schema = (*in_out)->schema;
    size_t column_count = schema->field_count;
    struct targets below = {0};
    TRY(ARENA_NEW_ARRAY(binder->arena, &below.items, column_count + count));
    for (; below.count < column_count; below.count++) {
        struct target *target = &below.items[below.count];
        target->name = schema->fields[below.count].name;
        TRY(expr_column(binder->arena, schema, below.count, &target->expr));
    }
    for (size_t i = 0; i < count; i++)
        if (expr_is_volatile(keys[i].expr))
            below.items[below.count++] = (struct target){keys[i].expr, "key"};
    if (below.count == column_count)
        return NULL;
    TRY(bind_projection(binder, &below, in_out));
    for (size_t i = column_count; i < below.count; i++) {
        const struct expr *column;
        TRY(expr_column(binder->arena, (*in_out)->schema, i, &column));
        replace(keys, count, targets, below.items[i].expr, column);
    }
    return NULL;
}

kith_error *bind_sort(struct binder *binder, const PgQuery__SelectStmt *select, struct targets *targets,
                      struct logical_plan **in_out)
{
    struct sort_expr *exprs;
    size_t count;
    TRY(bind_keys(binder, select, targets, bind_sort_target, &exprs, &count));
    TRY(compute_volatile_keys(binder, exprs, count, targets, in_out));
    return make_sort(binder, exprs, count, in_out);
}

/* SQL lets a union be ordered by what it gives, and not by what its members read. */
static kith_error *bind_union_key(struct binder *binder, const PgQuery__Node *node, const struct targets *targets,
                                  const struct expr **out)
{
    bool is_name = node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF && node->column_ref->n_fields == 1;
    if (!is_name && node->node_case != PG_QUERY__NODE__NODE_A_CONST)
        return bind_error_at(
            binder,
            error_hint(error_new(KITH_ERROR_INVALID_ARGUMENT,
                                 "ORDER BY of a UNION takes names and positions of its columns, not expressions"),
                       "Put the UNION into FROM: SELECT … FROM (… UNION ALL …) AS u ORDER BY …"),
            node_location(node));
    return bind_sort_target(binder, node, targets, out);
}

kith_error *bind_union_sort(struct binder *binder, const PgQuery__SelectStmt *select, struct logical_plan **in_out)
{
    const struct schema *schema = (*in_out)->schema;
    struct targets targets = {0};
    struct sort_expr *exprs;
    size_t count;
    TRY(ARENA_NEW_ARRAY(binder->arena, &targets.items, schema->field_count));
    for (; targets.count < schema->field_count; targets.count++) {
        targets.items[targets.count].name = schema->fields[targets.count].name;
        TRY(expr_column(binder->arena, schema, targets.count, &targets.items[targets.count].expr));
    }
    TRY(bind_keys(binder, select, &targets, bind_union_key, &exprs, &count));
    return make_sort(binder, exprs, count, in_out);
}

/* A constant number of rows; NULL and ALL are no limit. */
static kith_error *bind_row_count(struct binder *binder, const PgQuery__Node *node, const char *what, int64_t otherwise,
                                  int64_t *out)
{
    *out = otherwise;
    if (node == NULL)
        return NULL;
    const struct expr *expr;
    struct scalar value;
    TRY(bind_expr(binder, node, &expr));
    if (!expr_is_constant(expr))
        return bind_error_at(binder, error_new(KITH_ERROR_INVALID_ARGUMENT, "%s must not read columns", what),
                             node_location(node));
    struct data_type type = type_of(TYPE_INT64);
    TRY(bind_error_at(binder, coerce_to(binder, &expr, &type), node_location(node)));
    TRY(bind_error_at(binder, expr_evaluate_constant(expr, binder->arena, &value), node_location(node)));
    if (value.is_null)
        return NULL;
    if (value.int64 < 0)
        return bind_error_at(binder, error_new(KITH_ERROR_INVALID_ARGUMENT, "%s must not be negative", what),
                             node_location(node));
    *out = value.int64;
    return NULL;
}

kith_error *bind_limit(struct binder *binder, const PgQuery__SelectStmt *select, struct logical_plan **in_out)
{
    int64_t offset, fetch;
    TRY(bind_row_count(binder, select->limit_offset, "OFFSET", 0, &offset));
    TRY(bind_row_count(binder, select->limit_count, "LIMIT", -1, &fetch));
    if (offset == 0 && fetch < 0)
        return NULL;
    TRY(logical_plan_new(binder->arena, LOGICAL_LIMIT, (*in_out)->schema, *in_out, in_out));
    (*in_out)->limit.offset = offset;
    (*in_out)->limit.fetch = fetch;
    return NULL;
}
