/*
 * Typed physical expressions over the columns of a batch. A tree in the query's arena, immutable once built, shared by
 * all fibers; the mutable part of evaluation is in eval.h. AND and OR hold any number of operands, so a long chain is
 * not a deep tree; depth is limited to LIMIT_SQL_NESTING where trees are made (binder, plan decoder).
 *
 * SQL's three-valued logic throughout: a comparison with NULL is NULL, and a filter keeps rows for which its predicate
 * is true.
 */
#ifndef KITH_EXPR_EXPR_H
#define KITH_EXPR_EXPR_H

#include "columnar/scalar.h"
#include "columnar/schema.h"
#include "columnar/sort_key.h"

enum expr_kind {
    EXPR_COLUMN,
    EXPR_LITERAL,
    EXPR_BINARY, /* arithmetic, comparison, concatenation; two operands of the types that the operator takes */
    EXPR_AND,    /* n operands */
    EXPR_OR,
    EXPR_NOT,
    EXPR_NEGATIVE,
    EXPR_IS_NULL,
    EXPR_IS_NOT_NULL,
    EXPR_IN_LIST,  /* operands[0] IN (operands[1..]); `negated` */
    EXPR_LIKE,     /* operands[0] LIKE operands[1]; `negated`, `case_insensitive`; backslash escapes */
    EXPR_CASE,     /* operands: when, then, when, then, … [, else]; an odd count has an else */
    EXPR_CAST,     /* to `type`; a value that does not fit is an error */
    EXPR_TRY_CAST, /* … is NULL */
    EXPR_FUNCTION  /* scalar function by name, see functions.h */
};

enum binary_operator {
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_IS_DISTINCT,
    OP_IS_NOT_DISTINCT,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_MODULO,
    OP_CONCAT
};

struct scalar_function;

struct expr {
    enum expr_kind kind;
    struct data_type type; /* of the result; never dictionary-encoded */
    bool nullable;
    int32_t sql_offset; /* byte offset in the SQL text for run-time errors, or -1; see expr_at */
    uint16_t depth;     /* levels of the tree below and including this one, at most LIMIT_SQL_NESTING */
    size_t operand_count;
    const struct expr **operands;
    union {
        struct {
            const char *name; /* for display; the index decides */
            size_t index;     /* in the input schema */
        } column;
        struct scalar literal;
        enum binary_operator operation;
        struct {
            bool negated;
            bool case_insensitive;
            /* Of a long IN_LIST of literals: the numbers of those operands that are not NULL, by rising value, so that
             * statistics are compared with few of them. NULL = none. */
            const uint32_t *by_value;
            size_t value_count;
        } match; /* IN_LIST, LIKE */
        const struct scalar_function *function;
    };
};

struct sort_expr {
    const struct expr *expr;
    struct sort_order order;
};

/* Builders: allocate in `arena`, derive type and nullability, and check operand types: a type that does not fit is
 * TYPE_MISMATCH with the types' names (coercion is the binder's work, not done here). */
kith_error *expr_column(struct arena *arena, const struct schema *input, size_t index,
                        const struct expr **out) _must_check_;
kith_error *expr_literal(struct arena *arena, const struct scalar *value, const struct expr **out) _must_check_;
kith_error *expr_binary(struct arena *arena, enum binary_operator operation, const struct expr *left,
                        const struct expr *right, const struct expr **out) _must_check_;
/* AND / OR of any number; operands of the same kind are flattened into it; one operand is returned as it is. */
kith_error *expr_logical(struct arena *arena, enum expr_kind and_or, const struct expr *const *operands, size_t count,
                         const struct expr **out) _must_check_;
/* NOT, NEGATIVE, IS_NULL, IS_NOT_NULL. */
kith_error *expr_unary(struct arena *arena, enum expr_kind kind, const struct expr *operand,
                       const struct expr **out) _must_check_;
kith_error *expr_in_list(struct arena *arena, const struct expr *const *operands, size_t count, bool negated,
                         const struct expr **out) _must_check_;
kith_error *expr_like(struct arena *arena, const struct expr *text, const struct expr *pattern, bool negated,
                      bool case_insensitive, const struct expr **out) _must_check_;
kith_error *expr_case(struct arena *arena, const struct expr *const *operands, size_t count,
                      const struct expr **out) _must_check_;
/* CAST or TRY_CAST; NOT_IMPLEMENTED for a pair of types that has no cast. */
kith_error *expr_cast(struct arena *arena, enum expr_kind cast_or_try, const struct expr *operand,
                      const struct data_type *type, const struct expr **out) _must_check_;

/* A copy that knows its place in the SQL text. */
kith_error *expr_at(struct arena *arena, const struct expr *expr, size_t sql_offset,
                    const struct expr **out) _must_check_;

/* The same expression over another schema: column i becomes mapping[i]. A column whose mapping is SIZE_MAX makes *out
 * NULL. */
kith_error *expr_remap(struct arena *arena, const struct expr *expr, const size_t *mapping,
                       const struct expr **out) _must_check_;

/* The same expression over what a projection reads: column i becomes exprs[i]. *out is NULL where the result would nest
 * too deeply or have so many nodes, because a column stands in it again and again, that the projection is better left
 * to compute them once. */
kith_error *expr_substitute(struct arena *arena, const struct expr *expr, const struct expr *const *exprs,
                            const struct expr **out) _must_check_;

/* Whether it calls a volatile function, such as random(). */
bool expr_is_volatile(const struct expr *expr);

/* Adds to counts[i] the places where column i stands. */
void expr_count_columns(const struct expr *expr, size_t *counts);

/* Sets used[i] for every column i that the expression reads. */
void expr_columns(const struct expr *expr, bool *used);

/* Whether it reads no column, so that expr_evaluate_constant can fold it. */
bool expr_is_constant(const struct expr *expr);

/* Whether evaluation may raise an error for some row, as a division does: it must not see rows that a filter is still
 * to remove. What is not known to be safe counts as failing. */
bool expr_may_fail(const struct expr *expr);

/* The same structure, operators, columns and literals; places in the SQL text are not compared. */
bool expr_equal(const struct expr *a, const struct expr *b);

/* Text as EXPLAIN prints it: "l_quantity@4 > 10 AND l_comment@15 LIKE %a%". */
kith_error *expr_format(const struct expr *expr, struct strbuf *out) _must_check_;
/* "=", "!=", "IS DISTINCT FROM", … as DataFusion's plans */
const char *binary_operator_name(enum binary_operator operation);
kith_error *binary_operator_from_name(const char *name, enum binary_operator *out) _must_check_;

#endif
