/*
 * Rows that a Top-K still needs, copied out of the batches they came in, so that no big batch is kept alive for a few
 * rows. A row has a number that holds until the next compaction. Belongs to one fiber.
 */
#ifndef KITH_EXEC_ROW_STORE_H
#define KITH_EXEC_ROW_STORE_H

#include "columnar/batch.h"

struct row_store {
    struct schema *schema; /* borrowed */
    struct batch **batches;
    size_t batch_count, batch_capacity;
    size_t row_count;    /* stored, in use or not */
    size_t memory_bytes; /* of the batches */
};

void row_store_init(struct row_store *store, struct schema *schema);
void row_store_reset(struct row_store *store);
DEFINE_VALUE_CLEANUP(row_store_reset, struct row_store)

/* Copies the given rows of the batch (numbers in its columns); they get the numbers from row_count on, in order. */
kith_error *row_store_append(struct row_store *store, struct batch *batch, const uint32_t *rows,
                             size_t count) _must_check_;

/* Keeps a whole batch without copying it; it has no selection. */
kith_error *row_store_keep(struct row_store *store, struct batch *take_batch) _must_check_;

/* Makes one batch of all: worth it before gathering many times. */
kith_error *row_store_merge(struct row_store *store) _must_check_;

/* The given rows in the given order as one batch; the store is left as it is. Copies all batches together first when
 * they are several. */
kith_error *row_store_gather(const struct row_store *store, const uint64_t *rows, size_t count,
                             struct batch **out) _must_check_;

/* Keeps only the given rows; the i-th gets number i. */
kith_error *row_store_compact(struct row_store *store, const uint64_t *rows, size_t count) _must_check_;

#endif
