#include "compute/arithmetic_parts.h"

/* Each loop computes all elements with wrapping and tells whether any overflowed; only then are the rows that count
 * looked at one by one, since a NULL or unselected row may hold anything. */
struct integer_loop {
    const void *left, *right;
    size_t left_step, right_step;
    void *out;
    size_t rows;
    const struct selection *selection; /* NULL: rows 0 .. rows */
};

#define EACH_ROW(BODY)                                                \
    if (loop->selection != NULL) {                                    \
        for (size_t k = 0; k < loop->selection->count; k++) {         \
            size_t row = loop->selection->rows[k];                    \
            BODY(a[row * loop->left_step], b[row * loop->right_step]) \
        }                                                             \
    } else if (loop->right_step == 0) {                               \
        const __typeof__(b[0] + 0) constant = b[0];                   \
        for (size_t row = 0; row < rows; row++) {                     \
            BODY(a[row], constant)                                    \
        }                                                             \
    } else if (loop->left_step == 0) {                                \
        const __typeof__(a[0] + 0) constant = a[0];                   \
        for (size_t row = 0; row < rows; row++) {                     \
            BODY(constant, b[row])                                    \
        }                                                             \
    } else {                                                          \
        for (size_t row = 0; row < rows; row++) {                     \
            BODY(a[row], b[row])                                      \
        }                                                             \
    }

/* The sign bit of (x ^ r) & (y ^ r) tells that x + y overflowed: both have the sign that r lacks. */
#define SIGNED_ADD(x, y)                        \
    wide r = (wide)((wide)(x) + (wide)(y));     \
    bad |= (((wide)(x) ^ r) & ((wide)(y) ^ r)); \
    out[row] = (type)r;
#define SIGNED_SUBTRACT(x, y)                           \
    wide r = (wide)((wide)(x) - (wide)(y));             \
    bad |= (((wide)(x) ^ (wide)(y)) & ((wide)(x) ^ r)); \
    out[row] = (type)r;
#define UNSIGNED_ADD(x, y)                                  \
    wide r = (wide)((wide)(x) + (wide)(y));                 \
    bad |= (wide)(r < (wide)(x)) << (8 * sizeof(wide) - 1); \
    out[row] = r;
#define UNSIGNED_SUBTRACT(x, y)                                     \
    bad |= (wide)((wide)(x) < (wide)(y)) << (8 * sizeof(wide) - 1); \
    out[row] = (wide)((wide)(x) - (wide)(y));
#define MULTIPLY(x, y)                                                                       \
    type r;                                                                                  \
    bad |= (wide)__builtin_mul_overflow((type)(x), (type)(y), &r) << (8 * sizeof(wide) - 1); \
    out[row] = r;
/* The most negative value divided by -1 is the one quotient that does not fit; its remainder is 0. */
#define SIGNED_DIVIDE(x, y)                               \
    bool fails = (y) == 0 || ((y) == -1 && (x) == least); \
    bad |= (wide)fails << (8 * sizeof(wide) - 1);         \
    out[row] = fails ? 0 : (type)((x) / (y));
#define SIGNED_MODULO(x, y)                            \
    bad |= (wide)((y) == 0) << (8 * sizeof(wide) - 1); \
    out[row] = (y) == 0 || (y) == -1 ? 0 : (type)((x) % (y));
#define UNSIGNED_DIVIDE(x, y)                          \
    bad |= (wide)((y) == 0) << (8 * sizeof(wide) - 1); \
    out[row] = (y) == 0 ? 0 : (type)((x) / (y));
#define UNSIGNED_MODULO(x, y)                          \
    bad |= (wide)((y) == 0) << (8 * sizeof(wide) - 1); \
    out[row] = (y) == 0 ? 0 : (type)((x) % (y));

#define DEFINE_LOOP(name, type_, wide_, BODY)                         \
    KERNEL_VARIANTS static bool name(const struct integer_loop *loop) \
    {                                                                 \
        typedef type_ type;                                           \
        typedef wide_ wide;                                           \
        const type *a = loop->left, *b = loop->right;                 \
        type *out = loop->out;                                        \
        size_t rows = loop->rows;                                     \
        const type least = (type)((wide)1 << (8 * sizeof(type) - 1)); \
        (void)least;                                                  \
        wide bad = 0;                                                 \
        EACH_ROW(BODY)                                                \
        return bad >> (8 * sizeof(wide) - 1) != 0;                    \
    }

#define DEFINE_LOOPS(name, type, wide, SIGN)                  \
    DEFINE_LOOP(name##_add, type, wide, SIGN##_ADD)           \
    DEFINE_LOOP(name##_subtract, type, wide, SIGN##_SUBTRACT) \
    DEFINE_LOOP(name##_multiply, type, wide, MULTIPLY)        \
    DEFINE_LOOP(name##_divide, type, wide, SIGN##_DIVIDE)     \
    DEFINE_LOOP(name##_modulo, type, wide, SIGN##_MODULO)

DEFINE_LOOPS(int8, int8_t, uint8_t, SIGNED)
DEFINE_LOOPS(int16, int16_t, uint16_t, SIGNED)
DEFINE_LOOPS(int32, int32_t, uint32_t, SIGNED)
DEFINE_LOOPS(int64, int64_t, uint64_t, SIGNED)
DEFINE_LOOPS(uint8, uint8_t, uint8_t, UNSIGNED)
DEFINE_LOOPS(uint16, uint16_t, uint16_t, UNSIGNED)
DEFINE_LOOPS(uint32, uint32_t, uint32_t, UNSIGNED)
DEFINE_LOOPS(uint64, uint64_t, uint64_t, UNSIGNED)

typedef bool run_loop(const struct integer_loop *loop);

#define LOOPS_OF(name)                                                             \
    {                                                                              \
        name##_add, name##_subtract, name##_multiply, name##_divide, name##_modulo \
    }
/* By TYPE_INT8 .. TYPE_UINT64 and operation. */
static run_loop *const loops[][5] = {
    LOOPS_OF(int8),  LOOPS_OF(int16),  LOOPS_OF(int32),  LOOPS_OF(int64),
    LOOPS_OF(uint8), LOOPS_OF(uint16), LOOPS_OF(uint32), LOOPS_OF(uint64),
};

/* The error of the first row that counts and has one, if any. */
static kith_error *find_error(const struct arithmetic *arithmetic, run_loop *run, struct integer_loop loop)
{
    _cleanup_(selection_unref) struct selection *one = NULL;
    TRY(selection_new(1, &one));
    one->count = 1;
    loop.selection = one;
    const struct array *right = arithmetic->right->array;
    bool divides = arithmetic->operation == ARITHMETIC_DIVIDE || arithmetic->operation == ARITHMETIC_MODULO;
    size_t width = type_width(&right->type);
    const uint8_t *divisors = array_values(right);
    for (size_t k = 0; k < selected_count(arithmetic->selection, arithmetic->rows); k++) {
        size_t row = selected_row(arithmetic->selection, k);
        one->rows[0] = (uint32_t)row;
        if (array_is_null(arithmetic->result, row) || !run(&loop))
            continue;
        uint64_t divisor = 0;
        memcpy(&divisor, divisors + datum_row(arithmetic->right, row) * width, width);
        return divides && divisor == 0 ? arithmetic_division_by_zero(arithmetic, row)
                                       : arithmetic_out_of_range(arithmetic, row);
    }
    return NULL;
}

kith_error *arithmetic_integer(const struct arithmetic *arithmetic)
{
    const struct datum *left = arithmetic->left, *right = arithmetic->right;
    enum type_id id = left->array->type.id;
    run_loop *run = loops[id - TYPE_INT8][arithmetic->operation];
    struct integer_loop loop = {
        .left = array_values(left->array),
        .right = array_values(right->array),
        .left_step = !left->constant,
        .right_step = !right->constant,
        .out = arithmetic->result->values->data,
        .rows = arithmetic->rows,
        .selection = selection_is_dense(arithmetic->selection, arithmetic->rows) ? NULL : arithmetic->selection,
    };
    return run(&loop) ? find_error(arithmetic, run, loop) : NULL;
}
