#include "wire/operator_names.h"

static const char *const names[] = {
    [OP_EQ] = "Eq",
    [OP_NE] = "NotEq",
    [OP_LT] = "Lt",
    [OP_LE] = "LtEq",
    [OP_GT] = "Gt",
    [OP_GE] = "GtEq",
    [OP_IS_DISTINCT] = "IsDistinctFrom",
    [OP_IS_NOT_DISTINCT] = "IsNotDistinctFrom",
    [OP_ADD] = "Plus",
    [OP_SUBTRACT] = "Minus",
    [OP_MULTIPLY] = "Multiply",
    [OP_DIVIDE] = "Divide",
    [OP_MODULO] = "Modulo",
    [OP_CONCAT] = "StringConcat",
};

const char *operator_wire_name(enum binary_operator operation)
{
    return names[operation];
}

bool operator_from_wire_name(const char *name, enum binary_operator *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        *out = (enum binary_operator)i;
        return true;
    }
    return false;
}
