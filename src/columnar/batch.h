/*
 * Batches: equal-length arrays under a schema, with an optional selection of the rows that are still alive.
 * Immutable and reference-counted. A filter makes a new batch that shares the columns and narrows the selection;
 * a slice costs one allocation and one reference. Row numbers count from the batch's first row.
 *
 * `rows` is the length of the columns; what a consumer sees is batch_row_count, the selected rows.
 */
#ifndef KITH_COLUMNAR_BATCH_H
#define KITH_COLUMNAR_BATCH_H

#include "columnar/array.h"
#include "columnar/schema.h"

/* Ascending row numbers, without repeats. */
struct selection {
    struct refcount refs;
    size_t count;
    uint32_t rows[];
};

kith_error *selection_new(size_t capacity, struct selection **out) _must_check_; /* count = 0, to be filled */
struct selection *selection_ref(struct selection *selection);
void selection_unref(struct selection *selection);
DEFINE_CLEANUP(selection_unref, struct selection)

struct batch {
    struct refcount refs;
    struct schema *schema;
    size_t rows;
    struct selection *selection; /* NULL = all rows */
    struct batch *parent;        /* a slice keeps its parent instead of its own references to columns */
    size_t offset;               /* of a slice, in the columns */
    struct array **columns;      /* schema->field_count of them; the parent's in a slice */
};

/* Takes references on schema and columns. A column may be dictionary-encoded where its field is plain: encoding is a
 * matter of each batch, so that a scan can keep what a file has encoded; whoever hands batches to others decodes.
 * Columns may be none: a batch of `rows` rows without columns. */
kith_error *batch_new(struct schema *schema, struct array *const *columns, size_t rows,
                      struct batch **out) _must_check_;

/* The same columns with another selection (a reference is taken; NULL = all rows). */
kith_error *batch_select(struct batch *batch, struct selection *selection, struct batch **out) _must_check_;

/* `length` of the *selected* rows from the `offset`-th selected one. */
kith_error *batch_slice(struct batch *batch, size_t offset, size_t length, struct batch **out) _must_check_;

/* The given columns under `schema`, which has as many fields; the selection is kept. */
kith_error *batch_project(struct batch *batch, struct schema *schema, const size_t *columns,
                          struct batch **out) _must_check_;

/* Column i with offset and length of the batch applied, selection not: a new reference. */
kith_error *batch_column(const struct batch *batch, size_t i, struct array **out) _must_check_;

/* The same rows without selection and offset: the batch itself (a reference) when there is nothing to do. */
kith_error *batch_compact(struct batch *batch, struct batch **out) _must_check_;

/* All rows of all batches in one; `count` may be 0. */
kith_error *batch_concatenate(struct schema *schema, struct batch *const *batches, size_t count,
                              struct batch **out) _must_check_;

static inline size_t batch_row_count(const struct batch *batch)
{
    return batch->selection != NULL ? batch->selection->count : batch->rows;
}

size_t batch_memory_bytes(const struct batch *batch);
struct batch *batch_ref(struct batch *batch);
void batch_unref(struct batch *batch);
DEFINE_CLEANUP(batch_unref, struct batch)

#endif
