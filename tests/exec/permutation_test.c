/*
 * The same SQL whatever the settings: batches of 1 to 8192 rows, 1 to 5 partitions, each way of pruning on and off,
 * over files that lack columns, statistics, page indexes or dictionaries.
 */
#include "exec/oracle.h"

#include "columnar/builder.h"

enum { ROWS_A_FILE = 700, FILES = 4, COLUMNS = 9 };

static const struct field fields[COLUMNS] = {
    {.name = (char[]){"id"}, .type = {.id = TYPE_INT64}},
    {.name = (char[]){"small"}, .type = {.id = TYPE_INT32}, .nullable = true},
    {.name = (char[]){"score"}, .type = {.id = TYPE_FLOAT64}, .nullable = true},
    {.name = (char[]){"name"}, .type = {.id = TYPE_UTF8}, .nullable = true},
    {.name = (char[]){"note"}, .type = {.id = TYPE_UTF8}, .nullable = true},
    {.name = (char[]){"day"}, .type = {.id = TYPE_DATE32}, .nullable = true},
    {.name = (char[]){"price"}, .type = {.id = TYPE_DECIMAL64, .precision = 15, .scale = 2}, .nullable = true},
    {.name = (char[]){"flag"}, .type = {.id = TYPE_BOOL}, .nullable = true},
    {.name = (char[]){"late"}, .type = {.id = TYPE_INT64}, .nullable = true},
};

static struct scalar random_value(uint64_t *random, size_t column, size_t row, size_t file, char *text, size_t size)
{
    static const double doubles[] = {0.0, -0.0, __builtin_nan(""), __builtin_inf(), -__builtin_inf()};
    static const char *const names[] = {"", "alpha", "alps", "beta", "gamma_x", "gamma%", "ångström"};
    uint64_t r = test_random(random);
    struct scalar value = {.type = fields[column].type, .is_null = fields[column].nullable && r % 11 == 0};
    if (value.is_null)
        return value;
    r >>= 8;
    switch (column) {
    case 0: /* unique, and mostly ascending, so that statistics tell something */
        value.int64 = (int64_t)(file * 1000 + row) * 3 + (int64_t)(r % 3);
        break;
    case 2:
        value.float64 = r % 9 < ARRAY_SIZE(doubles) ? doubles[r % 9] : (double)(r % 1000) / 8 - 40;
        break;
    case 3:
        value.string = str_of(names[(r + file) % ARRAY_SIZE(names)]);
        break;
    case 4:
        snprintf(text, size, "note %llu of row %zu, longer than a view's inline bytes", (unsigned long long)r, row);
        value.string = str_of(text);
        break;
    case 7:
        value.boolean = row / 100 % 2 == 0 ? r & 1 : file & 1;
        break;
    default:
        value.int64 = (int64_t)(r % 50) + (column == 5 ? 18000 + (int64_t)row / 10 : 0);
        break;
    }
    return value;
}

static struct batch *random_batch(uint64_t *random, size_t file)
{
    struct array *columns[COLUMNS];
    _cleanup_(schema_unref) struct schema *schema = NULL;
    struct batch *batch = NULL;
    for (size_t i = 0; i < COLUMNS; i++) {
        _cleanup_(array_builder_free) struct array_builder *builder = NULL;
        assert_ok(array_builder_new(&fields[i].type, &builder));
        for (size_t row = 0; row < ROWS_A_FILE; row++) {
            char text[128];
            struct scalar value = random_value(random, i, row, file, text, sizeof text);
            if (i == 8 && file == 2)
                value = scalar_null(&fields[i].type); /* the file lacks it */
            assert_ok(array_builder_append(builder, &value));
        }
        assert_ok(array_builder_finish(builder, &columns[i]));
    }
    assert_ok(schema_new(fields, COLUMNS, &schema));
    assert_ok(batch_new(schema, columns, ROWS_A_FILE, &batch));
    for (size_t i = 0; i < COLUMNS; i++)
        array_unref(columns[i]);
    return batch;
}

/* The files differ in what they lack; the third has fewer columns, in another order. */
static struct batch *write_files(void)
{
    static const struct parquet_write_options options[FILES] = {
        {.codec = PARQUET_ZSTD, .row_group_rows = 100, .page_rows = 17},
        {.codec = PARQUET_UNCOMPRESSED, .row_group_rows = 300, .page_rows = 50, .no_page_index = true},
        {.codec = PARQUET_SNAPPY, .row_group_rows = 250, .page_rows = 23, .no_dictionary = true},
        {.codec = PARQUET_SNAPPY, .row_group_rows = 200, .page_rows = 1000, .no_statistics = true},
    };
    static const size_t reordered[] = {5, 3, 0, 1, 2, 4, 7, 6};
    uint64_t random = 11;
    struct batch *batches[FILES], *all = NULL;
    for (size_t i = 0; i < FILES; i++) {
        char path[32];
        snprintf(path, sizeof path, "t/%zu.parquet", i);
        batches[i] = random_batch(&random, i);
        if (i != 2) {
            write_parquet(path, batches[i], &options[i]);
            continue;
        }
        _cleanup_(schema_unref) struct schema *schema = NULL;
        _cleanup_(batch_unref) struct batch *projected = NULL;
        assert_ok(schema_project(batches[i]->schema, reordered, ARRAY_SIZE(reordered), &schema));
        assert_ok(batch_project(batches[i], schema, reordered, &projected));
        write_parquet(path, projected, &options[i]);
    }
    assert_ok(batch_concatenate(batches[0]->schema, batches, FILES, &all));
    for (size_t i = 0; i < FILES; i++)
        batch_unref(batches[i]);
    return all;
}

enum comparison { IN_ORDER, ANY_ORDER, COUNT_ONLY };

static const struct {
    const char *sql;
    enum comparison comparison;
} queries[] = {
    {"SELECT * FROM t", ANY_ORDER},
    {"SELECT FROM t WHERE id % 7 = 0", ANY_ORDER},
    {"SELECT 1 + 1, 'x'", IN_ORDER},
    {"SELECT id, note FROM t ORDER BY id LIMIT 10", IN_ORDER},
    {"SELECT id, note FROM t ORDER BY id DESC LIMIT 10", IN_ORDER},
    {"SELECT note, id FROM t ORDER BY score DESC, id LIMIT 25", IN_ORDER},
    {"SELECT id, score FROM t ORDER BY score, id DESC LIMIT 300", IN_ORDER},
    {"SELECT id FROM t ORDER BY score NULLS FIRST, name DESC, id LIMIT 500 OFFSET 40", IN_ORDER},
    {"SELECT id, late FROM t ORDER BY late DESC NULLS LAST, id LIMIT 60", IN_ORDER},
    {"SELECT id, late FROM t ORDER BY late NULLS FIRST, id LIMIT 900", IN_ORDER},
    {"SELECT name, id FROM t ORDER BY name, id LIMIT 7", IN_ORDER},
    {"SELECT name, id FROM t WHERE name IS NOT NULL ORDER BY name DESC, id DESC LIMIT 77", IN_ORDER},
    {"SELECT id FROM t WHERE price > 20 ORDER BY day DESC, price, id LIMIT 33", IN_ORDER},
    {"SELECT id, flag FROM t WHERE flag ORDER BY flag, id DESC LIMIT 12", IN_ORDER},
    {"SELECT small FROM t ORDER BY small LIMIT 400", IN_ORDER}, /* ties, but the keys are all that is shown */
    {"SELECT score FROM t ORDER BY score DESC LIMIT 100", IN_ORDER},
    {"SELECT id + 1, price * 2 FROM t ORDER BY -id LIMIT 9", IN_ORDER},
    {"SELECT id FROM t ORDER BY id % 10, id LIMIT 20 OFFSET 5", IN_ORDER},
    {"SELECT id, name FROM t ORDER BY small, id", IN_ORDER},
    {"SELECT * FROM t WHERE small < 5 ORDER BY note DESC NULLS FIRST, id", IN_ORDER},
    {"SELECT id FROM t WHERE id BETWEEN 2000 AND 2100", ANY_ORDER},
    {"SELECT id, late FROM t WHERE late IS NULL AND id > 3000", ANY_ORDER},
    {"SELECT id FROM t WHERE late IS NOT NULL AND name LIKE 'gamma\\_%'", ANY_ORDER},
    {"SELECT id, score FROM t WHERE score > 50 OR score = 0", ANY_ORDER},
    {"SELECT id FROM t WHERE NOT flag AND day >= DATE '2019-05-01'", ANY_ORDER},
    {"SELECT id FROM t WHERE name IN ('alpha', 'nothing') AND small <> 3", ANY_ORDER},
    {"SELECT id FROM t WHERE id < 0", ANY_ORDER},
    {"SELECT id FROM t WHERE id < 0 ORDER BY id LIMIT 5", IN_ORDER},
    {"SELECT id FROM t ORDER BY id LIMIT 0", IN_ORDER},
    {"SELECT id FROM t ORDER BY id LIMIT 5 OFFSET 100000", IN_ORDER},
    {"SELECT id FROM t ORDER BY id LIMIT 1000000", IN_ORDER},
    {"SELECT id FROM t LIMIT 123", COUNT_ONLY},
    {"SELECT id FROM t WHERE flag LIMIT 50 OFFSET 7", COUNT_ONLY},
    {"SELECT id FROM t OFFSET 2750", COUNT_ONLY},
    {"SELECT note FROM t WHERE small = 3 LIMIT 100000", ANY_ORDER},
    {"SELECT b, a FROM (SELECT id AS a, score AS b, small FROM t) AS s WHERE small > 5 ORDER BY b DESC, a LIMIT 30",
     IN_ORDER},
    {"SELECT * FROM (SELECT small AS late, late AS small, id FROM t) AS s ORDER BY late, id LIMIT 50", IN_ORDER},
    {"SELECT id FROM (SELECT * FROM t ORDER BY score DESC, id LIMIT 200) AS s ORDER BY id DESC LIMIT 20", IN_ORDER},
    {"SELECT id FROM (SELECT id FROM t ORDER BY late, id LIMIT 100 OFFSET 10) AS s WHERE id % 2 = 0 OFFSET 5",
     IN_ORDER},
    {"SELECT id FROM (SELECT id FROM t ORDER BY name, id) AS s LIMIT 40", IN_ORDER},
    {"SELECT x FROM (SELECT id FROM t ORDER BY id) AS s (x) WHERE x > 1000 ORDER BY x DESC LIMIT 3", IN_ORDER},
    {"WITH a AS (SELECT id, small + 1 AS n FROM t WHERE flag), b AS (SELECT n * 2 AS m, id FROM a WHERE n > 3) "
     "SELECT m, id FROM b ORDER BY m DESC, id LIMIT 60",
     IN_ORDER},
    {"SELECT id * 2 AS k, score FROM t UNION ALL SELECT id * 2 + 1, small FROM t ORDER BY score DESC, k LIMIT 77",
     IN_ORDER},
    {"SELECT id FROM t WHERE flag UNION ALL SELECT late FROM t", ANY_ORDER},
    {"SELECT s FROM (SELECT small AS s, id AS k FROM t UNION ALL SELECT late, id FROM t WHERE name = 'beta' UNION ALL "
     "(SELECT id, 3 FROM t ORDER BY price, id LIMIT 40 OFFSET 2)) AS u WHERE k > 7 ORDER BY s NULLS FIRST LIMIT 900",
     IN_ORDER},
    {"(SELECT id FROM t ORDER BY score, id LIMIT 9) UNION ALL (SELECT -id FROM t ORDER BY late DESC, id LIMIT 9) "
     "ORDER BY id LIMIT 11",
     IN_ORDER},
    /* The key is another column of the table in each member: each is judged by the statistics of its own. */
    {"SELECT id AS k FROM t UNION ALL SELECT late FROM t ORDER BY k LIMIT 40", IN_ORDER},
    {"SELECT id FROM t UNION ALL SELECT id FROM t LIMIT 2000", COUNT_ONLY},
    {"SELECT 3 AS x UNION ALL SELECT id FROM t WHERE id < 20 UNION ALL SELECT NULL ORDER BY x", IN_ORDER},
    {"SELECT id FROM (SELECT id, random() AS r FROM t) AS s WHERE r >= 0 ORDER BY id LIMIT 50", IN_ORDER},
    {"SELECT id FROM t WHERE random() < 2 AND small > 3 ORDER BY day DESC, id LIMIT 50", IN_ORDER},
};

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text in order of strcmp. */
static void sort_lines(struct strbuf *text)
{
    size_t count = 0;
    char **lines = calloc(text->length + 1, sizeof *lines);
    for (char *line = text->data, *end; line != NULL && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        lines[count++] = line;
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    struct strbuf sorted = {0};
    for (size_t i = 0; i < count; i++)
        assert_ok(strbuf_printf(&sorted, "%s\n", lines[i]));
    strbuf_reset(text);
    *text = sorted;
    free(lines);
}

static void expect_rows(const char *sql, struct batch *table, struct strbuf *rows, size_t *count)
{
    _cleanup_(plan_arena_reset) struct plan_arena arena = {0};
    struct query_run run = query_run_of(sql);
    struct logical_plan *plan = NULL;
    assert_ok(query_plan(&run, &arena, false, &plan));
    _cleanup_(batch_unref) struct batch *result = oracle_run(plan, table);
    *count = result->rows;
    assert_ok(format_rows(result, rows));
}

static void randomize_settings(uint64_t *random, struct query_run *run)
{
    static const char *const batch_sizes[] = {"1", "2", "7", "1023", "8192"};
    static const char *const partitions[] = {"1", "2", "5"};
    static const char *const fetch_rows[] = {"0", "20", "1000"};
    static const char *const cooperation[] = {"shared", "shared_with_fallback", "per_stream"};
    static const enum setting switches[] = {SETTING_PARQUET_PRUNING,          SETTING_PARQUET_PAGE_INDEX,
                                            SETTING_PARQUET_PUSHDOWN_FILTERS, SETTING_PARQUET_REORDER_ROW_GROUPS,
                                            SETTING_PARQUET_VERIFY_CHECKSUMS, SETTING_TOPK_DYNAMIC_FILTERS,
                                            SETTING_DYNAMIC_FILTERS,          SETTING_PLANNED_BOUNDS};
    query_set(run, SETTING_BATCH_SIZE, batch_sizes[test_random(random) % ARRAY_SIZE(batch_sizes)]);
    query_set(run, SETTING_TARGET_PARTITIONS, partitions[test_random(random) % ARRAY_SIZE(partitions)]);
    query_set(run, SETTING_TOPK_FETCH_ROWS, fetch_rows[test_random(random) % ARRAY_SIZE(fetch_rows)]);
    query_set(run, SETTING_COOPERATION, cooperation[test_random(random) % ARRAY_SIZE(cooperation)]);
    for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
        query_set(run, switches[i], test_random(random) % 3 == 0 ? "off" : "on");
}

static void check_query(size_t index, uint64_t *random, struct batch *table, int rounds)
{
    _cleanup_(strbuf_reset) struct strbuf expected = {0};
    size_t count;
    expect_rows(queries[index].sql, table, &expected, &count);
    if (queries[index].comparison == ANY_ORDER)
        sort_lines(&expected);
    for (int round = 0; round < rounds; round++) {
        _cleanup_(query_run_reset) struct query_run run = query_run_of(queries[index].sql);
        randomize_settings(random, &run);
        kith_error *error = query_run(&run);
        if (queries[index].comparison == ANY_ORDER)
            sort_lines(&run.rows);
        bool same =
            error == NULL && run.row_count == count &&
            (queries[index].comparison == COUNT_ONLY || strcmp(strbuf_text(&run.rows), strbuf_text(&expected)) == 0);
        if (same)
            continue;
        _cleanup_(strbuf_reset) struct strbuf settings = {0};
        for (int i = 0; i < SETTING_COUNT; i++)
            if (run.settings.values[i] != setting_infos[i].default_value)
                assert_ok(
                    strbuf_printf(&settings, " %s=%lld", setting_infos[i].name, (long long)run.settings.values[i]));
        assert_ok(error);
        print_error("expected:\n%.2000s\ngiven:\n%.2000s\n", strbuf_text(&expected), strbuf_text(&run.rows));
        fail_msg("%s: %zu rows, expected %zu, or other ones, with%s", queries[index].sql, run.row_count, count,
                 strbuf_text(&settings));
    }
}

static void every_query_gives_the_same_rows_whatever_the_settings(void **state)
{
    _cleanup_(batch_unref) struct batch *table = write_files();
    uint64_t random = 3;
    for (size_t i = 0; i < ARRAY_SIZE(queries); i++)
        check_query(i, &random, table, 15);
}

/* A condition over some columns, in SQL. */
static void append_condition(uint64_t *random, struct strbuf *sql, int depth)
{
    static const char *const conditions[] = {
        "id < 1500",    "id >= 6000", "small = 7",           "small IS NULL",           "score > 60",
        "score < -30",  "score = 0",  "name = 'beta'",       "name LIKE 'al%'",         "name IS NOT NULL",
        "flag",         "NOT flag",   "price <= 10.5",       "day < DATE '2019-06-01'", "late > 40",
        "late IS NULL", "id % 5 = 1", "note LIKE '%row 7%'", "small + 1 > 30",          "name > 'b'"};
    uint64_t r = test_random(random);
    if (depth == 0 || r % 3 == 0) {
        assert_ok(strbuf_append_text(sql, conditions[(r >> 8) % ARRAY_SIZE(conditions)]));
        return;
    }
    assert_ok(strbuf_append_text(sql, (r >> 16) % 4 == 0 ? "NOT (" : "("));
    append_condition(random, sql, depth - 1);
    assert_ok(strbuf_append_text(sql, (r >> 20) & 1 ? " AND " : " OR "));
    append_condition(random, sql, depth - 1);
    assert_ok(strbuf_append_text(sql, ")"));
}

static void reading_late_gives_what_reading_everything_gives(void **state)
{
    static const char *const orders[] = {"", " ORDER BY id", " ORDER BY score DESC, id LIMIT 40",
                                         " ORDER BY name, small DESC, id LIMIT 13", " ORDER BY late, id LIMIT 500"};
    _cleanup_(batch_unref) struct batch *table = write_files();
    uint64_t random = 21;
    for (int round = 0; round < 200; round++) {
        _cleanup_(strbuf_reset) struct strbuf sql = {0}, expected = {0};
        size_t count, order = test_random(&random) % ARRAY_SIZE(orders);
        assert_ok(strbuf_append_text(&sql, "SELECT id, name, note, score, late FROM t WHERE "));
        append_condition(&random, &sql, 3);
        assert_ok(strbuf_append_text(&sql, orders[order]));
        expect_rows(strbuf_text(&sql), table, &expected, &count);
        _cleanup_(query_run_reset) struct query_run run = query_run_of(strbuf_text(&sql));
        randomize_settings(&random, &run);
        assert_ok(query_run(&run));
        if (order == 0) {
            sort_lines(&expected);
            sort_lines(&run.rows);
        }
        if (strcmp(strbuf_text(&run.rows), strbuf_text(&expected)) != 0)
            fail_msg("%s: %zu rows, expected %zu, or other ones", strbuf_text(&sql), run.row_count, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_query_gives_the_same_rows_whatever_the_settings, temporary_folder_enter,
                                        temporary_folder_leave),
        cmocka_unit_test_setup_teardown(reading_late_gives_what_reading_everything_gives, temporary_folder_enter,
                                        temporary_folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
