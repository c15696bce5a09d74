/*
 * Each allocation of a whole query fails in turn, from its text to its last row: an error, and nothing is left behind.
 */
#include "exec/queries.h"

#include "cluster/query.h"
#include "columnar/builder.h"

enum { ROWS = 120 };

static void append(struct array_builder *const *builders, int row)
{
    char text[64];
    snprintf(text, sizeof text, "a note of more than twelve bytes, %d", row % 7);
    assert_ok(array_builder_append_int(builders[0], row));
    if (row % 5 == 0)
        assert_ok(array_builder_append_null(builders[1]));
    else
        assert_ok(array_builder_append_double(builders[1], (double)(row * 37 % 50) / 4));
    assert_ok(array_builder_append_string(builders[2], str_of(text)));
}

static void write_table(const char *path)
{
    const struct field fields[] = {
        {.name = (char[]){"id"}, .type = {.id = TYPE_INT64}},
        {.name = (char[]){"score"}, .type = {.id = TYPE_FLOAT64}, .nullable = true},
        {.name = (char[]){"note"}, .type = {.id = TYPE_UTF8}, .nullable = true},
    };
    static const struct parquet_write_options options = {.codec = PARQUET_ZSTD, .row_group_rows = 40, .page_rows = 20};
    struct array_builder *builders[ARRAY_SIZE(fields)];
    struct array *columns[ARRAY_SIZE(fields)];
    _cleanup_(schema_unref) struct schema *schema = NULL;
    _cleanup_(batch_unref) struct batch *batch = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        assert_ok(array_builder_new(&fields[i].type, &builders[i]));
    for (int row = 0; row < ROWS; row++)
        append(builders, row);
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        assert_ok(array_builder_finish(builders[i], &columns[i]));
        array_builder_free(builders[i]);
    }
    assert_ok(schema_new(fields, ARRAY_SIZE(fields), &schema));
    assert_ok(batch_new(schema, columns, ROWS, &batch));
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        array_unref(columns[i]);
    write_parquet(path, batch, &options);
}

static kith_error *pull_all(struct query *query, size_t *rows)
{
    for (*rows = 0;;) {
        _cleanup_(batch_unref) struct batch *batch = NULL;
        TRY(query_next(query, &batch));
        if (batch == NULL)
            return NULL;
        *rows += batch_row_count(batch);
    }
}

struct attempts {
    const char *sql;
    size_t expected_rows;
    size_t allocations;
};

static kith_error *attempt(void *argument)
{
    const struct attempts *attempts = argument;
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    _cleanup_(query_free) struct query *query = NULL;
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    struct query_run run = query_run_of(attempts->sql);
    struct query_options options = {.runtime = runtime_current(), .settings = run.settings, .arena = &arena};
    struct logical_plan *logical;
    size_t rows;
    TRY(query_plan(&run, &arena, false, &logical));
    TRY(query_new(&options, logical, &query));
    TRY(pull_all(query, &rows));
    if (rows != attempts->expected_rows)
        return error_new(KITH_ERROR_INTERNAL, "%zu rows", rows);
    TRY(query_finish(query));
    for (enum explain_format format = EXPLAIN_TEXT; format <= EXPLAIN_JSON; format++)
        TRY(query_explain(query, &(struct explain_options){true, true, format}, &text));
    return NULL;
}

static kith_error *attempt_all(void *argument)
{
    struct attempts *attempts = argument;
    return fail_each_allocation(attempt, attempts, &attempts->allocations);
}

static void queries_survive_without_memory(void **state)
{
    static const struct attempts queries[] = {
        {"SELECT id, note FROM t WHERE score > 3 AND note LIKE '%, 3' ORDER BY score DESC, id LIMIT 5", 5},
        {"SELECT upper(note) || '!', CASE WHEN score IS NULL THEN 0 ELSE score * 2 END FROM t ORDER BY note, id", ROWS},
        {"SELECT * FROM t WHERE id IN (3, 5, 900) OR score BETWEEN 1 AND 2 LIMIT 3 OFFSET 1", 3},
    };
    write_table("t.parquet");
    for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
        struct attempts attempts = queries[i];
        /* One thread: allocations are counted by thread. */
        _cleanup_(runtime_free) struct runtime *runtime = NULL;
        assert_ok(runtime_new(&(struct runtime_options){.threads = 1}, &runtime));
        assert_ok(runtime_run(runtime, attempt_all, &attempts));
        assert_int_equal(runtime_live_fibers(runtime), 0);
        assert_in_range(attempts.allocations, 300, SIZE_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(queries_survive_without_memory, temporary_folder_enter, temporary_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
