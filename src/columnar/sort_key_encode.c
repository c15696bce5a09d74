/*
 * Sort keys of whole columns: each column in turn writes its part of every key. When all columns are of fixed width,
 * keys lie at a stride; otherwise the length of every key is summed up first and each key has a cursor.
 */
#include "columnar/sort_key.h"

#include "base/alloc.h"
#include "columnar/sort_key_column.h"

/* Defines write_<name>: every row's byte KEY_VALID and value; NULL rows are overwritten afterwards. The usual case, all
 * rows at a stride, has a loop without conditions. */
#define DEFINE_WRITER(name, type, bits)                                                                   \
    static void write_##name(const struct key_column *column, const struct key_target *target)            \
    {                                                                                                     \
        const type *values = (const type *)array_values(column->array);                                   \
        const uint##bits##_t mask = column->order.descending ? UINT##bits##_MAX : 0;                      \
        if (column->rows == NULL && target->cursors == NULL) {                                            \
            uint8_t *out = target->bytes;                                                                 \
            for (size_t i = 0; i < column->count; i++, out += target->stride) {                           \
                *out = KEY_VALID;                                                                         \
                key_store##bits(out + 1, (uint##bits##_t)(key_of_##name(values[i]) ^ mask));              \
            }                                                                                             \
            return;                                                                                       \
        }                                                                                                 \
        for (size_t i = 0; i < column->count; i++) {                                                      \
            uint8_t *out = key_place(target, i);                                                          \
            *out = KEY_VALID;                                                                             \
            key_store##bits(out + 1, (uint##bits##_t)(key_of_##name(values[key_row(column, i)]) ^ mask)); \
        }                                                                                                 \
    }

DEFINE_WRITER(int8, int8_t, 8)
DEFINE_WRITER(int16, int16_t, 16)
DEFINE_WRITER(int32, int32_t, 32)
DEFINE_WRITER(int64, int64_t, 64)
DEFINE_WRITER(uint8, uint8_t, 8)
DEFINE_WRITER(uint16, uint16_t, 16)
DEFINE_WRITER(uint32, uint32_t, 32)
DEFINE_WRITER(uint64, uint64_t, 64)
DEFINE_WRITER(float16, uint16_t, 16)
DEFINE_WRITER(float32, float, 32)
DEFINE_WRITER(float64, double, 64)

static void write_decimal128(const struct key_column *column, const struct key_target *target)
{
    const uint64_t *halves = (const uint64_t *)array_values(column->array);
    const uint64_t mask = column->order.descending ? UINT64_MAX : 0;
    for (size_t i = 0; i < column->count; i++) {
        const uint64_t *value = halves + 2 * key_row(column, i);
        uint8_t *out = key_place(target, i);
        *out = KEY_VALID;
        key_store64(out + 1, key_of_int64((int64_t)value[1]) ^ mask);
        key_store64(out + 9, value[0] ^ mask);
    }
}

static void write_bool(const struct key_column *column, const struct key_target *target)
{
    const struct array *array = column->array;
    const uint8_t mask = column->order.descending ? 0xff : 0;
    for (size_t i = 0; i < column->count; i++) {
        uint8_t *out = key_place(target, i);
        out[0] = KEY_VALID;
        out[1] = (uint8_t)(bitmap_get(array->values->data, array->offset + key_row(column, i)) ^ mask);
    }
}

static void write_fixed_binary(const struct key_column *column, const struct key_target *target)
{
    size_t width = type_width(&column->array->type);
    const uint8_t *values = (const uint8_t *)array_values(column->array);
    for (size_t i = 0; i < column->count; i++) {
        uint8_t *out = key_place(target, i);
        *out = KEY_VALID;
        key_copy(out + 1, values + key_row(column, i) * width, width, column->order.descending);
    }
}

/* After the NULL byte the key is zeros, so that it does not depend on what a NULL row holds. */
static void write_null(const struct key_column *column, uint8_t *out, size_t width)
{
    out[0] = key_null_byte(column);
    memset(out + 1, 0, width - 1);
}

/* All rows: 64 at a time, so that the usual word without NULLs costs one comparison. */
static void write_nulls_of_all(const struct key_column *column, const struct key_target *target, size_t width)
{
    const struct array *array = column->array;
    for (size_t start = 0; start < column->count; start += 64) {
        size_t count = MIN(column->count - start, (size_t)64);
        uint64_t valid = 0;
        bitmap_copy((uint8_t *)&valid, 0, array->validity->data, array->offset + start, count);
        for (uint64_t null = ~valid & UINT64_MAX >> (64 - count); null != 0; null &= null - 1)
            write_null(column, key_place(target, start + (size_t)__builtin_ctzll(null)), width);
    }
}

static void write_nulls(const struct key_column *column, const struct key_target *target, size_t width)
{
    const struct array *array = column->array;
    if (array->type.id != TYPE_NULL && (array->validity == NULL || array->null_count == 0))
        return;
    if (array->type.id != TYPE_NULL && column->rows == NULL) {
        write_nulls_of_all(column, target, width);
        return;
    }
    for (size_t i = 0; i < column->count; i++)
        if (array_is_null_itself(array, key_row(column, i)))
            write_null(column, key_place(target, i), width);
}

typedef void writer_function(const struct key_column *column, const struct key_target *target);

static void write_nothing(const struct key_column *column, const struct key_target *target)
{
}

/* The writer of a fixed-width type: by id, otherwise as the integer that holds the value. */
static writer_function *writer_of(const struct data_type *type)
{
    static writer_function *const writers[TYPE_COUNT] = {
        [TYPE_NULL] = write_nothing,
        [TYPE_BOOL] = write_bool,
        [TYPE_INT8] = write_int8,
        [TYPE_INT16] = write_int16,
        [TYPE_INT32] = write_int32,
        [TYPE_INT64] = write_int64,
        [TYPE_UINT8] = write_uint8,
        [TYPE_UINT16] = write_uint16,
        [TYPE_UINT32] = write_uint32,
        [TYPE_UINT64] = write_uint64,
        [TYPE_FLOAT16] = write_float16,
        [TYPE_FLOAT32] = write_float32,
        [TYPE_FLOAT64] = write_float64,
        [TYPE_DECIMAL128] = write_decimal128,
        [TYPE_FIXED_SIZE_BINARY] = write_fixed_binary,
    };
    if (writers[type->id] != NULL)
        return writers[type->id];
    return type_width(type) == 4 ? write_int32 : write_int64;
}

static void write_plain(const struct key_column *column, const struct key_target *target, size_t width)
{
    if (column->count == 0)
        return;
    writer_function *write = writer_of(&column->array->type);
    write(column, target);
    write_nulls(column, target, width);
}

/* The rows of a dictionary array without the dictionary. */
static kith_error *decode_rows(const struct key_column *column, struct array **out)
{
    _cleanup_free_ uint32_t *all = NULL;
    const uint32_t *rows = column->rows;
    if (rows == NULL) {
        TRY(alloc_resize(&all, column->count, sizeof *all));
        for (size_t i = 0; i < column->count; i++)
            all[i] = (uint32_t)i;
        rows = all;
    }
    _cleanup_(array_unref) struct array *taken = NULL;
    TRY(array_take(column->array, rows, column->count, &taken));
    return array_decode_dictionary(taken, out);
}

/* Each value of the dictionary is encoded once and its key copied to the rows that have it, unless there are more
 * values than rows. */
static kith_error *write_dictionary(const struct key_column *column, const struct key_target *target, size_t width)
{
    const struct array *array = column->array;
    size_t values = array->dictionary->length;
    if (values > column->count) {
        _cleanup_(array_unref) struct array *decoded = NULL;
        TRY(decode_rows(column, &decoded));
        write_plain(&(struct key_column){.array = decoded, .count = column->count, .order = column->order}, target,
                    width);
        return NULL;
    }
    _cleanup_free_ uint8_t *keys = NULL;
    size_t bytes;
    if (__builtin_mul_overflow(values, width, &bytes))
        return error_out_of_memory();
    TRY(alloc_resize(&keys, bytes, 1));
    write_plain(&(struct key_column){.array = array->dictionary, .count = values, .order = column->order},
                &(struct key_target){.bytes = keys, .stride = width}, width);
    for (size_t i = 0; i < column->count; i++) {
        size_t row = key_row(column, i);
        uint8_t *out = key_place(target, i);
        if (array_is_null_itself(array, row))
            write_null(column, out, width);
        else
            memcpy(out, keys + array_dictionary_index(array, row) * width, width);
    }
    return NULL;
}

static kith_error *write_column(const struct key_column *column, const struct key_target *target)
{
    size_t width = sort_key_fixed_width(&column->array->type, 1);
    if (width == 0) {
        key_strings_write(column, target);
        return NULL;
    }
    if (column->array->dictionary != NULL)
        TRY(write_dictionary(column, target, width));
    else
        write_plain(column, target, width);
    for (size_t i = 0; target->cursors != NULL && i < column->count; i++)
        target->cursors[i] += width;
    return NULL;
}

/* Room for `count` keys of `bytes` in all. */
static kith_error *reserve(struct sort_keys *keys, size_t count, size_t bytes)
{
    if (bytes > keys->capacity) {
        size_t capacity = MAX(bytes, keys->capacity + keys->capacity / 2);
        TRY(alloc_resize(&keys->bytes, capacity, 1));
        keys->capacity = capacity;
    }
    if (count + 1 > keys->starts_capacity) {
        TRY(alloc_resize(&keys->starts, count + 1, sizeof *keys->starts));
        keys->starts_capacity = count + 1;
    }
    keys->count = count;
    return NULL;
}

static struct key_column column_of(const struct array *array, struct sort_order order, size_t rows,
                                   const struct selection *selection)
{
    return (struct key_column){.array = array,
                               .rows = selection == NULL ? NULL : selection->rows,
                               .count = selection == NULL ? rows : selection->count,
                               .order = order};
}

static kith_error *encode_fixed(struct sort_keys *keys, struct array *const *columns, const struct sort_order *orders,
                                size_t column_count, size_t rows, const struct selection *selection)
{
    size_t count = selection == NULL ? rows : selection->count, stride = 0, bytes;
    for (size_t c = 0; c < column_count; c++)
        stride += sort_key_fixed_width(&columns[c]->type, 1);
    if (__builtin_mul_overflow(count, stride, &bytes))
        return error_out_of_memory();
    TRY(reserve(keys, count, MAX(bytes, (size_t)1)));
    if (keys->stride != stride || keys->spread < count) {
        for (size_t i = 0; i <= count; i++)
            keys->starts[i] = i * stride;
        keys->stride = stride;
        keys->spread = count;
    }
    size_t offset = 0;
    for (size_t c = 0; c < column_count; c++) {
        struct key_column column = column_of(columns[c], orders[c], rows, selection);
        TRY(write_column(&column, &(struct key_target){.bytes = keys->bytes + offset, .stride = stride}));
        offset += sort_key_fixed_width(&columns[c]->type, 1);
    }
    return NULL;
}

/* starts[i + 1] holds first the length of key i, then its start as the cursor of its writers, and so in the end its
 * end. */
static kith_error *encode_variable(struct sort_keys *keys, struct array *const *columns,
                                   const struct sort_order *orders, size_t column_count, size_t rows,
                                   const struct selection *selection)
{
    size_t count = selection == NULL ? rows : selection->count;
    TRY(reserve(keys, count, 1));
    keys->spread = 0;
    size_t *lengths = keys->starts + 1;
    memset(lengths, 0, count * sizeof *lengths);
    size_t fixed = 0;
    for (size_t c = 0; c < column_count; c++) {
        size_t width = sort_key_fixed_width(&columns[c]->type, 1);
        struct key_column column = column_of(columns[c], orders[c], rows, selection);
        fixed += width;
        if (width == 0)
            key_strings_measure(&column, lengths);
    }
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = lengths[i] + fixed;
        lengths[i] = end;
        if (__builtin_add_overflow(end, length, &end))
            return error_out_of_memory();
    }
    keys->starts[0] = 0;
    TRY(reserve(keys, count, end));
    struct key_target target = {.bytes = keys->bytes, .cursors = keys->starts + 1};
    for (size_t c = 0; c < column_count; c++) {
        struct key_column column = column_of(columns[c], orders[c], rows, selection);
        TRY(write_column(&column, &target));
    }
    return NULL;
}

kith_error *sort_keys_encode(struct sort_keys *keys, struct array *const *columns, const struct sort_order *orders,
                             size_t column_count, size_t rows, const struct selection *selection)
{
    keys->count = 0;
    bool fixed = true;
    for (size_t c = 0; c < column_count; c++) {
        TRY(sort_key_check_type(&columns[c]->type));
        fixed &= sort_key_fixed_width(&columns[c]->type, 1) != 0;
    }
    return fixed ? encode_fixed(keys, columns, orders, column_count, rows, selection)
                 : encode_variable(keys, columns, orders, column_count, rows, selection);
}

void sort_keys_reset(struct sort_keys *keys)
{
    free(keys->bytes);
    free(keys->starts);
    *keys = (struct sort_keys){0};
}
