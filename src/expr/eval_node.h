/*
 * The inside of evaluators, for the eval_*.c files alone. An evaluator is a tree of nodes that mirrors the expression;
 * a node has what its kind prepared once (a literal as an array, a compiled pattern, a hash set) and scratch for the
 * values of its operands. A node is used by one fiber at a time and never by two levels of one recursion.
 */
#ifndef KITH_EXPR_EVAL_NODE_H
#define KITH_EXPR_EVAL_NODE_H

#include "compute/filter.h"
#include "compute/in_list.h"
#include "compute/like.h"
#include "expr/eval.h"

struct eval_node {
    const struct expr *expr;
    struct eval_node *children;
    size_t child_count;
    struct datum *operands;       /* scratch: child_count references, all NULL between calls */
    struct array *literal;        /* EXPR_LITERAL: one row */
    struct like_pattern *pattern; /* EXPR_LIKE with a literal pattern */
    struct in_set *set;           /* EXPR_IN_LIST of literals; only the first operand is a child then */
    /* The result for each value of the dictionary that the only non-constant operand had last. */
    struct array *dictionary;
    struct array *dictionary_result;
};

struct evaluator {
    struct eval_node root;
};

/* What evaluation looks at: the batch, and the rows of its columns. */
struct eval_frame {
    const struct batch *batch;
    size_t rows;
};

/* The node's value for the rows of `selection` (NULL = all): an owned reference in out->array. Columns come as they
 * are, dictionary-encoded ones too; everything else is decoded. With no row selected the value is a constant NULL and
 * nothing is computed. eval_node_run_decoded decodes columns too. */
kith_error *eval_node_run(struct eval_node *node, const struct eval_frame *frame, const struct selection *selection,
                          struct datum *out) _must_check_;

kith_error *eval_node_run_decoded(struct eval_node *node, const struct eval_frame *frame,
                                  const struct selection *selection, struct datum *out) _must_check_;

/* The same for the kinds that do not evaluate all operands for all rows. */
kith_error *eval_and_or(struct eval_node *node, const struct eval_frame *frame, const struct selection *selection,
                        struct datum *out) _must_check_;
kith_error *eval_case(struct eval_node *node, const struct eval_frame *frame, const struct selection *selection,
                      struct datum *out) _must_check_;
kith_error *eval_coalesce(struct eval_node *node, const struct eval_frame *frame, const struct selection *selection,
                          struct datum *out) _must_check_;

/* Evaluates all children into node->operands. */
kith_error *eval_operands(struct eval_node *node, const struct eval_frame *frame,
                          const struct selection *selection) _must_check_;
void eval_operands_reset(struct eval_node *node);
/* Replaces dictionary-encoded operands by decoded ones. */
kith_error *eval_decode_operands(struct eval_node *node) _must_check_;

/* The kernel of the node over node->operands (decoded). */
kith_error *eval_operation(struct eval_node *node, size_t rows, const struct selection *selection,
                           struct array **out) _must_check_;

/* When the only operand that is not a constant is dictionary-encoded, computes the dictionary's values once and picks
 * from them; *out stays NULL where that is not possible or not worth it. Only for kinds that are NULL for NULL. */
kith_error *eval_by_dictionary(struct eval_node *node, size_t rows, const struct selection *selection,
                               struct array **out) _must_check_;

/* Puts the expression's text and place in front of a run-time error. NULL passes through. */
kith_error *eval_error(const struct expr *expr, kith_error *take_error) _must_check_;

static inline bool eval_is_comparison(const struct expr *expr)
{
    return expr->kind == EXPR_BINARY && expr->operation <= OP_IS_NOT_DISTINCT;
}

#endif
