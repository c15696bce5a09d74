/*
 * A sort of all rows of a partition, in memory: batches are kept, their keys encoded, and row numbers sorted by key.
 * Rows of equal keys keep the order they came in. All that takes long gives way to other fibers and ends
 * when the query is cancelled.
 */
#include "exec/operators.h"
#include "exec/row_store.h"
#include "exec/sort_keys_eval.h"
#include "runtime/fiber.h"
#include "runtime/free_in_turns.h"
#include "runtime/sort_in_turns.h"

#include <endian.h>

struct sort_row {
    uint64_t prefix; /* first bytes of the key */
    uint64_t number; /* order of arrival, and place in the store */
    size_t key_start;
    uint32_t key_length;
};

struct full_sort_stream {
    struct stream stream;
    struct exec_operator *node;
    struct stream *input;
    struct sort_evaluators evaluators;
    struct sort_keys keys;
    struct row_store rows;
    struct strbuf key_bytes; /* keys of all rows, one after another */
    VEC(struct sort_row) order;
    struct sort_row *merged; /* scratch of as many rows, while there are several runs */
    struct reservation reservation;
    bool finished;
    size_t emitted;
};

static kith_error *add_keys(struct full_sort_stream *sort)
{
    TRY(vec_reserve(&sort->order, sort->keys.count));
    for (size_t i = 0; i < sort->keys.count; i++) {
        struct str key = sort_keys_get(&sort->keys, i);
        uint64_t prefix = 0;
        if (key.length > UINT32_MAX)
            return error_new(KITH_ERROR_LIMIT, "a sort key of %zu bytes is too long", key.length);
        memcpy(&prefix, key.data, MIN(key.length, sizeof prefix));
        sort->order.items[sort->order.length] = (struct sort_row){.prefix = be64toh(prefix),
                                                                  .number = sort->order.length,
                                                                  .key_start = sort->key_bytes.length,
                                                                  .key_length = (uint32_t)key.length};
        sort->order.length++;
        TRY(strbuf_append(&sort->key_bytes, key.data, key.length));
    }
    return NULL;
}

static kith_error *consume_input(struct full_sort_stream *sort)
{
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        _cleanup_(batch_unref) struct batch *compact = NULL;
        TRY(stream_next(sort->input, &batch));
        if (batch == NULL)
            return NULL;
        int64_t start = operator_now(sort->node);
        TRY(batch_compact(batch, &compact));
        TRY(sort_evaluators_encode(&sort->evaluators, compact, &sort->keys));
        TRY(add_keys(sort));
        TRY(row_store_keep(&sort->rows, batch_ref(compact)));
        TRY(reservation_resize(&sort->reservation, sort->rows.memory_bytes + sort->key_bytes.capacity +
                                                       sort->order.capacity * sizeof *sort->order.items));
        operator_charge_time(sort->node, start);
    }
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct sort_row *x = a, *y = b;
    const char *keys = context;
    if (x->prefix != y->prefix)
        return x->prefix < y->prefix ? -1 : 1;
    int order =
        str_compare((struct str){keys + x->key_start, x->key_length}, (struct str){keys + y->key_start, y->key_length});
    return order != 0 ? order : x->number < y->number ? -1 : x->number > y->number;
}

static kith_error *reserve_merged(struct full_sort_stream *sort)
{
    TRY(reservation_resize(&sort->reservation,
                           sort->reservation.bytes + sort->order.length * sizeof *sort->order.items));
    return NEW_ARRAY(&sort->merged, sort->order.length);
}

static kith_error *sort_rows(struct full_sort_stream *sort)
{
    size_t count = sort->order.length;
    bool in_merged;
    const struct sort_in_turns by_key = {.size = sizeof *sort->order.items,
                                         .compare = compare_rows,
                                         .context = sort->key_bytes.data,
                                         .cancel = sort->node->context->cancel};
    if (count > SORT_RUN)
        TRY(reserve_merged(sort));
    TRY(sort_in_turns(&by_key, sort->order.items, sort->merged, count, &in_merged));
    if (in_merged) {
        struct sort_row *rows = sort->order.items;
        sort->order.items = sort->merged;
        sort->order.capacity = count;
        sort->merged = rows;
    }
    if (sort->merged == NULL)
        return NULL;
    free_in_turns(TAKE(sort->merged));
    return reservation_resize(&sort->reservation, sort->reservation.bytes - count * sizeof *sort->order.items);
}

static kith_error *sort_next(struct stream *stream, struct batch **out)
{
    struct full_sort_stream *sort = CONTAINER_OF(stream, struct full_sort_stream, stream);
    if (!sort->finished) {
        TRY(consume_input(sort));
        int64_t start = operator_now(sort->node);
        TRY(sort_rows(sort));
        TRY(row_store_merge(&sort->rows));
        operator_charge_time(sort->node, start);
        sort->finished = true;
    }
    size_t count = MIN(sort->order.length - sort->emitted,
                       (size_t)settings_get(&sort->node->context->settings, SETTING_BATCH_SIZE));
    if (count == 0)
        return NULL;
    _cleanup_free_ uint64_t *rows = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    TRY(NEW_ARRAY(&rows, count));
    for (size_t i = 0; i < count; i++)
        rows[i] = sort->order.items[sort->emitted + i].number;
    TRY(row_store_gather(&sort->rows, rows, count, &batch));
    operator_count(sort->node, batch);
    sort->emitted += count;
    *out = TAKE(batch);
    return NULL;
}

static void sort_free(struct stream *stream)
{
    struct full_sort_stream *sort = CONTAINER_OF(stream, struct full_sort_stream, stream);
    stream_free(sort->input);
    sort_evaluators_reset(&sort->evaluators);
    sort_keys_reset(&sort->keys);
    row_store_reset(&sort->rows);
    free_in_turns(TAKE(sort->key_bytes.data));
    free_in_turns(TAKE(sort->order.items));
    free_in_turns(sort->merged);
    reservation_release(&sort->reservation);
    free(sort);
}

static const struct stream_ops sort_stream_ops = {.next = sort_next, .free = sort_free, .hands_out = true};

kith_error *full_sort_stream_new(struct exec_operator *node, struct stream *take_input, struct stream **out)
{
    _cleanup_(stream_free) struct stream *input = take_input;
    struct full_sort_stream *sort;
    TRY(NEW(&sort));
    sort->stream = operator_stream(node, &sort_stream_ops);
    sort->node = node;
    sort->input = TAKE(input);
    sort->reservation = reservation_make(node->context->pool, "sort");
    row_store_init(&sort->rows, node->plan->schema);
    _cleanup_(stream_free) struct stream *made = &sort->stream;
    TRY(sort_evaluators_init(&sort->evaluators, node->plan->sort.exprs, node->plan->sort.count));
    *out = TAKE(made);
    return NULL;
}
