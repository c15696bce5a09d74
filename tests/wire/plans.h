/*
 * Plans of every operator, expression and type, made by hand: for tests of the plan codec, as seeds of its fuzzer and
 * for comparison with DataFusion.
 */
#ifndef KITH_TESTS_WIRE_PLANS_H
#define KITH_TESTS_WIRE_PLANS_H

#include "plan/physical.h"

enum { TEST_PLAN_COUNT = 10 };

/* Plan `index` of TEST_PLAN_COUNT, in `arena`. */
kith_error *test_plan(size_t index, struct plan_arena *arena, struct physical_plan **out) _must_check_;

/* A schema with a column of every type: flat, dictionary-encoded, nested. A new reference. */
kith_error *test_schema_of_all_types(struct schema **out) _must_check_;

/* A random expression, Boolean or Int64, over test_schema_for_random_exprs; at most `depth` levels. */
kith_error *test_schema_for_random_exprs(struct schema **out) _must_check_;
kith_error *test_random_expr(struct arena *arena, const struct schema *schema, enum type_id type, size_t depth,
                             uint64_t *random, const struct expr **out) _must_check_;

#endif
