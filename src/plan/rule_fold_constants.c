#include "expr/eval.h"
#include "plan/rules.h"

static kith_error *fold(struct arena *arena, const struct expr **in_out);

/* A copy with folded operands, or the expression itself when none changed. */
static kith_error *fold_operands(struct arena *arena, const struct expr **in_out, bool *all_literal)
{
    const struct expr *expr = *in_out;
    const struct expr **operands;
    bool changed = false;
    *all_literal = expr->operand_count > 0;
    TRY(ARENA_NEW_ARRAY(arena, &operands, expr->operand_count));
    for (size_t i = 0; i < expr->operand_count; i++) {
        operands[i] = expr->operands[i];
        TRY(fold(arena, &operands[i]));
        changed = changed || operands[i] != expr->operands[i];
        *all_literal = *all_literal && operands[i]->kind == EXPR_LITERAL;
    }
    if (changed) {
        struct expr *copy;
        TRY(ARENA_NEW(arena, &copy));
        *copy = *expr;
        copy->operands = operands;
        *in_out = copy;
    }
    return NULL;
}

static kith_error *fold(struct arena *arena, const struct expr **in_out)
{
    bool all_literal;
    struct scalar value;
    TRY(fold_operands(arena, in_out, &all_literal));
    if (!all_literal)
        return NULL;
    kith_error *error = expr_evaluate_constant(*in_out, arena, &value);
    if (error != NULL) {
        error_free(error);
        return NULL;
    }
    return expr_literal(arena, &value, in_out);
}

kith_error *rule_fold_constants(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan)
{
    struct logical_plan *node = *plan;
    if (node->kind == LOGICAL_FILTER)
        TRY(fold(&arena->arena, &node->filter.predicate));
    if (node->kind == LOGICAL_PROJECTION)
        for (size_t i = 0; i < node->schema->field_count; i++)
            TRY(fold(&arena->arena, &node->projection.exprs[i]));
    for (size_t i = 0; i < node->input_count; i++)
        TRY(rule_fold_constants(arena, settings, &node->inputs[i]));
    return NULL;
}
