/*
 * Each allocation of what batches and sort keys do fails in turn: an error, and nothing is left behind.
 */
#include "samples.h"

#include "columnar/batch.h"
#include "columnar/sort_key.h"

enum { ROWS = 40, COLUMNS = 4 };

struct samples {
    struct schema *schema;
    struct batch *batch;
    struct selection *selection;
};

static void free_samples(struct samples *samples)
{
    schema_unref(samples->schema);
    batch_unref(samples->batch);
    selection_unref(samples->selection);
}
DEFINE_VALUE_CLEANUP(free_samples, struct samples)

/* Numbers, strings, views and dictionary-encoded strings, every third row selected. */
static struct samples make_samples(void)
{
    uint64_t random = 4;
    const struct data_type types[COLUMNS] = {type_of(TYPE_INT64), type_of(TYPE_UTF8), type_of(TYPE_UTF8_VIEW),
                                             type_of(TYPE_UTF8)};
    struct field fields[COLUMNS];
    struct array *columns[COLUMNS];
    struct samples samples = {0};
    for (size_t i = 0; i < COLUMNS; i++) {
        columns[i] = sample_array(&random, &types[i], ROWS, i == 3 ? TYPE_INT32 : TYPE_NULL);
        fields[i] = (struct field){.name = (char *)(uintptr_t) "c", .type = columns[i]->type, .nullable = true};
    }
    assert_ok(schema_new(fields, COLUMNS, &samples.schema));
    assert_ok(batch_new(samples.schema, columns, ROWS, &samples.batch));
    assert_ok(selection_new(ROWS, &samples.selection));
    for (uint32_t row = 0; row < ROWS; row += 3)
        samples.selection->rows[samples.selection->count++] = row;
    for (size_t i = 0; i < COLUMNS; i++)
        array_unref(columns[i]);
    return samples;
}

static kith_error *select_slice_and_join(void *state)
{
    static const size_t reversed[COLUMNS] = {3, 2, 1, 0};
    struct samples *samples = state;
    _cleanup_(batch_unref) struct batch *selected = NULL, *slice = NULL, *projected = NULL, *joined = NULL;
    _cleanup_(schema_unref) struct schema *schema = NULL;
    TRY(batch_select(samples->batch, samples->selection, &selected));
    TRY(batch_slice(selected, 2, 7, &slice));
    TRY(schema_project(samples->schema, reversed, COLUMNS, &schema));
    TRY(batch_project(slice, schema, reversed, &projected));
    _cleanup_(batch_unref) struct batch *compact = NULL;
    TRY(batch_compact(projected, &compact));
    struct batch *parts[] = {compact, projected};
    return batch_concatenate(schema, parts, ARRAY_SIZE(parts), &joined);
}

static void batches_survive_without_memory(void **state)
{
    _cleanup_(free_samples) struct samples samples = make_samples();
    assert_survives_without_memory(select_slice_and_join, &samples, 30);
}

static kith_error *decode_dictionary(void *state)
{
    struct samples *samples = state;
    _cleanup_(array_unref) struct array *decoded = NULL, *taken = NULL;
    TRY(array_decode_dictionary(samples->batch->columns[3], &decoded));
    return array_take(decoded, samples->selection->rows, samples->selection->count, &taken);
}

static void dictionaries_survive_without_memory(void **state)
{
    _cleanup_(free_samples) struct samples samples = make_samples();
    assert_survives_without_memory(decode_dictionary, &samples, 6);
}

static kith_error *encode_keys(void *state)
{
    static const struct sort_order orders[COLUMNS] = {{.descending = true}, {.nulls_first = true}};
    struct samples *samples = state;
    _cleanup_(sort_keys_reset) struct sort_keys keys = {0};
    TRY(sort_keys_encode(&keys, samples->batch->columns, orders, COLUMNS, ROWS, samples->selection));
    TRY(sort_keys_encode(&keys, samples->batch->columns, orders, COLUMNS, ROWS, NULL));
    _cleanup_(strbuf_reset) struct strbuf key = {0};
    struct scalar values[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++)
        values[i] = scalar_from_array(samples->batch->columns[i], 0);
    return sort_key_encode_scalars(values, orders, COLUMNS, &key);
}

static void sort_keys_survive_without_memory(void **state)
{
    _cleanup_(free_samples) struct samples samples = make_samples();
    assert_survives_without_memory(encode_keys, &samples, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_survive_without_memory),
        cmocka_unit_test(dictionaries_survive_without_memory),
        cmocka_unit_test(sort_keys_survive_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
