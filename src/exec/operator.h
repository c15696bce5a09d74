/*
 * Operators: a physical plan made runnable for one task. operator_tree_new builds one operator a plan node (with what
 * its partitions share: morsel queue, dynamic filter, metrics); operator_execute gives the stream of one partition.
 * Each partition is executed once.
 *
 * Every operator is one file with one constructor, listed in operator.c.
 */
#ifndef KITH_EXEC_OPERATOR_H
#define KITH_EXEC_OPERATOR_H

#include "base/memory_pool.h"
#include "exec/stream.h"
#include "expr/dynamic_filter.h"
#include "plan/metrics.h"
#include "plan/physical.h"
#include "runtime/fiber.h"

struct exec_operator;

/* Gives the stream of a stage's task, one that hands out; how is the cluster's business. */
struct boundary_source {
    kith_error *(*open)(struct boundary_source *source, uint32_t stage, size_t task, struct schema *schema,
                        struct metric_set *metrics, struct stream **out);
};

/* What a task runs in. Borrowed by its operators; outlives them. */
struct task_context {
    struct runtime *runtime;
    struct memory_pool *pool;
    struct settings settings;
    struct cancel_token *cancel;
    struct boundary_source *boundary; /* NULL: the plan has no network boundaries */
    struct file_cache *files;         /* of a process that runs many tasks; NULL = none */
    /* Filled by operator_tree_new: the dynamic filters of the plan, by id. */
    struct dynamic_filter **filters;
    size_t filter_count;
};

struct operator_ops {
    kith_error *(*execute)(struct exec_operator *node, size_t partition, struct stream **out);
    void (*free)(struct exec_operator *node);
};

/* First member of every operator's own struct. */
struct exec_operator {
    const struct operator_ops *ops;
    const struct physical_plan *plan;
    struct task_context *context;
    struct exec_operator **inputs; /* plan->input_count of them; owned */
    struct metric_set *metrics;
    struct turn_account turns; /* of the threads that pull its streams */
};

/* A task's operators; metrics[i] belongs to the i-th node in pre-order. */
struct operator_tree {
    struct exec_operator *root;
    size_t node_count;
    struct metric_set *metrics;
};

kith_error *operator_tree_new(const struct physical_plan *plan, struct task_context *context,
                              struct operator_tree **out) _must_check_;
/* All streams must have been freed. Releases the context's filters. */
void operator_tree_free(struct operator_tree *tree, struct task_context *context);

static inline kith_error *_must_check_ operator_execute(struct exec_operator *node, size_t partition,
                                                        struct stream **out)
{
    *out = NULL;
    kith_error *error = node->ops->execute(node, partition, out);
    if (error == NULL)
        (*out)->turns = &node->turns;
    return error;
}

struct dynamic_filter *task_context_filter(const struct task_context *context, uint64_t id); /* borrowed; NULL = none */

#endif
