#include "exec/files.h"

static void write_table(void)
{
    const struct parquet_write_options groups = {.codec = PARQUET_UNCOMPRESSED, .row_group_rows = 10};
    WRITE("t.parquet", &groups, {"a", sequence(0, 1, 40)}, {"b", sequence(100, -1, 40)}, {"c", sequence(0, 3, 40)});
}

struct planned {
    const char *partitions;
    enum setting off; /* SETTING_COUNT = none */
    const char *sql, *expected;
};

static void check_planned(struct planned planned)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct query_run run = query_run_of(planned.sql);
    struct logical_plan *logical = NULL;
    struct physical_plan *physical = NULL;
    query_set(&run, SETTING_TARGET_PARTITIONS, planned.partitions);
    if (planned.off != SETTING_COUNT)
        query_set(&run, planned.off, "off");
    assert_ok(query_plan(&run, &arena, true, &logical));
    assert_ok(physical_plan_create(&arena, &run.settings, 2, logical, &physical));
    assert_ok(physical_plan_format(physical, &text));
    assert_string_equal(strbuf_text(&text), planned.expected);
    assert_int_equal(physical->partitions, 1);
    size_t lines = 0;
    for (size_t i = 0; i < text.length; i++)
        lines += text.data[i] == '\n';
    assert_int_equal(physical_plan_node_count(physical), lines);
}

#define SCAN(columns) "DataSourceExec: files=1 [t.parquet], projection=[" columns "], file_type=parquet"

static void a_topk_gives_its_bound_to_the_scan_below(void **state)
{
    write_table();
    check_planned((struct planned){
        "1", SETTING_COUNT, "SELECT b FROM t ORDER BY c DESC, a LIMIT 3 OFFSET 1",
        "ProjectionExec: expr=[b@1 as b]\n"
        "  GlobalLimitExec: skip=1, fetch=3\n"
        "    SortExec: TopK(fetch=4), expr=[c@2 DESC, a@0 ASC NULLS LAST], "
        "preserve_partitioning=[false], dynamic_filter=1\n"
        "      " SCAN("a, b, c") ", dynamic_filter=1 [c@2 DESC, a@0 ASC NULLS LAST] planned_bound=90\n"});
}

/* The filter's columns are the table's, not the scan's output. */
static void the_bound_is_over_the_tables_columns(void **state)
{
    write_table();
    check_planned((struct planned){"1", SETTING_COUNT, "SELECT c FROM t ORDER BY c LIMIT 3",
                                   "ProjectionExec: expr=[c@0 as c]\n"
                                   "  GlobalLimitExec: skip=0, fetch=3\n"
                                   "    SortExec: TopK(fetch=3), expr=[c@0 ASC NULLS LAST], "
                                   "preserve_partitioning=[false], dynamic_filter=1\n"
                                   "      " SCAN("c") ", dynamic_filter=1 [c@2 ASC NULLS LAST] planned_bound=27\n"});
}

static void a_bound_passes_a_filter_that_is_not_pushed_down(void **state)
{
    write_table();
    check_planned((struct planned){"1", SETTING_PARQUET_PUSHDOWN_FILTERS,
                                   "SELECT a FROM t WHERE b > 70 ORDER BY a LIMIT 3",
                                   "ProjectionExec: expr=[a@0 as a]\n"
                                   "  GlobalLimitExec: skip=0, fetch=3\n"
                                   "    SortExec: TopK(fetch=3), expr=[a@0 ASC NULLS LAST], "
                                   "preserve_partitioning=[false], dynamic_filter=1\n"
                                   "      FilterExec: b@1 > 70\n"
                                   "        " SCAN("a, b") ", dynamic_filter=1 [a@0 ASC NULLS LAST]\n"});
}

static void no_bound_is_shared_where_a_setting_forbids_it_or_nothing_is_wanted(void **state)
{
    write_table();
    static const char without[] = "ProjectionExec: expr=[a@0 as a]\n"
                                  "  GlobalLimitExec: skip=0, fetch=3\n"
                                  "    SortExec: TopK(fetch=3), expr=[a@0 ASC NULLS LAST], "
                                  "preserve_partitioning=[false]\n"
                                  "      " SCAN("a") "\n";
    check_planned((struct planned){"1", SETTING_DYNAMIC_FILTERS, "SELECT a FROM t ORDER BY a LIMIT 3", without});
    check_planned((struct planned){"1", SETTING_TOPK_DYNAMIC_FILTERS, "SELECT a FROM t ORDER BY a LIMIT 3", without});
    check_planned((struct planned){"1", SETTING_COUNT, "SELECT a FROM t ORDER BY a LIMIT 0",
                                   "ProjectionExec: expr=[a@0 as a]\n"
                                   "  GlobalLimitExec: skip=0, fetch=0\n"
                                   "    SortExec: TopK(fetch=0), expr=[a@0 ASC NULLS LAST], "
                                   "preserve_partitioning=[false]\n"
                                   "      " SCAN("a") "\n"});
    check_planned((struct planned){"1", SETTING_COUNT, "SELECT a FROM t ORDER BY a",
                                   "ProjectionExec: expr=[a@0 as a]\n"
                                   "  SortExec: expr=[a@0 ASC NULLS LAST], preserve_partitioning=[false]\n"
                                   "    " SCAN("a") "\n"});
}

static void partitions_are_sorted_each_by_itself_and_merged(void **state)
{
    write_table();
    check_planned((struct planned){"3", SETTING_COUNT, "SELECT a FROM t ORDER BY a LIMIT 3",
                                   "ProjectionExec: expr=[a@0 as a]\n"
                                   "  GlobalLimitExec: skip=0, fetch=3\n"
                                   "    SortPreservingMergeExec: [a@0 ASC NULLS LAST], fetch=3\n"
                                   "      SortExec: TopK(fetch=3), expr=[a@0 ASC NULLS LAST], "
                                   "preserve_partitioning=[true], dynamic_filter=1\n"
                                   "        " SCAN("a") ", dynamic_filter=1 [a@0 ASC NULLS LAST] planned_bound=9\n"});
    check_planned((struct planned){"3", SETTING_COUNT, "SELECT a + 1 FROM t",
                                   "CoalescePartitionsExec\n"
                                   "  ProjectionExec: expr=[a@0 + 1 as a + 1]\n"
                                   "    " SCAN("a") "\n"});
}

static void a_limit_without_order_goes_down_to_the_scan(void **state)
{
    write_table();
    check_planned((struct planned){"1", SETTING_COUNT, "SELECT a FROM t WHERE b > 70 LIMIT 3 OFFSET 2",
                                   "ProjectionExec: expr=[a@0 as a]\n"
                                   "  GlobalLimitExec: skip=2, fetch=3\n"
                                   "    " SCAN("a") ", limit=5, predicate=b@1 > 70\n"});
    check_planned((struct planned){"3", SETTING_COUNT, "SELECT a FROM t LIMIT 3",
                                   "ProjectionExec: expr=[a@0 as a]\n"
                                   "  GlobalLimitExec: skip=0, fetch=3\n"
                                   "    CoalescePartitionsExec: fetch=3\n"
                                   "      " SCAN("a") ", limit=3\n"});
}

/* Rows that a filter will remove do not count. */
static void a_limit_does_not_pass_a_filter(void **state)
{
    write_table();
    check_planned((struct planned){"2", SETTING_PARQUET_PUSHDOWN_FILTERS, "SELECT a FROM t WHERE b > 70 LIMIT 3",
                                   "ProjectionExec: expr=[a@0 as a]\n"
                                   "  GlobalLimitExec: skip=0, fetch=3\n"
                                   "    CoalescePartitionsExec: fetch=3\n"
                                   "      LocalLimitExec: fetch=3\n"
                                   "        FilterExec: b@1 > 70\n"
                                   "          " SCAN("a, b") "\n"});
}

static size_t planned_partitions(const char *wanted)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    struct query_run run = query_run_of("SELECT a FROM t");
    struct logical_plan *logical = NULL;
    struct physical_plan *plan = NULL;
    query_set(&run, SETTING_TARGET_PARTITIONS, wanted);
    assert_ok(query_plan(&run, &arena, true, &logical));
    assert_ok(physical_plan_create(&arena, &run.settings, 8, logical, &plan));
    while (plan->input_count > 0)
        plan = plan->inputs[0];
    return plan->partitions;
}

static void a_scan_has_no_more_partitions_than_row_groups_and_one_where_it_is_small(void **state)
{
    write_table();
    assert_int_equal(planned_partitions("3"), 3);
    assert_int_equal(planned_partitions("100"), 4);
    assert_int_equal(planned_partitions("0"), 1);
}

static void a_select_without_a_table_is_one_row(void **state)
{
    check_planned((struct planned){"4", SETTING_COUNT, "SELECT 1 + 1 AS two",
                                   "ProjectionExec: expr=[2 as two]\n  PlaceholderRowExec\n"});
}

/* The last line of the plan, a scan's, must end with this. */
static void check_scan(const char *sql, const char *end)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct query_run run = query_run_of(sql);
    struct logical_plan *logical = NULL;
    struct physical_plan *physical = NULL;
    query_set(&run, SETTING_TARGET_PARTITIONS, "1");
    assert_ok(query_plan(&run, &arena, true, &logical));
    assert_ok(physical_plan_create(&arena, &run.settings, 2, logical, &physical));
    while (physical->input_count > 0)
        physical = physical->inputs[0];
    assert_ok(physical_plan_format_node(physical, &text));
    size_t length = strlen(end);
    if (text.length < length || strcmp(strbuf_text(&text) + text.length - length, end) != 0)
        fail_msg("%s: %s; expected the end %s", sql, strbuf_text(&text), end);
}

/* As the scan's own columns, whatever they are called above: c is the table's third. */
static void a_bound_passes_projections(void **state)
{
    write_table();
    check_scan("SELECT a FROM (SELECT c AS a, a AS c FROM t) AS s ORDER BY a DESC LIMIT 3",
               "file_type=parquet, dynamic_filter=1 [c@2 DESC] planned_bound=90");
    check_scan("SELECT x FROM (SELECT a + b AS x, c FROM t) AS s ORDER BY x, c LIMIT 3",
               "file_type=parquet, dynamic_filter=1 [a@0 + b@1 ASC NULLS LAST, c@2 ASC NULLS LAST]");
    check_scan("SELECT x FROM (SELECT a AS x FROM t WHERE b > 70) AS s WHERE x > 3 ORDER BY x LIMIT 3",
               "predicate=b@1 > 70 AND a@0 > 3, dynamic_filter=1 [a@0 ASC NULLS LAST] planned_bound=19");
}

/* What is below has no filter of its own unless it is a Top-K, which then is not the outer one's. */
static void a_bound_stays_above_what_it_must_not_pass(void **state)
{
    write_table();
    check_scan("SELECT a FROM (SELECT a FROM t LIMIT 9) AS s ORDER BY a LIMIT 3", "file_type=parquet, limit=9");
    check_scan("SELECT a FROM (SELECT a FROM t OFFSET 9) AS s ORDER BY a LIMIT 3", "file_type=parquet");
    check_scan("SELECT a FROM (SELECT a, b FROM t ORDER BY b LIMIT 9) AS s ORDER BY a LIMIT 3",
               "file_type=parquet, dynamic_filter=1 [b@1 ASC NULLS LAST] planned_bound=70");
    check_scan("SELECT a FROM (SELECT a, random() AS r FROM t) AS s WHERE r < 2 ORDER BY a LIMIT 3",
               "file_type=parquet");
    check_scan("SELECT a FROM t WHERE random() < 2 ORDER BY a LIMIT 3", "file_type=parquet");
    check_scan("SELECT a FROM t ORDER BY random(), a LIMIT 3", "file_type=parquet");
    check_scan("SELECT a, random() FROM t ORDER BY a LIMIT 3",
               "file_type=parquet, dynamic_filter=1 [a@0 ASC NULLS LAST] planned_bound=9");
}

static void the_members_of_a_union_share_one_bound(void **state)
{
    write_table();
    check_planned((struct planned){
        "2", SETTING_COUNT,
        "SELECT a AS x, b FROM t UNION ALL (SELECT c, a FROM t ORDER BY b LIMIT 2) UNION ALL SELECT c, 1 FROM t "
        "ORDER BY x DESC LIMIT 3",
        "GlobalLimitExec: skip=0, fetch=3\n"
        "  SortPreservingMergeExec: [x@0 DESC], fetch=3\n"
        "    UnionExec\n"
        "      SortExec: TopK(fetch=3), expr=[x@0 DESC], preserve_partitioning=[true], dynamic_filter=2\n"
        "        " SCAN(
            "a, b") ", dynamic_filter=2 [a@0 DESC] planned_bound=90\n"
                    "      SortExec: TopK(fetch=3), expr=[x@0 DESC], preserve_partitioning=[false], dynamic_filter=2\n"
                    "        ProjectionExec: expr=[c@2 as c, a@0 as a]\n"
                    "          GlobalLimitExec: skip=0, fetch=2\n"
                    "            SortPreservingMergeExec: [b@1 ASC NULLS LAST], fetch=2\n"
                    "              SortExec: TopK(fetch=2), expr=[b@1 ASC NULLS LAST], preserve_partitioning=[true], "
                    "dynamic_filter=1\n"
                    "                " SCAN("a, b, c") ", dynamic_filter=1 [b@1 ASC NULLS LAST] planned_bound=70\n"
                                                       "      SortExec: TopK(fetch=3), expr=[x@0 DESC], "
                                                       "preserve_partitioning=[true], dynamic_filter=2\n"
                                                       "        ProjectionExec: expr=[c@0 as c, 1 as 1]\n"
                                                       "          " SCAN(
                                                           "c") ", dynamic_filter=2 [c@2 DESC] planned_bound=90\n"});
}

static void a_limit_without_order_goes_down_to_every_scan_of_a_union(void **state)
{
    write_table();
    check_planned((struct planned){"1", SETTING_COUNT,
                                   "SELECT a FROM t UNION ALL SELECT b FROM t WHERE a > 3 LIMIT 4 OFFSET 1",
                                   "GlobalLimitExec: skip=1, fetch=4\n"
                                   "  CoalescePartitionsExec: fetch=5\n"
                                   "    LocalLimitExec: fetch=5\n"
                                   "      UnionExec\n"
                                   "        " SCAN("a") ", limit=5\n"
                                                        "        " SCAN("b") ", limit=5, predicate=a@0 > 3\n"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_topk_gives_its_bound_to_the_scan_below),
        FILE_TEST(the_bound_is_over_the_tables_columns),
        FILE_TEST(a_bound_passes_a_filter_that_is_not_pushed_down),
        FILE_TEST(no_bound_is_shared_where_a_setting_forbids_it_or_nothing_is_wanted),
        FILE_TEST(partitions_are_sorted_each_by_itself_and_merged),
        FILE_TEST(a_limit_without_order_goes_down_to_the_scan),
        FILE_TEST(a_limit_does_not_pass_a_filter),
        FILE_TEST(a_bound_passes_projections),
        FILE_TEST(a_bound_stays_above_what_it_must_not_pass),
        FILE_TEST(the_members_of_a_union_share_one_bound),
        FILE_TEST(a_limit_without_order_goes_down_to_every_scan_of_a_union),
        FILE_TEST(a_scan_has_no_more_partitions_than_row_groups_and_one_where_it_is_small),
        FILE_TEST(a_select_without_a_table_is_one_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
