/*
 * Cutting a physical plan in two for a cluster: a stage, which copies of run on workers over a share of the files each,
 * and a head, which runs in the coordinator and merges what the copies give. Everything from the scan up to the first
 * node that needs all rows in one place belongs to the stage; each task ends in one partition, sorted where the query
 * sorts, so that the head has one stream a task to merge. Of a union the largest member is such a stage; the others run
 * in the coordinator's process, with the head.
 *
 * Pure planning: deterministic, no I/O beyond the footers that the table has in memory. Everything made lives in the
 * query's arena.
 */
#ifndef KITH_CLUSTER_STAGES_H
#define KITH_CLUSTER_STAGES_H

#include "cluster/bound_steps.h"
#include "plan/physical.h"

enum { FIRST_STAGE = 1 };

struct stage_task {
    struct physical_plan *plan; /* to be sent: its scan names this task's files only */
    uint64_t bytes;             /* compressed bytes of its row groups that planning could not rule out */
    size_t promising;           /* row groups that the stage's promise is made of */
    bool waits;                 /* the promise, if it comes true, rules out all of its row groups */
    struct bound_steps steps;   /* at which bounds rule out row groups of its own */
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
    struct physical_plan *stage; /* for display: the tasks' plan with the scan over all files */
    size_t task_count;
    struct stage_task *tasks;
    struct stage_promise promise;
    uint64_t filter_id;       /* of the Top-K that promise and steps are about; 0 = none */
    int64_t fetch;            /* rows that it keeps */
    struct bound_steps steps; /* of the row groups of all tasks */
};

/* `worker_processors[i]` is the number of threads of worker i, 0 when not known. *out is NULL when the query is better
 * run in one process: without a scan, or with too little to read for two tasks. */
kith_error *stages_plan(struct plan_arena *arena, const struct settings *settings, struct physical_plan *plan,
                        const size_t *worker_processors, size_t worker_count, struct stage_plan **out) _must_check_;

/* A node of the stage as it is in one task: a scan has that task's files. For display: valid for as long as both. */
struct physical_plan stage_node_in_task(const struct physical_plan *node, const struct stage_task *task);

/* The share of the work, dealt out. Files go whole to the task with the least to do so far, largest first; when that
 * leaves a task with much more than its part, all files are cut at row groups into even shares instead. */
struct stage_shares {
    struct scan_file **files; /* a list for each task, counts[i] long */
    size_t *counts;
    uint64_t *bytes;
    size_t *row_group_tasks; /* of each row group, in the order of files and in them: the task that reads it */
};
kith_error *stages_deal(struct arena *arena, const struct parquet_scan *scan, size_t tasks,
                        struct stage_shares *out) _must_check_;

/* A row group that planning has left, as the first key of the scan's dynamic filter sees it. A guess, for what follows
 * from it is only when to speak: where NaN is not counted, there is taken to be none. */
struct stage_group {
    size_t task;
    uint64_t rows;
    bool has_best, has_worst;
    struct scalar best, worst; /* what the key can be at best and at worst; borrowed from the files' metadata */
};
/* *out is allocated; there are none unless the scan has a dynamic filter whose first key is a column. */
kith_error *stages_list_groups(const struct parquet_scan *scan, const struct stage_shares *shares,
                               struct stage_group **out, size_t *count) _must_check_;

/* Finds the promise of a Top-K of `fetch` rows, and which tasks it concerns; fills the tasks and *out. Sorts `groups`.
 */
void stages_find_promise(struct stage_group *groups, size_t count, struct sort_order order, int64_t fetch,
                         struct stage_task *tasks, struct stage_promise *out);

/* Finds the steps of all tasks and of each. Keeps only those of `groups` that can be ruled out, in another order. */
kith_error *stages_find_steps(struct arena *arena, struct stage_group *groups, size_t count, struct sort_order order,
                              struct stage_plan *stages) _must_check_;

/* Whether statistics show that the scan's predicate holds for no row of the row group. */
bool stages_rule_out(const struct parquet_scan *scan, size_t file, size_t row_group);

#endif
