/*
 * Arrays: one column's values in Arrow's memory layout. Immutable and reference-counted once built; slices
 * share buffers.
 *
 * Layout by type (element i of the array is at `offset + i`):
 *   fixed width      values = data
 *   bool             values = bits
 *   utf8, binary     offsets = int32 (int64 for LARGE_), data
 *   view types       values = 16-byte views, variadic data buffers
 *   dictionary       values = indices (type.index), `dictionary` = array of the values without encoding
 *   null             no buffers
 *   list, map        offsets = int32 into children[0]
 *   struct           children, whose element offset + i belongs to row i
 * A validity bitmap of NULL means no nulls. Values and offsets are aligned to 8 bytes: whoever brings memory from
 * outside copies what is not. What a null row holds is arbitrary, but safe to read: indices are in range, views refer
 * to bytes that exist.
 */
#ifndef KITH_COLUMNAR_ARRAY_H
#define KITH_COLUMNAR_ARRAY_H

#include "base/limits.h"
#include "base/strbuf.h"
#include "columnar/bitmap.h"
#include "columnar/buffer.h"
#include "columnar/type.h"

struct array {
    struct refcount refs;
    struct data_type type;
    size_t length;
    size_t offset;
    ptrdiff_t null_count;     /* zeros in `validity`, -1 = not counted; read with array_null_count */
    struct buffer *validity;  /* bit offset + i; NULL = all valid */
    struct buffer *values;    /* fixed width, bits, views or dictionary indices */
    struct buffer *offsets;   /* utf8 and binary, list, map */
    struct buffer *data;      /* utf8 and binary */
    struct buffer **variadic; /* view types: `variadic_count` data buffers */
    size_t variadic_count;
    struct array *dictionary;
    struct array **children; /* nested types */
    size_t child_count;
};

/* Arrow's 16-byte string view: up to 12 bytes inline, longer ones by prefix, buffer number and offset. */
struct string_view {
    int32_t length;
    union {
        char inlined[12];
        struct {
            char prefix[4];
            int32_t buffer;
            int32_t offset;
        } reference;
    };
};
_Static_assert(sizeof(struct string_view) == 16, "Arrow's layout");

/* The view of a string that lies at `offset` of data buffer `buffer` (both of no matter for up to 12 bytes). */
static inline struct string_view string_view_make(struct str string, int32_t buffer, int32_t offset)
{
    struct string_view view = {.length = (int32_t)string.length};
    if (string.length <= sizeof view.inlined) {
        if (string.length > 0)
            memcpy(view.inlined, string.data, string.length);
    } else {
        memcpy(view.reference.prefix, string.data, sizeof view.reference.prefix);
        view.reference.buffer = buffer;
        view.reference.offset = offset;
    }
    return view;
}

/* An array with no buffers yet, for whoever fills it before sharing it. */
kith_error *array_new(const struct data_type *type, size_t length, struct array **out) _must_check_;
/* `length` nulls of any type. */
kith_error *array_new_null(const struct data_type *type, size_t length, struct array **out) _must_check_;
struct array *array_ref(struct array *array);
void array_unref(struct array *array);
DEFINE_CLEANUP(array_unref, struct array)

/* Arrays, each with a reference of its own, in memory that the list owns. */
struct array_list {
    struct array **items;
    size_t count;
};
void array_list_reset(struct array_list *list);
DEFINE_VALUE_CLEANUP(array_list_reset, struct array_list)

/* Shares buffers; offset and length are within the array. */
kith_error *array_slice(struct array *array, size_t offset, size_t length, struct array **out) _must_check_;

/* The rows at `rows`, in that order, copied (dictionaries and view data are shared). */
kith_error *array_take(const struct array *array, const uint32_t *rows, size_t count, struct array **out) _must_check_;

/* `indices` into `values`, of type Dictionary(indices' type, values' type); takes references. The caller vouches that
 * the indices of valid rows are in range. */
kith_error *array_new_dictionary(struct array *indices, struct array *values, struct array **out) _must_check_;

/* The same values without dictionary encoding; a reference to the array itself when it has none. */
kith_error *array_decode_dictionary(struct array *array, struct array **out) _must_check_;

/* All arrays have `type`, but some may be dictionary-encoded where it is not: those are decoded. The dictionaries of a
 * dictionary type are shared when they are one object, otherwise appended to each other; LIMIT when the index type
 * cannot number them or 32-bit offsets overflow. `count` may be 0. */
kith_error *array_concatenate(const struct data_type *type, struct array *const *arrays, size_t count,
                              struct array **out) _must_check_;

/* NULLs among the rows; of a dictionary array also those whose index points at a null value. */
size_t array_null_count(const struct array *array);

/* Bytes of the buffers that this array keeps alive, whole buffers, shared ones counted each time. */
size_t array_memory_bytes(const struct array *array);

/* Index of row i in the dictionary; of a dictionary array only. */
size_t array_dictionary_index(const struct array *array, size_t i);

/* NULL by its own bitmap; a valid row may still point at a null value of its dictionary. */
static inline bool array_is_null_itself(const struct array *array, size_t i)
{
    return array->validity != NULL ? !bitmap_get(array->validity->data, array->offset + i)
                                   : array->type.id == TYPE_NULL;
}

static inline bool array_is_null(const struct array *array, size_t i)
{
    if (array_is_null_itself(array, i))
        return true;
    return array->dictionary != NULL && array_is_null_itself(array->dictionary, array_dictionary_index(array, i));
}

/* First element of a fixed-width array, offset applied. */
static inline const void *array_values(const struct array *array)
{
    return array->values->data + array->offset * type_width(&array->type);
}

/* Row i of a string or binary array of any layout, dictionary followed; borrowed; undefined for a null row. */
struct str array_string(const struct array *array, size_t i);

/* Full check of an array from outside: buffer sizes and alignment, NULLs counted, offsets ascending and in range, view
 * references, dictionary indices in range, UTF-8. What NULL rows hold is not looked at. CORRUPT with the first fault.
 */
kith_error *array_validate(const struct array *array) _must_check_;
/* The same for a dictionary array whose dictionary is known to be valid, which many batches share: its indices only. */
kith_error *array_validate_indices(const struct array *array) _must_check_;

/* Makes what NULL rows hold safe to read, as arrays of Kith promise, in a dictionary or view array from outside: zeros,
 * in a copy of the values where needed, and a value for the indices to point at. */
kith_error *array_repair_nulls(struct array *unshared) _must_check_;

#endif
