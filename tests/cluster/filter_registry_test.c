#include "testing.h"

#include "cluster/filter_registry.h"

/* The sort of all tests: ORDER BY score DESC NULLS LAST, so a larger score is the stronger bound. */
static const struct expr score = {.kind = EXPR_COLUMN, .type = {.id = TYPE_INT64}, .nullable = true};
static const struct sort_expr by_score = {.expr = &score, .order = {.descending = true}};

static struct filter_registry *registry_of(size_t tasks, int64_t interval_ns)
{
    struct filter_registry *registry = NULL;
    assert_ok(filter_registry_new(tasks, pace_make(interval_ns, 1), pace_make(0, 1), NULL, &registry));
    assert_ok(filter_registry_add(registry, 1, &by_score, 1));
    return registry;
}

static bool report(struct filter_registry *registry, size_t task, int64_t value)
{
    struct scalar scalar = {.type = {.id = TYPE_INT64}, .int64 = value};
    const struct bound_message message = {.filter_id = 1, .value_count = 1, .values = &scalar};
    bool improved;
    assert_ok(filter_registry_report(registry, task, &message, &improved));
    return improved;
}

/* What `task` is sent at `now_ns`; INT64_MIN when nothing. */
static int64_t take_at(struct filter_registry *registry, size_t task, int64_t now_ns)
{
    struct filter_registry_update update;
    int64_t due_ns;
    if (!filter_registry_take(registry, task, now_ns, &update, &due_ns))
        return INT64_MIN;
    int64_t value = update.bound->values[0].int64;
    bound_unref(update.bound);
    return value;
}

static int64_t take(struct filter_registry *registry, size_t task)
{
    return take_at(registry, task, 0);
}

static struct filter_registry_counters counters_of(struct filter_registry *registry)
{
    struct filter_registry_counters counters;
    filter_registry_counters(registry, &counters);
    return counters;
}

static void a_bound_goes_to_all_siblings_but_its_finder(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of(3, 0);
    assert_true(report(registry, 1, 50));
    assert_int_equal(take(registry, 0), 50);
    assert_int_equal(take(registry, 1), INT64_MIN);
    assert_int_equal(take(registry, 2), 50);
    assert_int_equal(take(registry, 0), INT64_MIN);
    assert_int_equal(counters_of(registry).sent, 2);
}

static void a_weaker_bound_is_counted_and_dropped(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of(2, 0);
    report(registry, 0, 50);
    assert_int_equal(take(registry, 1), 50);
    assert_false(report(registry, 1, 49));
    assert_false(report(registry, 1, 50));
    assert_int_equal(take(registry, 0), INT64_MIN);
    struct filter_registry_counters counters = counters_of(registry);
    assert_int_equal(counters.produced, 3);
    assert_int_equal(counters.unique, 1);
    assert_int_equal(counters.dropped, 2);
}

static void a_newer_bound_takes_the_place_of_one_not_sent(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of(2, 0);
    for (int64_t value = 1; value <= 100; value++)
        report(registry, 0, value);
    assert_int_equal(take(registry, 1), 100);
    assert_int_equal(take(registry, 1), INT64_MIN);
    assert_int_equal(counters_of(registry).superseded, 99);
}

static void nothing_is_sent_to_who_found_as_good_meanwhile(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of(2, 0);
    report(registry, 0, 50);
    report(registry, 1, 50);
    assert_int_equal(take(registry, 1), INT64_MIN);
    assert_int_equal(take(registry, 0), INT64_MIN);
    report(registry, 0, 51);
    report(registry, 1, 52);
    assert_int_equal(take(registry, 1), INT64_MIN);
    assert_int_equal(take(registry, 0), 52);
}

static void the_interval_holds_bounds_back_and_lets_the_newest_through(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of(2, 100);
    struct filter_registry_update update;
    int64_t due_ns;
    report(registry, 0, 1);
    assert_int_equal(take_at(registry, 1, 1000), 1);
    report(registry, 0, 2);
    assert_false(filter_registry_take(registry, 1, 1099, &update, &due_ns));
    assert_int_equal(due_ns, 1100);
    report(registry, 0, 3);
    assert_int_equal(take_at(registry, 1, 1100), 3);
    assert_false(filter_registry_take(registry, 1, 1101, &update, &due_ns));
    assert_int_equal(due_ns, INT64_MAX);
}

static void a_burst_goes_out_at_once_and_is_there_again_after_a_rest(void **state)
{
    struct pace pace = pace_make(100, 3);
    for (int64_t now_ns = 1000; now_ns <= 5000; now_ns += 4000) {
        for (int i = 0; i < 3; i++) {
            assert_true(pace_due_ns(&pace) <= now_ns);
            pace_sent(&pace, now_ns);
        }
        assert_int_equal(pace_due_ns(&pace), now_ns + 100);
    }
}

static void without_a_set_interval_it_grows_with_the_tasks(void **state)
{
    struct settings settings;
    settings_init(&settings);
    assert_int_equal(pace_of_settings(&settings, 8).interval_ns, 4 * pace_of_settings(&settings, 2).interval_ns);
    assert_true(pace_of_settings(&settings, 8).burst > 1);
    settings.values[SETTING_SIBLING_TOPK_INTERVAL] = 5;
    assert_int_equal(pace_of_settings(&settings, 8).interval_ns, 5 * NANOSECONDS_PER_MILLISECOND);
    assert_int_equal(pace_of_settings(&settings, 8).burst, 1);
}

static void bounds_of_unknown_filters_or_other_types_are_refused(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of(2, 0);
    bool improved;
    struct scalar values[2] = {{.type = {.id = TYPE_INT64}}, {.type = {.id = TYPE_INT64}}};
    struct bound_message message = {.filter_id = 2, .value_count = 1, .values = values};
    assert_fails(filter_registry_report(registry, 0, &message, &improved), KITH_ERROR_PROTOCOL, "filter 2");
    message = (struct bound_message){.filter_id = 1, .value_count = 2, .values = values};
    assert_fails(filter_registry_report(registry, 0, &message, &improved), KITH_ERROR_PROTOCOL, "2 values, expected 1");
    message.value_count = 1;
    values[0].type.id = TYPE_UTF8;
    values[0].string = str_of("x");
    assert_fails(filter_registry_report(registry, 0, &message, &improved), KITH_ERROR_PROTOCOL, "type");
}

static void a_bound_without_room_in_the_pool_is_dropped(void **state)
{
    _cleanup_(memory_pool_free) struct memory_pool *pool = NULL;
    _cleanup_(filter_registry_free) struct filter_registry *registry = NULL;
    assert_ok(memory_pool_new(1000, &pool));
    assert_ok(filter_registry_new(2, pace_make(0, 1), pace_make(0, 1), pool, &registry));
    assert_ok(filter_registry_add(registry, 1, &by_score, 1));
    size_t before = memory_pool_used(pool);
    struct reservation rest = reservation_make(pool, "test");
    assert_ok(reservation_resize(&rest, 1000 - before));
    assert_false(report(registry, 0, 5));
    assert_int_equal(take(registry, 1), INT64_MIN);
    reservation_release(&rest);
    assert_true(report(registry, 0, 6));
    assert_true(memory_pool_used(pool) > before);
    assert_int_equal(take(registry, 1), 6);
}

/* Task 0 has no row group that a bound rules out, task 1 has two. */
static void what_rules_out_no_row_group_of_a_task_is_told_at_another_pace(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = NULL;
    const struct scalar values[] = {{.type = {.id = TYPE_INT64}, .int64 = 10},
                                    {.type = {.id = TYPE_INT64}, .int64 = 20}};
    const struct bound_steps none = {0}, two = {values, 2, by_score.order};
    struct pace slow = pace_make(1000, 1);
    slow.used_until_ns = 1000;
    assert_ok(filter_registry_new(3, pace_make(0, 1), slow, NULL, &registry));
    assert_ok(filter_registry_add(registry, 1, &by_score, 1));
    filter_registry_set_steps(registry, 1, 0, &none);
    filter_registry_set_steps(registry, 1, 1, &two);
    report(registry, 2, 9);
    assert_true(filter_registry_waits(registry, 1));
    assert_false(filter_registry_has_worthwhile(registry, 1));
    assert_int_equal(take(registry, 1), INT64_MIN);
    report(registry, 2, 11);
    assert_true(filter_registry_has_worthwhile(registry, 1));
    assert_int_equal(take(registry, 1), 11);
    report(registry, 2, 19); /* no further step */
    assert_int_equal(take_at(registry, 1, 999), INT64_MIN);
    assert_int_equal(take_at(registry, 1, 1000), 19);
    report(registry, 2, 25);
    assert_int_equal(take_at(registry, 1, 1000), 25);
    assert_int_equal(take_at(registry, 0, 999), INT64_MIN);
    assert_int_equal(take_at(registry, 0, 1000), 25);
}

static void a_task_is_told_only_of_what_its_own_bound_does_not_rule_out(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = NULL;
    const struct scalar value = {.type = {.id = TYPE_INT64}, .int64 = 10};
    const struct bound_steps steps = {&value, 1, by_score.order};
    assert_ok(filter_registry_new(2, pace_make(0, 1), pace_of_others(0), NULL, &registry));
    assert_ok(filter_registry_add(registry, 1, &by_score, 1));
    filter_registry_set_steps(registry, 1, 0, &steps);
    report(registry, 0, 10);
    report(registry, 1, 50);
    assert_false(filter_registry_has_worthwhile(registry, 0));
    assert_int_equal(take(registry, 0), INT64_MIN);
}

static void an_improvement_costs_a_message_to_each_other_task_at_most(void **state)
{
    uint64_t random = 3;
    for (size_t tasks = 1; tasks <= 64; tasks *= 2) {
        _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of(tasks, 0);
        for (int64_t value = 0; value < 50; value++) {
            uint64_t before = counters_of(registry).sent;
            report(registry, test_random(&random) % tasks, value);
            for (size_t i = 0; i < 2 * tasks; i++)
                take(registry, i % tasks);
            assert_int_equal(counters_of(registry).sent - before, tasks - 1);
        }
    }
}

/* Up to three ranks (value, rows), the end marked by rows of 0. */
struct said {
    int64_t value;
    uint64_t rows;
};

static kith_error *report_ranks(struct filter_registry *registry, size_t task, const struct said *said, bool *improved)
{
    struct scalar values[3];
    struct rank_message ranks[3];
    struct ranks_message message = {.filter_id = 1, .value_count = 1, .ranks = ranks};
    for (; message.rank_count < 3 && said[message.rank_count].rows > 0; message.rank_count++) {
        size_t i = message.rank_count;
        values[i] = (struct scalar){.type = {.id = TYPE_INT64}, .int64 = said[i].value};
        ranks[i] = (struct rank_message){&values[i], said[i].rows};
    }
    return filter_registry_report_ranks(registry, task, &message, improved);
}

static struct filter_registry *registry_of_ranks(size_t tasks, uint64_t wanted)
{
    struct filter_registry *registry = registry_of(tasks, 0);
    assert_ok(filter_registry_collect_ranks(registry, 1, wanted));
    return registry;
}

static void tasks_together_prove_a_bound_that_goes_to_all_of_them(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of_ranks(3, 10);
    bool improved;
    assert_ok(report_ranks(registry, 0, (const struct said[4]){{90, 3}, {80, 6}}, &improved));
    assert_false(improved);
    assert_ok(report_ranks(registry, 1, (const struct said[4]){{95, 3}, {70, 4}}, &improved));
    assert_true(improved);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(take(registry, i), 70);
    assert_ok(report_ranks(registry, 2, (const struct said[4]){{85, 1}}, &improved));
    assert_true(improved); /* 3 and 3 and 1 are better than 80, with 6 for 3 that is enough */
    assert_int_equal(take(registry, 0), 80);
    assert_int_equal(counters_of(registry).combined, 2);
    assert_int_equal(counters_of(registry).produced, 3);
    assert_int_equal(counters_of(registry).dropped, 1);
}

static void a_repeated_message_of_ranks_adds_nothing(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of_ranks(2, 10);
    bool improved;
    for (int i = 0; i < 10; i++) {
        assert_ok(report_ranks(registry, 0, (const struct said[4]){{90, 6}}, &improved));
        assert_false(improved);
    }
}

static void as_many_rows_as_are_wanted_are_the_tasks_own_bound(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of_ranks(3, 10);
    bool improved;
    assert_ok(report_ranks(registry, 0, (const struct said[4]){{90, 3}, {80, 10}}, &improved));
    assert_true(improved);
    assert_int_equal(take(registry, 0), INT64_MIN);
    assert_int_equal(take(registry, 1), 80);
    assert_int_equal(take(registry, 2), 80);
    assert_int_equal(counters_of(registry).combined, 0);
}

static void ranks_and_bounds_of_one_filter_go_together(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of_ranks(3, 10);
    bool improved;
    assert_ok(report_ranks(registry, 0, (const struct said[4]){{90, 5}}, &improved));
    assert_true(report(registry, 2, 60)); /* by a worker that tells no ranks */
    assert_int_equal(take(registry, 0), 60);
    assert_ok(report_ranks(registry, 1, (const struct said[4]){{70, 5}}, &improved));
    assert_int_equal(take(registry, 2), 70);
    assert_ok(report_ranks(registry, 1, (const struct said[4]){{50, 7}}, &improved));
    assert_false(improved);
}

static void ranks_that_do_not_rise_or_were_not_asked_for_are_refused(void **state)
{
    _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of_ranks(2, 10);
    _cleanup_(filter_registry_free) struct filter_registry *without = registry_of(2, 0);
    bool improved;
    assert_fails(report_ranks(registry, 0, (const struct said[4]){{90, 3}, {90, 6}}, &improved), KITH_ERROR_PROTOCOL,
                 "no worse");
    assert_fails(report_ranks(registry, 0, (const struct said[4]){{90, 3}, {95, 6}}, &improved), KITH_ERROR_PROTOCOL,
                 "no worse");
    assert_fails(report_ranks(without, 0, (const struct said[4]){{90, 3}}, &improved), KITH_ERROR_PROTOCOL, "ranks");
}

/* What the tasks of the model know: everything that each reported or was sent. */
struct model {
    int64_t reported[6], received[6], strongest;
    uint64_t reports, sends;
};

static void check_send(struct model *model, size_t task, int64_t value)
{
    assert_int_equal(value, model->strongest);
    assert_true(value > model->reported[task]);
    assert_true(value > model->received[task]);
    model->received[task] = value;
    model->sends++;
}

/* Random reports and sends against a model that remembers everything: whatever is sent is the strongest there is and
 * news to its recipient, and in the end all know the strongest. */
static void random_reports_leave_every_task_with_the_strongest_bound(void **state)
{
    uint64_t random = 7;
    for (int round = 0; round < 300; round++) {
        size_t tasks = 1 + test_random(&random) % 6;
        _cleanup_(filter_registry_free) struct filter_registry *registry = registry_of(tasks, 0);
        struct model model = {.strongest = INT64_MIN};
        for (size_t i = 0; i < tasks; i++)
            model.reported[i] = model.received[i] = INT64_MIN;
        for (int step = 0; step < 200; step++) {
            size_t task = test_random(&random) % tasks;
            if (test_random(&random) % 2 == 0) {
                int64_t value = (int64_t)(test_random(&random) % 40) + step / 4;
                bool improves = value > model.strongest;
                assert_int_equal(report(registry, task, value), improves && tasks > 1);
                model.reported[task] = MAX(model.reported[task], value);
                model.strongest = MAX(model.strongest, value);
                model.reports++;
            } else {
                int64_t value = take(registry, task);
                if (value != INT64_MIN)
                    check_send(&model, task, value);
                else
                    assert_true(MAX(model.reported[task], model.received[task]) == model.strongest);
            }
        }
        for (size_t task = 0; task < tasks; task++) {
            int64_t value = take(registry, task);
            if (value != INT64_MIN)
                check_send(&model, task, value);
            assert_int_equal(MAX(model.reported[task], model.received[task]), model.strongest);
        }
        struct filter_registry_counters counters = counters_of(registry);
        assert_int_equal(counters.produced, model.reports);
        assert_int_equal(counters.sent, model.sends);
        assert_int_equal(counters.unique + counters.dropped, model.reports);
        assert_int_equal(counters.sent + counters.superseded, counters.unique * (tasks - 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_goes_to_all_siblings_but_its_finder),
        cmocka_unit_test(a_weaker_bound_is_counted_and_dropped),
        cmocka_unit_test(a_newer_bound_takes_the_place_of_one_not_sent),
        cmocka_unit_test(nothing_is_sent_to_who_found_as_good_meanwhile),
        cmocka_unit_test(the_interval_holds_bounds_back_and_lets_the_newest_through),
        cmocka_unit_test(a_burst_goes_out_at_once_and_is_there_again_after_a_rest),
        cmocka_unit_test(without_a_set_interval_it_grows_with_the_tasks),
        cmocka_unit_test(what_rules_out_no_row_group_of_a_task_is_told_at_another_pace),
        cmocka_unit_test(a_task_is_told_only_of_what_its_own_bound_does_not_rule_out),
        cmocka_unit_test(an_improvement_costs_a_message_to_each_other_task_at_most),
        cmocka_unit_test(tasks_together_prove_a_bound_that_goes_to_all_of_them),
        cmocka_unit_test(a_repeated_message_of_ranks_adds_nothing),
        cmocka_unit_test(as_many_rows_as_are_wanted_are_the_tasks_own_bound),
        cmocka_unit_test(ranks_and_bounds_of_one_filter_go_together),
        cmocka_unit_test(ranks_that_do_not_rise_or_were_not_asked_for_are_refused),
        cmocka_unit_test(bounds_of_unknown_filters_or_other_types_are_refused),
        cmocka_unit_test(a_bound_without_room_in_the_pool_is_dropped),
        cmocka_unit_test(random_reports_leave_every_task_with_the_strongest_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
