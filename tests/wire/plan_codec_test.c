/* Plans arrive as they were sent, whatever they are made of; what DataFusion may send beside that is read or refused
 * by name; damaged bytes are refused. */
#include "testing.h"

#include "base/limits.h"
#include "wire/expr_codec.h"
#include "wire/plan_codec.h"
#include "wire/plan_equal.h"
#include "wire/plans.h"
#include "wire/protobuf.h"

#include <pthread.h>

#define KIND(name)      DATAFUSION__PHYSICAL_PLAN_NODE__KIND_##name
#define EXPR_KIND(name) DATAFUSION__PHYSICAL_EXPR_NODE__KIND_##name

static kith_error *decode(const struct strbuf *bytes, struct plan_arena *arena, struct physical_plan **out)
{
    return plan_decode((const uint8_t *)bytes->data, bytes->length, arena, out);
}

/* A plan's message, to be changed and sent again. */
static Datafusion__PhysicalPlanNode *message_of(size_t plan_index, struct arena *arena, struct strbuf *bytes)
{
    _cleanup_(plan_arena_reset) struct plan_arena plans = {0};
    Datafusion__PhysicalPlanNode *node;
    struct physical_plan *plan;
    assert_ok(test_plan(plan_index, &plans, &plan));
    assert_ok(plan_encode(plan, bytes));
    assert_ok(protobuf_read(&datafusion__physical_plan_node__descriptor, (struct str){bytes->data, bytes->length},
                            PROTOBUF_REFUSE_UNKNOWN, arena, &node));
    return node;
}

static kith_error *decode_message(const Datafusion__PhysicalPlanNode *node, struct plan_arena *arena,
                                  struct physical_plan **out)
{
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    assert_ok(protobuf_write(&node->base, &bytes));
    return decode(&bytes, arena, out);
}

static kith_error *refusal(const Datafusion__PhysicalPlanNode *node)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    struct physical_plan *plan;
    return decode_message(node, &arena, &plan);
}

static void every_plan_arrives_as_it_was_sent(void **state)
{
    for (size_t i = 0; i < TEST_PLAN_COUNT; i++) {
        _cleanup_(plan_arena_reset) struct plan_arena here = {0}, there = {0};
        _cleanup_(strbuf_reset) struct strbuf bytes = {0}, again = {0}, sent = {0}, arrived = {0};
        struct physical_plan *plan, *read;
        assert_ok(test_plan(i, &here, &plan));
        assert_ok(plan_encode(plan, &bytes));
        assert_ok(decode(&bytes, &there, &read));
        assert_ok(physical_plan_format(plan, &sent));
        assert_ok(physical_plan_format(read, &arrived));
        assert_string_equal(strbuf_text(&sent), strbuf_text(&arrived));
        assert_true(test_plans_equal(plan, read));
        assert_ok(plan_encode(read, &again));
        assert_int_equal(again.length, bytes.length);
        assert_memory_equal(again.data, bytes.data, bytes.length);
    }
}

static void random_expressions_arrive_as_they_were_sent(void **state)
{
    _cleanup_(schema_unref) struct schema *schema = NULL;
    uint64_t random = 1;
    assert_ok(test_schema_for_random_exprs(&schema));
    for (size_t i = 0; i < 3000; i++) {
        _cleanup_(arena_reset) struct arena arena = {0};
        const struct expr *expr, *read;
        Datafusion__PhysicalExprNode *node;
        struct expr_decoder decoder = {.arena = &arena};
        assert_ok(test_random_expr(&arena, schema, i % 2 == 0 ? TYPE_BOOL : TYPE_INT64, 2 + i % 6, &random, &expr));
        assert_ok(expr_encode(expr, &arena, &node));
        assert_ok(expr_decode(&decoder, schema, node, &read));
        assert_true(test_exprs_equal(expr, read));
        assert_true(expr_equal(expr, read));
    }
}

/* Bytes written by DataFusion 55: SELECT count(*) AS n of 2,000 rows, counted from statistics, and SELECT id, d, p …
 * WHERE false. */
static void plans_that_datafusion_wrote_are_read(void **state)
{
    static const uint8_t one_row[] =
        "\x22\x2a\x0a\x1e\xda\x01\x1b\x0a\x17\x0a\x15\x0a\x0f\x63\x6f\x75\x6e\x74\x28\x49\x6e\x74\x36\x34"
        "\x28\x31\x29\x29\x12\x02\x52\x00\x10\x01\x12\x05\x12\x03\x38\xd0\x0f\x1a\x01\x6e";
    static const uint8_t no_rows[] =
        "\x1a\x2c\x0a\x28\x0a\x0a\x0a\x02\x69\x64\x12\x02\x52\x00\x18\x01\x0a\x0a\x0a\x01\x64\x12\x03\x8a"
        "\x01\x00\x18\x01\x0a\x0e\x0a\x01\x70\x12\x07\xc2\x01\x04\x18\x0f\x20\x02\x18\x01\x10\x01";
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct physical_plan *read;
    char name[128];
    assert_ok(plan_decode(one_row, sizeof one_row - 1, &arena, &read));
    assert_ok(physical_plan_format(read, &text));
    assert_string_equal(strbuf_text(&text), "ProjectionExec: expr=[2000 as n]\n"
                                            "  ProjectionExec: expr=[NULL as count(Int64(1))]\n"
                                            "    PlaceholderRowExec\n");
    assert_ok(plan_decode(no_rows, sizeof no_rows - 1, &arena, &read));
    assert_int_equal(read->kind, PHYSICAL_EMPTY);
    assert_int_equal(read->partitions, 1);
    assert_int_equal(read->schema->field_count, 3);
    assert_string_equal(read->schema->fields[2].name, "p");
    assert_string_equal(type_format(&read->schema->fields[0].type, name, sizeof name), "Int64");
    assert_string_equal(type_format(&read->schema->fields[1].type, name, sizeof name), "Date32");
    assert_string_equal(type_format(&read->schema->fields[2].type, name, sizeof name), "Decimal128(15, 2)");
    assert_true(read->schema->fields[2].nullable);
}

/* NOT NOT … id = id, as deep as an expression may be; CASE takes the most levels of messages. */
static const struct expr *deep_expr(struct arena *arena, const struct schema *schema, enum expr_kind kind, size_t depth)
{
    const struct expr *expr, *operands[3];
    assert_ok(expr_column(arena, schema, 2, &expr));
    while (expr->depth < depth) {
        operands[0] = operands[1] = operands[2] = expr;
        if (kind == EXPR_NOT)
            assert_ok(expr_unary(arena, EXPR_NOT, expr, &expr));
        else {
            /* One deep operand: the others are columns. */
            assert_ok(expr_column(arena, schema, 3, &operands[0]));
            assert_ok(expr_column(arena, schema, 3, &operands[2]));
            assert_ok(expr_case(arena, operands, 3, &expr));
        }
    }
    return expr;
}

struct trip {
    enum expr_kind kind;
    bool arrived;
};

static void *send_deep_expr(void *argument)
{
    struct trip *trip = argument;
    _cleanup_(plan_arena_reset) struct plan_arena here = {0}, there = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    struct physical_plan *plan, *read;
    assert_ok(test_plan(8, &here, &plan));
    struct physical_plan *filter = plan->inputs[0];
    filter->filter.predicate = deep_expr(&here.arena, filter->schema, trip->kind, LIMIT_SQL_NESTING);
    assert_ok(plan_encode(plan, &bytes));
    assert_ok(decode(&bytes, &there, &read));
    trip->arrived = test_plans_equal(plan, read);
    return NULL;
}

/* On a stack as small as a fiber's. */
static void the_deepest_expressions_arrive(void **state)
{
    static const enum expr_kind kinds[] = {EXPR_NOT, EXPR_CASE};
    pthread_attr_t attributes;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, LIMIT_FIBER_STACK_BYTES), 0);
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        struct trip trip = {.kind = kinds[i]};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, &attributes, send_deep_expr, &trip), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(trip.arrived);
    }
    pthread_attr_destroy(&attributes);
}

static Datafusion__PhysicalExprNode *column_node(struct arena *arena, uint32_t index)
{
    Datafusion__PhysicalExprNode *node;
    assert_ok(protobuf_new(arena, &datafusion__physical_expr_node__descriptor, &node));
    assert_ok(protobuf_new(arena, &datafusion__physical_column__descriptor, &node->column));
    node->kind_case = EXPR_KIND(COLUMN);
    node->column->index = index;
    return node;
}

static Datafusion__PhysicalExprNode *binary_node(struct arena *arena, char *op, Datafusion__PhysicalExprNode *left,
                                                 Datafusion__PhysicalExprNode *right)
{
    Datafusion__PhysicalExprNode *node;
    assert_ok(protobuf_new(arena, &datafusion__physical_expr_node__descriptor, &node));
    assert_ok(protobuf_new(arena, &datafusion__physical_binary_expr_node__descriptor, &node->binary_expr));
    node->kind_case = EXPR_KIND(BINARY_EXPR);
    node->binary_expr->op = op;
    node->binary_expr->l = left;
    node->binary_expr->r = right;
    return node;
}

/* DataFusion before version 52 nests chains to the left. 400 of them are more levels than an expression may have. */
static void long_chains_of_and_are_flat_however_they_are_sent(void **state)
{
    static char and[] = "And", minus[] = "Minus";
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(schema_unref) struct schema *schema = NULL;
    struct expr_decoder decoder = {.arena = &arena};
    const struct expr *read;
    assert_ok(test_schema_for_random_exprs(&schema));
    Datafusion__PhysicalExprNode *chain = column_node(&arena, 2);
    for (size_t i = 0; i < 400; i++)
        chain = binary_node(&arena, and, chain, column_node(&arena, 3));
    assert_ok(expr_decode(&decoder, schema, chain, &read));
    assert_int_equal(read->kind, EXPR_AND);
    assert_int_equal(read->operand_count, 401);
    assert_int_equal(read->operands[0]->column.index, 2);
    assert_int_equal(read->operands[1]->column.index, 3);

    /* i0 - i1 - i0, flat, is (i0 - i1) - i0 */
    Datafusion__PhysicalExprNode *flat[] = {column_node(&arena, 0), column_node(&arena, 1), column_node(&arena, 0)};
    Datafusion__PhysicalExprNode *node = binary_node(&arena, minus, NULL, NULL);
    node->binary_expr->operands = flat;
    node->binary_expr->n_operands = 3;
    assert_ok(expr_decode(&decoder, schema, node, &read));
    assert_int_equal(read->kind, EXPR_BINARY);
    assert_int_equal(read->operands[0]->kind, EXPR_BINARY);
    assert_int_equal(read->operands[1]->kind, EXPR_COLUMN);
}

static void a_case_over_a_column_compares_it(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(schema_unref) struct schema *schema = NULL;
    struct expr_decoder decoder = {.arena = &arena};
    Datafusion__PhysicalWhenThen when = DATAFUSION__PHYSICAL_WHEN_THEN__INIT, *whens[] = {&when};
    Datafusion__PhysicalCaseNode choice = DATAFUSION__PHYSICAL_CASE_NODE__INIT;
    Datafusion__PhysicalExprNode node = DATAFUSION__PHYSICAL_EXPR_NODE__INIT;
    const struct expr *read, *columns[2], *equal, *expected;
    assert_ok(test_schema_for_random_exprs(&schema));
    choice.expr = column_node(&arena, 0);
    when.when_expr = column_node(&arena, 1);
    when.then_expr = column_node(&arena, 4);
    choice.when_then_expr = whens;
    choice.n_when_then_expr = 1;
    node.kind_case = EXPR_KIND(CASE_);
    node.case_ = &choice;
    assert_ok(expr_decode(&decoder, schema, &node, &read));
    assert_ok(expr_column(&arena, schema, 0, &columns[0]));
    assert_ok(expr_column(&arena, schema, 1, &columns[1]));
    assert_ok(expr_binary(&arena, OP_EQ, columns[0], columns[1], &equal));
    assert_ok(expr_column(&arena, schema, 4, &columns[1]));
    columns[0] = equal;
    assert_ok(expr_case(&arena, columns, 2, &expected));
    assert_true(test_exprs_equal(read, expected));
}

static Datafusion__PhysicalPlanNode *plan_node(struct arena *arena, int kind)
{
    Datafusion__PhysicalPlanNode *node;
    assert_ok(protobuf_new(arena, &datafusion__physical_plan_node__descriptor, &node));
    node->kind_case = (Datafusion__PhysicalPlanNode__KindCase)kind;
    return node;
}

static void a_filter_that_projects_and_limits_becomes_three_operators(void **state)
{
    static uint32_t columns[] = {4, 0};
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0}, text = {0};
    struct physical_plan *read;
    Datafusion__PhysicalPlanNode *node = message_of(8, &arena.arena, &bytes)->projection->input;
    node->filter->expr = column_node(&arena.arena, 2);
    node->filter->projection = columns;
    node->filter->n_projection = 2;
    node->filter->maybe_fetch_case = DATAFUSION__FILTER_EXEC_NODE__MAYBE_FETCH_FETCH;
    node->filter->fetch = 3;
    assert_ok(decode_message(node, &arena, &read));
    assert_ok(physical_plan_format(read, &text));
    assert_string_equal(strbuf_text(&text), "ProjectionExec: expr=[t0@4 as t0, i0@0 as i0]\n"
                                            "  LocalLimitExec: fetch=3\n"
                                            "    FilterExec: b0@2\n"
                                            "      EmptyExec\n");
}

static void an_operator_that_only_takes_turns_is_passed_through(void **state)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    struct physical_plan *read;
    Datafusion__PhysicalPlanNode *node = plan_node(&arena.arena, KIND(COOPERATIVE));
    assert_ok(protobuf_new(&arena.arena, &datafusion__cooperative_exec_node__descriptor, &node->cooperative));
    node->cooperative->input = message_of(5, &arena.arena, &bytes);
    assert_ok(decode_message(node, &arena, &read));
    assert_int_equal(read->kind, PHYSICAL_EMPTY);
}

/* DataFusion says a filter's orders once, at the sort that has it. */
static void orders_of_a_filter_come_from_its_sort_when_they_are_not_sent(void **state)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    struct physical_plan *read;
    Datafusion__PhysicalPlanNode *node = message_of(0, &arena.arena, &bytes);
    Datafusion__SortExecNode *sort = node->sort_preserving_merge->input->sort;
    Datafusion__PhysicalBinaryExprNode *predicate = sort->input->parquet_scan->predicate->binary_expr;
    Datafusion__PhysicalDynamicFilterNode *filter = predicate->operands[1]->dynamic_filter;
    filter->n_orders = 0;
    assert_ok(decode_message(node, &arena, &read));
    const struct parquet_scan *scan = &read->inputs[0]->inputs[0]->scan;
    assert_int_equal(scan->dynamic_filter_count, 1);
    assert_true(scan->dynamic_filters[0].exprs[0].order.descending);
    assert_false(scan->dynamic_filters[0].exprs[0].order.nulls_first);
    assert_false(scan->dynamic_filters[0].exprs[1].order.descending);
    assert_true(scan->dynamic_filters[0].exprs[1].order.nulls_first);

    /* Nor is there a sort: nobody could tighten it. */
    sort->dynamic_filter = NULL;
    assert_ok(decode_message(node, &arena, &read));
    assert_int_equal(read->inputs[0]->inputs[0]->scan.dynamic_filter_count, 0);
    assert_non_null(read->inputs[0]->inputs[0]->scan.predicate);
}

static void filters_whose_ends_differ_are_refused(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    Datafusion__PhysicalPlanNode *node = message_of(0, &arena, &bytes);
    Datafusion__SortExecNode *sort = node->sort_preserving_merge->input->sort;
    Datafusion__PhysicalBinaryExprNode *predicate = sort->input->parquet_scan->predicate->binary_expr;
    Datafusion__PhysicalDynamicFilterNode *filter = predicate->operands[1]->dynamic_filter;
    filter->planned = NULL; /* which would be refused first */
    filter->orders[0]->descending = 0;
    assert_fails(refusal(node), KITH_ERROR_CORRUPT, "the dynamic filter 41 has different keys in two places");
    filter->orders[0]->descending = 1;
    filter->children[0]->column->index = 2; /* text, where the sort is by a number */
    assert_fails(refusal(node), KITH_ERROR_CORRUPT, "the dynamic filter 41 has different keys in two places");
    filter->children[0]->column->index = 4;
    filter->orders[0]->maybe_descending_case = 0;
    assert_fails(refusal(node), KITH_ERROR_CORRUPT, "lacks its direction");
    filter->orders[0]->maybe_descending_case = DATAFUSION__SORT_ORDER__MAYBE_DESCENDING_DESCENDING;
    filter->n_children = 1;
    assert_fails(refusal(node), KITH_ERROR_CORRUPT, "1 keys and 2 orders");
}

static void operators_that_are_not_there_are_named(void **state)
{
    static const struct {
        int kind;
        const char *text;
    } cases[] = {
        {KIND(HASH_JOIN), "operator hash_join is not implemented"},
        {KIND(AGGREGATE), "operator aggregate is not implemented"},
        {KIND(REPARTITION), "operator repartition is not implemented"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(arena_reset) struct arena arena = {0};
        assert_fails(refusal(plan_node(&arena, cases[i].kind)), KITH_ERROR_NOT_IMPLEMENTED, cases[i].text);
    }
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    struct physical_plan *plan;
    assert_fails(plan_decode((const uint8_t *)"\xa2\x06\x00", 3, &arena, &plan), KITH_ERROR_NOT_IMPLEMENTED,
                 "field 100 of PhysicalPlanNode is not implemented");
}

static void expressions_that_are_not_there_are_named(void **state)
{
    static char op[] = "RegexMatch", name[] = "my_function";
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    Datafusion__PhysicalScalarUdfNode call;
    Datafusion__PhysicalPlanNode *node = message_of(8, &arena, &bytes)->projection->input;
    node->filter->expr = column_node(&arena, 0);
    node->filter->expr->kind_case = EXPR_KIND(HASH_EXPR);
    node->filter->expr->hash_expr = (ProtobufCBinaryData){0};
    assert_fails(refusal(node), KITH_ERROR_NOT_IMPLEMENTED, "expression hash_expr is not implemented");
    node->filter->expr = binary_node(&arena, op, column_node(&arena, 4), column_node(&arena, 4));
    assert_fails(refusal(node), KITH_ERROR_NOT_IMPLEMENTED, "operator RegexMatch is not implemented");
    node->filter->expr->kind_case = EXPR_KIND(SCALAR_UDF);
    datafusion__physical_scalar_udf_node__init(&call);
    node->filter->expr->scalar_udf = &call;
    call.name = name;
    assert_fails(refusal(node), KITH_ERROR_NOT_IMPLEMENTED, "function my_function is not implemented");
}

static void what_does_not_fit_its_input_is_refused(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0}, limits = {0}, sorts = {0};
    static char eq[] = "Eq";
    Datafusion__PhysicalPlanNode *node = message_of(8, &arena, &bytes)->projection->input;
    node->filter->expr = column_node(&arena, 6);
    assert_fails(refusal(node), KITH_ERROR_UNDEFINED_COLUMN, "column 6 of a schema of 6 columns");
    node->filter->expr = column_node(&arena, 0);
    assert_fails(refusal(node), KITH_ERROR_TYPE_MISMATCH, "a condition in the plan is Int64");
    node->filter->expr = binary_node(&arena, eq, column_node(&arena, 0), column_node(&arena, 4));
    assert_fails(refusal(node), KITH_ERROR_TYPE_MISMATCH, "Int64");
    node->filter->expr = binary_node(&arena, eq, column_node(&arena, 0), NULL);
    assert_fails(refusal(node), KITH_ERROR_CORRUPT, "lacks an operand");
    node->filter->expr = NULL;
    assert_fails(refusal(node), KITH_ERROR_CORRUPT, "lacks an operand");

    Datafusion__PhysicalPlanNode *limit = message_of(1, &arena, &limits);
    limit->global_limit->input = limit->global_limit->input->merge->input;
    assert_fails(refusal(limit), KITH_ERROR_CORRUPT, "reads 4 partitions; it takes one");
    Datafusion__PhysicalPlanNode *sort = message_of(0, &arena, &sorts)->sort_preserving_merge->input;
    sort->sort->preserve_partitioning = 0;
    assert_fails(refusal(sort), KITH_ERROR_CORRUPT, "reads 3 partitions; it takes one");
    sort->sort->n_expr = 0;
    sort->sort->preserve_partitioning = 1;
    assert_fails(refusal(sort), KITH_ERROR_CORRUPT, "a sort in the plan has no key");
}

static void scans_that_mean_more_than_is_done_here_are_refused(void **state)
{
    static char column[] = "year", store[] = "s3://bucket/";
    char *columns[] = {column};
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    Datafusion__PhysicalPlanNode *node = message_of(7, &arena, &bytes)->sort->input;
    Datafusion__FileScanExecConf *config = node->parquet_scan->base_conf;
    assert_null(refusal(node));
    config->table_partition_cols = columns;
    config->n_table_partition_cols = 1;
    assert_fails(refusal(node), KITH_ERROR_NOT_IMPLEMENTED, "partition columns (year)");
    config->n_table_partition_cols = 0;
    char *before = config->object_store_url;
    config->object_store_url = store;
    assert_fails(refusal(node), KITH_ERROR_NOT_IMPLEMENTED, "the object store s3://bucket/");
    config->object_store_url = before;
    config->projection_exprs->projections[0]->expr->column->index = 5;
    assert_fails(refusal(node), KITH_ERROR_UNDEFINED_COLUMN, "column 5 of a schema of 5 columns");
}

static void a_union_whose_inputs_do_not_fit_is_refused(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0}, other = {0};
    Datafusion__PhysicalPlanNode *node = message_of(9, &arena, &bytes)->sort_preserving_merge->input;
    Datafusion__PhysicalPlanNode *sort = node->union_->inputs[1], *row = message_of(4, &arena, &other);
    assert_null(refusal(node));
    node->union_->inputs[1] = row;
    assert_fails(refusal(node), KITH_ERROR_CORRUPT, "a union in the plan has inputs of different columns");
    node->union_->inputs[1] = sort;
    sort->sort->fetch = 8;
    assert_fails(refusal(node), KITH_ERROR_CORRUPT, "tighten the dynamic filter 5 at different numbers of rows");
    sort->sort->fetch = 7;
    sort->sort->n_expr = 1;
    assert_fails(refusal(node), KITH_ERROR_CORRUPT, "the dynamic filter 5 has different keys");
    node->union_->n_inputs = 0;
    assert_fails(refusal(node), KITH_ERROR_CORRUPT, "a union in the plan has no input");
}

/* Kith's says that an operator above keeps it; DataFusion's means it. */
static void a_scan_that_keeps_its_limit_gets_an_operator_for_it(void **state)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0}, text = {0};
    struct physical_plan *read;
    Datafusion__PhysicalPlanNode *node = message_of(1, &arena.arena, &bytes)->global_limit->input->merge->input;
    Datafusion__ScanLimit *limit = node->local_limit->input->parquet_scan->base_conf->limit;
    assert_int_equal(limit->limit, 12);
    limit->maybe_sufficient_rows_case = 0;
    assert_ok(decode_message(node->local_limit->input, &arena, &read));
    assert_ok(physical_plan_format(read, &text));
    assert_string_equal(strbuf_text(&text), "LocalLimitExec: fetch=12\n"
                                            "  DataSourceExec: files=1 [/data/part 0%#.parquet], projection=[comment, "
                                            "score, id], file_type=parquet, limit=12\n");
}

static void a_scan_that_computes_or_renames_becomes_a_scan_and_a_projection(void **state)
{
    static char minus[] = "Minus", difference[] = "difference", renamed[] = "renamed";
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0}, text = {0};
    struct physical_plan *read;
    Datafusion__PhysicalPlanNode *node = message_of(7, &arena.arena, &bytes)->sort->input;
    Datafusion__ProjectionExpr **projections = node->parquet_scan->base_conf->projection_exprs->projections;
    projections[0]->expr = binary_node(&arena.arena, minus, column_node(&arena.arena, 4), column_node(&arena.arena, 4));
    projections[0]->alias = difference;
    projections[1]->alias = renamed;
    assert_ok(decode_message(node, &arena, &read));
    assert_ok(physical_plan_format(read, &text));
    assert_string_equal(strbuf_text(&text),
                        "ProjectionExec: expr=[score@1 - score@1 as difference, score@1 as renamed, id@0 as id]\n"
                        "  DataSourceExec: files=0 [], projection=[id, score], file_type=parquet\n");
}

/* A hundred thousand levels in two hundred kilobytes: filters over filters. */
static void a_bomb_of_levels_is_refused(void **state)
{
    enum { LEVELS = 100000 };
    _cleanup_(strbuf_reset) struct strbuf reversed = {0}, bytes = {0};
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    struct physical_plan *plan;
    for (size_t i = 0; i < LEVELS; i++) {
        uint8_t length[10], tag[] = {i % 2 == 0 ? 0x0a : 0x62}; /* input = 1 in filter = 12 */
        size_t used = 0, rest = reversed.length;
        do {
            length[used++] = (uint8_t)((rest & 0x7f) | (rest >= 0x80 ? 0x80 : 0));
            rest >>= 7;
        } while (rest > 0);
        for (size_t j = used; j-- > 0;)
            assert_ok(strbuf_append(&reversed, &length[j], 1));
        assert_ok(strbuf_append(&reversed, tag, 1));
    }
    for (size_t i = reversed.length; i-- > 0;)
        assert_ok(strbuf_append(&bytes, &reversed.data[i], 1));
    assert_fails(decode(&bytes, &arena, &plan), KITH_ERROR_LIMIT, "PLAN_DEPTH (1000 levels)");
}

static void a_plan_of_too_many_levels_of_operators_is_refused(void **state)
{
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    Datafusion__PhysicalPlanNode *node = message_of(5, &arena, &bytes);
    for (size_t i = 0; i < LIMIT_PLAN_NESTING; i++) {
        Datafusion__PhysicalPlanNode *above = plan_node(&arena, KIND(MERGE));
        assert_ok(protobuf_new(&arena, &datafusion__coalesce_partitions_exec_node__descriptor, &above->merge));
        above->merge->input = node;
        node = above;
    }
    assert_fails(refusal(node), KITH_ERROR_LIMIT, "PLAN_NESTING (64)");
    assert_null(refusal(node->merge->input));
}

static void cut_plans_are_refused(void **state)
{
    _cleanup_(plan_arena_reset) struct plan_arena here = {0};
    _cleanup_(strbuf_reset) struct strbuf bytes = {0};
    struct physical_plan *plan, *read;
    assert_ok(test_plan(0, &here, &plan));
    assert_ok(plan_encode(plan, &bytes));
    for (size_t length = 0; length < bytes.length; length++) {
        _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
        assert_fails(plan_decode((const uint8_t *)bytes.data, length, &arena, &read), KITH_ERROR_CORRUPT, "");
    }
}

/* An error or a plan that can be printed and sent again; nothing else. */
static void plans_with_flipped_bits_are_survived(void **state)
{
    for (size_t i = 0; i < TEST_PLAN_COUNT; i++) {
        _cleanup_(plan_arena_reset) struct plan_arena here = {0};
        _cleanup_(strbuf_reset) struct strbuf bytes = {0};
        struct physical_plan *plan, *read = NULL;
        assert_ok(test_plan(i, &here, &plan));
        assert_ok(plan_encode(plan, &bytes));
        /* Every bit of small plans; of larger ones about as many, an odd number apart, so that each place in a byte is
         * met. */
        size_t stride = bytes.length / 500 * 2 + 1;
        for (size_t bit = 0; bit < 8 * bytes.length; bit += stride) {
            _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
            _cleanup_(strbuf_reset) struct strbuf text = {0};
            bytes.data[bit / 8] ^= (char)(1 << bit % 8);
            kith_error *error = decode(&bytes, &arena, &read);
            if (error == NULL)
                assert_ok(physical_plan_format(read, &text));
            error_free(error);
            bytes.data[bit / 8] ^= (char)(1 << bit % 8);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_arrives_as_it_was_sent),
        cmocka_unit_test(plans_that_datafusion_wrote_are_read),
        cmocka_unit_test(random_expressions_arrive_as_they_were_sent),
        cmocka_unit_test(the_deepest_expressions_arrive),
        cmocka_unit_test(long_chains_of_and_are_flat_however_they_are_sent),
        cmocka_unit_test(a_case_over_a_column_compares_it),
        cmocka_unit_test(a_filter_that_projects_and_limits_becomes_three_operators),
        cmocka_unit_test(an_operator_that_only_takes_turns_is_passed_through),
        cmocka_unit_test(orders_of_a_filter_come_from_its_sort_when_they_are_not_sent),
        cmocka_unit_test(filters_whose_ends_differ_are_refused),
        cmocka_unit_test(operators_that_are_not_there_are_named),
        cmocka_unit_test(expressions_that_are_not_there_are_named),
        cmocka_unit_test(what_does_not_fit_its_input_is_refused),
        cmocka_unit_test(scans_that_mean_more_than_is_done_here_are_refused),
        cmocka_unit_test(a_union_whose_inputs_do_not_fit_is_refused),
        cmocka_unit_test(a_scan_that_keeps_its_limit_gets_an_operator_for_it),
        cmocka_unit_test(a_scan_that_computes_or_renames_becomes_a_scan_and_a_projection),
        cmocka_unit_test(a_bomb_of_levels_is_refused),
        cmocka_unit_test(a_plan_of_too_many_levels_of_operators_is_refused),
        cmocka_unit_test(cut_plans_are_refused),
        cmocka_unit_test(plans_with_flipped_bits_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
