#include "testing.h"

#include "temporary.h"

#include "columnar/builder.h"
#include "parquet/writer.h"
#include "plan/planned_bound.h"

enum { ROWS = 200, ROW_GROUP = 20 };

/* A column of random values with NULLs and, for floats, NaN, written as a file of small row groups. */
static void write_column(const char *path, const struct data_type *type, uint64_t *random, struct array **out)
{
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    _cleanup_(storage_writer_free) struct storage_writer *storage = NULL;
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    const struct parquet_write_options options = {.row_group_rows = ROW_GROUP,
                                                  .no_statistics = test_random(random) % 8 == 0};
    size_t nulls = test_random(random) % 3;
    assert_ok(array_builder_new(type, &builder));
    for (size_t i = 0; i < ROWS; i++) {
        /* Groups of rising values, so that some groups prove more than others. */
        int64_t value = (int64_t)(i / ROW_GROUP * 5 + test_random(random) % 20);
        if (nulls > 0 && test_random(random) % (nulls * 4) == 0)
            assert_ok(array_builder_append_null(builder));
        else if (type->id == TYPE_FLOAT64)
            assert_ok(array_builder_append_double(builder,
                                                  test_random(random) % 30 == 0 ? __builtin_nan("") : (double)value));
        else
            assert_ok(array_builder_append_int(builder, value));
    }
    assert_ok(array_builder_finish(builder, out));
    assert_ok(
        schema_new(&(struct field){.name = (char *)(uintptr_t) "x", .type = *type, .nullable = true}, 1, &schema));
    assert_ok(batch_new(schema, out, ROWS, &batch));
    assert_ok(storage_create(path, &storage));
    assert_ok(parquet_writer_new(storage, schema, &options, &writer));
    assert_ok(parquet_writer_write(writer, batch));
    assert_ok(parquet_writer_finish(writer));
    assert_ok(storage_writer_finish(storage));
}

/* `predicate` is "at least `least`"; NULL satisfies none. */
static size_t rows_no_worse(const struct array *array, const struct scalar *bound, struct sort_order order,
                            const struct scalar *least)
{
    const struct sort_order ascending = {.nulls_first = true};
    size_t count = 0;
    for (size_t i = 0; i < array->length; i++) {
        struct scalar value = scalar_from_array(array, i);
        if (least == NULL || (!value.is_null && sort_order_compare(&value, least, ascending) >= 0))
            count += sort_order_compare(&value, bound, order) <= 0;
    }
    return count;
}

static const struct expr *at_least(struct arena *arena, const struct expr *column, const struct scalar *least)
{
    const struct expr *literal, *predicate;
    assert_ok(expr_literal(arena, least, &literal));
    assert_ok(expr_binary(arena, OP_GE, column, literal, &predicate));
    return predicate;
}

/* A number of the column's type. */
static struct scalar number(const struct data_type *type, int64_t value)
{
    struct scalar scalar = {.type = *type};
    if (type->id == TYPE_FLOAT64)
        scalar.float64 = (double)value;
    else
        scalar.int64 = value;
    return scalar;
}

static void at_least_k_rows_are_no_worse_than_a_planned_bound(void **state)
{
    const struct data_type types[] = {type_of(TYPE_INT64), type_of(TYPE_FLOAT64)};
    uint64_t random = 11;
    size_t proved[2] = {0};
    for (int round = 0; round < 400; round++) {
        _cleanup_(array_unref) struct array *array = NULL;
        _cleanup_(table_unref) struct table *table = NULL;
        _cleanup_(arena_reset) struct arena arena = {0};
        struct sort_expr key = {
            .order = {.descending = test_random(&random) & 1, .nulls_first = test_random(&random) & 1}};
        uint64_t rows = 1 + test_random(&random) % (ROWS + 20);
        const struct scalar *bound;
        write_column("x.parquet", &types[round % 2], &random, &array);
        assert_ok(table_open("x.parquet", &table));
        assert_ok(expr_column(&arena, table->schema, 0, &key.expr));
        struct parquet_scan scan = {.table = table, .table_schema = table->schema};
        struct scalar least = number(&types[round % 2], (int64_t)(test_random(&random) % 40));
        bool filtered = test_random(&random) & 1;
        if (filtered)
            scan.predicate = at_least(&arena, key.expr, &least);
        assert_ok(planned_bound(&arena, &(struct planned_bound_source){&scan, &key}, 1, rows, &bound));
        if (bound == NULL)
            continue;
        proved[filtered]++;
        assert_true(rows_no_worse(array, bound, key.order, filtered ? &least : NULL) >= rows);
    }
    assert_true(proved[false] > 60 && proved[true] > 30);
}

static void what_several_scans_prove_together_is_a_bound_of_all_their_rows(void **state)
{
    enum { SCANS = 3 };
    const struct data_type types[] = {type_of(TYPE_INT64), type_of(TYPE_FLOAT64)};
    uint64_t random = 12;
    size_t stronger = 0;
    for (int round = 0; round < 200; round++) {
        struct array *arrays[SCANS];
        struct table *tables[SCANS];
        struct parquet_scan scans[SCANS] = {0};
        struct sort_expr keys[SCANS];
        struct planned_bound_source sources[SCANS];
        const struct sort_order order = {.descending = test_random(&random) & 1,
                                         .nulls_first = test_random(&random) & 1};
        _cleanup_(arena_reset) struct arena arena = {0};
        const struct scalar *bound, *alone;
        uint64_t rows = 1 + test_random(&random) % (SCANS * ROWS);
        size_t no_worse = 0;
        for (size_t i = 0; i < SCANS; i++) {
            write_column("x.parquet", &types[round % 2], &random, &arrays[i]);
            assert_ok(table_open("x.parquet", &tables[i]));
            keys[i].order = order;
            assert_ok(expr_column(&arena, tables[i]->schema, 0, &keys[i].expr));
            scans[i] = (struct parquet_scan){.table = tables[i], .table_schema = tables[i]->schema};
            sources[i] = (struct planned_bound_source){&scans[i], &keys[i]};
        }
        assert_ok(planned_bound(&arena, sources, SCANS, rows, &bound));
        assert_ok(planned_bound(&arena, sources, 1, rows, &alone));
        for (size_t i = 0; i < SCANS && bound != NULL; i++)
            no_worse += rows_no_worse(arrays[i], bound, order, NULL);
        assert_true(bound == NULL ? alone == NULL : no_worse >= rows);
        assert_true(alone == NULL || sort_order_compare(bound, alone, order) <= 0);
        stronger += bound != NULL && (alone == NULL || sort_order_compare(bound, alone, order) < 0);
        for (size_t i = 0; i < SCANS; i++) {
            array_unref(arrays[i]);
            table_unref(tables[i]);
        }
    }
    assert_true(stronger > 60);
}

/* Ten groups of twenty rows, none NULL: the best group alone proves twenty rows, not twenty-one. */
static void the_bound_is_the_worst_value_of_as_few_of_the_best_groups_as_hold_k_rows(void **state)
{
    const struct data_type type = type_of(TYPE_INT64);
    _cleanup_(array_builder_free) struct array_builder *builder = NULL;
    _cleanup_(array_unref) struct array *array = NULL;
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    _cleanup_(storage_writer_free) struct storage_writer *storage = NULL;
    _cleanup_(parquet_writer_free) struct parquet_writer *writer = NULL;
    _cleanup_(table_unref) struct table *table = NULL;
    _cleanup_(arena_reset) struct arena arena = {0};
    const struct parquet_write_options options = {.row_group_rows = ROW_GROUP};
    assert_ok(array_builder_new(&type, &builder));
    for (int64_t i = 0; i < ROWS; i++)
        assert_ok(array_builder_append_int(builder, i));
    assert_ok(array_builder_finish(builder, &array));
    assert_ok(schema_new(&(struct field){.name = (char *)(uintptr_t) "x", .type = type}, 1, &schema));
    assert_ok(batch_new(schema, &array, ROWS, &batch));
    assert_ok(storage_create("x.parquet", &storage));
    assert_ok(parquet_writer_new(storage, schema, &options, &writer));
    assert_ok(parquet_writer_write(writer, batch));
    assert_ok(parquet_writer_finish(writer));
    assert_ok(storage_writer_finish(storage));
    assert_ok(table_open("x.parquet", &table));

    struct sort_expr key = {.order = {.descending = true}};
    struct parquet_scan scan = {.table = table, .table_schema = table->schema};
    const struct scalar *bound;
    assert_ok(expr_column(&arena, table->schema, 0, &key.expr));
    assert_ok(planned_bound(&arena, &(struct planned_bound_source){&scan, &key}, 1, 20, &bound));
    assert_int_equal(bound->int64, 180);
    assert_ok(planned_bound(&arena, &(struct planned_bound_source){&scan, &key}, 1, 21, &bound));
    assert_int_equal(bound->int64, 160);
    assert_ok(planned_bound(&arena, &(struct planned_bound_source){&scan, &key}, 1, 201, &bound));
    assert_null(bound);

    /* The predicate removes rows of the last row group but one, and may remove none of the last one's. */
    struct scalar least = number(&type, 165);
    scan.predicate = at_least(&arena, key.expr, &least);
    assert_ok(planned_bound(&arena, &(struct planned_bound_source){&scan, &key}, 1, 20, &bound));
    assert_int_equal(bound->int64, 180);
    assert_ok(planned_bound(&arena, &(struct planned_bound_source){&scan, &key}, 1, 21, &bound));
    assert_null(bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(at_least_k_rows_are_no_worse_than_a_planned_bound, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(what_several_scans_prove_together_is_a_bound_of_all_their_rows,
                                        temporary_folder_enter, temporary_folder_leave),
        cmocka_unit_test_setup_teardown(the_bound_is_the_worst_value_of_as_few_of_the_best_groups_as_hold_k_rows,
                                        temporary_folder_enter, temporary_folder_leave),
    };
    return cmocka_run_group_tests_name("plan/planned_bound", tests, NULL, NULL);
}
