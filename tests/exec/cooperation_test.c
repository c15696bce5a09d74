/*
 * Every operator gives way: with batches of one row, what it pulls and hands out takes no more than a budget's worth of
 * units a turn. One thread, for which time stands still, so that only budgets and waits end a turn; beside the query
 * there is always a fiber to give way to.
 */
#include "exec/files.h"
#include "runtime/fibers.h"

enum { ROWS = 6000 };

/* A query whose plan has the operator, and how many turns it takes at least. Each operator that hands out the table's
 * rows has BUDGETS of work: those that pass on what they pull have that of the scan. */
enum { BUDGETS = ROWS / COOP_BUDGET };

struct trial {
    const char *sql; /* NULL: the operator gives a row or none */
    const char *partitions;
    size_t least_turns;
};

/* A new operator has no place here, and this file does not compile, until it is said how it gives way. */
static struct trial trial_of(enum physical_kind kind)
{
    switch (kind) {
    case PHYSICAL_PARQUET_SCAN:
        return (struct trial){"SELECT a FROM t WHERE b < 'b'", "1", BUDGETS};
    case PHYSICAL_FILTER:
        return (struct trial){"SELECT a FROM (SELECT a FROM t LIMIT 6000) s WHERE a < 0", "1", BUDGETS};
    case PHYSICAL_PROJECTION:
        return (struct trial){"SELECT a + 1 FROM t", "1", BUDGETS};
    case PHYSICAL_SORT:
        return (struct trial){"SELECT a FROM t ORDER BY a DESC", "1", 3 * BUDGETS};
    case PHYSICAL_SORT_PRESERVING_MERGE:
        return (struct trial){"SELECT a FROM t ORDER BY a", "3", BUDGETS};
    case PHYSICAL_COALESCE_PARTITIONS:
        return (struct trial){"SELECT a FROM t", "3", BUDGETS};
    case PHYSICAL_UNION:
        return (struct trial){"SELECT a FROM t UNION ALL SELECT a FROM t", "1", 2 * BUDGETS};
    case PHYSICAL_GLOBAL_LIMIT:
        return (struct trial){"SELECT a FROM t LIMIT 10 OFFSET 5990", "1", BUDGETS};
    case PHYSICAL_LOCAL_LIMIT:
        return (struct trial){"SELECT a FROM (SELECT a FROM t WHERE random() < 2) s LIMIT 6000", "1", BUDGETS};
    case PHYSICAL_FETCH_COLUMNS:
        return (struct trial){"SELECT b, a FROM t ORDER BY a LIMIT 6000", "1", 7 * BUDGETS};
    case PHYSICAL_NETWORK_COALESCE: /* tests/exec/batch_split_test.c */
    case PHYSICAL_PLACEHOLDER_ROW:
    case PHYSICAL_EMPTY:
        return (struct trial){0};
    }
    UNREACHABLE();
}

struct watched {
    struct query_run run;
    enum physical_kind kind;
    atomic_bool ended;
    size_t turns_beside; /* of the other fiber */
    struct runtime_turns turns;
};

static kith_error *run_query(void *argument)
{
    struct watched *watched = argument;
    kith_error *error = query_main(&watched->run);
    atomic_store(&watched->ended, true);
    return error;
}

static kith_error *run_beside(void *argument)
{
    struct watched *watched = argument;
    struct fiber *fiber;
    TRY(fiber_spawn(runtime_current(), &(struct fiber_options){.name = "query"}, run_query, watched, &fiber));
    for (; !atomic_load(&watched->ended); watched->turns_beside++)
        TRY(fiber_yield());
    runtime_read_turns(runtime_current(), &watched->turns);
    return fiber_join(fiber);
}

static bool has_kind(const struct physical_plan *plan, enum physical_kind kind)
{
    bool found = plan->kind == kind;
    for (size_t i = 0; i < plan->input_count; i++)
        found = found || has_kind(plan->inputs[i], kind);
    return found;
}

static void check_plan(struct query_run *run)
{
    enum physical_kind kind = CONTAINER_OF(run, struct watched, run)->kind;
    if (!has_kind(run->physical, kind))
        fail_msg("the plan of '%s' has no operator %d", run->sql, (int)kind);
}

static void check_trial(enum physical_kind kind, const char *policy)
{
    struct trial trial = trial_of(kind);
    if (trial.sql == NULL)
        return;
    struct watched watched = {.run = query_run_of(trial.sql), .kind = kind};
    struct query_run *run = &watched.run;
    run->on_plan = check_plan;
    query_set(run, SETTING_COOPERATION, policy);
    query_set(run, SETTING_BATCH_SIZE, "1");
    query_set(run, SETTING_TARGET_PARTITIONS, trial.partitions);
    query_set(run, SETTING_PARQUET_PRUNING, "off");
    query_set(run, SETTING_PARQUET_PAGE_INDEX, "off");
    query_set(run, SETTING_TOPK_FETCH_ROWS, "1000000");
    run_in_order(run_beside, &watched);
    size_t turns = (size_t)watched.turns.turns - watched.turns_beside;
    if (turns < trial.least_turns)
        fail_msg("'%s' under %s had %zu turns; its work is %zu turns at least", trial.sql, policy, turns,
                 trial.least_turns);
    query_run_reset(run);
}

static void every_operator_gives_way_within_its_budget_under_every_policy(void **state)
{
    static const char *const policies[] = {"shared", "shared_with_fallback", "per_stream"};
    static const struct parquet_write_options options = {.codec = PARQUET_UNCOMPRESSED, .row_group_rows = 1500};
    const char **texts;
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* cmocka cannot jump out of a fiber's stack */
    assert_ok(NEW_ARRAY(&texts, ROWS));
    for (size_t i = 0; i < ROWS; i++)
        texts[i] = i % 2 == 0 ? "bee" : "cat";
    WRITE("t.parquet", &options, {"a", sequence(0, 1, ROWS)}, {"b", column_of_texts(type_of(TYPE_UTF8), texts, ROWS)});
    free(texts);
    for (int kind = PHYSICAL_PARQUET_SCAN; kind <= PHYSICAL_NETWORK_COALESCE; kind++)
        for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
            check_trial((enum physical_kind)kind, policies[i]);
    unsetenv("CMOCKA_TEST_ABORT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(every_operator_gives_way_within_its_budget_under_every_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
