#include "base/limits.h"
#include "expr/eval.h"
#include "sql/bind.h"
#include "sql/lexer.h"

#include <ctype.h>

/* What the select list gives: expressions over the scope, and their names. */
struct target {
    const struct expr *expr;
    const char *name;
};

struct targets {
    struct target *items;
    size_t count;
};

static kith_error *refuse_unsupported(struct binder *binder, const PgQuery__SelectStmt *select)
{
    const struct {
        bool used;
        const char *what, *word;
    } clauses[] = {
        {select->op == PG_QUERY__SET_OPERATION__SETOP_UNION, "UNION", "union"},
        {select->op == PG_QUERY__SET_OPERATION__SETOP_INTERSECT, "INTERSECT", "intersect"},
        {select->op == PG_QUERY__SET_OPERATION__SETOP_EXCEPT, "EXCEPT", "except"},
        {select->with_clause != NULL, "WITH", "with"},
        {select->n_distinct_clause > 0, "SELECT DISTINCT", "distinct"},
        {select->n_group_clause > 0, "GROUP BY", "group"},
        {select->having_clause != NULL, "HAVING", "having"},
        {select->n_window_clause > 0, "WINDOW", "window"},
        {select->n_values_lists > 0, "VALUES", "values"},
        {select->into_clause != NULL, "SELECT INTO", "into"},
        {select->n_locking_clause > 0, "FOR UPDATE and FOR SHARE", "for"},
        {select->limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES, "WITH TIES", "ties"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(clauses); i++)
        if (clauses[i].used)
            return bind_not_implemented(binder, word_location(binder, clauses[i].word), clauses[i].what);
    return NULL;
}

static kith_error *unknown_table(struct binder *binder, const char *name, int32_t location)
{
    const char *const *names;
    size_t count = binder->catalog->names(binder->catalog, &names);
    kith_error *error = error_new(KITH_ERROR_UNDEFINED_TABLE, "there is no table \"%s\"", name);
    const char *nearest = str_nearest(name, names, count);
    error = nearest != NULL ? error_hint(error, "Did you mean \"%s\"?", nearest)
                            : error_hint(error,
                                         "Name files with -t %s='folder/*.parquet', read_parquet('…') or "
                                         "CREATE EXTERNAL TABLE.",
                                         name);
    return bind_error_at(binder, error, location);
}

static kith_error *make_scan(struct binder *binder, struct table *take_table, const char *name,
                             struct logical_plan **out)
{
    struct logical_plan *scan;
    char *kept_name; /* plans outlive the script */
    TRY(plan_arena_keep_table(binder->plans, take_table));
    TRY(ARENA_NEW(binder->arena, &scan));
    TRY(arena_string(binder->arena, name, strlen(name), &kept_name));
    scan->kind = LOGICAL_SCAN;
    scan->schema = take_table->schema;
    scan->scan.table = take_table;
    scan->scan.name = kept_name;
    TRY(ARENA_NEW_ARRAY(binder->arena, &scan->scan.columns, scan->schema->field_count));
    for (size_t i = 0; i < scan->schema->field_count; i++)
        scan->scan.columns[i] = i;
    binder->scope = (struct scope){.table_name = kept_name, .schema = scan->schema};
    *out = scan;
    return NULL;
}

static const char *scan_name(const PgQuery__Alias *alias, const char *otherwise)
{
    return alias != NULL ? alias->aliasname : otherwise;
}

static kith_error *bind_table(struct binder *binder, const PgQuery__RangeVar *range, struct logical_plan **out)
{
    struct table *table = NULL;
    if (range->schemaname != NULL && range->schemaname[0] != '\0' && strcmp(range->schemaname, "public") != 0)
        return bind_error_at(
            binder,
            error_new(KITH_ERROR_UNDEFINED_TABLE, "there is no table \"%s.%s\"", range->schemaname, range->relname),
            range->location);
    TRY(binder->catalog->find(binder->catalog, range->relname, &table));
    if (table == NULL)
        return unknown_table(binder, range->relname, range->location);
    return make_scan(binder, table, scan_name(range->alias, range->relname), out);
}

/* FROM read_parquet('pattern') */
static kith_error *bind_table_function(struct binder *binder, const PgQuery__RangeFunction *range,
                                       struct logical_plan **out)
{
    const PgQuery__FuncCall *call = NULL;
    if (range->n_functions == 1 && range->functions[0]->node_case == PG_QUERY__NODE__NODE_LIST &&
        range->functions[0]->list->n_items > 0 &&
        range->functions[0]->list->items[0]->node_case == PG_QUERY__NODE__NODE_FUNC_CALL)
        call = range->functions[0]->list->items[0]->func_call;
    if (call == NULL)
        return bind_not_implemented(binder, word_location(binder, "from"), "this table function");
    const char *name = call->funcname[call->n_funcname - 1]->string->sval;
    const char *pattern = call->n_args == 1 ? constant_text(call->args[0]) : NULL;
    if (strcmp(name, "read_parquet") != 0 || pattern == NULL)
        return bind_error_at(binder,
                             error_hint(error_new(KITH_ERROR_UNDEFINED_FUNCTION,
                                                  "there is no table function \"%s\" "
                                                  "with these arguments",
                                                  name),
                                        "read_parquet('folder/*.parquet')"),
                             call->location);
    struct table *table = NULL;
    TRY(bind_error_at(binder, binder->catalog->open(binder->catalog, pattern, &table), call->location));
    return make_scan(binder, table, scan_name(range->alias, name), out);
}

/* FROM t AS a (x, y) */
static kith_error *refuse_column_names(struct binder *binder, const PgQuery__Alias *alias)
{
    return alias != NULL && alias->n_colnames > 0
               ? bind_not_implemented(binder, word_location(binder, alias->aliasname), "an alias with names of columns")
               : NULL;
}

static kith_error *bind_from(struct binder *binder, const PgQuery__SelectStmt *select, struct logical_plan **out)
{
    if (select->n_from_clause == 0) {
        struct schema *empty = NULL;
        TRY(schema_new(NULL, 0, &empty));
        TRY(plan_arena_keep_schema(binder->plans, empty));
        TRY(ARENA_NEW(binder->arena, out));
        **out = (struct logical_plan){.kind = LOGICAL_ONE_ROW, .schema = empty};
        binder->scope = (struct scope){.schema = empty};
        return NULL;
    }
    const PgQuery__Node *from = select->from_clause[0];
    int32_t from_location = word_location(binder, "from");
    if (select->n_from_clause > 1)
        return bind_not_implemented(binder, from_location, "joins");
    switch ((int)from->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
        TRY(refuse_column_names(binder, from->range_var->alias));
        return bind_table(binder, from->range_var, out);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
        TRY(refuse_column_names(binder, from->range_function->alias));
        return bind_table_function(binder, from->range_function, out);
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
        return bind_not_implemented(binder, word_location(binder, "join"), "joins");
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT:
        return bind_not_implemented(binder, from_location, "a subquery in FROM");
    default:
        return bind_not_implemented(binder, from_location, "this form of FROM");
    }
}

/* An expression without alias is named as it is written, up to the comma or clause that ends it. */
static kith_error *name_as_written(struct binder *binder, int32_t location, const char **out)
{
    static const char *const ends[] = {"from",  "where",  "group", "having", "window", "order",
                                       "limit", "offset", "fetch", "union",  "for"};
    struct lexer lexer = {.text = binder->text, .position = (size_t)MAX(location, 0)};
    size_t start = lexer.position, end = start, depth = 0;
    bool after_distinct = false; /* IS DISTINCT FROM */
    for (;;) {
        struct token token = lexer_next(&lexer);
        bool at_end =
            token.kind == TOKEN_END || (depth == 0 && (token_is_symbol(&token, ',') || token_is_symbol(&token, ')')));
        for (size_t i = 0; depth == 0 && !after_distinct && i < ARRAY_SIZE(ends); i++)
            at_end = at_end || token_is_word(&token, ends[i]);
        if (at_end)
            break;
        after_distinct = token_is_word(&token, "distinct");
        depth += token_is_symbol(&token, '(');
        depth -= token_is_symbol(&token, ')');
        end = lexer.position;
    }
    char *name;
    TRY(arena_string(binder->arena, binder->text.data + start, end - start, &name));
    *out = name;
    return NULL;
}

static kith_error *target_name(struct binder *binder, const PgQuery__ResTarget *target, const struct expr *expr,
                               const char **out)
{
    if (target->name != NULL && target->name[0] != '\0')
        *out = target->name;
    else if (expr->kind == EXPR_COLUMN)
        *out = binder->scope.schema->fields[expr->column.index].name;
    else
        return name_as_written(binder, target->location, out);
    return NULL;
}

static kith_error *add_all_columns(struct binder *binder, struct targets *targets)
{
    const struct schema *schema = binder->scope.schema;
    for (size_t i = 0; i < schema->field_count; i++) {
        struct target *target = &targets->items[targets->count++];
        target->name = schema->fields[i].name;
        TRY(expr_column(binder->arena, schema, i, &target->expr));
    }
    return NULL;
}

static kith_error *expand_star(struct binder *binder, const PgQuery__ColumnRef *star, struct targets *targets)
{
    if (binder->scope.table_name == NULL)
        return bind_error_at(binder, error_new(KITH_ERROR_SYNTAX, "SELECT * needs a FROM"), star->location);
    if (star->n_fields == 2 && strcmp(star->fields[0]->string->sval, binder->scope.table_name) != 0)
        return bind_error_at(
            binder,
            error_new(KITH_ERROR_UNDEFINED_TABLE, "there is no table \"%s\" in FROM", star->fields[0]->string->sval),
            star->location);
    return add_all_columns(binder, targets);
}

static kith_error *bind_targets(struct binder *binder, const PgQuery__SelectStmt *select, struct targets *out)
{
    size_t capacity = 0;
    for (size_t i = 0; i < select->n_target_list; i++)
        capacity += is_star(select->target_list[i]->res_target->val) ? binder->scope.schema->field_count : 1;
    if (capacity > LIMIT_COLUMNS)
        return error_new(KITH_ERROR_LIMIT, "the select list has %zu columns, more than %d (limit COLUMNS)", capacity,
                         LIMIT_COLUMNS);
    TRY(ARENA_NEW_ARRAY(binder->arena, &out->items, capacity));
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        if (is_star(target->val)) {
            TRY(expand_star(binder, target->val->column_ref, out));
            continue;
        }
        struct target *item = &out->items[out->count++];
        TRY(bind_expr(binder, target->val, &item->expr));
        TRY(target_name(binder, target, item->expr, &item->name));
    }
    return NULL;
}

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
    return bind_expr(binder, node, out);
}

static kith_error *bind_sort(struct binder *binder, const PgQuery__SelectStmt *select, const struct targets *targets,
                             struct logical_plan **in_out)
{
    struct sort_expr *exprs;
    if (select->n_sort_clause > LIMIT_SORT_KEYS)
        return error_new(KITH_ERROR_LIMIT, "ORDER BY has %zu keys, more than %d (limit SORT_KEYS)",
                         select->n_sort_clause, LIMIT_SORT_KEYS);
    TRY(ARENA_NEW_ARRAY(binder->arena, &exprs, select->n_sort_clause));
    size_t count = 0;
    for (size_t i = 0; i < select->n_sort_clause; i++) {
        const PgQuery__SortBy *sort_by = select->sort_clause[i]->sort_by;
        if (sort_by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING)
            return bind_not_implemented(binder, node_location(sort_by->node), "ORDER BY … USING");
        struct sort_expr *key = &exprs[count];
        TRY(bind_sort_target(binder, sort_by->node, targets, &key->expr));
        key->order.descending = sort_by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
        key->order.nulls_first = nulls_first(binder, sort_by, key->order.descending);
        TRY(bind_error_at(binder, sort_key_check_type(&key->expr->type), node_location(sort_by->node)));
        count += key->expr->kind != EXPR_LITERAL; /* a constant orders nothing */
    }
    if (count == 0)
        return NULL;
    struct logical_plan *sort;
    TRY(ARENA_NEW(binder->arena, &sort));
    sort->kind = LOGICAL_SORT;
    sort->schema = (*in_out)->schema;
    sort->input = *in_out;
    sort->sort.exprs = exprs;
    sort->sort.count = count;
    sort->sort.fetch = -1;
    *in_out = sort;
    return NULL;
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

static kith_error *bind_limit(struct binder *binder, const PgQuery__SelectStmt *select, struct logical_plan **in_out)
{
    int64_t offset, fetch;
    TRY(bind_row_count(binder, select->limit_offset, "OFFSET", 0, &offset));
    TRY(bind_row_count(binder, select->limit_count, "LIMIT", -1, &fetch));
    if (offset == 0 && fetch < 0)
        return NULL;
    struct logical_plan *limit;
    TRY(ARENA_NEW(binder->arena, &limit));
    limit->kind = LOGICAL_LIMIT;
    limit->schema = (*in_out)->schema;
    limit->input = *in_out;
    limit->limit.offset = offset;
    limit->limit.fetch = fetch;
    *in_out = limit;
    return NULL;
}

static kith_error *bind_projection(struct binder *binder, const struct targets *targets, struct logical_plan **in_out)
{
    struct field *fields;
    struct logical_plan *projection;
    struct schema *schema = NULL;
    TRY(ARENA_NEW_ARRAY(binder->arena, &fields, targets->count));
    TRY(ARENA_NEW(binder->arena, &projection));
    TRY(ARENA_NEW_ARRAY(binder->arena, &projection->projection.exprs, targets->count));
    for (size_t i = 0; i < targets->count; i++) {
        const struct expr *expr = targets->items[i].expr;
        fields[i] = (struct field){
            .name = (char *)(uintptr_t)targets->items[i].name, .type = expr->type, .nullable = expr->nullable};
        projection->projection.exprs[i] = expr;
    }
    TRY(schema_new(fields, targets->count, &schema));
    TRY(plan_arena_keep_schema(binder->plans, schema));
    projection->kind = LOGICAL_PROJECTION;
    projection->schema = schema;
    projection->input = *in_out;
    *in_out = projection;
    return NULL;
}

/* The projection is on top: sorting and limiting are over the table's own columns, and what the select list computes
 * is computed for the rows of the answer only. */
kith_error *bind_query(struct binder *binder, const PgQuery__Node *node, struct logical_plan **out)
{
    if (node->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
        return bind_not_implemented(binder, 0, "this statement");
    const PgQuery__SelectStmt *select = node->select_stmt;
    struct logical_plan *plan;
    struct targets targets = {0};
    TRY(refuse_unsupported(binder, select));
    TRY(bind_from(binder, select, &plan));
    TRY(bind_targets(binder, select, &targets));
    if (select->where_clause != NULL) {
        struct logical_plan *filter;
        TRY(ARENA_NEW(binder->arena, &filter));
        filter->kind = LOGICAL_FILTER;
        filter->schema = plan->schema;
        filter->input = plan;
        TRY(bind_predicate(binder, select->where_clause, "WHERE", &filter->filter.predicate));
        plan = filter;
    }
    TRY(bind_sort(binder, select, &targets, &plan));
    TRY(bind_limit(binder, select, &plan));
    TRY(bind_projection(binder, &targets, &plan));
    *out = plan;
    return NULL;
}

kith_error *bind_whole_table(struct binder *binder, const PgQuery__RangeVar *range, struct logical_plan **out)
{
    struct targets targets = {0};
    TRY(bind_table(binder, range, out));
    TRY(ARENA_NEW_ARRAY(binder->arena, &targets.items, binder->scope.schema->field_count));
    TRY(add_all_columns(binder, &targets));
    return bind_projection(binder, &targets, out);
}
