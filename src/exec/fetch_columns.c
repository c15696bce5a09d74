/*
 * FetchColumnsExec: reads the columns that a Top-K did without, for the few rows that it has chosen. The scan below has
 * said of each row where it lies (scan.h, places). Row groups are visited in the files' order, several at a time by
 * fibers of their own; pages without a chosen row are not decompressed.
 */
#include "exec/row_store.h"
#include "exec/scan.h"
#include "runtime/sort_in_turns.h"

/* A chosen row: where it lies, and its number in the input. */
struct chosen_row {
    uint64_t place;
    uint32_t number;
};

/* Chosen rows [first, end), of one row group. */
struct fetch_piece {
    size_t first, end;
    size_t file, row_group;
    uint64_t row;           /* the first one's number in the row group */
    struct array **columns; /* fetched ones, in the plan's order */
};

struct fetch_stream {
    struct stream stream;
    struct exec_operator *node;
    struct stream *input;
    struct table *table;       /* borrowed from the scan; NULL before the first pull */
    struct batch *rows;        /* the whole input, compact */
    struct chosen_row *chosen; /* by place */
    size_t fetched_count;      /* columns that come from the files */
    struct fetch_piece *pieces;
    size_t piece_count;
    _Atomic size_t next_piece; /* relaxed: hands out numbers and guards nothing */
    struct reservation reservation;
    struct batch *result;
    size_t emitted;
    bool finished;
};

static struct exec_operator *scan_below(struct exec_operator *node)
{
    while (node->plan->kind != PHYSICAL_PARQUET_SCAN)
        node = node->inputs[0];
    return node;
}

static kith_error *collect_input(struct fetch_stream *fetch)
{
    _cleanup_(row_store_reset) struct row_store store;
    struct exec_operator *node = fetch->node;
    row_store_init(&store, node->inputs[0]->plan->schema);
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        struct batch *compact;
        TRY(stream_next(fetch->input, &batch));
        if (batch == NULL)
            break;
        TRY(batch_compact(batch, &compact));
        TRY(row_store_keep(&store, compact));
        TRY(reservation_resize(&fetch->reservation, store.memory_bytes));
    }
    return batch_concatenate(store.schema, store.batches, store.batch_count, &fetch->rows);
}

/* What is done for each is a few nanoseconds' work. */
enum { ROWS_A_CHARGE = 65536 };

static int compare_places(const void *a, const void *b, void *context)
{
    const struct chosen_row *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

static kith_error *sort_places(struct fetch_stream *fetch)
{
    const struct batch *rows = fetch->rows;
    const struct array *places = rows->columns[rows->schema->field_count - 1];
    const struct sort_in_turns by_place = {
        .size = sizeof *fetch->chosen, .compare = compare_places, .cancel = fetch->node->context->cancel};
    size_t bytes = rows->rows * sizeof *fetch->chosen, scratch_bytes = bytes;
    TRY(reservation_resize(&fetch->reservation, fetch->reservation.bytes + bytes + scratch_bytes));
    TRY(NEW_ARRAY(&fetch->chosen, rows->rows));
    for (size_t i = 0; i < rows->rows; i++) {
        fetch->chosen[i] = (struct chosen_row){((const uint64_t *)array_values(places))[i], (uint32_t)i};
        TRY(coop_charge_every(ROWS_A_CHARGE, i));
    }
    return sort_array_in_turns(&by_place, fetch->chosen, rows->rows);
}

/* The last row group that begins no later than the row, which the file has. */
static size_t find_row_group(const struct parquet_metadata *metadata, uint64_t row)
{
    size_t low = 0, high = metadata->row_group_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (metadata->row_groups[middle].first_row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The chosen row at `first`, and those after it that lie in the same row group; no more than a selection can span. */
static void find_piece(const struct fetch_stream *fetch, size_t first, struct fetch_piece *out)
{
    uint64_t place = fetch->chosen[first].place, row = scan_place_row(place);
    const struct parquet_metadata *metadata = fetch->table->files[scan_place_file(place)].file->metadata;
    *out = (struct fetch_piece){
        .first = first, .file = scan_place_file(place), .row_group = find_row_group(metadata, row)};
    const struct parquet_row_group *row_group = &metadata->row_groups[out->row_group];
    out->row = row - row_group->first_row;
    uint64_t span = MIN((uint64_t)row_group->row_count - out->row, (uint64_t)INT32_MAX);
    size_t low = first, high = fetch->rows->rows;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (fetch->chosen[middle].place - place < span)
            low = middle;
        else
            high = middle;
    }
    out->end = high;
}

static kith_error *find_pieces(struct fetch_stream *fetch)
{
    size_t capacity = 0;
    for (size_t row = 0; row < fetch->rows->rows; row = fetch->pieces[fetch->piece_count - 1].end) {
        if (fetch->piece_count == capacity)
            TRY(vec_grow(&fetch->pieces, &capacity, fetch->piece_count + 1, sizeof *fetch->pieces));
        struct fetch_piece *piece = &fetch->pieces[fetch->piece_count++];
        find_piece(fetch, row, piece);
        TRY(NEW_ARRAY(&piece->columns, fetch->fetched_count));
        TRY(operator_charge(fetch->node, 1));
    }
    return NULL;
}

/* The rows of the piece, counted from its first. */
static kith_error *select_rows(const struct fetch_stream *fetch, const struct fetch_piece *piece,
                               struct selection **out)
{
    TRY(selection_new(piece->end - piece->first, out));
    for (size_t i = piece->first; i < piece->end; i++) {
        (*out)->rows[(*out)->count++] = (uint32_t)(fetch->chosen[i].place - fetch->chosen[piece->first].place);
        TRY(coop_charge_every(ROWS_A_CHARGE, i));
    }
    return NULL;
}

static kith_error *read_column(const struct fetch_stream *fetch, const struct fetch_piece *piece, size_t column,
                               const struct selection *selection, struct parquet_read_metrics *metrics,
                               struct array **out)
{
    const struct table_file *file = &fetch->table->files[piece->file];
    const struct data_type *type = &fetch->table->schema->fields[column].type;
    const struct scan_column_options options = {.may_skip = true, .type = type};
    _cleanup_(scan_column_close) struct scan_column reading = {0};
    if (file->columns[column] < 0)
        return array_new_null(type, selection->count, out);
    TRY(scan_column_open(&reading, file->file, piece->row_group, (size_t)file->columns[column], options,
                         &fetch->node->context->settings, metrics));
    parquet_column_reader_skip(reading.reader, (size_t)piece->row);
    return scan_column_read(&reading, (size_t)selection->rows[selection->count - 1] + 1, selection, out);
}

static kith_error *read_piece(const struct fetch_stream *fetch, struct fetch_piece *piece)
{
    _cleanup_(selection_unref) struct selection *selection = NULL;
    const struct physical_plan *plan = fetch->node->plan;
    struct parquet_read_metrics metrics = {0};
    kith_error *error = NULL;
    size_t fetched = 0;
    TRY(select_rows(fetch, piece, &selection));
    for (size_t i = 0; i < plan->schema->field_count && error == NULL; i++) {
        if (!plan->fetch.columns[i].from_file)
            continue;
        error =
            read_column(fetch, piece, plan->fetch.columns[i].index, selection, &metrics, &piece->columns[fetched++]);
        if (error == NULL)
            error = operator_charge(fetch->node, 1);
    }
    scan_flush_metrics(fetch->node->metrics, &metrics);
    return error;
}

/* Each fiber takes the next piece until there is none. */
static kith_error *read_pieces(void *argument)
{
    struct fetch_stream *fetch = argument;
    for (;;) {
        size_t next = atomic_fetch_add_explicit(&fetch->next_piece, 1, memory_order_relaxed);
        if (next >= fetch->piece_count)
            return NULL;
        TRY(read_piece(fetch, &fetch->pieces[next]));
    }
}

/* As many fibers as the scan has partitions: this one, and others beside it. */
static kith_error *read_all(struct fetch_stream *fetch)
{
    struct exec_operator *node = fetch->node;
    const struct fiber_options options = {.name = "fetch columns"};
    size_t readers = MIN(scan_below(node)->plan->partitions, fetch->piece_count), started = 0;
    _cleanup_free_ struct fiber **fibers = NULL;
    kith_error *error = NEW_ARRAY(&fibers, readers);
    for (; error == NULL && started + 1 < readers; started++)
        error = fiber_spawn(node->context->runtime, &options, read_pieces, fetch, &fibers[started]);
    if (error == NULL)
        error = read_pieces(fetch);
    if (error != NULL) /* nobody begins another piece */
        atomic_store_explicit(&fetch->next_piece, fetch->piece_count, memory_order_relaxed);
    for (size_t i = 0; i < started; i++) {
        kith_error *ended = fiber_join(fibers[i]);
        if (error == NULL)
            error = ended;
        else
            error_free(ended);
    }
    return error;
}

/* One fetched column of all pieces, in the input's order. `order` is of each input row its number by place. */
static kith_error *gather_fetched(const struct fetch_stream *fetch, const struct data_type *type, size_t fetched,
                                  const uint32_t *order, struct array **out)
{
    _cleanup_free_ struct array **parts = NULL;
    _cleanup_(array_unref) struct array *by_place = NULL;
    TRY(NEW_ARRAY(&parts, fetch->piece_count));
    for (size_t i = 0; i < fetch->piece_count; i++)
        parts[i] = fetch->pieces[i].columns[fetched];
    TRY(array_concatenate(type, parts, fetch->piece_count, &by_place));
    return array_take(by_place, order, fetch->rows->rows, out);
}

static kith_error *put_together(struct fetch_stream *fetch, struct array **columns)
{
    const struct physical_plan *plan = fetch->node->plan;
    _cleanup_free_ uint32_t *order = NULL;
    size_t fetched = 0;
    TRY(NEW_ARRAY(&order, fetch->rows->rows));
    for (size_t i = 0; i < fetch->rows->rows; i++) {
        order[fetch->chosen[i].number] = (uint32_t)i;
        TRY(coop_charge_every(ROWS_A_CHARGE, i));
    }
    free(TAKE(fetch->chosen));
    for (size_t i = 0; i < plan->schema->field_count; i++) {
        if (plan->fetch.columns[i].from_file)
            TRY(gather_fetched(fetch, &plan->schema->fields[i].type, fetched++, order, &columns[i]));
        else
            columns[i] = array_ref(fetch->rows->columns[plan->fetch.columns[i].index]);
    }
    return batch_new(plan->schema, columns, fetch->rows->rows, &fetch->result);
}

static kith_error *build_result(struct fetch_stream *fetch)
{
    size_t field_count = fetch->node->plan->schema->field_count;
    _cleanup_free_ struct array **columns = NULL;
    TRY(NEW_ARRAY(&columns, field_count));
    kith_error *error = put_together(fetch, columns);
    for (size_t i = 0; i < field_count; i++)
        array_unref(columns[i]);
    return error;
}

static kith_error *fetch_rows(struct fetch_stream *fetch)
{
    int64_t start = operator_now(fetch->node);
    TRY(parquet_scan_table(scan_below(fetch->node), &fetch->table));
    for (size_t i = 0; i < fetch->node->plan->schema->field_count; i++)
        fetch->fetched_count += fetch->node->plan->fetch.columns[i].from_file;
    TRY(sort_places(fetch));
    TRY(find_pieces(fetch));
    TRY(read_all(fetch));
    TRY(build_result(fetch));
    TRY(reservation_resize(&fetch->reservation, batch_memory_bytes(fetch->result)));
    operator_charge_time(fetch->node, start);
    return NULL;
}

static kith_error *fetch_next(struct stream *stream, struct batch **out)
{
    struct fetch_stream *fetch = CONTAINER_OF(stream, struct fetch_stream, stream);
    if (!fetch->finished) {
        TRY(collect_input(fetch));
        TRY(fetch_rows(fetch));
        fetch->finished = true;
    }
    return operator_emit_slice(fetch->node, fetch->result, &fetch->emitted, out);
}

static void fetch_free(struct stream *stream)
{
    struct fetch_stream *fetch = CONTAINER_OF(stream, struct fetch_stream, stream);
    stream_free(fetch->input);
    for (size_t i = 0; i < fetch->piece_count; i++) {
        for (size_t j = 0; fetch->pieces[i].columns != NULL && j < fetch->fetched_count; j++)
            array_unref(fetch->pieces[i].columns[j]);
        free(fetch->pieces[i].columns);
    }
    free(fetch->pieces);
    free(fetch->chosen);
    batch_unref(fetch->rows);
    batch_unref(fetch->result);
    reservation_release(&fetch->reservation);
    free(fetch);
}

static const struct stream_ops fetch_stream_ops = {.next = fetch_next, .free = fetch_free, .hands_out = true};

static kith_error *execute(struct exec_operator *node, size_t partition, struct stream **out)
{
    struct fetch_stream *fetch;
    TRY(NEW(&fetch));
    fetch->stream = operator_stream(node, &fetch_stream_ops);
    fetch->node = node;
    fetch->reservation = reservation_make(node->context->pool, "columns of chosen rows");
    _cleanup_(stream_free) struct stream *made = &fetch->stream;
    TRY(operator_execute(node->inputs[0], partition, &fetch->input));
    *out = TAKE(made);
    return NULL;
}

static void free_fetch(struct exec_operator *node)
{
    free(node);
}

static const struct operator_ops ops = {.execute = execute, .free = free_fetch};

kith_error *fetch_operator_new(struct exec_operator **out)
{
    TRY(NEW(out));
    (*out)->ops = &ops;
    return NULL;
}
