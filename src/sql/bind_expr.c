#include "sql/bind.h"

#include "base/limits.h"
#include "sql/lexer.h"

#include <strings.h>

kith_error *bind_not_implemented(const struct binder *binder, int32_t location, const char *what)
{
    return bind_error_at(binder, error_new(KITH_ERROR_NOT_IMPLEMENTED, "not implemented: %s", what), location);
}

int32_t word_location(const struct binder *binder, const char *name)
{
    struct lexer lexer = {.text = binder->text};
    size_t length = strcspn(name, ".");
    for (;;) {
        struct token token = lexer_next(&lexer);
        if (token.kind == TOKEN_END)
            return -1;
        if (token.kind == TOKEN_WORD && token.text.length == length && strncasecmp(token.text.data, name, length) == 0)
            return (int32_t)token.offset;
    }
}

int32_t node_location(const PgQuery__Node *node)
{
    switch ((int)node->node_case) {
    case PG_QUERY__NODE__NODE_A_EXPR:
        return node->a_expr->lexpr != NULL ? node_location(node->a_expr->lexpr) : node->a_expr->location;
    case PG_QUERY__NODE__NODE_A_CONST:
        return node->a_const->location;
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        return node->column_ref->location;
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return node->func_call->location;
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        return node->type_cast->location >= 0 ? node->type_cast->location : node_location(node->type_cast->arg);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return node->bool_expr->location;
    case PG_QUERY__NODE__NODE_NULL_TEST:
        return node->null_test->location;
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return node->case_expr->location;
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        return node->boolean_test->location;
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return node->coalesce_expr->location;
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return node->min_max_expr->location;
    case PG_QUERY__NODE__NODE_SUB_LINK:
        return node->sub_link->location;
    case PG_QUERY__NODE__NODE_PARAM_REF:
        return node->param_ref->location;
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
        return node->sqlvalue_function->location;
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
        return node->a_array_expr->location;
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
        return node_location(node->a_indirection->arg);
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
        return node->collate_clause->location;
    case PG_QUERY__NODE__NODE_ROW_EXPR:
        return node->row_expr->location;
    case PG_QUERY__NODE__NODE_GROUPING_FUNC:
        return node->grouping_func->location;
    default:
        return -1;
    }
}

static const char *operator_name(const PgQuery__AExpr *expr)
{
    const PgQuery__Node *last = expr->n_name == 0 ? NULL : expr->name[expr->n_name - 1];
    return last != NULL && last->node_case == PG_QUERY__NODE__NODE_STRING ? last->string->sval : "";
}

static kith_error *make_comparison(struct binder *binder, enum binary_operator operation, const struct expr *left,
                                   const struct expr *right, const struct expr **out)
{
    TRY(coerce_comparison(binder, &left, &right));
    return expr_binary(binder->arena, operation, left, right, out);
}

static bool find_comparison(const char *name, enum binary_operator *out)
{
    static const struct {
        const char *name;
        enum binary_operator operation;
    } comparisons[] = {{"=", OP_EQ}, {"<>", OP_NE}, {"<", OP_LT}, {"<=", OP_LE}, {">", OP_GT}, {">=", OP_GE}};
    for (size_t i = 0; i < ARRAY_SIZE(comparisons); i++) {
        if (strcmp(name, comparisons[i].name) == 0) {
            *out = comparisons[i].operation;
            return true;
        }
    }
    return false;
}

static bool find_arithmetic(const char *name, enum binary_operator *out)
{
    static const struct {
        const char *name;
        enum binary_operator operation;
    } operators[] = {{"+", OP_ADD}, {"-", OP_SUBTRACT}, {"*", OP_MULTIPLY}, {"/", OP_DIVIDE}, {"%", OP_MODULO}};
    for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
        if (strcmp(name, operators[i].name) == 0) {
            *out = operators[i].operation;
            return true;
        }
    }
    return false;
}

static kith_error *to_text(struct binder *binder, const struct expr **in_out)
{
    struct data_type text = type_of(TYPE_UTF8);
    return type_is_string((*in_out)->type.id) ? NULL : coerce_to(binder, in_out, &text);
}

static kith_error *bind_operator(struct binder *binder, const PgQuery__AExpr *node, const struct expr **out)
{
    const char *name = operator_name(node);
    const struct expr *left = NULL, *right;
    enum binary_operator operation;
    TRY(bind_expr(binder, node->rexpr, &right));
    if (node->lexpr == NULL) {
        if (strcmp(name, "-") == 0)
            return expr_unary(binder->arena, EXPR_NEGATIVE, right, out);
        if (strcmp(name, "+") == 0 && type_is_numeric(right->type.id)) {
            *out = right;
            return NULL;
        }
        return bind_not_implemented(binder, node->location, "this prefix operator");
    }
    TRY(bind_expr(binder, node->lexpr, &left));
    if (find_comparison(name, &operation))
        return make_comparison(binder, operation, left, right, out);
    if (find_arithmetic(name, &operation)) {
        TRY(coerce_arithmetic(binder, operation, &left, &right));
        return expr_binary(binder->arena, operation, left, right, out);
    }
    if (strcmp(name, "||") == 0) {
        TRY(to_text(binder, &left));
        TRY(to_text(binder, &right));
        return expr_binary(binder->arena, OP_CONCAT, left, right, out);
    }
    if (strcmp(name, "^") == 0)
        return bind_function(binder, "power", (const struct expr *[]){left, right}, 2, node->location, out);
    return bind_error_at(binder, error_new(KITH_ERROR_UNDEFINED_FUNCTION, "there is no operator %s", name),
                         node->location);
}

static kith_error *bind_in(struct binder *binder, const PgQuery__AExpr *node, const struct expr **out)
{
    if (node->rexpr->node_case != PG_QUERY__NODE__NODE_LIST)
        return bind_not_implemented(binder, node->location, "IN with this right side");
    const PgQuery__List *list = node->rexpr->list;
    const struct expr **operands;
    TRY(ARENA_NEW_ARRAY(binder->arena, &operands, list->n_items + 1));
    TRY(bind_expr(binder, node->lexpr, &operands[0]));
    for (size_t i = 0; i < list->n_items; i++) {
        const struct expr *left = operands[0];
        TRY(bind_expr(binder, list->items[i], &operands[i + 1]));
        TRY(coerce_comparison(binder, &left, &operands[i + 1]));
    }
    struct data_type type;
    TRY(coerce_all(binder, operands, list->n_items + 1, &type));
    return expr_in_list(binder->arena, operands, list->n_items + 1, strcmp(operator_name(node), "<>") == 0, out);
}

static kith_error *bind_between(struct binder *binder, const PgQuery__AExpr *node, const struct expr **out)
{
    const struct expr *value, *low, *high, *parts[2];
    bool negated = node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN;
    TRY(bind_expr(binder, node->lexpr, &value));
    TRY(bind_expr(binder, node->rexpr->list->items[0], &low));
    TRY(bind_expr(binder, node->rexpr->list->items[1], &high));
    TRY(make_comparison(binder, negated ? OP_LT : OP_GE, value, low, &parts[0]));
    TRY(make_comparison(binder, negated ? OP_GT : OP_LE, value, high, &parts[1]));
    return expr_logical(binder->arena, negated ? EXPR_OR : EXPR_AND, parts, 2, out);
}

/* The grammar makes LIKE x ESCAPE y into LIKE pg_catalog.like_escape(x, y). */
static bool is_like_escape(const PgQuery__Node *pattern)
{
    if (pattern->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
        return false;
    const PgQuery__FuncCall *call = pattern->func_call;
    return strcmp(call->funcname[call->n_funcname - 1]->string->sval, "like_escape") == 0;
}

static kith_error *bind_like(struct binder *binder, const PgQuery__AExpr *node, const struct expr **out)
{
    const struct expr *text, *pattern;
    if (is_like_escape(node->rexpr))
        return bind_not_implemented(binder, node->location, "LIKE with ESCAPE");
    TRY(bind_expr(binder, node->lexpr, &text));
    TRY(bind_expr(binder, node->rexpr, &pattern));
    bool negated = operator_name(node)[0] == '!';
    bool case_insensitive = node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE;
    return expr_like(binder->arena, text, pattern, negated, case_insensitive, out);
}

static kith_error *bind_a_expr(struct binder *binder, const PgQuery__AExpr *node, const struct expr **out)
{
    const struct expr *left, *right;
    switch ((int)node->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
        return bind_operator(binder, node, out);
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
        return bind_in(binder, node, out);
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE:
        return bind_like(binder, node, out);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
        return bind_between(binder, node, out);
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
        TRY(bind_expr(binder, node->lexpr, &left));
        TRY(bind_expr(binder, node->rexpr, &right));
        return make_comparison(
            binder, node->kind == PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT ? OP_IS_DISTINCT : OP_IS_NOT_DISTINCT, left,
            right, out);
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
        TRY(bind_expr(binder, node->lexpr, &left));
        TRY(bind_expr(binder, node->rexpr, &right));
        return bind_function(binder, "nullif", (const struct expr *[]){left, right}, 2, node->location, out);
    default:
        return bind_not_implemented(binder, node->location, "this form of expression");
    }
}

static kith_error *bind_bool_expr(struct binder *binder, const PgQuery__BoolExpr *node, const struct expr **out)
{
    const struct expr **operands;
    TRY(ARENA_NEW_ARRAY(binder->arena, &operands, node->n_args));
    for (size_t i = 0; i < node->n_args; i++)
        TRY(bind_predicate(binder, node->args[i],
                           node->boolop == PG_QUERY__BOOL_EXPR_TYPE__NOT_EXPR  ? "NOT"
                           : node->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR ? "OR"
                                                                               : "AND",
                           &operands[i]));
    if (node->boolop == PG_QUERY__BOOL_EXPR_TYPE__NOT_EXPR)
        return expr_unary(binder->arena, EXPR_NOT, operands[0], out);
    return expr_logical(binder->arena, node->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR ? EXPR_OR : EXPR_AND, operands,
                        node->n_args, out);
}

/* x IS [NOT] TRUE/FALSE/UNKNOWN never gives NULL: a comparison of the distinct kind. */
static kith_error *bind_boolean_test(struct binder *binder, const PgQuery__BooleanTest *node, const struct expr **out)
{
    const struct expr *operand, *constant;
    TRY(bind_predicate(binder, node->arg, "IS", &operand));
    if (node->booltesttype == PG_QUERY__BOOL_TEST_TYPE__IS_UNKNOWN)
        return expr_unary(binder->arena, EXPR_IS_NULL, operand, out);
    if (node->booltesttype == PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN)
        return expr_unary(binder->arena, EXPR_IS_NOT_NULL, operand, out);
    bool is_true = node->booltesttype == PG_QUERY__BOOL_TEST_TYPE__IS_TRUE ||
                   node->booltesttype == PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE;
    bool negated = node->booltesttype == PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE ||
                   node->booltesttype == PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE;
    struct scalar value = {.type = type_of(TYPE_BOOL), .boolean = is_true};
    TRY(expr_literal(binder->arena, &value, &constant));
    return expr_binary(binder->arena, negated ? OP_IS_DISTINCT : OP_IS_NOT_DISTINCT, operand, constant, out);
}

/* CASE x WHEN v becomes CASE WHEN x = v. */
static kith_error *bind_case(struct binder *binder, const PgQuery__CaseExpr *node, const struct expr **out)
{
    bool has_else = node->defresult != NULL;
    size_t count = node->n_args * 2 + has_else;
    const struct expr **operands, **results, *subject = NULL;
    TRY(ARENA_NEW_ARRAY(binder->arena, &operands, count));
    TRY(ARENA_NEW_ARRAY(binder->arena, &results, node->n_args + 1));
    if (node->arg != NULL)
        TRY(bind_expr(binder, node->arg, &subject));
    for (size_t i = 0; i < node->n_args; i++) {
        const PgQuery__CaseWhen *when = node->args[i]->case_when;
        if (subject == NULL) {
            TRY(bind_predicate(binder, when->expr, "WHEN", &operands[2 * i]));
        } else {
            const struct expr *value;
            TRY(bind_expr(binder, when->expr, &value));
            TRY(make_comparison(binder, OP_EQ, subject, value, &operands[2 * i]));
        }
        TRY(bind_expr(binder, when->result, &results[i]));
    }
    if (has_else)
        TRY(bind_expr(binder, node->defresult, &results[node->n_args]));

    struct data_type type;
    TRY(coerce_all(binder, results, node->n_args + has_else, &type));
    for (size_t i = 0; i < node->n_args; i++)
        operands[2 * i + 1] = results[i];
    if (has_else)
        operands[count - 1] = results[node->n_args];
    return expr_case(binder->arena, operands, count, out);
}

static kith_error *bind_cast(struct binder *binder, const PgQuery__TypeCast *node, const struct expr **out)
{
    struct data_type type;
    const char *text = constant_text(node->arg);
    TRY(bind_type(binder, node->type_name, &type));
    if (type.id == TYPE_INTERVAL_MONTH_DAY_NANO && text != NULL)
        return bind_interval(binder, text, node->type_name, out);
    TRY(bind_expr(binder, node->arg, out));
    return coerce_to(binder, out, &type);
}

static kith_error *bind_arguments(struct binder *binder, const char *name, PgQuery__Node *const *nodes, size_t count,
                                  int32_t location, const struct expr **out)
{
    const struct expr **arguments;
    TRY(ARENA_NEW_ARRAY(binder->arena, &arguments, count));
    for (size_t i = 0; i < count; i++)
        TRY(bind_expr(binder, nodes[i], &arguments[i]));
    return bind_function(binder, name, arguments, count, location, out);
}

static kith_error *bind_node(struct binder *binder, const PgQuery__Node *node, const struct expr **out)
{
    const struct expr *operand;
    switch ((int)node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
        return bind_literal(binder, node->a_const, out);
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        return bind_column(binder, node->column_ref, out);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return bind_a_expr(binder, node->a_expr, out);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return bind_bool_expr(binder, node->bool_expr, out);
    case PG_QUERY__NODE__NODE_NULL_TEST:
        TRY(bind_expr(binder, node->null_test->arg, &operand));
        return expr_unary(binder->arena,
                          node->null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NULL ? EXPR_IS_NULL
                                                                                             : EXPR_IS_NOT_NULL,
                          operand, out);
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        return bind_boolean_test(binder, node->boolean_test, out);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return bind_case(binder, node->case_expr, out);
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        return bind_cast(binder, node->type_cast, out);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return bind_function_call(binder, node->func_call, out);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return bind_arguments(binder, "coalesce", node->coalesce_expr->args, node->coalesce_expr->n_args,
                              node->coalesce_expr->location, out);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return bind_arguments(binder,
                              node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST ? "greatest" : "least",
                              node->min_max_expr->args, node->min_max_expr->n_args, node->min_max_expr->location, out);
    case PG_QUERY__NODE__NODE_SUB_LINK:
        return bind_not_implemented(binder, node->sub_link->location, "a subquery in an expression");
    case PG_QUERY__NODE__NODE_PARAM_REF:
        return bind_not_implemented(binder, node->param_ref->location, "a parameter");
    default:
        return bind_not_implemented(binder, node_location(node), "this kind of expression");
    }
}

kith_error *bind_expr(struct binder *binder, const PgQuery__Node *node, const struct expr **out)
{
    if (binder->depth >= LIMIT_SQL_NESTING)
        return bind_error_at(binder,
                             error_new(KITH_ERROR_LIMIT,
                                       "an expression nests deeper than %d levels (limit SQL_NESTING)",
                                       LIMIT_SQL_NESTING),
                             node_location(node));
    TRY(coop_charge_every(BIND_STEPS_A_CHARGE, binder->steps++));
    binder->depth++;
    kith_error *error = bind_node(binder, node, out);
    binder->depth--;
    int32_t location = node_location(node);
    if (error != NULL)
        return bind_error_at(binder, error, location);
    /* What fails at run time can then say where it stands. */
    return (*out)->sql_offset >= 0 || location < 0
               ? NULL
               : expr_at(binder->arena, *out, binder->text_offset + (size_t)location, out);
}

kith_error *bind_predicate(struct binder *binder, const PgQuery__Node *node, const char *what, const struct expr **out)
{
    TRY(bind_expr(binder, node, out));
    if ((*out)->type.id == TYPE_BOOL)
        return NULL;
    struct data_type boolean = type_of(TYPE_BOOL);
    if ((*out)->type.id == TYPE_NULL)
        return coerce_to(binder, out, &boolean);
    char given[160];
    return bind_error_at(binder,
                         error_new(KITH_ERROR_TYPE_MISMATCH, "%s takes a condition, not a value of type %s", what,
                                   type_format(&(*out)->type, given, sizeof given)),
                         node_location(node));
}
