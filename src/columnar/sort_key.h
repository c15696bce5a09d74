/*
 * Sort keys: rows encoded so that memcmp gives ORDER BY's order. This is the one place where order is decided: NULL
 * placement, direction, NaN (the largest value, equal to itself), signed zero (equal), strings bytewise. Top-K, sort,
 * merge, bounds and pruning all compare through it.
 *
 * A key is a sequence of columns. Each column starts with a byte that places NULL before or after every value; then,
 * for fixed-width types, the value big-endian with the sign bit flipped (floats: IEEE bits, negative ones
 * complemented); for strings, 0x00 bytes escaped as 00 FF and a terminator 00 00. Descending inverts the value bytes,
 * not the NULL byte. So two keys of the same columns compare by memcmp over the shorter length, and no key is a prefix
 * of another. The row format of Arrow's Rust implementation orders the same way but encodes otherwise; keys never leave
 * Kith.
 */
#ifndef KITH_COLUMNAR_SORT_KEY_H
#define KITH_COLUMNAR_SORT_KEY_H

#include "columnar/array.h"
#include "columnar/batch.h"
#include "columnar/scalar.h"

struct sort_order {
    bool descending;
    bool nulls_first;
};

/* NOT_IMPLEMENTED with the type's name for what cannot be ordered (nested types). */
kith_error *sort_key_check_type(const struct data_type *type) _must_check_;

/* Bytes that every key of the columns has, when all are fixed-width; 0 when any is a string. */
size_t sort_key_fixed_width(const struct data_type *types, size_t count);

/* Keys of many rows, one after another; reused from batch to batch. Zero-initialised is empty. */
struct sort_keys {
    uint8_t *bytes;
    size_t capacity;
    size_t *starts; /* count + 1 */
    size_t starts_capacity;
    size_t count;
    size_t stride, spread; /* the first spread + 1 starts are multiples of the stride already; else spread = 0 */
};

/* Encodes the selected rows (all when `selection` is NULL) of `columns`; key i belongs to the i-th selected row. */
kith_error *sort_keys_encode(struct sort_keys *keys, struct array *const *columns, const struct sort_order *orders,
                             size_t column_count, size_t rows, const struct selection *selection) _must_check_;
void sort_keys_reset(struct sort_keys *keys);
DEFINE_VALUE_CLEANUP(sort_keys_reset, struct sort_keys)

static inline struct str sort_keys_get(const struct sort_keys *keys, size_t i)
{
    return (struct str){(const char *)keys->bytes + keys->starts[i], keys->starts[i + 1] - keys->starts[i]};
}

/* The key of one row of scalars, appended. */
kith_error *sort_key_encode_scalars(const struct scalar *values, const struct sort_order *orders, size_t count,
                                    struct strbuf *out) _must_check_;

/* Order of two scalars (NULL included) of the same type under `order`. The same as comparing their keys. */
int sort_order_compare(const struct scalar *a, const struct scalar *b, struct sort_order order);

#endif
