/*
 * Cutting a physical plan in two for a cluster: a stage, which copies of run on workers over a share of the files each,
 * and a head, which runs in the coordinator and merges what the copies give. Everything from the scan up to the first
 * node that needs all rows in one place belongs to the stage; each task ends in one partition, sorted where the query
 * sorts, so that the head has one stream a task to merge.
 *
 * A union is part of the stage, and its tasks share the files of all members: each task has every member's nodes, over
 * those of the member's files that are its own, which may be none. A member that needs all of its rows in one place, or
 * reads no table, runs in the coordinator's process with the head; or, if there is more to read in it than in the
 * others together, what can be spread of it is the stage, and the others run with the head.
 *
 * Pure planning: deterministic, no I/O beyond the footers that the table has in memory. Everything made lives in the
 * query's arena.
 */
#ifndef KITH_CLUSTER_STAGES_H
#define KITH_CLUSTER_STAGES_H

#include "cluster/bound_steps.h"
#include "plan/physical.h"

enum { FIRST_STAGE = 1 };

/* A scan of the stage, and the same in one task. */
struct stage_task_scan {
    const struct physical_plan *of_stage, *of_task;
};

struct stage_task {
    struct physical_plan *plan; /* to be sent: its scans name this task's files only */
    size_t scan_count;
    struct stage_task_scan *scans;
    uint64_t bytes;           /* compressed bytes of its row groups that planning could not rule out */
    size_t promising;         /* row groups that the stage's promise is made of */
    bool waits;               /* the promise, if it comes true, rules out all of its row groups */
    struct bound_steps steps; /* at which bounds rule out row groups of its own */
};

/* What statistics let expect of a Top-K: some row groups hold many more rows than it wants, none of them worse than
 * `value`. Unlike a bound it proves nothing, because a predicate may remove those rows; but tasks that would have
 * nothing to do if it came true do well to let the others begin. */
struct stage_promise {
    bool exists;
    struct scalar value; /* of the first sort key; borrowed from the files' metadata */
    struct sort_order order;
};

struct stage_plan {
    struct physical_plan *head;
    struct physical_plan *stage; /* for display: the tasks' plan with the scans over all files */
    size_t task_count;
    struct stage_task *tasks;
    struct stage_promise promise;
    /* Of the Top-K that promise and steps are about, as one of the scans has it; NULL = none. */
    const struct scan_dynamic_filter *filter;
    int64_t fetch;            /* rows that it keeps; -1 = it is not in the tasks */
    struct bound_steps steps; /* of the row groups of all tasks */
};

/* `worker_processors[i]` is the number of threads of worker i, 0 when not known. *out is NULL when the query is better
 * run in one process: without a scan, or with too little to read for two tasks. */
kith_error *stages_plan(struct plan_arena *arena, const struct settings *settings, struct physical_plan *plan,
                        const size_t *worker_processors, size_t worker_count, struct stage_plan **out) _must_check_;

/* A node of the stage as it is in one task: a scan has that task's files. For display: valid for as long as both. */
struct physical_plan stage_node_in_task(const struct physical_plan *node, const struct stage_task *task);

/* A task's part of one scan. */
struct stage_share {
    struct scan_file *files;
    size_t count;
    uint64_t bytes;
};

/* The files of all scans, dealt out. They go whole to the task with the least to do so far, largest first; when that
 * leaves a task with much more than its part, all files are cut at row groups into even shares instead. */
struct stage_shares {
    size_t scan_count;
    struct stage_share *shares; /* those of a task together, see stage_share_of */
    size_t *row_group_tasks; /* of each row group, in the order of scans, files and in them: the task that reads it */
};
kith_error *stages_deal(struct arena *arena, const struct parquet_scan *const *scans, size_t scan_count, size_t tasks,
                        struct stage_shares *out) _must_check_;

static inline struct stage_share *stage_share_of(const struct stage_shares *shares, size_t task, size_t scan)
{
    return &shares->shares[task * shares->scan_count + scan];
}

/* A row group that planning has left, as the first key of the scan's dynamic filter sees it: nothing is known of it
 * where there is none, or the key is no column. A guess, for what follows from it is only when to speak: where NaN is
 * not counted, there is taken to be none. */
struct stage_group {
    size_t task;
    uint64_t rows;
    bool has_best, has_worst;
    struct scalar best, worst; /* what the key can be at best and at worst; borrowed from the files' metadata */
};
/* Of all scans; *out is allocated. */
kith_error *stages_list_groups(const struct parquet_scan *const *scans, const struct stage_shares *shares,
                               struct stage_group **out, size_t *count) _must_check_;

/* Finds the promise of a Top-K of `fetch` rows, and which tasks it concerns; fills the tasks and *out. Sorts `groups`.
 */
kith_error *stages_find_promise(struct stage_group *groups, size_t count, struct sort_order order, int64_t fetch,
                                struct stage_task *tasks, struct stage_promise *out) _must_check_;

/* Finds the steps of all tasks and of each. Keeps only those of `groups` that can be ruled out, in another order. */
kith_error *stages_find_steps(struct arena *arena, struct stage_group *groups, size_t count, struct sort_order order,
                              struct stage_plan *stages) _must_check_;

/* Whether statistics show that the scan's predicate holds for no row of the row group. */
bool stages_rule_out(const struct parquet_scan *scan, size_t file, size_t row_group);

#endif
