#include "expr/expr.h"

#include "base/limits.h"
#include "compute/arithmetic.h"
#include "compute/cast.h"
#include "compute/compare.h"
#include "expr/expr_build.h"
#include "runtime/sort_in_turns.h"

enum { OPERANDS_A_CHARGE = 4096 };

kith_error *expr_new(struct arena *arena, enum expr_kind kind, const struct data_type *type,
                     const struct expr *const *operands, size_t count, struct expr **out)
{
    struct expr *expr;
    unsigned depth = 0;
    bool nullable = false;
    if (count > LIMIT_EXPR_NODES)
        return error_new(KITH_ERROR_LIMIT, "an expression of %zu operands exceeds EXPR_NODES (%d nodes)", count,
                         LIMIT_EXPR_NODES);
    TRY(ARENA_NEW(arena, &expr));
    if (count > 0)
        TRY(ARENA_NEW_ARRAY(arena, &expr->operands, count));
    for (size_t i = 0; i < count; i++) {
        expr->operands[i] = operands[i];
        depth = MAX(depth, (unsigned)operands[i]->depth);
        nullable |= operands[i]->nullable;
    }
    if (depth + 1 > LIMIT_SQL_NESTING)
        return error_new(KITH_ERROR_LIMIT, "an expression is nested deeper than SQL_NESTING (%d levels)",
                         LIMIT_SQL_NESTING);
    expr->kind = kind;
    expr->type = *type;
    expr->nullable = nullable;
    expr->sql_offset = -1;
    expr->depth = (uint16_t)(depth + 1);
    expr->operand_count = count;
    *out = expr;
    return NULL;
}

static const struct data_type boolean = {.id = TYPE_BOOL};

static kith_error *require_boolean(const struct expr *operand, const char *what)
{
    char name[128];
    if (operand->type.id == TYPE_BOOL)
        return NULL;
    return error_new(KITH_ERROR_TYPE_MISMATCH, "%s must be Boolean, not %s", what,
                     type_format(&operand->type, name, sizeof name));
}

kith_error *expr_column(struct arena *arena, const struct schema *input, size_t index, const struct expr **out)
{
    struct expr *expr;
    char *name;
    if (index >= input->field_count)
        return error_new(KITH_ERROR_UNDEFINED_COLUMN, "column %zu of a schema of %zu columns", index,
                         input->field_count);
    const struct field *field = &input->fields[index];
    struct data_type type = type_decoded(&field->type);
    TRY(expr_new(arena, EXPR_COLUMN, &type, NULL, 0, &expr));
    TRY(arena_string(arena, field->name, strlen(field->name), &name));
    expr->column.name = name;
    expr->column.index = index;
    expr->nullable = field->nullable;
    *out = expr;
    return NULL;
}

kith_error *expr_literal(struct arena *arena, const struct scalar *value, const struct expr **out)
{
    struct expr *expr;
    struct data_type type = type_decoded(&value->type);
    TRY(expr_new(arena, EXPR_LITERAL, &type, NULL, 0, &expr));
    TRY(scalar_copy(value, arena, &expr->literal));
    expr->literal.type = type;
    expr->nullable = value->is_null;
    *out = expr;
    return NULL;
}

static bool is_comparison(enum binary_operator operation)
{
    return operation <= OP_IS_NOT_DISTINCT;
}

static kith_error *concat_type(const struct data_type *left, const struct data_type *right, struct data_type *out)
{
    char left_name[128], right_name[128];
    if (!type_is_string(left->id) || !type_is_string(right->id))
        return error_new(KITH_ERROR_TYPE_MISMATCH, "|| joins text, not %s and %s",
                         type_format(left, left_name, sizeof left_name),
                         type_format(right, right_name, sizeof right_name));
    if (left->id == right->id)
        *out = *left;
    else
        *out = type_of(left->id == TYPE_LARGE_UTF8 || right->id == TYPE_LARGE_UTF8 ? TYPE_LARGE_UTF8 : TYPE_UTF8);
    return NULL;
}

kith_error *expr_binary(struct arena *arena, enum binary_operator operation, const struct expr *left,
                        const struct expr *right, const struct expr **out)
{
    struct expr *expr;
    struct data_type type = boolean;
    if (is_comparison(operation))
        TRY(compare_check(&left->type, &right->type));
    else if (operation == OP_CONCAT)
        TRY(concat_type(&left->type, &right->type, &type));
    else
        TRY(arithmetic_result_type((enum arithmetic_operator)(operation - OP_ADD), &left->type, &right->type, &type));
    TRY(expr_new(arena, EXPR_BINARY, &type, (const struct expr *[]){left, right}, 2, &expr));
    expr->operation = operation;
    if (operation == OP_IS_DISTINCT || operation == OP_IS_NOT_DISTINCT)
        expr->nullable = false;
    *out = expr;
    return NULL;
}

static size_t flattened_count(enum expr_kind kind, const struct expr *const *operands, size_t count)
{
    size_t flattened = 0;
    for (size_t i = 0; i < count; i++)
        flattened += operands[i]->kind == kind ? operands[i]->operand_count : 1;
    return flattened;
}

kith_error *expr_logical(struct arena *arena, enum expr_kind and_or, const struct expr *const *operands, size_t count,
                         const struct expr **out)
{
    const char *name = and_or == EXPR_AND ? "an operand of AND" : "an operand of OR";
    if (count == 0)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "%s is missing", name);
    for (size_t i = 0; i < count; i++)
        TRY(require_boolean(operands[i], name));
    if (count == 1) {
        *out = operands[0];
        return NULL;
    }
    const struct expr **flat;
    size_t flat_count = 0;
    TRY(ARENA_NEW_ARRAY(arena, &flat, flattened_count(and_or, operands, count)));
    for (size_t i = 0; i < count; i++) {
        if (operands[i]->kind != and_or) {
            flat[flat_count++] = operands[i];
            continue;
        }
        for (size_t j = 0; j < operands[i]->operand_count; j++)
            flat[flat_count++] = operands[i]->operands[j];
    }
    struct expr *expr;
    TRY(expr_new(arena, and_or, &boolean, flat, flat_count, &expr));
    *out = expr;
    return NULL;
}

kith_error *expr_unary(struct arena *arena, enum expr_kind kind, const struct expr *operand, const struct expr **out)
{
    struct expr *expr;
    struct data_type type = boolean;
    if (kind == EXPR_NOT) {
        TRY(require_boolean(operand, "the operand of NOT"));
    } else if (kind == EXPR_NEGATIVE) {
        TRY(arithmetic_negate_check(&operand->type));
        type = operand->type;
    } else {
        ASSERT(kind == EXPR_IS_NULL || kind == EXPR_IS_NOT_NULL);
    }
    TRY(expr_new(arena, kind, &type, &operand, 1, &expr));
    if (kind == EXPR_IS_NULL || kind == EXPR_IS_NOT_NULL)
        expr->nullable = false;
    *out = expr;
    return NULL;
}

static int by_literal(const void *a, const void *b, void *context)
{
    const struct expr *const *operands = context;
    return scalar_compare(&operands[*(const uint32_t *)a]->literal, &operands[*(const uint32_t *)b]->literal);
}

/* Whether all are literals of one type whose values have an order. */
static bool have_order(const struct expr *const *operands, size_t count)
{
    kith_error *unordered = sort_key_check_type(&operands[0]->type);
    error_free(unordered);
    for (size_t i = 0; i < count && unordered == NULL; i++)
        if (operands[i]->kind != EXPR_LITERAL || !type_equal(&operands[i]->type, &operands[0]->type))
            return false;
    return unordered == NULL;
}

static kith_error *order_literals(struct arena *arena, struct expr *list)
{
    enum { SHORT_LIST = 16 };
    uint32_t *by_value;
    const struct sort_in_turns sort = {.size = sizeof *by_value, .compare = by_literal, .context = list->operands};
    if (list->operand_count <= SHORT_LIST || !have_order(list->operands + 1, list->operand_count - 1))
        return NULL;
    TRY(ARENA_NEW_ARRAY(arena, &by_value, list->operand_count));
    for (uint32_t i = 1; i < list->operand_count; i++)
        if (!list->operands[i]->literal.is_null)
            by_value[list->match.value_count++] = i;
    TRY(sort_array_in_turns(&sort, by_value, list->match.value_count));
    list->match.by_value = by_value;
    return NULL;
}

kith_error *expr_in_list(struct arena *arena, const struct expr *const *operands, size_t count, bool negated,
                         const struct expr **out)
{
    struct expr *expr;
    if (count == 0)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "IN has no left operand");
    for (size_t i = 1; i < count; i++) {
        TRY(compare_check(&operands[0]->type, &operands[i]->type));
        TRY(coop_charge_every(OPERANDS_A_CHARGE, i));
    }
    TRY(expr_new(arena, EXPR_IN_LIST, &boolean, operands, count, &expr));
    expr->match.negated = negated;
    TRY(order_literals(arena, expr));
    *out = expr;
    return NULL;
}

kith_error *expr_like(struct arena *arena, const struct expr *text, const struct expr *pattern, bool negated,
                      bool case_insensitive, const struct expr **out)
{
    struct expr *expr;
    char text_name[128], pattern_name[128];
    if (!type_is_string(text->type.id) || !type_is_string(pattern->type.id))
        return error_new(KITH_ERROR_TYPE_MISMATCH, "LIKE takes text, not %s and %s",
                         type_format(&text->type, text_name, sizeof text_name),
                         type_format(&pattern->type, pattern_name, sizeof pattern_name));
    TRY(expr_new(arena, EXPR_LIKE, &boolean, (const struct expr *[]){text, pattern}, 2, &expr));
    expr->match.negated = negated;
    expr->match.case_insensitive = case_insensitive;
    *out = expr;
    return NULL;
}

/* Branches of a CASE: the same type, but text of any layout goes with text. */
static bool branches_fit(const struct data_type *a, const struct data_type *b)
{
    return type_equal(a, b) || (type_is_string(a->id) && type_is_string(b->id));
}

kith_error *expr_case(struct arena *arena, const struct expr *const *operands, size_t count, const struct expr **out)
{
    struct expr *expr;
    bool has_else = count % 2 != 0;
    if (count < 2)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "CASE needs at least one WHEN with its THEN");
    const struct data_type *type = &operands[1]->type;
    bool nullable = !has_else;
    for (size_t i = 0; i < count; i++) {
        bool is_when = i % 2 == 0 && i + 1 < count;
        if (is_when) {
            TRY(require_boolean(operands[i], "a WHEN condition"));
            continue;
        }
        nullable |= operands[i]->nullable;
        char first[128], other[128];
        if (!branches_fit(type, &operands[i]->type))
            return error_new(KITH_ERROR_TYPE_MISMATCH, "branches of CASE have different types: %s and %s",
                             type_format(type, first, sizeof first),
                             type_format(&operands[i]->type, other, sizeof other));
    }
    TRY(expr_new(arena, EXPR_CASE, type, operands, count, &expr));
    expr->nullable = nullable;
    *out = expr;
    return NULL;
}

kith_error *expr_cast(struct arena *arena, enum expr_kind cast_or_try, const struct expr *operand,
                      const struct data_type *type, const struct expr **out)
{
    struct expr *expr;
    struct data_type decoded = type_decoded(type);
    ASSERT(cast_or_try == EXPR_CAST || cast_or_try == EXPR_TRY_CAST);
    TRY(cast_check(&operand->type, &decoded));
    TRY(expr_new(arena, cast_or_try, &decoded, &operand, 1, &expr));
    if (cast_or_try == EXPR_TRY_CAST)
        expr->nullable = true;
    *out = expr;
    return NULL;
}

kith_error *expr_at(struct arena *arena, const struct expr *expr, size_t sql_offset, const struct expr **out)
{
    struct expr *copy;
    TRY(ARENA_NEW(arena, &copy));
    *copy = *expr;
    copy->sql_offset = sql_offset <= INT32_MAX ? (int32_t)sql_offset : -1;
    *out = copy;
    return NULL;
}
