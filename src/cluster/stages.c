#include "cluster/stages.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "runtime/coop.h"

#include <errno.h>
#include <unistd.h>

/* Below this a scan takes about as long as waking another thread and handing batches over. */
enum { BYTES_WORTH_A_PARTITION = 1 << 20 };

struct cutter {
    struct arena *arena;
    const struct settings *settings;
    const size_t *processors; /* of each worker */
    size_t worker_count;
    struct physical_plan *path[LIMIT_PLAN_DEPTH]; /* from the query's root down, without the stage */
    size_t length;
    struct physical_plan *root; /* of the stage; NULL: there is nothing to spread */
    bool split;                 /* the path ends in a union of which the stage is some members */
    size_t scan_count;
    const struct parquet_scan **scans; /* of the stage, in pre-order */
};

static uint64_t scanned_bytes(const struct physical_plan *plan)
{
    uint64_t bytes =
        plan->kind == PHYSICAL_PARQUET_SCAN && plan->scan.table != NULL ? plan->scan.table->compressed_bytes : 0;
    for (size_t i = 0; i < plan->input_count; i++)
        bytes += scanned_bytes(plan->inputs[i]);
    return bytes;
}

/* Nodes that work on each partition by itself: what they do is the same in one task as in many. */
static bool is_row_wise(const struct physical_plan *node)
{
    return node->kind == PHYSICAL_FILTER || node->kind == PHYSICAL_PROJECTION || node->kind == PHYSICAL_LOCAL_LIMIT ||
           node->kind == PHYSICAL_UNION;
}

/* Whether all of it is row by row, down to scans. */
static bool is_spreadable(const struct physical_plan *plan)
{
    if (plan->kind == PHYSICAL_PARQUET_SCAN)
        return plan->scan.table != NULL;
    bool spreadable = is_row_wise(plan);
    for (size_t i = 0; i < plan->input_count && spreadable; i++)
        spreadable = is_spreadable(plan->inputs[i]);
    return spreadable;
}

/* A sort ends a stage, because its tasks' rows are then to be merged; so does a union of sorted rows. */
static bool can_be_stage(const struct physical_plan *plan)
{
    if (plan->kind == PHYSICAL_SORT)
        return is_spreadable(plan->inputs[0]);
    if (plan->kind != PHYSICAL_UNION)
        return is_spreadable(plan);
    for (size_t i = 0; i < plan->input_count; i++)
        if (!can_be_stage(plan->inputs[i]))
            return false;
    return true;
}

/* Those members of a union that tasks can run, as a union of their own if they are several; NULL if there are none. */
static kith_error *gather_members(struct cutter *cutter, const struct physical_plan *members,
                                  struct physical_plan **out)
{
    TRY(physical_plan_new(cutter->arena, PHYSICAL_UNION, members->schema, 0, NULL, out));
    TRY(ARENA_NEW_ARRAY(cutter->arena, &(*out)->inputs, members->input_count));
    for (size_t i = 0; i < members->input_count; i++)
        if (can_be_stage(members->inputs[i]))
            (*out)->inputs[(*out)->input_count++] = members->inputs[i];
    if ((*out)->input_count < 2)
        *out = (*out)->input_count == 0 ? NULL : (*out)->inputs[0];
    return NULL;
}

/* Where to look on below a node that cannot be a stage: in the member of a union in which there is most to read. */
static struct physical_plan *largest_input(const struct physical_plan *plan)
{
    struct physical_plan *largest = plan->inputs[0];
    for (size_t i = 1; i < plan->input_count; i++)
        if (scanned_bytes(plan->inputs[i]) > scanned_bytes(largest))
            largest = plan->inputs[i];
    return largest;
}

/* The first node from the root down that can be the stage, or some members of a union together. */
static kith_error *find_stage(struct cutter *cutter, struct physical_plan *plan)
{
    while (!can_be_stage(plan)) {
        struct physical_plan *together;
        if (plan->input_count == 0 || cutter->length == ARRAY_SIZE(cutter->path))
            return NULL;
        cutter->path[cutter->length++] = plan;
        struct physical_plan *largest = largest_input(plan);
        if (plan->kind == PHYSICAL_UNION) {
            TRY(gather_members(cutter, plan, &together));
            cutter->split = together != NULL && scanned_bytes(together) >= scanned_bytes(largest);
            if (cutter->split)
                largest = together;
        }
        plan = largest;
    }
    cutter->root = plan;
    return NULL;
}

static void list_scans(struct cutter *cutter, const struct physical_plan *plan)
{
    if (plan->kind == PHYSICAL_PARQUET_SCAN)
        cutter->scans[cutter->scan_count++] = &plan->scan;
    for (size_t i = 0; i < plan->input_count; i++)
        list_scans(cutter, plan->inputs[i]);
}

static const struct physical_plan *above_stage(const struct cutter *cutter)
{
    return cutter->length == 0 ? NULL : cutter->path[cutter->length - 1];
}

/* Rows that suffice of what the stage gives, all partitions together; -1 = all. */
static int64_t rows_wanted(const struct cutter *cutter)
{
    const struct physical_plan *root = cutter->root, *above = above_stage(cutter);
    int64_t rows;
    if (above != NULL && above->kind == PHYSICAL_GLOBAL_LIMIT && above->limit.fetch >= 0)
        return __builtin_add_overflow(above->limit.skip, above->limit.fetch, &rows) ? -1 : rows;
    return root->kind == PHYSICAL_LOCAL_LIMIT && root->partitions == 1 ? root->limit.fetch : -1;
}

static bool is_merge(const struct physical_plan *node)
{
    return node->kind == PHYSICAL_SORT_PRESERVING_MERGE || node->kind == PHYSICAL_COALESCE_PARTITIONS;
}

/* The sort by which every partition is in order: of a union the first of its members'. NULL: there is none. */
static const struct physical_plan *find_sort(const struct physical_plan *plan)
{
    const struct physical_plan *first = NULL;
    if (plan->kind == PHYSICAL_SORT)
        return plan;
    for (size_t i = 0; plan->kind == PHYSICAL_UNION && i < plan->input_count; i++) {
        const struct physical_plan *sort = find_sort(plan->inputs[i]);
        if (sort == NULL)
            return NULL;
        first = first == NULL ? sort : first;
    }
    return first;
}

/* The node that makes one stream of many of the stage's, over `input`: the one that the plan has above it, or one of
 * the same meaning where it needed none. */
static kith_error *make_merge(struct cutter *cutter, struct physical_plan *input, struct physical_plan **out)
{
    const struct physical_plan *above = above_stage(cutter), *sort = find_sort(cutter->root);
    TRY(physical_plan_new(cutter->arena, sort != NULL ? PHYSICAL_SORT_PRESERVING_MERGE : PHYSICAL_COALESCE_PARTITIONS,
                          cutter->root->schema, 1, input, out));
    if (sort != NULL) {
        (*out)->sort = above != NULL && is_merge(above) ? above->sort : sort->sort;
        (*out)->sort.filter_id = 0;
    } else {
        (*out)->limit.fetch = above != NULL && is_merge(above) ? above->limit.fetch : rows_wanted(cutter);
    }
    return NULL;
}

/* A copy of the stage in the making. */
struct stage_copy {
    struct cutter *cutter;
    const size_t *partitions;           /* of each scan */
    const struct stage_shares *shares;  /* NULL: each scan keeps its files */
    size_t task;                        /* whose shares are taken */
    const struct physical_plan **scans; /* to be listed */
    size_t next;                        /* of them */
};

static void fill_scan(struct stage_copy *copy, struct physical_plan *scan)
{
    size_t number = copy->next++;
    copy->scans[number] = scan;
    scan->partitions = copy->partitions[number];
    if (copy->shares == NULL)
        return;
    const struct stage_share *share = stage_share_of(copy->shares, copy->task, number);
    scan->scan.table = NULL;
    scan->scan.files = share->files;
    scan->scan.file_count = share->count;
}

static kith_error *copy_node(struct stage_copy *copy, const struct physical_plan *node, struct physical_plan **out)
{
    struct physical_plan **inputs;
    TRY(ARENA_NEW(copy->cutter->arena, out));
    TRY(ARENA_NEW_ARRAY(copy->cutter->arena, &inputs, node->input_count));
    **out = *node;
    (*out)->inputs = inputs;
    (*out)->partitions = 0;
    for (size_t i = 0; i < node->input_count; i++) {
        TRY(copy_node(copy, node->inputs[i], &inputs[i]));
        (*out)->partitions += inputs[i]->partitions;
    }
    if (node->kind == PHYSICAL_PARQUET_SCAN)
        fill_scan(copy, *out);
    return NULL;
}

/* The stage, its partitions merged into one. */
static kith_error *make_stage(struct stage_copy copy, struct physical_plan **out)
{
    TRY(copy_node(&copy, copy.cutter->root, out));
    return (*out)->partitions > 1 ? make_merge(copy.cutter, *out, out) : NULL;
}

/* A copy over `input` instead of the part that is the stage, or is copied above it. What keeps its input's partitions
 * has as many. */
static kith_error *copy_above(struct cutter *cutter, size_t position, struct physical_plan *input,
                              struct physical_plan **out)
{
    const struct physical_plan *node = cutter->path[position];
    bool is_last = position + 1 == cutter->length, split = is_last && cutter->split;
    const struct physical_plan *below = is_last ? cutter->root : cutter->path[position + 1];
    struct physical_plan **inputs;
    TRY(ARENA_NEW(cutter->arena, out));
    TRY(ARENA_NEW_ARRAY(cutter->arena, &inputs, node->input_count));
    **out = *node;
    (*out)->inputs = inputs;
    (*out)->input_count = 0;
    if (split)
        inputs[(*out)->input_count++] = input;
    for (size_t i = 0; i < node->input_count; i++)
        if (!split || !can_be_stage(node->inputs[i]))
            inputs[(*out)->input_count++] = node->inputs[i] == below ? input : node->inputs[i];
    if (!is_row_wise(node) && node->kind != PHYSICAL_SORT)
        return NULL;
    (*out)->partitions = 0;
    for (size_t i = 0; i < (*out)->input_count; i++)
        (*out)->partitions += inputs[i]->partitions;
    return NULL;
}

/* The nodes above the stage, copied, over a merge of the tasks' streams; a union takes them as they are. */
static kith_error *make_head(struct cutter *cutter, size_t tasks, struct physical_plan **out)
{
    struct physical_plan *below;
    size_t position = cutter->length;
    TRY(physical_plan_new(cutter->arena, PHYSICAL_NETWORK_COALESCE, cutter->root->schema, tasks, NULL, &below));
    below->network.stage = FIRST_STAGE;
    if (!cutter->split)
        TRY(make_merge(cutter, below, &below));
    if (position > 0 && is_merge(cutter->path[position - 1]))
        position--;
    while (position-- > 0)
        TRY(copy_above(cutter, position, below, &below));
    *out = below;
    return NULL;
}

/* One task for each multiple of the setting's bytes; but two at least, when somebody has set up workers and there is
 * something to divide between them. */
static size_t choose_task_count(const struct cutter *cutter)
{
    uint64_t bytes_per_task = (uint64_t)settings_get(cutter->settings, SETTING_BYTES_PER_TASK), bytes = 0;
    size_t most = (size_t)settings_get(cutter->settings, SETTING_MAX_TASKS), row_groups = 0;
    for (size_t i = 0; i < cutter->scan_count; i++) {
        const struct table *table = cutter->scans[i]->table;
        bytes += table->compressed_bytes;
        for (size_t j = 0; j < table->file_count; j++)
            row_groups += table->files[j].file->metadata->row_group_count;
    }
    most = MIN(most == 0 ? cutter->worker_count : MIN(most, cutter->worker_count), (size_t)LIMIT_TASKS_PER_STAGE);
    most = MIN(most, row_groups);
    if (bytes_per_task == 0)
        return most;
    uint64_t by_bytes = bytes / bytes_per_task + (bytes % bytes_per_task != 0);
    return (size_t)MIN((uint64_t)most, MAX(by_bytes, UINT64_C(2)));
}

/* Streams of one scan that a task runs side by side: the same in all tasks, so that their metrics compare. */
static size_t choose_partitions(const struct cutter *cutter, const struct stage_shares *shares, size_t tasks,
                                size_t scan)
{
    size_t wanted = (size_t)settings_get(cutter->settings, SETTING_TARGET_PARTITIONS);
    if (wanted == 0) {
        uint64_t most_bytes = 0;
        wanted = SIZE_MAX;
        for (size_t i = 0; i < tasks; i++) {
            wanted = MIN(wanted, MAX(cutter->processors[i], (size_t)1));
            most_bytes = MAX(most_bytes, stage_share_of(shares, i, scan)->bytes);
        }
        wanted = (size_t)MIN((uint64_t)wanted, most_bytes / BYTES_WORTH_A_PARTITION + 1);
    }
    return MIN(wanted, MAX(LIMIT_PLAN_PARTITIONS / cutter->scan_count, (size_t)1));
}

/* A worker looks for files from another folder than this process. */
static kith_error *make_paths_absolute(struct cutter *cutter, struct scan_file *files, size_t count)
{
    enum { PATHS_A_CHARGE = 1024 };
    char folder[4096];
    if (getcwd(folder, sizeof folder) == NULL)
        return error_from_errno(errno, "cannot tell the current folder");
    for (size_t i = 0; i < count; i++) {
        char *path;
        TRY(coop_charge_every(PATHS_A_CHARGE, i));
        if (files[i].path[0] == '/' || strstr(files[i].path, "://") != NULL)
            continue;
        TRY(arena_printf(cutter->arena, &path, "%s/%s", folder, files[i].path));
        files[i].path = path;
    }
    return NULL;
}

/* What the Top-K's tasks may have to tell each other, and who had better listen first. */
static kith_error *plan_sharing(struct cutter *cutter, const struct stage_shares *shares, struct stage_plan *stages)
{
    _cleanup_free_ struct stage_group *groups = NULL;
    const struct physical_plan *sort = find_sort(cutter->root);
    size_t count;
    for (size_t i = 0; i < cutter->scan_count && stages->filter == NULL; i++)
        if (cutter->scans[i]->dynamic_filter_count > 0)
            stages->filter = cutter->scans[i]->dynamic_filters;
    stages->fetch = sort != NULL && sort->sort.filter_id != 0 ? sort->sort.fetch : -1;
    if (stages->filter == NULL)
        return NULL;
    struct sort_order order = stages->filter->exprs[0].order;
    TRY(stages_list_groups(cutter->scans, shares, &groups, &count));
    TRY(stages_find_promise(groups, count, order, stages->fetch, stages->tasks, &stages->promise));
    return stages_find_steps(cutter->arena, groups, count, order, stages);
}

static kith_error *make_task(struct cutter *cutter, const struct stage_shares *shares, size_t number,
                             const size_t *partitions, const struct physical_plan *const *stage_scans,
                             struct stage_task *task)
{
    struct stage_copy copy = {cutter, partitions, shares, number, NULL, 0};
    TRY(ARENA_NEW_ARRAY(cutter->arena, &copy.scans, cutter->scan_count));
    TRY(ARENA_NEW_ARRAY(cutter->arena, &task->scans, cutter->scan_count));
    task->scan_count = cutter->scan_count;
    for (size_t i = 0; i < cutter->scan_count; i++) {
        const struct stage_share *share = stage_share_of(shares, number, i);
        TRY(make_paths_absolute(cutter, share->files, share->count));
        task->bytes += share->bytes;
    }
    TRY(make_stage(copy, &task->plan));
    for (size_t i = 0; i < cutter->scan_count; i++)
        task->scans[i] = (struct stage_task_scan){stage_scans[i], copy.scans[i]};
    return NULL;
}

static kith_error *make_tasks(struct cutter *cutter, struct stage_plan *stages)
{
    struct stage_shares shares;
    size_t *partitions;
    struct stage_copy copy = {.cutter = cutter};
    TRY(ARENA_NEW_ARRAY(cutter->arena, &stages->tasks, stages->task_count));
    TRY(ARENA_NEW_ARRAY(cutter->arena, &partitions, cutter->scan_count));
    TRY(ARENA_NEW_ARRAY(cutter->arena, &copy.scans, cutter->scan_count));
    TRY(stages_deal(cutter->arena, cutter->scans, cutter->scan_count, stages->task_count, &shares));
    TRY(plan_sharing(cutter, &shares, stages));
    for (size_t i = 0; i < cutter->scan_count; i++)
        partitions[i] = choose_partitions(cutter, &shares, stages->task_count, i);
    copy.partitions = partitions;
    TRY(make_stage(copy, &stages->stage));
    for (size_t i = 0; i < stages->task_count; i++)
        TRY(make_task(cutter, &shares, i, partitions, copy.scans, &stages->tasks[i]));
    return NULL;
}

struct physical_plan stage_node_in_task(const struct physical_plan *node, const struct stage_task *task)
{
    struct physical_plan copy = *node;
    for (size_t i = 0; i < task->scan_count; i++) {
        if (task->scans[i].of_stage != node)
            continue;
        copy.scan.files = task->scans[i].of_task->scan.files;
        copy.scan.file_count = task->scans[i].of_task->scan.file_count;
    }
    return copy;
}

kith_error *stages_plan(struct plan_arena *arena, const struct settings *settings, struct physical_plan *plan,
                        const size_t *worker_processors, size_t worker_count, struct stage_plan **out)
{
    struct cutter cutter = {
        .arena = &arena->arena, .settings = settings, .processors = worker_processors, .worker_count = worker_count};
    struct stage_plan *stages;
    *out = NULL;
    TRY(find_stage(&cutter, plan));
    if (cutter.root == NULL)
        return NULL;
    TRY(ARENA_NEW_ARRAY(cutter.arena, &cutter.scans, physical_plan_node_count(cutter.root)));
    list_scans(&cutter, cutter.root);
    size_t task_count = choose_task_count(&cutter);
    if (task_count < 2)
        return NULL;
    TRY(ARENA_NEW(cutter.arena, &stages));
    stages->task_count = task_count;
    TRY(make_head(&cutter, task_count, &stages->head));
    TRY(make_tasks(&cutter, stages));
    *out = stages;
    return NULL;
}
