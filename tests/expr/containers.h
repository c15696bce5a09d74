/*
 * Statistics of small containers for tests of pruning and bounds: what is true of the rows, less what a writer may have
 * left out, cut or not known.
 */
#ifndef KITH_TESTS_EXPR_CONTAINERS_H
#define KITH_TESTS_EXPR_CONTAINERS_H

#include "expr/statistics.h"
#include "expr/trees.h"

enum { CONTAINER_COLUMNS = 4, CONTAINER_STRING_BYTES = 64 };

struct container {
    struct statistics_source source;
    struct column_statistics columns[CONTAINER_COLUMNS];
    char strings[CONTAINER_COLUMNS][2][CONTAINER_STRING_BYTES]; /* bounds that were cut */
};

static inline void container_get(const struct statistics_source *source, size_t column, struct column_statistics *out)
{
    *out = ((const struct container *)source)->columns[column];
}

static inline bool scalar_is_nan(const struct scalar *value)
{
    return !value->is_null &&
           ((value->type.id == TYPE_FLOAT32 && value->float32 != value->float32) ||
            (value->type.id == TYPE_FLOAT64 && value->float64 != value->float64) ||
            (value->type.id == TYPE_FLOAT16 && (value->uint64 & 0x7c00) == 0x7c00 && (value->uint64 & 0x3ff) != 0));
}

/* All that can be known of rows [0, length) of the array; strings are borrowed from it. */
static inline struct column_statistics true_statistics(const struct array *array)
{
    struct column_statistics known = {
        .min_exact = true, .max_exact = true, .has_null_count = true, .row_count = array->length};
    for (size_t i = 0; i < array->length; i++) {
        struct scalar value = scalar_from_array(array, i);
        if (value.is_null) {
            known.null_count++;
        } else if (scalar_is_nan(&value)) {
            known.may_have_nan = true;
        } else {
            if (!known.has_min || scalar_compare(&value, &known.min) < 0)
                known.min = value;
            if (!known.has_max || scalar_compare(&value, &known.max) > 0)
                known.max = value;
            known.has_min = known.has_max = true;
        }
    }
    return known;
}

static inline bool holds_string(const struct scalar *value)
{
    return (type_is_string(value->type.id) || type_is_binary(value->type.id)) &&
           value->type.id != TYPE_FIXED_SIZE_BINARY;
}

/* A shorter text that is no larger (`up` false) or no smaller than the value. */
static inline bool cut_bound(struct scalar *value, bool up, size_t length, char *out)
{
    if (length >= value->string.length || length == 0 || length > CONTAINER_STRING_BYTES)
        return false;
    memcpy(out, value->string.data, length);
    if (up && (unsigned char)out[length - 1] >= 0x7f)
        return false;
    out[length - 1] = (char)(out[length - 1] + up);
    value->string = (struct str){out, length};
    return true;
}

/* Takes something away from what is known, at random. */
static inline void forget_something(uint64_t *random, struct column_statistics *known,
                                    char strings[2][CONTAINER_STRING_BYTES])
{
    uint64_t r = test_random(random);
    if (r % 5 == 0)
        known->has_min = false;
    if ((r >> 8) % 5 == 0)
        known->has_max = false;
    if ((r >> 16) % 4 == 0) {
        known->has_null_count = false;
        known->null_count = 0;
    }
    if ((r >> 24) % 3 == 0 && type_is_float(known->min.type.id) && known->has_min)
        known->may_have_nan = true;
    if (known->has_min && holds_string(&known->min) && (r >> 32) % 3 == 0)
        known->min_exact = !cut_bound(&known->min, false, 1 + (r >> 40) % 4, strings[0]);
    if (known->has_max && holds_string(&known->max) && (r >> 36) % 3 == 0)
        known->max_exact = !cut_bound(&known->max, true, 1 + (r >> 44) % 4, strings[1]);
    if (!known->has_min)
        known->min = (struct scalar){0};
    if (!known->has_max)
        known->max = (struct scalar){0};
}

static inline void container_init(struct container *container, struct array *const *arrays, size_t count)
{
    container->source.get = container_get;
    for (size_t i = 0; i < count; i++)
        container->columns[i] = true_statistics(arrays[i]);
}

#endif
