/*
 * Every operator gives way although its input is always ready and never ends, and can be cancelled. Scans are replaced
 * by exchanges whose other side hands out one batch again and again: an empty one, one of one row, or one that is
 * split. One thread, for which time stands still; beside the query there is a fiber that counts what is handed out
 * between two of its turns.
 */
#include "exec/files.h"
#include "runtime/fibers.h"

enum { TURNS = 20, BATCH_SIZE = 16 };
/* Far more than a budget for each fiber of a query; nobody has had a turn. */
enum { TOO_MANY_BATCHES = 200000 };
/* A query here has at most three fibers with sources, and at most three streams in a fiber that count apart. */
enum { MOST_BETWEEN_TURNS = 3 * 3 * COOP_BUDGET };

static const struct {
    enum physical_kind kind;
    const char *sql, *partitions;
} trials[] = {
    {PHYSICAL_FILTER, "SELECT a FROM (SELECT a FROM t LIMIT 1000000000000) s WHERE a < 0", "1"},
    {PHYSICAL_PROJECTION, "SELECT a + 1 FROM t", "1"},
    {PHYSICAL_SORT, "SELECT a FROM t ORDER BY a", "1"},
    {PHYSICAL_SORT, "SELECT a FROM t ORDER BY a LIMIT 10", "1"},
    {PHYSICAL_SORT_PRESERVING_MERGE, "SELECT a FROM t ORDER BY a", "3"},
    {PHYSICAL_COALESCE_PARTITIONS, "SELECT a FROM t", "3"},
    {PHYSICAL_UNION, "SELECT a FROM t UNION ALL SELECT a FROM t", "1"},
    {PHYSICAL_GLOBAL_LIMIT, "SELECT a FROM t LIMIT 10 OFFSET 1000000000000", "1"},
    {PHYSICAL_LOCAL_LIMIT, "SELECT a FROM (SELECT a FROM t WHERE random() < 2) s LIMIT 1000000000000", "1"},
};

/* Operators that have no input; those that read files end with them, and are held to account in cooperation_test.c. */
static bool has_endless_input(enum physical_kind kind)
{
    switch (kind) {
    case PHYSICAL_PARQUET_SCAN:
    case PHYSICAL_FETCH_COLUMNS: /* of what a Top-K has chosen */
    case PHYSICAL_PLACEHOLDER_ROW:
    case PHYSICAL_EMPTY:
        return false;
    case PHYSICAL_FILTER:
    case PHYSICAL_PROJECTION:
    case PHYSICAL_SORT:
    case PHYSICAL_SORT_PRESERVING_MERGE:
    case PHYSICAL_COALESCE_PARTITIONS:
    case PHYSICAL_UNION:
    case PHYSICAL_GLOBAL_LIMIT:
    case PHYSICAL_LOCAL_LIMIT:
    case PHYSICAL_NETWORK_COALESCE:
        return true;
    }
    UNREACHABLE();
}

struct endless {
    struct boundary_source boundary;
    struct query_run run;
    size_t rows;   /* of a batch */
    size_t handed; /* batches, by all sources */
    size_t live;   /* source streams */
    atomic_bool ended;
    struct cancel_token *cancel;
};

struct endless_stream {
    struct stream stream;
    struct endless *endless;
    struct batch *batch;
};

static kith_error *endless_next(struct stream *stream, struct batch **out)
{
    struct endless_stream *self = CONTAINER_OF(stream, struct endless_stream, stream);
    if (++self->endless->handed > TOO_MANY_BATCHES)
        return error_new(KITH_ERROR_INTERNAL, "%d batches were handed out without end", TOO_MANY_BATCHES);
    *out = batch_ref(self->batch);
    return NULL;
}

static void endless_free(struct stream *stream)
{
    struct endless_stream *self = CONTAINER_OF(stream, struct endless_stream, stream);
    self->endless->live--;
    batch_unref(self->batch);
    free(self);
}

static kith_error *endless_open(struct boundary_source *source, uint32_t stage, size_t task, struct schema *schema,
                                struct metric_set *metrics, struct stream **out)
{
    static const struct stream_ops ops = {.next = endless_next, .free = endless_free, .hands_out = true};
    struct endless *endless = CONTAINER_OF(source, struct endless, boundary);
    struct array *columns[4] = {NULL};
    struct endless_stream *self;
    TRY(NEW(&self));
    self->stream = (struct stream){.ops = &ops, .schema = schema, .coop = coop_make(COOP_SHARED, NULL)};
    self->endless = endless;
    endless->live++;
    _cleanup_(stream_free) struct stream *made = &self->stream;
    for (size_t i = 0; i < schema->field_count; i++)
        TRY(array_new_null(&schema->fields[i].type, endless->rows, &columns[i]));
    kith_error *error = batch_new(schema, columns, endless->rows, &self->batch);
    for (size_t i = 0; i < schema->field_count; i++)
        array_unref(columns[i]);
    TRY(error);
    *out = TAKE(made);
    return NULL;
}

static void replace_scans(struct physical_plan *plan)
{
    if (plan->kind == PHYSICAL_PARQUET_SCAN) {
        plan->kind = PHYSICAL_NETWORK_COALESCE;
        plan->network.stage = 1;
    }
    for (size_t i = 0; i < plan->input_count; i++)
        replace_scans(plan->inputs[i]);
}

static kith_error *pull_for_ever(struct endless *endless, struct operator_tree *tree)
{
    _cleanup_(stream_free) struct stream *stream = NULL;
    TRY(operator_execute(tree->root, 0, &stream));
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(stream_next(stream, &batch));
        if (batch == NULL)
            return error_new(KITH_ERROR_INTERNAL, "what has no end has ended");
    }
}

static kith_error *run_query(void *argument)
{
    struct endless *endless = argument;
    struct query_run *run = &endless->run;
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(memory_pool_free) struct memory_pool *pool = NULL;
    struct operator_tree *tree = NULL;
    struct logical_plan *logical;
    TRY(query_plan(run, &arena, true, &logical));
    TRY(physical_plan_create(&arena, &run->settings, 3, logical, &run->physical));
    replace_scans(run->physical);
    TRY(physical_plan_format(run->physical, &run->plan));
    TRY(memory_pool_new(1 << 30, &pool));
    struct task_context context = {.runtime = runtime_current(),
                                   .pool = pool,
                                   .settings = run->settings,
                                   .cancel = endless->cancel,
                                   .boundary = &endless->boundary};
    TRY(operator_tree_new(run->physical, &context, &tree));
    kith_error *error = pull_for_ever(endless, tree);
    operator_tree_free(tree, &context);
    atomic_store(&endless->ended, true);
    if (memory_pool_used(pool) == 0 && endless->live == 0)
        return error;
    error_free(error);
    return error_new(KITH_ERROR_INTERNAL, "%zu bytes and %zu sources are left", memory_pool_used(pool), endless->live);
}

/* Cancels the query after so many turns beside it. */
static kith_error *run_beside(void *argument)
{
    struct endless *endless = argument;
    struct fiber *fiber;
    const struct fiber_options options = {.name = "query", .cancel = endless->cancel};
    size_t seen = 0, most = 0, turns = 0;
    TRY(fiber_spawn(runtime_current(), &options, run_query, endless, &fiber));
    while (!atomic_load(&endless->ended)) {
        TRY(fiber_yield());
        most = MAX(most, endless->handed - seen);
        seen = endless->handed;
        turns += seen > 0;
        if (turns == TURNS)
            cancel_token_cancel(endless->cancel, NULL);
        EXPECT(turns < 10 * TURNS);
    }
    EXPECT_FAILS(fiber_join(fiber), KITH_ERROR_CANCELLED);
    if (most > MOST_BETWEEN_TURNS)
        return error_new(KITH_ERROR_INTERNAL, "%zu batches were handed out in one turn", most);
    return NULL;
}

static void check_trial(size_t trial, const char *policy, size_t rows)
{
    struct endless endless = {.boundary.open = endless_open, .run = query_run_of(trials[trial].sql), .rows = rows};
    struct query_run *run = &endless.run;
    query_set(run, SETTING_COOPERATION, policy);
    query_set(run, SETTING_BATCH_SIZE, "16");
    query_set(run, SETTING_TARGET_PARTITIONS, trials[trial].partitions);
    query_set(run, SETTING_DYNAMIC_FILTERS, "off");
    assert_ok(cancel_token_new(NULL, &endless.cancel));
    run_in_order(run_beside, &endless);
    if (strstr(strbuf_text(&run->plan), physical_kind_name(trials[trial].kind)) == NULL)
        fail_msg("no %s in the plan of '%s':\n%s", physical_kind_name(trials[trial].kind), run->sql,
                 strbuf_text(&run->plan));
    cancel_token_unref(endless.cancel);
    query_run_reset(run);
}

static void an_operator_whose_input_never_ends_gives_way_and_is_cancelled(void **state)
{
    static const char *const policies[] = {"shared", "shared_with_fallback", "per_stream"};
    static const size_t rows[] = {0, 1, 4 * BATCH_SIZE};
    static const struct parquet_write_options options = {.codec = PARQUET_UNCOMPRESSED, .row_group_rows = 10};
    WRITE("t.parquet", &options, {"a", sequence(0, 1, 100)});
    for (size_t i = 0; i < ARRAY_SIZE(trials); i++)
        for (size_t j = 0; j < ARRAY_SIZE(policies); j++)
            for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
                check_trial(i, policies[j], rows[k]);
}

static void every_operator_that_can_have_an_endless_input_has_one_here(void **state)
{
    for (int kind = PHYSICAL_PARQUET_SCAN; kind <= PHYSICAL_NETWORK_COALESCE; kind++) {
        bool found = kind == PHYSICAL_NETWORK_COALESCE; /* below all others */
        for (size_t i = 0; i < ARRAY_SIZE(trials); i++)
            found = found || trials[i].kind == (enum physical_kind)kind;
        assert_int_equal(found, has_endless_input((enum physical_kind)kind));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(an_operator_whose_input_never_ends_gives_way_and_is_cancelled),
        cmocka_unit_test(every_operator_that_can_have_an_endless_input_has_one_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
