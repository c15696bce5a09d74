/*
 * Expressions as DataFusion's PhysicalExprNode, and sort keys as its sort expressions. A name of DataFusion's stands
 * for each operator ("Eq", "And"); functions go by name. Chains of AND and OR are sent flat.
 *
 * Decoding goes through the builders of expr.h, which check types; columns are checked against the input's schema.
 * Refused as NOT_IMPLEMENTED, by name: expressions, operators and functions that Kith does not have, a dynamic filter
 * anywhere but in a scan's predicate, and CASE over anything but a column. Columns go by index; their names are for
 * display.
 *
 * Both directions recurse one small frame a level, over at most SQL_NESTING levels.
 */
#ifndef KITH_WIRE_EXPR_CODEC_H
#define KITH_WIRE_EXPR_CODEC_H

#include "expr/expr.h"

#include "datafusion.pb-c.h"

/* In `arena`, borrowing texts from the expression. */
kith_error *expr_encode(const struct expr *expr, struct arena *arena, Datafusion__PhysicalExprNode **out) _must_check_;
kith_error *sort_exprs_encode(const struct sort_expr *exprs, size_t count, struct arena *arena,
                              Datafusion__PhysicalExprNode ***out) _must_check_;
/* AND of any number of encoded operands; one is returned as it is. */
kith_error *conjunction_encode(Datafusion__PhysicalExprNode **operands, size_t count, struct arena *arena,
                               Datafusion__PhysicalExprNode **out) _must_check_;

struct expr_decoder {
    struct arena *arena; /* of what is decoded */
    size_t nodes;        /* decoded so far, of all expressions of a plan: at most EXPR_NODES */
};

/* `node` NULL is CORRUPT. */
kith_error *expr_decode(struct expr_decoder *decoder, const struct schema *input,
                        const Datafusion__PhysicalExprNode *node, const struct expr **out) _must_check_;
/* A condition: as above, and Boolean. */
kith_error *predicate_decode(struct expr_decoder *decoder, const struct schema *input,
                             const Datafusion__PhysicalExprNode *node, const struct expr **out) _must_check_;
/* One key and more, at most SORT_KEYS, of types that can be ordered. */
kith_error *sort_exprs_decode(struct expr_decoder *decoder, const struct schema *input,
                              Datafusion__PhysicalExprNode *const *nodes, size_t count,
                              const struct sort_expr **out) _must_check_;

#endif
