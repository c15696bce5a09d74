#include "compute/compare_loops.h"

#define INTEGER_EQ(a, b) ((a) == (b))
#define INTEGER_LT(a, b) ((a) < (b))
#define INTEGER_LE(a, b) ((a) <= (b))
/* NaN equals itself and is larger than all else: `a < b` is also true when only b is NaN. Bitwise operators keep the
 * loops free of branches. */
#define FLOAT_IS_NAN(a) ((a) != (a))
#define FLOAT_EQ(a, b)  (((a) == (b)) | (FLOAT_IS_NAN(a) & FLOAT_IS_NAN(b)))
#define FLOAT_LT(a, b)  (((a) < (b)) | (!FLOAT_IS_NAN(a) & FLOAT_IS_NAN(b)))
#define FLOAT_LE(a, b)  (((a) <= (b)) | FLOAT_IS_NAN(b))

#define LOOP(HOLDS)                                                   \
    if (rows != NULL) {                                               \
        for (size_t k = 0; k < count; k++)                            \
            out[k] = HOLDS(a[rows[k] * a_step], b[rows[k] * b_step]); \
    } else if (b_step == 0) {                                         \
        __typeof__(b[0] + 0) constant = b[0];                         \
        for (size_t k = 0; k < count; k++)                            \
            out[k] = HOLDS(a[first + k], constant);                   \
    } else {                                                          \
        for (size_t k = 0; k < count; k++)                            \
            out[k] = HOLDS(a[first + k], b[first + k]);               \
    }

#define DEFINE_LOOP(name, type, EQ, LT, LE)                                                                 \
    KERNEL_VARIANTS static void name(enum compare_relation relation, const struct compare_input *left,      \
                                     const struct compare_input *right, const uint32_t *rows, size_t first, \
                                     size_t count, uint8_t *out)                                            \
    {                                                                                                       \
        const type *a = left->data, *b = right->data;                                                       \
        size_t a_step = left->step, b_step = right->step;                                                   \
        switch (relation) {                                                                                 \
        case RELATION_EQ:                                                                                   \
            LOOP(EQ)                                                                                        \
            break;                                                                                          \
        case RELATION_LT:                                                                                   \
            LOOP(LT)                                                                                        \
            break;                                                                                          \
        case RELATION_LE:                                                                                   \
            LOOP(LE)                                                                                        \
            break;                                                                                          \
        }                                                                                                   \
    }

DEFINE_LOOP(compare_int8, int8_t, INTEGER_EQ, INTEGER_LT, INTEGER_LE)
DEFINE_LOOP(compare_int16, int16_t, INTEGER_EQ, INTEGER_LT, INTEGER_LE)
DEFINE_LOOP(compare_int32, int32_t, INTEGER_EQ, INTEGER_LT, INTEGER_LE)
DEFINE_LOOP(compare_int64, int64_t, INTEGER_EQ, INTEGER_LT, INTEGER_LE)
DEFINE_LOOP(compare_uint8, uint8_t, INTEGER_EQ, INTEGER_LT, INTEGER_LE)
DEFINE_LOOP(compare_uint16, uint16_t, INTEGER_EQ, INTEGER_LT, INTEGER_LE)
DEFINE_LOOP(compare_uint32, uint32_t, INTEGER_EQ, INTEGER_LT, INTEGER_LE)
DEFINE_LOOP(compare_uint64, uint64_t, INTEGER_EQ, INTEGER_LT, INTEGER_LE)
DEFINE_LOOP(compare_int128, loose_int128, INTEGER_EQ, INTEGER_LT, INTEGER_LE)
DEFINE_LOOP(compare_float32, float, FLOAT_EQ, FLOAT_LT, FLOAT_LE)
DEFINE_LOOP(compare_float64, double, FLOAT_EQ, FLOAT_LT, FLOAT_LE)

compare_loop *compare_loop_fixed(enum type_id physical)
{
    switch ((int)physical) {
    case TYPE_INT8:
        return compare_int8;
    case TYPE_INT16:
        return compare_int16;
    case TYPE_INT32:
        return compare_int32;
    case TYPE_INT64:
        return compare_int64;
    case TYPE_UINT8:
        return compare_uint8;
    case TYPE_UINT16:
        return compare_uint16;
    case TYPE_UINT32:
        return compare_uint32;
    case TYPE_UINT64:
        return compare_uint64;
    case TYPE_DECIMAL128:
        return compare_int128;
    case TYPE_FLOAT32:
        return compare_float32;
    case TYPE_FLOAT64:
        return compare_float64;
    default:
        return NULL;
    }
}
