#include "base/limits.h"
#include "base/vec.h"
#include "sql/bind.h"

static kith_error *bind_select_statement(struct binder *binder, const PgQuery__SelectStmt *select,
                                         struct logical_plan **out);

static kith_error *refuse_unsupported(struct binder *binder, const PgQuery__SelectStmt *select)
{
    const struct {
        bool used;
        const char *what, *word;
    } clauses[] = {
        {select->op == PG_QUERY__SET_OPERATION__SETOP_UNION && !select->all, "UNION without ALL", "union"},
        {select->op == PG_QUERY__SET_OPERATION__SETOP_INTERSECT, "INTERSECT", "intersect"},
        {select->op == PG_QUERY__SET_OPERATION__SETOP_EXCEPT, "EXCEPT", "except"},
        {select->with_clause != NULL && select->with_clause->recursive, "WITH RECURSIVE", "recursive"},
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

/* Binds the query of a WITH where that is, whether anything reads it or not: what is wrong in it is an error. */
static kith_error *name_common_table(struct binder *binder, const PgQuery__CommonTableExpr *node,
                                     const struct common_table *outer)
{
    struct common_table *table;
    for (const struct common_table *other = binder->common_tables; other != outer; other = other->next)
        if (strcmp(other->name, node->ctename) == 0)
            return bind_error_at(binder,
                                 error_new(KITH_ERROR_SYNTAX, "WITH names \"%s\" more than once", node->ctename),
                                 node->location);
    if (node->ctequery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
        return bind_not_implemented(binder, node->location, "WITH of anything but SELECT");
    TRY(ARENA_NEW(binder->arena, &table));
    table->name = node->ctename;
    table->node = node;
    table->before = binder->common_tables;
    TRY(bind_query(binder, node->ctequery, &table->unused));
    table->next = binder->common_tables;
    binder->common_tables = table;
    return NULL;
}

static kith_error *name_common_tables(struct binder *binder, const PgQuery__WithClause *with)
{
    const struct common_table *outer = binder->common_tables;
    for (size_t i = 0; with != NULL && i < with->n_ctes; i++)
        TRY(name_common_table(binder, with->ctes[i]->common_table_expr, outer));
    return NULL;
}

/* Whether evaluating the plan twice may give different rows: which ones a limit lets through is fixed only where an
 * order is total. */
static bool may_differ(const struct logical_plan *plan, bool limits_count)
{
    bool differs = plan->kind == LOGICAL_LIMIT && limits_count;
    if (plan->kind == LOGICAL_FILTER)
        differs = expr_is_volatile(plan->filter.predicate);
    if (plan->kind == LOGICAL_PROJECTION)
        differs = logical_projection_is_volatile(plan);
    for (size_t i = 0; i < plan->input_count && !differs; i++)
        differs = may_differ(plan->inputs[i], limits_count);
    return differs;
}

/* A query of WITH that is read once is a subquery. PostgreSQL evaluates one that is read twice once, unless told NOT
 * MATERIALIZED and it is not volatile; here each reader evaluates it, so it must give all of them the same rows. */
static kith_error *bind_again(struct binder *binder, const struct common_table *table, int32_t location,
                              struct logical_plan **out)
{
    struct common_table *here = binder->common_tables;
    bool repeats = table->node->ctematerialized == PG_QUERY__CTEMATERIALIZE__CTEMaterializeNever;
    binder->common_tables = (struct common_table *)(uintptr_t)table->before;
    kith_error *error = bind_query(binder, table->node->ctequery, out);
    binder->common_tables = here;
    TRY(error);
    if (may_differ(*out, false))
        return bind_not_implemented(binder, location, "reading a volatile query of WITH twice");
    if (may_differ(*out, true) && !repeats)
        return bind_error_at(binder,
                             error_hint(error_new(KITH_ERROR_NOT_IMPLEMENTED,
                                                  "not implemented: reading a query of WITH that has a LIMIT twice"),
                                        "Write %s AS NOT MATERIALIZED (…) to have it evaluated for each reader.",
                                        table->name),
                             location);
    return NULL;
}

kith_error *bind_common_table(struct binder *binder, const PgQuery__RangeVar *range, const PgQuery__Node ***columns,
                              size_t *column_count, struct logical_plan **out)
{
    struct common_table *table = binder->common_tables;
    while (table != NULL && strcmp(table->name, range->relname) != 0)
        table = table->next;
    *out = NULL;
    if (table == NULL)
        return NULL;
    *columns = (const PgQuery__Node **)(uintptr_t)table->node->aliascolnames;
    *column_count = table->node->n_aliascolnames;
    if (table->was_read)
        return bind_again(binder, table, range->location, out);
    table->was_read = true;
    *out = TAKE(table->unused);
    return NULL;
}

/* The SELECTs of a chain of UNION ALL, first to last. One in parentheses with an ORDER BY or LIMIT of its own is one of
 * them. */
static kith_error *list_members(struct binder *binder, const PgQuery__SelectStmt *select,
                                const PgQuery__SelectStmt ***out, size_t *count)
{
    const PgQuery__SelectStmt *last = select;
    *count = 1;
    for (;
         last == select || (last->op == PG_QUERY__SET_OPERATION__SETOP_UNION && last->all && last->n_sort_clause == 0 &&
                            last->limit_count == NULL && last->limit_offset == NULL && last->with_clause == NULL);
         last = last->larg)
        (*count)++;
    TRY(ARENA_NEW_ARRAY(binder->arena, out, *count));
    (*out)[0] = last;
    last = select;
    for (size_t i = *count; i-- > 1; last = last->larg)
        (*out)[i] = last->rarg;
    return NULL;
}

/* Where a member's column stands in the text, or the word UNION. */
static int32_t column_location(const struct binder *binder, const PgQuery__SelectStmt *member, size_t column)
{
    for (size_t i = 0; i < member->n_target_list && i <= column; i++)
        if (is_star(member->target_list[i]->res_target->val))
            return word_location(binder, "union");
    return column < member->n_target_list ? member->target_list[column]->res_target->location
                                          : word_location(binder, "union");
}

/* What each member gives as the column, for its type to be changed: literals themselves, for a text is of whatever type
 * the other members have. */
static kith_error *column_of_members(struct binder *binder, struct logical_plan *const *members, size_t count,
                                     size_t column, const struct expr **out)
{
    for (size_t i = 0; i < count; i++) {
        if (members[i]->kind == LOGICAL_PROJECTION)
            out[i] = members[i]->projection.exprs[column];
        else
            TRY(expr_column(binder->arena, members[i]->schema, column, &out[i]));
    }
    return NULL;
}

/* The member with its columns coerced. */
static kith_error *coerce_member(struct binder *binder, const struct expr *const *exprs, struct logical_plan **member)
{
    const struct schema *schema = (*member)->schema;
    struct targets targets = {.count = schema->field_count};
    bool changed = false;
    TRY(ARENA_NEW_ARRAY(binder->arena, &targets.items, targets.count));
    for (size_t i = 0; i < targets.count; i++) {
        targets.items[i] = (struct target){exprs[i], schema->fields[i].name};
        changed = changed || !type_equal(&exprs[i]->type, &schema->fields[i].type);
    }
    if (!changed)
        return NULL;
    if ((*member)->kind == LOGICAL_PROJECTION)
        *member = (*member)->inputs[0];
    return bind_projection(binder, &targets, member);
}

struct members {
    const PgQuery__SelectStmt **selects;
    struct logical_plan **plans;
    size_t count;
};

static kith_error *coerce_members(struct binder *binder, struct members *members)
{
    size_t columns = members->plans[0]->schema->field_count;
    const struct expr **exprs, ***by_member;
    TRY(ARENA_NEW_ARRAY(binder->arena, &exprs, members->count));
    TRY(ARENA_NEW_ARRAY(binder->arena, &by_member, members->count));
    for (size_t i = 0; i < members->count; i++)
        TRY(ARENA_NEW_ARRAY(binder->arena, &by_member[i], columns));
    for (size_t column = 0; column < columns; column++) {
        struct data_type type;
        TRY(column_of_members(binder, members->plans, members->count, column, exprs));
        TRY(bind_error_at(
            binder, error_wrap(coerce_all(binder, exprs, members->count, &type), "column %zu of UNION ALL", column + 1),
            column_location(binder, members->selects[members->count - 1], column)));
        for (size_t i = 0; i < members->count; i++)
            by_member[i][column] = exprs[i];
    }
    for (size_t i = 0; i < members->count; i++)
        TRY(coerce_member(binder, by_member[i], &members->plans[i]));
    return NULL;
}

/* Names of the first member; a column is nullable where it is in any. */
static kith_error *make_union(struct binder *binder, const struct members *members, struct logical_plan **out)
{
    const struct schema *first = members->plans[0]->schema;
    struct schema *schema = NULL;
    struct field *fields;
    TRY(ARENA_NEW_ARRAY(binder->arena, &fields, first->field_count));
    for (size_t i = 0; i < first->field_count; i++) {
        fields[i] = first->fields[i];
        for (size_t j = 1; j < members->count; j++)
            fields[i].nullable = fields[i].nullable || members->plans[j]->schema->fields[i].nullable;
    }
    TRY(schema_new(fields, first->field_count, &schema));
    TRY(plan_arena_keep_schema(binder->plans, schema));
    return logical_union_new(binder->arena, schema, members->plans, members->count, out);
}

static kith_error *bind_union(struct binder *binder, const PgQuery__SelectStmt *select, struct logical_plan **out)
{
    struct members members;
    TRY(list_members(binder, select, &members.selects, &members.count));
    TRY(ARENA_NEW_ARRAY(binder->arena, &members.plans, members.count));
    for (size_t i = 0; i < members.count; i++) {
        TRY(bind_select_statement(binder, members.selects[i], &members.plans[i]));
        size_t expected = members.plans[0]->schema->field_count, given = members.plans[i]->schema->field_count;
        if (given != expected)
            return bind_error_at(binder,
                                 error_new(KITH_ERROR_SYNTAX,
                                           "the members of UNION ALL have different numbers of columns: %zu and %zu",
                                           expected, given),
                                 column_location(binder, members.selects[i], 0));
    }
    TRY(coerce_members(binder, &members));
    TRY(make_union(binder, &members, out));
    binder->scope = (struct scope){.table_name = "UNION ALL", .schema = (*out)->schema};
    TRY(bind_union_sort(binder, select, out));
    return bind_limit(binder, select, out);
}

static kith_error *bind_within(struct binder *binder, const PgQuery__SelectStmt *select, struct logical_plan **out)
{
    if (binder->query_depth > LIMIT_PLAN_NESTING) /* each gives its plan a level at least */
        return error_new(KITH_ERROR_LIMIT, "queries nest deeper than PLAN_NESTING (%d) levels", LIMIT_PLAN_NESTING);
    TRY(refuse_unsupported(binder, select));
    TRY(name_common_tables(binder, select->with_clause));
    return select->op == PG_QUERY__SET_OPERATION__SETOP_UNION ? bind_union(binder, select, out)
                                                              : bind_simple_select(binder, select, out);
}

static kith_error *bind_select_statement(struct binder *binder, const PgQuery__SelectStmt *select,
                                         struct logical_plan **out)
{
    struct scope scope = binder->scope;
    struct common_table *common_tables = binder->common_tables;
    binder->query_depth++;
    kith_error *error = bind_within(binder, select, out);
    binder->query_depth--;
    binder->common_tables = common_tables;
    binder->scope = scope;
    return error;
}

kith_error *bind_query(struct binder *binder, const PgQuery__Node *node, struct logical_plan **out)
{
    if (node->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
        return bind_not_implemented(binder, 0, "this statement");
    return bind_select_statement(binder, node->select_stmt, out);
}
