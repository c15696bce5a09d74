/*
 * The queue of row groups: what ends it, and whom that wakes.
 */
#include "exec/files.h"
#include "runtime/fibers.h"

#include "exec/scan.h"

static struct parquet_scan *scan_of(struct query_run *run)
{
    struct physical_plan *plan = run->physical;
    while (plan->kind != PHYSICAL_PARQUET_SCAN)
        plan = plan->inputs[0];
    return &plan->scan;
}

static void offer(struct dynamic_filter *filter, enum bound_origin origin, int64_t value)
{
    _cleanup_(bound_unref) struct bound *bound = NULL;
    const struct scalar scalar = {.type = type_of(TYPE_INT64), .int64 = value};
    const struct sort_expr *exprs;
    bool stronger;
    dynamic_filter_exprs(filter, &exprs);
    assert_ok(bound_new(&scalar, &exprs[0].order, 1, 0, &bound));
    dynamic_filter_offer(filter, origin, bound, &stronger);
}

static uint64_t count(struct query_run *run, enum metric metric)
{
    return metric_get(&run->metrics, metric);
}

/* Runs the query, with `on_start` to have its plan and filters first. */
static struct query_run run_with(const char *sql, void (*on_start)(struct query_run *, struct task_context *))
{
    struct query_run run = query_run_of(sql);
    query_set(&run, SETTING_TARGET_PARTITIONS, "1");
    query_set(&run, SETTING_PLANNED_BOUNDS, "off");
    query_set(&run, SETTING_BATCH_SIZE, "10");
    run.on_start = on_start;
    assert_ok(query_run(&run));
    return run;
}

/* For the hook's sake alone. */
static void start_with(const char *sql, void (*on_start)(struct query_run *, struct task_context *))
{
    struct query_run run = run_with(sql, on_start);
    query_run_reset(&run);
}

/* A queue of four row groups in two files, a from 0 to 399, and who takes from it. */
struct taker {
    struct morsel_queue queue;
    struct metric_set metrics;
    struct fiber *follower;
    struct morsel morsel;
    bool found;
};

static const int64_t an_hour_ns = 3600 * NANOSECONDS_PER_SECOND;

static kith_error *take(void *argument)
{
    struct taker *taker = argument;
    return morsel_queue_take(&taker->queue, an_hour_ns, &taker->morsel, &taker->found);
}

static void wait_until_it_waits(struct taker *taker)
{
    for (bool waits = false; !waits;) {
        pthread_mutex_lock(&taker->queue.mutex);
        waits = taker->queue.followers.first != NULL;
        pthread_mutex_unlock(&taker->queue.mutex);
        assert_ok(coop_charge(128));
    }
}

/* The first row group is taken by a leader; a second taker waits for its bound. */
static void lead_and_follow(struct query_run *run, struct task_context *context, struct taker *taker)
{
    const struct parquet_scan *scan = scan_of(run);
    int64_t in_an_hour_ns = clock_monotonic_ns(runtime_clock(context->runtime)) + an_hour_ns;
    assert_ok(
        morsel_queue_init(&taker->queue, scan, scan->table, context->filters, &context->settings, &taker->metrics));
    assert_ok(morsel_queue_take(&taker->queue, in_an_hour_ns, &taker->morsel, &taker->found));
    assert_true(taker->found && taker->morsel.leads);
    assert_ok(fiber_spawn(context->runtime, &(struct fiber_options){0}, take, taker, &taker->follower));
    wait_until_it_waits(taker);
}

/* Watchers stay in place for as long as bounds are offered. */
static struct taker followers;

static void reset_followers(void)
{
    morsel_queue_reset(&followers.queue);
    followers = (struct taker){0};
}

static const char *const first_five = "SELECT a, b FROM t WHERE b >= 0 ORDER BY a LIMIT 5";

static void write_two_files(void)
{
    const struct parquet_write_options options = {.row_group_rows = 100, .page_rows = 100};
    WRITE("t/1.parquet", &options, {"a", sequence(0, 1, 200)}, {"b", sequence(0, 1, 200)});
    WRITE("t/2.parquet", &options, {"a", sequence(200, 1, 200)}, {"b", sequence(0, 1, 200)});
}

static void end_by_a_siblings_bound(struct query_run *run, struct task_context *context)
{
    lead_and_follow(run, context, &followers);
    offer(context->filters[0], BOUND_REMOTE, 1000); /* excludes nothing */
    wait_until_it_waits(&followers);
    offer(context->filters[0], BOUND_REMOTE, 100);
    assert_ok(fiber_join(followers.follower));
}

static void who_waits_for_a_leader_is_through_when_a_siblings_bound_excludes_all_that_is_left(void **state)
{
    write_two_files();
    start_with(first_five, end_by_a_siblings_bound);
    assert_false(followers.found);
    assert_int_equal(followers.queue.next, followers.queue.count);
    assert_int_equal(metric_get(&followers.metrics, METRIC_ROW_GROUPS_PRUNED_REMOTE), 3);
    assert_int_equal(metric_get(&followers.metrics, METRIC_FILES_PRUNED_REMOTE), 1);
    reset_followers();
}

static void begin_with_the_tasks_bound(struct query_run *run, struct task_context *context)
{
    lead_and_follow(run, context, &followers);
    offer(context->filters[0], BOUND_LOCAL, 250);
    assert_ok(fiber_join(followers.follower));
}

static void who_waits_for_a_leader_begins_when_the_task_has_a_bound(void **state)
{
    write_two_files();
    start_with(first_five, begin_with_the_tasks_bound);
    assert_true(followers.found);
    assert_int_equal(followers.morsel.row_group, 1);
    assert_false(followers.morsel.leads);
    reset_followers();
}

/* A sibling's bound comes just when the task has found its first one, in the midst of a row group. */
struct sibling {
    struct dynamic_filter_watcher watcher;
    struct dynamic_filter *filter;
    int64_t value;
};
static struct sibling sibling;

static void answer_the_first_bound(struct dynamic_filter_watcher *watcher, enum bound_origin origin,
                                   struct bound *bound)
{
    if (origin == BOUND_LOCAL)
        offer(sibling.filter, BOUND_REMOTE, sibling.value);
}

static void listen_to_the_task(struct query_run *run, struct task_context *context)
{
    sibling.filter = context->filters[0];
    sibling.watcher = (struct dynamic_filter_watcher){.changed = answer_the_first_bound};
    dynamic_filter_watch(sibling.filter, &sibling.watcher);
}

/* Four row groups in two files, of 100 rows each and with all but the same range. */
static void write_overlapping_files(void)
{
    const struct parquet_write_options options = {.row_group_rows = 100, .page_rows = 100};
    int64_t values[200];
    for (int file = 0; file < 2; file++) {
        for (int64_t i = 0; i < 200; i++)
            values[i] = 4 * (i % 100) + i / 100 + 2 * file;
        WRITE(file == 0 ? "t/1.parquet" : "t/2.parquet", &options,
              {"a", column_of_ints(type_of(TYPE_INT64), values, 200)}, {"b", sequence(0, 1, 200)});
    }
}

static void a_row_group_is_left_at_the_next_window_when_a_siblings_bound_excludes_it(void **state)
{
    write_overlapping_files();
    sibling.value = 0;
    _cleanup_(query_run_reset) struct query_run run = run_with(first_five, listen_to_the_task);
    assert_int_equal(count(&run, METRIC_ROWS_SCANNED), 10);
    assert_int_equal(count(&run, METRIC_ROW_GROUPS_PRUNED_REMOTE), 3);
    assert_int_equal(count(&run, METRIC_FILES_PRUNED_REMOTE), 1);

    /* All but the row group at hand: that one is read on. */
    sibling.value = 1;
    _cleanup_(query_run_reset) struct query_run partly = run_with(first_five, listen_to_the_task);
    assert_string_equal(strbuf_text(&partly.rows), "0|0\n");
    assert_int_equal(count(&partly, METRIC_ROWS_SCANNED), 100);
    assert_int_equal(count(&partly, METRIC_ROW_GROUPS_PRUNED_REMOTE), 3);
}

/* The queue that ends at once against one that asks for each row group. */
struct twins {
    struct morsel_queue queues[2];
    struct metric_set metrics[2];
    uint64_t random;
};
static struct twins twins;

/* A random bound: of all sort keys as Top-Ks have it, or of the first one as it is planned. */
static void offer_anything(struct twins *self, struct dynamic_filter *filter, enum bound_origin origin)
{
    _cleanup_(bound_unref) struct bound *bound = NULL;
    const struct sort_expr *exprs;
    struct sort_order orders[2];
    struct scalar values[2];
    size_t keys = dynamic_filter_exprs(filter, &exprs);
    bool stronger;
    for (size_t i = 0; i < keys; i++) {
        orders[i] = exprs[i].order;
        values[i] = (struct scalar){.type = type_of(TYPE_INT64), .int64 = (int64_t)(test_random(&self->random) % 60)};
        if (test_random(&self->random) % 9 == 0)
            values[i] = scalar_null(&exprs[i].expr->type);
    }
    if (origin == BOUND_PLANNED)
        assert_ok(bound_new_planned(values, orders[0], &bound));
    else
        assert_ok(bound_new(values, orders, keys, 0, &bound));
    dynamic_filter_offer(filter, origin, bound, &stronger);
}

static void compare_twins(struct query_run *run, struct task_context *context)
{
    const struct parquet_scan *scan = scan_of(run);
    struct morsel morsels[2];
    bool found[2] = {true, true};
    for (int i = 0; i < 2; i++)
        assert_ok(morsel_queue_init(&twins.queues[i], scan, scan->table, context->filters, &context->settings,
                                    &twins.metrics[i]));
    assert_int_equal(twins.queues[0].ordered_from, 0);
    twins.queues[1].ordered_from = twins.queues[1].count;
    while (found[0]) {
        if (test_random(&twins.random) % 4 == 0)
            offer_anything(&twins, context->filters[0],
                           (enum bound_origin)(test_random(&twins.random) % BOUND_ORIGINS));
        for (int i = 0; i < 2; i++) {
            /* The time of long ago, so that nobody waits for a leader. */
            assert_ok(morsel_queue_take(&twins.queues[i], 0, &morsels[i], &found[i]));
        }
        assert_int_equal(found[0], found[1]);
        assert_true(!found[0] || (morsels[0].file == morsels[1].file && morsels[0].row_group == morsels[1].row_group));
    }
    for (int i = 0; i < METRIC_COUNT; i++)
        assert_int_equal(metric_get(&twins.metrics[0], (enum metric)i), metric_get(&twins.metrics[1], (enum metric)i));
}

static struct array *random_column(uint64_t *random, uint64_t spread)
{
    int64_t values[60];
    int64_t middle = (int64_t)(test_random(random) % 40);
    for (size_t i = 0; i < ARRAY_SIZE(values); i++)
        values[i] = test_random(random) % 20 == 0 ? NOTHING : middle + (int64_t)(test_random(random) % spread);
    return column_of_ints(type_of(TYPE_INT64), values, ARRAY_SIZE(values));
}

static void a_queue_that_ends_at_once_gives_and_counts_what_one_does_that_asks_for_each_row_group(void **state)
{
    static const char *const orders[] = {"a", "a DESC", "a NULLS FIRST, b", "a DESC NULLS LAST, b DESC", "a, b"};
    twins.random = 5;
    for (size_t round = 0; round < 60; round++) {
        char sql[96];
        for (int file = 0; file < 4; file++) {
            char path[32];
            const struct parquet_write_options options = {.row_group_rows = 1 + test_random(&twins.random) % 7};
            snprintf(path, sizeof path, "r/%d.parquet", file);
            WRITE(path, &options, {"a", random_column(&twins.random, 1 + test_random(&twins.random) % 20)},
                  {"b", random_column(&twins.random, 3)});
        }
        snprintf(sql, sizeof sql, "SELECT a, b FROM r ORDER BY %s LIMIT 3", orders[round % ARRAY_SIZE(orders)]);
        start_with(sql, compare_twins);
        for (int i = 0; i < 2; i++)
            morsel_queue_reset(&twins.queues[i]);
        memset(twins.metrics, 0, sizeof twins.metrics);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(who_waits_for_a_leader_is_through_when_a_siblings_bound_excludes_all_that_is_left),
        FILE_TEST(who_waits_for_a_leader_begins_when_the_task_has_a_bound),
        FILE_TEST(a_row_group_is_left_at_the_next_window_when_a_siblings_bound_excludes_it),
        FILE_TEST(a_queue_that_ends_at_once_gives_and_counts_what_one_does_that_asks_for_each_row_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
