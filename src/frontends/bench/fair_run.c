#include "frontends/bench/fair_run.h"

#include "runtime/fiber.h"
#include "runtime/sync.h"

#include <stdatomic.h>

static const char short_query[] = "SELECT id, score FROM small ORDER BY score DESC LIMIT 10";

static const char *const heavy_queries[] = {
    "SELECT score, id, payload FROM t ORDER BY val",
    "SELECT id FROM t WHERE payload || payload LIKE '%a%b%c%d%e%f%'",
    "SELECT * FROM one_row_group",
    "SELECT id, payload FROM t ORDER BY payload LIMIT 200000",
};

struct heavy {
    struct session *session;
    const char *sql;
    struct fiber *fiber;
    atomic_bool *stop;
    atomic_size_t *runs;
};

static int64_t now_ns(void)
{
    return clock_monotonic_ns(&system_clock);
}

void fair_result_reset(struct fair_result *result)
{
    latencies_reset(&result->alone);
    latencies_reset(&result->beside);
}

static kith_error *run_again_and_again(void *argument)
{
    struct heavy *heavy = argument;
    while (!atomic_load(heavy->stop)) {
        kith_error *error = bench_run(heavy->session, heavy->sql);
        if (error != NULL && atomic_load(heavy->stop) && kith_error_code(error) == KITH_ERROR_CANCELLED) {
            error_free(error);
            return NULL;
        }
        TRY(error);
        atomic_fetch_add(heavy->runs, 1);
    }
    return NULL;
}

static kith_error *start_heavy(const struct bench_place *place, struct heavy *heavy, size_t number)
{
    const struct fiber_options options = {.name = "a heavy query"};
    heavy->sql = heavy_queries[number % ARRAY_SIZE(heavy_queries)];
    TRY(bench_session_new(place, NULL, &heavy->session));
    return fiber_spawn(runtime_current(), &options, run_again_and_again, heavy, &heavy->fiber);
}

/* One between two queries sees `stop`. */
static kith_error *stop_heavy(struct heavy *heavy)
{
    kith_error *error = NULL;
    if (heavy->fiber != NULL) {
        session_cancel(heavy->session);
        error = fiber_join(heavy->fiber);
    }
    session_free(heavy->session);
    return error;
}

static kith_error *measure(struct session *session, const struct fair_limits *limits, struct latencies *out)
{
    int64_t begin_ns = now_ns();
    for (size_t i = 0; i < limits->samples && now_ns() - begin_ns < limits->ns; i++) {
        int64_t start_ns = now_ns();
        TRY(bench_run(session, short_query));
        TRY(latencies_add(out, now_ns() - start_ns));
        /* Like somebody who reads the answer: it comes from a wait, not from computing. */
        TRY(sleep_until(now_ns() + NANOSECONDS_PER_MILLISECOND));
    }
    return NULL;
}

static kith_error *measure_beside(const struct bench_place *place, const struct fair_limits *limits,
                                  struct session *session, struct fair_result *out)
{
    struct heavy heavy[FAIR_MOST_HEAVY] = {0};
    atomic_bool stop = false;
    atomic_size_t runs = 0;
    kith_error *error = NULL;
    for (size_t i = 0; i < limits->heavy && error == NULL; i++) {
        heavy[i].stop = &stop;
        heavy[i].runs = &runs;
        error = start_heavy(place, &heavy[i], i);
    }
    if (error == NULL)
        error = measure(session, limits, &out->beside);
    atomic_store(&stop, true);
    for (size_t i = 0; i < limits->heavy; i++) {
        kith_error *stop_error = stop_heavy(&heavy[i]);
        if (error == NULL)
            error = stop_error;
        else
            error_free(stop_error);
    }
    out->heavy_runs = atomic_load(&runs);
    return error;
}

kith_error *fair_run(const struct bench_place *place, const struct fair_limits *limits, struct fair_result *out)
{
    _cleanup_(session_free) struct session *session = NULL;
    TRY(bench_session_new(place, NULL, &session));
    TRY(bench_run(session, short_query));
    TRY(measure(session, limits, &out->alone));
    return measure_beside(place, limits, session, out);
}
