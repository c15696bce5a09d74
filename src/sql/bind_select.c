#include "base/limits.h"
#include "sql/bind.h"
#include "sql/lexer.h"

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

kith_error *bind_projection(struct binder *binder, const struct targets *targets, struct logical_plan **in_out)
{
    struct field *fields;
    const struct expr **exprs;
    struct schema *schema = NULL;
    TRY(ARENA_NEW_ARRAY(binder->arena, &fields, targets->count));
    TRY(ARENA_NEW_ARRAY(binder->arena, &exprs, targets->count));
    for (size_t i = 0; i < targets->count; i++) {
        exprs[i] = targets->items[i].expr;
        fields[i] = (struct field){
            .name = (char *)(uintptr_t)targets->items[i].name, .type = exprs[i]->type, .nullable = exprs[i]->nullable};
    }
    TRY(schema_new(fields, targets->count, &schema));
    TRY(plan_arena_keep_schema(binder->plans, schema));
    TRY(logical_plan_new(binder->arena, LOGICAL_PROJECTION, schema, *in_out, in_out));
    (*in_out)->projection.exprs = exprs;
    return NULL;
}

/* The projection is on top: sorting and limiting are over the table's own columns, and what the select list computes
 * is computed for the rows of the answer only. */
kith_error *bind_simple_select(struct binder *binder, const PgQuery__SelectStmt *select, struct logical_plan **out)
{
    struct logical_plan *plan;
    struct targets targets = {0};
    TRY(bind_from(binder, select, &plan));
    TRY(bind_targets(binder, select, &targets));
    if (select->where_clause != NULL) {
        const struct expr *predicate;
        TRY(bind_predicate(binder, select->where_clause, "WHERE", &predicate));
        TRY(logical_plan_new(binder->arena, LOGICAL_FILTER, plan->schema, plan, &plan));
        plan->filter.predicate = predicate;
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
