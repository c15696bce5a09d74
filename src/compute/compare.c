#include "compute/compare.h"

#include "columnar/scalar.h"
#include "compute/compare_loops.h"
#include "compute/filter.h"
#include "compute/text_reader.h"

enum { CHUNK_ROWS = 1024 };

/* One comparison made ready: operands in the order that the loops want, and what they do not know. */
struct comparison {
    compare_loop *loop;
    enum compare_relation relation;
    bool inverted;
    struct compare_input left, right;
    struct text_reader left_text, right_text;
    struct buffer *left_widened, *right_widened; /* owned; values converted to the loop's type */
};

static void comparison_reset(struct comparison *comparison)
{
    buffer_unref(comparison->left_widened);
    buffer_unref(comparison->right_widened);
}
DEFINE_VALUE_CLEANUP(comparison_reset, struct comparison)

static bool is_text_or_bytes(enum type_id id)
{
    return type_is_string(id) || type_is_binary(id);
}

kith_error *compare_check(const struct data_type *left, const struct data_type *right)
{
    bool fits;
    if (is_text_or_bytes(left->id))
        fits = type_is_string(left->id) ? type_is_string(right->id) : type_is_binary(right->id);
    else if (type_is_decimal(left->id))
        fits = type_is_decimal(right->id) && left->scale == right->scale;
    else
        fits = type_equal(left, right);
    char left_name[128], right_name[128];
    if (!fits)
        return error_new(KITH_ERROR_TYPE_MISMATCH, "cannot compare %s with %s",
                         type_format(left, left_name, sizeof left_name),
                         type_format(right, right_name, sizeof right_name));
    if (!is_text_or_bytes(left->id) && kernel_physical_type(left) == TYPE_NULL && left->id != TYPE_NULL)
        return error_new(KITH_ERROR_NOT_IMPLEMENTED, "comparison of %s values",
                         type_format(left, left_name, sizeof left_name));
    return NULL;
}

/* Values of types without a loop of their own in the type of one that has: booleans as bytes, half floats as floats,
 * 64-bit decimals beside 128-bit ones. */
static kith_error *widen(const struct datum *operand, enum type_id to, size_t rows, struct buffer **out)
{
    const struct array *array = operand->array;
    size_t count = operand->constant ? 1 : rows;
    _cleanup_(buffer_unref) struct buffer *buffer = NULL;
    size_t width = to == TYPE_UINT8 ? 1 : to == TYPE_FLOAT32 ? sizeof(float) : sizeof(__int128);
    TRY(buffer_new(count * width, &buffer));
    if (to == TYPE_UINT8) {
        for (size_t i = 0; i < count; i++)
            buffer->data[i] = bitmap_get(array->values->data, array->offset + i);
    } else if (to == TYPE_FLOAT32) {
        const uint16_t *values = array_values(array);
        for (size_t i = 0; i < count; i++)
            ((float *)(void *)buffer->data)[i] = (float)float16_to_double(values[i]);
    } else {
        const int64_t *values = array_values(array);
        for (size_t i = 0; i < count; i++)
            ((loose_int128 *)(void *)buffer->data)[i] = values[i];
    }
    *out = TAKE(buffer);
    return NULL;
}

static enum type_id loop_type(const struct data_type *left, const struct data_type *right)
{
    enum type_id physical = kernel_physical_type(left);
    if (physical == TYPE_BOOL)
        return TYPE_UINT8;
    if (physical == TYPE_FLOAT16)
        return TYPE_FLOAT32;
    if (left->id == TYPE_DECIMAL64 && right->id == TYPE_DECIMAL128)
        return TYPE_DECIMAL128;
    return physical;
}

static kith_error *prepare_input(const struct datum *operand, enum type_id loop, size_t rows, struct buffer **widened,
                                 struct compare_input *out)
{
    out->step = operand->constant ? 0 : 1;
    if (kernel_physical_type(&operand->array->type) == loop) {
        out->data = array_values(operand->array);
        return NULL;
    }
    TRY(widen(operand, loop, rows, widened));
    out->data = (*widened)->data;
    return NULL;
}

/* The loops know three relations and want a constant on the right; the order is total, so the rest follows by swapping
 * and inverting. */
static void choose_relation(struct comparison *comparison, enum compare_operator operation, bool swapped)
{
    if (operation == COMPARE_EQ || operation == COMPARE_NE) {
        comparison->relation = RELATION_EQ;
        comparison->inverted = operation == COMPARE_NE;
        return;
    }
    bool less = operation == COMPARE_LT || operation == COMPARE_LE;
    bool or_equal = operation == COMPARE_LE || operation == COMPARE_GE;
    if (swapped)
        less = !less;
    comparison->inverted = !less;
    comparison->relation = less == or_equal ? RELATION_LE : RELATION_LT;
}

static kith_error *prepare(struct comparison *comparison, enum compare_operator operation, const struct datum *left,
                           const struct datum *right, size_t rows)
{
    bool swapped = left->constant && !right->constant;
    if (swapped) {
        const struct datum *other = left;
        left = right;
        right = other;
    }
    choose_relation(comparison, operation, swapped);
    if (is_text_or_bytes(left->array->type.id)) {
        comparison->left_text = text_reader_of(left->array);
        comparison->right_text = text_reader_of(right->array);
        comparison->left = (struct compare_input){&comparison->left_text, !left->constant};
        comparison->right = (struct compare_input){&comparison->right_text, !right->constant};
        comparison->loop = compare_loop_text;
        return NULL;
    }
    enum type_id type = loop_type(&left->array->type, &right->array->type);
    comparison->loop = compare_loop_fixed(type);
    ASSERT(comparison->loop != NULL);
    TRY(prepare_input(left, type, rows, &comparison->left_widened, &comparison->left));
    return prepare_input(right, type, rows, &comparison->right_widened, &comparison->right);
}

/* `count` bytes of 0 or 1 to bits, eight at a time: the multiplication moves the lowest bit of byte i to bit 56 + i. */
static void pack_bits(const uint8_t *bytes, size_t count, bool inverted, uint8_t *bits)
{
    uint8_t flip = inverted ? 0xFF : 0;
    for (size_t i = 0; i < bitmap_bytes(count); i++) {
        uint64_t eight;
        memcpy(&eight, bytes + 8 * i, sizeof eight);
        bits[i] = (uint8_t)(eight * UINT64_C(0x0102040810204080) >> 56) ^ flip;
    }
}

/* Bits of all rows; those past the end are unspecified. */
static void compare_all(const struct comparison *comparison, size_t rows, uint8_t *bits)
{
    uint8_t bytes[CHUNK_ROWS];
    for (size_t first = 0; first < rows; first += CHUNK_ROWS) {
        size_t count = MIN(rows - first, (size_t)CHUNK_ROWS);
        comparison->loop(comparison->relation, &comparison->left, &comparison->right, NULL, first, count, bytes);
        if (count % 8 != 0)
            memset(bytes + count, 0, 8 - count % 8);
        pack_bits(bytes, count, comparison->inverted, bits + first / 8);
    }
}

static void compare_selected(const struct comparison *comparison, const struct selection *selection, uint8_t *bits)
{
    uint8_t bytes[CHUNK_ROWS];
    for (size_t first = 0; first < selection->count; first += CHUNK_ROWS) {
        size_t count = MIN(selection->count - first, (size_t)CHUNK_ROWS);
        const uint32_t *rows = selection->rows + first;
        comparison->loop(comparison->relation, &comparison->left, &comparison->right, rows, 0, count, bytes);
        for (size_t k = 0; k < count; k++)
            bitmap_assign(bits, rows[k], bytes[k] != comparison->inverted);
    }
}

/* IS [NOT] DISTINCT FROM over the result of an equality comparison. */
static kith_error *settle_distinct(struct array *equal, enum compare_operator operation, const struct datum *left,
                                   const struct datum *right, const struct selection *selection)
{
    bool distinct = operation == COMPARE_DISTINCT;
    size_t count = selected_count(selection, equal->length);
    for (size_t k = 0; k < count; k++) {
        size_t row = selected_row(selection, k);
        bool left_null = datum_is_null(left, row), right_null = datum_is_null(right, row);
        bool same = left_null || right_null ? left_null == right_null : bitmap_get(equal->values->data, row);
        bitmap_assign(equal->values->data, row, same != distinct);
    }
    buffer_unref(equal->validity);
    equal->validity = NULL;
    equal->null_count = 0;
    return NULL;
}

static bool is_distinct_operator(enum compare_operator operation)
{
    return operation == COMPARE_DISTINCT || operation == COMPARE_NOT_DISTINCT;
}

kith_error *compare_run(enum compare_operator operation, const struct datum *left, const struct datum *right,
                        size_t rows, const struct selection *selection, struct array **out)
{
    const struct data_type boolean = type_of(TYPE_BOOL);
    bool null_constant = datum_is_null_constant(left) || datum_is_null_constant(right);
    bool all_null = null_constant || left->array->type.id == TYPE_NULL || right->array->type.id == TYPE_NULL;
    if (all_null && !is_distinct_operator(operation))
        return kernel_all_null(&boolean, rows, out);
    _cleanup_(array_unref) struct array *result = NULL;
    TRY(kernel_new_result(&boolean, rows, &result));
    if (!all_null) {
        _cleanup_(comparison_reset) struct comparison comparison = {0};
        TRY(prepare(&comparison, is_distinct_operator(operation) ? COMPARE_EQ : operation, left, right, rows));
        if (selection_is_dense(selection, rows))
            compare_all(&comparison, rows, result->values->data);
        else
            compare_selected(&comparison, selection, result->values->data);
    }
    if (is_distinct_operator(operation))
        TRY(settle_distinct(result, operation, left, right, selection));
    else
        TRY(kernel_unite_validity(result, (struct datum[]){*left, *right}, 2));
    *out = TAKE(result);
    return NULL;
}

static kith_error *select_sparse(const struct comparison *comparison, const struct datum *left,
                                 const struct datum *right, const struct selection *selection, struct selection **out)
{
    _cleanup_(selection_unref) struct selection *result = NULL;
    TRY(selection_new(selection->count, &result));
    uint8_t bytes[CHUNK_ROWS];
    for (size_t first = 0; first < selection->count; first += CHUNK_ROWS) {
        size_t count = MIN(selection->count - first, (size_t)CHUNK_ROWS);
        const uint32_t *rows = selection->rows + first;
        comparison->loop(comparison->relation, &comparison->left, &comparison->right, rows, 0, count, bytes);
        for (size_t k = 0; k < count; k++)
            if (bytes[k] != comparison->inverted && !datum_is_null(left, rows[k]) && !datum_is_null(right, rows[k]))
                result->rows[result->count++] = rows[k];
    }
    *out = TAKE(result);
    return NULL;
}

kith_error *compare_select(enum compare_operator operation, const struct datum *left, const struct datum *right,
                           size_t rows, const struct selection *selection, struct selection **out)
{
    bool null_constant = datum_is_null_constant(left) || datum_is_null_constant(right);
    if (!is_distinct_operator(operation) && null_constant)
        return selection_new(0, out);
    if (selection_is_dense(selection, rows) || is_distinct_operator(operation)) {
        _cleanup_(array_unref) struct array *booleans = NULL;
        TRY(compare_run(operation, left, right, rows, selection, &booleans));
        struct datum datum = datum_of(booleans);
        return selection_narrow(&datum, TRUTH_IS_TRUE, rows, selection, out);
    }
    _cleanup_(comparison_reset) struct comparison comparison = {0};
    TRY(prepare(&comparison, operation, left, right, rows));
    return select_sparse(&comparison, left, right, selection, out);
}
