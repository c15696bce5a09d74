/*
 * SortPreservingMergeExec: one order of many sorted partitions. A partition is pulled by a fiber of its own; here a
 * tree of losers (Knuth, The Art of Computer Programming, volume 3, 5.4.1) picks the next row in log2(partitions)
 * comparisons of sort keys. Of equal keys the lower partition's row goes first.
 */
#include "exec/operators.h"
#include "exec/row_store.h"
#include "exec/sort_keys_eval.h"

enum { NO_PIECE = -1 };

struct merge_input {
    struct partition_pump *pump;
    struct batch *batch; /* compact; NULL at the end */
    struct sort_keys keys;
    size_t row; /* next of the batch */
    /* The run of rows of `batch` that is in the output being made, if any. */
    ptrdiff_t piece;
    size_t piece_start;
};

/* A row of the output being made: row `row` of piece `piece`. */
struct picked_row {
    uint32_t piece;
    uint32_t row;
};

struct merge_stream {
    struct stream stream;
    struct exec_operator *node;
    struct sort_evaluators evaluators;
    size_t count;
    struct merge_input *inputs;
    size_t *losers;   /* [0] is the winner; [1..count-1] the loser of each match */
    uint64_t to_give; /* rows still wanted; UINT64_MAX = all */
    bool started;
    VEC(struct batch *) pieces;
    VEC(struct picked_row) picked;
};

static kith_error *advance_batch(struct merge_stream *merge, struct merge_input *input)
{
    do {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        batch_unref(TAKE(input->batch));
        TRY(partition_pump_next(input->pump, merge->node, &batch));
        if (batch == NULL)
            return NULL;
        TRY(batch_compact(batch, &input->batch));
    } while (input->batch->rows == 0);
    input->row = 0;
    input->piece = NO_PIECE;
    return sort_evaluators_encode(&merge->evaluators, input->batch, &input->keys);
}

/* Whether input `a`'s next row goes before input `b`'s. An input at its end goes last. */
static bool goes_first(const struct merge_stream *merge, size_t a, size_t b)
{
    const struct merge_input *x = &merge->inputs[a], *y = &merge->inputs[b];
    if (x->batch == NULL || y->batch == NULL)
        return y->batch == NULL && (x->batch != NULL || a < b);
    int order = str_compare(sort_keys_get(&x->keys, x->row), sort_keys_get(&y->keys, y->row));
    return order != 0 ? order < 0 : a < b;
}

/* Replays the matches from leaf `input` to the root. */
static void replay(struct merge_stream *merge, size_t input)
{
    size_t winner = input;
    for (size_t node = (input + merge->count) / 2; node > 0; node /= 2) {
        if (goes_first(merge, merge->losers[node], winner)) {
            size_t loser = winner;
            winner = merge->losers[node];
            merge->losers[node] = loser;
        }
    }
    merge->losers[0] = winner;
}

/* Winner of the subtree at `node`, of a tree whose leaves are count..2*count-1. Depth is log2(count). */
static size_t play(struct merge_stream *merge, size_t node)
{
    if (node >= merge->count)
        return node - merge->count;
    size_t left = play(merge, 2 * node), right = play(merge, 2 * node + 1);
    bool left_wins = goes_first(merge, left, right);
    merge->losers[node] = left_wins ? right : left;
    return left_wins ? left : right;
}

static kith_error *start(struct merge_stream *merge)
{
    struct exec_operator *input = merge->node->inputs[0];
    for (size_t i = 0; i < merge->count; i++)
        TRY(partition_pump_new(input, i, 1, &merge->inputs[i].pump));
    for (size_t i = 0; i < merge->count; i++)
        TRY(advance_batch(merge, &merge->inputs[i]));
    merge->losers[0] = merge->count == 1 ? 0 : play(merge, 1);
    merge->started = true;
    return NULL;
}

/* The run of rows picked from an input's batch becomes a piece of the output, by reference. */
static kith_error *end_piece(struct merge_stream *merge, struct merge_input *input)
{
    if (input->batch == NULL || input->piece == NO_PIECE)
        return NULL;
    TRY(batch_slice(input->batch, input->piece_start, input->row - input->piece_start,
                    &merge->pieces.items[input->piece]));
    input->piece = NO_PIECE;
    return NULL;
}

static kith_error *pick(struct merge_stream *merge, struct merge_input *input)
{
    if (input->piece == NO_PIECE) {
        input->piece = (ptrdiff_t)merge->pieces.length;
        input->piece_start = input->row;
        TRY(vec_push(&merge->pieces, (struct batch *)NULL));
    }
    struct picked_row row = {(uint32_t)input->piece, (uint32_t)(input->row - input->piece_start)};
    TRY(vec_push(&merge->picked, row));
    return ++input->row < input->batch->rows ? NULL : end_piece(merge, input);
}

static bool is_used_up(const struct merge_input *input)
{
    return input->batch != NULL && input->row == input->batch->rows;
}

static kith_error *pick_rows(struct merge_stream *merge, size_t wanted)
{
    while (merge->picked.length < wanted) {
        size_t winner = merge->losers[0];
        struct merge_input *input = &merge->inputs[winner];
        /* The next batch is waited for only when another row is wanted. */
        if (is_used_up(input))
            TRY(advance_batch(merge, input));
        else if (input->batch == NULL)
            break;
        else
            TRY(pick(merge, input));
        if (!is_used_up(input))
            replay(merge, winner);
    }
    for (size_t i = 0; i < merge->count; i++)
        TRY(end_piece(merge, &merge->inputs[i]));
    return NULL;
}

/* Pieces one after another in a row store, whose rows are then taken in the order picked. */
static kith_error *gather(struct merge_stream *merge, struct batch **out)
{
    _cleanup_(row_store_reset) struct row_store store;
    _cleanup_free_ uint64_t *starts = NULL;
    _cleanup_free_ uint64_t *rows = NULL;
    row_store_init(&store, merge->stream.schema);
    if (merge->pieces.length == 1) {
        *out = batch_ref(merge->pieces.items[0]);
        return NULL;
    }
    TRY(NEW_ARRAY(&starts, merge->pieces.length));
    TRY(NEW_ARRAY(&rows, merge->picked.length));
    for (size_t i = 0; i < merge->pieces.length; i++) {
        starts[i] = store.row_count;
        TRY(row_store_keep(&store, batch_ref(merge->pieces.items[i])));
    }
    for (size_t i = 0; i < merge->picked.length; i++)
        rows[i] = starts[merge->picked.items[i].piece] + merge->picked.items[i].row;
    return row_store_gather(&store, rows, merge->picked.length, out);
}

static void drop_pieces(struct merge_stream *merge)
{
    for (size_t i = 0; i < merge->pieces.length; i++)
        batch_unref(merge->pieces.items[i]);
    merge->pieces.length = 0;
    merge->picked.length = 0;
}

static kith_error *make_batch(struct merge_stream *merge, struct batch **out)
{
    size_t wanted = (size_t)settings_get(&merge->node->context->settings, SETTING_BATCH_SIZE);
    _cleanup_(batch_unref) struct batch *batch = NULL;
    TRY(pick_rows(merge, (size_t)MIN((uint64_t)wanted, merge->to_give)));
    if (merge->picked.length == 0)
        return NULL;
    TRY(gather(merge, &batch));
    operator_count(merge->node, batch);
    *out = TAKE(batch);
    return NULL;
}

/* What waits for nobody any more: with a fetch the partitions below are stopped as soon as enough rows were given. */
static void stop_inputs(struct merge_stream *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        partition_pump_free(TAKE(merge->inputs[i].pump));
        batch_unref(TAKE(merge->inputs[i].batch));
    }
}

static kith_error *merge_next(struct stream *stream, struct batch **out)
{
    struct merge_stream *merge = CONTAINER_OF(stream, struct merge_stream, stream);
    if (merge->to_give == 0)
        return NULL;
    if (!merge->started)
        TRY(start(merge));
    kith_error *error = make_batch(merge, out);
    drop_pieces(merge);
    if (error == NULL && *out != NULL && merge->to_give != UINT64_MAX)
        merge->to_give -= batch_row_count(*out);
    if (error != NULL || *out == NULL)
        merge->to_give = 0;
    if (merge->to_give == 0)
        stop_inputs(merge);
    return error;
}

static void merge_free(struct stream *stream)
{
    struct merge_stream *merge = CONTAINER_OF(stream, struct merge_stream, stream);
    if (merge->inputs != NULL)
        stop_inputs(merge);
    for (size_t i = 0; merge->inputs != NULL && i < merge->count; i++)
        sort_keys_reset(&merge->inputs[i].keys);
    drop_pieces(merge);
    vec_reset(&merge->pieces);
    vec_reset(&merge->picked);
    sort_evaluators_reset(&merge->evaluators);
    free(merge->inputs);
    free(merge->losers);
    free(merge);
}

static const struct stream_ops merge_stream_ops = {.next = merge_next, .free = merge_free, .hands_out = true};

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    const struct physical_plan *plan = node->plan;
    struct merge_stream *merge;
    TRY(NEW(&merge));
    merge->stream = operator_stream(node, &merge_stream_ops);
    merge->node = node;
    merge->count = plan->inputs[0]->partitions;
    merge->to_give = plan->sort.fetch < 0 ? UINT64_MAX : (uint64_t)plan->sort.fetch;
    _cleanup_(stream_free) struct stream *made = &merge->stream;
    TRY(NEW_ARRAY(&merge->inputs, merge->count));
    TRY(NEW_ARRAY(&merge->losers, merge->count));
    TRY(sort_evaluators_init(&merge->evaluators, plan->sort.exprs, plan->sort.count));
    *out = TAKE(made);
    return NULL;
}

static void free_merge(struct exec_operator *node)
{
    free(node);
}

static const struct operator_ops ops = {.execute = execute, .free = free_merge};

kith_error *merge_operator_new(struct exec_operator **out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
