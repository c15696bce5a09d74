#include "expr/eval.h"

#include "base/alloc.h"
#include "expr/eval_node.h"
#include "expr/functions.h"

static void node_reset(struct eval_node *node)
{
    for (size_t i = 0; i < node->child_count; i++)
        node_reset(&node->children[i]);
    if (node->operands != NULL)
        eval_operands_reset(node);
    free(node->children);
    free(node->operands);
    if (node->literal != NULL)
        array_unref(node->literal);
    if (node->dictionary != NULL)
        array_unref(node->dictionary);
    if (node->dictionary_result != NULL)
        array_unref(node->dictionary_result);
    if (node->pattern != NULL)
        like_pattern_free(node->pattern);
    if (node->set != NULL)
        in_set_free(node->set);
}

static bool all_literals(const struct expr *expr, size_t first)
{
    for (size_t i = first; i < expr->operand_count; i++)
        if (expr->operands[i]->kind != EXPR_LITERAL)
            return false;
    return true;
}

static kith_error *prepare_in_list(struct eval_node *node)
{
    const struct expr *expr = node->expr;
    size_t count = expr->operand_count - 1;
    _cleanup_free_ struct scalar *values = NULL;
    TRY(NEW_ARRAY(&values, count));
    for (size_t i = 0; i < count; i++)
        values[i] = expr->operands[i + 1]->literal;
    return in_set_new(&expr->operands[0]->type, values, count, &node->set);
}

/* What a node computes once: the operands that it then does without are the last ones. */
static kith_error *prepare(struct eval_node *node, size_t *child_count)
{
    const struct expr *expr = node->expr;
    *child_count = expr->operand_count;
    if (expr->kind == EXPR_LITERAL)
        return scalar_to_array(&expr->literal, 1, &node->literal);
    if (expr->kind == EXPR_LIKE && all_literals(expr, 1) && !expr->operands[1]->literal.is_null) {
        *child_count = 1;
        return like_compile(expr->operands[1]->literal.string, expr->match.case_insensitive, &node->pattern);
    }
    if (expr->kind == EXPR_IN_LIST && all_literals(expr, 1)) {
        *child_count = 1;
        return prepare_in_list(node);
    }
    return NULL;
}

/* What was made stays in the node on error; node_reset frees it. */
static kith_error *node_init(struct eval_node *node, const struct expr *expr)
{
    size_t child_count;
    node->expr = expr;
    TRY(prepare(node, &child_count));
    TRY(NEW_ARRAY(&node->children, child_count));
    TRY(NEW_ARRAY(&node->operands, child_count));
    node->child_count = child_count;
    for (size_t i = 0; i < child_count; i++)
        TRY(node_init(&node->children[i], expr->operands[i]));
    return NULL;
}

kith_error *evaluator_new(const struct expr *expr, struct evaluator **out)
{
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    TRY(NEW(&evaluator));
    TRY(node_init(&evaluator->root, expr));
    *out = TAKE(evaluator);
    return NULL;
}

void evaluator_free(struct evaluator *evaluator)
{
    if (evaluator == NULL)
        return;
    node_reset(&evaluator->root);
    free(evaluator);
}

kith_error *eval_error(const struct expr *expr, kith_error *take_error)
{
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    enum { SHOWN_BYTES = 200 };
    if (take_error == NULL)
        return NULL;
    kith_error *format_error = expr_format(expr, &text);
    if (format_error != NULL)
        error_free(format_error);
    bool cut = text.length > SHOWN_BYTES;
    kith_error *error = error_wrap(take_error, "evaluating %.*s%s", cut ? SHOWN_BYTES : (int)text.length,
                                   strbuf_text(&text), cut ? "..." : "");
    return expr->sql_offset >= 0 ? error_at(error, (size_t)expr->sql_offset) : error;
}

void eval_operands_reset(struct eval_node *node)
{
    for (size_t i = 0; i < node->child_count; i++)
        datum_reset(&node->operands[i]);
}

kith_error *eval_operands(struct eval_node *node, const struct eval_frame *frame, const struct selection *selection)
{
    for (size_t i = 0; i < node->child_count; i++) {
        kith_error *error = eval_node_run(&node->children[i], frame, selection, &node->operands[i]);
        if (error != NULL) {
            eval_operands_reset(node);
            return error;
        }
    }
    return NULL;
}

kith_error *eval_decode_operands(struct eval_node *node)
{
    for (size_t i = 0; i < node->child_count; i++) {
        struct datum *operand = &node->operands[i];
        if (operand->array == NULL || operand->array->dictionary == NULL)
            continue;
        struct array *decoded;
        TRY(array_decode_dictionary(operand->array, &decoded));
        array_unref(operand->array);
        operand->array = decoded;
    }
    return NULL;
}

/* Kinds whose result is NULL where their operand is, which is what the dictionary's shortcut needs. */
static bool is_null_for_null(const struct eval_node *node)
{
    const struct expr *expr = node->expr;
    switch (expr->kind) {
    case EXPR_BINARY:
        return expr->operation != OP_IS_DISTINCT && expr->operation != OP_IS_NOT_DISTINCT;
    case EXPR_LIKE:
    case EXPR_CAST:
    case EXPR_TRY_CAST:
    case EXPR_NOT:
    case EXPR_NEGATIVE:
        return true;
    case EXPR_IN_LIST:
        return node->set != NULL && expr->operand_count > 1;
    case EXPR_FUNCTION:
        return expr->function->nulls == FUNCTION_NULL_IF_ANY;
    case EXPR_COLUMN:
    case EXPR_LITERAL:
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_IS_NULL:
    case EXPR_IS_NOT_NULL:
    case EXPR_CASE:
        return false;
    }
    UNREACHABLE();
}

static bool all_constant(const struct eval_node *node)
{
    for (size_t i = 0; i < node->child_count; i++)
        if (!node->operands[i].constant)
            return false;
    return node->child_count > 0;
}

/* Operands are there: computes the node from them. An operation on constants is computed for one row. */
static kith_error *combine_operands(struct eval_node *node, size_t rows, const struct selection *selection,
                                    struct datum *out)
{
    bool constant = all_constant(node);
    struct array *result = NULL;
    if (constant) {
        for (size_t i = 0; i < node->child_count; i++)
            node->operands[i].constant = false;
        rows = 1;
        selection = NULL;
    } else if (is_null_for_null(node)) {
        TRY(eval_by_dictionary(node, rows, selection, &result));
    }
    if (result == NULL) {
        TRY(eval_decode_operands(node));
        TRY(eval_error(node->expr, eval_operation(node, rows, selection, &result)));
    }
    *out = (struct datum){.array = result, .constant = constant};
    return NULL;
}

static kith_error *run_operation(struct eval_node *node, const struct eval_frame *frame,
                                 const struct selection *selection, struct datum *out)
{
    TRY(eval_operands(node, frame, selection));
    kith_error *error = combine_operands(node, frame->rows, selection, out);
    eval_operands_reset(node);
    return error;
}

static kith_error *null_constant(const struct data_type *type, struct datum *out)
{
    out->constant = true;
    return array_new_null(type, 1, &out->array);
}

kith_error *eval_node_run(struct eval_node *node, const struct eval_frame *frame, const struct selection *selection,
                          struct datum *out)
{
    const struct expr *expr = node->expr;
    *out = (struct datum){0};
    if (selected_count(selection, frame->rows) == 0)
        return null_constant(&expr->type, out);
    switch (expr->kind) {
    case EXPR_COLUMN:
        if (expr->column.index >= frame->batch->schema->field_count)
            return error_new(KITH_ERROR_INTERNAL, "column %s@%zu of a batch of %zu columns", expr->column.name,
                             expr->column.index, frame->batch->schema->field_count);
        return batch_column(frame->batch, expr->column.index, &out->array);
    case EXPR_LITERAL:
        *out = (struct datum){.array = array_ref(node->literal), .constant = true};
        return NULL;
    case EXPR_AND:
    case EXPR_OR:
        return eval_and_or(node, frame, selection, out);
    case EXPR_CASE:
        return eval_case(node, frame, selection, out);
    case EXPR_FUNCTION:
        return expr->function->run == NULL ? eval_coalesce(node, frame, selection, out)
                                           : run_operation(node, frame, selection, out);
    case EXPR_BINARY:
    case EXPR_NOT:
    case EXPR_NEGATIVE:
    case EXPR_IS_NULL:
    case EXPR_IS_NOT_NULL:
    case EXPR_IN_LIST:
    case EXPR_LIKE:
    case EXPR_CAST:
    case EXPR_TRY_CAST:
        return run_operation(node, frame, selection, out);
    }
    UNREACHABLE();
}

kith_error *eval_node_run_decoded(struct eval_node *node, const struct eval_frame *frame,
                                  const struct selection *selection, struct datum *out)
{
    _cleanup_(datum_reset) struct datum value = {0};
    TRY(eval_node_run(node, frame, selection, &value));
    out->constant = value.constant;
    return array_decode_dictionary(value.array, &out->array);
}

kith_error *evaluator_run(struct evaluator *evaluator, struct batch *batch, struct array **out)
{
    struct eval_frame frame = {.batch = batch, .rows = batch->rows};
    _cleanup_(datum_reset) struct datum value = {0};
    TRY(eval_node_run(&evaluator->root, &frame, batch->selection, &value));
    if (!value.constant) {
        *out = TAKE(value.array);
        return NULL;
    }
    struct scalar scalar = scalar_from_array(value.array, 0);
    return scalar_to_array(&scalar, batch->rows, out);
}

kith_error *expr_evaluate_constant(const struct expr *expr, struct arena *arena, struct scalar *out)
{
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *row = NULL;
    _cleanup_(evaluator_free) struct evaluator *evaluator = NULL;
    _cleanup_(array_unref) struct array *value = NULL;
    if (!expr_is_constant(expr))
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "the expression is not constant");
    TRY(schema_new(NULL, 0, &schema));
    TRY(batch_new(schema, NULL, 1, &row));
    TRY(evaluator_new(expr, &evaluator));
    TRY(evaluator_run(evaluator, row, &value));
    struct scalar scalar = scalar_from_array(value, 0);
    return scalar_copy(&scalar, arena, out);
}
