#include "base/limits.h"
#include "expr/functions.h"
#include "wire/expr_codec.h"
#include "wire/operator_names.h"
#include "wire/protobuf.h"
#include "wire/scalar_codec.h"
#include "wire/type_codec.h"

#define KIND(name) DATAFUSION__PHYSICAL_EXPR_NODE__KIND_##name

static kith_error *new_node(struct arena *arena, Datafusion__PhysicalExprNode__KindCase kind,
                            Datafusion__PhysicalExprNode **out)
{
    TRY(protobuf_new(arena, &datafusion__physical_expr_node__descriptor, out));
    (*out)->kind_case = kind;
    return NULL;
}

/* Generated structs have no const; what is sent is only read. */
static char *borrow(const char *text)
{
    return (char *)(uintptr_t)text;
}

static kith_error *put_column(const struct expr *expr, struct arena *arena, Datafusion__PhysicalExprNode *node)
{
    node->kind_case = KIND(COLUMN);
    TRY(protobuf_new(arena, &datafusion__physical_column__descriptor, &node->column));
    node->column->name = borrow(expr->column.name);
    node->column->index = (uint32_t)expr->column.index;
    return NULL;
}

static kith_error *put_binary(const struct expr *expr, Datafusion__PhysicalExprNode **operands, struct arena *arena,
                              Datafusion__PhysicalExprNode *node)
{
    node->kind_case = KIND(BINARY_EXPR);
    TRY(protobuf_new(arena, &datafusion__physical_binary_expr_node__descriptor, &node->binary_expr));
    node->binary_expr->op = borrow(operator_wire_name(expr->operation));
    node->binary_expr->l = operands[0];
    node->binary_expr->r = operands[1];
    return NULL;
}

static kith_error *put_chain(const char *name, Datafusion__PhysicalExprNode **operands, size_t count,
                             struct arena *arena, Datafusion__PhysicalExprNode *node)
{
    node->kind_case = KIND(BINARY_EXPR);
    TRY(protobuf_new(arena, &datafusion__physical_binary_expr_node__descriptor, &node->binary_expr));
    node->binary_expr->op = borrow(name);
    node->binary_expr->operands = operands;
    node->binary_expr->n_operands = count;
    return NULL;
}

static kith_error *put_unary(Datafusion__PhysicalExprNode__KindCase kind, Datafusion__PhysicalExprNode *operand,
                             struct arena *arena, Datafusion__PhysicalExprNode *node)
{
    /* All kinds with one operand and nothing else have the same message, in one place of the union. */
    node->kind_case = kind;
    TRY(protobuf_new(arena, &datafusion__physical_operand_node__descriptor, &node->not_expr));
    node->not_expr->expr = operand;
    return NULL;
}

static kith_error *put_in_list(const struct expr *expr, Datafusion__PhysicalExprNode **operands, struct arena *arena,
                               Datafusion__PhysicalExprNode *node)
{
    node->kind_case = KIND(IN_LIST);
    TRY(protobuf_new(arena, &datafusion__physical_in_list_node__descriptor, &node->in_list));
    node->in_list->expr = operands[0];
    node->in_list->list = operands + 1;
    node->in_list->n_list = expr->operand_count - 1;
    node->in_list->negated = expr->match.negated;
    return NULL;
}

static kith_error *put_like(const struct expr *expr, Datafusion__PhysicalExprNode **operands, struct arena *arena,
                            Datafusion__PhysicalExprNode *node)
{
    node->kind_case = KIND(LIKE_EXPR);
    TRY(protobuf_new(arena, &datafusion__physical_like_expr_node__descriptor, &node->like_expr));
    node->like_expr->expr = operands[0];
    node->like_expr->pattern = operands[1];
    node->like_expr->negated = expr->match.negated;
    node->like_expr->case_insensitive = expr->match.case_insensitive;
    return NULL;
}

static kith_error *put_case(const struct expr *expr, Datafusion__PhysicalExprNode **operands, struct arena *arena,
                            Datafusion__PhysicalExprNode *node)
{
    size_t whens = expr->operand_count / 2;
    node->kind_case = KIND(CASE_);
    TRY(protobuf_new(arena, &datafusion__physical_case_node__descriptor, &node->case_));
    TRY(ARENA_NEW_ARRAY(arena, &node->case_->when_then_expr, whens));
    node->case_->n_when_then_expr = whens;
    for (size_t i = 0; i < whens; i++) {
        Datafusion__PhysicalWhenThen **when = &node->case_->when_then_expr[i];
        TRY(protobuf_new(arena, &datafusion__physical_when_then__descriptor, when));
        (*when)->when_expr = operands[2 * i];
        (*when)->then_expr = operands[2 * i + 1];
    }
    if (expr->operand_count % 2 != 0)
        node->case_->else_expr = operands[expr->operand_count - 1];
    return NULL;
}

static kith_error *put_cast(const struct expr *expr, Datafusion__PhysicalExprNode **operands, struct arena *arena,
                            Datafusion__PhysicalExprNode *node)
{
    node->kind_case = expr->kind == EXPR_CAST ? KIND(CAST) : KIND(TRY_CAST);
    TRY(protobuf_new(arena, &datafusion__physical_cast_node__descriptor, &node->cast));
    node->cast->expr = operands[0];
    return type_encode(&expr->type, arena, &node->cast->arrow_type);
}

static kith_error *put_function(const struct expr *expr, Datafusion__PhysicalExprNode **operands, struct arena *arena,
                                Datafusion__PhysicalExprNode *node)
{
    node->kind_case = KIND(SCALAR_UDF);
    TRY(protobuf_new(arena, &datafusion__physical_scalar_udf_node__descriptor, &node->scalar_udf));
    Datafusion__PhysicalScalarUdfNode *call = node->scalar_udf;
    call->name = borrow(expr->function->name);
    call->return_field_name = call->name;
    call->args = operands;
    call->n_args = expr->operand_count;
    call->nullable = expr->nullable;
    return type_encode(&expr->type, arena, &call->return_type);
}

/* The node of an expression whose operands are there. */
static kith_error *assemble(const struct expr *expr, Datafusion__PhysicalExprNode **operands, struct arena *arena,
                            Datafusion__PhysicalExprNode *node)
{
    switch (expr->kind) {
    case EXPR_COLUMN:
        return put_column(expr, arena, node);
    case EXPR_LITERAL:
        node->kind_case = KIND(LITERAL);
        return scalar_encode(&expr->literal, arena, &node->literal);
    case EXPR_BINARY:
        return put_binary(expr, operands, arena, node);
    case EXPR_AND:
        return put_chain("And", operands, expr->operand_count, arena, node);
    case EXPR_OR:
        return put_chain("Or", operands, expr->operand_count, arena, node);
    case EXPR_NOT:
        return put_unary(KIND(NOT_EXPR), operands[0], arena, node);
    case EXPR_NEGATIVE:
        return put_unary(KIND(NEGATIVE), operands[0], arena, node);
    case EXPR_IS_NULL:
        return put_unary(KIND(IS_NULL_EXPR), operands[0], arena, node);
    case EXPR_IS_NOT_NULL:
        return put_unary(KIND(IS_NOT_NULL_EXPR), operands[0], arena, node);
    case EXPR_IN_LIST:
        return put_in_list(expr, operands, arena, node);
    case EXPR_LIKE:
        return put_like(expr, operands, arena, node);
    case EXPR_CASE:
        return put_case(expr, operands, arena, node);
    case EXPR_CAST:
    case EXPR_TRY_CAST:
        return put_cast(expr, operands, arena, node);
    case EXPR_FUNCTION:
        return put_function(expr, operands, arena, node);
    }
    UNREACHABLE();
}

kith_error *expr_encode(const struct expr *expr, struct arena *arena, Datafusion__PhysicalExprNode **out)
{
    Datafusion__PhysicalExprNode **operands;
    TRY(ARENA_NEW_ARRAY(arena, &operands, expr->operand_count));
    for (size_t i = 0; i < expr->operand_count; i++)
        TRY(expr_encode(expr->operands[i], arena, &operands[i]));
    TRY(protobuf_new(arena, &datafusion__physical_expr_node__descriptor, out));
    if (expr->sql_offset >= 0) {
        (*out)->maybe_sql_offset_case = DATAFUSION__PHYSICAL_EXPR_NODE__MAYBE_SQL_OFFSET_SQL_OFFSET;
        (*out)->sql_offset = (uint32_t)expr->sql_offset;
    }
    return assemble(expr, operands, arena, *out);
}

kith_error *sort_exprs_encode(const struct sort_expr *exprs, size_t count, struct arena *arena,
                              Datafusion__PhysicalExprNode ***out)
{
    TRY(ARENA_NEW_ARRAY(arena, out, count));
    for (size_t i = 0; i < count; i++) {
        Datafusion__PhysicalSortExprNode *sort;
        TRY(protobuf_new(arena, &datafusion__physical_sort_expr_node__descriptor, &sort));
        TRY(expr_encode(exprs[i].expr, arena, &sort->expr));
        sort->asc = !exprs[i].order.descending;
        sort->nulls_first = exprs[i].order.nulls_first;
        TRY(new_node(arena, KIND(SORT), &(*out)[i]));
        (*out)[i]->sort = sort;
    }
    return NULL;
}

kith_error *conjunction_encode(Datafusion__PhysicalExprNode **operands, size_t count, struct arena *arena,
                               Datafusion__PhysicalExprNode **out)
{
    if (count == 1) {
        *out = operands[0];
        return NULL;
    }
    TRY(protobuf_new(arena, &datafusion__physical_expr_node__descriptor, out));
    return put_chain("And", operands, count, arena, *out);
}
