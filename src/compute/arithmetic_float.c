#include "compute/arithmetic_parts.h"

#include <math.h>

#define EACH_ROW(type, EXPRESSION)                     \
    for (size_t row = 0; row < rows; row++) {          \
        type x = a[row * a_step], y = b[row * b_step]; \
        out[row] = (EXPRESSION);                       \
    }

#define DEFINE_LOOP(name, type, REMAINDER)                                                                            \
    KERNEL_VARIANTS static void name(enum arithmetic_operator operation, const type *a, size_t a_step, const type *b, \
                                     size_t b_step, type *out, size_t rows)                                           \
    {                                                                                                                 \
        switch (operation) {                                                                                          \
        case ARITHMETIC_ADD:                                                                                          \
            EACH_ROW(type, x + y)                                                                                     \
            break;                                                                                                    \
        case ARITHMETIC_SUBTRACT:                                                                                     \
            EACH_ROW(type, x - y)                                                                                     \
            break;                                                                                                    \
        case ARITHMETIC_MULTIPLY:                                                                                     \
            EACH_ROW(type, x *y)                                                                                      \
            break;                                                                                                    \
        case ARITHMETIC_DIVIDE:                                                                                       \
            EACH_ROW(type, x / y)                                                                                     \
            break;                                                                                                    \
        case ARITHMETIC_MODULO:                                                                                       \
            EACH_ROW(type, REMAINDER(x, y))                                                                           \
            break;                                                                                                    \
        }                                                                                                             \
    }

DEFINE_LOOP(run_float32, float, fmodf)
DEFINE_LOOP(run_float64, double, fmod)

/* No error is possible, so all rows are computed. */
kith_error *arithmetic_float(const struct arithmetic *arithmetic)
{
    const struct datum *left = arithmetic->left, *right = arithmetic->right;
    const void *a = array_values(left->array), *b = array_values(right->array);
    void *out = arithmetic->result->values->data;
    size_t a_step = !left->constant, b_step = !right->constant, rows = arithmetic->rows;
    if (left->array->type.id == TYPE_FLOAT32)
        run_float32(arithmetic->operation, a, a_step, b, b_step, out, rows);
    else
        run_float64(arithmetic->operation, a, a_step, b, b_step, out, rows);
    return NULL;
}
