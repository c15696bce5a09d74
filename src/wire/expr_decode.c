#include "base/limits.h"
#include "expr/functions.h"
#include "wire/expr_codec.h"
#include "wire/operator_names.h"
#include "wire/protobuf.h"
#include "wire/scalar_codec.h"
#include "wire/type_codec.h"

#define KIND(name) DATAFUSION__PHYSICAL_EXPR_NODE__KIND_##name

/* The operands of one node, in the order in which its expression has them. */
struct operands {
    const Datafusion__PhysicalExprNode **nodes;
    size_t count;
};

static kith_error *take(struct expr_decoder *decoder, struct operands *operands, size_t count)
{
    if (count > LIMIT_EXPR_NODES)
        return error_new(KITH_ERROR_LIMIT, "an expression of %zu operands exceeds EXPR_NODES (%d nodes)", count,
                         LIMIT_EXPR_NODES);
    operands->count = count;
    return ARENA_NEW_ARRAY(decoder->arena, &operands->nodes, count);
}

static kith_error *take_list(struct expr_decoder *decoder, const Datafusion__PhysicalExprNode *first,
                             Datafusion__PhysicalExprNode *const *rest, size_t count, struct operands *out)
{
    size_t used = 0;
    TRY(take(decoder, out, count + (first != NULL)));
    if (first != NULL)
        out->nodes[used++] = first;
    for (size_t i = 0; i < count; i++)
        out->nodes[used++] = rest[i];
    return NULL;
}

static kith_error *take_two(struct expr_decoder *decoder, const Datafusion__PhysicalExprNode *left,
                            const Datafusion__PhysicalExprNode *right, struct operands *out)
{
    TRY(take(decoder, out, 2));
    out->nodes[0] = left;
    out->nodes[1] = right;
    return NULL;
}

static bool is_logical(const Datafusion__PhysicalBinaryExprNode *binary)
{
    return strcmp(binary->op, "And") == 0 || strcmp(binary->op, "Or") == 0;
}

/* The next node down the left side of a chain "((a AND b) AND c) AND d", or NULL at its end. */
static const Datafusion__PhysicalBinaryExprNode *next_in_chain(const Datafusion__PhysicalBinaryExprNode *binary)
{
    const Datafusion__PhysicalExprNode *left = binary->l;
    if (left == NULL || left->kind_case != KIND(BINARY_EXPR) || left->binary_expr->n_operands > 0 ||
        strcmp(left->binary_expr->op, binary->op) != 0)
        return NULL;
    return left->binary_expr;
}

/* Chains of AND and OR may be as long as the text, so they are unrolled, not recursed into. */
static kith_error *take_chain(struct expr_decoder *decoder, const Datafusion__PhysicalBinaryExprNode *binary,
                              struct operands *out)
{
    const Datafusion__PhysicalBinaryExprNode *link = binary;
    size_t count = 2;
    while ((link = next_in_chain(link)) != NULL)
        count++;
    TRY(take(decoder, out, count));
    for (link = binary; link != NULL; link = next_in_chain(link)) {
        out->nodes[--count] = link->r;
        out->nodes[0] = link->l;
    }
    return NULL;
}

static kith_error *take_binary(struct expr_decoder *decoder, const Datafusion__PhysicalBinaryExprNode *binary,
                               struct operands *out)
{
    if (binary->n_operands > 0)
        return take_list(decoder, NULL, binary->operands, binary->n_operands, out);
    return is_logical(binary) ? take_chain(decoder, binary, out) : take_two(decoder, binary->l, binary->r, out);
}

/* [base,] when, then, when, then, … [, else] */
static kith_error *take_case(struct expr_decoder *decoder, const Datafusion__PhysicalCaseNode *node,
                             struct operands *out)
{
    size_t used = 0;
    TRY(take(decoder, out, 2 * node->n_when_then_expr + (node->expr != NULL) + (node->else_expr != NULL)));
    if (node->expr != NULL)
        out->nodes[used++] = node->expr;
    for (size_t i = 0; i < node->n_when_then_expr; i++) {
        out->nodes[used++] = node->when_then_expr[i]->when_expr;
        out->nodes[used++] = node->when_then_expr[i]->then_expr;
    }
    if (node->else_expr != NULL)
        out->nodes[used++] = node->else_expr;
    return NULL;
}

static kith_error *unknown_expression(const Datafusion__PhysicalExprNode *node)
{
    if (node->kind_case == KIND(_NOT_SET))
        return error_new(KITH_ERROR_CORRUPT, "an expression in the plan is empty");
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "expression %s is not implemented here",
                     protobuf_field_name(&datafusion__physical_expr_node__descriptor, (unsigned)node->kind_case));
}

static kith_error *take_operands(struct expr_decoder *decoder, const Datafusion__PhysicalExprNode *node,
                                 struct operands *out)
{
    switch ((int)node->kind_case) {
    case KIND(COLUMN):
    case KIND(LITERAL):
        return take(decoder, out, 0);
    case KIND(BINARY_EXPR):
        return take_binary(decoder, node->binary_expr, out);
    case KIND(NOT_EXPR):
    case KIND(NEGATIVE):
    case KIND(IS_NULL_EXPR):
    case KIND(IS_NOT_NULL_EXPR):
        return take_list(decoder, NULL, &node->not_expr->expr, 1, out);
    case KIND(CAST):
    case KIND(TRY_CAST):
        return take_list(decoder, NULL, &node->cast->expr, 1, out);
    case KIND(IN_LIST):
        return take_list(decoder, node->in_list->expr, node->in_list->list, node->in_list->n_list, out);
    case KIND(LIKE_EXPR):
        return take_two(decoder, node->like_expr->expr, node->like_expr->pattern, out);
    case KIND(CASE_):
        return take_case(decoder, node->case_, out);
    case KIND(SCALAR_UDF):
        return take_list(decoder, NULL, node->scalar_udf->args, node->scalar_udf->n_args, out);
    default:
        return unknown_expression(node);
    }
}

static kith_error *build_binary(struct expr_decoder *decoder, const Datafusion__PhysicalBinaryExprNode *binary,
                                const struct expr **operands, size_t count, const struct expr **out)
{
    enum binary_operator operation;
    if (is_logical(binary))
        return expr_logical(decoder->arena, binary->op[0] == 'A' ? EXPR_AND : EXPR_OR, operands, count, out);
    if (!operator_from_wire_name(binary->op, &operation))
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "operator %s is not implemented", binary->op);
    if (count < 2)
        return error_new(KITH_ERROR_CORRUPT, "operator %s in the plan has one operand", binary->op);
    const struct expr *left = operands[0];
    for (size_t i = 1; i < count; i++)
        TRY(expr_binary(decoder->arena, operation, left, operands[i], &left));
    *out = left;
    return NULL;
}

/* CASE base WHEN value becomes CASE WHEN base = value. The base is then there once a WHEN; a column costs nothing. */
static kith_error *build_case(struct expr_decoder *decoder, const Datafusion__PhysicalCaseNode *node,
                              const struct expr **operands, size_t count, const struct expr **out)
{
    if (node->expr == NULL)
        return expr_case(decoder->arena, operands, count, out);
    if (operands[0]->kind != EXPR_COLUMN)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "CASE over an expression that is no column is not implemented");
    for (size_t i = 0; i < node->n_when_then_expr; i++)
        TRY(expr_binary(decoder->arena, OP_EQ, operands[0], operands[1 + 2 * i], &operands[1 + 2 * i]));
    return expr_case(decoder->arena, operands + 1, count - 1, out);
}

static kith_error *build_cast(struct expr_decoder *decoder, enum expr_kind kind,
                              const Datafusion__PhysicalCastNode *node, const struct expr *operand,
                              const struct expr **out)
{
    struct data_type type;
    if (node->arrow_type == NULL)
        return error_new(KITH_ERROR_CORRUPT, "a cast in the plan has no type");
    TRY(type_decode(node->arrow_type, &type));
    TRY(type_require_flat(&type));
    return expr_cast(decoder->arena, kind, operand, &type, out);
}

/* What the sender says of the result must be what the function gives here. */
static kith_error *check_result(const Datafusion__PhysicalScalarUdfNode *call, const struct expr *made)
{
    struct data_type type;
    char here[128], there[128];
    if (call->return_type == NULL)
        return NULL;
    TRY(type_decode(call->return_type, &type));
    if (type_equal_decoded(&type, &made->type) || (type_is_string(type.id) && type_is_string(made->type.id)))
        return NULL;
    return error_new(KITH_ERROR_NOT_IMPLEMENTED, "function %s gives %s here, not %s", call->name,
                     type_format(&made->type, here, sizeof here), type_format(&type, there, sizeof there));
}

static kith_error *build_function(struct expr_decoder *decoder, const Datafusion__PhysicalScalarUdfNode *call,
                                  const struct expr **operands, size_t count, const struct expr **out)
{
    const struct scalar_function *function = scalar_function_find(call->name);
    if (function == NULL || call->fun_definition.len > 0)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "function %s is not implemented", call->name);
    TRY(expr_function(decoder->arena, function, operands, count, out));
    return check_result(call, *out);
}

static kith_error *build_literal(struct expr_decoder *decoder, const DatafusionCommon__ScalarValue *message,
                                 const struct expr **out)
{
    struct scalar value;
    TRY(scalar_decode(message, decoder->arena, &value));
    return expr_literal(decoder->arena, &value, out);
}

static kith_error *build(struct expr_decoder *decoder, const struct schema *input,
                         const Datafusion__PhysicalExprNode *node, const struct expr **operands, size_t count,
                         const struct expr **out)
{
    struct arena *arena = decoder->arena;
    switch ((int)node->kind_case) {
    case KIND(COLUMN):
        return expr_column(arena, input, node->column->index, out);
    case KIND(LITERAL):
        return build_literal(decoder, node->literal, out);
    case KIND(BINARY_EXPR):
        return build_binary(decoder, node->binary_expr, operands, count, out);
    case KIND(NOT_EXPR):
        return expr_unary(arena, EXPR_NOT, operands[0], out);
    case KIND(NEGATIVE):
        return expr_unary(arena, EXPR_NEGATIVE, operands[0], out);
    case KIND(IS_NULL_EXPR):
        return expr_unary(arena, EXPR_IS_NULL, operands[0], out);
    case KIND(IS_NOT_NULL_EXPR):
        return expr_unary(arena, EXPR_IS_NOT_NULL, operands[0], out);
    case KIND(CAST):
        return build_cast(decoder, EXPR_CAST, node->cast, operands[0], out);
    case KIND(TRY_CAST):
        return build_cast(decoder, EXPR_TRY_CAST, node->try_cast, operands[0], out);
    case KIND(IN_LIST):
        if (node->in_list->expr == NULL)
            return error_new(KITH_ERROR_CORRUPT, "an expression in the plan lacks an operand");
        return expr_in_list(arena, operands, count, node->in_list->negated != 0, out);
    case KIND(LIKE_EXPR):
        return expr_like(arena, operands[0], operands[1], node->like_expr->negated != 0,
                         node->like_expr->case_insensitive != 0, out);
    case KIND(CASE_):
        return build_case(decoder, node->case_, operands, count, out);
    case KIND(SCALAR_UDF):
        return build_function(decoder, node->scalar_udf, operands, count, out);
    default:
        return unknown_expression(node);
    }
}

static kith_error *decode_node(struct expr_decoder *decoder, const struct schema *input,
                               const Datafusion__PhysicalExprNode *node, size_t depth, const struct expr **out)
{
    struct operands operands = {0};
    const struct expr **decoded;
    if (node == NULL)
        return error_new(KITH_ERROR_CORRUPT, "an expression in the plan lacks an operand");
    if (depth > LIMIT_SQL_NESTING)
        return error_new(KITH_ERROR_LIMIT, "an expression is nested deeper than SQL_NESTING (%d levels)",
                         LIMIT_SQL_NESTING);
    if (++decoder->nodes > LIMIT_EXPR_NODES)
        return error_new(KITH_ERROR_LIMIT, "the expressions of the plan exceed EXPR_NODES (%d nodes)",
                         LIMIT_EXPR_NODES);
    TRY(take_operands(decoder, node, &operands));
    TRY(ARENA_NEW_ARRAY(decoder->arena, &decoded, operands.count));
    for (size_t i = 0; i < operands.count; i++)
        TRY(decode_node(decoder, input, operands.nodes[i], depth + 1, &decoded[i]));
    TRY(build(decoder, input, node, decoded, operands.count, out));
    if (node->maybe_sql_offset_case != 0)
        TRY(expr_at(decoder->arena, *out, node->sql_offset, out));
    return NULL;
}

kith_error *expr_decode(struct expr_decoder *decoder, const struct schema *input,
                        const Datafusion__PhysicalExprNode *node, const struct expr **out)
{
    return decode_node(decoder, input, node, 1, out);
}

kith_error *predicate_decode(struct expr_decoder *decoder, const struct schema *input,
                             const Datafusion__PhysicalExprNode *node, const struct expr **out)
{
    char name[128];
    TRY(expr_decode(decoder, input, node, out));
    if ((*out)->type.id == TYPE_BOOL)
        return NULL;
    return error_new(KITH_ERROR_TYPE_MISMATCH, "a condition in the plan is %s, not Boolean",
                     type_format(&(*out)->type, name, sizeof name));
}

static kith_error *decode_sort_expr(struct expr_decoder *decoder, const struct schema *input,
                                    const Datafusion__PhysicalExprNode *node, struct sort_expr *out)
{
    if (node->kind_case != KIND(SORT))
        return error_new(KITH_ERROR_CORRUPT, "a sort in the plan has a key that is no sort expression");
    TRY(expr_decode(decoder, input, node->sort->expr, &out->expr));
    out->order = (struct sort_order){.descending = !node->sort->asc, .nulls_first = node->sort->nulls_first != 0};
    return sort_key_check_type(&out->expr->type);
}

kith_error *sort_exprs_decode(struct expr_decoder *decoder, const struct schema *input,
                              Datafusion__PhysicalExprNode *const *nodes, size_t count, const struct sort_expr **out)
{
    struct sort_expr *exprs;
    if (count == 0)
        return error_new(KITH_ERROR_CORRUPT, "a sort in the plan has no key");
    if (count > LIMIT_SORT_KEYS)
        return error_new(KITH_ERROR_LIMIT, "a sort by %zu keys exceeds SORT_KEYS (%d)", count, LIMIT_SORT_KEYS);
    TRY(ARENA_NEW_ARRAY(decoder->arena, &exprs, count));
    for (size_t i = 0; i < count; i++)
        TRY(decode_sort_expr(decoder, input, nodes[i], &exprs[i]));
    *out = exprs;
    return NULL;
}
