/*
 * Whether two plans say the same, field by field, so that nothing that is lost on the way goes unseen.
 */
#ifndef KITH_TESTS_WIRE_PLAN_EQUAL_H
#define KITH_TESTS_WIRE_PLAN_EQUAL_H

#include "plan/physical.h"

/* Structure, operators, literals, types, nullability and places in the SQL text. */
bool test_exprs_equal(const struct expr *a, const struct expr *b);

/* All of the plans but `table`, which does not travel. */
bool test_plans_equal(const struct physical_plan *a, const struct physical_plan *b);

#endif
