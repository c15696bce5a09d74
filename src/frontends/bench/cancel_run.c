#include "frontends/bench/cancel_run.h"

#include "base/alloc.h"
#include "runtime/fiber.h"
#include "runtime/sync.h"

#include <stdatomic.h>

/* Nothing may be ruled out by statistics or bounds, so that every row is worked on. */
#define NO_PRUNING                                                                        \
    {"execution.parquet.pruning", "off"}, {"execution.parquet.enable_page_index", "off"}, \
        {"optimizer.enable_dynamic_filter_pushdown", "off"},                              \
    {                                                                                     \
        "execution.parquet.reorder_row_groups", "off"                                     \
    }

const struct cancel_case cancel_cases[] = {
    {"sort", "SELECT score, id, payload FROM t ORDER BY val", {{0}}},
    {"sort of texts", "SELECT id, payload FROM t ORDER BY payload, id", {{0}}},
    {"merge of 64 partitions", "SELECT id FROM t ORDER BY val", {{"execution.target_partitions", "64"}}},
    {"Top-K that replaces a row each time", "SELECT id, payload FROM t ORDER BY id DESC LIMIT 100", {NO_PRUNING}},
    {"Top-K of a million rows", "SELECT id, payload FROM t ORDER BY val DESC LIMIT 1000000", {NO_PRUNING}},
    {"filter that rejects everything", "SELECT id FROM t WHERE tag < 0", {NO_PRUNING}},
    {"decode of one row group", "SELECT * FROM one_row_group", {{0}}},
    {"text of one row group, for few rows", "SELECT payload FROM one_row_group WHERE id % 100000 = 7", {NO_PRUNING}},
    {"slow predicate", "SELECT id FROM t WHERE payload || payload || payload LIKE '%a%b%c%d%e%f%g%h%i%'", {NO_PRUNING}},
    {"slow expression",
     "SELECT upper(lower(upper(payload))) || replace(payload, 'a', 'bb') || lower(payload) FROM t",
     {{0}}},
    {"all rows", "SELECT * FROM t", {{0}}},
    {"limit", "SELECT * FROM t LIMIT 100000000 OFFSET 1000", {{0}}},
};
const size_t cancel_case_count = ARRAY_SIZE(cancel_cases);

enum { MOST_QUERIES = 64 };

struct cancelled_query {
    const struct cancel_case *cancel_case;
    struct session *session;
    struct fiber *fiber;
    _Atomic int64_t ended_ns; /* 0 = not yet */
    kith_error *error;
};

struct cancel_run {
    const struct bench_place *place;
    size_t count;
    struct cancelled_query queries[MOST_QUERIES];
    size_t fibers_before;
};

static int64_t now_ns(void)
{
    return clock_monotonic_ns(&system_clock);
}

static void cancel_run_reset(struct cancel_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        session_free(run->queries[i].session);
}
DEFINE_VALUE_CLEANUP(cancel_run_reset, struct cancel_run)

static kith_error *run_query(void *argument)
{
    struct cancelled_query *query = argument;
    query->error = bench_run(query->session, query->cancel_case->sql);
    query->ended_ns = now_ns();
    return NULL;
}

static kith_error *start_queries(struct cancel_run *run)
{
    const struct fiber_options options = {.name = "a query to be cancelled"};
    kith_error *error = NULL;
    for (size_t i = 0; i < run->count && error == NULL; i++)
        error = fiber_spawn(runtime_current(), &options, run_query, &run->queries[i], &run->queries[i].fiber);
    return error;
}

/* The first error but CANCELLED, once all have ended. *cancelled counts those that were. */
static kith_error *join_queries(struct cancel_run *run, size_t *cancelled)
{
    kith_error *error = NULL;
    *cancelled = 0;
    for (size_t i = 0; i < run->count; i++) {
        struct cancelled_query *query = &run->queries[i];
        if (query->fiber != NULL)
            error_free(fiber_join(TAKE(query->fiber)));
        bool was_cancelled = query->error != NULL && kith_error_code(query->error) == KITH_ERROR_CANCELLED;
        *cancelled += was_cancelled;
        if (error == NULL && !was_cancelled)
            error = TAKE(query->error);
        error_free(TAKE(query->error));
    }
    return error;
}

static bool anything_is_left(const struct cancel_run *run)
{
    return runtime_live_fibers(runtime_current()) > run->fibers_before || bench_place_live_tasks(run->place) > 0;
}

static kith_error *wait_until_gone(const struct cancel_run *run)
{
    int64_t deadline = now_ns() + 10 * NANOSECONDS_PER_SECOND;
    while (anything_is_left(run)) {
        if (now_ns() > deadline)
            return error_new(KITH_ERROR_INTERNAL, "%zu fibers and %zu tasks are left ten seconds after the queries",
                             runtime_live_fibers(runtime_current()) - run->fibers_before,
                             bench_place_live_tasks(run->place));
        TRY(sleep_until(now_ns() + 50 * NANOSECONDS_PER_MICROSECOND));
    }
    return NULL;
}

/* One moment: starts the queries, cancels them after `delay_ns`, and adds how long each was not gone yet. */
static kith_error *cancel_after(struct cancel_run *run, int64_t delay_ns, struct latencies *out)
{
    size_t cancelled;
    kith_error *error = start_queries(run);
    if (error == NULL)
        error = sleep_until(now_ns() + delay_ns);
    int64_t start_ns = now_ns();
    for (size_t i = 0; i < run->count; i++)
        session_cancel(run->queries[i].session);
    kith_error *join_error = join_queries(run, &cancelled);
    if (error == NULL)
        error = join_error;
    else
        error_free(join_error);
    TRY(error);
    TRY(wait_until_gone(run));
    int64_t all_gone_ns = now_ns();
    /* A query that had ended by itself before says nothing. */
    for (size_t i = 0; i < run->count; i++)
        if (run->queries[i].ended_ns > start_ns && cancelled > 0)
            TRY(latencies_add(out, (run->place->workers > 0 ? all_gone_ns : run->queries[i].ended_ns) - start_ns));
    return NULL;
}

/* How long the queries take side by side, if that is less than `most_ns`. */
static kith_error *time_queries(struct cancel_run *run, int64_t most_ns, int64_t *out_ns)
{
    int64_t start_ns = now_ns();
    kith_error *error = start_queries(run);
    while (error == NULL && now_ns() - start_ns < most_ns) {
        bool all_ended = true;
        for (size_t i = 0; i < run->count; i++)
            all_ended = all_ended && run->queries[i].ended_ns != 0;
        if (all_ended)
            break;
        error = sleep_until(now_ns() + NANOSECONDS_PER_MILLISECOND);
    }
    *out_ns = MAX(now_ns() - start_ns, NANOSECONDS_PER_MILLISECOND);
    size_t cancelled;
    for (size_t i = 0; i < run->count; i++)
        session_cancel(run->queries[i].session);
    kith_error *join_error = join_queries(run, &cancelled);
    if (error == NULL)
        return join_error;
    error_free(join_error);
    return error;
}

static kith_error *prepare(struct cancel_run *run, const struct cancel_case *cancel_case)
{
    size_t wanted = MIN(runtime_threads(runtime_current()), (size_t)MOST_QUERIES);
    for (; run->count < wanted; run->count++) {
        run->queries[run->count].cancel_case = cancel_case;
        TRY(bench_session_new(run->place, cancel_case->settings, &run->queries[run->count].session));
    }
    run->fibers_before = runtime_live_fibers(runtime_current());
    return NULL;
}

kith_error *cancel_case_run(const struct cancel_case *cancel_case, const struct bench_place *place,
                            const struct cancel_limits *limits, struct latencies *out)
{
    _cleanup_(cancel_run_reset) struct cancel_run run = {.place = place};
    int64_t whole_ns;
    TRY(prepare(&run, cancel_case));
    TRY(time_queries(&run, limits->ns, &whole_ns));
    TRY(wait_until_gone(&run));
    int64_t start_ns = now_ns();
    for (size_t i = 0; i < limits->samples && now_ns() - start_ns < limits->ns; i++) {
        /* Moments in an order that covers the whole time however early the limit ends it: multiples of the golden
         * ratio, which are evenly spread for any number of them. */
        double place_in_run = (double)(i + 1) * 0.6180339887498949;
        place_in_run -= (double)(int64_t)place_in_run;
        for (size_t j = 0; j < run.count; j++)
            run.queries[j].ended_ns = 0;
        TRY(cancel_after(&run, (int64_t)((double)whole_ns * place_in_run), out));
    }
    return NULL;
}
