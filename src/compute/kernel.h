/*
 * What all kernels share. A kernel is a function of whole columns: operands in, one array of `rows` values out. An
 * operand is a datum: an array with a value for each row, or a constant, held as an array of length one that stands for
 * every row and is never spread out. Not all operands of a kernel are constants, unless `rows` is 1.
 *
 * Only the rows of `selection` count (all rows when it is NULL): results at other rows are unspecified, and an error is
 * raised only for a selected row whose operands are not NULL. A kernel may compute other rows as well where that is
 * cheaper. Results start at offset 0. Kernels do not take dictionary-encoded arrays unless they say so.
 *
 * Kernels have no state and may run on any thread.
 */
#ifndef KITH_COMPUTE_KERNEL_H
#define KITH_COMPUTE_KERNEL_H

#include "columnar/array.h"
#include "columnar/batch.h"

struct datum {
    struct array *array;
    bool constant; /* array->length is 1 */
};

/* Drops an owned reference, if there is one. */
static inline void datum_reset(struct datum *datum)
{
    if (datum->array != NULL)
        array_unref(datum->array);
    datum->array = NULL;
}
DEFINE_VALUE_CLEANUP(datum_reset, struct datum)

static inline struct datum datum_of(struct array *array)
{
    return (struct datum){.array = array};
}

static inline size_t datum_row(const struct datum *datum, size_t row)
{
    return datum->constant ? 0 : row;
}

static inline bool datum_is_null(const struct datum *datum, size_t row)
{
    return array_is_null(datum->array, datum_row(datum, row));
}

/* True for a constant NULL: the result of most kernels is then NULL for every row. */
static inline bool datum_is_null_constant(const struct datum *datum)
{
    return datum->constant && array_is_null(datum->array, 0);
}

static inline size_t selected_count(const struct selection *selection, size_t rows)
{
    return selection != NULL ? selection->count : rows;
}

static inline size_t selected_row(const struct selection *selection, size_t k)
{
    return selection != NULL ? selection->rows[k] : k;
}

/* Whether a loop over all rows is expected to be no dearer than one over the selected rows. */
static inline bool selection_is_dense(const struct selection *selection, size_t rows)
{
    return selection == NULL || selection->count >= rows / 4;
}

/* Vector variants are chosen at load time where the compiler has it; sanitizers run before the choice is made. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KERNEL_VARIANTS __attribute__((target_clones("avx2", "default")))
#else
#define KERNEL_VARIANTS
#endif

/* Arrays align values to 8 bytes, which is less than what the compiler takes for granted of 16-byte integers. */
typedef __int128 loose_int128 __attribute__((aligned(8), may_alias));

/* The physical type of a fixed-width type's values; TYPE_INT8..TYPE_UINT64, FLOAT16..FLOAT64, DECIMAL128 (16 bytes) or
 * BOOL; TYPE_NULL for what is none of these (strings, intervals of several fields, nested). */
enum type_id kernel_physical_type(const struct data_type *type);

/* A result of `rows` values and no validity. Values are uninitialised (bits of BOOL are zeroed), for kernels that write
 * all of them; those that skip NULL and unselected rows want zeros there, which later kernels then read harmlessly. */
kith_error *kernel_new_result(const struct data_type *type, size_t rows, struct array **out) _must_check_;
kith_error *kernel_new_zeroed_result(const struct data_type *type, size_t rows, struct array **out) _must_check_;

/* Gives `result` (unshared) the validity of a kernel whose result is NULL where any operand is: the bitmaps of the
 * operands that are not constant, AND-ed; shared with the operand when it is the only one and begins at a byte. */
kith_error *kernel_unite_validity(struct array *result, const struct datum *operands, size_t count) _must_check_;

/* Makes `result`'s validity a bitmap of its own, all ones if it had none, to be changed by the kernel. */
kith_error *kernel_own_validity(struct array *result) _must_check_;

/* One row of `datum` as text for an error message, cut to a readable length. `out` holds `size` bytes; returns it. */
char *kernel_show(const struct datum *datum, size_t row, char *out, size_t size);

/* Stores an integer in a result (offset 0) of any integer or temporal type; false when it does not fit. */
bool kernel_store_integer(struct array *result, size_t row, __int128 value);

/* NULL for every row. */
kith_error *kernel_all_null(const struct data_type *type, size_t rows, struct array **out) _must_check_;

#endif
