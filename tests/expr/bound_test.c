#include "expr/containers.h"

#include "expr/dynamic_filter.h"

enum { MOST_KEYS = 3 };

/* A random table of sortable columns, some dictionary-encoded, and a random sort over it. */
struct table_of_keys {
    struct arena arena;
    struct array *arrays[MOST_KEYS];
    struct batch *batch;
    size_t count;
    struct sort_expr exprs[MOST_KEYS];
    struct sort_order orders[MOST_KEYS];
};

static const struct data_type *random_key_type(uint64_t *random)
{
    for (;;) {
        const struct data_type *type = &sample_types[test_random(random) % ARRAY_SIZE(sample_types)];
        kith_error *error = sort_key_check_type(type);
        if (error == NULL)
            return type;
        error_free(error);
    }
}

/* Half of the columns hold one value alone, so that later keys decide. */
static struct array *random_keys(uint64_t *random, const struct data_type *type, size_t rows)
{
    char text[SAMPLE_STRING_BYTES];
    struct array *array = NULL;
    enum type_id index = type->id != TYPE_NULL && test_random(random) % 4 == 0 ? TYPE_INT32 : TYPE_NULL;
    if (test_random(random) & 1)
        return sample_array(random, type, rows, index);
    struct scalar value = sample_scalar(random, type, text);
    assert_ok(scalar_to_array(&value, rows, &array));
    return array;
}

static void table_of_keys_init(struct table_of_keys *table, uint64_t *random, size_t rows)
{
    struct field fields[MOST_KEYS] = {0};
    _cleanup_(schema_unref) struct schema *schema = NULL;
    *table = (struct table_of_keys){.count = 1 + test_random(random) % MOST_KEYS};
    for (size_t i = 0; i < table->count; i++) {
        const struct data_type *type = random_key_type(random);
        table->arrays[i] = random_keys(random, type, rows);
        fields[i] = (struct field){.name = (char *)(uintptr_t) "k", .type = *type, .nullable = true};
        table->orders[i] =
            (struct sort_order){.descending = test_random(random) & 1, .nulls_first = test_random(random) & 1};
    }
    assert_ok(schema_new(fields, table->count, &schema));
    assert_ok(batch_new(schema, table->arrays, rows, &table->batch));
    for (size_t i = 0; i < table->count; i++)
        table->exprs[i] = (struct sort_expr){.expr = column(&table->arena, table->batch, i), .order = table->orders[i]};
}

static void table_of_keys_reset(struct table_of_keys *table)
{
    for (size_t i = 0; i < table->count; i++)
        array_unref(table->arrays[i]);
    batch_unref(table->batch);
    arena_reset(&table->arena);
}
DEFINE_VALUE_CLEANUP(table_of_keys_reset, struct table_of_keys)

/* A bound of values that rows have, or of others of their types; now and then an inclusive one of the first key alone.
 */
static struct bound *random_bound(uint64_t *random, const struct table_of_keys *table)
{
    struct scalar values[MOST_KEYS];
    char texts[MOST_KEYS][SAMPLE_STRING_BYTES];
    struct bound *bound = NULL;
    size_t row = test_random(random) % table->batch->rows;
    bool foreign = test_random(random) & 1;
    for (size_t i = 0; i < table->count; i++) {
        struct data_type type = table->exprs[i].expr->type;
        values[i] = foreign ? sample_scalar(random, &type, texts[i]) : scalar_from_array(table->arrays[i], row);
    }
    if (test_random(random) % 4 == 0)
        assert_ok(bound_new_planned(&values[0], table->orders[0], &bound));
    else
        assert_ok(bound_new(values, table->orders, table->count, 0, &bound));
    return bound;
}

/* Better than the bound, or no worse where it is inclusive. */
static bool row_is_better(const struct table_of_keys *table, size_t row, const struct bound *bound)
{
    for (size_t i = 0; i < bound->value_count; i++) {
        struct scalar value = scalar_from_array(table->arrays[i], row);
        int order = sort_order_compare(&value, &bound->values[i], table->orders[i]);
        if (order != 0)
            return order < 0;
    }
    return bound->inclusive;
}

static void a_container_is_excluded_only_when_no_row_of_it_is_better(void **state)
{
    uint64_t random = 5;
    size_t excluded = 0;
    for (int round = 0; round < 20000; round++) {
        _cleanup_(table_of_keys_reset) struct table_of_keys table;
        _cleanup_(bound_unref) struct bound *bound = NULL;
        struct container container;
        table_of_keys_init(&table, &random, 1 + test_random(&random) % 4);
        bound = random_bound(&random, &table);
        container_init(&container, table.arrays, table.count);
        for (size_t i = 0; i < table.count && (round & 1); i++)
            forget_something(&random, &container.columns[i], container.strings[i]);
        if (!bound_excludes(bound, table.exprs, &container.source))
            continue;
        excluded++;
        for (size_t row = 0; row < table.batch->rows; row++)
            assert_false(row_is_better(&table, row, bound));
    }
    assert_true(excluded > 4000);
}

static void the_filter_keeps_exactly_the_rows_that_are_better(void **state)
{
    uint64_t random = 6;
    _cleanup_(sort_keys_reset) struct sort_keys keys = {0};
    for (int round = 0; round < 6000; round++) {
        _cleanup_(table_of_keys_reset) struct table_of_keys table;
        _cleanup_(bound_unref) struct bound *bound = NULL;
        _cleanup_(selection_unref) struct selection *selection = NULL;
        _cleanup_(batch_unref) struct batch *batch = NULL, *kept = NULL;
        struct evaluator *evaluators[MOST_KEYS];
        table_of_keys_init(&table, &random, 1 + test_random(&random) % 40);
        bound = random_bound(&random, &table);
        if (test_random(&random) & 1)
            selection = sample_selection(&random, table.batch->rows, 2);
        assert_ok(batch_select(table.batch, selection, &batch));
        for (size_t i = 0; i < table.count; i++)
            assert_ok(evaluator_new(table.exprs[i].expr, &evaluators[i]));
        assert_ok(bound_filter(bound, table.exprs, evaluators, batch, &keys, &kept));

        size_t place = 0;
        for (size_t i = 0; i < batch_row_count(batch); i++) {
            uint32_t row = selection == NULL ? (uint32_t)i : selection->rows[i];
            if (!row_is_better(&table, row, bound))
                continue;
            assert_true(place < batch_row_count(kept));
            assert_int_equal(kept->selection == NULL ? (uint32_t)place : kept->selection->rows[place], row);
            place++;
        }
        assert_int_equal(place, batch_row_count(kept));
        for (size_t i = 0; i < table.count; i++)
            evaluator_free(evaluators[i]);
    }
}

/* A bound of one integer. */
static struct bound *bound_of(int64_t value, struct sort_order order)
{
    struct bound *bound = NULL;
    struct scalar scalar = {.type = type_of(TYPE_INT64), .is_null = value == NOTHING, .int64 = value};
    assert_ok(bound_new(&scalar, &order, 1, 0, &bound));
    return bound;
}

static const struct sort_order ascending = {0}, descending = {.descending = true, .nulls_first = true},
                               nulls_first = {.nulls_first = true}, descending_nulls_last = {.descending = true};

/* Whether a bound excludes a container of one integer column. */
static bool excludes(int64_t value, struct sort_order order, struct array *take_array, bool null_count_known)
{
    _cleanup_(array_unref) struct array *array = take_array;
    _cleanup_(batch_unref) struct batch *batch = batch_of(&array, 1);
    _cleanup_(arena_reset) struct arena arena = {0};
    _cleanup_(bound_unref) struct bound *bound = bound_of(value, order);
    const struct sort_expr sort = {.expr = column(&arena, batch, 0), .order = order};
    struct container container;
    container_init(&container, &array, 1);
    container.columns[0].has_null_count = null_count_known;
    return bound_excludes(bound, &sort, &container.source);
}
#define LONGS(...) INTS(type_of(TYPE_INT64), __VA_ARGS__)

static void a_container_whose_best_row_ties_with_the_bound_is_excluded(void **state)
{
    assert_true(excludes(5, ascending, LONGS(5, 9), true));
    assert_false(excludes(6, ascending, LONGS(5, 9), true));
    assert_true(excludes(9, descending, LONGS(5, 9), true));
    assert_false(excludes(8, descending, LONGS(5, 9), true));
}

static void nulls_that_come_first_keep_a_container(void **state)
{
    assert_false(excludes(5, nulls_first, LONGS(7, NOTHING), true));
    assert_false(excludes(5, nulls_first, LONGS(7), false)); /* there may be some */
    assert_true(excludes(5, nulls_first, LONGS(7), true));
    assert_true(excludes(5, ascending, LONGS(7), false)); /* they would come last */
    assert_false(excludes(NOTHING, ascending, LONGS(7, NOTHING), true));
    assert_true(excludes(NOTHING, ascending, LONGS(NOTHING), true));
    assert_true(excludes(NOTHING, nulls_first, LONGS(7, NOTHING), true)); /* none is better than NULL */
    assert_true(excludes(5, descending_nulls_last, LONGS(NOTHING), true));
}

static void a_bound_owns_its_strings(void **state)
{
    char text[] = "abc";
    struct bound *bound = NULL;
    struct scalar values[] = {{.type = type_of(TYPE_UTF8), .string = str_of(text)},
                              {.type = type_of(TYPE_UTF8), .string = {"", 0}},
                              {.type = type_of(TYPE_UTF8), .is_null = true}};
    const struct sort_order orders[3] = {0};
    assert_ok(bound_new(values, orders, 3, 7, &bound));
    text[0] = 'x';
    assert_true(str_equal(bound->values[0].string, str_of("abc")));
    assert_int_equal(bound->values[1].string.length, 0);
    assert_true(bound->values[2].is_null);
    assert_int_equal(bound->found_ns, 7);
    bound_unref(bound);
}

/* "Worse than 5" is weaker than "(5, 7) or worse", which is weaker than "5 or worse". */
static void a_bound_of_the_first_key_alone_is_weaker_when_it_keeps_equal_rows(void **state)
{
    const struct sort_order orders[2] = {{0}};
    const struct scalar values[2] = {{.type = type_of(TYPE_INT64), .int64 = 5},
                                     {.type = type_of(TYPE_INT64), .int64 = 7}};
    _cleanup_(bound_unref) struct bound *planned = NULL, *both = NULL, *first = NULL;
    assert_ok(bound_new_planned(&values[0], orders[0], &planned));
    assert_ok(bound_new(values, orders, 2, 0, &both));
    assert_ok(bound_new(values, orders, 1, 0, &first));
    assert_true(bound_compare(both, planned) < 0);
    assert_true(bound_compare(planned, both) > 0);
    assert_true(bound_compare(first, planned) < 0);
    assert_true(bound_compare(first, both) < 0);
    assert_true(bound_is_beaten_by(planned, (struct str){(const char *)both->key, both->key_length}));
    assert_false(bound_is_beaten_by(both, (struct str){(const char *)both->key, both->key_length}));
}

static void the_stronger_bound_compares_less(void **state)
{
    _cleanup_(bound_unref) struct bound *one = bound_of(1, ascending), *two = bound_of(2, ascending);
    assert_true(bound_compare(one, two) < 0);
    assert_true(bound_compare(two, one) > 0);
    assert_int_equal(bound_compare(one, one), 0);
    _cleanup_(bound_unref) struct bound *low = bound_of(1, descending), *high = bound_of(2, descending);
    assert_true(bound_compare(high, low) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_container_is_excluded_only_when_no_row_of_it_is_better),
        cmocka_unit_test(the_filter_keeps_exactly_the_rows_that_are_better),
        cmocka_unit_test(a_container_whose_best_row_ties_with_the_bound_is_excluded),
        cmocka_unit_test(nulls_that_come_first_keep_a_container),
        cmocka_unit_test(a_bound_owns_its_strings),
        cmocka_unit_test(the_stronger_bound_compares_less),
        cmocka_unit_test(a_bound_of_the_first_key_alone_is_weaker_when_it_keeps_equal_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
