/*
 * What the writers of sort keys work on: one column of the rows to encode, and where its part of each key goes. Private
 * to the files that write the keys of columns.
 */
#ifndef KITH_COLUMNAR_SORT_KEY_COLUMN_H
#define KITH_COLUMNAR_SORT_KEY_COLUMN_H

#include "columnar/sort_key.h"
#include "columnar/sort_key_value.h"

/* One column of the rows to encode. */
struct key_column {
    const struct array *array;
    const uint32_t *rows; /* of the array; NULL = the first `count` */
    size_t count;
    struct sort_order order;
};

/* Where the column's part of each key goes. */
struct key_target {
    uint8_t *bytes;
    size_t stride;
    size_t *cursors; /* NULL: key i at bytes + i * stride; otherwise at bytes + cursors[i] */
};

static inline size_t key_row(const struct key_column *column, size_t i)
{
    return column->rows == NULL ? i : column->rows[i];
}

static inline uint8_t *key_place(const struct key_target *target, size_t i)
{
    return target->bytes + (target->cursors == NULL ? i * target->stride : target->cursors[i]);
}

static inline uint8_t key_null_byte(const struct key_column *column)
{
    return column->order.nulls_first ? KEY_NULL_FIRST : KEY_NULL_LAST;
}

/* Inverts when descending. */
static inline void key_copy(uint8_t *out, const uint8_t *bytes, size_t length, bool descending)
{
    if (!descending) {
        memcpy(out, bytes, length);
        return;
    }
    for (size_t i = 0; i < length; i++)
        out[i] = (uint8_t)~bytes[i];
}

/* Strings of any layout, dictionary-encoded or not. Adds to lengths[i] what the column takes in key i. */
void key_strings_measure(const struct key_column *column, size_t *lengths);
/* Moves the cursors on. */
void key_strings_write(const struct key_column *column, const struct key_target *target);

#endif
