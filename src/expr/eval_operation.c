#include "compute/arithmetic.h"
#include "compute/boolean.h"
#include "compute/cast.h"
#include "compute/compare.h"
#include "compute/text_output.h"
#include "compute/text_reader.h"
#include "expr/eval_node.h"
#include "expr/functions.h"

/* a || b: NULL when either is. */
static kith_error *concatenate(const struct data_type *type, const struct datum *left, const struct datum *right,
                               size_t rows, const struct selection *selection, struct array **out)
{
    if (datum_is_null_constant(left) || datum_is_null_constant(right))
        return kernel_all_null(type, rows, out);
    _cleanup_(text_output_reset) struct text_output output = {0};
    TRY(text_output_begin(&output, type, rows));
    struct text_reader a = text_reader_of(left->array), b = text_reader_of(right->array);
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        if (datum_is_null(left, row) || datum_is_null(right, row)) {
            TRY(text_output_set_null(&output, row));
            continue;
        }
        struct str first = text_at(&a, datum_row(left, row)), second = text_at(&b, datum_row(right, row));
        TRY(strbuf_append(&output.bytes, first.data, first.length));
        TRY(text_output_set(&output, row, second));
    }
    return text_output_finish(&output, out);
}

static kith_error *run_binary(const struct expr *expr, const struct datum *operands, size_t rows,
                              const struct selection *selection, struct array **out)
{
    if (expr->operation == OP_CONCAT)
        return concatenate(&expr->type, &operands[0], &operands[1], rows, selection, out);
    if (eval_is_comparison(expr))
        return compare_run((enum compare_operator)expr->operation, &operands[0], &operands[1], rows, selection, out);
    return arithmetic_run((enum arithmetic_operator)(expr->operation - OP_ADD), &operands[0], &operands[1], rows,
                          selection, out);
}

/* value IN (a, b, …) of operands that are not all literals: value = a OR value = b OR …, in three-valued logic. */
static kith_error *run_in_list(const struct expr *expr, const struct datum *operands, size_t count, size_t rows,
                               const struct selection *selection, struct array **out)
{
    const struct scalar no = {.type = type_of(TYPE_BOOL), .boolean = false};
    _cleanup_(array_unref) struct array *found = NULL;
    TRY(scalar_to_array(&no, rows, &found));
    for (size_t i = 1; i < count; i++) {
        _cleanup_(array_unref) struct array *equal = NULL;
        _cleanup_(array_unref) struct array *before = TAKE(found);
        if (operands[0].constant && operands[i].constant) {
            /* Both constants stand for all rows; the kernel wants one row of each then. */
            _cleanup_(array_unref) struct array *one = NULL;
            struct datum left = datum_of(operands[0].array), right = datum_of(operands[i].array);
            TRY(compare_run(COMPARE_EQ, &left, &right, 1, NULL, &one));
            struct datum constant = {.array = one, .constant = true}, so_far = datum_of(before);
            TRY(boolean_combine(BOOLEAN_OR, &so_far, &constant, rows, &found));
            continue;
        }
        TRY(compare_run(COMPARE_EQ, &operands[0], &operands[i], rows, selection, &equal));
        struct datum left = datum_of(before), right = datum_of(equal);
        TRY(boolean_combine(BOOLEAN_OR, &left, &right, rows, &found));
    }
    if (!expr->match.negated) {
        *out = TAKE(found);
        return NULL;
    }
    struct datum result = datum_of(found);
    return boolean_not(&result, rows, out);
}

/* The kernel of a function whose result is NULL where an argument is computes values only. */
static kith_error *run_function(const struct expr *expr, const struct datum *operands, size_t count, size_t rows,
                                const struct selection *selection, struct array **out)
{
    for (size_t i = 0; i < count && expr->function->nulls == FUNCTION_NULL_IF_ANY; i++)
        if (datum_is_null_constant(&operands[i]))
            return kernel_all_null(&expr->type, rows, out);
    return expr->function->run(operands, count, rows, selection, &expr->type, out);
}

kith_error *eval_operation(struct eval_node *node, size_t rows, const struct selection *selection, struct array **out)
{
    const struct expr *expr = node->expr;
    const struct datum *operands = node->operands;
    switch (expr->kind) {
    case EXPR_BINARY:
        return run_binary(expr, operands, rows, selection, out);
    case EXPR_NOT:
        return boolean_not(&operands[0], rows, out);
    case EXPR_NEGATIVE:
        return arithmetic_negate(&operands[0], rows, selection, out);
    case EXPR_IS_NULL:
    case EXPR_IS_NOT_NULL:
        return boolean_is_null(&operands[0], expr->kind == EXPR_IS_NOT_NULL, rows, out);
    case EXPR_IN_LIST:
        if (node->set != NULL)
            return in_set_run(node->set, &operands[0], expr->match.negated, rows, selection, out);
        return run_in_list(expr, operands, node->child_count, rows, selection, out);
    case EXPR_LIKE:
        if (node->pattern != NULL)
            return like_run(&operands[0], node->pattern, expr->match.negated, rows, selection, out);
        return like_run_patterns(&operands[0], &operands[1], expr->match.case_insensitive, expr->match.negated, rows,
                                 selection, out);
    case EXPR_CAST:
    case EXPR_TRY_CAST:
        return cast_run(&operands[0], &expr->type, expr->kind == EXPR_TRY_CAST, rows, selection, out);
    case EXPR_FUNCTION:
        return run_function(expr, operands, node->child_count, rows, selection, out);
    case EXPR_COLUMN:
    case EXPR_LITERAL:
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_CASE:
        break;
    }
    UNREACHABLE();
}
