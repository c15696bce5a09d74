#include "compute/compare.h"
#include "expr/eval_node.h"

static kith_error *select_rows(struct eval_node *node, const struct eval_frame *frame,
                               const struct selection *selection, struct selection **out);

/* Conjuncts in order, each on the rows that are left. */
static kith_error *select_and(struct eval_node *node, const struct eval_frame *frame, const struct selection *selection,
                              struct selection **out)
{
    _cleanup_(selection_unref) struct selection *left = NULL;
    ASSERT(node->child_count > 0);
    for (size_t i = 0; i < node->child_count; i++) {
        _cleanup_(selection_unref) struct selection *before = TAKE(left);
        TRY(select_rows(&node->children[i], frame, before != NULL ? before : selection, &left));
        if (left->count == 0)
            break;
    }
    *out = TAKE(left);
    return NULL;
}

/* Disjuncts in order, each on the rows that no earlier one has let through. */
static kith_error *select_or(struct eval_node *node, const struct eval_frame *frame, const struct selection *selection,
                             struct selection **out)
{
    _cleanup_(selection_unref) struct selection *passed = NULL;
    _cleanup_(selection_unref) struct selection *open = NULL;
    TRY(selection_new(0, &passed));
    for (size_t i = 0; i < node->child_count; i++) {
        const struct selection *rows = open != NULL ? open : selection;
        _cleanup_(selection_unref) struct selection *here = NULL;
        _cleanup_(selection_unref) struct selection *passed_before = TAKE(passed);
        struct selection *rest = NULL;
        TRY(select_rows(&node->children[i], frame, rows, &here));
        TRY(selection_unite(passed_before, here, &passed));
        TRY(selection_subtract(rows, frame->rows, here, &rest));
        if (open != NULL)
            selection_unref(open);
        open = rest;
        if (open->count == 0)
            break;
    }
    *out = TAKE(passed);
    return NULL;
}

/* Without making booleans, where no operand has a dictionary to profit from. */
static kith_error *select_compared(struct eval_node *node, size_t rows, const struct selection *selection,
                                   struct selection **out)
{
    const struct datum *left = &node->operands[0], *right = &node->operands[1];
    _cleanup_(array_unref) struct array *booleans = NULL;
    if (node->expr->operation != OP_IS_DISTINCT && node->expr->operation != OP_IS_NOT_DISTINCT)
        TRY(eval_by_dictionary(node, rows, selection, &booleans));
    if (booleans != NULL) {
        struct datum datum = datum_of(booleans);
        return selection_narrow(&datum, TRUTH_IS_TRUE, rows, selection, out);
    }
    TRY(eval_decode_operands(node));
    return compare_select((enum compare_operator)node->expr->operation, left, right, rows, selection, out);
}

static kith_error *select_by_value(struct eval_node *node, const struct eval_frame *frame,
                                   const struct selection *selection, struct selection **out)
{
    _cleanup_(datum_reset) struct datum value = {0};
    TRY(eval_node_run_decoded(node, frame, selection, &value));
    return selection_narrow(&value, TRUTH_IS_TRUE, frame->rows, selection, out);
}

static kith_error *select_rows(struct eval_node *node, const struct eval_frame *frame,
                               const struct selection *selection, struct selection **out)
{
    if (selected_count(selection, frame->rows) == 0)
        return selection_new(0, out);
    if (node->expr->kind == EXPR_AND)
        return select_and(node, frame, selection, out);
    if (node->expr->kind == EXPR_OR)
        return select_or(node, frame, selection, out);
    if (!eval_is_comparison(node->expr))
        return select_by_value(node, frame, selection, out);
    TRY(eval_operands(node, frame, selection));
    if (node->operands[0].constant && node->operands[1].constant) {
        eval_operands_reset(node);
        return select_by_value(node, frame, selection, out);
    }
    kith_error *error = select_compared(node, frame->rows, selection, out);
    eval_operands_reset(node);
    return error;
}

kith_error *evaluator_filter(struct evaluator *evaluator, struct batch *batch, struct batch **out)
{
    struct eval_frame frame = {.batch = batch, .rows = batch->rows};
    _cleanup_(selection_unref) struct selection *selection = NULL;
    if (evaluator->root.expr->type.id != TYPE_BOOL)
        return error_new(KITH_ERROR_INTERNAL, "a filter's expression is not boolean");
    TRY(select_rows(&evaluator->root, &frame, batch->selection, &selection));
    if (selection->count == batch_row_count(batch)) {
        *out = batch_ref(batch);
        return NULL;
    }
    return batch_select(batch, selection, out);
}
