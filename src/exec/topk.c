/*
 * SortExec with a fetch: the best K rows of a partition, in order. All partitions of a task share one dynamic filter;
 * each publishes its K-th key there, and some keys before that for what several hold together, and skips rows that are
 * no better than the strongest bound known.
 */
#include "base/limits.h"
#include "exec/operators.h"
#include "exec/row_store.h"
#include "exec/sort_keys_eval.h"
#include "exec/topk_ranks.h"
#include "runtime/fiber.h"

struct topk_stream {
    struct stream stream;
    struct exec_operator *node;
    struct stream *input;
    struct sort_evaluators evaluators;
    struct sort_keys keys;
    struct sort_keys filter_keys;
    struct topk_heap heap;
    struct row_store rows;
    uint32_t *entered; /* rows of the batch at hand that went into the heap */
    size_t entered_capacity;
    struct dynamic_filter *filter; /* borrowed from the context; NULL = none */
    struct bound *bound;           /* strongest known to this stream; NULL = none */
    uint64_t generation;           /* of the filter when `bound` was taken from it */
    size_t holder;                 /* its number among the Top-Ks that have the filter */
    uint64_t unranked;             /* rows that entered since the ranks were told */
    uint64_t ranked;               /* rows of the last of those */
    struct reservation reservation;
    /* Once the input has ended: the rows of the result, in order, of which the first `emitted` were handed out. */
    uint64_t *result;
    size_t result_count, emitted;
    bool finished;
};

/* The strongest bound of all partitions and siblings, looked at again for each batch. */
static void refresh_bound(struct topk_stream *topk)
{
    if (topk->filter == NULL || dynamic_filter_generation(topk->filter) == topk->generation)
        return;
    enum bound_origin origin;
    topk->generation = dynamic_filter_generation(topk->filter);
    bound_unref(topk->bound);
    topk->bound = dynamic_filter_bound(topk->filter, &origin);
}

/* The sort expressions of a row held. */
static kith_error *row_bound(struct topk_stream *topk, const struct topk_entry *entry, struct bound **out)
{
    struct row_store *rows = &topk->rows;
    size_t row = (size_t)entry->row, i = 0;
    while (row >= rows->batches[i]->rows)
        row -= rows->batches[i++]->rows;
    return sort_evaluators_bound(&topk->evaluators, rows->batches[i], row, out);
}

/* Builds the bound from the worst row held and tells the others. */
static kith_error *publish_bound(struct topk_stream *topk)
{
    const struct topk_entry *worst = topk_heap_worst(&topk->heap);
    struct str key = {(const char *)worst->key, worst->key_length};
    if (topk->bound != NULL && !bound_is_beaten_by(topk->bound, key))
        return NULL;

    _cleanup_(bound_unref) struct bound *bound = NULL;
    TRY(row_bound(topk, worst, &bound));
    bool stronger = true;
    if (topk->filter != NULL)
        dynamic_filter_offer(topk->filter, BOUND_LOCAL, bound, &stronger);
    if (stronger) {
        bound_unref(topk->bound);
        topk->bound = TAKE(bound);
    }
    return NULL;
}

/* Tells what is held that is of use together with what others hold. Very long texts are not told. */
static kith_error *publish_ranks(struct topk_stream *topk)
{
    struct topk_rank ranks[LIMIT_BOUND_RANKS];
    struct bound_rank list[LIMIT_BOUND_RANKS];
    kith_error *error = NULL;
    size_t made = 0;
    refresh_bound(topk);
    _cleanup_(bound_unref) struct bound *floor = dynamic_filter_ranks_floor(topk->filter);
    size_t count = topk_ranks(&topk->heap, topk->bound, floor, ranks);
    topk->unranked = 0;
    topk->ranked = count == 0 ? 0 : ranks[count - 1].rows;
    if (topk->ranked < dynamic_filter_least_rank(topk->filter))
        return NULL;
    for (size_t i = 0; i < count && error == NULL; i++) {
        if (ranks[i].entry->key_length > LIMIT_BOUND_BYTES)
            continue;
        list[made].rows = ranks[i].rows;
        error = row_bound(topk, ranks[i].entry, &list[made].bound);
        made += error == NULL;
    }
    if (error == NULL)
        dynamic_filter_offer_ranks(topk->filter, topk->holder, list, made);
    while (made > 0)
        bound_unref(list[--made].bound);
    return error;
}

/* Once a quarter of them are new. `best` is the best key among these. */
static bool ranks_are_news(const struct topk_stream *topk, struct str best)
{
    return topk->filter != NULL && topk->unranked * 4 >= MAX(topk->ranked, (uint64_t)4) &&
           dynamic_filter_wants_rank(topk->filter, best);
}

/* *best is the best key that has entered. */
static kith_error *offer_rows(struct topk_stream *topk, struct batch *batch, size_t *entered, struct str *best)
{
    size_t rows = batch_row_count(batch);
    if (rows > topk->entered_capacity) {
        TRY(alloc_resize(&topk->entered, rows, sizeof *topk->entered));
        topk->entered_capacity = rows;
    }
    *entered = 0;
    for (size_t i = 0; i < rows; i++) {
        bool enters;
        struct str key = sort_keys_get(&topk->keys, i);
        uint64_t number = topk->rows.row_count + *entered;
        TRY(topk_heap_offer(&topk->heap, key, number, &enters));
        if (!enters)
            continue;
        if (*entered == 0 || str_compare(key, *best) < 0)
            *best = key;
        topk->entered[(*entered)++] = batch->selection == NULL ? (uint32_t)i : batch->selection->rows[i];
    }
    return NULL;
}

/* Rows that were pushed out of the heap stay in the store until they outnumber those in it. */
static kith_error *compact_rows(struct topk_stream *topk)
{
    enum { ROWS_NOT_WORTH_IT = 4096 };
    if (topk->rows.row_count <= 2 * topk->heap.count + ROWS_NOT_WORTH_IT)
        return NULL;
    _cleanup_free_ uint64_t *rows = NULL;
    TRY(NEW_ARRAY(&rows, topk->heap.count));
    for (size_t i = 0; i < topk->heap.count; i++)
        rows[i] = topk->heap.entries[i].row;
    TRY(row_store_compact(&topk->rows, rows, topk->heap.count));
    for (size_t i = 0; i < topk->heap.count; i++)
        topk->heap.entries[i].row = i;
    return NULL;
}

static kith_error *account(struct topk_stream *topk)
{
    return reservation_resize(&topk->reservation, topk_heap_memory_bytes(&topk->heap) + topk->rows.memory_bytes);
}

static kith_error *insert_batch(struct topk_stream *topk, struct batch *batch)
{
    _cleanup_(batch_unref) struct batch *candidates = NULL;
    size_t entered;
    struct str best;
    refresh_bound(topk);
    if (topk->bound == NULL)
        candidates = batch_ref(batch);
    else
        TRY(sort_evaluators_filter(&topk->evaluators, topk->bound, batch, &topk->filter_keys, &candidates));
    if (batch_row_count(candidates) == 0)
        return NULL;
    TRY(sort_evaluators_encode(&topk->evaluators, candidates, &topk->keys));
    TRY(offer_rows(topk, candidates, &entered, &best));
    if (entered == 0)
        return NULL;
    metric_add(topk->node->metrics, METRIC_ROW_REPLACEMENTS, entered);
    TRY(row_store_append(&topk->rows, candidates, topk->entered, entered));
    if (topk_heap_is_full(&topk->heap))
        TRY(publish_bound(topk));
    topk->unranked += entered;
    if (ranks_are_news(topk, best))
        TRY(publish_ranks(topk));
    TRY(compact_rows(topk));
    return account(topk);
}

/* Nothing more will enter, however little it was. */
static kith_error *publish_last_ranks(struct topk_stream *topk)
{
    if (topk->filter == NULL || topk->unranked == 0 || topk->heap.count == 0)
        return NULL;
    const struct topk_entry *best = topk_heap_best(&topk->heap);
    struct str key = {(const char *)best->key, best->key_length};
    return dynamic_filter_wants_rank(topk->filter, key) ? publish_ranks(topk) : NULL;
}

static kith_error *consume_input(struct topk_stream *topk)
{
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(stream_next(topk->input, &batch));
        if (batch == NULL)
            return publish_last_ranks(topk);
        int64_t start = operator_now(topk->node);
        TRY(insert_batch(topk, batch));
        operator_charge_time(topk->node, start);
    }
}

/* How many of the first `count` sorted rows are not worse than the slot's bound. Those that equal it stay: they may be
 * among the rows that prove it. */
static size_t count_wanted(const struct topk_stream *topk, size_t count, enum bound_origin origin)
{
    _cleanup_(bound_unref) struct bound *bound = dynamic_filter_slot(topk->filter, origin);
    const struct topk_entry *entries = topk->heap.entries;
    while (bound != NULL && count > 0 &&
           bound_is_ahead_of(bound, (struct str){(const char *)entries[count - 1].key, entries[count - 1].key_length}))
        count--;
    return count;
}

/* Rows that entered before others had found better ones need go no further. */
static size_t drop_unwanted(const struct topk_stream *topk)
{
    size_t held = topk->heap.count;
    if (topk->filter == NULL)
        return held;
    size_t wanted = MIN(count_wanted(topk, held, BOUND_PLANNED), count_wanted(topk, held, BOUND_LOCAL));
    size_t remote = count_wanted(topk, wanted, BOUND_REMOTE);
    metric_add(topk->node->metrics, METRIC_ROWS_PRUNED_LOCAL, held - wanted);
    metric_add(topk->node->metrics, METRIC_ROWS_PRUNED_REMOTE, wanted - remote);
    return remote;
}

static kith_error *build_result(struct topk_stream *topk)
{
    TRY(NEW_ARRAY(&topk->result, topk->heap.count));
    TRY(topk_heap_sort(&topk->heap, topk->node->context->cancel));
    topk->result_count = drop_unwanted(topk);
    for (size_t i = 0; i < topk->result_count; i++)
        topk->result[i] = topk->heap.entries[i].row;
    return row_store_merge(&topk->rows);
}

static kith_error *give_rows(struct topk_stream *topk, struct batch **out)
{
    size_t count = MIN(topk->result_count - topk->emitted,
                       (size_t)settings_get(&topk->node->context->settings, SETTING_BATCH_SIZE));
    if (count == 0)
        return NULL;
    TRY(row_store_gather(&topk->rows, topk->result + topk->emitted, count, out));
    operator_count(topk->node, *out);
    topk->emitted += count;
    return NULL;
}

static kith_error *topk_next(struct stream *stream, struct batch **out)
{
    struct topk_stream *topk = CONTAINER_OF(stream, struct topk_stream, stream);
    if (!topk->finished) {
        if (topk->heap.limit > 0)
            TRY(consume_input(topk));
        TRY(build_result(topk));
        topk->finished = true;
    }
    return give_rows(topk, out);
}

static void topk_free(struct stream *stream)
{
    struct topk_stream *topk = CONTAINER_OF(stream, struct topk_stream, stream);
    stream_free(topk->input);
    sort_evaluators_reset(&topk->evaluators);
    sort_keys_reset(&topk->keys);
    sort_keys_reset(&topk->filter_keys);
    topk_heap_reset(&topk->heap);
    row_store_reset(&topk->rows);
    free(topk->entered);
    bound_unref(topk->bound);
    free(topk->result);
    reservation_release(&topk->reservation);
    free(topk);
}

static const struct stream_ops topk_stream_ops = {.next = topk_next, .free = topk_free, .hands_out = true};

kith_error *topk_stream_new(struct exec_operator *node, struct stream *take_input, struct stream **out)
{
    _cleanup_(stream_free) struct stream *input = take_input;
    const struct physical_plan *plan = node->plan;
    struct topk_stream *topk;
    if (plan->sort.fetch > LIMIT_TOPK_ROWS)
        return error_new(KITH_ERROR_LIMIT,
                         "ORDER BY … LIMIT keeps at most %d rows in memory (limit TOPK_ROWS), not %lld",
                         LIMIT_TOPK_ROWS, (long long)plan->sort.fetch);
    TRY(NEW(&topk));
    topk->stream = operator_stream(node, &topk_stream_ops);
    topk->node = node;
    topk->input = TAKE(input);
    topk->reservation = reservation_make(node->context->pool, "Top-K");
    topk->filter = task_context_filter(node->context, plan->sort.filter_id);
    if (topk->filter != NULL)
        topk->holder = dynamic_filter_add_holder(topk->filter);
    topk_heap_init(&topk->heap, (size_t)plan->sort.fetch);
    row_store_init(&topk->rows, plan->schema);
    _cleanup_(stream_free) struct stream *made = &topk->stream;
    TRY(sort_evaluators_init(&topk->evaluators, plan->sort.exprs, plan->sort.count));
    *out = TAKE(made);
    return NULL;
}
