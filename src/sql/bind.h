/*
 * The binder's own parts: syntax trees in, typed expressions and logical plans out. Private to this folder.
 */
#ifndef KITH_SQL_BIND_H
#define KITH_SQL_BIND_H

#include "runtime/coop.h"
#include "sql/statement.h"

#include <pg_query/pg_query.pb-c.h>

/* What names mean at one place of a query: the columns of the one table in FROM. */
struct scope {
    const char *table_name; /* alias or name; NULL without FROM */
    const struct schema *schema;
};

/* A query that WITH names. */
struct common_table {
    const char *name;
    const PgQuery__CommonTableExpr *node;
    const struct common_table *before; /* what its own query can name */
    struct common_table *next;         /* the one that was named before it; NULL at the end */
    struct logical_plan *unused;       /* as it was bound where it is named, until something reads it */
    bool was_read;
};

struct binder {
    struct plan_arena *plans;
    struct arena *arena; /* of `plans` */
    struct sql_catalog *catalog;
    const struct settings *settings;
    struct str text;    /* of the statement */
    size_t text_offset; /* of the statement in the script */
    struct scope scope;
    struct common_table *common_tables; /* the innermost and latest first */
    size_t depth;                       /* of the expression being bound */
    size_t query_depth;                 /* queries around the one being bound, and itself */
    size_t tables;                      /* bound so far, and queries without one */
    size_t steps;                       /* taken so far: expressions bound, and literals fitted */
};

/* Each takes a few microseconds. */
enum { BIND_STEPS_A_CHARGE = 64 };

/* What the select list gives: expressions over the scope, and their names. */
struct target {
    const struct expr *expr;
    const char *name;
};

struct targets {
    struct target *items;
    size_t count;
};

/* bind_expr.c */
kith_error *bind_expr(struct binder *binder, const PgQuery__Node *node, const struct expr **out) _must_check_;
/* An expression of type boolean; `what` names the clause for the error ("WHERE"). */
kith_error *bind_predicate(struct binder *binder, const PgQuery__Node *node, const char *what,
                           const struct expr **out) _must_check_;
/* Byte offset of a node in the statement, or -1 when the tree does not say. */
int32_t node_location(const PgQuery__Node *node);
/* Byte offset of the first word of the statement that is `name`, or the part of `name` before a dot; -1 when there is
 * none. For what the tree has no location of. */
int32_t word_location(const struct binder *binder, const char *name);
/* Gives an error the position of a location in the tree, unless it has one, or the location is -1. */
static inline kith_error *_must_check_ bind_error_at(const struct binder *binder, kith_error *take_error,
                                                     int32_t location)
{
    return location < 0 ? take_error : error_at(take_error, binder->text_offset + (size_t)location);
}
kith_error *bind_not_implemented(const struct binder *binder, int32_t location,
                                 const char *what) _must_check_ _never_null_;

/* bind_function.c */
kith_error *bind_function_call(struct binder *binder, const PgQuery__FuncCall *call,
                               const struct expr **out) _must_check_;
kith_error *bind_function(struct binder *binder, const char *name, const struct expr **arguments, size_t count,
                          int32_t location, const struct expr **out) _must_check_;

/* bind_column.c */
kith_error *bind_column(struct binder *binder, const PgQuery__ColumnRef *reference,
                        const struct expr **out) _must_check_;
bool is_star(const PgQuery__Node *node);

/* bind_literal.c */
kith_error *bind_literal(struct binder *binder, const PgQuery__AConst *constant, const struct expr **out) _must_check_;
/* INTERVAL 'text' [unit]. */
kith_error *bind_interval(struct binder *binder, const char *text, const PgQuery__TypeName *name,
                          const struct expr **out) _must_check_;
/* The text of a string constant, or NULL. */
const char *constant_text(const PgQuery__Node *node);

/* bind_type.c */
kith_error *bind_type(struct binder *binder, const PgQuery__TypeName *name, struct data_type *out) _must_check_;

/* coerce.c: makes operand types fit each other, casting literals at once and columns only where they must be. */
kith_error *coerce_to(struct binder *binder, const struct expr **in_out, const struct data_type *type) _must_check_;
kith_error *coerce_comparison(struct binder *binder, const struct expr **left, const struct expr **right) _must_check_;
kith_error *coerce_arithmetic(struct binder *binder, enum binary_operator operation, const struct expr **left,
                              const struct expr **right) _must_check_;
/* All to one type: CASE results, COALESCE, IN lists. `exprs` is changed in place; NULLs among it are left. */
kith_error *coerce_all(struct binder *binder, const struct expr **exprs, size_t count,
                       struct data_type *out) _must_check_;
/* False when there is no type that both can be cast to implicitly. */
bool common_type(const struct data_type *a, const struct data_type *b, struct data_type *out);

/* bind_from.c: the table that FROM names; sets the scope to it. */
kith_error *bind_from(struct binder *binder, const PgQuery__SelectStmt *select, struct logical_plan **out) _must_check_;
kith_error *bind_table(struct binder *binder, const PgQuery__RangeVar *range, struct logical_plan **out) _must_check_;

/* bind_order.c: ORDER BY, LIMIT and OFFSET of a query over *in_out. A key that is volatile is computed once, below the
 * sort; what it is in the select list becomes the column that holds it. */
kith_error *bind_sort(struct binder *binder, const PgQuery__SelectStmt *select, struct targets *targets,
                      struct logical_plan **in_out) _must_check_;
/* Of a union: by names and positions of its columns only. */
kith_error *bind_union_sort(struct binder *binder, const PgQuery__SelectStmt *select,
                            struct logical_plan **in_out) _must_check_;
kith_error *bind_limit(struct binder *binder, const PgQuery__SelectStmt *select,
                       struct logical_plan **in_out) _must_check_;

/* bind_select.c */
/* A SELECT that is no union, of the tables that are known. */
kith_error *bind_simple_select(struct binder *binder, const PgQuery__SelectStmt *select,
                               struct logical_plan **out) _must_check_;
kith_error *bind_projection(struct binder *binder, const struct targets *targets,
                            struct logical_plan **in_out) _must_check_;
/* SELECT * FROM table. */
kith_error *bind_whole_table(struct binder *binder, const PgQuery__RangeVar *range,
                             struct logical_plan **out) _must_check_;

/* bind_query.c: WITH and UNION ALL around SELECT. The scope is as before when it returns. */
kith_error *bind_query(struct binder *binder, const PgQuery__Node *node, struct logical_plan **out) _must_check_;
/* *out is NULL when WITH names no such query. *columns is the names that WITH gives to its columns. */
kith_error *bind_common_table(struct binder *binder, const PgQuery__RangeVar *range, const PgQuery__Node ***columns,
                              size_t *column_count, struct logical_plan **out) _must_check_;

#endif
