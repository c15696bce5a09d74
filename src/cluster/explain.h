/*
 * Plans and finished runs, as text and as JSON. Text is drawn by stage and task: a box for the head, one for the stage
 * with the sum of its tasks' metrics at each operator, and a line for each task. A query that was not distributed is
 * one stage of one task.
 */
#ifndef KITH_CLUSTER_EXPLAIN_H
#define KITH_CLUSTER_EXPLAIN_H

#include "cluster/coordinator.h"

struct explained_run {
    const struct physical_plan *plan; /* of this process */
    const struct operator_tree *tree;
    const struct task_context *context;
    const struct stage_plan *stages; /* NULL, as the next two: not distributed */
    struct coordinator *coordinator;
    const struct cluster *cluster;
    int64_t elapsed_ns;
};

/* Before or without a run. Appends. */
kith_error *explain_plan(const struct explained_run *run, struct strbuf *out) _must_check_;

/* After the run, with metrics; `every_task` draws each task's operators, too. Appends. */
kith_error *explain_run(const struct explained_run *run, bool every_task, struct strbuf *out) _must_check_;

/* Either as one JSON document (docs/topk.md says what is in it); `logical` is put in unless NULL. Appends. */
kith_error *explain_json(const struct explained_run *run, bool analyzed, const char *logical,
                         struct strbuf *out) _must_check_;

#endif
