/*
 * The names by which DataFusion's plans call binary operators.
 */
#ifndef KITH_WIRE_OPERATOR_NAMES_H
#define KITH_WIRE_OPERATOR_NAMES_H

#include "expr/expr.h"

const char *operator_wire_name(enum binary_operator operation);
/* "And" and "Or" are not among them: they are expr kinds of their own. False for a name that Kith does not have. */
bool operator_from_wire_name(const char *name, enum binary_operator *out);

#endif
