#include "expr/expr.h"

#include "base/limits.h"
#include "expr/expr_build.h"
#include "expr/functions.h"

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

/* Nodes of the tree; at most one more than `most`, where counting ends. */
static size_t count_nodes(const struct expr *expr, size_t before, size_t most)
{
    size_t count = before + 1;
    for (size_t i = 0; i < expr->operand_count && count <= most; i++)
        count = count_nodes(expr->operands[i], count, most);
    return count;
}

/* The same of what a substitution would give; *depth is its levels, unless there are more nodes than that. */
static size_t measure(const struct expr *expr, const struct expr *const *exprs, size_t before, size_t most,
                      size_t *depth)
{
    if (expr->kind == EXPR_COLUMN) {
        *depth = exprs[expr->column.index]->depth;
        return count_nodes(exprs[expr->column.index], before, most);
    }
    size_t count = before + 1, deepest = 0;
    for (size_t i = 0; i < expr->operand_count && count <= most; i++) {
        size_t levels;
        count = measure(expr->operands[i], exprs, count, most, &levels);
        deepest = MAX(deepest, levels);
    }
    *depth = deepest + 1;
    return count;
}

static kith_error *substitute(struct arena *arena, const struct expr *expr, const struct expr *const *exprs,
                              const struct expr **out)
{
    struct expr *copy;
    *out = expr->kind == EXPR_COLUMN ? exprs[expr->column.index] : expr;
    if (expr->operand_count == 0)
        return NULL;
    TRY(ARENA_NEW(arena, &copy));
    *copy = *expr;
    copy->depth = 1;
    TRY(ARENA_NEW_ARRAY(arena, &copy->operands, expr->operand_count));
    for (size_t i = 0; i < expr->operand_count; i++) {
        TRY(substitute(arena, expr->operands[i], exprs, &copy->operands[i]));
        copy->depth = MAX(copy->depth, (uint16_t)(copy->operands[i]->depth + 1));
    }
    *out = copy;
    return NULL;
}

kith_error *expr_substitute(struct arena *arena, const struct expr *expr, const struct expr *const *exprs,
                            const struct expr **out)
{
    enum { WORTH_REPEATING = 1000 }; /* nested projections that use a column twice double at each level */
    size_t most = MAX(count_nodes(expr, 0, LIMIT_EXPR_NODES), (size_t)WORTH_REPEATING), depth;
    *out = NULL;
    if (measure(expr, exprs, 0, most, &depth) > most || depth > LIMIT_SQL_NESTING)
        return NULL;
    return substitute(arena, expr, exprs, out);
}

bool expr_is_volatile(const struct expr *expr)
{
    if (expr->kind == EXPR_FUNCTION && expr->function->volatility == FUNCTION_VOLATILE)
        return true;
    for (size_t i = 0; i < expr->operand_count; i++)
        if (expr_is_volatile(expr->operands[i]))
            return true;
    return false;
}

void expr_count_columns(const struct expr *expr, size_t *counts)
{
    if (expr->kind == EXPR_COLUMN)
        counts[expr->column.index]++;
    for (size_t i = 0; i < expr->operand_count; i++)
        expr_count_columns(expr->operands[i], counts);
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
