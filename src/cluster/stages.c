#include "cluster/stages.h"

#include "base/alloc.h"
#include "base/limits.h"

#include <errno.h>
#include <unistd.h>

/* Below this a scan takes about as long as waking another thread and handing batches over. */
enum { BYTES_WORTH_A_PARTITION = 1 << 20 };

struct cutter {
    struct arena *arena;
    const struct settings *settings;
    const size_t *processors; /* of each worker */
    size_t worker_count;
    struct physical_plan *chain[LIMIT_PLAN_DEPTH]; /* from the root down to the scan */
    size_t length;
};

static uint64_t scanned_bytes(const struct physical_plan *plan)
{
    uint64_t bytes =
        plan->kind == PHYSICAL_PARQUET_SCAN && plan->scan.table != NULL ? plan->scan.table->compressed_bytes : 0;
    for (size_t i = 0; i < plan->input_count; i++)
        bytes += scanned_bytes(plan->inputs[i]);
    return bytes;
}

/* The member of a union that is worth most to spread; the others run with the head. */
static size_t largest_input(const struct physical_plan *plan)
{
    size_t largest = 0;
    for (size_t i = 1; i < plan->input_count; i++)
        if (scanned_bytes(plan->inputs[i]) > scanned_bytes(plan->inputs[largest]))
            largest = i;
    return largest;
}

/* False for plans that do not end in a scan, which there is nothing to spread of. */
static bool list_chain(struct cutter *cutter, struct physical_plan *plan)
{
    for (;;) {
        if (cutter->length == ARRAY_SIZE(cutter->chain))
            return false;
        cutter->chain[cutter->length++] = plan;
        if (plan->input_count == 0)
            return plan->kind == PHYSICAL_PARQUET_SCAN && plan->scan.table != NULL;
        plan = plan->inputs[largest_input(plan)];
    }
}

/* Nodes that work on each partition by itself: what they do is the same in one task as in many. */
static bool is_row_wise(const struct physical_plan *node)
{
    return node->kind == PHYSICAL_PARQUET_SCAN || node->kind == PHYSICAL_FILTER || node->kind == PHYSICAL_PROJECTION ||
           node->kind == PHYSICAL_LOCAL_LIMIT;
}

/* Position in the chain of the stage's root: a sort ends a stage, because its tasks' rows are then to be merged; so
 * does the last node below one that needs all rows in one place. */
static size_t find_cut(const struct cutter *cutter)
{
    size_t cut = cutter->length - 1;
    while (cut > 0 && is_row_wise(cutter->chain[cut - 1]))
        cut--;
    return cut > 0 && cutter->chain[cut - 1]->kind == PHYSICAL_SORT ? cut - 1 : cut;
}

/* Rows that suffice of what the cut node gives, all partitions together; -1 = all. */
static int64_t rows_wanted(const struct cutter *cutter, size_t cut)
{
    const struct physical_plan *root = cutter->chain[cut], *above = cut > 0 ? cutter->chain[cut - 1] : NULL;
    int64_t rows;
    if (above != NULL && above->kind == PHYSICAL_GLOBAL_LIMIT && above->limit.fetch >= 0)
        return __builtin_add_overflow(above->limit.skip, above->limit.fetch, &rows) ? -1 : rows;
    return root->kind == PHYSICAL_LOCAL_LIMIT && root->partitions == 1 ? root->limit.fetch : -1;
}

static bool is_merge(const struct physical_plan *node)
{
    return node->kind == PHYSICAL_SORT_PRESERVING_MERGE || node->kind == PHYSICAL_COALESCE_PARTITIONS;
}

/* The node that makes one stream of many of `root`'s, over `input`: the one that the plan has above the cut, or one of
 * the same meaning where it needed none. */
static kith_error *make_merge(struct cutter *cutter, size_t cut, struct physical_plan *input,
                              struct physical_plan **out)
{
    const struct physical_plan *root = cutter->chain[cut];
    const struct physical_plan *above = cut > 0 ? cutter->chain[cut - 1] : NULL;
    bool sorted = root->kind == PHYSICAL_SORT;
    TRY(physical_plan_new(cutter->arena, sorted ? PHYSICAL_SORT_PRESERVING_MERGE : PHYSICAL_COALESCE_PARTITIONS,
                          root->schema, 1, input, out));
    if (sorted) {
        (*out)->sort = above != NULL && is_merge(above) ? above->sort : root->sort;
        (*out)->sort.filter_id = 0;
    } else {
        (*out)->limit.fetch = above != NULL && is_merge(above) ? above->limit.fetch : rows_wanted(cutter, cut);
    }
    return NULL;
}

/* Copies of the nodes from the cut down, over `scan`, with `partitions` partitions and a merge of them on top. */
static kith_error *make_stage(struct cutter *cutter, size_t cut, const struct parquet_scan *scan, size_t partitions,
                              struct physical_plan **out)
{
    struct physical_plan *below = NULL;
    for (size_t i = cutter->length; i-- > cut;) {
        struct physical_plan *copy;
        TRY(physical_plan_new(cutter->arena, cutter->chain[i]->kind, cutter->chain[i]->schema, partitions, below,
                              &copy));
        struct physical_plan **inputs = copy->inputs;
        *copy = *cutter->chain[i];
        copy->partitions = partitions;
        copy->inputs = inputs;
        if (copy->kind == PHYSICAL_PARQUET_SCAN)
            copy->scan = *scan;
        below = copy;
    }
    *out = below;
    return partitions > 1 ? make_merge(cutter, cut, below, out) : NULL;
}

/* A copy over `input` instead of what stands there in the chain. What keeps its input's partitions has as many. */
static kith_error *copy_above(struct cutter *cutter, size_t position, struct physical_plan *input,
                              struct physical_plan **out)
{
    const struct physical_plan *node = cutter->chain[position];
    struct physical_plan **inputs;
    TRY(ARENA_NEW(cutter->arena, out));
    TRY(ARENA_NEW_ARRAY(cutter->arena, &inputs, node->input_count));
    **out = *node;
    (*out)->inputs = inputs;
    for (size_t i = 0; i < node->input_count; i++)
        inputs[i] = node->inputs[i] == cutter->chain[position + 1] ? input : node->inputs[i];
    if (node->kind == PHYSICAL_UNION)
        (*out)->partitions = 0;
    for (size_t i = 0; node->kind == PHYSICAL_UNION && i < node->input_count; i++)
        (*out)->partitions += inputs[i]->partitions;
    if (is_row_wise(node) || node->kind == PHYSICAL_SORT)
        (*out)->partitions = input->partitions;
    return NULL;
}

/* The nodes above the cut, copied, over a merge of the tasks' streams; a union takes them as they are. */
static kith_error *make_head(struct cutter *cutter, size_t cut, size_t tasks, struct physical_plan **out)
{
    struct physical_plan *below;
    TRY(physical_plan_new(cutter->arena, PHYSICAL_NETWORK_COALESCE, cutter->chain[cut]->schema, tasks, NULL, &below));
    below->network.stage = FIRST_STAGE;
    if (cut == 0 || cutter->chain[cut - 1]->kind != PHYSICAL_UNION)
        TRY(make_merge(cutter, cut, below, &below));
    if (cut > 0 && is_merge(cutter->chain[cut - 1]))
        cut--;
    while (cut-- > 0)
        TRY(copy_above(cutter, cut, below, &below));
    *out = below;
    return NULL;
}

static size_t count_row_groups(const struct table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->file_count; i++)
        count += table->files[i].file->metadata->row_group_count;
    return count;
}

/* One task for each multiple of the setting's bytes; but two at least, when somebody has set up workers and there is
 * something to divide between them. */
static size_t choose_task_count(const struct cutter *cutter, const struct table *table)
{
    uint64_t bytes_per_task = (uint64_t)settings_get(cutter->settings, SETTING_BYTES_PER_TASK);
    size_t most = (size_t)settings_get(cutter->settings, SETTING_MAX_TASKS);
    most = MIN(most == 0 ? cutter->worker_count : MIN(most, cutter->worker_count), (size_t)LIMIT_TASKS_PER_STAGE);
    most = MIN(most, count_row_groups(table));
    if (bytes_per_task == 0)
        return most;
    uint64_t by_bytes = table->compressed_bytes / bytes_per_task + (table->compressed_bytes % bytes_per_task != 0);
    return (size_t)MIN((uint64_t)most, MAX(by_bytes, UINT64_C(2)));
}

/* Streams that a task runs side by side: the same in all tasks, so that their metrics compare. */
static size_t choose_partitions(const struct cutter *cutter, const struct stage_task *tasks, size_t task_count)
{
    size_t wanted = (size_t)settings_get(cutter->settings, SETTING_TARGET_PARTITIONS);
    if (wanted > 0)
        return wanted;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < task_count; i++)
        least = MIN(least, MAX(cutter->processors[i], (size_t)1));
    uint64_t most_bytes = 0;
    for (size_t i = 0; i < task_count; i++)
        most_bytes = MAX(most_bytes, tasks[i].bytes);
    return (size_t)MIN((uint64_t)least, most_bytes / BYTES_WORTH_A_PARTITION + 1);
}

/* A worker looks for files from another folder than this process. */
static kith_error *make_paths_absolute(struct cutter *cutter, struct scan_file *files, size_t count)
{
    char folder[4096];
    if (getcwd(folder, sizeof folder) == NULL)
        return error_from_errno(errno, "cannot tell the current folder");
    for (size_t i = 0; i < count; i++) {
        char *path;
        if (files[i].path[0] == '/' || strstr(files[i].path, "://") != NULL)
            continue;
        TRY(arena_printf(cutter->arena, &path, "%s/%s", folder, files[i].path));
        files[i].path = path;
    }
    return NULL;
}

/* Rows that the stage's Top-K keeps; -1 when it has none that tightens the scan's filter. */
static int64_t topk_fetch(const struct cutter *cutter, size_t cut)
{
    const struct physical_plan *root = cutter->chain[cut];
    return root->kind == PHYSICAL_SORT && root->sort.filter_id != 0 ? root->sort.fetch : -1;
}

/* What the Top-K's tasks may have to tell each other, and who had better listen first. */
static kith_error *plan_sharing(struct cutter *cutter, size_t cut, const struct parquet_scan *scan,
                                const struct stage_shares *shares, struct stage_plan *stages)
{
    _cleanup_free_ struct stage_group *groups = NULL;
    size_t count;
    if (scan->dynamic_filter_count == 0)
        return NULL;
    struct sort_order order = scan->dynamic_filters[0].exprs[0].order;
    stages->filter_id = scan->dynamic_filters[0].id;
    stages->fetch = topk_fetch(cutter, cut);
    TRY(stages_list_groups(scan, shares, &groups, &count));
    stages_find_promise(groups, count, order, stages->fetch, stages->tasks, &stages->promise);
    return stages_find_steps(cutter->arena, groups, count, order, stages);
}

static kith_error *make_tasks(struct cutter *cutter, size_t cut, struct stage_plan *stages)
{
    const struct parquet_scan *scan = &cutter->chain[cutter->length - 1]->scan;
    struct stage_shares shares;
    TRY(ARENA_NEW_ARRAY(cutter->arena, &stages->tasks, stages->task_count));
    TRY(stages_deal(cutter->arena, scan, stages->task_count, &shares));
    for (size_t i = 0; i < stages->task_count; i++)
        stages->tasks[i].bytes = shares.bytes[i];
    TRY(plan_sharing(cutter, cut, scan, &shares, stages));
    size_t partitions = choose_partitions(cutter, stages->tasks, stages->task_count);
    for (size_t i = 0; i < stages->task_count; i++) {
        struct parquet_scan share = *scan;
        TRY(make_paths_absolute(cutter, shares.files[i], shares.counts[i]));
        share.table = NULL;
        share.files = shares.files[i];
        share.file_count = shares.counts[i];
        TRY(make_stage(cutter, cut, &share, partitions, &stages->tasks[i].plan));
    }
    return make_stage(cutter, cut, scan, partitions, &stages->stage);
}

struct physical_plan stage_node_in_task(const struct physical_plan *node, const struct stage_task *task)
{
    struct physical_plan copy = *node;
    if (node->kind != PHYSICAL_PARQUET_SCAN)
        return copy;
    const struct physical_plan *leaf = task->plan;
    while (leaf->input_count > 0)
        leaf = leaf->inputs[0];
    copy.scan.files = leaf->scan.files;
    copy.scan.file_count = leaf->scan.file_count;
    return copy;
}

kith_error *stages_plan(struct plan_arena *arena, const struct settings *settings, struct physical_plan *plan,
                        const size_t *worker_processors, size_t worker_count, struct stage_plan **out)
{
    struct cutter cutter = {
        .arena = &arena->arena, .settings = settings, .processors = worker_processors, .worker_count = worker_count};
    struct stage_plan *stages;
    *out = NULL;
    if (!list_chain(&cutter, plan))
        return NULL;
    size_t task_count = choose_task_count(&cutter, cutter.chain[cutter.length - 1]->scan.table);
    if (task_count < 2)
        return NULL;
    size_t cut = find_cut(&cutter);
    TRY(ARENA_NEW(cutter.arena, &stages));
    stages->task_count = task_count;
    TRY(make_head(&cutter, cut, task_count, &stages->head));
    TRY(make_tasks(&cutter, cut, stages));
    *out = stages;
    return NULL;
}
