#include "compute/arithmetic_parts.h"
#include "compute/decimal.h"

/* What the scales of operands and result ask of each row. */
struct decimal_plan {
    __int128 left_factor, right_factor; /* bring sums and remainders to one scale; 1 for products */
    __int128 numerator_factor;          /* of a quotient: scale s1 to s + s2 */
    int precision;
};

/* |a| / |b| where a is `high` * 2^128 + `low`, by long division, one bit at a time; false when the quotient has more
 * than 127 bits. Only for quotients whose scaled dividend has more than 38 digits. */
static bool divide_wide(unsigned __int128 high, unsigned __int128 low, unsigned __int128 divisor,
                        unsigned __int128 *quotient, unsigned __int128 *remainder)
{
    if (high >= divisor)
        return false;
    unsigned __int128 rest = high, result = 0;
    for (int bit = 127; bit >= 0; bit--) {
        bool carry = rest >> 127 != 0;
        rest = rest << 1 | (low >> bit & 1);
        result <<= 1;
        if (carry || rest >= divisor) {
            rest -= divisor;
            result |= 1;
        }
    }
    *quotient = result;
    *remainder = rest;
    return result >> 127 == 0;
}

static void multiply_wide(unsigned __int128 a, unsigned __int128 b, unsigned __int128 *high, unsigned __int128 *low)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    unsigned __int128 low_low = (unsigned __int128)a0 * b0, low_high = (unsigned __int128)a0 * b1;
    unsigned __int128 high_low = (unsigned __int128)a1 * b0, high_high = (unsigned __int128)a1 * b1;
    unsigned __int128 middle = (low_low >> 64) + (uint64_t)low_high + (uint64_t)high_low;
    *low = middle << 64 | (uint64_t)low_low;
    *high = high_high + (low_high >> 64) + (high_low >> 64) + (middle >> 64);
}

static unsigned __int128 magnitude(__int128 value)
{
    return value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
}

/* left * factor / right, rounded half away from zero. */
static bool divide_scaled(__int128 left, __int128 factor, __int128 right, __int128 *out)
{
    __int128 scaled;
    if (!__builtin_mul_overflow(left, factor, &scaled)) {
        *out = decimal_divide_rounded(scaled, right);
        return true;
    }
    unsigned __int128 high, low, quotient, remainder, divisor = magnitude(right);
    multiply_wide(magnitude(left), magnitude(factor), &high, &low);
    if (!divide_wide(high, low, divisor, &quotient, &remainder))
        return false;
    quotient += remainder >= divisor - remainder;
    *out = (left < 0) != (right < 0) ? -(__int128)quotient : (__int128)quotient;
    return true;
}

static bool rescaled(__int128 value, __int128 factor, __int128 *out)
{
    return !__builtin_mul_overflow(value, factor, out);
}

/* False when the result does not fit 38 digits. A zero divisor was seen to. */
static bool compute(enum arithmetic_operator operation, const struct decimal_plan *plan, __int128 a, __int128 b,
                    __int128 *out)
{
    switch (operation) {
    case ARITHMETIC_ADD:
        return rescaled(a, plan->left_factor, &a) && rescaled(b, plan->right_factor, &b) &&
               !__builtin_add_overflow(a, b, out);
    case ARITHMETIC_SUBTRACT:
        return rescaled(a, plan->left_factor, &a) && rescaled(b, plan->right_factor, &b) &&
               !__builtin_sub_overflow(a, b, out);
    case ARITHMETIC_MULTIPLY:
        return !__builtin_mul_overflow(a, b, out);
    case ARITHMETIC_DIVIDE:
        return divide_scaled(a, plan->numerator_factor, b, out);
    case ARITHMETIC_MODULO:
        if (!rescaled(a, plan->left_factor, &a) || !rescaled(b, plan->right_factor, &b))
            return false;
        *out = a % b;
        return true;
    }
    UNREACHABLE();
}

static kith_error *run_rows(const struct arithmetic *arithmetic, const struct decimal_plan *plan)
{
    const struct array *left = arithmetic->left->array, *right = arithmetic->right->array;
    enum arithmetic_operator operation = arithmetic->operation;
    bool divides = operation == ARITHMETIC_DIVIDE || operation == ARITHMETIC_MODULO;
    for (size_t k = 0; k < selected_count(arithmetic->selection, arithmetic->rows); k++) {
        size_t row = selected_row(arithmetic->selection, k);
        if (array_is_null(arithmetic->result, row))
            continue;
        __int128 a = decimal_load(left, datum_row(arithmetic->left, row));
        __int128 b = decimal_load(right, datum_row(arithmetic->right, row));
        if (divides && b == 0)
            return arithmetic_division_by_zero(arithmetic, row);
        __int128 value;
        bool fits = decimal_fits(a, DECIMAL128_MAX_PRECISION) && decimal_fits(b, DECIMAL128_MAX_PRECISION) &&
                    compute(operation, plan, a, b, &value) && decimal_fits(value, plan->precision);
        if (!fits)
            return arithmetic_out_of_range(arithmetic, row);
        decimal_store(arithmetic->result, row, value);
    }
    return NULL;
}

/* The fast loops compute all rows of sums, differences and products and tell whether any result has too many digits;
 * only then are the rows that count looked at one by one. */
struct decimal_loop {
    enum arithmetic_operator operation;
    const struct decimal_plan *plan;
    const void *left, *right;
    size_t left_step, right_step;
    void *out;
    size_t rows;
};

/* With 64-bit operands nothing overflows 128 bits, whatever the values: 10^18 * 2^63 < 2^123. */
#define DEFINE_NARROW_LOOP(name, out_type)                                                                        \
    static bool name(const struct decimal_loop *loop)                                                             \
    {                                                                                                             \
        const int64_t *a = loop->left, *b = loop->right;                                                          \
        out_type *out = loop->out;                                                                                \
        __int128 limit = decimal_power(loop->plan->precision);                                                    \
        int64_t left_factor = (int64_t)loop->plan->left_factor, right_factor = (int64_t)loop->plan->right_factor; \
        if (loop->operation == ARITHMETIC_SUBTRACT)                                                               \
            right_factor = -right_factor;                                                                         \
        bool bad = false;                                                                                         \
        for (size_t row = 0; row < loop->rows; row++) {                                                           \
            __int128 x = a[row * loop->left_step], y = b[row * loop->right_step];                                 \
            __int128 value = loop->operation == ARITHMETIC_MULTIPLY ? x * y : x * left_factor + y * right_factor; \
            bad |= value >= limit || value <= -limit;                                                             \
            out[row] = (out_type)value;                                                                           \
        }                                                                                                         \
        return !bad;                                                                                              \
    }

#define DEFINE_WIDE_LOOP(name, left_type, right_type)                                            \
    static bool name(const struct decimal_loop *loop)                                            \
    {                                                                                            \
        const left_type *a = loop->left;                                                         \
        const right_type *b = loop->right;                                                       \
        loose_int128 *out = loop->out;                                                           \
        __int128 limit = decimal_power(loop->plan->precision);                                   \
        bool bad = false;                                                                        \
        for (size_t row = 0; row < loop->rows; row++) {                                          \
            __int128 x = a[row * loop->left_step], y = b[row * loop->right_step], value;         \
            if (loop->operation == ARITHMETIC_MULTIPLY) {                                        \
                bad |= __builtin_mul_overflow(x, y, &value);                                     \
            } else {                                                                             \
                bad |= __builtin_mul_overflow(x, loop->plan->left_factor, &x);                   \
                bad |= __builtin_mul_overflow(y, loop->plan->right_factor, &y);                  \
                bad |= loop->operation == ARITHMETIC_ADD ? __builtin_add_overflow(x, y, &value)  \
                                                         : __builtin_sub_overflow(x, y, &value); \
            }                                                                                    \
            bad |= value >= limit || value <= -limit;                                            \
            out[row] = value;                                                                    \
        }                                                                                        \
        return !bad;                                                                             \
    }

DEFINE_NARROW_LOOP(narrow_to_narrow, int64_t)
DEFINE_NARROW_LOOP(narrow_to_wide, loose_int128)
DEFINE_WIDE_LOOP(wide_and_narrow, loose_int128, int64_t)
DEFINE_WIDE_LOOP(narrow_and_wide, int64_t, loose_int128)
DEFINE_WIDE_LOOP(wide_and_wide, loose_int128, loose_int128)

static bool try_fast(const struct arithmetic *arithmetic, const struct decimal_plan *plan)
{
    const struct datum *left = arithmetic->left, *right = arithmetic->right;
    bool left_wide = left->array->type.id == TYPE_DECIMAL128, right_wide = right->array->type.id == TYPE_DECIMAL128;
    bool result_wide = arithmetic->result->type.id == TYPE_DECIMAL128;
    bool small_factors = plan->left_factor <= decimal_power(18) && plan->right_factor <= decimal_power(18);
    if (!small_factors || arithmetic->operation > ARITHMETIC_MULTIPLY || ((left_wide || right_wide) && !result_wide) ||
        !selection_is_dense(arithmetic->selection, arithmetic->rows))
        return false;
    const struct decimal_loop loop = {
        .operation = arithmetic->operation,
        .plan = plan,
        .left = array_values(left->array),
        .right = array_values(right->array),
        .left_step = !left->constant,
        .right_step = !right->constant,
        .out = arithmetic->result->values->data,
        .rows = arithmetic->rows,
    };
    if (left_wide)
        return right_wide ? wide_and_wide(&loop) : wide_and_narrow(&loop);
    if (right_wide)
        return narrow_and_wide(&loop);
    return result_wide ? narrow_to_wide(&loop) : narrow_to_narrow(&loop);
}

kith_error *arithmetic_decimal(const struct arithmetic *arithmetic)
{
    const struct data_type *left = &arithmetic->left->array->type, *right = &arithmetic->right->array->type;
    const struct data_type *type = &arithmetic->result->type;
    struct decimal_plan plan = {
        .left_factor = 1, .right_factor = 1, .numerator_factor = 1, .precision = type->precision};
    int scale = MAX(left->scale, right->scale);
    if (arithmetic->operation == ARITHMETIC_DIVIDE) {
        /* a / 10^s1 / (b / 10^s2) = q / 10^s with q = a * 10^(s - s1 + s2) / b. */
        int shift = type->scale - left->scale + right->scale;
        if (shift < 0 || shift > DECIMAL128_MAX_PRECISION)
            return error_new(KITH_ERROR_NOT_IMPLEMENTED, "division of decimals of scales %d and %d", left->scale,
                             right->scale);
        plan.numerator_factor = decimal_power(shift);
    } else if (arithmetic->operation != ARITHMETIC_MULTIPLY) {
        if (scale - left->scale > DECIMAL128_MAX_PRECISION || scale - right->scale > DECIMAL128_MAX_PRECISION)
            return error_new(KITH_ERROR_NOT_IMPLEMENTED, "arithmetic of decimals of scales %d and %d", left->scale,
                             right->scale);
        plan.left_factor = decimal_power(scale - left->scale);
        plan.right_factor = decimal_power(scale - right->scale);
    }
    return try_fast(arithmetic, &plan) ? NULL : run_rows(arithmetic, &plan);
}
