#include "expr/expr.h"
#include "expr/expr_build.h"

#include <math.h>

kith_error *expr_remap(struct arena *arena, const struct expr *expr, const size_t *mapping, const struct expr **out)
{
    struct expr *copy;
    *out = NULL;
    if (expr->kind == EXPR_COLUMN && mapping[expr->column.index] == SIZE_MAX)
        return NULL;
    TRY(expr_new(arena, expr->kind, &expr->type, expr->operands, expr->operand_count, &copy));
    const struct expr **operands = copy->operands;
    *copy = *expr;
    copy->operands = operands;
    if (expr->kind == EXPR_COLUMN)
        copy->column.index = mapping[expr->column.index];
    for (size_t i = 0; i < expr->operand_count; i++) {
        TRY(expr_remap(arena, expr->operands[i], mapping, &operands[i]));
        if (operands[i] == NULL)
            return NULL;
    }
    *out = copy;
    return NULL;
}

void expr_columns(const struct expr *expr, bool *used)
{
    if (expr->kind == EXPR_COLUMN)
        used[expr->column.index] = true;
    for (size_t i = 0; i < expr->operand_count; i++)
        expr_columns(expr->operands[i], used);
}

bool expr_is_constant(const struct expr *expr)
{
    if (expr->kind == EXPR_COLUMN)
        return false;
    for (size_t i = 0; i < expr->operand_count; i++)
        if (!expr_is_constant(expr->operands[i]))
            return false;
    return true;
}

static bool node_may_fail(const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_COLUMN:
    case EXPR_LITERAL:
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_NOT:
    case EXPR_IS_NULL:
    case EXPR_IS_NOT_NULL:
    case EXPR_IN_LIST:
    case EXPR_LIKE:
    case EXPR_CASE:
    case EXPR_TRY_CAST:
        return false;
    case EXPR_BINARY:
        return expr->type.id != TYPE_BOOL && !type_is_float(expr->type.id);
    case EXPR_NEGATIVE:
        return !type_is_float(expr->type.id);
    case EXPR_CAST:
    case EXPR_FUNCTION:
        return true;
    }
    UNREACHABLE();
}

bool expr_may_fail(const struct expr *expr)
{
    bool may_fail = node_may_fail(expr);
    for (size_t i = 0; i < expr->operand_count && !may_fail; i++)
        may_fail = expr_may_fail(expr->operands[i]);
    return may_fail;
}

static bool literals_equal(const struct scalar *a, const struct scalar *b)
{
    if (a->is_null || b->is_null)
        return a->is_null == b->is_null;
    if (a->type.id == TYPE_INTERVAL_DAY_TIME || a->type.id == TYPE_INTERVAL_MONTH_DAY_NANO)
        return a->interval.months == b->interval.months && a->interval.days == b->interval.days &&
               a->interval.nanoseconds == b->interval.nanoseconds;
    /* Values that compare as equal may still differ: 0.0 and -0.0 give different quotients. */
    if (a->type.id == TYPE_FLOAT32 && signbit(a->float32) != signbit(b->float32))
        return false;
    if (a->type.id == TYPE_FLOAT64 && signbit(a->float64) != signbit(b->float64))
        return false;
    return scalar_compare(a, b) == 0;
}

static bool nodes_equal(const struct expr *a, const struct expr *b)
{
    switch (a->kind) {
    case EXPR_COLUMN:
        return a->column.index == b->column.index;
    case EXPR_LITERAL:
        return literals_equal(&a->literal, &b->literal);
    case EXPR_BINARY:
        return a->operation == b->operation;
    case EXPR_IN_LIST:
    case EXPR_LIKE:
        return a->match.negated == b->match.negated && a->match.case_insensitive == b->match.case_insensitive;
    case EXPR_FUNCTION:
        return a->function == b->function;
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_NOT:
    case EXPR_NEGATIVE:
    case EXPR_IS_NULL:
    case EXPR_IS_NOT_NULL:
    case EXPR_CASE:
    case EXPR_CAST:
    case EXPR_TRY_CAST:
        return true;
    }
    UNREACHABLE();
}

bool expr_equal(const struct expr *a, const struct expr *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->operand_count != b->operand_count || !type_equal(&a->type, &b->type) ||
        !nodes_equal(a, b))
        return false;
    for (size_t i = 0; i < a->operand_count; i++)
        if (!expr_equal(a->operands[i], b->operands[i]))
            return false;
    return true;
}
