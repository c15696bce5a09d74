#include "sql/binding.h"

#include "plan/rules.h"

#define ALL_COLUMNS "[id, small, price, score, name, flag, day, at, Mixed, Twice, TWICE]"

typedef kith_error *apply_rule(struct plan_arena *arena, const struct settings *settings, struct logical_plan **plan);

/* What the rules make of the plan as bound. */
static void check_rules(apply_rule *const *rules, size_t count, const char *sql, const char *setting_off,
                        const char *expected)
{
    _cleanup_(binding_reset) struct binding binding;
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    enum setting setting;
    binding_init(&binding);
    if (setting_off != NULL) {
        assert_ok(setting_find(setting_off, &setting));
        assert_ok(settings_set(&binding.settings, setting, "off"));
    }
    assert_ok(bind_sql(&binding, sql));
    for (size_t i = 0; i < count; i++)
        assert_ok(rules[i](&binding.plans, &binding.settings, &binding.statement.plan));
    assert_ok(logical_plan_format(binding.statement.plan, &text));
    assert_string_equal(strbuf_text(&text), expected);
}

static void check_rule(apply_rule *rule, const char *sql, const char *expected)
{
    check_rules(&rule, 1, sql, NULL, expected);
}

static void constants_are_folded_in_filters_and_the_select_list(void **state)
{
    check_rule(rule_fold_constants, "SELECT id + (1 + 2) FROM t WHERE id > 10 * 10 - 1 AND flag",
               "Projection: id@0 + 3\n"
               "  Filter: id@0 > 99 AND flag@5\n"
               "    TableScan: t projection=" ALL_COLUMNS "\n");
    check_rule(rule_fold_constants, "SELECT CASE WHEN 1 < 2 THEN upper('a') END",
               "Projection: A\n  EmptyRelation: rows=1\n");
}

static void a_constant_that_fails_is_left_to_fail_when_a_row_reaches_it(void **state)
{
    check_rule(rule_fold_constants, "SELECT 1 / 0", "Projection: 1 / 0\n  EmptyRelation: rows=1\n");
    check_rule(rule_fold_constants, "SELECT id FROM t WHERE flag AND 1 / 0 = id + (1 + 1)",
               "Projection: id@0\n"
               "  Filter: flag@5 AND 1 / 0 = id@0 + 2\n"
               "    TableScan: t projection=" ALL_COLUMNS "\n");
}

static void a_filter_above_a_scan_moves_into_it(void **state)
{
    check_rule(rule_push_filters, "SELECT id FROM t WHERE id > 1 AND flag ORDER BY id LIMIT 3",
               "Projection: id@0\n"
               "  Limit: skip=0, fetch=3\n"
               "    Sort: id@0 ASC NULLS LAST\n"
               "      TableScan: t projection=" ALL_COLUMNS ", full_filters=[id@0 > 1 AND flag@5]\n");
    check_rule(rule_push_filters, "SELECT 1 WHERE 1 > 2",
               "Projection: 1\n  Filter: 1 > 2\n    EmptyRelation: rows=1\n");
}

static void a_filter_stays_where_filters_are_not_pushed_down(void **state)
{
    check_rules((apply_rule *[]){rule_push_filters}, 1, "SELECT id FROM t WHERE flag",
                "execution.parquet.pushdown_filters",
                "Projection: id@0\n  Filter: flag@5\n    TableScan: t projection=" ALL_COLUMNS "\n");
}

/* Filters of a scan are over the table, whatever columns the scan gives. */
static void a_filter_that_moves_into_a_narrowed_scan_is_over_the_tables_columns(void **state)
{
    check_rules((apply_rule *[]){rule_prune_columns, rule_push_filters}, 2, "SELECT day FROM t WHERE flag", NULL,
                "Projection: day@1\n  TableScan: t projection=[flag, day], full_filters=[flag@5]\n");
}

static void a_limit_above_a_sort_becomes_its_fetch_with_the_offset(void **state)
{
    check_rule(rule_push_limit_into_sort, "SELECT id FROM t ORDER BY id LIMIT 5 OFFSET 2",
               "Projection: id@0\n"
               "  Limit: skip=2, fetch=5\n"
               "    Sort: id@0 ASC NULLS LAST, fetch=7\n"
               "      TableScan: t projection=" ALL_COLUMNS "\n");
    check_rule(rule_push_limit_into_sort, "SELECT id FROM t ORDER BY id LIMIT 0",
               "Projection: id@0\n"
               "  Limit: skip=0, fetch=0\n"
               "    Sort: id@0 ASC NULLS LAST, fetch=0\n"
               "      TableScan: t projection=" ALL_COLUMNS "\n");
}

static void an_offset_alone_or_more_rows_than_a_heap_holds_leave_the_sort_whole(void **state)
{
    check_rule(rule_push_limit_into_sort, "SELECT id FROM t ORDER BY id OFFSET 2",
               "Projection: id@0\n"
               "  Limit: skip=2\n"
               "    Sort: id@0 ASC NULLS LAST\n"
               "      TableScan: t projection=" ALL_COLUMNS "\n");
    check_rule(rule_push_limit_into_sort, "SELECT id FROM t ORDER BY id LIMIT 10000000 OFFSET 1",
               "Projection: id@0\n"
               "  Limit: skip=1, fetch=10000000\n"
               "    Sort: id@0 ASC NULLS LAST\n"
               "      TableScan: t projection=" ALL_COLUMNS "\n");
    check_rule(rule_push_limit_into_sort,
               "SELECT id FROM t ORDER BY id LIMIT 9223372036854775807 OFFSET 9223372036854775807",
               "Projection: id@0\n"
               "  Limit: skip=9223372036854775807, fetch=9223372036854775807\n"
               "    Sort: id@0 ASC NULLS LAST\n"
               "      TableScan: t projection=" ALL_COLUMNS "\n");
}

static void a_scan_gives_only_the_columns_that_something_reads(void **state)
{
    check_rule(rule_prune_columns, "SELECT day, price + 1 FROM t WHERE flag ORDER BY name, score LIMIT 3",
               "Projection: day@4, price@0 + 1\n"
               "  Limit: skip=0, fetch=3\n"
               "    Sort: name@2 ASC NULLS LAST, score@1 ASC NULLS LAST\n"
               "      Filter: flag@3\n"
               "        TableScan: t projection=[price, score, name, flag, day]\n");
    check_rule(rule_prune_columns, "SELECT 1 FROM t", "Projection: 1\n  TableScan: t projection=[]\n");
    check_rule(rule_prune_columns, "SELECT * FROM t LIMIT 1",
               "Projection: id@0, small@1, price@2, score@3, name@4, flag@5, day@6, at@7, Mixed@8, Twice@9, TWICE@10\n"
               "  Limit: skip=0, fetch=1\n"
               "    TableScan: t projection=" ALL_COLUMNS "\n");
}

static void a_filter_passes_projections_sorts_and_unions(void **state)
{
    check_rule(rule_push_filters,
               "SELECT y FROM (SELECT id + 1 AS y, flag FROM t WHERE small > 0 ORDER BY day) AS s WHERE y > 2 AND flag",
               "Projection: y@0\n"
               "  Projection: id@0 + 1, flag@5\n"
               "    Sort: day@6 ASC NULLS LAST\n"
               "      TableScan: t projection=" ALL_COLUMNS
               ", full_filters=[small@1 > 0 AND id@0 + 1 > 2 AND flag@5]\n");
    check_rule(rule_push_filters, "SELECT x FROM (SELECT id AS x FROM t UNION ALL SELECT 7) AS s WHERE x > 2",
               "Projection: x@0\n"
               "  Union\n"
               "    Projection: id@0\n"
               "      TableScan: t projection=" ALL_COLUMNS ", full_filters=[id@0 > 2]\n"
               "    Projection: 7\n"
               "      Filter: 7 > 2\n"
               "        EmptyRelation: rows=1\n");
}

/* A column of the same name stands elsewhere in the table: the place in the projection decides. */
static void a_filter_is_rewritten_by_position_not_by_name(void **state)
{
    check_rule(rule_push_filters, "SELECT 1 FROM (SELECT small AS id, id AS small FROM t) AS s WHERE id = 1",
               "Projection: 1\n"
               "  Projection: small@1, id@0\n"
               "    TableScan: t projection=" ALL_COLUMNS ", full_filters=[small@1 = 1]\n");
}

static void a_filter_stops_at_a_limit(void **state)
{
    check_rule(rule_push_filters, "SELECT id FROM (SELECT id FROM t ORDER BY day LIMIT 3) AS s WHERE id > 2",
               "Projection: id@0\n"
               "  Projection: id@0\n"
               "    Filter: id@0 > 2\n"
               "      Limit: skip=0, fetch=3\n"
               "        Sort: day@6 ASC NULLS LAST\n"
               "          TableScan: t projection=" ALL_COLUMNS "\n");
    check_rule(rule_push_filters, "SELECT id FROM (SELECT id FROM t OFFSET 1) AS s WHERE id > 2",
               "Projection: id@0\n"
               "  Projection: id@0\n"
               "    Filter: id@0 > 2\n"
               "      Limit: skip=1\n"
               "        TableScan: t projection=" ALL_COLUMNS "\n");
}

static void nothing_volatile_is_moved_or_passed(void **state)
{
    check_rule(rule_push_filters, "SELECT id FROM t WHERE random() < 0.5 AND flag",
               "Projection: id@0\n"
               "  Filter: random() < 0.5\n"
               "    TableScan: t projection=" ALL_COLUMNS ", full_filters=[flag@5]\n");
    check_rule(rule_push_filters, "SELECT id FROM (SELECT id, random() AS r FROM t) AS s WHERE id > 2",
               "Projection: id@0\n"
               "  Filter: id@0 > 2\n"
               "    Projection: id@0, random()\n"
               "      TableScan: t projection=" ALL_COLUMNS "\n");
    check_rule(rule_push_filters, "SELECT id FROM (SELECT id FROM t WHERE random() < 0.5) AS s WHERE id > 2",
               "Projection: id@0\n"
               "  Projection: id@0\n"
               "    Filter: id@0 > 2\n"
               "      Filter: random() < 0.5\n"
               "        TableScan: t projection=" ALL_COLUMNS "\n");
    check_rule(rule_merge_projections, "SELECT r + 1, id FROM (SELECT random() AS r, id FROM t) AS s LIMIT 2",
               "Projection: r@0 + 1.0, id@1\n"
               "  Limit: skip=0, fetch=2\n"
               "    Projection: random(), id@0\n"
               "      TableScan: t projection=" ALL_COLUMNS "\n");
}

static void projections_merge_unless_something_would_be_computed_twice(void **state)
{
    check_rule(rule_merge_projections, "SELECT b + b, a FROM (SELECT price AS a, id AS b FROM t) AS s",
               "Projection: id@0 + id@0, price@2\n"
               "  TableScan: t projection=" ALL_COLUMNS "\n");
    check_rule(rule_merge_projections, "SELECT b * 2 FROM (SELECT id + 1 AS b FROM t) AS s",
               "Projection: (id@0 + 1) * 2\n"
               "  TableScan: t projection=" ALL_COLUMNS "\n");
    check_rule(rule_merge_projections, "SELECT b * b FROM (SELECT id + 1 AS b FROM t) AS s",
               "Projection: b@0 * b@0\n"
               "  Projection: id@0 + 1\n"
               "    TableScan: t projection=" ALL_COLUMNS "\n");
}

static void a_limit_comes_below_a_projection_and_makes_the_sort_a_topk(void **state)
{
    check_rules((apply_rule *[]){rule_merge_projections, rule_push_limit_into_sort}, 2,
                "SELECT x FROM (SELECT id + 1 AS x FROM t ORDER BY day) AS s LIMIT 2", NULL,
                "Projection: id@0 + 1\n"
                "  Limit: skip=0, fetch=2\n"
                "    Sort: day@6 ASC NULLS LAST, fetch=2\n"
                "      TableScan: t projection=" ALL_COLUMNS "\n");
    /* The outer limit counts what the inner one leaves. */
    check_rules((apply_rule *[]){rule_merge_projections, rule_push_limit_into_sort}, 2,
                "SELECT id FROM (SELECT id FROM t ORDER BY day LIMIT 5 OFFSET 2) AS s LIMIT 9 OFFSET 1", NULL,
                "Projection: id@0\n"
                "  Limit: skip=1, fetch=9\n"
                "    Limit: skip=2, fetch=5\n"
                "      Sort: day@6 ASC NULLS LAST, fetch=7\n"
                "        TableScan: t projection=" ALL_COLUMNS "\n");
}

static void a_unions_rows_are_computed_by_its_members(void **state)
{
    check_rule(rule_merge_projections,
               "SELECT y FROM (SELECT x + 1 AS y FROM (SELECT id AS x FROM t UNION ALL "
               "SELECT * FROM (SELECT id + 5 FROM t UNION ALL SELECT 8) AS r) AS s) AS u",
               "Union\n"
               "  Projection: id@0 + 1\n"
               "    TableScan: t projection=" ALL_COLUMNS "\n"
               "  Projection: id@0 + 5 + 1\n"
               "    TableScan: t projection=" ALL_COLUMNS "\n"
               "  Projection: 8 + 1\n"
               "    EmptyRelation: rows=1\n");
}

static void a_sort_whose_order_nobody_sees_is_dropped(void **state)
{
    check_rule(
        rule_drop_sorts, "SELECT id FROM (SELECT * FROM t ORDER BY day) AS s ORDER BY name",
        "Projection: id@0\n"
        "  Sort: name@4 ASC NULLS LAST\n"
        "    Projection: id@0, small@1, price@2, score@3, name@4, flag@5, day@6, at@7, Mixed@8, Twice@9, TWICE@10\n"
        "      TableScan: t projection=" ALL_COLUMNS "\n");
    check_rule(rule_drop_sorts, "(SELECT id FROM t ORDER BY day) UNION ALL (SELECT id FROM t ORDER BY day LIMIT 1)",
               "Union\n"
               "  Projection: id@0\n"
               "    TableScan: t projection=" ALL_COLUMNS "\n"
               "  Projection: id@0\n"
               "    Limit: skip=0, fetch=1\n"
               "      Sort: day@6 ASC NULLS LAST\n"
               "        TableScan: t projection=" ALL_COLUMNS "\n");
    check_rule(rule_drop_sorts, "SELECT id FROM (SELECT id FROM t ORDER BY day) AS s",
               "Projection: id@0\n"
               "  Projection: id@0\n"
               "    Sort: day@6 ASC NULLS LAST\n"
               "      TableScan: t projection=" ALL_COLUMNS "\n");
}

static void columns_are_pruned_through_subqueries_and_unions(void **state)
{
    check_rule(rule_prune_columns,
               "SELECT b FROM (SELECT id AS a, price AS b, name || name AS c FROM t) AS s WHERE a > 1",
               "Projection: b@1\n"
               "  Filter: a@0 > 1\n"
               "    TableScan: t projection=[id, price]\n");
    /* Each member gives the same columns, though the second one reads another to filter by. */
    check_rule(rule_prune_columns,
               "SELECT b FROM (SELECT id AS a, name AS b FROM t UNION ALL SELECT * FROM "
               "(SELECT id, name FROM t LIMIT 3) AS r WHERE id > 1) AS s",
               "Projection: b@0\n"
               "  Union\n"
               "    TableScan: t projection=[name]\n"
               "    Projection: name@1\n"
               "      Filter: id@0 > 1\n"
               "        Limit: skip=0, fetch=3\n"
               "          TableScan: t projection=[id, name]\n");
}

static void the_result_keeps_the_names_of_its_columns(void **state)
{
    _cleanup_(binding_reset) struct binding binding;
    binding_init(&binding);
    assert_ok(bind_sql(&binding, "SELECT x AS y FROM (SELECT id AS x FROM t) AS s"));
    assert_ok(optimizer_run(&binding.plans, &binding.settings, &binding.statement.plan));
    assert_string_equal(binding.statement.plan->schema->fields[0].name, "y");
}

/* Each level uses the one below twice. */
static void a_filter_stays_where_it_would_grow_beyond_measure(void **state)
{
    _cleanup_(strbuf_reset) struct strbuf sql = {0};
    _cleanup_(binding_reset) struct binding binding;
    binding_init(&binding);
    for (int i = 0; i < 28; i++)
        assert_ok(strbuf_append_text(&sql, "SELECT x + x AS x FROM ("));
    assert_ok(strbuf_append_text(&sql, "SELECT id AS x FROM t"));
    for (int i = 0; i < 28; i++)
        assert_ok(strbuf_append_text(&sql, ") AS s"));
    assert_ok(strbuf_append_text(&sql, " WHERE x > 1 ORDER BY x LIMIT 3"));
    assert_ok(bind_sql(&binding, strbuf_text(&sql)));
    assert_ok(optimizer_run(&binding.plans, &binding.settings, &binding.statement.plan));
    struct logical_plan *filter = find_node(binding.statement.plan, LOGICAL_FILTER);
    assert_non_null(filter);
    assert_int_equal(filter->inputs[0]->kind, LOGICAL_PROJECTION);
}

static void the_optimizer_runs_all_rules(void **state)
{
    _cleanup_(binding_reset) struct binding binding;
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    binding_init(&binding);
    assert_ok(bind_sql(&binding, "SELECT day FROM t WHERE id > 1 + 1 ORDER BY score DESC LIMIT 3"));
    assert_ok(optimizer_run(&binding.plans, &binding.settings, &binding.statement.plan));
    assert_ok(logical_plan_format(binding.statement.plan, &text));
    assert_string_equal(strbuf_text(&text), "Projection: day@1\n"
                                            "  Limit: skip=0, fetch=3\n"
                                            "    Sort: score@0 DESC, fetch=3\n"
                                            "      TableScan: t projection=[score, day], full_filters=[id@0 > 2]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_folded_in_filters_and_the_select_list),
        cmocka_unit_test(a_constant_that_fails_is_left_to_fail_when_a_row_reaches_it),
        cmocka_unit_test(a_filter_above_a_scan_moves_into_it),
        cmocka_unit_test(a_filter_stays_where_filters_are_not_pushed_down),
        cmocka_unit_test(a_filter_that_moves_into_a_narrowed_scan_is_over_the_tables_columns),
        cmocka_unit_test(a_limit_above_a_sort_becomes_its_fetch_with_the_offset),
        cmocka_unit_test(an_offset_alone_or_more_rows_than_a_heap_holds_leave_the_sort_whole),
        cmocka_unit_test(a_scan_gives_only_the_columns_that_something_reads),
        cmocka_unit_test(a_filter_passes_projections_sorts_and_unions),
        cmocka_unit_test(a_filter_is_rewritten_by_position_not_by_name),
        cmocka_unit_test(a_filter_stops_at_a_limit),
        cmocka_unit_test(nothing_volatile_is_moved_or_passed),
        cmocka_unit_test(projections_merge_unless_something_would_be_computed_twice),
        cmocka_unit_test(a_limit_comes_below_a_projection_and_makes_the_sort_a_topk),
        cmocka_unit_test(a_unions_rows_are_computed_by_its_members),
        cmocka_unit_test(a_sort_whose_order_nobody_sees_is_dropped),
        cmocka_unit_test(columns_are_pruned_through_subqueries_and_unions),
        cmocka_unit_test(the_result_keeps_the_names_of_its_columns),
        cmocka_unit_test(a_filter_stays_where_it_would_grow_beyond_measure),
        cmocka_unit_test(the_optimizer_runs_all_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
