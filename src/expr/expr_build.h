/*
 * For the builders of src/expr alone: one node with its operands, depth checked and nullability that of its operands.
 */
#ifndef KITH_EXPR_EXPR_BUILD_H
#define KITH_EXPR_EXPR_BUILD_H

#include "expr/expr.h"

kith_error *expr_new(struct arena *arena, enum expr_kind kind, const struct data_type *type,
                     const struct expr *const *operands, size_t count, struct expr **out) _must_check_;

#endif
