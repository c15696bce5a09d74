#include "cluster/cluster_fixture.h"

#include "cluster/stages.h"

/* A query planned for workers of two threads each. */
struct planned {
    struct plan_arena arena;
    struct sql_script *script;
    struct physical_plan *plan;
    struct stage_plan *stages;
};

static void planned_reset(struct planned *planned)
{
    plan_arena_reset(&planned->arena);
    sql_script_free(planned->script);
}
DEFINE_VALUE_CLEANUP(planned_reset, struct planned)

struct planning {
    const char *sql;
    size_t workers;
    struct settings settings;
    struct planned *out;
};

static kith_error *plan_in_fiber(void *argument)
{
    struct planning *planning = argument;
    struct planned *out = planning->out;
    struct sql_catalog catalog = {queries_find, queries_open, queries_names};
    struct statement statement;
    const size_t processors[MOST_WORKERS] = {2, 2, 2, 2, 2};
    TRY(sql_parse(str_of(planning->sql), &out->script));
    struct sql_syntax syntax = sql_script_statement(out->script, 0);
    TRY(sql_bind(&syntax, &catalog, &planning->settings, &out->arena, &statement));
    TRY(optimizer_run(&out->arena, &planning->settings, &statement.plan));
    TRY(physical_plan_create(&out->arena, &planning->settings, 2, statement.plan, &out->plan));
    return stages_plan(&out->arena, &planning->settings, out->plan, processors, planning->workers, &out->stages);
}

static struct planned plan_with(const char *sql, size_t workers, enum setting setting, const char *value)
{
    struct planned planned = {0};
    struct planning planning = {.sql = sql, .workers = workers, .out = &planned};
    settings_init(&planning.settings);
    assert_ok(settings_set(&planning.settings, SETTING_BYTES_PER_TASK, "1"));
    assert_ok(settings_set(&planning.settings, setting, value));
    run_on(2, plan_in_fiber, &planning);
    return planned;
}

static struct planned plan(const char *sql, size_t workers)
{
    return plan_with(sql, workers, SETTING_BYTES_PER_TASK, "1");
}

static void check_kinds(const struct physical_plan *node, const enum physical_kind *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_non_null(node);
        assert_int_equal(node->kind, kinds[i]);
        node = node->input_count == 0 ? NULL : node->inputs[0];
    }
    assert_null(node);
}

static const struct parquet_scan *scan_of(const struct physical_plan *plan)
{
    while (plan->input_count > 0)
        plan = plan->inputs[0];
    return &plan->scan;
}

static void a_sort_runs_in_the_tasks_and_is_merged_above(void **state)
{
    static const enum physical_kind head[] = {PHYSICAL_PROJECTION, PHYSICAL_GLOBAL_LIMIT,
                                              PHYSICAL_SORT_PRESERVING_MERGE, PHYSICAL_NETWORK_COALESCE};
    static const enum physical_kind stage[] = {PHYSICAL_SORT, PHYSICAL_PARQUET_SCAN};
    write_scores("scores/a.parquet", 1, 4, 100, -1);
    _cleanup_(planned_reset) struct planned planned = plan("SELECT id + 1 FROM scores ORDER BY score LIMIT 9", 2);
    assert_non_null(planned.stages);
    check_kinds(planned.stages->head, head, ARRAY_SIZE(head));
    check_kinds(planned.stages->tasks[1].plan, stage, ARRAY_SIZE(stage));
    assert_int_equal(planned.stages->head->inputs[0]->inputs[0]->sort.fetch, 9);
    assert_int_equal(planned.stages->tasks[1].plan->partitions, 1);
}

static void tasks_of_several_partitions_merge_them_into_one(void **state)
{
    static const enum physical_kind stage[] = {PHYSICAL_SORT_PRESERVING_MERGE, PHYSICAL_SORT, PHYSICAL_PARQUET_SCAN};
    write_scores("scores/a.parquet", 1, 4, 100, -1);
    _cleanup_(planned_reset) struct planned planned =
        plan_with("SELECT id FROM scores ORDER BY score LIMIT 9", 2, SETTING_TARGET_PARTITIONS, "3");
    check_kinds(planned.stages->tasks[0].plan, stage, ARRAY_SIZE(stage));
    assert_int_equal(planned.stages->tasks[0].plan->partitions, 1);
    assert_int_equal(planned.stages->tasks[0].plan->inputs[0]->partitions, 3);
}

static void a_limit_without_order_is_taken_in_each_task_and_above(void **state)
{
    static const enum physical_kind head[] = {PHYSICAL_PROJECTION, PHYSICAL_GLOBAL_LIMIT, PHYSICAL_COALESCE_PARTITIONS,
                                              PHYSICAL_NETWORK_COALESCE};
    write_scores("scores/a.parquet", 1, 4, 100, -1);
    _cleanup_(planned_reset) struct planned planned = plan("SELECT id FROM scores LIMIT 5 OFFSET 2", 2);
    check_kinds(planned.stages->head, head, ARRAY_SIZE(head));
    assert_int_equal(planned.stages->head->inputs[0]->inputs[0]->limit.fetch, 7);
    assert_int_equal(scan_of(planned.stages->tasks[0].plan)->limit, 7);
}

static const struct physical_plan *only_input(const struct physical_plan *node, enum physical_kind kind)
{
    assert_int_equal(node->kind, kind);
    assert_int_equal(node->input_count, 1);
    return node->inputs[0];
}

static void the_members_of_a_union_are_one_stage(void **state)
{
    static const enum physical_kind head[] = {PHYSICAL_GLOBAL_LIMIT, PHYSICAL_SORT_PRESERVING_MERGE,
                                              PHYSICAL_NETWORK_COALESCE};
    static const enum physical_kind members[][3] = {{PHYSICAL_SORT, PHYSICAL_PROJECTION, PHYSICAL_PARQUET_SCAN},
                                                    {PHYSICAL_SORT, PHYSICAL_PROJECTION, PHYSICAL_PARQUET_SCAN}};
    write_scores("scores/a.parquet", 1, 4, 100, -1);
    write_scores("few/a.parquet", 2, 2, 20, -1);
    _cleanup_(planned_reset) struct planned planned =
        plan("SELECT id + 1 AS x FROM few UNION ALL SELECT score + 1 FROM scores ORDER BY x LIMIT 9", 3);
    check_kinds(planned.stages->head, head, ARRAY_SIZE(head));
    assert_int_equal(planned.stages->head->inputs[0]->inputs[0]->partitions, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct physical_plan *both = only_input(planned.stages->tasks[i].plan, PHYSICAL_SORT_PRESERVING_MERGE);
        assert_int_equal(both->kind, PHYSICAL_UNION);
        assert_int_equal(both->input_count, 2);
        for (size_t j = 0; j < 2; j++) {
            check_kinds(both->inputs[j], members[j], 3);
            assert_int_equal(both->inputs[j]->sort.filter_id, planned.stages->filter->id);
        }
    }
}

/* Below the merge that makes one order of them, in the head. */
static void members_that_tasks_cannot_run_stay_with_the_head(void **state)
{
    write_scores("scores/a.parquet", 1, 4, 100, -1);
    write_scores("few/a.parquet", 2, 2, 20, -1);
    _cleanup_(planned_reset) struct planned planned =
        plan("SELECT 7 AS x UNION ALL SELECT score FROM scores UNION ALL (SELECT id FROM few ORDER BY score LIMIT 3) "
             "UNION ALL SELECT id FROM few ORDER BY x LIMIT 9",
             3);
    const struct physical_plan *members = only_input(planned.stages->head->inputs[0], PHYSICAL_SORT_PRESERVING_MERGE);
    assert_int_equal(members->kind, PHYSICAL_UNION);
    assert_int_equal(members->input_count, 3);
    assert_int_equal(members->inputs[0]->kind, PHYSICAL_NETWORK_COALESCE);
    assert_int_equal(members->inputs[1]->kind, PHYSICAL_SORT);
    assert_int_equal(members->inputs[2]->kind, PHYSICAL_SORT);
    assert_int_equal(members->partitions, 3 + members->inputs[1]->partitions + members->inputs[2]->partitions);
    assert_int_equal(only_input(planned.stages->tasks[0].plan, PHYSICAL_SORT_PRESERVING_MERGE)->input_count, 2);
}

static void a_member_that_tasks_can_only_run_in_part_is_spread_if_it_is_the_largest(void **state)
{
    static const enum physical_kind stage[] = {PHYSICAL_SORT, PHYSICAL_PARQUET_SCAN};
    write_scores("scores/a.parquet", 1, 4, 100, -1);
    write_scores("few/a.parquet", 2, 2, 20, -1);
    _cleanup_(planned_reset) struct planned planned =
        plan("SELECT id AS x FROM few UNION ALL (SELECT id FROM scores ORDER BY score LIMIT 3) ORDER BY x LIMIT 9", 3);
    check_kinds(planned.stages->tasks[0].plan, stage, ARRAY_SIZE(stage));
    assert_int_equal(planned.stages->tasks[0].plan->sort.fetch, 3);
    const struct physical_plan *members = only_input(planned.stages->head->inputs[0], PHYSICAL_SORT_PRESERVING_MERGE);
    assert_int_equal(members->input_count, 2);
    assert_int_equal(members->inputs[0]->kind, PHYSICAL_SORT);
}

static void what_stands_above_a_union_has_the_partitions_of_its_tasks(void **state)
{
    write_scores("scores/a.parquet", 1, 4, 100, -1);
    _cleanup_(planned_reset) struct planned planned = plan("SELECT id FROM scores UNION ALL SELECT 1 LIMIT 5", 3);
    const struct physical_plan *coalesce = planned.stages->head->inputs[0], *local = coalesce->inputs[0];
    assert_int_equal(coalesce->kind, PHYSICAL_COALESCE_PARTITIONS);
    assert_int_equal(local->kind, PHYSICAL_LOCAL_LIMIT);
    assert_int_equal(local->partitions, 4);
    assert_int_equal(local->inputs[0]->partitions, 4);
}

static void what_cannot_be_divided_is_not_distributed(void **state)
{
    write_scores("scores/a.parquet", 1, 1, 100, -1);
    _cleanup_(planned_reset) struct planned one_row_group = plan("SELECT * FROM scores", 3);
    _cleanup_(planned_reset) struct planned no_table = plan("SELECT 1", 3);
    assert_null(one_row_group.stages);
    assert_null(no_table.stages);
}

static void tasks_are_as_many_as_bytes_workers_and_the_setting_allow(void **state)
{
    write_scores("scores/a.parquet", 1, 8, 1000, -1);
    _cleanup_(planned_reset) struct planned large = plan("SELECT * FROM scores", 5);
    _cleanup_(planned_reset) struct planned small =
        plan_with("SELECT * FROM scores", 5, SETTING_BYTES_PER_TASK, "16MiB");
    _cleanup_(planned_reset) struct planned few = plan_with("SELECT * FROM scores", 5, SETTING_MAX_TASKS, "3");
    assert_int_equal(large.stages->task_count, 5);
    assert_int_equal(small.stages->task_count, 2);
    assert_int_equal(few.stages->task_count, 3);
}

static bool owns(const struct scan_file *share, const struct scan_file *file, int64_t row_group_start)
{
    return strstr(share->path, file->path) != NULL &&
           (!share->has_range || (row_group_start >= share->range_start && row_group_start < share->range_end));
}

/* Counts, for each row group of a scan, the tasks whose files and ranges own it by the scan's rule. */
static void check_owners(const struct stage_plan *stages, size_t scan)
{
    const struct parquet_scan *all = &stages->tasks[0].scans[scan].of_stage->scan;
    for (size_t file = 0; file < all->file_count; file++) {
        const struct parquet_metadata *metadata = all->table->files[file].file->metadata;
        for (size_t group = 0; group < metadata->row_group_count; group++) {
            int64_t start = (int64_t)metadata->row_groups[group].chunks[0].pages.offset;
            size_t owners = 0;
            for (size_t task = 0; task < stages->task_count; task++) {
                const struct parquet_scan *share = &stages->tasks[task].scans[scan].of_task->scan;
                for (size_t i = 0; i < share->file_count; i++)
                    owners += owns(&share->files[i], &all->files[file], start);
            }
            assert_int_equal(owners, 1);
        }
    }
}

static void every_row_group_belongs_to_one_task(void **state)
{
    static const size_t groups[][3] = {{6, 1, 1}, {1, 1, 1}, {3, 5, 2}, {9, 1, 0}, {2, 2, 2}};
    for (size_t layout = 0; layout < ARRAY_SIZE(groups); layout++) {
        char folder[16], sql[128];
        snprintf(folder, sizeof folder, "t%zu", layout);
        for (size_t file = 0; file < 3 && groups[layout][file] > 0; file++) {
            char path[64];
            snprintf(path, sizeof path, "%s/%zu.parquet", folder, file);
            write_scores(path, file, groups[layout][file], 50 + 30 * file, -1);
        }
        /* A table, the same twice, and together with others. */
        for (size_t members = 1; members <= layout + 1; members++) {
            snprintf(sql, sizeof sql, "SELECT * FROM %s", folder);
            for (size_t i = 1; i < members; i++)
                snprintf(sql + strlen(sql), sizeof sql - strlen(sql), " UNION ALL SELECT * FROM t%zu", layout - i + 1);
            for (size_t workers = 2; workers <= MOST_WORKERS; workers++) {
                _cleanup_(planned_reset) struct planned planned = plan(sql, workers);
                for (size_t scan = 0; scan < members; scan++)
                    check_owners(planned.stages, scan);
            }
        }
    }
}

static void files_of_equal_size_go_whole_to_tasks(void **state)
{
    write_scores("scores/a.parquet", 1, 4, 100, -1);
    write_scores("scores/b.parquet", 1, 4, 100, -1);
    _cleanup_(planned_reset) struct planned planned = plan("SELECT * FROM scores", 2);
    for (size_t task = 0; task < 2; task++) {
        const struct parquet_scan *share = scan_of(planned.stages->tasks[task].plan);
        assert_int_equal(share->file_count, 1);
        assert_false(share->files[0].has_range);
        assert_int_equal(share->files[0].path[0], '/');
    }
}

/* The promise is of the one row group that beats all others; who has none like it waits. */
static void a_task_that_a_promise_would_rule_out_waits(void **state)
{
    write_scores("scores/a.parquet", 1, 4, 1000, 2);
    write_scores("scores/b.parquet", 2, 4, 1000, -1);
    _cleanup_(planned_reset) struct planned promised =
        plan("SELECT id FROM scores WHERE keep <> 0 ORDER BY score DESC LIMIT 10", 2);
    assert_true(promised.stages->promise.exists);
    assert_true(promised.stages->promise.value.int64 >= 950000);
    size_t waiting = promised.stages->tasks[0].waits ? 0 : 1;
    assert_true(promised.stages->tasks[waiting].waits);
    assert_false(promised.stages->tasks[1 - waiting].waits);
    assert_int_equal(promised.stages->tasks[1 - waiting].promising, 1);
}

static void too_few_rows_or_an_expression_promise_nothing(void **state)
{
    write_scores("scores/a.parquet", 1, 4, 1000, 2);
    write_scores("scores/b.parquet", 2, 4, 1000, -1);
    /* Of a thousand rows a predicate may well leave less than a hundred. */
    _cleanup_(planned_reset) struct planned many = plan("SELECT id FROM scores ORDER BY score DESC LIMIT 100", 2);
    _cleanup_(planned_reset) struct planned expression =
        plan("SELECT id FROM scores ORDER BY score + 1 DESC LIMIT 10", 2);
    for (size_t i = 0; i < 2; i++) {
        assert_false(many.stages->tasks[i].waits);
        assert_false(expression.stages->tasks[i].waits);
    }
}

/* Groups of a: three below 900000 and one up to 1000000; of b: four below 900000. */
static void steps_are_the_best_values_of_the_row_groups_that_are_left(void **state)
{
    write_scores("scores/a.parquet", 1, 4, 1000, 2);
    write_scores("scores/b.parquet", 2, 4, 1000, -1);
    _cleanup_(planned_reset) struct planned planned =
        plan("SELECT id FROM scores WHERE keep <> 0 ORDER BY score DESC LIMIT 10", 2);
    const struct stage_plan *stages = planned.stages;
    const struct stage_task *a = stages->tasks[0].promising > 0 ? &stages->tasks[0] : &stages->tasks[1];
    const struct stage_task *b = a == &stages->tasks[0] ? &stages->tasks[1] : &stages->tasks[0];
    assert_int_equal(stages->steps.count, 7); /* of eight: one quarter of them at a time */
    assert_int_equal(a->steps.count, 4);
    assert_int_equal(b->steps.count, 4);
    assert_true(a->steps.values[2].int64 <= 900000 && a->steps.values[3].int64 >= 950000);
    for (size_t i = 0; i < 4; i++)
        assert_true(b->steps.values[i].int64 <= 900000);
    assert_int_equal(bound_steps_passed(&b->steps, &a->steps.values[3]), 4);
    assert_int_equal(bound_steps_passed(&stages->steps, &a->steps.values[3]), 7);
}

/* Without WHERE a thousand rows of the best row group prove a bound before anything is read. */
static void what_the_planned_bound_rules_out_is_no_step(void **state)
{
    write_scores("scores/a.parquet", 1, 4, 1000, 2);
    write_scores("scores/b.parquet", 2, 4, 1000, -1);
    _cleanup_(planned_reset) struct planned planned = plan("SELECT id FROM scores ORDER BY score DESC LIMIT 10", 2);
    assert_int_equal(planned.stages->steps.count, 1);
    assert_true(planned.stages->steps.values[0].int64 >= 950000);
    assert_false(planned.stages->tasks[0].waits || planned.stages->tasks[1].waits);
}

/* The best row group is of one table, what it rules out of another. */
static void statistics_speak_of_all_members(void **state)
{
    write_scores("scores/a.parquet", 1, 1, 1000, 0);
    write_scores("more/a.parquet", 2, 4, 1000, -1);
    _cleanup_(planned_reset) struct planned planned =
        plan("SELECT id, score FROM scores WHERE keep <> 0 UNION ALL SELECT id, score FROM more WHERE keep <> 0 "
             "ORDER BY score DESC LIMIT 10",
             2);
    const struct stage_plan *stages = planned.stages;
    assert_int_equal(stages->steps.count, 5);
    assert_true(stages->promise.exists);
    assert_int_equal(stages->tasks[0].promising + stages->tasks[1].promising, 1);
    assert_true(stages->tasks[0].waits != stages->tasks[1].waits);
}

static void the_bound_that_members_prove_together_rules_out_row_groups_of_each(void **state)
{
    write_scores("scores/a.parquet", 1, 1, 1000, 0);
    write_scores("more/a.parquet", 2, 4, 1000, -1);
    _cleanup_(planned_reset) struct planned planned =
        plan("SELECT id, score FROM scores UNION ALL SELECT id, score FROM more ORDER BY score DESC LIMIT 10", 2);
    const struct stage_plan *stages = planned.stages;
    assert_int_equal(stages->steps.count, 1);
    for (size_t i = 0; i < 2; i++)
        assert_true(stages->tasks[0].scans[i].of_stage->scan.dynamic_filters[0].planned->int64 >= 950000);
}

static void an_expression_has_no_steps(void **state)
{
    write_scores("scores/a.parquet", 1, 4, 1000, 2);
    _cleanup_(planned_reset) struct planned planned = plan("SELECT id FROM scores ORDER BY score + 1 LIMIT 10", 2);
    assert_non_null(planned.stages->filter);
    assert_int_equal(planned.stages->steps.count, 0);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, temporary_folder_enter, temporary_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(a_sort_runs_in_the_tasks_and_is_merged_above),
        IN_A_FOLDER(tasks_of_several_partitions_merge_them_into_one),
        IN_A_FOLDER(a_limit_without_order_is_taken_in_each_task_and_above),
        IN_A_FOLDER(the_members_of_a_union_are_one_stage),
        IN_A_FOLDER(members_that_tasks_cannot_run_stay_with_the_head),
        IN_A_FOLDER(a_member_that_tasks_can_only_run_in_part_is_spread_if_it_is_the_largest),
        IN_A_FOLDER(what_stands_above_a_union_has_the_partitions_of_its_tasks),
        IN_A_FOLDER(what_cannot_be_divided_is_not_distributed),
        IN_A_FOLDER(tasks_are_as_many_as_bytes_workers_and_the_setting_allow),
        IN_A_FOLDER(every_row_group_belongs_to_one_task),
        IN_A_FOLDER(files_of_equal_size_go_whole_to_tasks),
        IN_A_FOLDER(a_task_that_a_promise_would_rule_out_waits),
        IN_A_FOLDER(too_few_rows_or_an_expression_promise_nothing),
        IN_A_FOLDER(steps_are_the_best_values_of_the_row_groups_that_are_left),
        IN_A_FOLDER(what_the_planned_bound_rules_out_is_no_step),
        IN_A_FOLDER(statistics_speak_of_all_members),
        IN_A_FOLDER(the_bound_that_members_prove_together_rules_out_row_groups_of_each),
        IN_A_FOLDER(an_expression_has_no_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
