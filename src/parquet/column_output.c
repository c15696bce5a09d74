#include "parquet/column_output.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "columnar/gather.h"
#include "columnar/utf8.h"
#include "parquet/spread.h"
#include "runtime/coop.h"

enum { STRING_STEP = 32, OVERRUN = 64 }; /* bytes copied at once; that may be written past the strings */

static kith_error *new_values(struct column_output *output)
{
    size_t size;
    if (output->kind == CONVERT_BITS)
        return buffer_new_zeroed(bitmap_bytes(output->capacity), &output->values);
    if (__builtin_mul_overflow(output->capacity, output->width, &size) || size > LIMIT_STRING_BATCH_BYTES)
        return error_new(KITH_ERROR_LIMIT, "%zu rows of %zu bytes each: above the limit STRING_BATCH_BYTES",
                         output->capacity, output->width);
    return buffer_new(size, &output->values);
}

static kith_error *new_offsets(struct column_output *output)
{
    TRY(buffer_new((output->capacity + 1) * sizeof(int32_t), &output->offsets));
    memset(output->offsets->data, 0, sizeof(int32_t));
    return NULL;
}

static kith_error *reserve_data(struct column_output *output, size_t more)
{
    size_t needed = output->data_length + more;
    if (needed > LIMIT_STRING_BATCH_BYTES)
        return error_new(KITH_ERROR_LIMIT, "strings of %zu bytes in %zu rows: above the limit STRING_BATCH_BYTES",
                         needed, output->capacity);
    if (output->data != NULL && needed <= output->data_capacity)
        return NULL;
    size_t grown = MAX(needed, MIN(output->data_capacity * 2, (size_t)LIMIT_STRING_BATCH_BYTES));
    TRY(alloc_resize(&output->data, grown + OVERRUN, 1));
    output->data_capacity = grown;
    return NULL;
}

kith_error *column_output_init(struct column_output *output, const struct data_type *type,
                               const struct conversion *conversion, size_t capacity, size_t data_hint)
{
    *output = (struct column_output){
        .type = *type, .kind = conversion->kind, .width = conversion->out_width, .capacity = capacity};
    if (conversion->kind == CONVERT_NOTHING)
        return NULL;
    if (conversion->kind != CONVERT_STRINGS)
        return new_values(output);
    return reserve_data(output, data_hint);
}

void column_output_reset(struct column_output *output)
{
    buffer_unref(output->validity);
    buffer_unref(output->values);
    buffer_unref(output->offsets);
    array_unref(output->dictionary);
    free(output->data);
    *output = (struct column_output){0};
}

/* In steps of 32 bytes, the last of which reaches past the end: most strings take one step, and a branch on their exact
 * length, let alone a call of memcpy, would cost more than the bytes. */
static inline kith_error *copy_string(uint8_t *out, const char *in, size_t length)
{
    uint8_t step[STRING_STEP];
    if (_unlikely_(length > COOP_CHUNK_BYTES))
        return coop_copy(out, in, length);
    size_t i = 0;
    do {
        memcpy(step, in + i, sizeof step);
        memcpy(out + i, step, sizeof step);
        i += sizeof step;
    } while (_unlikely_(i < length));
    return NULL;
}

/* The ends of the strings to come. */
static int32_t *next_ends(struct column_output *output)
{
    return (int32_t *)(void *)output->offsets->data + output->rows + output->placed + 1;
}

static bool is_ascii(const uint8_t *bytes, size_t length)
{
    uint8_t high = 0;
    for (size_t i = 0; i < length; i++)
        high |= bytes[i];
    return high < 0x80;
}

/* UTF-8 from the first string to the last and none of them cut within a character: a single pass if all is ASCII and
 * no more than a chunk. */
static kith_error *check_text(struct column_output *output, size_t from, const int32_t *ends, size_t count)
{
    const uint8_t *data = output->data;
    if (output->type.id != TYPE_UTF8)
        return NULL;
    if (output->data_length - from <= COOP_CHUNK_BYTES && is_ascii(data + from, output->data_length - from))
        return NULL;
    for (size_t i = 0, start = from; i < count; start = (size_t)ends[i++]) {
        bool valid;
        TRY(utf8_check(data + start, (size_t)ends[i] - start, &output->uncharged, &valid));
        if (!valid)
            return error_new(KITH_ERROR_CORRUPT, "a string that is not UTF-8");
    }
    return NULL;
}

/* Copies strings of the dictionary behind the others. They were checked when it was loaded. */
static kith_error *copy_from_dictionary(struct column_output *output, const struct array *dictionary,
                                        const uint32_t *indices, size_t count, int32_t *ends)
{
    const int32_t *starts = (const int32_t *)(const void *)dictionary->offsets->data;
    const char *strings = (const char *)dictionary->data->data;
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += (size_t)(starts[indices[i] + 1] - starts[indices[i]]);
    TRY(reserve_data(output, total));
    uint8_t *data = output->data;
    size_t at = output->data_length;
    bool large = total > COOP_CHUNK_BYTES;
    for (size_t i = 0; i < count; i++) {
        size_t start = (size_t)starts[indices[i]], length = (size_t)starts[indices[i] + 1] - start;
        TRY(copy_string(data + at, strings + start, length));
        at += length;
        ends[i] = (int32_t)at;
        if (large)
            TRY(coop_charge_bytes(&output->uncharged, length));
    }
    output->data_length = at;
    return coop_charge_bytes(&output->uncharged, (large ? 0 : total) + count * sizeof *ends);
}

/* Turns the indices so far into the strings that they stand for. */
static kith_error *decode_indices(struct column_output *output)
{
    _cleanup_(buffer_unref) struct buffer *values = TAKE(output->values);
    _cleanup_(array_unref) struct array *dictionary = TAKE(output->dictionary);
    const uint32_t *indices = (const uint32_t *)(const void *)values->data;
    TRY(new_offsets(output));
    int32_t *ends = (int32_t *)(void *)output->offsets->data + 1;
    for (size_t i = 0; i < output->rows + output->placed; i++) {
        if (i < output->rows && output->validity != NULL && !bitmap_get(output->validity->data, i))
            ends[i] = (int32_t)output->data_length;
        else
            TRY(copy_from_dictionary(output, dictionary, indices + i, 1, ends + i));
    }
    return NULL;
}

static kith_error *begin_strings(struct column_output *output)
{
    if (output->values != NULL)
        return decode_indices(output);
    return output->offsets == NULL ? new_offsets(output) : NULL;
}

kith_error *column_output_append_slices(struct column_output *output, const struct str *slices, size_t count)
{
    size_t total = 0;
    TRY(begin_strings(output));
    for (size_t i = 0; i < count; i++)
        total += slices[i].length;
    TRY(reserve_data(output, total));
    int32_t *ends = next_ends(output);
    size_t from = output->data_length, at = from;
    bool large = total > COOP_CHUNK_BYTES;
    for (size_t i = 0; i < count; i++) {
        TRY(copy_string(output->data + at, slices[i].data, slices[i].length));
        at += slices[i].length;
        ends[i] = (int32_t)at;
        if (large)
            TRY(coop_charge_bytes(&output->uncharged, slices[i].length));
    }
    TRY(coop_charge_bytes(&output->uncharged, (large ? 0 : total) + count * sizeof *ends));
    output->data_length = at;
    output->placed += count;
    return check_text(output, from, ends, count);
}

kith_error *column_output_append_indices(struct column_output *output, struct array *dictionary,
                                         const uint32_t *indices, size_t count, bool as_indices)
{
    if (as_indices && output->offsets == NULL) {
        if (output->values == NULL) {
            TRY(buffer_new(output->capacity * sizeof *indices, &output->values));
            output->dictionary = array_ref(dictionary);
        }
        uint8_t *out = output->values->data + (output->rows + output->placed) * sizeof *indices;
        memcpy(out, indices, count * sizeof *indices);
    } else {
        TRY(begin_strings(output));
        TRY(copy_from_dictionary(output, dictionary, indices, count, next_ends(output)));
    }
    output->placed += count;
    return NULL;
}

static kith_error *add_validity(struct column_output *output, const uint8_t *bits, size_t count, bool nulls)
{
    if (output->validity == NULL && nulls) {
        TRY(buffer_new_zeroed(bitmap_bytes(output->capacity), &output->validity));
        bitmap_fill(output->validity->data, 0, output->rows, true);
    }
    if (output->validity == NULL)
        return NULL;
    if (nulls)
        bitmap_copy(output->validity->data, output->rows, bits, 0, count);
    else
        bitmap_fill(output->validity->data, output->rows, count, true);
    return NULL;
}

/* Moves the `present` values of the last lot to the places of the rows that are set in `bits`. */
static kith_error *spread(struct column_output *output, const uint8_t *bits, size_t count, size_t present)
{
    if (output->kind == CONVERT_BITS) {
        spread_bits(output->values->data, output->rows, bits, count, present);
    } else if (output->kind != CONVERT_STRINGS) {
        spread_fixed(column_output_place(output), output->width, bits, count, present);
    } else if (output->values != NULL) {
        spread_fixed(output->values->data + output->rows * sizeof(int32_t), sizeof(int32_t), bits, count, present);
    } else {
        TRY(begin_strings(output)); /* a lot of NULLs may be the first */
        spread_ends((int32_t *)(void *)output->offsets->data + output->rows, bits, count, present);
    }
    return NULL;
}

kith_error *column_output_end_rows(struct column_output *output, const uint8_t *bits, size_t count, size_t present)
{
    bool nulls = present < count;
    if (output->kind != CONVERT_NOTHING) {
        if (nulls)
            TRY(spread(output, bits, count, present));
        TRY(add_validity(output, bits, count, nulls));
    }
    output->null_count += count - present;
    output->rows += count;
    output->placed = 0;
    return NULL;
}

kith_error *column_output_finish(struct column_output *output, struct array **out)
{
    _cleanup_(array_unref) struct array *array = NULL;
    struct data_type type = output->type;
    if (output->dictionary != NULL)
        type.index = TYPE_INT32;
    else if (output->kind == CONVERT_STRINGS)
        TRY(begin_strings(output)); /* no rows at all */
    TRY(array_new(&type, output->rows, &array));
    if (output->dictionary == NULL && output->kind == CONVERT_STRINGS) {
        TRY(buffer_wrap_allocated(output->data, output->data_length, &array->data));
        output->data = NULL;
    }
    array->null_count = (ptrdiff_t)output->null_count;
    array->validity = TAKE(output->validity);
    array->values = TAKE(output->values);
    array->offsets = TAKE(output->offsets);
    array->dictionary = TAKE(output->dictionary);
    column_output_reset(output);
    *out = TAKE(array);
    return NULL;
}
