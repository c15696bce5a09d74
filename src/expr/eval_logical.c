#include "base/alloc.h"
#include "compute/boolean.h"
#include "compute/choose.h"
#include "expr/eval_node.h"

/* Each operand is evaluated only where those before it have not decided: AND where none was false, OR where none was
 * true. So `x <> 0 AND 1 / x > 2` does not divide by zero. Where an operand was not evaluated its value is arbitrary,
 * which false (AND) or true (OR) from before overrules. */
kith_error *eval_and_or(struct eval_node *node, const struct eval_frame *frame, const struct selection *selection,
                        struct datum *out)
{
    bool is_and = node->expr->kind == EXPR_AND;
    enum boolean_operator operation = is_and ? BOOLEAN_AND : BOOLEAN_OR;
    _cleanup_(datum_reset) struct datum result = {0};
    _cleanup_(selection_unref) struct selection *open = NULL;
    TRY(eval_node_run_decoded(&node->children[0], frame, selection, &result));
    for (size_t i = 1; i < node->child_count; i++) {
        _cleanup_(datum_reset) struct datum operand = {0};
        _cleanup_(selection_unref) struct selection *before = TAKE(open);
        TRY(selection_narrow(&result, is_and ? TRUTH_IS_NOT_FALSE : TRUTH_IS_NOT_TRUE, frame->rows,
                             before != NULL ? before : selection, &open));
        if (open->count == 0)
            break;
        TRY(eval_node_run_decoded(&node->children[i], frame, open, &operand));
        bool constant = result.constant && operand.constant;
        struct array *combined;
        TRY(boolean_combine(operation, &result, &operand, constant ? 1 : frame->rows, &combined));
        datum_reset(&result);
        result = (struct datum){.array = combined, .constant = constant};
    }
    *out = (struct datum){.array = TAKE(result.array), .constant = result.constant};
    return NULL;
}

/* Which branch each row takes, and the branches' values. */
struct choice {
    uint32_t *which;
    struct datum *sources;
    size_t source_count;
};

static void choice_reset(struct choice *choice)
{
    for (size_t i = 0; i < choice->source_count; i++)
        datum_reset(&choice->sources[i]);
    free(choice->sources);
    free(choice->which);
}
DEFINE_VALUE_CLEANUP(choice_reset, struct choice)

static kith_error *choice_init(struct choice *choice, size_t rows, size_t source_count)
{
    TRY(NEW_ARRAY(&choice->sources, source_count));
    choice->source_count = source_count;
    TRY(alloc_resize(&choice->which, rows, sizeof *choice->which));
    memset(choice->which, 0xFF, rows * sizeof *choice->which); /* CHOOSE_NULL */
    return NULL;
}

static kith_error *take_branch(struct choice *choice, size_t source, struct eval_node *node,
                               const struct eval_frame *frame, const struct selection *rows)
{
    TRY(eval_node_run(node, frame, rows, &choice->sources[source]));
    for (size_t k = 0; k < selected_count(rows, frame->rows); k++)
        choice->which[selected_row(rows, k)] = (uint32_t)source;
    return NULL;
}

/* Each WHEN is evaluated for the rows that no earlier one took, each THEN for the rows that its WHEN is true of. */
kith_error *eval_case(struct eval_node *node, const struct eval_frame *frame, const struct selection *selection,
                      struct datum *out)
{
    size_t pairs = node->child_count / 2;
    bool has_else = node->child_count % 2 != 0;
    _cleanup_(choice_reset) struct choice choice = {0};
    _cleanup_(selection_unref) struct selection *remaining = NULL;
    TRY(choice_init(&choice, frame->rows, pairs + has_else));
    for (size_t i = 0; i < pairs; i++) {
        const struct selection *rows = remaining != NULL ? remaining : selection;
        _cleanup_(datum_reset) struct datum when = {0};
        _cleanup_(selection_unref) struct selection *matched = NULL;
        struct selection *rest = NULL;
        TRY(eval_node_run_decoded(&node->children[2 * i], frame, rows, &when));
        TRY(selection_narrow(&when, TRUTH_IS_TRUE, frame->rows, rows, &matched));
        TRY(take_branch(&choice, i, &node->children[2 * i + 1], frame, matched));
        TRY(selection_subtract(rows, frame->rows, matched, &rest));
        if (remaining != NULL)
            selection_unref(remaining);
        remaining = rest;
        if (remaining->count == 0)
            break;
    }
    if (has_else)
        TRY(take_branch(&choice, pairs, &node->children[2 * pairs], frame, remaining));
    return choose_rows(&node->expr->type, choice.sources, choice.source_count, choice.which, frame->rows, selection,
                       &out->array);
}

/* The first argument that is not NULL, each evaluated only where those before it are NULL. */
kith_error *eval_coalesce(struct eval_node *node, const struct eval_frame *frame, const struct selection *selection,
                          struct datum *out)
{
    _cleanup_(choice_reset) struct choice choice = {0};
    _cleanup_(selection_unref) struct selection *remaining = NULL;
    TRY(choice_init(&choice, frame->rows, node->child_count));
    for (size_t i = 0; i < node->child_count; i++) {
        const struct selection *rows = remaining != NULL ? remaining : selection;
        TRY(take_branch(&choice, i, &node->children[i], frame, rows));
        struct selection *rest = NULL;
        TRY(selection_new(selected_count(rows, frame->rows), &rest));
        for (size_t k = 0; k < selected_count(rows, frame->rows); k++) {
            size_t row = selected_row(rows, k);
            if (datum_is_null(&choice.sources[i], row))
                rest->rows[rest->count++] = (uint32_t)row;
        }
        if (remaining != NULL)
            selection_unref(remaining);
        remaining = rest;
        if (remaining->count == 0)
            break;
    }
    return choose_rows(&node->expr->type, choice.sources, choice.source_count, choice.which, frame->rows, selection,
                       &out->array);
}
