/*
 * Top-K over tasks that tell each other bounds, run side by side on one thread, where a seed decides which task goes on
 * and when which bound is told to whom: before a task starts, between any two of its batches, after its end. The tasks'
 * plans are those that a cluster would send. The answer must be that of a plain sort. For long runs see
 * docs/contributing.md.
 */
#include "cluster/topk_query.h"

#include "cluster/stages.h"
#include "exec/operators.h"
#include "plan/defer_columns.h"
#include "plan/optimizer.h"
#include "sql/statement.h"

enum { MOST_TASKS = 8 };

struct schedule;

/* Stands between a task's scan and what pulls it: its operations take the place of the scan's. */
struct gate {
    struct operator_ops ops;
    const struct operator_ops *scan_ops;
    struct schedule *schedule;
};

struct gate_stream {
    struct stream stream;
    struct stream *input;
    struct gate *gate;
};

struct scheduled_task {
    struct task_context context;
    struct operator_tree *tree;
    struct bound *told; /* what this task was told or has reported, whichever is stronger */
};

/* Everything happens on one thread, so nothing is guarded. */
struct schedule {
    struct boundary_source boundary;
    uint64_t random;
    unsigned report_one_in, tell_one_in, yield_one_in; /* steps; 0 = never */
    struct scheduled_task tasks[MOST_TASKS];
    size_t task_count;
    struct bound *strongest;
    uint64_t told;
};

static bool happens(struct schedule *schedule, unsigned one_in)
{
    return one_in > 0 && topk_choice(&schedule->random, one_in) == 0;
}

static bool is_stronger(const struct bound *bound, const struct bound *than)
{
    return bound != NULL && (than == NULL || bound_compare(bound, than) < 0);
}

static void replace(struct bound **slot, struct bound *bound)
{
    bound_ref(bound);
    bound_unref(*slot);
    *slot = bound;
}

static struct scheduled_task *any_task(struct schedule *schedule)
{
    struct scheduled_task *task = &schedule->tasks[topk_choice(&schedule->random, schedule->task_count)];
    return task->context.filter_count == 1 ? task : NULL;
}

/* A task's own bound reaches the coordinator. */
static void report(struct schedule *schedule)
{
    struct scheduled_task *task = any_task(schedule);
    _cleanup_(bound_unref) struct bound *bound =
        task == NULL ? NULL : dynamic_filter_slot(task->context.filters[0], BOUND_LOCAL);
    if (is_stronger(bound, schedule->strongest)) {
        replace(&schedule->strongest, bound);
        replace(&task->told, bound);
    }
}

/* The strongest bound that the coordinator knows of reaches a task. */
static void tell(struct schedule *schedule)
{
    struct scheduled_task *task = any_task(schedule);
    bool stronger;
    if (task == NULL || !is_stronger(schedule->strongest, task->told))
        return;
    replace(&task->told, schedule->strongest);
    schedule->told++;
    dynamic_filter_offer(task->context.filters[0], BOUND_REMOTE, schedule->strongest, &stronger);
}

static kith_error *step(struct schedule *schedule)
{
    while (happens(schedule, schedule->yield_one_in))
        TRY(fiber_yield());
    if (schedule->task_count == 0)
        return NULL;
    if (happens(schedule, schedule->report_one_in))
        report(schedule);
    if (happens(schedule, schedule->tell_one_in))
        tell(schedule);
    return NULL;
}

static kith_error *gate_next(struct stream *stream, struct batch **out)
{
    struct gate_stream *self = CONTAINER_OF(stream, struct gate_stream, stream);
    TRY(step(self->gate->schedule));
    return stream_next(self->input, out);
}

static void gate_free_stream(struct stream *stream)
{
    struct gate_stream *self = CONTAINER_OF(stream, struct gate_stream, stream);
    stream_free(self->input);
    free(self);
}

static struct gate *gate_of(struct exec_operator *scan)
{
    return CONTAINER_OF((struct operator_ops *)(uintptr_t)scan->ops, struct gate, ops);
}

static kith_error *gate_execute(struct exec_operator *scan, size_t partition, struct stream **out)
{
    static const struct stream_ops ops = {.next = gate_next, .free = gate_free_stream};
    struct gate *gate = gate_of(scan);
    _cleanup_(stream_free) struct stream *input = NULL;
    struct gate_stream *self;
    TRY(step(gate->schedule));
    TRY(gate->scan_ops->execute(scan, partition, &input));
    TRY(NEW(&self));
    self->stream = *input;
    self->stream.ops = &ops;
    self->input = TAKE(input);
    self->gate = gate;
    *out = &self->stream;
    return NULL;
}

static void gate_free(struct exec_operator *scan)
{
    struct gate *gate = gate_of(scan);
    gate->scan_ops->free(scan);
    free(gate);
}

/* Puts gates in front of all scans. */
static kith_error *add_gates(struct exec_operator *node, struct schedule *schedule)
{
    struct gate *gate;
    for (size_t i = 0; i < node->plan->input_count; i++)
        TRY(add_gates(node->inputs[i], schedule));
    if (node->plan->kind != PHYSICAL_PARQUET_SCAN)
        return NULL;
    TRY(NEW(&gate));
    *gate = (struct gate){.ops = {gate_execute, gate_free}, .scan_ops = node->ops, .schedule = schedule};
    node->ops = &gate->ops;
    return NULL;
}

static kith_error *open_task(struct boundary_source *source, uint32_t stage, size_t task, struct schema *schema,
                             struct metric_set *metrics, struct stream **out)
{
    struct schedule *schedule = CONTAINER_OF(source, struct schedule, boundary);
    return operator_execute(schedule->tasks[task].tree->root, 0, out);
}

static kith_error *start_task(struct schedule *schedule, struct physical_plan *plan, struct plan_arena *arena,
                              const struct task_context *context)
{
    struct scheduled_task *task = &schedule->tasks[schedule->task_count];
    task->context = *context;
    TRY(plan_defer_columns(arena, &task->context.settings, &plan));
    TRY(operator_tree_new(plan, &task->context, &task->tree));
    schedule->task_count++;
    return add_gates(task->tree->root, schedule);
}

static void schedule_reset(struct schedule *schedule)
{
    for (size_t i = 0; i < schedule->task_count; i++) {
        operator_tree_free(schedule->tasks[i].tree, &schedule->tasks[i].context);
        bound_unref(schedule->tasks[i].told);
    }
    bound_unref(schedule->strongest);
}
DEFINE_VALUE_CLEANUP(schedule_reset, struct schedule)

static kith_error *pull_all(struct exec_operator *root, struct batch **out)
{
    _cleanup_(stream_free) struct stream *stream = NULL;
    TRY(operator_execute(root, 0, &stream));
    for (;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(stream_next(stream, &batch));
        if (batch == NULL)
            return NULL;
        TRY(topk_keep_rows(batch, out));
    }
}

static kith_error *plan_query(const char *sql, const struct settings *settings, struct plan_arena *arena,
                              struct physical_plan **out)
{
    struct sql_catalog catalog = {queries_find, queries_open, queries_names};
    _cleanup_(sql_script_free) struct sql_script *script = NULL;
    struct statement statement;
    TRY(sql_parse(str_of(sql), &script));
    struct sql_syntax syntax = sql_script_statement(script, 0);
    TRY(sql_bind(&syntax, &catalog, settings, arena, &statement));
    TRY(optimizer_run(arena, settings, &statement.plan));
    return physical_plan_create(arena, settings, 2, statement.plan, out);
}

/* On so many workers, or in one process when there are none or it is not worth it. */
static kith_error *run_scheduled(struct schedule *schedule, struct physical_plan *plan, size_t workers,
                                 struct plan_arena *arena, const struct task_context *base, struct batch **out)
{
    static const size_t processors[MOST_TASKS] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct stage_plan *stages = NULL;
    struct operator_tree *tree = NULL;
    struct task_context context = *base;
    if (workers > 0)
        TRY(stages_plan(arena, &context.settings, plan, processors, workers, &stages));
    for (size_t i = 0; stages != NULL && i < stages->task_count; i++)
        TRY(start_task(schedule, stages->tasks[i].plan, arena, base));
    if (stages == NULL)
        TRY(plan_defer_columns(arena, &context.settings, &plan));
    schedule->boundary.open = open_task;
    context.boundary = &schedule->boundary;
    TRY(operator_tree_new(stages != NULL ? stages->head : plan, &context, &tree));
    kith_error *error = add_gates(tree->root, schedule);
    if (error == NULL)
        error = pull_all(tree->root, out);
    operator_tree_free(tree, &context);
    return error;
}

struct trial {
    struct topk_table table;
    uint64_t random;
    size_t order, order_step;
    uint64_t bounds_told; /* to tasks */
};

static kith_error *run_query(struct trial *trial, const char *sql, const struct settings *settings, size_t workers,
                             struct batch **out)
{
    static const unsigned paces[] = {0, 1, 2, 10, 50};
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(memory_pool_free) struct memory_pool *pool = NULL;
    _cleanup_(cancel_token_unref) struct cancel_token *cancel = NULL;
    struct physical_plan *plan;
    uint64_t *random = &trial->random;
    TRY(memory_pool_new(0, &pool));
    TRY(cancel_token_new(NULL, &cancel));
    TRY(plan_query(sql, settings, &arena, &plan));
    _cleanup_(schedule_reset) struct schedule schedule = {
        .random = test_random(random),
        .report_one_in = paces[topk_choice(random, ARRAY_SIZE(paces))],
        .tell_one_in = paces[topk_choice(random, ARRAY_SIZE(paces))],
        .yield_one_in = 2 + (unsigned)topk_choice(random, 6),
    };
    const struct task_context context = {
        .runtime = runtime_current(), .pool = pool, .cancel = cancel, .settings = *settings};
    TRY(run_scheduled(&schedule, plan, workers, &arena, &context, out));
    trial->bounds_told += schedule.told;
    return NULL;
}

static kith_error *read_table(struct trial *trial)
{
    struct settings settings;
    settings_init(&settings);
    TRY(settings_set(&settings, SETTING_TARGET_PARTITIONS, "1"));
    TRY(run_query(trial, "SELECT id, k1, k2, k3, keep, label FROM t", &settings, 0, &trial->table.rows));
    for (size_t i = 0; i < trial->table.rows->rows; i++)
        EXPECT(scalar_from_array(trial->table.rows->columns[0], i).int64 == (int64_t)i);
    return NULL;
}

static kith_error *try_query(struct trial *trial)
{
    static const size_t workers[] = {0, 2, 5, MOST_TASKS};
    _cleanup_(batch_unref) struct batch *given = NULL;
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct topk_query query = topk_query_make(&trial->random, trial->order, &trial->table);
    struct settings settings;
    size_t count = workers[topk_choice(&trial->random, ARRAY_SIZE(workers))];
    TRY(topk_randomize(&trial->random, &settings));
    kith_error *error = run_query(trial, query.sql, &settings, count, &given);
    if (error == NULL)
        error = topk_check(&query, trial->table.rows, given);
    if (error == NULL)
        return NULL;
    error_free(topk_settings_text(&settings, &text));
    return error_wrap(error, "%s on %zu workers with%s", query.sql, count, strbuf_text(&text));
}

static kith_error *run_trial(void *argument)
{
    struct trial *trial = argument;
    TRY(read_table(trial));
    for (trial->order = topk_choice(&trial->random, trial->order_step); trial->order < TOPK_ORDERS;
         trial->order += trial->order_step)
        TRY(try_query(trial));
    return NULL;
}

/* Adds the number of bounds that tasks were told of to *context. */
static void try_seed(uint64_t seed, bool thorough, void *context)
{
    enum { ONE_ORDER_IN = 16 };
    struct trial trial = {.random = seed, .order_step = thorough ? 1 : ONE_ORDER_IN};
    topk_table_write(&trial.random, &trial.table);
    run_on(1, run_trial, &trial);
    topk_table_reset(&trial.table);
    *(uint64_t *)context += trial.bounds_told;
}

static void the_answer_is_that_of_a_plain_sort_whenever_bounds_arrive(void **state)
{
    uint64_t told = 0;
    topk_for_each_seed(24, try_seed, &told);
    print_message("tasks were told of %llu bounds\n", (unsigned long long)told);
    assert_true(told > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_answer_is_that_of_a_plain_sort_whenever_bounds_arrive,
                                        temporary_folder_enter, temporary_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
