#include "plan/physical.h"

#include "base/limits.h"
#include "plan/attach_bound.h"
#include "runtime/coop.h"

/* Below this a scan takes about as long as waking another thread and handing batches over. */
enum { BYTES_WORTH_A_PARTITION = 1 << 20 };

enum { FILES_A_CHARGE = 1024 };

struct planner {
    struct plan_arena *plans;
    struct arena *arena; /* of `plans` */
    const struct settings *settings;
    size_t processors;
    uint64_t last_filter_id;
    size_t most_partitions; /* of one scan */
};

kith_error *physical_plan_new(struct arena *arena, enum physical_kind kind, struct schema *schema, size_t partitions,
                              struct physical_plan *input, struct physical_plan **out)
{
    TRY(ARENA_NEW(arena, out));
    (*out)->kind = kind;
    (*out)->schema = schema;
    (*out)->partitions = partitions;
    if (input != NULL) {
        TRY(ARENA_NEW_ARRAY(arena, &(*out)->inputs, 1));
        (*out)->inputs[0] = input;
        (*out)->input_count = 1;
    }
    return NULL;
}

static size_t scan_partitions(const struct planner *planner, const struct table *table)
{
    size_t wanted = (size_t)settings_get(planner->settings, SETTING_TARGET_PARTITIONS);
    if (wanted == 0)
        wanted = MIN(planner->processors, (size_t)(table->compressed_bytes / BYTES_WORTH_A_PARTITION + 1));
    size_t row_groups = 0;
    for (size_t i = 0; i < table->file_count; i++)
        row_groups += table->files[i].file->metadata->row_group_count;
    return MAX(MIN(MIN(wanted, row_groups), planner->most_partitions), (size_t)1);
}

static kith_error *plan_scan(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out)
{
    struct table *table = logical->scan.table;
    TRY(physical_plan_new(planner->arena, PHYSICAL_PARQUET_SCAN, logical->schema, scan_partitions(planner, table), NULL,
                          out));
    struct parquet_scan *scan = &(*out)->scan;
    scan->table = table;
    scan->table_schema = table->schema;
    scan->columns = logical->scan.columns;
    scan->predicate = logical->scan.filter;
    scan->limit = -1;
    scan->file_count = table->file_count;
    TRY(ARENA_NEW_ARRAY(planner->arena, &scan->files, table->file_count));
    for (size_t i = 0; i < table->file_count; i++) {
        scan->files[i] = (struct scan_file){
            .path = table->files[i].path,
            .size = table->files[i].file->storage->size,
            .modified_ns = table->files[i].modified_ns,
        };
        TRY(coop_charge_every(FILES_A_CHARGE, i));
    }
    return NULL;
}

static kith_error *plan_node(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out);

static kith_error *make_sort(struct planner *planner, const struct logical_plan *logical, struct physical_plan *input,
                             struct physical_plan **out)
{
    TRY(physical_plan_new(planner->arena, PHYSICAL_SORT, input->schema, input->partitions, input, out));
    (*out)->sort.exprs = logical->sort.exprs;
    (*out)->sort.count = logical->sort.count;
    (*out)->sort.fetch = logical->sort.fetch;
    return NULL;
}

static kith_error *attach_bound(struct planner *planner, struct physical_plan *const *sorts, size_t count)
{
    bool allowed = settings_get(planner->settings, SETTING_DYNAMIC_FILTERS) != 0 &&
                   settings_get(planner->settings, SETTING_TOPK_DYNAMIC_FILTERS) != 0;
    bool attached;
    if (!allowed)
        return NULL;
    TRY(topk_attach_bound(planner->arena, planner->settings, sorts, count, planner->last_filter_id + 1, &attached));
    planner->last_filter_id += attached;
    return NULL;
}

/* A Top-K of a union's rows is one of each member's: they have one bound between them, and each can run where its scan
 * does, whatever the others are. */
static kith_error *plan_topk_of_union(struct planner *planner, const struct logical_plan *logical,
                                      struct physical_plan *members)
{
    for (size_t i = 0; i < members->input_count; i++)
        TRY(make_sort(planner, logical, members->inputs[i], &members->inputs[i]));
    return attach_bound(planner, members->inputs, members->input_count);
}

/* Each partition is sorted by itself; a merge makes one order of them. */
static kith_error *plan_sort(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out)
{
    struct physical_plan *input;
    TRY(plan_node(planner, logical->inputs[0], &input));
    *out = input;
    if (input->kind == PHYSICAL_UNION && logical->sort.fetch >= 0) {
        TRY(plan_topk_of_union(planner, logical, input));
    } else {
        TRY(make_sort(planner, logical, input, out));
        TRY(attach_bound(planner, out, 1));
    }
    if (input->partitions == 1)
        return NULL;
    TRY(physical_plan_new(planner->arena, PHYSICAL_SORT_PRESERVING_MERGE, logical->schema, 1, *out, out));
    (*out)->sort.exprs = logical->sort.exprs;
    (*out)->sort.count = logical->sort.count;
    (*out)->sort.fetch = logical->sort.fetch;
    return NULL;
}

/* So many rows of each scan suffice; of one that is seen through a filter that is not known. */
static void limit_scans(struct physical_plan *plan, int64_t rows)
{
    if (plan->kind == PHYSICAL_PARQUET_SCAN && rows >= 0)
        plan->scan.limit = plan->scan.limit < 0 ? rows : MIN(plan->scan.limit, rows);
    if (plan->kind == PHYSICAL_PROJECTION || plan->kind == PHYSICAL_UNION)
        for (size_t i = 0; i < plan->input_count; i++)
            limit_scans(plan->inputs[i], rows);
}

/* Skip and fetch need one partition; each partition need give no more rows than both together. */
static kith_error *plan_limit(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out)
{
    struct physical_plan *input;
    int64_t rows = -1;
    TRY(plan_node(planner, logical->inputs[0], &input));
    if (logical->limit.fetch >= 0 && __builtin_add_overflow(logical->limit.offset, logical->limit.fetch, &rows))
        rows = -1;
    limit_scans(input, rows);
    if (rows >= 0 && input->kind != PHYSICAL_PARQUET_SCAN && logical->inputs[0]->kind != LOGICAL_SORT) {
        TRY(physical_plan_new(planner->arena, PHYSICAL_LOCAL_LIMIT, input->schema, input->partitions, input, out));
        (*out)->limit.fetch = rows;
        input = *out;
    }
    if (input->partitions > 1) {
        TRY(physical_plan_new(planner->arena, PHYSICAL_COALESCE_PARTITIONS, input->schema, 1, input, out));
        (*out)->limit.fetch = rows;
        input = *out;
    }
    TRY(physical_plan_new(planner->arena, PHYSICAL_GLOBAL_LIMIT, logical->schema, 1, input, out));
    (*out)->limit.skip = logical->limit.offset;
    (*out)->limit.fetch = logical->limit.fetch;
    return NULL;
}

static kith_error *plan_union(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out)
{
    TRY(physical_plan_new(planner->arena, PHYSICAL_UNION, logical->schema, 0, NULL, out));
    TRY(ARENA_NEW_ARRAY(planner->arena, &(*out)->inputs, logical->input_count));
    for (size_t i = 0; i < logical->input_count; i++) {
        TRY(plan_node(planner, logical->inputs[i], &(*out)->inputs[i]));
        (*out)->input_count++;
        (*out)->partitions += (*out)->inputs[i]->partitions;
    }
    if ((*out)->partitions <= LIMIT_PLAN_PARTITIONS)
        return NULL;
    return error_new(KITH_ERROR_LIMIT, "UNION ALL of %zu members exceeds PLAN_PARTITIONS (%d)", (*out)->input_count,
                     LIMIT_PLAN_PARTITIONS);
}

static kith_error *plan_projection(struct planner *planner, const struct logical_plan *logical,
                                   struct physical_plan **out)
{
    struct physical_plan *input;
    TRY(plan_node(planner, logical->inputs[0], &input));
    TRY(physical_plan_new(planner->arena, PHYSICAL_PROJECTION, logical->schema, input->partitions, input, out));
    (*out)->projection.exprs = logical->projection.exprs;
    return NULL;
}

static kith_error *plan_filter(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out)
{
    struct physical_plan *input;
    TRY(plan_node(planner, logical->inputs[0], &input));
    TRY(physical_plan_new(planner->arena, PHYSICAL_FILTER, logical->schema, input->partitions, input, out));
    (*out)->filter.predicate = logical->filter.predicate;
    return NULL;
}

static kith_error *plan_node(struct planner *planner, const struct logical_plan *logical, struct physical_plan **out)
{
    switch (logical->kind) {
    case LOGICAL_SCAN:
        return plan_scan(planner, logical, out);
    case LOGICAL_FILTER:
        return plan_filter(planner, logical, out);
    case LOGICAL_PROJECTION:
        return plan_projection(planner, logical, out);
    case LOGICAL_SORT:
        return plan_sort(planner, logical, out);
    case LOGICAL_LIMIT:
        return plan_limit(planner, logical, out);
    case LOGICAL_UNION:
        return plan_union(planner, logical, out);
    case LOGICAL_ONE_ROW:
        return physical_plan_new(planner->arena, PHYSICAL_PLACEHOLDER_ROW, logical->schema, 1, NULL, out);
    }
    UNREACHABLE();
}

static size_t count_scans(const struct logical_plan *logical)
{
    size_t count = logical->kind == LOGICAL_SCAN;
    for (size_t i = 0; i < logical->input_count; i++)
        count += count_scans(logical->inputs[i]);
    return count;
}

kith_error *physical_plan_create(struct plan_arena *arena, const struct settings *settings, size_t processors,
                                 const struct logical_plan *logical, struct physical_plan **out)
{
    struct planner planner = {
        .plans = arena,
        .arena = &arena->arena,
        .settings = settings,
        .processors = MAX(processors, (size_t)1),
        .most_partitions = LIMIT_PLAN_PARTITIONS / MAX(count_scans(logical), (size_t)1),
    };
    struct physical_plan *plan;
    TRY(plan_node(&planner, logical, &plan));
    if (plan->partitions > 1) {
        struct physical_plan *input = plan;
        TRY(physical_plan_new(planner.arena, PHYSICAL_COALESCE_PARTITIONS, input->schema, 1, input, &plan));
        plan->limit.fetch = -1;
    }
    *out = plan;
    return NULL;
}

size_t physical_plan_node_count(const struct physical_plan *plan)
{
    size_t count = 1;
    for (size_t i = 0; i < plan->input_count; i++)
        count += physical_plan_node_count(plan->inputs[i]);
    return count;
}
