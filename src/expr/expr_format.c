#include "expr/expr.h"
#include "expr/functions.h"

static const char *const operator_names[] = {
    [OP_EQ] = "=",
    [OP_NE] = "!=",
    [OP_LT] = "<",
    [OP_LE] = "<=",
    [OP_GT] = ">",
    [OP_GE] = ">=",
    [OP_IS_DISTINCT] = "IS DISTINCT FROM",
    [OP_IS_NOT_DISTINCT] = "IS NOT DISTINCT FROM",
    [OP_ADD] = "+",
    [OP_SUBTRACT] = "-",
    [OP_MULTIPLY] = "*",
    [OP_DIVIDE] = "/",
    [OP_MODULO] = "%",
    [OP_CONCAT] = "||",
};

const char *binary_operator_name(enum binary_operator operation)
{
    return operator_names[operation];
}

kith_error *binary_operator_from_name(const char *name, enum binary_operator *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(operator_names); i++) {
        if (strcmp(name, operator_names[i]) == 0) {
            *out = (enum binary_operator)i;
            return NULL;
        }
    }
    if (strcmp(name, "<>") == 0) {
        *out = OP_NE;
        return NULL;
    }
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "operation %s", name);
}

/* How tightly an expression binds: an operand that binds less tightly than its parent is put in parentheses. */
enum precedence { BINDS_OR, BINDS_AND, BINDS_NOT, BINDS_COMPARISON, BINDS_CONCAT, BINDS_SUM, BINDS_PRODUCT, BINDS_ALL };

static enum precedence precedence_of(const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_OR:
        return BINDS_OR;
    case EXPR_AND:
        return BINDS_AND;
    case EXPR_NOT:
        return BINDS_NOT;
    case EXPR_BINARY:
        if (expr->operation <= OP_IS_NOT_DISTINCT)
            return BINDS_COMPARISON;
        if (expr->operation == OP_CONCAT)
            return BINDS_CONCAT;
        return expr->operation <= OP_SUBTRACT ? BINDS_SUM : BINDS_PRODUCT;
    case EXPR_IS_NULL:
    case EXPR_IS_NOT_NULL:
    case EXPR_IN_LIST:
    case EXPR_LIKE:
        return BINDS_COMPARISON;
    case EXPR_COLUMN:
    case EXPR_LITERAL:
    case EXPR_NEGATIVE:
    case EXPR_CASE:
    case EXPR_CAST:
    case EXPR_TRY_CAST:
    case EXPR_FUNCTION:
        return BINDS_ALL;
    }
    UNREACHABLE();
}

/* `least`: what the operand must bind at least as tightly as to stand without parentheses. */
static kith_error *format_operand(const struct expr *operand, enum precedence least, struct strbuf *out)
{
    bool parentheses = precedence_of(operand) < least;
    if (parentheses)
        TRY(strbuf_append_text(out, "("));
    TRY(expr_format(operand, out));
    return parentheses ? strbuf_append_text(out, ")") : NULL;
}

static kith_error *format_list(const struct expr *expr, size_t first, const char *separator, enum precedence least,
                               struct strbuf *out)
{
    for (size_t i = first; i < expr->operand_count; i++) {
        if (i > first)
            TRY(strbuf_append_text(out, separator));
        TRY(format_operand(expr->operands[i], least, out));
    }
    return NULL;
}

static kith_error *format_binary(const struct expr *expr, struct strbuf *out)
{
    enum precedence own = precedence_of(expr);
    TRY(format_operand(expr->operands[0], own == BINDS_COMPARISON ? own + 1 : own, out));
    TRY(strbuf_printf(out, " %s ", binary_operator_name(expr->operation)));
    return format_operand(expr->operands[1], own + 1, out);
}

static kith_error *format_case(const struct expr *expr, struct strbuf *out)
{
    TRY(strbuf_append_text(out, "CASE"));
    for (size_t i = 0; i < expr->operand_count; i++) {
        bool is_else = i % 2 == 0 && i + 1 == expr->operand_count;
        TRY(strbuf_append_text(out, is_else ? " ELSE " : i % 2 == 0 ? " WHEN " : " THEN "));
        TRY(expr_format(expr->operands[i], out));
    }
    return strbuf_append_text(out, " END");
}

static kith_error *format_cast(const struct expr *expr, struct strbuf *out)
{
    char type[128];
    TRY(strbuf_append_text(out, expr->kind == EXPR_CAST ? "CAST(" : "TRY_CAST("));
    TRY(expr_format(expr->operands[0], out));
    return strbuf_printf(out, " AS %s)", type_format(&expr->type, type, sizeof type));
}

static kith_error *format_in_list(const struct expr *expr, struct strbuf *out)
{
    TRY(format_operand(expr->operands[0], BINDS_COMPARISON + 1, out));
    TRY(strbuf_append_text(out, expr->match.negated ? " NOT IN ([" : " IN (["));
    TRY(format_list(expr, 1, ", ", BINDS_OR, out));
    return strbuf_append_text(out, "])");
}

static kith_error *format_like(const struct expr *expr, struct strbuf *out)
{
    TRY(format_operand(expr->operands[0], BINDS_COMPARISON + 1, out));
    TRY(strbuf_append_text(out, expr->match.negated ? " NOT" : ""));
    TRY(strbuf_append_text(out, expr->match.case_insensitive ? " ILIKE " : " LIKE "));
    return format_operand(expr->operands[1], BINDS_COMPARISON + 1, out);
}

kith_error *expr_format(const struct expr *expr, struct strbuf *out)
{
    switch (expr->kind) {
    case EXPR_COLUMN:
        return strbuf_printf(out, "%s@%zu", expr->column.name, expr->column.index);
    case EXPR_LITERAL:
        return scalar_format(&expr->literal, out);
    case EXPR_BINARY:
        return format_binary(expr, out);
    case EXPR_AND:
        return format_list(expr, 0, " AND ", BINDS_AND + 1, out);
    case EXPR_OR:
        return format_list(expr, 0, " OR ", BINDS_OR + 1, out);
    case EXPR_NOT:
        TRY(strbuf_append_text(out, "NOT "));
        return format_operand(expr->operands[0], BINDS_NOT, out);
    case EXPR_NEGATIVE:
        TRY(strbuf_append_text(out, "(- "));
        TRY(format_operand(expr->operands[0], BINDS_ALL, out));
        return strbuf_append_text(out, ")");
    case EXPR_IS_NULL:
        TRY(format_operand(expr->operands[0], BINDS_COMPARISON + 1, out));
        return strbuf_append_text(out, " IS NULL");
    case EXPR_IS_NOT_NULL:
        TRY(format_operand(expr->operands[0], BINDS_COMPARISON + 1, out));
        return strbuf_append_text(out, " IS NOT NULL");
    case EXPR_IN_LIST:
        return format_in_list(expr, out);
    case EXPR_LIKE:
        return format_like(expr, out);
    case EXPR_CASE:
        return format_case(expr, out);
    case EXPR_CAST:
    case EXPR_TRY_CAST:
        return format_cast(expr, out);
    case EXPR_FUNCTION:
        TRY(strbuf_printf(out, "%s(", expr->function->name));
        TRY(format_list(expr, 0, ", ", BINDS_OR, out));
        return strbuf_append_text(out, ")");
    }
    UNREACHABLE();
}
