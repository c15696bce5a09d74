#include "compute/filter.h"

/* Appends the numbers of the set bits of one word. A full word is common (a filter that removes little) and so is an
 * empty one; between them, the cost is by set bits. */
static uint32_t *append_word(uint32_t *out, uint64_t word, uint32_t first)
{
    if (word == UINT64_MAX) {
        for (uint32_t i = 0; i < 64; i++)
            out[i] = first + i;
        return out + 64;
    }
    while (word != 0) {
        *out++ = first + (uint32_t)__builtin_ctzll(word);
        word &= word - 1;
    }
    return out;
}

static size_t rows_of_bits(const uint8_t *bits, size_t rows, uint32_t *out)
{
    uint32_t *end = out;
    size_t row = 0;
    for (; row + 64 <= rows; row += 64) {
        uint64_t word;
        memcpy(&word, bits + row / 8, sizeof word);
        end = append_word(end, word, (uint32_t)row);
    }
    for (; row < rows; row++)
        if (bitmap_get(bits, row))
            *end++ = (uint32_t)row;
    return (size_t)(end - out);
}

kith_error *selection_from_bits(const uint8_t *bits, size_t rows, const struct selection *selection,
                                struct selection **out)
{
    _cleanup_(selection_unref) struct selection *result = NULL;
    size_t capacity = selection != NULL ? selection->count : bitmap_count(bits, 0, rows);
    TRY(selection_new(capacity, &result));
    if (selection == NULL) {
        result->count = rows_of_bits(bits, rows, result->rows);
    } else {
        /* The last write of a row that fails lands on the next free place, which exists while k < count. */
        size_t count = 0;
        for (size_t k = 0; k < selection->count; k++) {
            uint32_t row = selection->rows[k];
            result->rows[count] = row;
            count += bitmap_get(bits, row);
        }
        result->count = count;
    }
    *out = TAKE(result);
    return NULL;
}

static kith_error *all_or_none(bool all, size_t rows, const struct selection *selection, struct selection **out)
{
    if (!all)
        return selection_new(0, out);
    if (selection == NULL)
        return selection_all(rows, out);
    _cleanup_(selection_unref) struct selection *copy = NULL;
    TRY(selection_new(selection->count, &copy));
    copy->count = selection->count;
    memcpy(copy->rows, selection->rows, selection->count * sizeof copy->rows[0]);
    *out = TAKE(copy);
    return NULL;
}

static bool passes(enum truth_test test, bool null, bool value)
{
    switch (test) {
    case TRUTH_IS_TRUE:
        return !null && value;
    case TRUTH_IS_NOT_TRUE:
        return null || !value;
    case TRUTH_IS_NOT_FALSE:
        return null || value;
    }
    UNREACHABLE();
}

/* value, validity -> bits of rows that pass; whole bytes, the last one's spare bits unspecified. */
static void test_bits(uint8_t *bits, const uint8_t *validity, enum truth_test test, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        uint8_t valid = validity != NULL ? validity[i] : 0xFF;
        uint8_t is_true = bits[i] & valid;
        switch (test) {
        case TRUTH_IS_TRUE:
            bits[i] = is_true;
            break;
        case TRUTH_IS_NOT_TRUE:
            bits[i] = (uint8_t)~is_true;
            break;
        case TRUTH_IS_NOT_FALSE:
            bits[i] = (uint8_t)(is_true | (uint8_t)~valid);
            break;
        }
    }
}

kith_error *selection_narrow(const struct datum *booleans, enum truth_test test, size_t rows,
                             const struct selection *selection, struct selection **out)
{
    const struct array *array = booleans->array;
    if (booleans->constant) {
        bool null = array_is_null(array, 0);
        bool value = !null && bitmap_get(array->values->data, array->offset);
        return all_or_none(passes(test, null, value), rows, selection, out);
    }
    if (array->type.id == TYPE_NULL)
        return all_or_none(passes(test, true, false), rows, selection, out);
    if (test == TRUTH_IS_TRUE && array->validity == NULL && array->offset == 0)
        return selection_from_bits(array->values->data, rows, selection, out);
    size_t bytes = bitmap_bytes(rows);
    _cleanup_(buffer_unref) struct buffer *bits = NULL, *validity = NULL;
    TRY(buffer_new_zeroed(bytes, &bits));
    bitmap_copy(bits->data, 0, array->values->data, array->offset, rows);
    if (array->validity != NULL) {
        TRY(buffer_new_zeroed(bytes, &validity));
        bitmap_copy(validity->data, 0, array->validity->data, array->offset, rows);
    }
    test_bits(bits->data, validity != NULL ? validity->data : NULL, test, bytes);
    return selection_from_bits(bits->data, rows, selection, out);
}

kith_error *selection_subtract(const struct selection *selection, size_t rows, const struct selection *other,
                               struct selection **out)
{
    _cleanup_(selection_unref) struct selection *result = NULL;
    size_t count = selected_count(selection, rows);
    ASSERT(other->count <= count);
    TRY(selection_new(count - other->count, &result));
    size_t removed = 0;
    for (size_t k = 0; k < count; k++) {
        uint32_t row = (uint32_t)selected_row(selection, k);
        if (removed < other->count && other->rows[removed] == row)
            removed++;
        else
            result->rows[result->count++] = row;
    }
    *out = TAKE(result);
    return NULL;
}

kith_error *selection_unite(const struct selection *a, const struct selection *b, struct selection **out)
{
    _cleanup_(selection_unref) struct selection *result = NULL;
    TRY(selection_new(a->count + b->count, &result));
    size_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        bool from_a = j == b->count || (i < a->count && a->rows[i] < b->rows[j]);
        result->rows[result->count++] = from_a ? a->rows[i++] : b->rows[j++];
    }
    *out = TAKE(result);
    return NULL;
}

kith_error *selection_all(size_t rows, struct selection **out)
{
    TRY(selection_new(rows, out));
    for (size_t row = 0; row < rows; row++)
        (*out)->rows[row] = (uint32_t)row;
    (*out)->count = rows;
    return NULL;
}
