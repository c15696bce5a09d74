/*
 * Rows strictly better than a bound. The first key decides nearly every row, so it is compared in its own type where
 * that is a machine number; what ties there, and every other type, is compared by sort key.
 */
#include "base/alloc.h"
#include "base/limits.h"
#include "expr/dynamic_filter.h"
#include "expr/eval.h"

#include <endian.h>

/* The rows of `batch` that may still be better, by the first key alone. `ties` keeps rows that equal the bound. */
struct first_key {
    const struct array *array;
    const struct scalar *value; /* not NULL */
    struct sort_order order;
    bool ties;
};

/* Once a bound is tight, few blocks of so many rows have any that is better: they are looked through first. */
enum { BLOCK_ROWS = 64 };

/* Appends the selected rows for which `better` holds of `x`, or which are NULL where NULL comes first. */
#define SELECT_BETTER(ctype, limit_value, is_better)                                               \
    do {                                                                                           \
        const ctype *values = array_values(key->array);                                            \
        const ctype limit = (limit_value);                                                         \
        if (batch->selection == NULL && key->array->validity == NULL) {                            \
            const size_t rows = batch->rows;                                                       \
            for (size_t start = 0, end; start < rows; start = end) {                               \
                unsigned any = 0;                                                                  \
                end = MIN(start + BLOCK_ROWS, rows);                                               \
                for (size_t row = start; row < end; row++) {                                       \
                    const ctype x = values[row];                                                   \
                    any |= (is_better);                                                            \
                }                                                                                  \
                for (size_t row = start; any != 0 && row < end; row++) {                           \
                    const ctype x = values[row];                                                   \
                    out->rows[count] = (uint32_t)row;                                              \
                    count += (is_better);                                                          \
                }                                                                                  \
            }                                                                                      \
        } else {                                                                                   \
            for (size_t i = 0; i < batch_row_count(batch); i++) {                                  \
                uint32_t row = batch->selection == NULL ? (uint32_t)i : batch->selection->rows[i]; \
                ctype x = values[row];                                                             \
                out->rows[count] = row;                                                            \
                count += array_is_null(key->array, row) ? key->order.nulls_first : (is_better);    \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#define SELECT_NUMBER(ctype, limit_value)                  \
    do {                                                   \
        if (key->order.descending && key->ties)            \
            SELECT_BETTER(ctype, limit_value, x >= limit); \
        else if (key->order.descending)                    \
            SELECT_BETTER(ctype, limit_value, x > limit);  \
        else if (key->ties)                                \
            SELECT_BETTER(ctype, limit_value, x <= limit); \
        else                                               \
            SELECT_BETTER(ctype, limit_value, x < limit);  \
    } while (0)

/* NaN is larger than every number; C's comparisons with it are false, so their negations are what lets it in. The bound
 * itself is no NaN here. */
#define SELECT_FLOAT(ctype, limit_value)                      \
    do {                                                      \
        if (key->order.descending && key->ties) {             \
            SELECT_BETTER(ctype, limit_value, !(x < limit));  \
        } else if (key->order.descending) {                   \
            SELECT_BETTER(ctype, limit_value, !(x <= limit)); \
        } else if (key->ties) {                               \
            SELECT_BETTER(ctype, limit_value, x <= limit);    \
        } else {                                              \
            SELECT_BETTER(ctype, limit_value, x < limit);     \
        }                                                     \
    } while (0)

static bool is_nan(const struct scalar *value)
{
    return (value->type.id == TYPE_FLOAT32 && value->float32 != value->float32) ||
           (value->type.id == TYPE_FLOAT64 && value->float64 != value->float64);
}

static bool is_text(enum type_id id)
{
    return type_is_string(id) || id == TYPE_BINARY || id == TYPE_LARGE_BINARY || id == TYPE_BINARY_VIEW;
}

static bool has_number_layout(const struct data_type *type)
{
    return !type_is_dictionary(type) && type_width(type) > 0 && type_width(type) <= 8 && type->id != TYPE_FLOAT16 &&
           type->id != TYPE_FIXED_SIZE_BINARY && type->id != TYPE_INTERVAL_DAY_TIME;
}

static void select_first_number(const struct first_key *key, const struct batch *batch, struct selection *out)
{
    const struct scalar *value = key->value;
    size_t count = 0;
    switch ((int)key->array->type.id) {
    case TYPE_INT8:
        SELECT_NUMBER(int8_t, (int8_t)value->int64);
        break;
    case TYPE_INT16:
        SELECT_NUMBER(int16_t, (int16_t)value->int64);
        break;
    case TYPE_UINT8:
        SELECT_NUMBER(uint8_t, (uint8_t)value->uint64);
        break;
    case TYPE_UINT16:
        SELECT_NUMBER(uint16_t, (uint16_t)value->uint64);
        break;
    case TYPE_UINT32:
        SELECT_NUMBER(uint32_t, (uint32_t)value->uint64);
        break;
    case TYPE_UINT64:
        SELECT_NUMBER(uint64_t, value->uint64);
        break;
    case TYPE_FLOAT32:
        SELECT_FLOAT(float, value->float32);
        break;
    case TYPE_FLOAT64:
        SELECT_FLOAT(double, value->float64);
        break;
    case TYPE_INT32:
    case TYPE_DATE32:
    case TYPE_TIME32:
    case TYPE_INTERVAL_MONTHS:
        SELECT_NUMBER(int32_t, (int32_t)value->int64);
        break;
    default: /* INT64 and the types that are one inside */
        SELECT_NUMBER(int64_t, value->int64);
        break;
    }
    out->count = count;
}

/* First bytes of a text as a number that orders as they do; shorter texts are padded with zeros. */
static uint64_t text_prefix(struct str text)
{
    uint64_t prefix = 0;
    memcpy(&prefix, text.data, MIN(text.length, sizeof prefix));
    return be64toh(prefix);
}

struct text_limit {
    struct str text;
    uint64_t prefix;
    struct sort_order order;
    bool ties;
};

/* Most texts differ in their first eight bytes. */
static bool text_is_better(const struct text_limit *limit, struct str text)
{
    uint64_t prefix = text_prefix(text);
    int order = prefix != limit->prefix ? (prefix < limit->prefix ? -1 : 1) : str_compare(text, limit->text);
    if (limit->order.descending)
        order = -order;
    return order < 0 || (order == 0 && limit->ties);
}

/* The texts of a dictionary are compared once each, not once a row. */
static kith_error *compare_dictionary(const struct text_limit *limit, const struct array *dictionary, bool **out)
{
    TRY(NEW_ARRAY(out, dictionary->length));
    for (size_t i = 0; i < dictionary->length; i++)
        (*out)[i] = array_is_null(dictionary, i) ? limit->order.nulls_first
                                                 : text_is_better(limit, array_string(dictionary, i));
    return NULL;
}

static kith_error *select_first_text(const struct first_key *key, const struct batch *batch, struct selection *out)
{
    const struct array *array = key->array;
    const struct text_limit limit = {
        .text = key->value->string, .prefix = text_prefix(key->value->string), .order = key->order, .ties = key->ties};
    _cleanup_free_ bool *better = NULL;
    if (array->dictionary != NULL)
        TRY(compare_dictionary(&limit, array->dictionary, &better));
    size_t rows = batch_row_count(batch), count = 0;
    for (size_t i = 0; i < rows; i++) {
        uint32_t row = batch->selection == NULL ? (uint32_t)i : batch->selection->rows[i];
        out->rows[count] = row;
        if (array_is_null_itself(array, row))
            count += key->order.nulls_first;
        else
            count += better != NULL ? better[array_dictionary_index(array, row)]
                                    : text_is_better(&limit, array_string(array, row));
    }
    out->count = count;
    return NULL;
}

/* The batch with a narrower selection; the batch itself when nothing was removed. */
static kith_error *narrowed(struct batch *batch, struct selection *selection, struct batch **out)
{
    if (selection->count == batch_row_count(batch)) {
        *out = batch_ref(batch);
        return NULL;
    }
    return batch_select(batch, selection, out);
}

static kith_error *filter_by_first_key(const struct first_key *key, struct batch *batch, struct batch **out)
{
    _cleanup_(selection_unref) struct selection *selection = NULL;
    /* One more: the loops write before they count. */
    TRY(selection_new(batch_row_count(batch) + 1, &selection));
    if (has_number_layout(&key->array->type))
        select_first_number(key, batch, selection);
    else
        TRY(select_first_text(key, batch, selection));
    return narrowed(batch, selection, out);
}

static kith_error *evaluate_keys(struct evaluator *const *evaluators, size_t count, struct batch *batch,
                                 struct array **arrays)
{
    for (size_t i = 0; i < count; i++)
        if (arrays[i] == NULL)
            TRY(evaluator_run(evaluators[i], batch, &arrays[i]));
    return NULL;
}

static kith_error *filter_by_key(const struct bound *bound, const struct sort_order *orders,
                                 struct array *const *arrays, struct batch *batch, struct sort_keys *keys,
                                 struct batch **out)
{
    _cleanup_(selection_unref) struct selection *selection = NULL;
    size_t rows = batch_row_count(batch);
    struct str limit = {(const char *)bound->key, bound->key_length};
    TRY(sort_keys_encode(keys, arrays, orders, bound->value_count, batch->rows, batch->selection));
    TRY(selection_new(rows, &selection));
    for (size_t i = 0; i < rows; i++) {
        int order = str_compare(sort_keys_get(keys, i), limit);
        if (order < 0 || (order == 0 && bound->inclusive))
            selection->rows[selection->count++] = batch->selection == NULL ? (uint32_t)i : batch->selection->rows[i];
    }
    return narrowed(batch, selection, out);
}

static void unref_arrays(struct array **arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        array_unref(arrays[i]);
}

static kith_error *filter_rows(const struct bound *bound, const struct sort_order *orders,
                               struct evaluator *const *evaluators, struct batch *batch, struct sort_keys *keys,
                               struct array **arrays, struct batch **out)
{
    _cleanup_(batch_unref) struct batch *candidates = NULL;
    size_t count = bound->value_count;
    TRY(evaluate_keys(evaluators, 1, batch, arrays));
    bool comparable = has_number_layout(&arrays[0]->type) || is_text(arrays[0]->type.id);
    if (!bound->values[0].is_null && !is_nan(&bound->values[0]) && comparable) {
        const struct first_key key = {
            .array = arrays[0], .value = &bound->values[0], .order = orders[0], .ties = count > 1 || bound->inclusive};
        TRY(filter_by_first_key(&key, batch, &candidates));
        if (count == 1 || batch_row_count(candidates) == 0) {
            *out = TAKE(candidates);
            return NULL;
        }
    } else {
        candidates = batch_ref(batch);
    }
    TRY(evaluate_keys(evaluators, count, candidates, arrays));
    return filter_by_key(bound, orders, arrays, candidates, keys, out);
}

kith_error *bound_filter(const struct bound *bound, const struct sort_expr *exprs, struct evaluator *const *evaluators,
                         struct batch *batch, struct sort_keys *keys, struct batch **out)
{
    struct array *arrays[LIMIT_SORT_KEYS] = {NULL};
    struct sort_order orders[LIMIT_SORT_KEYS];
    ASSERT(bound->value_count > 0 && bound->value_count <= LIMIT_SORT_KEYS);
    for (size_t i = 0; i < bound->value_count; i++)
        orders[i] = exprs[i].order;
    kith_error *error = filter_rows(bound, orders, evaluators, batch, keys, arrays, out);
    unref_arrays(arrays, bound->value_count);
    return error;
}
