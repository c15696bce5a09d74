#include "wire/plans.h"

#include "testing.h"
#include "wire/scalars.h"

static const struct data_type int64_type = {.id = TYPE_INT64};

static kith_error *schema_of(struct plan_arena *arena, const struct field *fields, size_t count, struct schema **out)
{
    struct schema *schema;
    TRY(schema_new(fields, count, &schema));
    *out = schema;
    return plan_arena_keep_schema(arena, schema);
}

#define NAME(text) .name = (char *)(uintptr_t)(text)

/* Of every scan here: what TPC-H's lineitem is like. */
static const struct field table_fields[] = {
    {NAME("id"), .type = {.id = TYPE_INT64}},
    {NAME("price"), .type = {.id = TYPE_DECIMAL128, .precision = 15, .scale = 2}, .nullable = true},
    {NAME("comment"), .type = {.id = TYPE_UTF8}, .nullable = true},
    {NAME("shipped"), .type = {.id = TYPE_DATE32}, .nullable = true},
    {NAME("score"), .type = {.id = TYPE_FLOAT64}, .nullable = true},
};

static kith_error *node(struct plan_arena *arena, enum physical_kind kind, struct physical_plan *input,
                        struct physical_plan **out)
{
    TRY(ARENA_NEW(&arena->arena, out));
    (*out)->kind = kind;
    (*out)->partitions = 1;
    if (input == NULL)
        return NULL;
    TRY(ARENA_NEW_ARRAY(&arena->arena, &(*out)->inputs, 1));
    (*out)->inputs[0] = input;
    (*out)->input_count = 1;
    (*out)->schema = input->schema;
    (*out)->partitions = input->partitions;
    return NULL;
}

static kith_error *int_literal(struct arena *arena, int64_t value, const struct expr **out)
{
    struct scalar scalar = {.type = int64_type, .int64 = value};
    return expr_literal(arena, &scalar, out);
}

static kith_error *text_literal(struct arena *arena, const char *text, const struct expr **out)
{
    struct scalar scalar = {.type = {.id = TYPE_UTF8}, .string = str_of(text)};
    return expr_literal(arena, &scalar, out);
}

/* id > 10 AND comment LIKE '%a%' */
static kith_error *condition(struct arena *arena, const struct schema *schema, size_t id, size_t comment,
                             const struct expr **out)
{
    const struct expr *column, *ten, *text, *pattern, *operands[2];
    TRY(expr_column(arena, schema, id, &column));
    TRY(int_literal(arena, 10, &ten));
    TRY(expr_binary(arena, OP_GT, column, ten, &operands[0]));
    TRY(expr_column(arena, schema, comment, &text));
    TRY(text_literal(arena, "%a%", &pattern));
    TRY(expr_like(arena, text, pattern, false, false, &operands[1]));
    return expr_logical(arena, EXPR_AND, operands, 2, out);
}

/* Columns comment, score and id of `files` files in `partitions`. */
static kith_error *scan(struct plan_arena *arena, size_t files, size_t partitions, struct physical_plan **out)
{
    static const size_t columns[] = {2, 4, 0};
    struct schema *schema;
    TRY(node(arena, PHYSICAL_PARQUET_SCAN, NULL, out));
    struct parquet_scan *scan = &(*out)->scan;
    TRY(schema_of(arena, table_fields, ARRAY_SIZE(table_fields), &scan->table_schema));
    TRY(schema_project(scan->table_schema, columns, ARRAY_SIZE(columns), &schema));
    TRY(plan_arena_keep_schema(arena, schema));
    (*out)->schema = schema;
    (*out)->partitions = partitions;
    TRY(ARENA_NEW_ARRAY(&arena->arena, &scan->columns, ARRAY_SIZE(columns)));
    memcpy(scan->columns, columns, sizeof columns);
    TRY(ARENA_NEW_ARRAY(&arena->arena, &scan->files, files));
    scan->file_count = files;
    for (size_t i = 0; i < files; i++) {
        char *path;
        TRY(arena_printf(&arena->arena, &path, "/data/part %zu%%#.parquet", i));
        scan->files[i] = (struct scan_file){.path = path,
                                            .size = 1000 + i,
                                            .modified_ns = 1700000000000000000 + (int64_t)i,
                                            .has_range = i % 2 != 0,
                                            .range_start = i % 2 != 0 ? 4 : 0,
                                            .range_end = i % 2 != 0 ? 1000 : 0};
    }
    scan->limit = -1;
    return NULL;
}

static kith_error *sort_keys(struct arena *arena, const struct schema *schema, size_t first, size_t second,
                             const struct sort_expr **out)
{
    struct sort_expr *exprs;
    TRY(ARENA_NEW_ARRAY(arena, &exprs, 2));
    TRY(expr_column(arena, schema, first, &exprs[0].expr));
    TRY(expr_column(arena, schema, second, &exprs[1].expr));
    exprs[0].order = (struct sort_order){.descending = true, .nulls_first = false};
    exprs[1].order = (struct sort_order){.descending = false, .nulls_first = true};
    *out = exprs;
    return NULL;
}

/* SELECT … WHERE id > 10 AND comment LIKE '%a%' ORDER BY score DESC NULLS LAST, id NULLS FIRST LIMIT 7: the bound of
 * each partition's Top-K goes to the scan. */
static kith_error *topk_plan(struct plan_arena *arena, struct physical_plan **out)
{
    struct physical_plan *plan, *merge;
    struct scalar *planned;
    const struct sort_expr *keys, *table_keys;
    TRY(scan(arena, 5, 3, &plan));
    TRY(condition(&arena->arena, plan->scan.table_schema, 0, 2, &plan->scan.predicate));
    TRY(sort_keys(&arena->arena, plan->schema, 1, 2, &keys));
    TRY(sort_keys(&arena->arena, plan->scan.table_schema, 4, 0, &table_keys));
    TRY(ARENA_NEW(&arena->arena, &plan->scan.dynamic_filters));
    TRY(ARENA_NEW(&arena->arena, &planned));
    *planned = scalar_null(&table_keys[0].expr->type);
    plan->scan.dynamic_filters[0] =
        (struct scan_dynamic_filter){.id = 41, .exprs = table_keys, .count = 2, .planned = planned};
    plan->scan.dynamic_filter_count = 1;
    TRY(node(arena, PHYSICAL_SORT, plan, &plan));
    plan->sort.exprs = keys;
    plan->sort.count = 2;
    plan->sort.fetch = 7;
    plan->sort.filter_id = 41;
    TRY(node(arena, PHYSICAL_SORT_PRESERVING_MERGE, plan, &merge));
    merge->partitions = 1;
    merge->sort = plan->sort;
    merge->sort.filter_id = 0;
    *out = merge;
    return NULL;
}

/* Limits at `rows` and a skip: of more rows than 32 bits count, or of few. */
static kith_error *limit_plan(struct plan_arena *arena, int64_t rows, int64_t skip, struct physical_plan **out)
{
    struct physical_plan *plan;
    TRY(scan(arena, 1, 4, &plan));
    plan->scan.limit = rows;
    TRY(node(arena, PHYSICAL_LOCAL_LIMIT, plan, &plan));
    plan->limit.fetch = rows;
    TRY(node(arena, PHYSICAL_COALESCE_PARTITIONS, plan, &plan));
    plan->partitions = 1;
    plan->limit.fetch = rows;
    TRY(node(arena, PHYSICAL_GLOBAL_LIMIT, plan, &plan));
    plan->limit.skip = skip;
    plan->limit.fetch = rows < 0 ? rows : rows - skip;
    *out = plan;
    return NULL;
}

static kith_error *projection(struct plan_arena *arena, struct physical_plan *input, const struct expr **exprs,
                              size_t count, struct physical_plan **out)
{
    struct field *fields;
    TRY(node(arena, PHYSICAL_PROJECTION, input, out));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &fields, count));
    for (size_t i = 0; i < count; i++) {
        char *name;
        TRY(arena_printf(&arena->arena, &name, "e%zu", i));
        fields[i] = (struct field){.name = name, .type = exprs[i]->type, .nullable = exprs[i]->nullable};
    }
    (*out)->projection.exprs = exprs;
    return schema_of(arena, fields, count, &(*out)->schema);
}

static kith_error *literals_plan(struct plan_arena *arena, struct physical_plan **out)
{
    const struct scalar *scalars;
    const struct expr **exprs;
    struct physical_plan *row;
    size_t count = test_scalars(&scalars);
    TRY(node(arena, PHYSICAL_PLACEHOLDER_ROW, NULL, &row));
    TRY(schema_of(arena, NULL, 0, &row->schema));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &exprs, count));
    for (size_t i = 0; i < count; i++)
        TRY(expr_literal(&arena->arena, &scalars[i], &exprs[i]));
    return projection(arena, row, exprs, count, out);
}

static kith_error *empty_plan(struct plan_arena *arena, struct physical_plan **out)
{
    struct schema *schema;
    TRY(test_schema_of_all_types(&schema));
    TRY(plan_arena_keep_schema(arena, schema));
    TRY(node(arena, PHYSICAL_EMPTY, NULL, out));
    (*out)->schema = schema;
    (*out)->partitions = 3;
    return NULL;
}

static kith_error *network_plan(struct plan_arena *arena, struct physical_plan **out)
{
    struct physical_plan *plan;
    TRY(node(arena, PHYSICAL_NETWORK_COALESCE, NULL, &plan));
    TRY(schema_of(arena, table_fields, ARRAY_SIZE(table_fields), &plan->schema));
    plan->network.stage = 2;
    plan->partitions = 8;
    TRY(node(arena, PHYSICAL_SORT_PRESERVING_MERGE, plan, &plan));
    plan->partitions = 1;
    plan->sort.count = 2;
    plan->sort.fetch = -1;
    *out = plan;
    return sort_keys(&arena->arena, plan->schema, 0, 2, &plan->sort.exprs);
}

static kith_error *full_sort_plan(struct plan_arena *arena, struct physical_plan **out)
{
    TRY(scan(arena, 0, 1, out));
    TRY(node(arena, PHYSICAL_SORT, *out, out));
    (*out)->sort.count = 1;
    (*out)->sort.fetch = -1;
    return sort_keys(&arena->arena, (*out)->schema, 0, 1, &(*out)->sort.exprs);
}

/* A filter and a projection of random expressions, which between them have every kind. */
static kith_error *expressions_plan(struct plan_arena *arena, struct physical_plan **out)
{
    enum { EXPRESSIONS = 40, LEVELS = 5 };
    struct physical_plan *plan;
    struct schema *schema;
    const struct expr **exprs;
    uint64_t random = 7;
    TRY(node(arena, PHYSICAL_EMPTY, NULL, &plan));
    TRY(test_schema_for_random_exprs(&schema));
    TRY(plan_arena_keep_schema(arena, schema));
    plan->schema = schema;
    TRY(node(arena, PHYSICAL_FILTER, plan, &plan));
    TRY(test_random_expr(&arena->arena, schema, TYPE_BOOL, LEVELS, &random, &plan->filter.predicate));
    TRY(expr_at(&arena->arena, plan->filter.predicate, 123, &plan->filter.predicate));
    TRY(ARENA_NEW_ARRAY(&arena->arena, &exprs, EXPRESSIONS));
    for (size_t i = 0; i < EXPRESSIONS; i++)
        TRY(test_random_expr(&arena->arena, schema, i % 2 == 0 ? TYPE_BOOL : TYPE_INT64, LEVELS, &random, &exprs[i]));
    return projection(arena, plan, exprs, EXPRESSIONS, out);
}

/* A Top-K of three scans' rows, two with one filter, under the names of the first. */
static kith_error *union_plan(struct plan_arena *arena, struct physical_plan **out)
{
    enum { MEMBERS = 3 };
    const struct sort_expr *keys, *table_keys;
    struct physical_plan *merge;
    TRY(node(arena, PHYSICAL_UNION, NULL, out));
    (*out)->partitions = 0;
    TRY(ARENA_NEW_ARRAY(&arena->arena, &(*out)->inputs, MEMBERS));
    for (; (*out)->input_count < MEMBERS; (*out)->input_count++) {
        size_t i = (*out)->input_count;
        struct physical_plan *member;
        TRY(scan(arena, i, i + 1, &member));
        TRY(sort_keys(&arena->arena, member->schema, 1, 2, &keys));
        TRY(sort_keys(&arena->arena, member->scan.table_schema, 4, 0, &table_keys));
        if (i < 2) {
            TRY(ARENA_NEW(&arena->arena, &member->scan.dynamic_filters));
            member->scan.dynamic_filters[0] = (struct scan_dynamic_filter){.id = 5, .exprs = table_keys, .count = 2};
            member->scan.dynamic_filter_count = 1;
        }
        TRY(node(arena, PHYSICAL_SORT, member, &member));
        member->sort.exprs = keys;
        member->sort.count = 2;
        member->sort.fetch = 7;
        member->sort.filter_id = 5;
        (*out)->inputs[i] = member;
        (*out)->partitions += member->partitions;
    }
    (*out)->schema = (*out)->inputs[0]->schema;
    TRY(node(arena, PHYSICAL_SORT_PRESERVING_MERGE, *out, &merge));
    merge->partitions = 1;
    merge->sort = (*out)->inputs[0]->sort;
    merge->sort.filter_id = 0;
    *out = merge;
    return NULL;
}

kith_error *test_plan(size_t index, struct plan_arena *arena, struct physical_plan **out)
{
    switch (index) {
    case 0:
        return topk_plan(arena, out);
    case 1:
        return limit_plan(arena, 12, 2, out);
    case 2:
        return limit_plan(arena, INT64_C(5000000000), INT64_C(4500000000), out);
    case 3:
        return limit_plan(arena, -1, 0, out);
    case 4:
        return literals_plan(arena, out);
    case 5:
        return empty_plan(arena, out);
    case 6:
        return network_plan(arena, out);
    case 7:
        return full_sort_plan(arena, out);
    case 8:
        return expressions_plan(arena, out);
    case 9:
        return union_plan(arena, out);
    default:
        UNREACHABLE();
    }
}
