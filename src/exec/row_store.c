#include "exec/row_store.h"

#include "base/vec.h"
#include "runtime/coop.h"

void row_store_init(struct row_store *store, struct schema *schema)
{
    *store = (struct row_store){.schema = schema};
}

static void drop_batches(struct row_store *store)
{
    for (size_t i = 0; i < store->batch_count; i++) {
        batch_unref(store->batches[i]);
        coop_give_way(1);
    }
    store->batch_count = 0;
    store->row_count = 0;
    store->memory_bytes = 0;
}

void row_store_reset(struct row_store *store)
{
    drop_batches(store);
    free(store->batches);
    store->batches = NULL;
    store->batch_capacity = 0;
}

kith_error *row_store_keep(struct row_store *store, struct batch *take_batch)
{
    _cleanup_(batch_unref) struct batch *batch = take_batch;
    if (store->batch_count == store->batch_capacity)
        TRY(vec_grow(&store->batches, &store->batch_capacity, store->batch_count + 1, sizeof *store->batches));
    store->row_count += batch->rows;
    store->memory_bytes += batch_memory_bytes(batch);
    store->batches[store->batch_count++] = TAKE(batch);
    return NULL;
}

kith_error *row_store_append(struct row_store *store, struct batch *batch, const uint32_t *rows, size_t count)
{
    _cleanup_(selection_unref) struct selection *selection = NULL;
    _cleanup_(batch_unref) struct batch *selected = NULL;
    struct batch *copied = NULL;
    if (count == 0)
        return NULL;
    if (count == batch->rows) {
        TRY(batch_compact(batch, &copied));
        return row_store_keep(store, copied);
    }
    TRY(selection_new(count, &selection));
    memcpy(selection->rows, rows, count * sizeof *rows);
    selection->count = count;
    TRY(batch_select(batch, selection, &selected));
    TRY(batch_compact(selected, &copied));
    return row_store_keep(store, copied);
}

static kith_error *all_rows(const struct row_store *store, struct batch **out)
{
    if (store->batch_count == 1) {
        *out = batch_ref(store->batches[0]);
        return NULL;
    }
    return batch_concatenate(store->schema, store->batches, store->batch_count, out);
}

kith_error *row_store_merge(struct row_store *store)
{
    struct batch *all = NULL;
    if (store->row_count > UINT32_MAX)
        return error_new(KITH_ERROR_LIMIT, "a sort in memory takes at most %u rows, not %zu", UINT32_MAX,
                         store->row_count);
    TRY(all_rows(store, &all));
    drop_batches(store);
    return row_store_keep(store, all);
}

static kith_error *gather(const struct batch *all, const uint64_t *rows, size_t count, struct batch **out)
{
    _cleanup_free_ uint32_t *order = NULL;
    _cleanup_(array_list_reset) struct array_list columns = {0};
    TRY(NEW_ARRAY(&order, count));
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)rows[i];

    TRY(NEW_ARRAY(&columns.items, all->schema->field_count));
    for (; columns.count < all->schema->field_count; columns.count++)
        TRY(array_take(all->columns[columns.count], order, count, &columns.items[columns.count]));
    return batch_new(all->schema, columns.items, count, out);
}

kith_error *row_store_gather(const struct row_store *store, const uint64_t *rows, size_t count, struct batch **out)
{
    _cleanup_(batch_unref) struct batch *all = NULL;
    TRY(all_rows(store, &all));
    return gather(all, rows, count, out);
}

kith_error *row_store_compact(struct row_store *store, const uint64_t *rows, size_t count)
{
    enum { ROWS_AT_ONCE = 16384 };
    _cleanup_(row_store_reset) struct row_store kept;
    _cleanup_(batch_unref) struct batch *all = NULL;
    row_store_init(&kept, store->schema);
    TRY(all_rows(store, &all));
    for (size_t start = 0; start < count; start += ROWS_AT_ONCE) {
        struct batch *piece = NULL;
        TRY(gather(all, rows + start, MIN(count - start, (size_t)ROWS_AT_ONCE), &piece));
        TRY(row_store_keep(&kept, piece));
        TRY(coop_charge(1));
    }
    row_store_reset(store);
    *store = kept;
    row_store_init(&kept, store->schema);
    return NULL;
}
