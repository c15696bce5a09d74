/*
 * Logical plans: what a query means, before anything is said about how it runs. A tree in the query's arena; rules
 * (rules.h) replace nodes. Columns are known by position: two of one name, here or in another table, are two columns.
 * Tables are borrowed from the statement that was bound, which keeps them.
 */
#ifndef KITH_PLAN_LOGICAL_H
#define KITH_PLAN_LOGICAL_H

#include "expr/expr.h"
#include "plan/table.h"

enum logical_kind {
    LOGICAL_SCAN,
    LOGICAL_FILTER,
    LOGICAL_PROJECTION,
    LOGICAL_SORT,
    LOGICAL_LIMIT,
    LOGICAL_UNION,  /* UNION ALL of inputs with the same types, in any order; named by the first */
    LOGICAL_ONE_ROW /* SELECT without FROM: one row, no columns */
};

struct logical_plan {
    enum logical_kind kind;
    struct schema *schema; /* of the output; kept alive by the arena's owner, see plan_arena */
    uint16_t levels;       /* of the tree from here down, at most LIMIT_PLAN_NESTING when it is bound */
    size_t input_count;
    struct logical_plan **inputs;
    union {
        struct {
            struct table *table;
            const char *name;
            const struct expr *filter; /* over the table's schema, or NULL; every row must satisfy it */
            size_t *columns;           /* table columns of the output, schema->field_count of them */
        } scan;
        struct {
            const struct expr *predicate;
        } filter;
        struct {
            const struct expr **exprs; /* schema->field_count of them */
        } projection;
        struct {
            const struct sort_expr *exprs;
            size_t count;
            int64_t fetch; /* -1 = all */
        } sort;
        struct {
            int64_t offset;
            int64_t fetch; /* -1 = all */
        } limit;
    };
};

/* The memory of a query's plans: an arena, and schemas and tables that are released with it. */
struct plan_arena {
    struct arena arena;
    struct schema **schemas;
    size_t schema_count, schema_capacity;
    struct table **tables;
    size_t table_count, table_capacity;
};
void plan_arena_reset(struct plan_arena *arena);
DEFINE_VALUE_CLEANUP(plan_arena_reset, struct plan_arena)
/* The arena takes over one reference, on success and on error alike. */
kith_error *plan_arena_keep_schema(struct plan_arena *arena, struct schema *take_schema) _must_check_;
kith_error *plan_arena_keep_table(struct plan_arena *arena, struct table *take_table) _must_check_;

/* A node over `input`, or a leaf where that is NULL; the caller fills in what its kind has. LIMIT where the tree would
 * have more levels than LIMIT_PLAN_NESTING. */
kith_error *logical_plan_new(struct arena *arena, enum logical_kind kind, struct schema *schema,
                             struct logical_plan *input, struct logical_plan **out) _must_check_;
/* Copies the list. */
kith_error *logical_union_new(struct arena *arena, struct schema *schema, struct logical_plan *const *inputs,
                              size_t count, struct logical_plan **out) _must_check_;
/* Whether it computes anything that is volatile, below included or not. */
bool logical_projection_is_volatile(const struct logical_plan *projection);

/* "a@0 DESC, b@1 ASC NULLS LAST". Appends. */
kith_error *sort_exprs_format(const struct sort_expr *exprs, size_t count, struct strbuf *out) _must_check_;

/* EXPLAIN's logical plan: one line a node, two spaces a level. */
kith_error *logical_plan_format(const struct logical_plan *plan, struct strbuf *out) _must_check_;

#endif
