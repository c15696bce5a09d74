/*
 * Random Top-K queries over the table of topk_table.h, and their answers: what a plain sort of all rows gives. Of rows
 * that tie at the end any may be given, so keys are compared, and each row with the table's.
 */
#ifndef KITH_TESTS_CLUSTER_TOPK_QUERY_H
#define KITH_TESTS_CLUSTER_TOPK_QUERY_H

#include "cluster/topk_table.h"
#include "runtime/fibers.h"

#include <time.h>

enum { TOPK_ORDERS = 12 + 96 + 384 }; /* of one, two and three keys: which, direction and place of NULL of each */

enum topk_form { TOPK_COLUMN, TOPK_IF_KEPT, TOPK_IS_NULL, TOPK_COALESCE, TOPK_FORMS };

/* What FROM names: the table, or a query that gives its rows; TOPK_FIRST_IDS gives those of the smallest ids only. */
enum topk_source {
    TOPK_TABLE,
    TOPK_RENAMED,
    TOPK_FIRST_IDS,
    TOPK_UNION,
    TOPK_NESTED_UNION,     /* one of its members has no rows */
    TOPK_UNION_WITH_LIMIT, /* in a member */
    TOPK_UNION_OF_FILES,   /* each a table with the columns that it has */
    TOPK_SOURCES
};

enum { TOPK_FIRST = 57 };

struct topk_sort_key {
    size_t column; /* of the table */
    enum topk_form form;
    struct sort_order order;
};

struct topk_query {
    enum topk_source source;
    size_t key_count;
    struct topk_sort_key keys[TOPK_KEYS];
    int keep_below; /* WHERE keep < this; 0 = no WHERE */
    size_t limit, offset;
    char sql[2048];
};

/* The order of that number, 0 to TOPK_ORDERS - 1. */
static inline void topk_set_order(struct topk_query *query, size_t number)
{
    static const uint8_t pairs[][2] = {{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}};
    size_t first = number < 12 ? 0 : number < 108 ? 12 : 108, bits = number - first;
    query->key_count = number < 12 ? 1 : number < 108 ? 2 : 3;
    for (size_t i = 0; i < query->key_count; i++, bits /= 4)
        query->keys[i] = (struct topk_sort_key){.order = {.descending = bits & 1, .nulls_first = bits >> 1 & 1}};
    if (query->key_count == 1) {
        query->keys[0].column = 1 + bits;
        return;
    }
    query->keys[0].column = 1U + pairs[bits][0];
    query->keys[1].column = 1U + pairs[bits][1];
    query->keys[2].column = 1U + (3U - pairs[bits][0] - pairs[bits][1]);
}

static inline kith_error *topk_write_union_of_files(const struct topk_table *table, struct strbuf *sql)
{
    for (size_t file = 0; file < table->file_count; file++) {
        TRY(strbuf_append_text(sql, file == 0 ? "(SELECT id" : " UNION ALL SELECT id"));
        for (size_t key = 0; key < TOPK_KEYS; key++)
            TRY(strbuf_printf(sql, table->keys[key].lacking >> file & 1 ? ", NULL AS %s" : ", %s",
                              topk_names[1 + key]));
        TRY(strbuf_printf(sql, ", keep, label FROM \"t/%zu.parquet\"", file));
    }
    return strbuf_append_text(sql, ") AS s");
}

static inline void topk_write_sql(struct topk_query *query, const struct topk_table *table)
{
#define ALL "SELECT id, k1, k2, k3, keep, label FROM t"
    static const char *const forms[] = {"%s", "CASE WHEN keep < 5 THEN %s END", "%s IS NULL", "coalesce(%s, NULL)"};
    static const char *const sources[] = {
        "t",
        "(SELECT label AS l, k3 AS x3, k2 AS x2, k1 AS x1, keep, id FROM t) AS s",
        "(" ALL " ORDER BY id LIMIT 57) AS s",
        "(" ALL " WHERE keep < 5 UNION ALL " ALL " WHERE NOT keep < 5) AS s",
        ("(" ALL " WHERE keep < 3 UNION ALL (SELECT * FROM (" ALL " WHERE keep BETWEEN 3 AND 5 UNION ALL "
         "" ALL " WHERE keep > 5 AND id < 30) AS r UNION ALL " ALL " WHERE false) UNION ALL "
         "" ALL " WHERE keep > 5 AND id >= 30) AS s"),
        "((" ALL " ORDER BY id LIMIT 57) UNION ALL " ALL " WHERE id >= 57) AS s",
        "",
    };
#undef ALL
    static const char *const renamed[TOPK_COLUMNS] = {"id", "x1", "x2", "x3", "keep", "l"};
    const char *const *names = query->source == TOPK_RENAMED ? renamed : topk_names;
    struct strbuf sql = {0};
    char key[96];
    for (size_t i = 0; i < TOPK_COLUMNS; i++)
        assert_ok(strbuf_printf(&sql, "%s%s", i == 0 ? "SELECT " : ", ", names[i]));
    assert_ok(strbuf_printf(&sql, " FROM %s", sources[query->source]));
    if (query->source == TOPK_UNION_OF_FILES)
        assert_ok(topk_write_union_of_files(table, &sql));
    if (query->keep_below > 0)
        assert_ok(strbuf_printf(&sql, " WHERE keep < %d", query->keep_below));
    for (size_t i = 0; i < query->key_count; i++) {
        const struct topk_sort_key *by = &query->keys[i];
        /* The column's name is put in by hand: a format must be a literal. */
        const char *form = forms[by->form], *hole = strstr(form, "%s");
        snprintf(key, sizeof key, "%.*s%s%s", (int)(hole - form), form, names[by->column], hole + 2);
        assert_ok(strbuf_printf(&sql, "%s%s %s NULLS %s", i == 0 ? " ORDER BY " : ", ", key,
                                by->order.descending ? "DESC" : "ASC", by->order.nulls_first ? "FIRST" : "LAST"));
    }
    assert_ok(strbuf_printf(&sql, " LIMIT %zu", query->limit));
    if (query->offset > 0)
        assert_ok(strbuf_printf(&sql, " OFFSET %zu", query->offset));
    snprintf(query->sql, sizeof query->sql, "%s", strbuf_text(&sql));
    strbuf_reset(&sql);
}

static inline struct topk_query topk_query_make(uint64_t *random, size_t order, const struct topk_table *table)
{
    static const size_t limits[] = {1, 10, 10, 1000};
    struct topk_query query = {.limit = limits[topk_choice(random, ARRAY_SIZE(limits))]};
    topk_set_order(&query, order);
    for (size_t i = 0; i < query.key_count; i++)
        if (topk_choice(random, 10) == 0)
            query.keys[i].form = (enum topk_form)topk_choice(random, TOPK_FORMS);
    if (topk_choice(random, 2) == 0)
        query.source = (enum topk_source)topk_choice(random, TOPK_SOURCES);
    if (topk_choice(random, 2) == 0)
        query.keep_below = (int)topk_choice(random, 10) + 1;
    if (topk_choice(random, 5) == 0)
        query.offset = topk_choice(random, 20);
    topk_write_sql(&query, table);
    return query;
}

static inline struct scalar topk_key_of(const struct topk_query *query, size_t key, const struct batch *rows,
                                        size_t row)
{
    const struct topk_sort_key *by = &query->keys[key];
    struct scalar value = scalar_from_array(rows->columns[by->column], row);
    struct scalar keep = scalar_from_array(rows->columns[TOPK_KEYS + 1], row);
    if (by->form == TOPK_IF_KEPT && keep.int64 >= 5)
        return scalar_null(&value.type);
    if (by->form == TOPK_IS_NULL)
        return (struct scalar){.type = type_of(TYPE_BOOL), .boolean = value.is_null};
    return value;
}

struct topk_sorting {
    const struct topk_query *query;
    const struct batch *rows;
};

static inline int topk_compare_rows(const struct topk_sorting *sorting, size_t a, size_t b)
{
    int order = 0;
    for (size_t i = 0; i < sorting->query->key_count && order == 0; i++) {
        struct scalar left = topk_key_of(sorting->query, i, sorting->rows, a);
        struct scalar right = topk_key_of(sorting->query, i, sorting->rows, b);
        order = sort_order_compare(&left, &right, sorting->query->keys[i].order);
    }
    return order;
}

static inline int topk_compare_for_sort(const void *a, const void *b, void *context)
{
    return topk_compare_rows(context, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* The rows that the query must give, but for ties; an array of *count row numbers. */
static inline kith_error *topk_expected(const struct topk_query *query, const struct batch *rows, uint32_t **out,
                                        size_t *count)
{
    struct topk_sorting sorting = {query, rows};
    uint32_t *kept;
    size_t total = 0;
    TRY(NEW_ARRAY(&kept, rows->rows));
    for (size_t row = 0; row < rows->rows; row++) {
        struct scalar keep = scalar_from_array(rows->columns[TOPK_KEYS + 1], row);
        bool given = query->source != TOPK_FIRST_IDS || row < TOPK_FIRST;
        if (given && (query->keep_below == 0 || keep.int64 < query->keep_below))
            kept[total++] = (uint32_t)row;
    }
    qsort_r(kept, total, sizeof *kept, topk_compare_for_sort, &sorting);
    size_t skipped = MIN(query->offset, total);
    *count = MIN(query->limit, total - skipped);
    memmove(kept, kept + skipped, *count * sizeof *kept);
    *out = kept;
    return NULL;
}

static inline kith_error *topk_check_row(const struct topk_query *query, const struct batch *rows,
                                         const struct batch *given, size_t number, uint32_t expected, bool *seen)
{
    struct topk_sorting sorting = {query, rows};
    struct scalar id = scalar_from_array(given->columns[0], number);
    if (id.is_null || id.int64 < 0 || (size_t)id.int64 >= rows->rows)
        return error_new(KITH_ERROR_INTERNAL, "row %zu has an id that the table has not", number);
    size_t row = (size_t)id.int64;
    if (seen[row])
        return error_new(KITH_ERROR_INTERNAL, "row %zu, of id %zu, came before", number, row);
    seen[row] = true;
    for (size_t i = 0; i < TOPK_COLUMNS; i++) {
        struct scalar ours = scalar_from_array(given->columns[i], number);
        struct scalar theirs = scalar_from_array(rows->columns[i], row);
        if (!sample_scalars_identical(&ours, &theirs))
            return error_new(KITH_ERROR_INTERNAL, "row %zu, of id %zu, has another %s than the table", number, row,
                             topk_names[i]);
    }
    if (topk_compare_rows(&sorting, row, expected) != 0)
        return error_new(KITH_ERROR_INTERNAL, "row %zu is that of id %zu, which does not tie with that of id %u",
                         number, row, expected);
    return NULL;
}

/* `given` is compact, NULL when there were no rows. */
static inline kith_error *topk_check(const struct topk_query *query, const struct batch *rows,
                                     const struct batch *given)
{
    _cleanup_free_ uint32_t *expected = NULL;
    _cleanup_free_ bool *seen = NULL;
    size_t count, given_count = given == NULL ? 0 : given->rows;
    TRY(topk_expected(query, rows, &expected, &count));
    TRY(NEW_ARRAY(&seen, rows->rows));
    if (given_count != count)
        return error_new(KITH_ERROR_INTERNAL, "%zu rows came, not %zu", given_count, count);
    for (size_t i = 0; i < count; i++)
        TRY(topk_check_row(query, rows, given, i, expected[i], seen));
    return NULL;
}

/* Whatever may not change an answer: every switch but the one by which the user vouches for the files. */
static inline kith_error *topk_randomize(uint64_t *random, struct settings *settings)
{
    static const char *const batch_sizes[] = {"1", "2", "7", "64", "8192"};
    static const char *const partitions[] = {"1", "1", "2", "5"};
    settings_init(settings);
    for (int i = 0; i < SETTING_COUNT; i++)
        if (setting_infos[i].type == SETTING_BOOL && i != SETTING_PARQUET_TRUST_FLOATS)
            TRY(settings_set(settings, (enum setting)i, topk_choice(random, 8) == 0 ? "off" : "on"));
    TRY(settings_set(settings, SETTING_BATCH_SIZE, batch_sizes[topk_choice(random, ARRAY_SIZE(batch_sizes))]));
    TRY(settings_set(settings, SETTING_TARGET_PARTITIONS, partitions[topk_choice(random, ARRAY_SIZE(partitions))]));
    TRY(settings_set(settings, SETTING_PARQUET_PAGE_INDEX_BYTES, "0"));
    return settings_set(settings, SETTING_BYTES_PER_TASK, "0");
}

/* The settings that are not the defaults, for messages. */
static inline kith_error *topk_settings_text(const struct settings *settings, struct strbuf *out)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        char value[64];
        if (settings->values[i] == setting_infos[i].default_value)
            continue;
        settings_format(settings, (enum setting)i, value, sizeof value);
        TRY(strbuf_printf(out, " %s=%s", setting_infos[i].name, value));
    }
    return NULL;
}

/* Calls `attempt` with seeds 1, 2, …, `count` of them; or, where KITH_TOPK_SECONDS is set, for so many seconds, and
 * then with `thorough`. KITH_TOPK_SEED is the first seed. */
static inline void topk_for_each_seed(size_t count, void (*attempt)(uint64_t seed, bool thorough, void *context),
                                      void *context)
{
    const char *first_text = getenv("KITH_TOPK_SEED"), *seconds_text = getenv("KITH_TOPK_SECONDS");
    uint64_t seed = first_text == NULL ? 1 : strtoull(first_text, NULL, 10), end = seed + count;
    time_t until = time(NULL) + (seconds_text == NULL ? 0 : (time_t)strtoll(seconds_text, NULL, 10));
    for (; seconds_text != NULL ? time(NULL) < until : seed < end; seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        attempt(seed, seconds_text != NULL, context);
    }
}

#endif
