#include "frontends/bench/topk_case.h"

#include <stdlib.h>

static const struct topk_query queries[] = {
    {"pruning", FIXTURE_PRUNING, {FIXTURE_SCORE}, 1, FIXTURE_SCORE, .filtered = true},
    {"staggered", FIXTURE_STAGGERED, {FIXTURE_SCORE}, 1, FIXTURE_SCORE, .filtered = true},
    {"split", FIXTURE_PRUNING, {FIXTURE_SCORE}, 1, FIXTURE_SCORE, .filtered = true, .shared_files = true},
    {"control", FIXTURE_CONTROL, {FIXTURE_SCORE}, 1, FIXTURE_SCORE, .filtered = true},
    {"overlap", FIXTURE_OVERLAP, {FIXTURE_SCORE}, 1, FIXTURE_SCORE, .filtered = true},
    {"wide", FIXTURE_OVERLAP, {FIXTURE_SCORE, FIXTURE_ID, FIXTURE_PAYLOAD}, 3, FIXTURE_SCORE, .filtered = true},
    {"strings", FIXTURE_OVERLAP, {FIXTURE_PAYLOAD}, 1, FIXTURE_PAYLOAD, .filtered = true},
    {"doubles", FIXTURE_OVERLAP, {FIXTURE_VAL}, 1, FIXTURE_VAL, .filtered = true},
    {"shuffled", FIXTURE_SHUFFLED, {FIXTURE_SCORE, FIXTURE_ID, FIXTURE_PAYLOAD}, 3, FIXTURE_SCORE},
    {"sorted", FIXTURE_SORTED, {FIXTURE_SCORE}, 1, FIXTURE_SCORE},
    {"skewed", FIXTURE_SKEWED, {FIXTURE_SCORE}, 1, FIXTURE_SCORE},
    {"rising", FIXTURE_RISING, {FIXTURE_SCORE}, 1, FIXTURE_SCORE},
    {"constant", FIXTURE_OVERLAP, {FIXTURE_SCORE}, 1, FIXTURE_SCORE, .filtered = true, .all_files = true},
    {"loop", FIXTURE_CONTROL, {FIXTURE_SCORE}, 1, FIXTURE_SCORE, .filtered = true, .embedded = true},
};
enum {
    PRUNING,
    STAGGERED,
    SPLIT,
    CONTROL,
    OVERLAP,
    WIDE,
    STRINGS,
    DOUBLES,
    SHUFFLED,
    SORTED,
    SKEWED,
    RISING,
    CONSTANT,
    LOOP
};

const struct topk_case topk_default_cases[] = {
    {&queries[PRUNING], 2},  {&queries[PRUNING], 8}, {&queries[STAGGERED], 2}, {&queries[STAGGERED], 8},
    {&queries[SPLIT], 2},    {&queries[SPLIT], 8},   {&queries[CONTROL], 2},   {&queries[CONTROL], 8},
    {&queries[OVERLAP], 2},  {&queries[OVERLAP], 8}, {&queries[WIDE], 2},      {&queries[WIDE], 8},
    {&queries[STRINGS], 2},  {&queries[STRINGS], 8}, {&queries[DOUBLES], 8},   {&queries[SHUFFLED], 2},
    {&queries[SHUFFLED], 8}, {&queries[SORTED], 8},  {&queries[SKEWED], 2},    {&queries[SKEWED], 8},
    {&queries[RISING], 2},   {&queries[RISING], 8},  {&queries[CONSTANT], 2},  {&queries[CONSTANT], 4},
    {&queries[CONSTANT], 8}, {&queries[LOOP], 2},    {&queries[LOOP], 8},
};
const size_t topk_default_case_count = ARRAY_SIZE(topk_default_cases);

const struct topk_query *topk_queries(size_t *count)
{
    *count = ARRAY_SIZE(queries);
    return queries;
}

static kith_error *no_such_case(const char *name)
{
    const char *names[ARRAY_SIZE(queries)];
    for (size_t i = 0; i < ARRAY_SIZE(queries); i++)
        names[i] = queries[i].name;
    const char *nearest = str_nearest(name, names, ARRAY_SIZE(queries));
    kith_error *error =
        error_new(KITH_ERROR_INVALID_ARGUMENT,
                  "there is no case \"%s\": expected a layout and a number of tasks, such as overlap/8", name);
    return nearest == NULL ? error : error_hint(error, "Did you mean \"%s/8\"?", nearest);
}

kith_error *topk_case_find(const char *name, struct topk_case *out)
{
    size_t length = strcspn(name, "/");
    char *end = NULL;
    *out = (struct topk_case){0};
    for (size_t i = 0; i < ARRAY_SIZE(queries); i++)
        if (str_equal(str_of(queries[i].name), (struct str){name, length}))
            out->query = &queries[i];
    if (out->query == NULL || name[length] != '/')
        return no_such_case(name);
    size_t most = out->query->all_files ? (size_t)TOPK_MOST_TASKS : (size_t)FIXTURE_MOST_FILES;
    out->tasks = strtoul(name + length + 1, &end, 10);
    if (*end != '\0' || out->tasks < 2 || out->tasks > most)
        return error_new(KITH_ERROR_INVALID_ARGUMENT, "the case %s takes 2 to %zu tasks, not \"%s\"", out->query->name,
                         most, name + length + 1);
    return NULL;
}

size_t topk_case_files(const struct topk_case *topk_case, const struct fixture *fixture)
{
    const struct topk_query *query = topk_case->query;
    size_t wanted = query->shared_files ? (topk_case->tasks + 1) / 2 : topk_case->tasks;
    return query->all_files ? fixture->files : MIN(wanted, fixture->files);
}

size_t topk_case_workers(const struct topk_case *topk_case)
{
    return topk_case->query->embedded ? 0 : topk_case->tasks;
}

kith_error *topk_query_sql(const struct topk_query *query, struct strbuf *out)
{
    TRY(strbuf_append_text(out, "SELECT "));
    for (size_t i = 0; i < query->output_count; i++)
        TRY(strbuf_printf(out, "%s%s", i == 0 ? "" : ", ", fixture_column_names[query->outputs[i]]));
    return strbuf_printf(out, " FROM t%s ORDER BY %s DESC LIMIT %d", query->filtered ? " WHERE NOT excluded" : "",
                         fixture_column_names[query->key], TOPK_LIMIT);
}

#define SHARING          "distributed.sibling_topk"
#define RANKS            "distributed.sibling_topk_ranks"
#define HEAD_START       "distributed.sibling_topk_head_start"
#define REORDER          "execution.parquet.reorder_row_groups"
#define PAGES            "execution.parquet.enable_page_index"
#define PUSHDOWN_FILTERS "execution.parquet.pushdown_filters"
#define PLANNED          "optimizer.enable_topk_planned_bounds"
#define FETCH_ROWS       "optimizer.topk_fetch_rows"
#define BOUNDS           "optimizer.enable_topk_dynamic_filter_pushdown"

static const struct topk_setting common[] = {
    {"execution.target_partitions", "2"},
    {"distributed.file_scan_config_bytes_per_partition", "0"},
    {SHARING, "auto"},
    {RANKS, "on"},
    {HEAD_START, "250ms"},
    {REORDER, "on"},
    {PAGES, "on"},
    {PUSHDOWN_FILTERS, "on"},
    {PLANNED, "on"},
    {FETCH_ROWS, "1000"},
    {BOUNDS, "on"},
};

const struct topk_arm topk_arms[] = {
    [TOPK_ARM_ALL] = {"all", "every idea on", {{NULL, NULL}}},
    [TOPK_ARM_NO_SHARING] = {"no-sharing", "tasks tell each other nothing", {{SHARING, "off"}}},
    {"all-told", "bounds are told whether or not they rule out row groups", {{SHARING, "on"}}},
    {"no-ranks", "tasks tell only bounds that one of them has", {{RANKS, "off"}}},
    {"no-head-start", "unpromising tasks do not let the others begin", {{HEAD_START, "0"}}},
    {"no-order", "row groups in the files' order", {{REORDER, "off"}}},
    {"no-planned", "no bound from statistics before anything is read", {{PLANNED, "off"}}},
    {"no-pages", "no page index", {{PAGES, "off"}}},
    {"no-late", "all columns of a batch are decoded before anything is ruled out", {{PUSHDOWN_FILTERS, "off"}}},
    {"no-fetch", "columns that decide nothing are read before the rows are chosen", {{FETCH_ROWS, "0"}}},
    {"no-bounds", "a Top-K tells the scan nothing", {{BOUNDS, "off"}}},
    {"source",
     "the source's baseline: local bounds over row groups in the files' order",
     {{SHARING, "off"},
      {REORDER, "off"},
      {PLANNED, "off"},
      {PAGES, "off"},
      {PUSHDOWN_FILTERS, "off"},
      {FETCH_ROWS, "0"}}},
    {"source-sharing",
     "the same with sharing",
     {{REORDER, "off"}, {PLANNED, "off"}, {PAGES, "off"}, {PUSHDOWN_FILTERS, "off"}, {FETCH_ROWS, "0"}}},
};
const struct topk_arm topk_sweep_arm = {
    "sweep", "every bound is told, and no task waits", {{SHARING, "on"}, {HEAD_START, "0"}}};
const struct topk_arm topk_loop_arm = {"loop", "a plain C loop over the same pages", {{NULL, NULL}}};
const size_t topk_arm_count = ARRAY_SIZE(topk_arms);

kith_error *topk_arm_find(const char *name, const struct topk_arm **out)
{
    const char *names[ARRAY_SIZE(topk_arms)];
    for (size_t i = 0; i < ARRAY_SIZE(topk_arms); i++) {
        names[i] = topk_arms[i].name;
        if (strcmp(name, names[i]) == 0) {
            *out = &topk_arms[i];
            return NULL;
        }
    }
    kith_error *error = error_new(KITH_ERROR_INVALID_ARGUMENT, "there is no arm \"%s\"", name);
    const char *nearest = str_nearest(name, names, ARRAY_SIZE(names));
    return nearest == NULL ? error_hint(error, "kith bench topk --help lists them.")
                           : error_hint(error, "Did you mean \"%s\"?", nearest);
}

kith_error *topk_arm_apply(const struct topk_arm *arm, struct session *session)
{
    for (size_t i = 0; i < ARRAY_SIZE(common); i++)
        TRY(session_set(session, common[i].name, common[i].value));
    for (size_t i = 0; i < ARRAY_SIZE(arm->settings) && arm->settings[i].name != NULL; i++)
        TRY(session_set(session, arm->settings[i].name, arm->settings[i].value));
    return NULL;
}
